// SPDX-License-Identifier: Apache-2.0
// Running a fused program on operands of one shape and one floating dtype.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/fuse/chain.h"
#include "kernels/common/parallel.h"
#include "kernels/common/stream.h"
#include "kernels/elementwise/unary.h"
module kerngrad;

import :fuse_uniform;
import :tape;

namespace kerngrad::detail {

namespace {

// A number of a program, in the dtype of its operands.
void write_number(const fused_step& s, dtype type, double& to) {
  const float narrow = static_cast<float>(s.numbers[0]);
  if (type == dtype::float32) std::memcpy(&to, &narrow, sizeof narrow);
  else to = s.numbers[0];
}

// The shortest program is one chain of operands and numbers, and its calls are short as well: nothing lies between
// kernels, nothing has to be placed.
bool is_only_chain(const fused_program& program) {
  return program.order.size() == 1 && program.results.size() == 1 && program.results[0] == program.order[0] &&
         program.chains[program.order[0]].kernel >= 0;
}
void run_only_chain(const fused_program& program, std::span<const tensor* const> in, tensor& out) {
  const step_chain& chain = program.chains[program.order[0]];
  const kernels::chain_kernels& kernel = kernels::chain_simd[chain.kernel];
  const dtype type = in[0]->type();
  const std::size_t n = static_cast<std::size_t>(in[0]->size());
  out = tensor_access::adopt(allocate(type, in[0]->dims()));
  const bool past_caches = n * size_of(type) >= kernels::stream_least.load(std::memory_order_relaxed);
  kernels::chain_geometry g{n, {}, past_caches, {}};
  const void* operands[kernels::most_chain_operands];
  double numbers[kernels::most_chain_operands];
  for (std::size_t k = 0; k < kernels::most_chain_operands && chain.in[k] >= 0; ++k) {
    const fused_step& s = program.steps[static_cast<std::size_t>(chain.in[k])];
    g.moves[k] = s.kind == step_kind::operand;
    operands[k] = &numbers[k];
    if (g.moves[k]) operands[k] = host_data(tensor_access::buffer(*in[static_cast<std::size_t>(s.operand)]));
    else write_number(s, type, numbers[k]);
  }
  void* results[] = {tensor_access::buffer(out)->data};
  (type == dtype::float32 ? kernel.float32 : kernel.float64)(operands, results, &g);
}

}  // namespace

bool uniform_run::choose_steps(std::span<const bool> wanted) {
  order = program.order;
  if (std::ranges::find(wanted, false) != wanted.end()) choose_some(wanted);
  for (std::size_t i : order)
    if (program.chains[i].kernel < 0 && !kernel(i).exists()) return false;
  return true;
}

void uniform_run::choose_some(std::span<const bool> wanted) {
  work_array<bool, usual_steps> needed(program.steps.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k] && program.results[k] >= 0) needed[static_cast<std::size_t>(program.results[k])] = true;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i] || step(i).kind != step_kind::op) continue;
    for (std::int16_t k : step(i).in)
      if (k >= 0) needed[static_cast<std::size_t>(k)] = true;
    if (program.chains[i].sigmoid_tail >= 0) needed[static_cast<std::size_t>(program.chains[i].sigmoid_tail)] = true;
    // A value that is kept inside a chain needs all of that.
    const std::int16_t end = program.chains[i].within;
    if (end >= 0 && !std::exchange(needed[static_cast<std::size_t>(end)], true)) i = static_cast<std::size_t>(end) + 1;
  }
  for (std::uint16_t i : program.order)
    if (needed[i]) chosen.push_back(i);
  order = chosen;
}

bool may_split(const fused_program& program) {
  for (const fused_step& s : program.steps)
    if (s.rules) return false;
  return kernels::threads_allowed() > 1;
}

void uniform_run::place_operands(std::span<const tensor* const> in) {
  const std::size_t size = size_of(type), buffer = static_cast<std::size_t>(block) * size;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const fused_step& s = step(i);
    const std::size_t operand = static_cast<std::size_t>(s.operand);
    if (s.kind == step_kind::operand && operand < in.size()) {
      locations[i] = {host_data(tensor_access::buffer(*in[operand])), static_cast<std::int64_t>(size)};
    } else if (s.kind == step_kind::operand) {
      locations[i].scratch = static_cast<std::size_t>(program.buffers) * buffer;
    } else if (s.kind == step_kind::op) {
      locations[i].scratch = static_cast<std::size_t>(s.buffer) * buffer;
    } else {
      write_number(s, type, locations[i].number);
      locations[i].base = reinterpret_cast<std::byte*>(&locations[i].number);
    }
  }
}

void uniform_run::place_results(const shape& dims, std::span<const std::int16_t> results, std::span<const bool> wanted,
                                std::span<tensor> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (results[k] < 0 || (!wanted.empty() && !wanted[k])) continue;
    const std::size_t i = static_cast<std::size_t>(results[k]);
    if (step(i).kind != step_kind::op || locations[i].moves) continue;
    const dtype own = program.uniform[i].gives_booleans ? dtype::boolean : type;
    out[k] = tensor_access::adopt(allocate(own, dims));
    locations[i] = {tensor_access::buffer(out[k])->data, static_cast<std::int64_t>(size_of(own))};
    result_bytes = static_cast<std::size_t>(dims.size()) * size_of(own);
  }
}

