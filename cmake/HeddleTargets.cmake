# SPDX-License-Identifier: BSD-3-Clause
#
# Settings that all targets of the project share.

include(CheckCXXCompilerFlag)

# A sanitizer brings its own runtime, with which the C++ library cannot be linked statically.
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  set(HEDDLE_SANITIZED TRUE)
else()
  set(HEDDLE_SANITIZED FALSE)
endif()

# heddle_warnings(TARGET): turns on the warnings that the project is free of.
function(heddle_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(HEDDLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# heddle_precompile(TARGET [HEADER...]): precompiles the headers that most files of the target include: those of the C++
# library, and the HEADERs. Reading them is two thirds of compiling. ccache does better, and cannot see through it, so that
# nothing is done under ccache. Nor is it in a build for development: there a file that lacks an include must not compile.
function(heddle_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR HEDDLE_WERROR)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdint> <cstdio>
    <cstdlib> <cstring> <deque> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <stdexcept>
    <string> <string_view> <thread> <tuple> <unordered_map> <utility> <vector> ${ARGN})
  # g++ 12 then warns of the code of std::string (its bugs 105329 and 105651).
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endfunction()

# heddle_compile_together(TARGET FILES BUT...): compiles up to eight of the target's FILES of one folder together, which takes a
# third of the time: reading headers is most of it. So names in the unnamed namespaces of a folder differ
# (tests/repository/names_differ.py). Files and folders BUT, relative to the current folder, are compiled one by one. Nothing is
# done in a build for development, where a file that lacks an include must not compile.
function(heddle_compile_together target files)
  if(HEDDLE_WERROR)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(SORT files)
  foreach(file IN LISTS files)
    get_filename_component(file ${file} ABSOLUTE)
    file(RELATIVE_PATH file ${CMAKE_CURRENT_SOURCE_DIR} ${file})
    get_filename_component(folder ${file} DIRECTORY)
    if(file IN_LIST ARGN OR (folder AND folder IN_LIST ARGN))
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "in_${folder}" group)
    math(EXPR count_${group} "0${count_${group}} + 1")
    math(EXPR batch "(${count_${group}} - 1) / 8")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${target}_${group}_${batch})
  endforeach()
endfunction()

# heddle_compile_quickly(TARGET): optimizes less, for a test's own code.
function(heddle_compile_quickly target)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# heddle_mpi_program(NAME SOURCES...): builds a program in plain MPI, C or C++, as a user would. The program sees
# mpi.h and libmpi_abi.so, and nothing from src/.
function(heddle_mpi_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE mpi_abi Threads::Threads)
  heddle_warnings(${target})
endfunction()
