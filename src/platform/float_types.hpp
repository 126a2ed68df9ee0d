// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Number types without a name in C++20: Fortran's REAL*2 (11 bits of precision) and REAL*16 (113
/// bits).

#include <cfloat>

namespace heddle::platform {

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
// The same type, whose other name this compiler has in C only.
__extension__ typedef __fp16 Float16;
#else
__extension__ typedef _Float16 Float16;
#endif

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
#else
static_assert(LDBL_MANT_DIG == 113, "this processor has no such number");
using Float128 = long double;
#endif

}  // namespace heddle::platform
