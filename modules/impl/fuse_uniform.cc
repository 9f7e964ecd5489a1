// SPDX-License-Identifier: Apache-2.0
// The usual call of a fused program: operands of one shape and one floating dtype. The compiler has settled everything
// else, so there is nothing to plan.
module;
#include <algorithm>
#include "kernels/abi.h"
#include "kernels/binary.h"
#include "kernels/chain.h"
#include "kernels/parallel.h"
#include "kernels/reduce.h"
#include "kernels/stream.h"
#include "kernels/unary.h"
module kerngrad;

import :dispatch;
import :tape;
import :fuse_plan;

namespace kerngrad::detail {

namespace {

constexpr std::int64_t block_elements = 1024;
constexpr std::int64_t chunk_elements = 16 * block_elements, least_chunks = 4;  // for several threads
constexpr std::size_t scratch_bytes = 32768;
constexpr std::size_t usual_steps = 32;

// Where the value of a step is: an array, the buffer of one block, or one number.
struct lane {
  std::byte* base = nullptr;
  std::int64_t moves = 0;   // bytes from one element to that of the next block's place: 0 but for arrays
  std::size_t scratch = 0;  // where there is no base: how far into the thread's buffers
};

// The elements of one block, and the buffers of who computes it.
struct block_part {
  std::int64_t offset, n;
  std::byte* scratch;
};

struct uniform_run {
  const fused_program& program;
  const dtype type;
  std::size_t result_bytes = 0;
  const std::size_t stream_least = kernels::stream_least.load(std::memory_order_relaxed);
  work_array<lane, usual_steps> lanes{program.steps.size()};
  work_array<double, usual_steps> numbers{program.steps.size()};
  work_array<std::uint16_t, usual_steps> order{program.steps.size()};  // the steps that run: the first `count`
  std::size_t count = 0;

  const fused_step& step(std::size_t i) const { return program.steps[i]; }
  const kernel_slot& kernel(std::size_t i) const {
    return step(i).op->kernel(static_cast<int>(backend::simd), program.uniform[i].of_truths ? dtype::boolean : type);
  }
  bool choose_steps(std::span<const bool> wanted);
  bool may_split() const;
  void place_operands(std::span<const tensor* const> in);
  void place_results(const shape& dims, std::span<const bool> wanted, std::span<tensor> out);
  void run_all(std::int64_t size) const;
  void run_blocks(std::int64_t first, std::int64_t end) const;
  void run_block(const block_part& block) const;
  void run_step(std::size_t i, const block_part& block) const;
  void run_chain(std::size_t i, const block_part& block) const;
  std::byte* address(std::size_t i, const block_part& block) const {
    const lane& at = lanes[i];
    return at.base ? at.base + at.moves * block.offset : block.scratch + at.scratch;
  }
};

// The steps that a wanted result needs and that no chain computes on its way. False: one has no kernel.
bool uniform_run::choose_steps(std::span<const bool> wanted) {
  work_array<bool, usual_steps> needed(wanted.empty() ? 0 : program.steps.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k] && program.results[k] >= 0) needed[static_cast<std::size_t>(program.results[k])] = true;
  for (std::size_t i = needed.size(); i-- > 0;)
    for (std::int16_t k : step(i).in)
      if (needed[i] && k >= 0) needed[static_cast<std::size_t>(k)] = true;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const step_chain& chain = program.chains[i];
    if (step(i).kind != step_kind::op || chain.part_of_another || (needed.size() && !needed[i])) continue;
    if (chain.kernel < 0 && !kernel(i).exists()) return false;
    order[count++] = static_cast<std::uint16_t>(i);
  }
  return true;
}

// Ops from outside the library are not asked to run on several threads.
bool uniform_run::may_split() const {
  for (const fused_step& s : program.steps)
    if (s.rules) return false;
  return kernels::threads_allowed() > 1;
}

void uniform_run::place_operands(std::span<const tensor* const> in) {
  std::size_t next = 0;
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const fused_step& s = step(i);
    if (s.kind == step_kind::operand) {
      lanes[i] = {host_data(tensor_access::buffer(*in[static_cast<std::size_t>(s.place)])),
                  static_cast<std::int64_t>(size)};
    } else if (s.kind == step_kind::op) {
      lanes[i].scratch = static_cast<std::size_t>(s.buffer) * block_elements * size;
    } else {
      const float narrow = static_cast<float>(s.numbers[0]);
      if (type == dtype::float32) std::memcpy(&numbers[next], &narrow, sizeof narrow);
      else numbers[next] = s.numbers[0];
      lanes[i].base = reinterpret_cast<std::byte*>(&numbers[next++]);
    }
  }
}

