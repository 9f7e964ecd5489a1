// SPDX-License-Identifier: Apache-2.0
// Rows of the products of matrices and of any tensors.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_matmul;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes;
import :shapes_matmul;
import :rows;

namespace kerngrad::launch {
void matmul(const launch_call&);
void einsum(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand ab_matrices[] = {{"a", arithmetic}, {"b", arithmetic}};
inline constexpr operand list_of_factors[] = {{.name = "tensors", .types = arithmetic, .list = true}};

inline constexpr op_row matmul_rows[] = {
    {.name = "BatchMatMul",
     .doc = "The matrix product over the last two axes; the others are batches and broadcast. Sums of integers wrap.",
     .group = family::matmul,
     .operands = ab_matrices,
     .attrs = attributes::matmul,
     .types = signed_numbers,
     .infer = shapes::matmul,
     .launch = launch::matmul,
     .cost = 2},
    {.name = "Einsum",
     .doc =
         "Products of elements of the tensors, added up over the indices that the result lacks, as the equation says; "
         "of three tensors and more, pairs in the order of the fewest products. Sizes of one letter are equal, the "
         "axes of \"...\" broadcast.",
     .group = family::matmul,
     .operands = list_of_factors,
     .attrs = attributes::einsum,
     .types = signed_numbers,
     .infer = shapes::einsum,
     .launch = launch::einsum,
     .kernel = "BatchMatMul",
     .cost = 2},
};

}  // namespace kerngrad::rows
