# Compile options that every target of ours gets through the interface target anyshmem_options.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(anyshmem_options INTERFACE)
target_include_directories(anyshmem_options INTERFACE
  "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
target_compile_definitions(anyshmem_options INTERFACE SYMM_VERSION="${PROJECT_VERSION}")
target_compile_options(anyshmem_options INTERFACE -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<BOOL:${ANYSHMEM_WERROR}>:-Werror> -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(anyshmem_options INTERFACE -Wthread-safety)
endif()

# Sanitizers apply to everything, also to the kernels that users' CMake functions compile.
if(ANYSHMEM_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(ANYSHMEM_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(ANYSHMEM_SANITIZE)
  message(FATAL_ERROR "ANYSHMEM_SANITIZE=${ANYSHMEM_SANITIZE}: use address, thread or nothing")
endif()
