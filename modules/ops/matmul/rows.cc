// SPDX-License-Identifier: Apache-2.0
// The row of the matrix product.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_matmul;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :rows;

namespace kerngrad::rows {

inline constexpr dtype_set of_matrices = floating | only(dtype::int32) | only(dtype::uint8) | boolean_only;
inline constexpr operand ab_matrices[] = {{"a", of_matrices}, {"b", of_matrices}};

inline constexpr op_row matmul_rows[] = {
    {.name = "BatchMatMul",
     .doc = "The matrix product over the last two axes; the others are batches and broadcast.",
     .group = family::matmul,
     .operands = ab_matrices,
     .attrs = attributes::matmul,
     .types = signed_numbers,
     .infer = shapes::matmul,
     .convention = convention::matmul,
     .cost = 2},
};

}  // namespace kerngrad::rows
