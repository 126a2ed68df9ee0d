# SPDX-License-Identifier: BSD-3-Clause
#
# The C library that Heddle is built with: glibc, or an untried one.

option(HEDDLE_UNTRIED_LIBC "Build with a C library other than glibc, which nobody has tried" OFF)

include(CheckCSourceCompiles)
check_c_source_compiles("
#include <features.h>
#ifndef __GLIBC__
#error another one
#endif
int main(void) { return 0; }" HEDDLE_LIBC_IS_GLIBC)

if(NOT HEDDLE_LIBC_IS_GLIBC)
  set(what "The C library is not glibc (Alpine has musl). Heddle is built and tested with glibc alone. What loads a library of \
Heddle late cannot work with musl: the libraries for programs of other MPIs (docs/faces.md), and Python's modules. For musl \
refuses thread-local variables of the initial-exec model there.")
  if(NOT HEDDLE_UNTRIED_LIBC)
    message(FATAL_ERROR "${what} -DHEDDLE_UNTRIED_LIBC=ON configures all the same. On Alpine, a container of Debian has glibc "
      "(packaging/container).")
  endif()
  message(WARNING "${what}")
endif()
