// SPDX-License-Identifier: Apache-2.0
// Definitions of the elementwise kernels, from the definitions in long double and 128-bit integers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/common/abi.h"

namespace kgtest {

using kerngrad::dtype;

/// One element of any dtype: integers and booleans in `whole`, the others in `real` and `imag`.
struct scalar {
  long double real = 0, imag = 0;
  std::int64_t whole = 0;
  double slack = 0;  ///< tolerated absolute error of an expected complex value
};

std::size_t size_of(dtype type);
bool is_float(dtype type);
bool is_whole(dtype type);
scalar read(const void* p, dtype type, std::size_t i);

/// Elements of every kind: specials, small numbers that repeat, any bits. Complex numbers are small and finite.
inline constexpr std::size_t column_size = 1200;
using column = std::vector<std::byte>;
column random_column(dtype type, std::uint64_t seed);

/// The dtype of an op's result.
dtype result_of(std::string_view op, dtype operand);
scalar unary_oracle(std::string_view op, dtype type, const scalar& x, const double* params);
scalar binary_oracle(std::string_view op, dtype type, const scalar& a, const scalar& b);
scalar cast_oracle(dtype from, dtype to, const scalar& x);

/// The tolerated error in units in the last place: that of kernels/common/accuracy.h, 0 for what is exact.
double tolerance_of(std::string_view op, dtype type);
/// True if element i of got is the expected value within the tolerance. NaN agrees with NaN, and with a tolerance of 0
/// zeros must have the same sign.
bool agrees(const scalar& expected, const void* got, dtype type, std::size_t i, double ulps);

}  // namespace kgtest
