// SPDX-License-Identifier: Apache-2.0
// Running a stencil on operands of one shape and one floating dtype. On the flat array a read is the operand at a
// constant distance, so the kernels run over the whole array as those of any fused program do. At the border the
// distance leads to other rows: these cells are computed again afterwards, from values that are gathered one by one.
module;
#include <algorithm>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :fuse_stored;
import :fuse_uniform;
import :tape;

namespace kerngrad::detail {

namespace {

using axis_array = std::array<std::int64_t, max_rank>;

/// A read on the axes of a call.
struct grid_read {
  const std::byte* elements;
  axis_array offsets{};
  std::int64_t distance = 0;  // in the flat array, in elements
};

/// The axes of a call: how far the reads reach below and above each cell.
struct stencil_grid {
  int rank = 0;
  axis_array dims{}, strides{}, low{}, high{};
  std::array<boundary, max_rank> edges{};
  std::vector<grid_read> reads;

  stencil_grid(const stencil_program& p, std::span<const tensor* const> operands);
  bool has_interior() const {
    for (std::size_t a = 0; a < static_cast<std::size_t>(rank); ++a)
      if (low[a] + high[a] >= dims[a]) return false;
    return true;
  }
};

stencil_grid::stencil_grid(const stencil_program& p, std::span<const tensor* const> operands)
    : rank(operands[0]->rank()) {
  std::int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    dims[a] = operands[0]->dims()[axis], strides[a] = stride;
    stride *= dims[a];
  }
  for (std::size_t r = 0; r < operands.size(); ++r) {
    const stencil_read& read = p.reads[r];
    grid_read made{host_data(tensor_access::buffer(*operands[r]))};
    for (int axis = rank - read.axes; axis < rank; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const std::int64_t offset = read.offsets[static_cast<std::size_t>(max_rank - rank + axis)];
      edges[a] = edge_of(p.edges, axis, rank);
      made.offsets[a] = offset;
      low[a] = std::max(low[a], std::min(dims[a], -offset));
      high[a] = std::max(high[a], std::min(dims[a], offset));
      made.distance += offset * strides[a];
    }
    reads.push_back(made);
  }
}

// Elements of a block: cells are cheap, so the fewer buffers there are the longer blocks may be. Half of a first-level
// cache is left to the operands.
std::int64_t block_of(const fused_program& p, std::size_t size) {
  constexpr std::size_t most_bytes = 16384;
  std::int64_t n = block_elements;
  while (n < 4 * block_elements && static_cast<std::size_t>(2 * n * p.buffers) * size <= most_bytes) n *= 2;
  return n;
}

/// A run of border cells in a batch: the first in the array, the distance to the next, and how many.
struct border_run {
  std::int64_t first, stride, n;
};

template <class T>
void copy_strided(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t n) {
  if (from_step == 1 && to_step == 1) std::copy_n(from, n, to);
  else
    for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

/// The cells of the border, in batches. T has the size of the operands' dtype.
template <class T>
class border_cells {
 public:
  border_cells(const stencil_grid& grid, const uniform_run& interior, const fused_program& program,
               std::span<const tensor* const> reads);
  border_cells(const border_cells&) = delete;
  border_cells& operator=(const border_cells&) = delete;

  void run();

 private:
  void run_box(int axis, std::int64_t begin, std::int64_t end);
  void add(const axis_array& index, std::size_t along, std::int64_t begin, std::int64_t end);
  void gather_run(const grid_read& read, const axis_array& index, std::size_t along, const border_run& run, T* to);
  void flush();

  const stencil_grid& grid_;
  const uniform_run& interior_;
  uniform_run steps_;
  std::vector<T> gathered_;
  std::vector<double> computed_;
  std::vector<border_run> runs_;
  std::int64_t filled_ = 0;
};

template <class T>
border_cells<T>::border_cells(const stencil_grid& grid, const uniform_run& interior, const fused_program& program,
                              std::span<const tensor* const> reads)
    : grid_(grid),
      interior_(interior),
      steps_{program, interior.type},
      gathered_(reads.size() * block_elements),
      computed_(program.results.size() * block_elements) {
  steps_.choose_steps({});
  steps_.place_operands(reads);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].kind == step_kind::operand)
      steps_.locations[i].base = reinterpret_cast<std::byte*>(
          gathered_.data() + static_cast<std::size_t>(program.steps[i].operand) * block_elements);
  for (std::size_t k = 0; k < program.results.size(); ++k) {
    const auto i = static_cast<std::size_t>(program.results[k]);
    steps_.locations[i] = {reinterpret_cast<std::byte*>(computed_.data() + k * block_elements),
                           interior.locations[i].moves};
  }
}

// Every cell of the border is in one box: that of the first axis on which it is at the border.
template <class T>
void border_cells<T>::run() {
  for (int axis = 0; axis < grid_.rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t n = grid_.dims[a], low = grid_.low[a], high = grid_.high[a];
    if (low + high >= n) {
      run_box(axis, 0, n);
      break;
    }
    if (low > 0) run_box(axis, 0, low);
    if (high > 0) run_box(axis, n - high, n);
  }
  flush();
}

