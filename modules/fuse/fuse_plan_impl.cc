// SPDX-License-Identifier: Apache-2.0
// Preparing a call of a fused program: dtypes and shapes of the steps by their rows, kernels, locations of operands.
module;
#include <algorithm>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/fuse/chain.h"
#include "kernels/common/stream.h"
module kerngrad;

import :fuse_plan;
import :tape;

namespace kerngrad::detail {

namespace {

// A number as a scalar tensor of a dtype, rounded to its own dtype first.
tensor literal_tensor(const fused_step& s, dtype own) {
  if (s.kind == step_kind::literal && own == dtype::int64) return tensor(s.number.integer);
  if (own == dtype::boolean) return cast(tensor(static_cast<float>(s.numbers[0])), own);
  return full({}, s.numbers[0], own);
}

}  // namespace

fused_plan::fused_plan(const fused_program& program, std::span<const tensor* const> in, std::span<const bool> wanted)
    : program_(program),
      in_(in),
      values_(program.steps.size()),
      singles_(static_cast<std::size_t>(program.singles) + program.results.size()) {
  mark_used(wanted);
}

void fused_plan::mark_used(std::span<const bool> wanted) {
  for (std::size_t k = 0; k < program_.results.size(); ++k)
    if (program_.results[k] >= 0 && (wanted.empty() || wanted[k]))
      values_[static_cast<std::size_t>(program_.results[k])].used = true;
  for (std::size_t i = program_.steps.size(); i-- > 0;)
    if (values_[i].used)
      for (std::int16_t k : step(i).in)
        if (k >= 0) values_[static_cast<std::size_t>(k)].used = true;
}

std::size_t fused_plan::resolved(std::int16_t i) const {
  std::size_t at = static_cast<std::size_t>(i);
  while (values_[at].same_as >= 0) at = static_cast<std::size_t>(values_[at].same_as);
  return at;
}

const tensor* fused_plan::tensor_at(std::size_t i) const {
  if (step(i).kind == step_kind::operand) return in_[static_cast<std::size_t>(step(i).operand)];
  return !whole_.empty() && whole_[i].defined() ? &whole_[i] : nullptr;
}

bool fused_plan::make() {
  for (const tensor* x : in_)
    if (!x->defined()) return false;
  if (!infer()) return false;
  const std::size_t shape_step = static_cast<std::size_t>(program_.shape_step);
  full_ = values_[shape_step].dims;
  dtype floating_type = dtype::boolean;
  for (const value& v : values_.all()) {
    if (!v.used || v.type == dtype::boolean) continue;
    if (floating_type == dtype::boolean) floating_type = v.type;
    one_floating_ = one_floating_ && v.type == floating_type && floating.has(v.type);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    value& v = values_[i];
    if (!v.used || v.dims == full_) continue;
    v.dense = v.dims->size() == full_->size();
    if (!v.dense && step(i).kind == step_kind::op && !compute_invariant(i)) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------ dtypes and shapes

bool fused_plan::infer() {
  bool uniform = true;
  for (const tensor* x : in_) uniform = uniform && (x == in_[0] || x->dims() == in_[0]->dims());
  if (!uniform) shapes_.reserve(values_.size());  // values point into it
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const fused_step& s = step(i);
    value& v = values_[i];
    if (s.kind == step_kind::operand) {
      const tensor& x = *in_[static_cast<std::size_t>(s.operand)];
      v.type = x.type(), v.dims = &x.dims();
    } else if (s.kind == step_kind::op) {
      if ((v.used || static_cast<int>(i) == program_.shape_step) && (!infer_op(i) || !infer_dims(i, uniform)))
        return false;
    } else {
      const value& like = values_[static_cast<std::size_t>(s.in[0])];
      v.type = s.kind == step_kind::constant ? like.type : dtype_beside(s.number, like.type), v.dims = like.dims;
    }
  }
  return true;
}

// The dtypes of a step, by the rules that a call of its op would follow.
bool fused_plan::infer_op(std::size_t i) {
  const fused_step& s = step(i);
  const op_row& row = *s.row;
  value& v = values_[i];
  dtype common{};
  bool any = false;
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const dtype type = values_[static_cast<std::size_t>(s.in[k])].type;
    if (!row.operands[k].types.has(type)) return false;
    // A number that takes part in another way than as a scalar: the op's own call knows how.
    const fused_step& from = step(static_cast<std::size_t>(s.in[k]));
    if (from.kind == step_kind::literal &&
        dtype_beside(row, from.number, values_[static_cast<std::size_t>(from.in[0])].type) != type)
      return false;
    if (row.operands[k].part != role::value) continue;
    common = any ? promote(common, type) : type;
    any = true;
  }
  const dtype compute = lifted(common, row.types.before);
  v.type = row.types.after == result::attribute ? s.to : result_of(compute, row.types.after);
  if (row.types.after == result::attribute && s.to == common) v.same_as = s.in[0];
  return s.op->kernel(static_cast<int>(backend::simd), compute).exists();
}

bool fused_plan::infer_dims(std::size_t i, bool uniform) {
  const fused_step& s = step(i);
  const op_row& row = *s.row;
  value& v = values_[i];
  v.dims = values_[static_cast<std::size_t>(s.in[0])].dims;
  if (uniform && s.op->effect == shape_effect::none) return true;
  work_array<view, 3> seen(row.operands.size());
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const std::size_t at = static_cast<std::size_t>(s.in[k]);
    seen[k] = {nullptr, step(at).kind == step_kind::literal ? shape{} : *values_[at].dims, values_[at].type};
  }
  std::array<attr_value, 2> attrs;
  for (std::size_t k = 0; k < row.attrs.size() && k < 2; ++k)
    attrs[k] = row.types.after == result::attribute ? attr_value(s.to) : attr_value(s.numbers[k]);
  inference call{row, seen.all(), {attrs.data(), row.attrs.size()}, v.type, v.type};
  row.infer(call);
  if (call.out.size() != 1) return false;
  if (call.out[0].dims == *v.dims) return true;
  if (uniform) return false;
  shapes_.push_back(call.out[0].dims);
  v.dims = &shapes_.back();
  return true;
}

