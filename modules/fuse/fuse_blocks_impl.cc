// SPDX-License-Identifier: Apache-2.0
// Running a call of a fused program: block by block, every step of the program on one block before the next block.
module;
#include <algorithm>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/fuse/chain.h"
#include "kernels/convert/convert.h"
#include "kernels/create/create.h"
#include "kernels/common/parallel.h"
#include "kernels/common/stream.h"
#include "kernels/elementwise/unary.h"
module kerngrad;

import :fuse_plan;
import :fuse_uniform;
import :tape;

namespace kerngrad::detail {

namespace {

constexpr std::size_t stack_bytes = 65536;

}  // namespace

void fused_plan::run(std::span<tensor> out) {
  give_results(out);
  if (full_->size() > 0) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const value& v = values_[i];
      if (!v.used || !v.dense || v.same_as >= 0 || step(i).kind != step_kind::op) continue;
      const std::int16_t end = program_.chains[i].within;
      if (end >= 0 && takes_chain(static_cast<std::size_t>(end))) continue;
      if (takes_chain(i)) plan_chain(i);
      else plan_op(i);
    }
    plan_walk();
    const std::size_t buffers = static_cast<std::size_t>(program_.buffers) + (extra_buffers_ ? 3 : 0);
    run_all(buffers * static_cast<std::size_t>(block_) * element_);
  }
  // Results that no step computes: an operand, a number, a value that is the same everywhere, a result once more.
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::int16_t r = program_.results[k];
    if (r < 0 || !values_[static_cast<std::size_t>(r)].used || out[k].defined()) continue;
    const std::size_t i = resolved(r);
    for (std::size_t j = 0; j < out.size() && values_[i].result; ++j)
      if (out[j].defined() && host_data(tensor_access::buffer(out[j])) == values_[i].result) out[k] = out[j];
    if (out[k].defined()) continue;
    const unrecorded pause;
    tensor y = whole_value(i);
    out[k] = y.dims() == *full_ ? std::move(y) : broadcast_to(y, *full_);
    tensor_access::position(out[k]) = {};
  }
}

// Every result that a step computes gets its tensor: the step writes there and nowhere else.
void fused_plan::give_results(std::span<tensor> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::int16_t r = program_.results[k];
    if (r < 0 || !values_[static_cast<std::size_t>(r)].used) continue;
    const std::size_t i = resolved(r);
    value& v = values_[i];
    if (step(i).kind != step_kind::op || !v.dense || v.result) continue;
    out[k] = tensor_access::adopt(allocate(v.type, *full_));
    v.result = tensor_access::buffer(out[k])->data;
  }
  for (const value& v : values_.all())
    if (v.used) element_ = std::max(element_, size_of(v.type));
}

// ------------------------------------------------------------------------------------------ the walk

void fused_plan::plan_walk() {
  axes_[0] = full_->size();
  if (!leaves_.empty()) merge_axes();
  for (axis_ = rank_ - 1; axis_ > 0 && inner_ * axes_[static_cast<std::size_t>(axis_)] <= block_elements; --axis_)
    inner_ *= axes_[static_cast<std::size_t>(axis_)];
  const std::int64_t axis = axes_[static_cast<std::size_t>(axis_)];
  rows_ = std::min(axis, std::max<std::int64_t>(1, block_elements / inner_));
  block_ = rows_ * inner_;
  blocks_ = (axis + rows_ - 1) / rows_;
  for (int i = 0; i < axis_; ++i) blocks_ *= axes_[static_cast<std::size_t>(i)];
}