// Runs go along the last axis, or along the one before it where the box is a few cells wide.
template <class T>
void border_cells<T>::run_box(int axis, std::int64_t begin, std::int64_t end) {
  axis_array first{}, past = grid_.dims;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axis); ++a)
    first[a] = grid_.low[a], past[a] = grid_.dims[a] - grid_.high[a];
  first[static_cast<std::size_t>(axis)] = begin, past[static_cast<std::size_t>(axis)] = end;
  const std::size_t rank = static_cast<std::size_t>(grid_.rank);
  std::size_t along = rank - 1;
  if (rank > 1 && past[along] - first[along] < past[along - 1] - first[along - 1]) --along;
  axis_array index = first;
  for (bool more = true; more;) {
    add(index, along, first[along], past[along]);
    more = false;
    for (std::size_t a = rank; a-- > 0 && !more;) {
      if (a == along) continue;
      more = ++index[a] < past[a];
      if (!more) index[a] = first[a];
    }
  }
}

template <class T>
void border_cells<T>::add(const axis_array& index, std::size_t along, std::int64_t begin, std::int64_t end) {
  axis_array at = index;
  // A column has a cache line for each cell, and often all in a few sets: all reads of a short piece find it there.
  const std::int64_t most = grid_.strides[along] == 1 ? block_elements : 64;
  for (std::int64_t from = begin; from < end;) {
    const std::int64_t n = std::min({end - from, block_elements - filled_, most});
    at[along] = from;
    border_run run{0, grid_.strides[along], n};
    for (std::size_t a = 0; a < static_cast<std::size_t>(grid_.rank); ++a) run.first += at[a] * grid_.strides[a];
    for (std::size_t r = 0; r < grid_.reads.size(); ++r)
      gather_run(grid_.reads[r], at, along, run,
                 gathered_.data() + r * block_elements + static_cast<std::size_t>(filled_));
    runs_.push_back(run);
    from += n, filled_ += n;
    if (filled_ == block_elements) flush();
  }
}

template <class T>
void border_cells<T>::gather_run(const grid_read& read, const axis_array& index, std::size_t along,
                                 const border_run& run, T* to) {
  const T* from = reinterpret_cast<const T*>(read.elements);
  for (std::size_t a = 0; a < static_cast<std::size_t>(grid_.rank); ++a) {
    if (a == along) continue;
    const std::int64_t i = index_within(index[a] + read.offsets[a], grid_.dims[a], grid_.edges[a]);
    if (i < 0) return static_cast<void>(std::fill_n(to, run.n, T{}));
    from += i * grid_.strides[a];
  }
  const std::int64_t n = grid_.dims[along], start = index[along] + read.offsets[along];
  const auto one_by_one = [&](std::int64_t first, std::int64_t past) {
    for (std::int64_t k = first; k < past; ++k) {
      const std::int64_t i = index_within(start + k, n, grid_.edges[along]);
      to[k] = i < 0 ? T{} : from[i * run.stride];
    }
  };
  const std::int64_t inside = std::clamp<std::int64_t>(-start, 0, run.n);
  const std::int64_t outside = std::clamp<std::int64_t>(n - start, inside, run.n);
  one_by_one(0, inside);
  if (inside < outside)
    copy_strided(from + (start + inside) * run.stride, run.stride, to + inside, 1, outside - inside);
  one_by_one(outside, run.n);
}

// Computes the cells of a batch and writes them over what the run along the array left there.
template <class T>
void border_cells<T>::flush() {
  if (filled_ == 0) return;
  steps_.run_blocks(0, filled_);
  for (const std::int16_t result : steps_.program.results) {
    const value_location& at = steps_.locations[static_cast<std::size_t>(result)];
    std::byte* const whole = interior_.locations[static_cast<std::size_t>(result)].base;
    const std::byte* from = at.base;
    for (const border_run& run : runs_) {
      if (at.moves == 1)
        copy_strided(reinterpret_cast<const std::uint8_t*>(from), 1, reinterpret_cast<std::uint8_t*>(whole) + run.first,
                     run.stride, run.n);
      else
        copy_strided(reinterpret_cast<const T*>(from), 1, reinterpret_cast<T*>(whole) + run.first, run.stride, run.n);
      from += run.n * at.moves;
    }
  }
  runs_.clear();
  filled_ = 0;
}

}  // namespace

bool run_uniform(const stencil_program& p, std::span<const tensor* const> in, std::span<tensor> out) {
  const fused_program& steps = p.steps;
  if (p.reads.empty() || steps.has_others) return false;
  work_array<const tensor*, 32> operands(p.reads.size());
  for (std::size_t r = 0; r < p.reads.size(); ++r) operands[r] = in[p.reads[r].operand];
  const std::span<const tensor* const> reads = operands.all();
  if (!is_uniform(steps, reads)) return false;
  const shape& dims = reads[0]->dims();
  uniform_run run{steps, reads[0]->type()};
  if (dims.size() == 0 || !run.choose_steps({})) return false;
  run.block = block_of(steps, size_of(run.type));
  run.place_operands(reads);
  run.place_results(dims, steps.results, {}, out);
  const stencil_grid grid(p, reads);
  if (grid.has_interior()) {
    std::int64_t before = 0, after = 0;
    for (const grid_read& read : grid.reads) {
      before = std::max(before, -read.distance);
      after = std::max(after, read.distance);
    }
    const auto size = static_cast<std::int64_t>(size_of(run.type));
    for (std::size_t i = 0; i < steps.steps.size(); ++i)
      if (run.step(i).kind == step_kind::operand)
        run.locations[i].base += grid.reads[static_cast<std::size_t>(run.step(i).operand)].distance * size;
    if (before < dims.size() - after) run.run_all(before, dims.size() - after);
  }
  if (run.type == dtype::float32) border_cells<std::uint32_t>(grid, run, steps, reads).run();
  else border_cells<std::uint64_t>(grid, run, steps, reads).run();
  return true;
}

}  // namespace kerngrad::detail
