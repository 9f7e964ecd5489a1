// SPDX-License-Identifier: Apache-2.0
// From a call to a kernel: validate by the row, promote, infer, allocate, launch, record.
module;
#include <atomic>
#include <cmath>
#include "kernels/abi.h"
#include "kernels/targets.h"
module kerngrad;

import :tape;

namespace kerngrad {

namespace {
std::atomic<backend> active{backend::simd};
}  // namespace

void set_backend(backend which) { active.store(which); }
backend active_backend() { return active.load(std::memory_order_relaxed); }

std::vector<simd_target> simd_targets() {
  kernels::target all[64];
  const int count = kernels::supported_targets(all, 64);
  std::vector<simd_target> names;
  for (int i = 0; i < count; ++i) names.push_back({all[i].name});
  return names;
}

void set_simd_target(std::string_view name) {
  if (name.empty()) return kernels::unpin_target();
  kernels::target all[64];
  const int count = kernels::supported_targets(all, 64);
  std::string known;
  for (int i = 0; i < count; ++i) {
    if (name == all[i].name) return kernels::pin_target(all[i].bits);
    known += (i ? ", " : "") + std::string(all[i].name);
  }
  fail("set_simd_target", "the target " + std::string(name), "one that is compiled in and supported: " + known);
}

std::string active_simd_target() { return kernels::running_target(); }

namespace detail {
namespace {

const op_row& row_at(int id) { return op_table[static_cast<std::size_t>(id)]; }

// The operand's name and place, for errors.
std::string operand_text(const op_row& row, int i) {
  const operand& spec = row.takes_list() ? row.operands[0] : row.operands[static_cast<std::size_t>(i)];
  return row.takes_list() ? std::string(spec.name) + "[" + std::to_string(i) + "]" : std::string(spec.name);
}

const operand& spec_of(const op_row& row, int i) {
  return row.operands[row.takes_list() ? 0 : static_cast<std::size_t>(i)];
}

void check_operands(const op_row& row, std::span<const tensor* const> in) {
  const std::size_t most = row.operands.size();
  if (row.takes_list() ? in.empty() : in.size() > most)
    fail(row.name, std::to_string(in.size()) + " operands", row.takes_list() ? "at least 1" : std::to_string(most));
  for (std::size_t i = 0; i < (row.takes_list() ? in.size() : most); ++i) {
    const operand& spec = spec_of(row, static_cast<int>(i));
    if (i >= in.size() || !in[i]->defined()) {
      if (!spec.optional)
        fail(row.name, "no operand " + operand_text(row, static_cast<int>(i)), "a tensor", "pass one");
      continue;
    }
    if (!spec.types.has(in[i]->type()))
      fail(row.name,
           "operand " + operand_text(row, static_cast<int>(i)) + " of dtype " + std::string(name_of(in[i]->type())),
           to_string(spec.types), "cast it");
  }
}

bool attr_fits(const attr_spec& spec, const attr_value& value) {
  const bool whole = value.kind() == attr_kind::integer ||
                     (value.kind() == attr_kind::number && std::floor(value.as_number()) == value.as_number() &&
                      std::fabs(value.as_number()) < 9e15);
  switch (spec.kind) {
    case attr_kind::integer: return whole;
    case attr_kind::number: return value.kind() == attr_kind::number || value.kind() == attr_kind::integer;
    case attr_kind::list:
      return value.kind() == attr_kind::list || (spec.scalar_or_list && whole) ||
             (!spec.choices.empty() && value.kind() == attr_kind::text);
    default: return value.kind() == spec.kind;
  }
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t end = choices.find('|');
    if (choices.substr(0, end) == text) return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

void check_attrs(const op_row& row, std::span<const attr_value> given, std::span<attr_value> out) {
  for (std::size_t i = 0; i < row.attrs.size(); ++i) {
    const attr_spec& spec = row.attrs[i];
    if (i >= given.size() || !given[i].given()) {
      if (spec.required)
        fail(row.name, "no attribute " + std::string(spec.name),
             std::string(name_of(spec.kind)) + ": " + std::string(spec.doc));
      out[i] = default_of(spec);
      continue;
    }
    const attr_value& value = given[i];
    const auto said = [&] { return "attribute " + std::string(spec.name) + " = " + to_string(value); };
    if (!attr_fits(spec, value)) fail(row.name, said(), std::string(name_of(spec.kind)) + ": " + std::string(spec.doc));
    if (value.kind() == attr_kind::text && !spec.choices.empty() && !is_choice(spec.choices, value.as_text()))
      fail(row.name, said(), "one of " + std::string(spec.choices));
    const bool bounded =
        spec.least > std::numeric_limits<double>::lowest() || spec.most < std::numeric_limits<double>::max();
    const auto within = [&](double number) {
      if (bounded && !(number >= spec.least && number <= spec.most))
        fail(row.name, said(),
             "values from " + to_string(attr_value(spec.least)) + " to " + to_string(attr_value(spec.most)));
    };
    if (value.kind() == attr_kind::integer || value.kind() == attr_kind::number) within(value.as_number());
    for (std::int64_t item : value.as_list()) within(static_cast<double>(item));
    const bool to_integer = value.kind() == attr_kind::number && spec.kind != attr_kind::number;
    out[i] = to_integer ? attr_value(value.as_integer()) : value;
  }
}

namespace {

const kernel_slot& kernel_or_refusal(int id, dtype type) {
  const backend which = active_backend();
  const kernel_slot& slot = slot_of(which, id, type);
  if (!slot.exists())
    fail(row_at(id).name, "no kernel for " + std::string(name_of(type)) + " on backend " + std::string(name_of(which)),
         "one of " + to_string(kernel_dtypes(which, id)),
         "cast the operands, or register a kernel and call it by name");
  return slot;
}

view view_of(const tensor& x) {
  if (!x.defined()) return {};
  const buffer* b = tensor_access::buffer(x);
  return {b->data, b->dims, b->type};
}

// An array whose length is known when the call runs; up to four items need no heap.
template <class T>
class work_array {
 public:
  explicit work_array(std::size_t count) : size_(count), heap_(count > 4 ? std::make_unique<T[]>(count) : nullptr) {}
  inline T& operator[](std::size_t i) { return items()[i]; }
  inline std::span<T> all() { return {items(), size_}; }

 private:
  inline T* items() { return heap_ ? heap_.get() : fixed_; }
  T fixed_[4]{};
  std::size_t size_;
  std::unique_ptr<T[]> heap_;
};

// The dtype that the kernel computes in: the value operands' common one, lifted; without them, the attribute's.
dtype compute_dtype(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  dtype common = in.empty() || !in[0]->defined() ? dtype::float32 : in[0]->type();
  bool any = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i]->defined() || spec_of(row, static_cast<int>(i)).part != role::value) continue;
    common = any ? promote(common, in[i]->type()) : in[i]->type();
    any = true;
  }
  if (!any && row.types.after == result::attribute) {
    const int at = row.attr_index("dtype");
    return at >= 0 ? attrs[static_cast<std::size_t>(at)].as_dtype() : dtype::float32;
  }
  return lifted(common, row.types.before);
}

// Allocates the results and runs the kernel. Nothing is written before everything has been checked.
tensor_list launched(int id, const inference& call, std::span<const tensor* const> in) {
  tensor_list out;
  if (call.row.launch == launch::copy) {  // the same elements in the same order: no copy, a second header
    out.push_back(tensor_access::adopt(share(tensor_access::buffer(*in[0]), call.out[0].dims)));
    return out;
  }
  const kernel_slot& slot = kernel_or_refusal(id, call.compute);
  work_array<view> ins(in.size()), outs(static_cast<std::size_t>(call.out.size()));
  for (std::size_t i = 0; i < in.size(); ++i) ins[i] = view_of(*in[i]);
  for (int k = 0; k < call.out.size(); ++k) {
    out.push_back(tensor_access::adopt(allocate(call.out[k].type, call.out[k].dims)));
    outs[static_cast<std::size_t>(k)] = view_of(out[k]);
  }
  // Without elements to write there is nothing to run, however many the operands' shapes promise.
  const std::span<view> results = outs.all();
  bool any = false;
  for (const view& y : results) any = any || y.dims.size() > 0;
  if (any)
    call.row.launch({call, slot, kernel_tables[static_cast<std::size_t>(active_backend())].data(), ins.all(), results});
  return out;
}

void record_all(int id, std::span<const tensor* const> in, std::span<const attr_value> attrs, tensor_list& out) {
  if (out.empty()) return;
  if (out.size() == 1) return record(id, in, attrs, {&out[0], 1});
  std::vector<tensor> flat;
  for (int k = 0; k < out.size(); ++k) flat.push_back(std::move(out[k]));
  record(id, in, attrs, flat);
  for (int k = 0; k < out.size(); ++k) out[k] = std::move(flat[static_cast<std::size_t>(k)]);
}

tensor_list run_checked(int id, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  const op_row& row = row_at(id);
  const dtype compute = compute_dtype(row, in, attrs);
  work_array<tensor> promoted(in.size());
  work_array<const tensor*> operands(in.size());
  work_array<signature> seen(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    operands[i] = in[i];
    if (!in[i]->defined()) continue;
    if (spec_of(row, static_cast<int>(i)).part == role::value && in[i]->type() != compute) {
      promoted[i] = cast(*in[i], compute);
      operands[i] = &promoted[i];
    }
    seen[i] = operands[i]->signature();
  }
  inference call{row, seen.all(), attrs, compute, result_of(compute, row.types.after)};
  row.infer(call);
  tensor_list out = launched(id, call, operands.all());
  if (recording_now()) record_all(id, operands.all(), attrs, out);
  return out;
}

// For the one-result, no-attribute calls of the typed door: everything matches, so nothing needs promotion.
bool plain(const op_row& row, dtype type) {
  return spec_of(row, 0).types.has(type) && lifted(type, row.types.before) == type;
}

}  // namespace

tensor_list run_list(int id, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  const op_row& row = row_at(id);
  check_operands(row, in);
  if (row.attrs.empty()) return run_checked(id, in, {});
  std::array<attr_value, 8> normal;
  const std::span<attr_value> checked(normal.data(), row.attrs.size());
  check_attrs(row, attrs, checked);
  return run_checked(id, in, checked);
}

tensor run_one(int id, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  tensor_list out = run_list(id, in, attrs);
  return std::move(out.front());
}

tensor run_unary(int id, const tensor& x) {
  const op_row& row = row_at(id);
  if (const buffer* b = tensor_access::buffer(x); b && row.group == family::unary && plain(row, b->type)) {
    const kernel_slot& slot = slot_of(active_backend(), id, b->type);
    if (slot.flat1) {
      tensor y = tensor_access::adopt(allocate(result_of(b->type, row.types.after), b->dims));
      slot.flat1(b->data, tensor_access::buffer(y)->data, static_cast<std::size_t>(b->dims.size()));
      if (recording_now()) {
        const tensor* const in[] = {&x};
        record(id, in, {}, {&y, 1});
      }
      return y;
    }
  }
  const tensor* const in[] = {&x};
  return run_one(id, in, {});
}

tensor run_binary(int id, const tensor& a, const tensor& b) {
  const op_row& row = row_at(id);
  const buffer *p = tensor_access::buffer(a), *q = tensor_access::buffer(b);
  if (p && q && p->type == q->type && plain(row, p->type) && p->dims == q->dims) {
    const kernel_slot& slot = slot_of(active_backend(), id, p->type);
    if (slot.flat2) {
      tensor y = tensor_access::adopt(allocate(result_of(p->type, row.types.after), p->dims));
      slot.flat2(p->data, q->data, tensor_access::buffer(y)->data, static_cast<std::size_t>(p->dims.size()));
      if (recording_now()) {
        const tensor* const in[] = {&a, &b};
        record(id, in, {}, {&y, 1});
      }
      return y;
    }
  }
  const tensor* const in[] = {&a, &b};
  return run_one(id, in, {});
}

tensor literal(double value, const tensor& like) {
  const bool fraction = std::floor(value) != value;
  dtype type = like.type();
  if (type == dtype::boolean || (fraction && integral.has(type))) type = dtype::float32;
  const unrecorded pause;
  return full({}, value, type);
}

tensor whole_literal(std::int64_t value, const tensor& like) {
  const dtype type = like.type() == dtype::boolean ? dtype::int32 : like.type();
  const unrecorded pause;
  // An attribute is a double: an int64 beyond its 53 bits goes through a tensor of its own.
  return type == dtype::int64 ? tensor(value) : full({}, static_cast<double>(value), type);
}

}  // namespace detail

