// SPDX-License-Identifier: Apache-2.0
// The kernels of tests/author/ and tests/author/author_kernels.cc, as their users see them.
#pragma once
#include <kerngrad/declare.h>

namespace my {
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Softshrink, float32)
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Softshrink, float64)
KERNGRAD_DECLARE_REDUCTION(Norm, float32)
KERNGRAD_DECLARE_REDUCTION(Norm, float64)
}  // namespace my

namespace my::more {
KERNGRAD_DECLARE_UNARY(Cube, float32)
KERNGRAD_DECLARE_UNARY(Cube, float64)
KERNGRAD_DECLARE_UNARY(Cube, int32)
KERNGRAD_DECLARE_UNARY(Cube, int64)
KERNGRAD_DECLARE_UNARY(Cube, uint8)
KERNGRAD_DECLARE_UNARY(Mish, float32)
KERNGRAD_DECLARE_UNARY(Mish, float64)
KERNGRAD_DECLARE_UNARY(RunningTarget, float64)
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Shift, int32)
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Shift, int64)
KERNGRAD_DECLARE_BINARY(Distance, float32)
KERNGRAD_DECLARE_BINARY(Distance, float64)
KERNGRAD_DECLARE_BINARY(Distance, int32)
KERNGRAD_DECLARE_BINARY(Distance, int64)
KERNGRAD_DECLARE_BINARY(Distance, uint8)
KERNGRAD_DECLARE_REDUCTION(SumOfSquares, float32)
KERNGRAD_DECLARE_REDUCTION(SumOfSquares, float64)
KERNGRAD_DECLARE_REDUCTION(SumOfSquares, int32)
KERNGRAD_DECLARE_REDUCTION(SumOfSquares, int64)
KERNGRAD_DECLARE_REDUCTION(SumOfSquares, uint8)
KERNGRAD_DECLARE_REDUCTION(MaxMagnitude, float32)
KERNGRAD_DECLARE_REDUCTION(MaxMagnitude, float64)
KERNGRAD_DECLARE_REDUCTION(MinMagnitude, float32)
KERNGRAD_DECLARE_REDUCTION(MinMagnitude, float64)
KERNGRAD_DECLARE_REDUCTION(Lowest, int32)
}  // namespace my::more

namespace my {

inline constexpr kerngrad::kernels::entry unary_table[] = {
    KERNGRAD_ENTRY_UNARY(my::more, Cube, float32),
    KERNGRAD_ENTRY_UNARY(my::more, Cube, float64),
    KERNGRAD_ENTRY_UNARY(my::more, Cube, int32),
    KERNGRAD_ENTRY_UNARY(my::more, Cube, int64),
    KERNGRAD_ENTRY_UNARY(my::more, Cube, uint8),
    KERNGRAD_ENTRY_UNARY(my::more, Mish, float32),
    KERNGRAD_ENTRY_UNARY(my::more, Mish, float64),
    KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my::more, Shift, int32),
    KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my::more, Shift, int64),
    KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my, Softshrink, float32),
    KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my, Softshrink, float64),
};
inline constexpr kerngrad::kernels::entry binary_table[] = {
    KERNGRAD_ENTRY_BINARY(my::more, Distance, float32), KERNGRAD_ENTRY_BINARY(my::more, Distance, float64),
    KERNGRAD_ENTRY_BINARY(my::more, Distance, int32),   KERNGRAD_ENTRY_BINARY(my::more, Distance, int64),
    KERNGRAD_ENTRY_BINARY(my::more, Distance, uint8),
};
inline constexpr kerngrad::kernels::entry reduction_table[] = {
    KERNGRAD_ENTRY_REDUCTION(my, Norm, float32),
    KERNGRAD_ENTRY_REDUCTION(my, Norm, float64),
    KERNGRAD_ENTRY_REDUCTION(my::more, SumOfSquares, float32),
    KERNGRAD_ENTRY_REDUCTION(my::more, SumOfSquares, float64),
    KERNGRAD_ENTRY_REDUCTION(my::more, SumOfSquares, int32),
    KERNGRAD_ENTRY_REDUCTION(my::more, SumOfSquares, int64),
    KERNGRAD_ENTRY_REDUCTION(my::more, SumOfSquares, uint8),
    KERNGRAD_ENTRY_REDUCTION(my::more, MaxMagnitude, float32),
    KERNGRAD_ENTRY_REDUCTION(my::more, MaxMagnitude, float64),
    KERNGRAD_ENTRY_REDUCTION(my::more, MinMagnitude, float32),
    KERNGRAD_ENTRY_REDUCTION(my::more, MinMagnitude, float64),
    KERNGRAD_ENTRY_REDUCTION(my::more, Lowest, int32),
};

}  // namespace my
