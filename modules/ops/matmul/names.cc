// SPDX-License-Identifier: Apache-2.0
// The typed name of the matrix product.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_matmul;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// The matrix product over the last two axes, either operand transposed if asked for.
inline tensor matmul(const tensor& a, const tensor& b, bool transpose_a = false, bool transpose_b = false) {
  return call<"BatchMatMul">(a, b, attr<"transposeA">(transpose_a), attr<"transposeB">(transpose_b));
}

}  // namespace kerngrad
