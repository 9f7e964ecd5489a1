// SPDX-License-Identifier: Apache-2.0
// Calls by name: the look-up, the order of the row, registered kernels, and gradients of the registry on the tape.
module;
#include <algorithm>
#include <memory>
#include <range/v3/view/zip.hpp>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/elementwise/unary.h"
module kerngrad;

import :by_name;
import :live;
import :mirrors;
import :run;
import :snapshot;
import :tape;
import :watch;

namespace kerngrad {
namespace detail {

struct found_kernel {
  std::string name;
  const op_entry* op = nullptr;
  kernel_ptr kernel;
  std::shared_ptr<const live_backend> on;
  std::vector<named_attribute> attrs{};  // of every call that does not give its own

  const op_row* row() const { return op ? op->row : kernel->checked() ? &kernel->row : nullptr; }
};

namespace {

// ------------------------------------------------------------------------------------------ gradients on the tape

// Tensors that a registered gradient keeps of a call until the backward pass: only those that it declared.
struct saved_call {
  gradient_ptr gradient;
  std::shared_ptr<const void> keeper;
  std::string kernel;
  std::vector<named_operand> operands;
  std::vector<signature> signatures;
  std::vector<named_attribute> attrs;
  std::vector<tensor> results;
};

std::vector<tensor> run_registered_gradient(const saved_call& saved, std::span<const tensor> dy,
                                            const std::vector<bool>& wanted) {
  const std::vector<operand_ref> operands(saved.operands.begin(), saved.operands.end());
  const std::vector<attribute_ref> attrs(saved.attrs.begin(), saved.attrs.end());
  const kernel_call forward(saved.kernel, "", operands, attrs);
  const gradient_call call(forward, saved.signatures, dy, saved.results, wanted);
  const gradient_config& gradient = saved.gradient->config;
  std::vector<named_operand> given;
  if (gradient.run) given = gradient.run(call);
  for (const operand_gradient& part : gradient.of)
    if (call.wants(part.operand)) given.emplace_back(part.operand, part.run(call));
  std::vector<tensor> grads;
  for (const named_operand& operand : saved.operands) {
    const bool nameless = operand.name.empty() && saved.operands.size() == 1;  // the only operand needs no name
    const auto at = std::find_if(given.begin(), given.end(),
                                 [&](const named_operand& g) { return nameless || g.name == operand.name; });
    if (at != given.end() && at->tensors.size() != operand.tensors.size())
      fail(saved.kernel, std::to_string(at->tensors.size()) + " gradients for " + operand.name,
           std::to_string(operand.tensors.size()) + ", one per tensor", "an empty tensor where there is none");
    for (std::size_t i = 0; i < operand.tensors.size(); ++i)
      grads.push_back(at != given.end() ? at->tensors[i] : tensor());
    if (at != given.end()) given.erase(at);
  }
  if (!given.empty())
    fail(saved.kernel, "a gradient for " + given[0].name, "gradients named after operands, each once",
         "name them as the call does");
  return grads;
}

// Puts a call whose gradient is in the registry on the tape.
void record_registered(gradient_ptr gradient, std::shared_ptr<const void> keeper, std::string_view name,
                       std::span<const operand_ref> operands, std::span<const attribute_ref> attrs, tensor_list& out) {
  std::vector<const tensor*> in;
  for (const operand_ref& operand : operands)
    for (const tensor& x : operand.tensors) in.push_back(&x);
  std::vector<tensor> results;
  for (int k = 0; k < out.size(); ++k) results.push_back(out[k]);
  auto saved = std::make_shared<saved_call>();
  record_free(name, in, results, [saved](std::span<const tensor> dy, const std::vector<bool>& wanted) {
    if (!saved->gradient)
      fail(saved->kernel, "a gradient through it", "a kernel with a gradient", "register one with register_gradient");
    return run_registered_gradient(*saved, dy, wanted);
  });
  for (int k = 0; k < out.size(); ++k) out[k] = results[static_cast<std::size_t>(k)];
  if (saved.use_count() == 1) return;  // nothing was recorded
  saved->gradient = std::move(gradient);
  saved->keeper = std::move(keeper);
  saved->kernel = name;
  for (const attribute_ref& a : attrs) saved->attrs.push_back({std::string(a.name), a.value});
  for (const operand_ref& operand : operands) {
    const bool nameless = operand.name.empty() && operands.size() == 1;
    const bool keep = saved->gradient && std::ranges::any_of(saved->gradient->config.saves_inputs, [&](const auto& s) {
                        return nameless || s == operand.name;
                      });
    std::vector<tensor> tensors(operand.tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      saved->signatures.push_back(operand.tensors[i].defined() ? operand.tensors[i].signature() : signature{});
      if (keep) tensors[i] = operand.tensors[i];
    }
    saved->operands.emplace_back(operand.name, std::move(tensors));
  }
  if (saved->gradient && saved->gradient->config.saves_outputs) saved->results = std::move(results);
}

gradient_ptr gradient_named(std::string_view name) {
  const pinned now;
  const name_record* record = now->find(name);
  return record ? record->gradient_now() : nullptr;
}

// ------------------------------------------------------------------------------------------ the order of a row

template <class Specs>
std::string names_of(const Specs& specs) {
  std::string names;
  for (const auto& spec : specs) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  return names.empty() ? "none" : names;
}

const tensor left_out;

// The operands of a row, in its order; up to eight, or a list. A single operand needs no name.
class ordered_operands {
 public:
  ordered_operands(const op_row& row, std::span<const operand_ref> operands) {
    count_ = row.operands.size();
    for (std::size_t i = 0; i < count_; ++i) fixed_[i] = &left_out;
    for (std::size_t i = 0; i < operands.size(); ++i) take(row, operands[i], i);
    if (row.takes_list()) list_.insert(list_.begin(), fixed_, fixed_ + --count_);
    else
      while (count_ > 0 && !fixed_[count_ - 1]->defined() && row.operands[count_ - 1].optional) --count_;
  }
  std::span<const tensor* const> all() const {
    return list_.empty() ? std::span<const tensor* const>(fixed_, count_) : std::span<const tensor* const>(list_);
  }

