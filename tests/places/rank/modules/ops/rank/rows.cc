// SPDX-License-Identifier: Apache-2.0
// The row of SortPairs, whose calling convention is its own.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_rank;

import :std;
import :core;
import :op;
import :launch;
import :rows;

namespace kerngrad::launch {
void sort_pairs(const launch_call&);
}

namespace kerngrad::rows {

inline constexpr operand ranked_pairs[] = {{"keys", floating}, {"values", floating}};
inline constexpr result_spec ranked_results[] = {{"keys", "in ascending order"}, {"values", "those of the keys"}};

constexpr void infer_ranked(inference& call) {
  const shape& dims = call.in[0].dims;
  if (dims.rank() == 0 || !(call.in[1].dims == dims))
    call.refuse("shapes " + to_string(dims) + " and " + to_string(call.in[1].dims), "equal shapes with an axis");
  call.give(dims);
  call.give(dims);
}

inline constexpr op_row rank_rows[] = {
    {.name = "SortPairs",
     .doc = "Pairs sorted by their keys along the last axis; equal keys keep their order, NaN comes last.",
     .group = family::rank,
     .operands = ranked_pairs,
     .infer = infer_ranked,
     .launch = launch::sort_pairs,
     .cost = 20,
     .results = ranked_results},
};

}  // namespace kerngrad::rows
