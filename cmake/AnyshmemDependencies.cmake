# Required libraries, and one summary of what was found.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
find_package(CLI11 REQUIRED)
if(ANYSHMEM_TESTS)
  find_package(GTest REQUIRED)
endif()
if(ANYSHMEM_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Standalone asio, without its deprecated interfaces. Whether it finds aligned_alloc depends on which header comes first in
# a file; one answer for all files, or memory from one allocator ends in the other. ThreadSanitizer does not know fences.
add_library(anyshmem_asio INTERFACE)
target_include_directories(anyshmem_asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
target_compile_definitions(anyshmem_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
  ASIO_DISABLE_STD_ALIGNED_ALLOC $<$<STREQUAL:${ANYSHMEM_SANITIZE},thread>:ASIO_DISABLE_FENCED_BLOCK>)
target_link_libraries(anyshmem_asio INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

function(anyshmem_print_summary)
  message(STATUS "AnySHMEM ${PROJECT_VERSION}: ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, "
    "${CMAKE_BUILD_TYPE}, OpenSSL ${OPENSSL_VERSION}, Boost ${Boost_VERSION}, fmt ${fmt_VERSION}, "
    "spdlog ${spdlog_VERSION}, sanitizer '${ANYSHMEM_SANITIZE}'")
endfunction()