 private:
  // Most calls give operands in the order of the row: `i` is where to look first.
  void take(const op_row& row, const operand_ref& operand, std::size_t i) {
    const bool there = (operand.name.empty() && count_ == 1) || (i < count_ && row.operands[i].name == operand.name);
    const int at = there ? static_cast<int>(std::min(i, count_ - 1)) : row.operand_index(operand.name);
    if (at < 0) fail(row.name, "operand \"" + std::string(operand.name) + "\"", "operands " + names_of(row.operands));
    if (row.operands[static_cast<std::size_t>(at)].list) {
      for (const tensor& x : operand.tensors) list_.push_back(&x);
      return;
    }
    if (operand.tensors.size() != 1)
      fail(row.name, "a list of " + std::to_string(operand.tensors.size()) + " tensors as " + std::string(operand.name),
           "one tensor");
    const tensor*& slot = fixed_[at];
    if (slot != &left_out) fail(row.name, "operand " + std::string(operand.name) + " twice", "every operand once");
    slot = &operand.tensors[0];
  }

  static constexpr std::size_t most = op_gradient::max_operands;
  const tensor* fixed_[most];
  std::size_t count_ = 0;
  std::vector<const tensor*> list_;
};

}  // namespace

std::vector<const tensor*> operands_in_order(const op_row& row, std::span<const operand_ref> operands) {
  const ordered_operands ordered(row, operands);
  return {ordered.all().begin(), ordered.all().end()};
}

void order_attrs(const op_row& row, std::span<const attribute_ref> given, attr_list& attrs) {
  for (const attribute_ref& a : given) {
    const int at = row.attr_index(a.name);
    if (at < 0) fail(row.name, "attribute \"" + std::string(a.name) + "\"", "attributes " + names_of(row.attrs));
    attr_value& value = attrs[static_cast<std::size_t>(at)];
    if (value.given()) fail(row.name, "attribute " + std::string(a.name) + " twice", "every attribute once");
    value = a.value;
  }
}

namespace {

inline tensor_list list_of(tensor y) {
  tensor_list out;
  out.push_back(std::move(y));
  return out;
}

tensor_list run_row(const op_entry& op, std::span<const operand_ref> operands, std::span<const attribute_ref> given,
                    const registered_kernel* instead) {
  const ordered_operands in(*op.row, operands);
  if (!instead && op.bare_operands && given.empty()) {  // what the typed API takes a short way with
    const std::span<const tensor* const> xs = in.all();
    if (xs.size() == 1 && op.bare_operands == 1) return list_of(run_unary(op, *xs[0]));
    if (xs.size() == 2 && op.bare_operands == 2) return list_of(run_binary(op, *xs[0], *xs[1]));
  }
  attr_list attrs(op.row->attrs.size());
  order_attrs(*op.row, given, attrs);
  return run_list(op, in.all(), attrs.all(), instead);
}

// ------------------------------------------------------------------------------------------ kernels without a row

// Dtype that hooks get for a kernel that is chosen by its name alone: that of its first operand.
dtype first_dtype(std::span<const operand_ref> operands) {
  for (const operand_ref& operand : operands)
    for (const tensor& x : operand.tensors)
      if (x.defined()) return x.type();
  return dtype::float32;
}

tensor_list run_free(const registered_kernel& k, const live_backend& on, std::span<const operand_ref> operands,
                     std::span<const attribute_ref> attrs) {
  const dtype first = first_dtype(operands);
  if (k.checked()) {
    const op_row& row = k.row;
    const ordered_operands in(row, operands);
    check_operands(row, in.all());
    attr_list ordered(row.attrs.size()), normal(row.attrs.size());
    order_attrs(row, attrs, ordered);
    check_attrs(row, ordered.all(), normal.all());
    const named_by_row call(row, in.all(), normal.all());
    tensor_list out = run_registered(k, on, first, call.operands(), call.attrs(), {});
    if (concerns_a_tape(in.all()))
      record_registered(gradient_named(k.config.name), k.keeper, k.config.name, call.operands(), call.attrs(), out);
    return out;
  }
  tensor_list out = run_registered(k, on, first, operands, attrs, {});
  const bool concerned = std::ranges::any_of(operands, [](const operand_ref& operand) {
    return std::ranges::any_of(operand.tensors, [](const tensor& x) { return concerns_a_tape(x); });
  });
  if (concerned) record_registered(gradient_named(k.config.name), k.keeper, k.config.name, operands, attrs, out);
  return out;
}

// Meaning of a name for a call on a backend.
struct meaning {
  const op_entry* op = nullptr;
  kernel_ptr kernel;
};

bool look_up(std::string_view name, std::string_view on, meaning& found) {
  const pinned now;
  const name_record* record = find_name(*now, name);
  if (!record) return false;
  found.op = record->op_now();
  if (!record->kernels.empty())
    if (const kernel_ptr* k = record->kernel_on(on)) found.kernel = *k;
  return found.op || found.kernel;
}

}  // namespace

named_by_row::named_by_row(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  const std::size_t single = row.operands.size() - (row.takes_list() ? 1 : 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i >= single) list_.push_back(*in[i]);
    else if (in[i]->defined()) operands_.emplace_back(row.operands[i].name, *in[i]);
  }
  if (row.takes_list()) operands_.emplace_back(row.operands[single].name, list_);
  for (std::size_t i = 0; i < attrs.size(); ++i)
    if (attrs[i].given()) attrs_.emplace_back(row.attrs[i].name, attrs[i]);
}

void run_parametric(const flat_kernel& k, const void* x, void* y, std::size_t n) {
  const kernels::unary_geometry g{static_cast<std::int64_t>(n), {k.params[0], k.params[1]}};
  if (n > 0) k.parametric(&x, &y, &g);
}

namespace {
bool is_as_expected(const tensor& made, const signature& wanted, bool bounded) {
  return made.type() == wanted.type && (bounded ? is_within(made.dims(), wanted.dims) : made.dims() == wanted.dims);
}
}  // namespace

tensor_list run_registered(const registered_kernel& kernel, const live_backend& on, dtype compute,
                           std::span<const operand_ref> operands, std::span<const attribute_ref> attrs,
                           const expected_results& expected) {
  const kernel_config& k = kernel.config;
  const std::span<const signature> results = expected.signatures;
  std::vector<const tensor*> in;
  for (const operand_ref& operand : operands)
    for (const tensor& x : operand.tensors) {
      in.push_back(&x);
      if (!x.defined()) continue;
      if (!k.dtypes.has(x.type()) && results.empty())
        fail(k.name, "operand " + std::string(operand.name) + " of dtype " + std::string(name_of(x.type())),
             to_string(k.dtypes));
      // Before the kernel runs, so that it finds its operands where it looks for them.
      if (on.memory) block_in(x, on.memory);
      else x.address();
    }
  watch_run watched(k.name, on, compute, in);
  tensor_list out;
  {
    const unrecorded pause;
    out = k.run(kernel_call(k.name, on.name, operands, attrs, results, &on.memory));
  }
  if (!results.empty() && out.size() != static_cast<int>(results.size()))
    fail(k.name, std::to_string(out.size()) + " results of the kernel on " + on.name, std::to_string(results.size()));
  for (int i = 0; i < out.size(); ++i) {
    if (!out[i].defined()) fail(k.name, "an undefined tensor as result " + std::to_string(i), "tensors");
    if (!results.empty() && !is_as_expected(out[i], results[static_cast<std::size_t>(i)], expected.bounded)) {
      const signature& wanted = results[static_cast<std::size_t>(i)];
      fail(k.name,
           "a result of the kernel on " + on.name + ": " + std::string(name_of(out[i].type())) + " " +
               to_string(out[i].dims()),
           std::string(name_of(wanted.type)) + (expected.bounded ? " at most " : " ") + to_string(wanted.dims) +
               " by the op's row");
    }
    tensor_access::position(out[i]) = {};
  }
  watched.done(out);
  return out;
}

// An op whose gradient was replaced: called while recording, with the operands in the order of the row.
bool record_replaced(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     std::span<tensor> out) {
  const op_row& row = *op.row;
  gradient_ptr gradient;
  {
    const pinned now;
    const name_record* record = now->find(row.name);
    // A user-defined op that is not registered may share its name with a stranger.
    if (!record || !record->op || record->op->row != &row) return false;
    gradient = record->gradient_now();
  }
  if (!gradient) return false;
  const named_by_row call(row, in, attrs);
  tensor_list results;
  for (const tensor& y : out) results.push_back(y);
  record_registered(std::move(gradient), nullptr, row.name, call.operands(), call.attrs(), results);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = results[static_cast<int>(k)];
  return true;
}

}  // namespace detail