void uniform_run::run_step(std::size_t i, const block_part& block) const {
  if (program.chains[i].kernel >= 0) return run_chain(i, block);
  const fused_step& s = step(i);
  const uniform_step& u = program.uniform[i];
  const kernel_slot& slot = kernel(i);
  const std::int64_t n = block.n;
  std::byte* const y = address(i, block);
  const auto operand = [&](std::size_t k) { return address(static_cast<std::size_t>(s.in[k]), block); };
  using form = uniform_step::form;
  if (u.how == form::flat2) return slot.flat2(operand(0), operand(1), y, static_cast<std::size_t>(n));
  if (u.how == form::flat1) return slot.flat1(operand(0), y, static_cast<std::size_t>(n));
  void* results[] = {y};
  if (u.how == form::unary) {
    const kernels::unary_geometry g{n, {s.numbers[0], s.numbers[1]}};
    const void* in[] = {operand(0)};
    return slot.run(in, results, &g);
  }
  const void* in[3] = {};
  kernels::broadcast_geometry g;  // as much of it is set as is read
  g.rank = 1;
  g.dims[0] = n;
  for (std::size_t k = 0; k < u.operands; ++k) {
    in[k] = operand(k);
    g.strides[k][0] = u.moves[k];
  }
  slot.run(in, results, &g);
}

void uniform_run::run_chain(std::size_t i, const block_part& block) const {
  const step_chain& chain = program.chains[i];
  const kernels::chain_kernels& kernel = kernels::chain_simd[chain.kernel];
  // A later reader of a result finds it in the cache.
  const bool read_again = chain.read_again || folded == static_cast<int>(i);
  const bool past_caches = locations[i].base && !read_again && result_bytes >= stream_least;
  kernels::chain_geometry g{static_cast<std::size_t>(block.n), {}, past_caches, {}};
  for (std::size_t k = 0; k < kernels::most_kept_values; ++k)
    if (chain.kept[k] >= 0) g.kept[k] = address(static_cast<std::size_t>(chain.kept[k]), block);
  g.keeps_sigmoid_tail = chain.sigmoid_tail >= 0;
  const void* in[kernels::most_chain_operands];
  for (std::size_t k = 0; k < kernels::most_chain_operands && chain.in[k] >= 0; ++k) {
    const std::size_t at = static_cast<std::size_t>(chain.in[k]);
    in[k] = address(at, block);
    g.moves[k] = step(at).kind == step_kind::op || step(at).kind == step_kind::operand;
  }
  void* out[] = {address(i, block)};
  (type == dtype::float32 ? kernel.float32 : kernel.float64)(in, out, &g);
}

// Blocks do not depend on one another: any split of them gives bitwise identical results.
void uniform_run::run_all(std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t part = chunk_elements_of_program;
  const std::int64_t chunks = (end - begin + part - 1) / part;
  if (chunks < least_chunks || !may_split(program)) return run_blocks(begin, end);
  kernels::parallel_chunks(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const std::int64_t first = begin + static_cast<std::int64_t>(chunk) * part;
    const kernels::part_of_result whole(result_bytes);
    run_blocks(first, std::min(end, first + part));
  });
}

// One thread's part, from element `first` on. Values between steps need blocks; a single step does not, unless it
// ends a chain that gives a result on the way.
void uniform_run::run_blocks(std::int64_t first, std::int64_t end) const {
  const bool keeps_nothing = order.size() == 1 && chosen.empty() && locations[order[0]].base;
  if (keeps_nothing) return run_block({first, end - first, 0, nullptr});
  alignas(64) std::byte scratch[scratch_bytes];
  for (std::int64_t at = first; at < end; at += block) run_block({at, std::min(block, end - at), 0, scratch});
}

void uniform_run::run_block(const block_part& block) const {
  for (std::size_t i : order) run_step(i, block);
}

bool is_uniform(const fused_program& program, std::span<const tensor* const> in) {
  if (program.uniform.empty() || !in[0]->defined() || !wide_floats.has(in[0]->type())) return false;
  for (const tensor* x : in)
    if (x != in[0] && (!x->defined() || x->type() != in[0]->type() || !(x->dims() == in[0]->dims()))) return false;
  return static_cast<std::size_t>(program.buffers) * block_elements * size_of(in[0]->type()) <= block_bytes;
}

void place_others(const fused_program& program, std::span<const tensor* const> in,
                  std::span<const std::int16_t> results, std::span<const bool> wanted, std::span<tensor> out,
                  const std::function<tensor()>& seed) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k].defined() || results[k] < 0 || (!wanted.empty() && !wanted[k])) continue;
    const fused_step& s = program.steps[static_cast<std::size_t>(results[k])];
    const std::size_t operand = static_cast<std::size_t>(s.operand);
    if (s.kind == step_kind::operand) {
      out[k] = operand < in.size() ? stop_gradient(*in[operand]) : seed();
    } else if (s.kind != step_kind::op) {
      const unrecorded pause;
      out[k] = full(in[0]->dims(), s.numbers[0], in[0]->type());
    } else {
      for (std::size_t j = 0; j < k && !out[k].defined(); ++j)
        if (results[j] == results[k]) out[k] = out[j];
    }
  }
}

bool run_uniform(const fused_program& program, std::span<const tensor* const> in, std::span<const bool> wanted,
                 std::span<tensor> out) {
  if (!is_uniform(program, in)) return false;
  const bool all = wanted.empty() || wanted[0];
  if (all && is_only_chain(program) && in[0]->size() < least_chunks * chunk_elements_of_program) {
    run_only_chain(program, in, out[0]);
    return true;
  }
  uniform_run run{program, in[0]->type()};
  if (!run.choose_steps(wanted)) return false;
  run.place_operands(in);
  run.place_results(in[0]->dims(), program.results, wanted, out);
  run.run_all(0, in[0]->size());
  if (program.has_others) place_others(program, in, program.results, wanted, out, {});
  return true;
}

}  // namespace kerngrad::detail
