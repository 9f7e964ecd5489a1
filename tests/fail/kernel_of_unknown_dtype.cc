// SPDX-License-Identifier: Apache-2.0
// A dtype that does not exist.
// error: float31
// clang: no member named 'float31' in 'kerngrad::dtype'
#include <kerngrad/declare.h>

namespace my {
#ifdef TWIN
KERNGRAD_DECLARE_UNARY(Same, float32)
#else
KERNGRAD_DECLARE_UNARY(Same, float31)
#endif
}  // namespace my