using namespace detail;

namespace {
tensor_list run_by_name(std::string_view name, std::span<const operand_ref> operands,
                        std::span<const attribute_ref> attrs) {
  const int table = fast_table();
  std::shared_ptr<const live_backend> on = table >= 0 ? nullptr : backend_here();
  meaning found;
  const std::string_view where = on ? std::string_view(on->name) : name_of(static_cast<backend>(table));
  if (look_up(name, where, found)) {
    if (found.op) return run_row(*found.op, operands, attrs, found.kernel.get());
    if (!on) on = backend_here();
    return run_free(*found.kernel, *on, operands, attrs);
  }
  if (!on) on = backend_here();
  for (const std::shared_ptr<const live_backend>& next : fallback_chain(*on)) {
    if (!look_up(name, next->name, found)) continue;
    watch_fallback(name, *on, *next, first_dtype(operands));
    return run_free(*found.kernel, *next, operands, attrs);
  }
  throw missing_name(name, *on);
}
}  // namespace

tensor_list run_kernel_list(std::string_view name, std::span<const operand_ref> operands,
                            std::span<const attribute_ref> attrs) {
  return run_spelled(name, [&] { return run_by_name(name, operands, attrs); });
}

tensor_list run_kernel_list(std::string_view name, std::span<const named_operand> operands,
                            std::span<const named_attribute> attrs) {
  const std::vector<operand_ref> in(operands.begin(), operands.end());
  const std::vector<attribute_ref> given(attrs.begin(), attrs.end());
  return run_kernel_list(name, in, given);
}

