// SPDX-License-Identifier: Apache-2.0
// A sample of an op as a function of its differentiable operands.
#pragma once
#include <string>
#include <vector>

#include "tests/support/numeric.h"

namespace kgtest {

/// One call whose differentiable operands are variables: f(leaves) gives the results.
struct differentiated {
  std::vector<kg::named_operand> operands;
  std::vector<kg::named_attribute> attrs;
  std::vector<kg::tensor> leaves;
  std::string name;

  differentiated(const kg::op_row& row, const sample& call, kg::dtype type, std::uint64_t seed)
      : operands(operands_for(row, call, type, seed)), attrs(call.attrs), name(row.name) {
    for (const kg::named_operand& o : operands)
      for (const kg::tensor& x : o.tensors)
        if (kg::differentiable.has(x.type())) leaves.push_back(x);
  }

  results_of function() const {
    return [this](std::span<const kg::tensor> xs) {
      std::vector<kg::named_operand> with = operands;
      std::size_t at = 0;
      for (kg::named_operand& o : with)
        for (kg::tensor& x : o.tensors)
          if (kg::differentiable.has(x.type())) x = xs[at++];
      return kg::run_kernel_list(name, with, attrs);
    };
  }
};

/// A remainder jumps where the quotient is whole: draws are repeated until no quotient is near.
inline bool near_a_jump(const differentiated& call) {
  if ((call.name != "Mod" && call.name != "FloorDiv") || call.leaves[0].size() * call.leaves[1].size() == 0)
    return false;
  const kg::tensor quotient = call.leaves[0] / call.leaves[1];
  return kg::min(kg::abs(quotient - kg::round(quotient))).item() < 0.02;
}
inline differentiated smooth_call(const kg::op_row& row, const sample& call, kg::dtype type) {
  for (std::uint64_t seed = 1;; ++seed)
    if (differentiated drawn(row, call, type, seed); !near_a_jump(drawn)) return drawn;
}

/// Results in integers, booleans and float32 have no differences of the precision that is asked for.
inline bool has_smooth_results(const differentiated& call) {
  const kg::tensor_list results = call.function()(call.leaves);
  return kg::differentiable.has(results.front().type());
}
inline bool is_precise(const differentiated& call) {
  bool precise = true;
  for (const kg::tensor& x : call.leaves) precise = precise && x.type() == kg::dtype::float64;
  const kg::tensor_list results = call.function()(call.leaves);
  for (int k = 0; k < results.size(); ++k) precise = precise && results[k].type() == kg::dtype::float64;
  return precise;
}

}  // namespace kgtest
