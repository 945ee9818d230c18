// SPDX-License-Identifier: Apache-2.0
// <math.h> and <cmath>: the functions are built in; the constants and the namespace are missing.
#pragma once

#if defined(MAX_KERNEL_ON_CPU)
#pragma GCC system_header
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#else
#include "max_limits.h"
#endif

#ifndef INFINITY
#define INFINITY __uint_as_float(0x7f800000u)
#define NAN __uint_as_float(0x7fffffffu)
#endif

#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

namespace std {
#if defined(MAX_KERNEL_ON_CPU)
#define MAX_STANDARD(name) \
  using ::name;            \
  using ::__max_math::name
#define MAX_STANDARD_QUESTION(name) using ::__max_math::name
#else
#define MAX_STANDARD(name) using ::name
#define MAX_STANDARD_QUESTION(name) using ::name
#endif
MAX_STANDARD(acos);
MAX_STANDARD(acosh);
MAX_STANDARD(asin);
MAX_STANDARD(asinh);
MAX_STANDARD(atan);
MAX_STANDARD(atanh);
MAX_STANDARD(cbrt);
MAX_STANDARD(ceil);
MAX_STANDARD(cos);
MAX_STANDARD(cosh);
MAX_STANDARD(erf);
MAX_STANDARD(erfc);
MAX_STANDARD(exp);
MAX_STANDARD(exp2);
MAX_STANDARD(expm1);
MAX_STANDARD(fabs);
MAX_STANDARD(floor);
MAX_STANDARD(lgamma);
MAX_STANDARD(log);
MAX_STANDARD(log10);
MAX_STANDARD(log1p);
MAX_STANDARD(log2);
MAX_STANDARD(logb);
MAX_STANDARD(nearbyint);
MAX_STANDARD(rint);
MAX_STANDARD(round);
MAX_STANDARD(sin);
MAX_STANDARD(sinh);
MAX_STANDARD(sqrt);
MAX_STANDARD(tan);
MAX_STANDARD(tanh);
MAX_STANDARD(tgamma);
MAX_STANDARD(trunc);
MAX_STANDARD(atan2);
MAX_STANDARD(copysign);
MAX_STANDARD(fdim);
MAX_STANDARD(fmax);
MAX_STANDARD(fmin);
MAX_STANDARD(fmod);
MAX_STANDARD(hypot);
MAX_STANDARD(nextafter);
MAX_STANDARD(pow);
MAX_STANDARD(remainder);
MAX_STANDARD(fma);
MAX_STANDARD(frexp);
MAX_STANDARD(ldexp);
MAX_STANDARD(modf);
MAX_STANDARD(lrint);
MAX_STANDARD(llrint);
MAX_STANDARD(lround);
MAX_STANDARD(llround);
MAX_STANDARD(abs);
MAX_STANDARD_QUESTION(isnan);
MAX_STANDARD_QUESTION(isinf);
MAX_STANDARD_QUESTION(isfinite);
MAX_STANDARD_QUESTION(signbit);
#undef MAX_STANDARD
#undef MAX_STANDARD_QUESTION
}  // namespace std