// A result that no step computes is an operand, a number, or a result once more.
void uniform_run::place_results(const shape& dims, std::span<const bool> wanted, std::span<tensor> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (program.results[k] < 0 || (!wanted.empty() && !wanted[k])) continue;
    const std::size_t i = static_cast<std::size_t>(program.results[k]);
    if (step(i).kind != step_kind::op || lanes[i].moves) continue;
    const dtype own = program.uniform[i].gives_truths ? dtype::boolean : type;
    out[k] = tensor_access::adopt(allocate(own, dims));
    lanes[i] = {tensor_access::buffer(out[k])->data, static_cast<std::int64_t>(size_of(own))};
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
  // Who reads a result again finds it in the cache.
  const bool past_caches = lanes[i].moves && !chain.read_again && result_bytes >= stream_least;
  kernels::chain_geometry g{static_cast<std::size_t>(block.n), {}, past_caches};
  const void* in[kernels::most_chain_operands];
  for (std::size_t k = 0; k < kernels::most_chain_operands && chain.in[k] >= 0; ++k) {
    const std::size_t at = static_cast<std::size_t>(chain.in[k]);
    in[k] = address(at, block);
    g.moves[k] = step(at).kind == step_kind::op || step(at).kind == step_kind::operand;
  }
  void* out[] = {address(i, block)};
  (type == dtype::float32 ? kernel.float32 : kernel.float64)(in, out, &g);
}

// Blocks do not depend on one another: any split of them gives the same bits. As many as a chunk has are worth a
// thread's while for the cheapest program.
void uniform_run::run_all(std::int64_t size) const {
  const std::int64_t chunks = (size + chunk_elements - 1) / chunk_elements;
  if (chunks < least_chunks || !may_split()) return run_blocks(0, size);
  kernels::parallel_chunks(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const std::int64_t first = static_cast<std::int64_t>(chunk) * chunk_elements;
    const kernels::part_of_result whole(result_bytes);
    run_blocks(first, std::min(size, first + chunk_elements));
  });
}

// One thread's part, from element `first` on. What lies between steps needs blocks; a single step does not.
void uniform_run::run_blocks(std::int64_t first, std::int64_t end) const {
  if (count == 1) return run_block({first, end - first, nullptr});
  alignas(64) std::byte scratch[scratch_bytes];
  for (std::int64_t at = first; at < end; at += block_elements)
    run_block({at, std::min(block_elements, end - at), scratch});
}

void uniform_run::run_block(const block_part& block) const {
  for (std::size_t i = 0; i < count; ++i) run_step(order[i], block);
}

// The operands have one shape and one floating dtype.
bool is_uniform(const fused_program& program, std::span<const tensor* const> in) {
  if (program.uniform.empty() || !in[0]->defined() || !floating.has(in[0]->type())) return false;
  for (const tensor* x : in)
    if (x != in[0] && (!x->defined() || x->type() != in[0]->type() || !(x->dims() == in[0]->dims()))) return false;
  return true;
}

std::size_t scratch_of(const fused_program& program, dtype type) {
  return static_cast<std::size_t>(program.buffers) * block_elements * size_of(type);
}

// ------------------------------------------------------------------------------------------ a reduction at the end

// The reduction's kernel on [outer, count].
void fold(const kernel_slot& slot, std::int64_t outer, std::int64_t count, const std::byte* x, std::byte* y) {
  const kernels::reduce_geometry g{outer, count, 1};
  const void* in[] = {x};
  void* out[] = {y};
  slot.run(in, out, &g);
}

// As many whole rows as a block holds at a time.
void fold_rows(uniform_run& run, std::byte* scratch, const kernel_slot& slot, std::size_t root, const shape& dims,
               std::byte* y) {
  const std::int64_t count = dims[dims.rank() - 1], rows = dims.size() / count, at_once = block_elements / count;
  for (std::int64_t r = 0; r < rows; r += at_once) {
    const std::int64_t now = std::min(at_once, rows - r);
    run.run_block({r * count, now * count, scratch});
    fold(slot, now, count, run.lanes[root].base, y + r * static_cast<std::int64_t>(size_of(run.type)));
  }
}

