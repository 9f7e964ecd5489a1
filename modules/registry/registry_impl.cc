// SPDX-License-Identifier: Apache-2.0
// The registry as its users see it: registering, listing, and what kernels and gradients are given.
module;
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :live;
import :mirrors;
import :run;
import :snapshot;
import :transaction;

namespace kerngrad {

using namespace detail;

// ------------------------------------------------------------------------------------------ calls

namespace {
// The only operand of a call may come without its name.
bool goes_by(const operand_ref& x, std::string_view name, std::span<const operand_ref> operands) {
  return x.name == name || (x.name.empty() && operands.size() == 1);
}
const operand_ref* operand_in(std::span<const operand_ref> operands, std::string_view name) {
  for (const operand_ref& x : operands)
    if (goes_by(x, name, operands)) return &x;
  return nullptr;
}
}  // namespace

bool kernel_call::has(std::string_view operand) const { return operand_in(operands_, operand) != nullptr; }

std::span<const tensor> kernel_call::inputs(std::string_view operand) const {
  const operand_ref* x = operand_in(operands_, operand);
  if (!x) fail(kernel_, "no operand " + std::string(operand), "that operand", "pass it by this name");
  return x->tensors;
}

const tensor& kernel_call::input(std::string_view operand) const {
  const std::span<const tensor> list = inputs(operand);
  if (list.size() != 1)
    fail(kernel_, "a list of " + std::to_string(list.size()) + " tensors as " + std::string(operand), "one tensor");
  return list[0];
}

bool kernel_call::has_attr(std::string_view name) const {
  return std::any_of(attrs_.begin(), attrs_.end(), [&](const attribute_ref& a) { return a.name == name; });
}

const attr_value& kernel_call::attr(std::string_view name) const {
  for (const attribute_ref& a : attrs_)
    if (a.name == name) return a.value;
  fail(kernel_, "no attribute " + std::string(name), "that attribute", "pass it by this name");
}

attr_value kernel_call::attr(std::string_view name, const attr_value& fallback) const {
  return has_attr(name) ? attr(name) : fallback;
}

kernel_call::writable kernel_call::make(dtype type, const shape& dims) const {
  if (!is_dtype(type))
    fail(kernel_, "a result of dtype " + std::to_string(static_cast<int>(type)), "one of those of kg::dtype");
  if (type == dtype::text)
    fail(kernel_, "room for a result of dtype text", "a dtype of numbers", "return a tensor of strings");
  if (memory_ && *memory_) {
    writable w{};
    w.result = allocate_in(*memory_, type, dims, w.elements);
    return w;
  }
  buffer* b = allocate(type, dims);
  return {tensor_access::adopt(b), b->data};
}

const void* kernel_call::elements(const tensor& x) const {
  return memory_ && *memory_ ? block_in(x, *memory_) : x.address();
}

const tensor& gradient_call::output(int k) const {
  if (static_cast<std::size_t>(k) >= results_.size())
    fail(forward_.kernel(), "a rule that reads result " + std::to_string(k), "a result that is saved",
         "set saves_outputs");
  return results_[static_cast<std::size_t>(k)];
}

const tensor& gradient_call::dy(int k) const {
  if (k < 0 || k >= results())
    fail(forward_.kernel(), "a rule that reads dy of result " + std::to_string(k),
         "one of " + std::to_string(results()));
  return dy_[static_cast<std::size_t>(k)];
}

std::span<const tensor> gradient_call::inputs(std::string_view operand) const {
  const std::span<const tensor> list = forward_.inputs(operand);
  for (const tensor& x : list)
    if (!x.defined())
      fail(forward_.kernel(), "a rule that reads operand " + std::string(operand), "an operand that is saved",
           "name it in saves_inputs");
  return list;
}

const tensor& gradient_call::input(std::string_view operand) const {
  inputs(operand);
  return forward_.input(operand);
}

int gradient_call::count(std::string_view operand) const {
  const operand_ref* x = operand_in(forward_.operands(), operand);
  return x ? static_cast<int>(x->tensors.size()) : 0;
}

const signature& gradient_call::of(std::string_view operand, int index) const {
  std::size_t at = 0;
  for (const operand_ref& x : forward_.operands()) {
    if (goes_by(x, operand, forward_.operands()) && index >= 0 && static_cast<std::size_t>(index) < x.tensors.size())
      return signatures_[at + static_cast<std::size_t>(index)];
    at += x.tensors.size();
  }
  fail(forward_.kernel(), "no operand " + std::string(operand) + "[" + std::to_string(index) + "]",
       "an operand of the call");
}

bool gradient_call::wants(std::string_view operand) const {
  std::size_t at = 0;
  for (const operand_ref& x : forward_.operands())
    for (std::size_t i = 0; i < x.tensors.size(); ++i, ++at)
      if (goes_by(x, operand, forward_.operands()) && wanted_[at]) return true;
  return false;
}

// ------------------------------------------------------------------------------------------ registration

namespace {
std::string text_of(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}
}  // namespace

void register_kernel(kernel_config config, existing taken, std::source_location where) {
  transaction t;
  t.add(std::move(config), taken, text_of(where));
  t.commit();
}

void register_gradient(gradient_config config, existing taken, std::source_location where) {
  transaction t;
  t.add(std::move(config), taken, text_of(where));
  t.commit();
}

void detail::register_entry(const op_entry& op, std::source_location where) {
  transaction t;
  t.add(op, text_of(where));
  t.commit();
}

void unregister_kernel(std::string_view name, std::string_view backend) {
  const changes_lock lock;
  transaction t;
  if (!t.remove_kernel(name, backend))
    fail("unregister_kernel", "kernel " + std::string(name) + " for backend " + std::string(backend),
         "one that was registered");
  t.commit();
}

void unregister_gradient(std::string_view name) {
  const changes_lock lock;
  transaction t;
  if (!t.remove_gradient(name)) fail("unregister_gradient", "gradient " + std::string(name), "one that was registered");
  t.commit();
}

void unregister_op(std::string_view name) {
  const changes_lock lock;
  transaction t;
  if (!t.remove_op(name)) fail("unregister_op", "op " + std::string(name), "one that was registered");
  t.commit();
}

int copy_registered_kernels(std::string_view from, std::string_view to) {
  const changes_lock lock;
  transaction t;
  {
    const pinned now;
    for (const auto& record : now->records()) {
      const kernel_ptr* k = record->kernel_on(from);
      if (!k || get_kernel(record->name, to)) continue;
      kernel_config copy = (*k)->config;
      copy.backend = to;
      if ((*k)->checked()) copy.schema = kernel_schema{std::string((*k)->row.doc), (*k)->operands, (*k)->attrs};
      t.add(std::move(copy), existing::replace, (*k)->where, (*k)->keeper);
    }
  }
  t.commit();
  return static_cast<int>(t.kernels().size());
}

void registration::release() {
  if (const std::function<void()> end = std::exchange(end_, nullptr)) end();
}

registration::~registration() {
  try {
    release();
  } catch (...) {  // a dispose hook threw; the registration has ended all the same
  }
}

namespace {
// Ends a registration. Made before anything is registered, because it takes memory; ending takes none: no
// look-up finds a kernel or a gradient any more that was withdrawn, whenever it is taken out. A registration that has
// replaced it stays.
template <class Entry>
std::function<void()> ending(std::shared_ptr<Entry> entry) {
  return [entry] {
    std::exception_ptr thrown;
    {
      const changes_lock lock;
      entry->withdrawn = true;
      thrown = sweep_withdrawn();
    }
    if (thrown) std::rethrow_exception(thrown);
  };
}
}  // namespace

registration scoped_kernel(kernel_config config, existing taken, std::source_location where) {
  transaction t;
  t.add(std::move(config), taken, text_of(where));
  registration r;
  r.end_ = ending(t.kernels()[0]);
  t.commit();
  return r;
}

registration scoped_gradient(gradient_config config, existing taken, std::source_location where) {
  transaction t;
  t.add(std::move(config), taken, text_of(where));
  registration r;
  r.end_ = ending(t.gradients()[0]);
  t.commit();
  return r;
}

registration detail::scoped_entry(const op_entry& op, std::source_location where) {
  transaction t;
  t.add(op, text_of(where));
  registration r;
  r.end_ = ending(t.ops()[0]);
  t.commit();
  return r;
}

// ------------------------------------------------------------------------------------------ listing

namespace {

std::optional<int> table_named(std::string_view name) {
  for (int b = 0; b < backend_count; ++b)
    if (name_of(static_cast<backend>(b)) == name) return b;
  return {};
}

bool is_differentiable(const name_record& record) {
  return record.gradient_now() || (record.op && gradient_of(*record.op));
}

// The dtypes for which a name has a kernel on a backend.
dtype_set kernel_dtypes_on(const name_record& record, std::string_view on) {
  dtype_set types{};
  if (const kernel_ptr* k = record.kernel_on(on)) return (*k)->config.dtypes;
  if (!record.op_now()) return types;
  live_backend there;
  if (const std::optional<int> table = table_named(on)) there.table = *table;
  else there.own_table = own_table_of(on);
  for (int t = 0; t < dtype_count; ++t)
    if (there.slot(*record.op, static_cast<dtype>(t))) types = types | only(static_cast<dtype>(t));
  return types;
}

std::optional<kernel_info> info_of(const name_record& record, std::string_view on) {
  const kernel_ptr* k = record.kernel_on(on);
  const dtype_set types = kernel_dtypes_on(record, on);
  if (!k && !types.bits) return {};
  return kernel_info{record.name,
                     std::string(on),
                     types,
                     !k && record.op->id >= 0,
                     is_differentiable(record),
                     k ? (*k)->where : std::string(record.op_where())};
}

}  // namespace

bool has_gradient(std::string_view name) {
  const pinned now;
  const name_record* record = find_name(*now, name);
  return record && is_differentiable(*record);
}

std::optional<kernel_info> get_kernel(std::string_view name, std::string_view backend) {
  const pinned now;
  const name_record* record = find_name(*now, name);
  return record ? info_of(*record, backend) : std::nullopt;
}

std::optional<gradient_info> get_gradient(std::string_view name) {
  const pinned now;
  const name_record* record = now->find(name);
  const gradient_ptr gradient = record ? record->gradient_now() : nullptr;
  if (!gradient) return {};
  const gradient_config& g = gradient->config;
  return gradient_info{g.name, g.saves_inputs, g.saves_outputs, record->op_now() && gradient_of(*record->op),
                       gradient->where};
}

std::vector<kernel_info> kernels_for_backend(std::string_view backend) {
  std::vector<kernel_info> list;
  {
    const pinned now;
    for (const name_record* record : all_names(*now))
      if (auto info = info_of(*record, backend)) list.push_back(std::move(*info));
  }
  std::sort(list.begin(), list.end(), [](const kernel_info& a, const kernel_info& b) { return a.name < b.name; });
  return list;
}

const op_row* row_named(std::string_view name) {
  const pinned now;
  const name_record* record = find_name(*now, name);
  return record && record->op_now() ? record->op->row : nullptr;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  {
    const pinned now;
    for (const name_record* record : all_names(*now))
      if (record->runs()) names.push_back(record->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string detail::backends_with(std::string_view name) {
  std::string text;
  for (const backend_info& b : backends())
    if (get_kernel(name, b.name)) text += (text.empty() ? "" : ", ") + b.name;
  return text;
}

std::string detail::backends_with(const op_entry& op) {
  name_record plain;
  plain.op = &op;
  std::string text;
  for (const backend_info& b : backends()) {
    const kernel_ptr registered = registered_for(op.row->name, b.name);
    if (registered || kernel_dtypes_on(plain, b.name).bits) text += (text.empty() ? "" : ", ") + b.name;
  }
  return text;
}

}  // namespace kerngrad