namespace {
tensor only_result(std::string_view name, tensor_list out, std::string_view advice) {
  if (out.size() != 1) throw error(name, std::to_string(out.size()) + " results", "one", advice);
  return std::move(out.front());
}
}  // namespace

tensor run_kernel(std::string_view name, std::initializer_list<operand_ref> operands,
                  std::initializer_list<attribute_ref> attrs) {
  return only_result(
      name, run_kernel_list(name, std::span(operands.begin(), operands.size()), std::span(attrs.begin(), attrs.size())),
      "take them all with run_kernel_list");
}

// ------------------------------------------------------------------------------------------ handles

const std::string& kernel_handle::name() const {
  if (!found_) fail("kernel_handle", "a handle without a kernel", "one that find_kernel gave");
  return found_->name;
}

tensor_list kernel_handle::list(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs) const {
  if (!found_) fail("kernel_handle", "a handle without a kernel", "one that find_kernel gave");
  std::vector<attribute_ref> all;
  if (!found_->attrs.empty()) {
    all.assign(attrs.begin(), attrs.end());
    for (const named_attribute& kept : found_->attrs)
      if (std::ranges::none_of(attrs, [&](const attribute_ref& a) { return a.name == kept.name; })) all.push_back(kept);
    attrs = all;
  }
  return run_spelled(found_->name, [&] {
    return found_->op ? run_row(*found_->op, operands, attrs, found_->kernel.get())
                      : run_free(*found_->kernel, *found_->on, operands, attrs);
  });
}

