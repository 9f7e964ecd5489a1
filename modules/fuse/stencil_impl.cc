// SPDX-License-Identifier: Apache-2.0
// Stencils: how they are put together, shifted tensors, and calls.
module;
#include <algorithm>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :fuse_plan;
import :fuse_stored;
import :live;
import :tape;

namespace kerngrad::detail {

namespace {

constexpr std::int64_t farthest = 1'000'000'000;

void check_offsets(const composed& call, std::span<const std::int64_t> offsets) {
  if (offsets.size() > static_cast<std::size_t>(max_rank))
    call.refuse(std::to_string(offsets.size()) + " offsets", "at most " + std::to_string(max_rank));
  for (const std::int64_t offset : offsets)
    if (offset < -farthest || offset > farthest)
      call.refuse("an offset of " + std::to_string(offset), "offsets from -1000000000 to 1000000000");
}
void check_edges(const composed& call, std::span<const boundary> edges, std::size_t axes) {
  if (edges.empty() || (edges.size() > 1 && edges.size() < axes))
    call.refuse(std::to_string(edges.size()) + " boundaries for offsets along " + std::to_string(axes) + " axes",
                "one boundary for all axes, or one for each axis");
}

// The steps without gradient, with all results.
program_builder value_program(const step_list& list, std::span<const symbol> results) {
  program_builder p;
  p.steps = list.steps;
  p.shape_step = results[0].at;
  for (const symbol& r : results) p.results.push_back(r.at);
  drop_unused(p);
  p.chains = find_chains(p.steps, p.results);
  assign_buffers(p, false);
  return p;
}

// Elements at an offset along one axis, by ops that have gradients.
tensor shifted(const tensor& x, int axis, std::int64_t offset, boundary edge) {
  const std::int64_t n = x.dims()[axis];
  if (offset == 0 || n == 0) return x;
  if (edge == boundary::periodic) return roll(x, -(offset % n), axis);
  const std::size_t at = static_cast<std::size_t>(axis), rank = static_cast<std::size_t>(x.rank());
  if (edge == boundary::zero) {
    const std::int64_t zeros = std::min(n, offset < 0 ? -offset : offset);
    std::vector<std::int64_t> begin(rank, 0), size(rank, -1), pairs(2 * rank, 0);
    size[at] = n - zeros;
    if (offset > 0) begin[at] = zeros;
    pairs[2 * at + (offset > 0 ? 1 : 0)] = zeros;
    return pad(slice(x, begin, size), pairs);
  }
  const tensor indices = tensor::build<std::int64_t>(shape{n}, [&](std::span<std::int64_t> to) {
    for (std::int64_t i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = index_within(i + offset, n, edge);
  });
  return gather(x, indices, axis);
}

}  // namespace

symbol read_step(stencil_steps& steps, std::size_t operand, std::span<const std::int64_t> offsets) {
  constexpr composed call{"fuse"};
  check_offsets(call, offsets);
  stencil_read read{operand, static_cast<int>(offsets.size()), {}};
  std::ranges::copy(offsets, read.offsets.end() - read.axes);
  // Leading zeros are no offsets, so u(0, 1) and u(1) are one read.
  while (read.axes > 0 && read.offsets[static_cast<std::size_t>(max_rank - read.axes)] == 0) --read.axes;
  auto at = std::ranges::find(steps.reads, read);
  if (at == steps.reads.end()) {
    if (steps.reads.size() == static_cast<std::size_t>(most_operands))
      call.refuse("more than " + std::to_string(most_operands) + " different reads", "fewer", "split the expression");
    at = steps.reads.insert(at, read);
  }
  const auto index = static_cast<std::int8_t>(at - steps.reads.begin());
  return {&steps.list, steps.list.add({.kind = step_kind::operand, .operand = index})};
}

std::vector<field> fields_of(stencil_steps& steps, int operands) {
  if (operands < 1 || operands > most_operands)
    fail("kg::fuse", std::to_string(operands) + " operands", "1 to " + std::to_string(most_operands));
  std::vector<field> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(operands); ++i) all.emplace_back(steps, i);
  return all;
}

struct stored_stencil {
  stored_stencil(std::size_t count, std::span<const boundary> at_edges, const stencil_steps& from,
                 std::span<const symbol> results)
      : operands(count),
        reads(from.reads),
        edges(at_edges.begin(), at_edges.end()),
        all(value_program(from.list, results), from.reads.size()) {
    for (const symbol& r : results) single.push_back(stored(static_cast<int>(reads.size()), from.list, r, {}));
    for (const stencil_read& read : reads) axes = std::max(axes, read.axes);
  }

  std::size_t operands;
  int axes = 0;  // how many of the last axes have offsets
  std::vector<stencil_read> reads;
  std::vector<boundary> edges;
  stored_program all;
  std::vector<std::shared_ptr<const stored_expression>> single;  // for each result, on shifted tensors
};

std::shared_ptr<const stored_stencil> stored(int operands, std::span<const boundary> edges, stencil_steps steps,
                                             std::span<const symbol> results) {
  for (const symbol& r : results)
    if (r.at < 0) fail("kg::fuse", "an empty symbol as a result", "what the expression computed from its operands");
  auto made = std::make_shared<const stored_stencil>(static_cast<std::size_t>(operands), edges, steps, results);
  check_edges({"fuse"}, edges, static_cast<std::size_t>(made->axes));
  if (made->all.builder.buffers >= most_fused_buffers)
    fail("kg::fuse", "an expression that is too long", "a hundred values at once", "split the expression");
  return made;
}

void run_stored(const stored_stencil* program, std::span<const tensor* const> in, std::span<tensor> out) {
  constexpr composed call{"fuse"};
  if (!program) call.refuse("an empty fused_stencil", "one that kg::fuse made");
  if (in.size() != program->operands)
    call.refuse(std::to_string(in.size()) + " operands", std::to_string(program->operands));
  for (const stencil_read& read : program->reads) {
    call.given("x[" + std::to_string(read.operand) + "]", *in[read.operand]);
    call.rank("x[" + std::to_string(read.operand) + "]", *in[read.operand], read.axes);
  }
  if (on_simd() && !tracked(in) && run_uniform({program->all.program, program->reads, program->edges}, in, out))
    return lose(in, out);
  std::vector<tensor> values;
  for (const stencil_read& read : program->reads) {
    const std::span<const std::int64_t> offsets(read.offsets);
    values.push_back(shift(*in[read.operand], offsets.last(static_cast<std::size_t>(read.axes)), program->edges));
  }
  std::vector<const tensor*> pointers;
  for (const tensor& x : values) pointers.push_back(&x);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = run_stored(program->single[k].get(), pointers);
}

}  // namespace kerngrad::detail

namespace kerngrad {

tensor shift(const tensor& x, std::span<const std::int64_t> offsets, std::span<const boundary> edges) {
  constexpr detail::composed call{"shift"};
  call.given("x", x);
  detail::check_offsets(call, offsets);
  detail::check_edges(call, edges, offsets.size());
  const int axes = static_cast<int>(offsets.size()), rank = x.rank();
  call.rank("x", x, axes);
  tensor y = x;
  for (int i = 0; i < axes; ++i) {
    const int axis = rank - axes + i;
    y = detail::shifted(y, axis, offsets[static_cast<std::size_t>(i)], detail::edge_of(edges, axis, rank));
  }
  return y;
}

}  // namespace kerngrad