std::vector<double> tensor::to_doubles() const {
  const auto copy = [](auto values) { return std::vector<double>(values.begin(), values.end()); };
  switch (type()) {
    case dtype::float32: return copy(data<float>());
    case dtype::float64: return copy(data<double>());
    case dtype::int32: return copy(data<std::int32_t>());
    case dtype::int64: return copy(data<std::int64_t>());
    case dtype::uint8: return copy(data<std::uint8_t>());
    case dtype::boolean: return copy(data<bool>());
    default: fail("to_doubles", "dtype " + std::string(name_of(type())), "a real dtype", "take real(x) or imag(x)");
  }
}

double tensor::item() const {
  if (size() != 1) fail("item", "a tensor of shape " + to_string(dims()), "exactly one element");
  return to_doubles()[0];
}

tensor tensor::raw(const void* values, std::size_t count, dtype type, const shape& dims) {
  if (static_cast<std::int64_t>(count) != dims.size())
    fail("tensor", std::to_string(count) + " values", std::to_string(dims.size()) + " for shape " + to_string(dims));
  detail::buffer* b = detail::allocate(type, dims);
  if (count) std::memcpy(b->data, values, count * size_of(type));
  return tensor(b);
}

namespace detail {
void refuse_element(const buffer* b, dtype wanted) {
  fail("data", "a tensor of dtype " + std::string(name_of(b->type)) + " read as " + std::string(name_of(wanted)),
       "the C++ type of its dtype", "cast it first");
}
}  // namespace detail

}  // namespace kerngrad