tensor kernel_handle::operator()(std::initializer_list<operand_ref> operands,
                                 std::initializer_list<attribute_ref> attrs) const {
  return only_result(found_ ? std::string_view(found_->name) : "kernel_handle",
                     list({operands.begin(), operands.size()}, {attrs.begin(), attrs.size()}),
                     "take them all with list()");
}

void kernel_handle::refuse(int operands, dtype type, std::size_t a, std::size_t b, std::size_t y) const {
  if (!found_) fail("kernel_handle", "a handle without a kernel", "one that find_kernel gave");
  if (a != y || b != y)
    throw error(found_->name, "spans of " + std::to_string(a) + ", " + std::to_string(b) + " and " + std::to_string(y),
                "spans of one size");
  throw error(found_->name,
              "a call on " + std::to_string(operands) + " span(s) of " + std::string(name_of(type)) + " and a result",
              "an elementwise kernel of a built-in backend for this dtype", "call it on tensors");
}

kernel_handle find_kernel(std::string_view name, std::initializer_list<attribute_ref> attrs) {
  auto found = std::make_shared<found_kernel>();
  found->on = backend_here();
  meaning m;
  if (!look_up(name, found->on->name, m)) throw missing_name(name, *found->on);
  found->name = name;
  found->op = m.op;
  found->kernel = m.kernel;
  const op_row* named = found->row();
  attr_list ordered(named ? named->attrs.size() : 0);
  run_spelled(name, [&] {
    if (!named) return;
    order_attrs(*named, {attrs.begin(), attrs.size()}, ordered);
    for (const auto& [spec, value] : ranges::views::zip(named->attrs, ordered.all()))
      if (value.given()) static_cast<void>(check_attr(*named, spec, value));
  });
  for (const attribute_ref& a : attrs) found->attrs.push_back({std::string(a.name), a.value});
  kernel_handle handle;
  const bool elementwise = m.op && (m.op->row->is_unary() || m.op->row->is_binary());
  if (elementwise && !m.kernel && found->on->table >= 0) {
    const op_row& row = *m.op->row;
    attr_list normal(row.attrs.size());
    run_spelled(name, [&] { check_attrs(row, ordered.all(), normal.all()); });
    for (int t = 0; t < dtype_count; ++t) {
      const kernel_slot& slot = m.op->kernel(found->on->table, static_cast<dtype>(t));
      flat_kernel& flat = handle.flat_[static_cast<std::size_t>(t)];
      const bool same = result_of(static_cast<dtype>(t), row.types.after) == static_cast<dtype>(t);
      if (!same) continue;  // predicates write another type than they read
      flat.one = slot.flat1;
      flat.two = slot.flat2;
      if (row.convention == convention::unary && !slot.flat1 && row.attrs.size() <= 2) flat.parametric = slot.run;
      for (std::size_t i = 0; flat.parametric && i < row.attrs.size(); ++i) flat.params[i] = normal[i].as_number();
    }
  }
  handle.found_ = std::move(found);
  return handle;
}

}  // namespace kerngrad
