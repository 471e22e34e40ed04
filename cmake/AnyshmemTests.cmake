# anyshmem_add_test(NAME sources... [LIBS libs...] [ARGS args...] [TIMEOUT seconds] [LABELS labels...])
# One GoogleTest executable and one ctest entry with a watchdog. Sources are relative to the calling folder.
function(anyshmem_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LIBS;ARGS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${name} PRIVATE anyshmem_options ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  # scripts/test switches leak detection off, since GCC 12's LeakSanitizer crashes at the exit of processes with threads
  # that used a library opened at run time; programs that open none keep it.
  if(ANYSHMEM_SANITIZE STREQUAL "address")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=1")
  endif()
endfunction()