// A step with fewer elements than the results: computed once, on tensors, and an operand from there.
bool fused_plan::compute_invariant(std::size_t i) {
  if (whole_.empty()) whole_.resize(values_.size());
  if (values_[i].same_as >= 0) {
    whole_[i] = whole_value(static_cast<std::size_t>(values_[i].same_as));
    return true;
  }
  const fused_step& s = step(i);
  work_array<tensor, 3> in(s.row->operands.size());
  work_array<const tensor*, 3> pointers(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) {
    in[k] = whole_value(static_cast<std::size_t>(s.in[k]));
    pointers[k] = &in[k];
  }
  std::array<attr_value, 2> attrs;
  for (std::size_t k = 0; k < s.row->attrs.size() && k < 2; ++k)
    attrs[k] = s.row->types.after == result::attribute ? attr_value(s.to) : attr_value(s.numbers[k]);
  const unrecorded pause;
  whole_[i] = run_one(*s.op, pointers.all(), {attrs.data(), s.row->attrs.size()});
  return true;
}

tensor fused_plan::whole_value(std::size_t i) const {
  if (const tensor* x = tensor_at(i)) return *x;
  const unrecorded pause;
  const tensor number = literal_tensor(step(i), values_[i].type);
  return step(i).kind == step_kind::literal ? number : broadcast_to(number, *values_[i].dims);
}

// ------------------------------------------------------------------------------------------ locations

block_location fused_plan::single(std::size_t i, dtype wanted) {
  const fused_step& s = step(i);
  std::byte* at = reinterpret_cast<std::byte*>(&singles_[next_single_++]);
  const dtype own = values_[i].type;
  if (own == wanted && own == dtype::float32) {
    const float number = static_cast<float>(s.numbers[0]);
    std::memcpy(at, &number, sizeof number);
  } else if (own == wanted && own == dtype::float64) {
    std::memcpy(at, &s.numbers[0], sizeof(double));
  } else {
    const unrecorded pause;
    const tensor number = cast(literal_tensor(s, own), wanted);
    std::memcpy(at, number.address(), size_of(wanted));
  }
  block_location p{block_location::kind::single, static_cast<std::uint8_t>(size_of(wanted)), 0, {at}};
  return p;
}

// The location of a value as an operand of dtype `wanted`. A step that casts a block of it goes first if the value is
// dense and has another dtype.
block_location fused_plan::location_of(std::size_t i, dtype wanted, int cast_buffer) {
  const fused_step& s = step(i);
  const value& v = values_[i];
  block_location p{block_location::kind::array, static_cast<std::uint8_t>(size_of(v.type)), 0, {nullptr}};
  if (s.kind == step_kind::literal || s.kind == step_kind::constant) return single(i, wanted);
  const tensor* x = tensor_at(i);
  if (x && !v.dense) {
    if (v.type != wanted) {
      const unrecorded pause;
      casts_.push_back(cast(*x, wanted));
      x = &casts_.back();
    }
    p.size = static_cast<std::uint8_t>(size_of(wanted));
    p.base = host_data(tensor_access::buffer(*x));
    p.is = x->size() == 1 ? block_location::kind::single : block_location::kind::strided;
    if (p.is == block_location::kind::strided) {
      p.leaf = static_cast<std::uint16_t>(leaves_.size());
      leaves_.push_back({p.base, v.dims, p.size, {}});
    }
    return p;
  }
  if (x || v.result) {
    p.base = x ? host_data(tensor_access::buffer(*x)) : v.result;
  } else {
    p.is = block_location::kind::buffer;
    p.offset = static_cast<std::size_t>(s.buffer);
  }
  if (v.type == wanted) return p;
  extra_buffers_ = true;
  block_step& to = ready_.add();
  to.how = block_step::form::cast;
  to.to = wanted;
  to.operands = 1;
  to.kernel = &kernel_of<"Cast">(backend::simd, v.type);
  to.in[0] = p;
  to.out.is = block_location::kind::buffer;
  to.out.size = static_cast<std::uint8_t>(size_of(wanted));
  to.out.offset = static_cast<std::size_t>(program_.buffers + cast_buffer);
  return to.out;
}

