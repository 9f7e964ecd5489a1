// SPDX-License-Identifier: Apache-2.0
// Programs that were put together at run time, known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:fuse_stored;

import :std;
import :core;
import :tensor;
import :symbol;
import :fuse_chains;
import :fuse_program;
import :stencil;

namespace kerngrad::detail {

/// The most operands of a program that is put together at run time.
inline constexpr int most_operands = 100;

/// A program and the arrays that it points into, as `program_of` has them for an expression that the compiler reads.
struct stored_program {
  explicit stored_program(program_builder from, std::size_t operands)
      : builder(std::move(from)), uniform(uniform_steps(builder)), order(kernel_order(builder)) {
    for (const int r : builder.results) results.push_back(static_cast<std::int16_t>(r));
    program = {.steps = builder.steps,
               .results = results,
               .operands = static_cast<int>(operands),
               .shape_step = builder.shape_step,
               .buffers = builder.buffers,
               .singles = builder.singles,
               .reduction = builder.reduction,
               .uniform = uniform,
               .chains = builder.chains,
               .order = order,
               .has_others = has_other_results(builder)};
  }
  stored_program(const stored_program&) = delete;
  stored_program& operator=(const stored_program&) = delete;

  program_builder builder;
  std::vector<std::int16_t> results;
  std::vector<uniform_step> uniform;
  std::vector<std::uint16_t> order;
  fused_program program;
};

/// Index on an axis of n elements that an index outside of it stands for; -1: a zero.
inline std::int64_t index_within(std::int64_t i, std::int64_t n, boundary edge) {
  if (i >= 0 && i < n) return i;
  const auto modulo = [](std::int64_t a, std::int64_t b) { return a % b < 0 ? a % b + b : a % b; };
  if (edge == boundary::periodic) return modulo(i, n);
  if (edge == boundary::edge) return i < 0 ? 0 : n - 1;
  if (edge == boundary::zero) return -1;
  if (n == 1) return 0;
  const std::int64_t within = modulo(i, 2 * (n - 1));
  return within < n ? within : 2 * (n - 1) - within;
}

/// The steps of a stencil without its reads, and how to read.
struct stencil_program {
  const fused_program& steps;
  std::span<const stencil_read> reads;
  std::span<const boundary> edges;  // one, or one for each of the last axes
};
inline boundary edge_of(std::span<const boundary> edges, int axis, int rank) {
  return edges.size() == 1 ? edges[0] : edges[edges.size() - static_cast<std::size_t>(rank - axis)];
}

/// Computes the results of a stencil on operands of one shape and one floating dtype. False: nothing was done, the
/// operands or the steps are not like that.
bool run_uniform(const stencil_program& p, std::span<const tensor* const> in, std::span<tensor> out);

}  // namespace kerngrad::detail