// Axes of size 1 go, neighbours that all broadcast operands walk as one become one.
void fused_plan::merge_axes() {
  std::vector<std::int64_t> step(leaves_.size(), 1), stride(leaves_.size());
  rank_ = 0;
  for (int axis = full_->rank() - 1; axis >= 0; --axis) {
    const std::size_t at = static_cast<std::size_t>(rank_);
    bool joins = rank_ > 0;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      const int own = axis - (full_->rank() - leaves_[k].dims->rank());
      const std::int64_t size = own >= 0 ? (*leaves_[k].dims)[own] : 1;
      stride[k] = size == 1 ? 0 : step[k];
      step[k] *= size;
      joins = joins && stride[k] == leaves_[k].strides[at - 1] * axes_[at - 1];
    }
    if ((*full_)[axis] == 1) continue;
    if (joins) {
      axes_[at - 1] *= (*full_)[axis];
      continue;
    }
    axes_[at] = (*full_)[axis];
    for (std::size_t k = 0; k < leaves_.size(); ++k) leaves_[k].strides[at] = stride[k];
    ++rank_;
  }
  std::reverse(axes_.begin(), axes_.begin() + rank_);
  for (strided_leaf& leaf : leaves_) std::reverse(leaf.strides.begin(), leaf.strides.begin() + rank_);
}

// Blocks do not depend on one another: any split of them gives bitwise identical results.
void fused_plan::run_all(std::size_t scratch_bytes) const {
  if (scratch_bytes > stack_bytes) {
    const tensor scratch =
        tensor_access::adopt(allocate(dtype::uint8, shape{static_cast<std::int64_t>(scratch_bytes)}));
    return run_blocks(0, blocks_, tensor_access::buffer(scratch)->data);
  }
  const auto part = [&](std::int64_t first, std::int64_t end) {
    alignas(64) std::byte scratch[stack_bytes];
    run_blocks(first, std::min(blocks_, end), scratch);
  };
  const std::int64_t most = std::max<std::int64_t>(1, chunk_elements_of_program / block_);
  const std::int64_t chunks = (blocks_ + most - 1) / most;
  if (chunks < least_chunks || !may_split(program_)) return part(0, blocks_);
  kernels::parallel_chunks(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const kernels::part_of_result whole(static_cast<std::size_t>(full_->size()) * element_);
    const std::int64_t first = static_cast<std::int64_t>(chunk) * most;
    part(first, first + most);
  });
}

void fused_plan::run_blocks(std::int64_t first, std::int64_t end, std::byte* scratch) const {
  const std::int64_t axis = axes_[static_cast<std::size_t>(axis_)], per_axis = (axis + rows_ - 1) / rows_;
  work_array<const std::byte*, 8> strided(leaves_.size());
  for (std::int64_t b = first; b < end; ++b) {
    std::int64_t outer = b / per_axis;
    const std::int64_t start = b % per_axis * rows_, rows = std::min(rows_, axis - start);
    for (std::size_t l = 0; l < leaves_.size(); ++l) {
      const strided_leaf& leaf = leaves_[l];
      std::int64_t left = outer, at = start * leaf.strides[static_cast<std::size_t>(axis_)];
      for (int i = axis_ - 1; i >= 0; --i) {
        const std::size_t k = static_cast<std::size_t>(i);
        at += left % axes_[k] * leaf.strides[k];
        left /= axes_[k];
      }
      strided[l] = leaf.elements + at * static_cast<std::int64_t>(leaf.size);
    }
    const block_range block{(outer * axis + start) * inner_, rows, rows * inner_, strided.all().data(), scratch};
    for (const block_step& s : ready_.all()) run_step(s, block);
  }
}

// ------------------------------------------------------------------------------------------ a step on a block

std::byte* fused_plan::address(const block_location& p, const block_range& block) const {
  switch (p.is) {
    case block_location::kind::array: return p.base + block.offset * p.size;
    case block_location::kind::buffer: return block.scratch + p.offset * static_cast<std::size_t>(block_) * element_;
    case block_location::kind::single: return p.base;
    case block_location::kind::strided: return const_cast<std::byte*>(block.strided[p.leaf]);
  }
  return nullptr;
}