void fused_plan::plan_op(std::size_t i) {
  const fused_step& s = step(i);
  const op_row& row = *s.row;
  dtype compute{};
  bool any = false;
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    if (row.operands[k].part == role::value) {
      const dtype type = values_[static_cast<std::size_t>(s.in[k])].type;
      compute = any ? promote(compute, type) : type;
      any = true;
    }
  compute = lifted(compute, row.types.before);
  block_step all;
  all.operands = static_cast<std::uint8_t>(row.operands.size());
  bool dense = true;
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const std::size_t at = resolved(s.in[k]);
    const dtype wanted = row.operands[k].part == role::value ? compute : values_[at].type;
    all.in[k] = location_of(at, wanted, static_cast<int>(k));
    dense = dense && (all.in[k].is == block_location::kind::array || all.in[k].is == block_location::kind::buffer);
  }
  all.kernel = &s.op->kernel(static_cast<int>(backend::simd), compute);
  all.numbers = s.numbers;
  all.to = s.to;
  using form = block_step::form;
  if (row.convention == convention::binary) all.how = dense && all.kernel->flat2 ? form::flat2 : form::broadcast;
  else if (row.convention == convention::select) all.how = form::broadcast;
  else if (row.convention == convention::cast) all.how = form::cast;
  else if (row.convention == convention::convert) all.how = form::count;
  else all.how = all.kernel->flat1 && row.attrs.empty() ? form::flat1 : form::unary;
  // Kernels that know no strides get single values as arrays.
  if (!dense && all.how != form::broadcast)
    for (std::size_t k = 0; k < row.operands.size(); ++k) {
      if (all.in[k].is != block_location::kind::single) continue;
      extra_buffers_ = true;
      block_step& fill = ready_.add();
      fill.how = form::fill;
      fill.operands = 1;
      fill.kernel = &kernel_of<"Fill">(backend::simd, compute);
      fill.in[0] = all.in[k];
      fill.out.is = block_location::kind::buffer;
      fill.out.size = all.in[k].size;
      fill.out.offset = static_cast<std::size_t>(program_.buffers) + k;
      all.in[k] = fill.out;
    }
  all.out = location_of_result(i);
  ready_.add() = all;
}

block_location fused_plan::location_of_result(std::size_t i) const {
  const value& v = values_[i];
  block_location p{block_location::kind::array, static_cast<std::uint8_t>(size_of(v.type)), 0, {v.result}};
  if (v.result) return p;
  p.is = block_location::kind::buffer;
  p.offset = static_cast<std::size_t>(step(i).buffer);
  return p;
}

// True if a kernel can do a chain at once here: its steps have as many elements as the results, and rows are worth
// calls.
bool fused_plan::can_take_chain(std::size_t i) const {
  constexpr std::int64_t least_row = 64;
  const step_chain& chain = program_.chains[i];
  if (chain.kernel < 0 || !one_floating_ || full_->rank() == 0 || (*full_)[full_->rank() - 1] < least_row) return false;
  for (std::size_t k = 0; k < values_.size(); ++k)
    if ((k == i || program_.chains[k].within == static_cast<std::int16_t>(i)) &&
        (!values_[k].used || !values_[k].dense))
      return false;
  return true;
}

// True if a kernel does a chain at once. If a tail stands in place of a value, all chains that write or read it are
// taken, or none.
bool fused_plan::takes_chain(std::size_t i) const {
  const std::int16_t tail = program_.chains[i].sigmoid_tail;
  if (!can_take_chain(i) || tail < 0) return can_take_chain(i);
  const std::size_t writer = writer_of_tail(program_.chains, tail);
  for (std::size_t k = 0; k < values_.size(); ++k)
    if (program_.chains[k].sigmoid_tail == tail && (values_[k].used || k == writer) && !can_take_chain(k)) return false;
  return true;
}

void fused_plan::plan_chain(std::size_t i) {
  const step_chain& chain = program_.chains[i];
  const dtype type = values_[i].type;
  block_step all;
  all.how = block_step::form::chain;
  all.operands = 0;
  for (std::int16_t k : chain.in)
    if (k >= 0) all.in[all.operands++] = location_of(resolved(k), type, 0);
  all.keeps = 0;
  for (std::size_t k = 0; k < chain.kept.size(); ++k) {
    if (chain.kept[k] < 0) continue;
    all.kept[k] = location_of_result(static_cast<std::size_t>(chain.kept[k]));
    all.keeps |= static_cast<std::uint8_t>(1u << k);
  }
  all.keeps_sigmoid_tail = chain.sigmoid_tail >= 0;
  const kernels::chain_kernels& kernel = kernels::chain_simd[chain.kernel];
  all.run = type == dtype::float32 ? kernel.float32 : kernel.float64;
  all.out = location_of_result(i);
  const std::size_t bytes = static_cast<std::size_t>(full_->size()) * size_of(type);
  all.past_caches =
      values_[i].result && !chain.read_again && bytes >= kernels::stream_least.load(std::memory_order_relaxed);
  ready_.add() = all;
}

}  // namespace kerngrad::detail
