# Building programs and kernels with shmem-cc.
#
#   anyshmem_add_program(NAME sources... [LIBS libs...] [NPU_ARCH 2201|3510] [DEFINES names...] [NO_SHMEM])
#     One executable; every C++ source may hold kernels and launches. Links the SHMEM and device libraries
#     (NO_SHMEM: only the device).
#
#   anyshmem_add_kernels(TARGET sources... [LIBS ...] [NPU_ARCH ...] [DEFINES ...] [NO_SHMEM])
#     If TARGET exists, its sources of this call are compiled by shmem-cc and linked into it, while its other sources
#     stay with the plain compiler (and see the host half of shmem.h only). If not, TARGET becomes a shared library of
#     kernels for host programs to link.
#
# shmem-cc stands in front of the configured compiler as its launcher, so all options, dependency tracking and
# generators work as for ordinary sources.

if(TARGET shmem-cc OR NOT DEFINED ANYSHMEM_SHMEM_CC)
  set(ANYSHMEM_INCLUDE_ROOT "${CMAKE_CURRENT_LIST_DIR}/../include")
endif()

# The folders that programs include from: public headers, and the device sources' own root.
function(_anyshmem_include_roots result)
  set(roots "")
  foreach(root "" /device /device/impl /device_simt /host)
    if(IS_DIRECTORY "${ANYSHMEM_INCLUDE_ROOT}${root}")
      file(REAL_PATH "${ANYSHMEM_INCLUDE_ROOT}${root}" folder)
      list(APPEND roots "${folder}")
    endif()
  endforeach()
  set(${result} "${roots}" PARENT_SCOPE)
endfunction()

# What shmem-cc needs on a target: the launcher, include roots, libraries, and recompilation when it changes.
function(_anyshmem_use_shmem_cc target arch)
  if(TARGET shmem-cc)
    set(program "$<TARGET_FILE:shmem-cc>")
    add_dependencies(${target} shmem-cc)
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES OBJECT_DEPENDS "${CMAKE_BINARY_DIR}/bin/shmem-cc")
  else()
    set(program "${ANYSHMEM_SHMEM_CC}")
  endif()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${program};--launcher")
  if(NOT arch)
    set(arch 2201)
  endif()
  target_compile_options(${target} PRIVATE "--npu-arch=${arch}")
  _anyshmem_include_roots(roots)
  target_include_directories(${target} PRIVATE ${roots})
endfunction()

function(_anyshmem_libraries result no_shmem)
  if(no_shmem)
    set(${result} ascendcl PARENT_SCOPE)
  else()
    set(${result} shmem ascendcl PARENT_SCOPE)
  endif()
endfunction()

function(anyshmem_add_program name)
  cmake_parse_arguments(ARG "NO_SHMEM" "NPU_ARCH" "LIBS;DEFINES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _anyshmem_use_shmem_cc(${name} "${ARG_NPU_ARCH}")
  _anyshmem_libraries(libraries "${ARG_NO_SHMEM}")
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  target_link_libraries(${name} PRIVATE ${libraries} ${ARG_LIBS})
endfunction()

function(anyshmem_add_kernels target)
  cmake_parse_arguments(ARG "NO_SHMEM" "NPU_ARCH" "LIBS;DEFINES" ${ARGN})
  _anyshmem_libraries(libraries "${ARG_NO_SHMEM}")
  if(TARGET ${target})
    get_property(count GLOBAL PROPERTY ANYSHMEM_KERNELS_OF_${target})
    math(EXPR next "0${count} + 1")
    set_property(GLOBAL PROPERTY ANYSHMEM_KERNELS_OF_${target} ${next})
    set(kernels "${target}_kernels${next}")
    add_library(${kernels} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernels}>)
    target_link_libraries(${target} PRIVATE ${libraries} ${ARG_LIBS})
  else()
    set(kernels "${target}")
    add_library(${target} SHARED ${ARG_UNPARSED_ARGUMENTS})
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default)
  endif()
  _anyshmem_use_shmem_cc(${kernels} "${ARG_NPU_ARCH}")
  target_compile_definitions(${kernels} PRIVATE ${ARG_DEFINES})
  target_link_libraries(${kernels} PRIVATE ${libraries} ${ARG_LIBS})
endfunction()