void fused_plan::run_step(const block_step& s, const block_range& block) const {
  const std::size_t n = static_cast<std::size_t>(block.n);
  std::byte* const out = address(s.out, block);
  const auto operand = [&](std::size_t k) { return address(s.in[k], block); };
  using form = block_step::form;
  if (s.how == form::flat2) return s.kernel->flat2(operand(0), operand(1), out, n);
  if (s.how == form::flat1) return s.kernel->flat1(operand(0), out, n);
  if (s.how == form::chain) return run_chain(s, block);
  const void* in[3] = {};
  for (std::size_t k = 0; k < s.operands; ++k) in[k] = operand(k);
  void* results[] = {out};
  const auto run = [&](const auto& geometry) { s.kernel->run(in, results, &geometry); };
  switch (s.how) {
    case form::unary: return run(kernels::unary_geometry{block.n, {s.numbers[0], s.numbers[1]}});
    case form::count: return run(kernels::convert_geometry{block.n});
    case form::cast: return run(kernels::cast_geometry{block.n, s.to});
    case form::fill: return run(kernels::fill_geometry{block.n, in[0]});
    default: return run_broadcast(s, in, out, block);
  }
}

// The geometry of a block: one axis where nothing is broadcast along those after it, else all that it covers.
void fused_plan::run_broadcast(const block_step& s, const void* const* in, void* out, const block_range& block) const {
  kernels::broadcast_geometry g;  // as much of it is set as is read
  bool flat = true;
  for (std::size_t k = 0; k < s.operands; ++k) flat = flat && s.in[k].is != block_location::kind::strided;
  g.rank = flat ? 1 : rank_ - axis_;
  g.dims[0] = flat ? block.n : block.rows;
  for (int i = 1; i < g.rank; ++i) g.dims[i] = axes_[static_cast<std::size_t>(axis_ + i)];
  for (std::size_t k = 0; k < s.operands; ++k) {
    const block_location& p = s.in[k];
    std::int64_t dense = 1;
    for (int i = g.rank - 1; i >= 0; --i) {
      if (p.is == block_location::kind::strided)
        g.strides[k][i] = leaves_[p.leaf].strides[static_cast<std::size_t>(axis_ + i)];
      else g.strides[k][i] = p.is == block_location::kind::single ? 0 : dense;
      dense *= g.dims[i];
    }
  }
  void* results[] = {out};
  s.kernel->run(in, results, &g);
}

// At one go where every operand is an array or one value in the whole block, else row by row.
void fused_plan::run_chain(const block_step& s, const block_range& block) const {
  const std::size_t last = static_cast<std::size_t>(rank_ - 1);
  const std::span<const block_location> operands(s.in, s.operands);
  const bool flat = axis_ == rank_ - 1 ||
                    std::ranges::find(operands, block_location::kind::strided, &block_location::is) == operands.end();
  const std::int64_t length = flat ? block.n : axes_[last];
  kernels::chain_geometry g{static_cast<std::size_t>(length), {}, s.past_caches, {}, s.keeps_sigmoid_tail};
  for (std::size_t k = 0; k < s.operands; ++k) {
    const block_location& p = s.in[k];
    g.moves[k] = p.is == block_location::kind::strided ? leaves_[p.leaf].strides[last] != 0
                                                       : p.is != block_location::kind::single;
  }
  // How far into an operand a row of the block begins, in elements.
  const auto start_of = [&](const block_location& p, std::int64_t row) {
    if (p.is == block_location::kind::single || flat) return std::int64_t{0};
    if (p.is != block_location::kind::strided) return row * length;
    std::int64_t at = 0;
    for (int i = rank_ - 2; i >= axis_; --i) {
      const std::size_t k = static_cast<std::size_t>(i);
      at += (i == axis_ ? row : row % axes_[k]) * leaves_[p.leaf].strides[k];
      row /= axes_[k];
    }
    return at;
  };
  for (std::int64_t row = 0; row * length < block.n; ++row) {
    const void* in[kernels::most_chain_operands];
    for (std::size_t k = 0; k < s.operands; ++k)
      in[k] = address(s.in[k], block) + start_of(s.in[k], row) * s.in[k].size;
    for (std::size_t k = 0; k < kernels::most_kept_values; ++k)
      if ((s.keeps >> k) & 1) g.kept[k] = address(s.kept[k], block) + row * length * s.out.size;
    void* out[] = {address(s.out, block) + row * length * s.out.size};
    s.run(in, out, &g);
  }
}

}  // namespace kerngrad::detail
