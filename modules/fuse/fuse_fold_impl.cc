// SPDX-License-Identifier: Apache-2.0
// Fused programs with a reduction at their end: the values of a block are folded while they are in the cache, and the
// gradient that a sum hands to each element is one number for many of them, never an array.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/reduce/reduce.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :fuse_uniform;
import :tape;

namespace kerngrad::detail {

namespace {

// The elements of a program as rows of which each gives one value. No rows: the reduction is none of these.
struct row_shape {
  std::int64_t rows = 0, count = 0;
  shapes::axis_set axes = 0;
};
row_shape rows_of(const fused_reduction& reduction, const shape& dims) {
  const int last = dims.rank() - 1;
  if (dims.size() == 0) return {};
  if (!reduction.axis) return {1, dims.size(), (shapes::axis_set{1} << dims.rank()) - 1};
  if (last < 0 || (*reduction.axis != -1 && *reduction.axis != last)) return {};
  return {dims.size() / dims[last], dims[last], shapes::axis_set{1} << last};
}

// A reduction's kernel on [outer, count].
void fold(const kernel_slot& slot, std::int64_t outer, std::int64_t count, const std::byte* x, std::byte* y) {
  const kernels::reduce_geometry g{outer, count, 1};
  const void* in[] = {x};
  void* out[] = {y};
  slot.run(in, out, &g);
}

// Values joined like the carries of a counter: the tree of kernels/reduce/reduce-inl.h, whose leaves are stretches.
// The result of a chunk of 2^k stretches is a node of the same tree.
class joined_values {
 public:
  joined_values(const kernel_slot& slot, std::size_t width) : slot_(slot), width_(width) {}
  // The next one is written here before it is added.
  std::byte* next() { return pending_[top_]; }
  void add() {
    for (std::uint64_t carry = done_++; (carry & 1) != 0; carry >>= 1, --top_) join();
    ++top_;
  }
  void finish(std::byte* y) {
    for (--top_; top_ > 0; --top_) join();
    std::memcpy(y, pending_[0], width_);
  }

 private:
  void join() {
    alignas(8) std::byte pair[16];
    std::memcpy(pair, pending_[top_ - 1], width_);
    std::memcpy(pair + width_, pending_[top_], width_);
    fold(slot_, 1, 2, pair, pending_[top_ - 1]);
  }
  const kernel_slot& slot_;
  const std::size_t width_;
  alignas(8) std::byte pending_[64][8];
  int top_ = 0;
  std::uint64_t done_ = 0;
};

template <class T>
void fill_rows(std::byte* to, const std::byte* values, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r)
    std::fill_n(reinterpret_cast<T*>(to) + r * count, count, reinterpret_cast<const T*>(values)[r]);
}
template <class T>
void divide(std::byte* values, std::int64_t n, std::int64_t by) {
  T* const y = reinterpret_cast<T*>(values);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(static_cast<double>(y[i]) / static_cast<double>(by));
}

struct folding {
  uniform_run& run;
  const row_shape at;
  const kernel_slot* slot = nullptr;  // joins two values; null where the program gives gradients only
  std::byte* y = nullptr;             // a value a row
  const std::byte* seeds = nullptr;   // null where the program needs none
  const std::size_t width = size_of(run.type);

  void run_all() const;
  void run_rows(std::int64_t first, std::int64_t end) const;
  void run_part(std::int64_t row, std::int64_t first, std::int64_t end, std::byte* part) const;
  void place_seeds(std::byte* scratch, std::int64_t row, std::int64_t rows, std::int64_t count) const {
    if (!seeds) return;
    std::byte* const to = scratch + static_cast<std::size_t>(run.program.buffers * block_elements) * width;
    const std::byte* const from = seeds + static_cast<std::size_t>(row) * width;
    if (run.type == dtype::float32) fill_rows<float>(to, from, rows, count);
    else fill_rows<double>(to, from, rows, count);
  }
};

// Which chunks there are does not depend on the number of threads, and neither does what is joined with what.
void folding::run_all() const {
  const auto each = [&](std::int64_t chunks, const auto& chunk) {
    if (may_split(run.program)) return kernels::parallel_chunks(static_cast<std::size_t>(chunks), chunk);
    for (std::int64_t i = 0; i < chunks; ++i) chunk(static_cast<std::size_t>(i));
  };
  if (at.count <= block_elements) {
    const std::int64_t rows = chunk_elements_of_program / at.count;
    return each((at.rows + rows - 1) / rows, [&](std::size_t chunk) {
      const std::int64_t first = static_cast<std::int64_t>(chunk) * rows;
      run_rows(first, std::min(at.rows, first + rows));
    });
  }
  constexpr std::int64_t most = chunk_elements_of_program;
  const std::int64_t parts = (at.count + most - 1) / most;
  const bool joins = slot && parts > 1;
  work_array<double, 64> values(joins ? kernels::extent(at.rows, parts) : 0);
  const auto value_of = [&](std::int64_t i) -> std::byte* {
    if (!slot) return nullptr;
    const std::size_t at_value = static_cast<std::size_t>(i);
    return joins ? reinterpret_cast<std::byte*>(&values[at_value]) : y + at_value * width;
  };
  each(at.rows * parts, [&](std::size_t chunk) {
    const std::int64_t i = static_cast<std::int64_t>(chunk), first = i % parts * most;
    run_part(i / parts, first, std::min(at.count, first + most), value_of(i));
  });
  for (std::int64_t r = 0; r < at.rows && joins; ++r) {
    joined_values row(*slot, width);
    for (std::int64_t i = 0; i < parts; ++i) std::memcpy(row.next(), value_of(r * parts + i), width), row.add();
    row.finish(y + static_cast<std::size_t>(r) * width);
  }
}

// As many whole rows as a block holds at a time.
void folding::run_rows(std::int64_t first, std::int64_t end) const {
  alignas(64) std::byte scratch[scratch_bytes];
  const std::int64_t at_once = block_elements / at.count;
  for (std::int64_t r = first; r < end; r += at_once) {
    const std::int64_t now = std::min(at_once, end - r);
    const block_part block{r * at.count, now * at.count, 0, scratch};
    place_seeds(scratch, r, now, at.count);
    run.run_block(block);
    if (!slot) continue;
    const std::byte* const values = run.address(static_cast<std::size_t>(run.folded), block);
    fold(*slot, now, at.count, values, y + static_cast<std::size_t>(r) * width);
  }
}

// The elements from `first` to `end` of one row, stretch by stretch.
void folding::run_part(std::int64_t row, std::int64_t first, std::int64_t end, std::byte* part) const {
  alignas(64) std::byte scratch[scratch_bytes];
  place_seeds(scratch, row, 1, block_elements);
  if (!slot) {
    for (std::int64_t i = first; i < end; i += block_elements)
      run.run_block({row * at.count + i, std::min(block_elements, end - i), 0, scratch});
    return;
  }
  joined_values all(*slot, width);
  for (std::int64_t start = first; start < end; start += stretch_elements) {
    const std::int64_t n = std::min(stretch_elements, end - start), offset = row * at.count + start;
    for (std::int64_t i = 0; i < n; i += block_elements)
      run.run_block({offset + i, std::min(block_elements, n - i), i, scratch});
    fold(*slot, 1, n, run.address(static_cast<std::size_t>(run.folded), {offset, n, 0, scratch}), all.next());
    all.add();
  }
  all.finish(part);
}

bool is_mean(const fused_reduction& reduction) { return reduction.op == &known_entry<op_id<"Mean">>(); }

}  // namespace