// All elements, by the tree of kernels/reduce-inl.h: stretches of 4096 elements, joined like the carries of a counter.
void fold_all(uniform_run& run, std::byte* scratch, const kernel_slot& slot, std::size_t root, std::int64_t size,
              std::byte* y) {
  constexpr std::int64_t stretch = 4096;
  const std::size_t width = size_of(run.type);
  std::byte* const values = run.lanes[root].base;
  alignas(8) std::byte pending[64][8], pair[16];
  int top = 0;
  std::uint64_t done = 0;
  const auto join = [&](std::byte* a, const std::byte* b) {  // into a
    std::memcpy(pair, a, width);
    std::memcpy(pair + width, b, width);
    fold(slot, 1, 2, pair, a);
  };
  for (std::int64_t start = 0; start < size; start += stretch, ++done) {
    const std::int64_t n = std::min(stretch, size - start);
    for (std::int64_t i = 0; i < n; i += block_elements) {
      run.lanes[root].base = values + static_cast<std::size_t>(i) * width;
      run.run_block({start + i, std::min(block_elements, n - i), scratch});
    }
    fold(slot, 1, n, values, pending[top]);
    for (std::uint64_t carry = done; (carry & 1) != 0; carry >>= 1, --top) join(pending[top - 1], pending[top]);
    ++top;
  }
  for (; top > 1; --top) join(pending[top - 2], pending[top - 1]);
  std::memcpy(y, pending[0], width);
}

}  // namespace

bool run_uniform(const fused_program& program, std::span<const tensor* const> in, std::span<const bool> wanted,
                 std::span<tensor> out) {
  if (!is_uniform(program, in)) return false;
  const dtype type = in[0]->type();
  const shape& dims = in[0]->dims();
  uniform_run run{program, type};
  if (scratch_of(program, type) > scratch_bytes || !run.choose_steps(wanted)) return false;
  run.place_operands(in);
  run.place_results(dims, wanted, out);
  run.run_all(dims.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k].defined() || program.results[k] < 0 || (!wanted.empty() && !wanted[k])) continue;
    const std::size_t i = static_cast<std::size_t>(program.results[k]);
    const fused_step& s = program.steps[i];
    if (s.kind == step_kind::operand) {
      out[k] = stop_gradient(*in[static_cast<std::size_t>(s.place)]);
    } else if (s.kind != step_kind::op) {
      const unrecorded pause;
      out[k] = full(dims, s.numbers[0], type);
    } else {
      for (std::size_t j = 0; j < k && !out[k].defined(); ++j)
        if (program.results[j] == program.results[k]) out[k] = out[j];
    }
  }
  return true;
}

bool run_uniform_reduced(const fused_program& program, std::span<const tensor* const> in, tensor& y) {
  if (!is_uniform(program, in)) return false;
  const dtype type = in[0]->type();
  const shape& dims = in[0]->dims();
  const fused_tail& tail = program.tail;
  const std::size_t root = static_cast<std::size_t>(program.results[0]);
  uniform_run run{program, type};
  const kernel_slot& slot = tail.op->kernel(static_cast<int>(backend::simd), type);
  // A mean is rounded once, from a sum of all: its parts are no means.
  const bool rows = tail.axis && dims.rank() > 0 && (*tail.axis == -1 || *tail.axis == dims.rank() - 1) &&
                    dims[dims.rank() - 1] <= block_elements;
  const bool all = !tail.axis && tail.op->row->name != "Mean";
  if (dims.size() == 0 || (!rows && !all) || program.uniform[root].gives_truths || !slot.run || !run.choose_steps({}) ||
      program.steps[root].kind != step_kind::op || scratch_of(program, type) > scratch_bytes)
    return false;
  alignas(64) std::byte scratch[scratch_bytes];
  alignas(64) std::byte values[4096 * 8];
  run.place_operands(in);
  run.lanes[root] = {values, 0};
  const shapes::axis_set reduced =
      rows ? shapes::axis_set{1} << (dims.rank() - 1) : (shapes::axis_set{1} << dims.rank()) - 1;
  y = tensor_access::adopt(allocate(type, shapes::without_axes(dims, reduced, tail.keep_dims)));
  std::byte* const out = tensor_access::buffer(y)->data;
  if (rows) fold_rows(run, scratch, slot, root, dims, out);
  else fold_all(run, scratch, slot, root, dims.size(), out);
  return true;
}

}  // namespace kerngrad::detail
