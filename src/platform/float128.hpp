// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The floating-point number of 16 bytes with 113 bits of precision: Fortran's REAL*16.

#include <cfloat>

namespace heddle::platform {

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
#else
static_assert(LDBL_MANT_DIG == 113, "this processor has no such number");
using Float128 = long double;
#endif

}  // namespace heddle::platform
