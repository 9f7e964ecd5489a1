// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::detail {

void check_scan_length(std::int64_t steps) {
  if (steps < 1) fail("kg::scan", std::to_string(steps) + " steps", "1 or more", "results of no step have no shape");
}

std::int64_t scan_steps(std::span<const tensor> leaves) {
  if (leaves.empty()) fail("kg::scan", "xs without tensors", "tensors with a first axis", "pass the number of steps");
  for (const tensor& x : leaves) {
    if (!x.defined()) fail("kg::scan", "an undefined tensor in xs", "tensors", "check it with defined()");
    if (x.rank() == 0) fail("kg::scan", "xs of rank 0", "tensors with a first axis", "pass the number of steps");
    if (x.dims()[0] != leaves[0].dims()[0])
      fail("kg::scan", "xs of shapes " + to_string(leaves[0].dims()) + " and " + to_string(x.dims()),
           "as many steps on each first axis");
  }
  return leaves[0].dims()[0];
}

std::vector<tensor_list> scan_parts(std::span<const tensor> leaves) {
  std::vector<tensor_list> parts;
  for (const tensor& x : leaves) parts.push_back(unstack(x, 0));
  return parts;
}

std::vector<tensor> scan_joined(std::span<const tensor> made, std::int64_t steps, bool reverse) {
  const std::size_t count = made.size() / static_cast<std::size_t>(steps);
  std::vector<tensor> joined;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<tensor> of_steps;
    for (std::size_t i = k; i < made.size(); i += count) of_steps.push_back(made[i]);
    if (reverse) std::ranges::reverse(of_steps);
    joined.push_back(stack(of_steps));
  }
  return joined;
}

void check_scan_step(std::int64_t step, std::span<const tensor> first, std::span<const tensor> carry,
                     std::size_t made) {
  const std::string name = "step " + std::to_string(step);
  if (carry.size() != first.size())
    fail("kg::scan", name + " that returns a carry of " + std::to_string(carry.size()) + " tensors",
         std::to_string(first.size()) + " as the first carry has");
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!carry[i].defined()) fail("kg::scan", name + " that returns an undefined tensor", "tensors");
    if (!first[i].defined()) fail("kg::scan", "an undefined tensor in the first carry", "tensors");
    if (!(carry[i].signature() == first[i].signature()))
      fail("kg::scan",
           name + " that returns a carry " + std::string(name_of(carry[i].type())) + " " + to_string(carry[i].dims()),
           std::string(name_of(first[i].type())) + " " + to_string(first[i].dims()) + " as the first carry",
           "cast or reshape it");
  }
  if (made % static_cast<std::size_t>(step + 1) != 0)
    fail("kg::scan", name + " that returns another number of results", "as many as the steps before");
}

}  // namespace kerngrad::detail