tensor seed_of(const fused_reduction& reduction, const shape& dims, const tensor& dy) {
  return is_mean(reduction) ? dy * (static_cast<double>(dy.size()) / static_cast<double>(dims.size())) : dy;
}

tensor spread_seed(const fused_reduction& reduction, const shape& dims, const tensor& seed) {
  return broadcast_to(reshape(seed, shapes::without_axes(dims, rows_of(reduction, dims).axes, true)), dims);
}

bool run_folded(const fused_program& program, std::span<const tensor* const> in, tensor& y, std::span<tensor> grads) {
  if (!is_uniform(program, in)) return false;
  const dtype type = in[0]->type();
  const shape& dims = in[0]->dims();
  const fused_reduction& reduction = program.reduction;
  const std::size_t root = static_cast<std::size_t>(program.results[0]);
  uniform_run run{program, type};
  // A mean is a sum, divided in double at the end.
  const kernel_slot& slot = is_mean(reduction) ? kernel_of<"Sum">(backend::simd, type)
                                               : reduction.op->kernel(static_cast<int>(backend::simd), type);
  const row_shape rows = rows_of(reduction, dims);
  if (rows.rows == 0 || program.uniform[root].gives_booleans || !slot.run ||
      program.steps[root].kind != step_kind::op || !run.choose_steps({}))
    return false;
  run.folded = static_cast<int>(root);
  run.place_operands(in);
  run.place_results(dims, program.results.subspan(1), {}, grads);
  const std::size_t size = size_of(type);
  if (!run.locations[root].base)
    run.locations[root] = {nullptr, static_cast<std::int64_t>(size),
                           static_cast<std::size_t>(program.buffers + 1) * block_elements * size, 0};
  y = tensor_access::adopt(allocate(type, shapes::without_axes(dims, rows.axes, reduction.keep_dims)));
  std::byte* const values = tensor_access::buffer(y)->data;
  // A seed is 1 a row. Programs of sums have this in their steps already.
  tensor seed;
  if (is_mean(reduction) && !grads.empty()) {
    const unrecorded pause;
    seed = seed_of(reduction, dims, ones(y.dims(), type));
  }
  folding{run, rows, &slot, values, seed.defined() ? host_data(tensor_access::buffer(seed)) : nullptr}.run_all();
  if (is_mean(reduction)) {
    if (type == dtype::float32) divide<float>(values, rows.rows, rows.count);
    else divide<double>(values, rows.rows, rows.count);
  }
  if (program.has_others)
    place_others(program, in, program.results.subspan(1), {}, grads, [&] {
      const unrecorded pause;
      return spread_seed(reduction, dims, seed);
    });
  return true;
}

bool run_spread(const fused_program& program, std::span<const tensor* const> in, const fused_reduction& reduction,
                const tensor& seed, std::span<const bool> wanted, std::span<tensor> grads) {
  const dtype type = in[0]->type();
  if (!is_uniform(program, in) || seed.type() != type) return false;
  uniform_run run{program, type};
  const row_shape rows = rows_of(reduction, in[0]->dims());
  if (rows.rows == 0 || !run.choose_steps(wanted)) return false;
  run.place_operands(in);
  run.place_results(in[0]->dims(), program.results, wanted, grads);
  folding{run, rows, nullptr, nullptr, host_data(tensor_access::buffer(seed))}.run_all();
  if (program.has_others)
    place_others(program, in, program.results, wanted, grads, [&] {
      const unrecorded pause;
      return spread_seed(reduction, in[0]->dims(), seed);
    });
  return true;
}

}  // namespace kerngrad::detail
