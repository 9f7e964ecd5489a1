// SPDX-License-Identifier: Apache-2.0
// The vector mathematics. Every function is `V Name(D d, V x)` for float and double lanes of any count; Atan2(d, y, x),
// Hypot and Pow(d, a, b) take two vectors. The same input gives bitwise identical results whichever lane it stands in.
#if defined(KG_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_INL_H_
#undef KG_MATH_INL_H_
#else
#define KG_MATH_INL_H_
#endif
#include "kernels/math/arc-inl.h"
#include "kernels/math/base-inl.h"
#include "kernels/math/exp-inl.h"
#include "kernels/math/log-inl.h"
#include "kernels/math/special-inl.h"
#include "kernels/math/trig-inl.h"
#endif  // KG_MATH_INL_H_
