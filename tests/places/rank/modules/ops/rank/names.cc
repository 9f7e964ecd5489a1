// SPDX-License-Identifier: Apache-2.0
// The typed name of SortPairs.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_rank;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Pairs sorted by their keys along the last axis: `auto [keys, values] = sort_pairs(k, v)`.
inline auto sort_pairs(const tensor& keys, const tensor& values) { return call<"SortPairs">(keys, values); }

}  // namespace kerngrad
