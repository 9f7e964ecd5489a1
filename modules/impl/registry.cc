// SPDX-License-Identifier: Apache-2.0
// The registries. Readers share a lock; a change swaps in a new entry, so that a recording keeps the one it used.
module;
#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include "kernels/abi.h"
module kerngrad;

import :tape;

namespace kerngrad {

namespace {

struct registry {
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<const kernel_config>> kernels;  // (name, backend) is the key: two texts, never joined
  std::vector<std::shared_ptr<const gradient_config>> gradients;

  auto kernel(std::string_view name, std::string_view on) {
    return std::find_if(kernels.begin(), kernels.end(),
                        [&](const auto& k) { return k->name == name && k->backend == on; });
  }
  auto gradient(std::string_view name) {
    return std::find_if(gradients.begin(), gradients.end(), [&](const auto& g) { return g->name == name; });
  }
};
registry& the_registry() {
  static registry* all = new registry;  // outlives every static that calls a kernel while it is destroyed
  return *all;
}
// Lets calls of known ops skip the lock while no known op's gradient is replaced.
std::atomic<int> replaced_gradients{0};

std::optional<backend> backend_named(std::string_view name) {
  for (backend which : {backend::simd, backend::reference})
    if (name_of(which) == name) return which;
  return {};
}

bool is_built_in(std::string_view name, std::string_view on) {
  const int id = find_op(name);
  const std::optional<backend> which = backend_named(on);
  return id >= 0 && which && kernel_dtypes(*which, id).bits != 0;
}

std::shared_ptr<const kernel_config> registered_kernel(std::string_view name, std::string_view on) {
  registry& all = the_registry();
  std::shared_lock lock(all.mutex);
  const auto at = all.kernel(name, on);
  return at == all.kernels.end() ? nullptr : *at;
}

std::shared_ptr<const gradient_config> registered_gradient(std::string_view name) {
  registry& all = the_registry();
  std::shared_lock lock(all.mutex);
  const auto at = all.gradient(name);
  return at == all.gradients.end() ? nullptr : *at;
}

// The number of letters to insert, delete or exchange between two names (Levenshtein 1966).
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> line(b.size() + 1);
  for (std::size_t j = 0; j < line.size(); ++j) line[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = line[0]++;
    for (std::size_t j = 0; j < b.size(); ++j)
      corner = std::exchange(line[j + 1], std::min({line[j + 1] + 1, line[j] + 1, corner + (a[i] != b[j])}));
  }
  return line.back();
}

// Known and registered names within two edits of an unknown one, for its error.
std::string similar_names(std::string_view wanted) {
  std::string text;
  const auto offer = [&](std::string_view name) {
    if (edits_between(wanted, name) <= 2) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  for (const op_row& row : op_table) offer(row.name);
  registry& all = the_registry();
  std::shared_lock lock(all.mutex);
  for (const auto& config : all.kernels)
    if (find_op(config->name) < 0) offer(config->name);
  return text;
}

std::string backends_with(std::string_view name) {
  std::string text;
  for (backend which : {backend::simd, backend::reference})
    if (is_built_in(name, name_of(which))) text += (text.empty() ? "" : ", ") + std::string(name_of(which));
  registry& all = the_registry();
  std::shared_lock lock(all.mutex);
  for (const auto& config : all.kernels)
    if (config->name == name) text += (text.empty() ? "" : ", ") + config->backend;
  return text;
}

}  // namespace

// ------------------------------------------------------------------------------------------ calls

bool kernel_call::has(std::string_view operand) const {
  return std::any_of(operands_.begin(), operands_.end(), [&](const named_operand& x) { return x.name == operand; });
}

std::span<const tensor> kernel_call::inputs(std::string_view operand) const {
  for (const named_operand& x : operands_)
    if (x.name == operand || (x.name.empty() && operands_.size() == 1)) return x.tensors;
  fail(kernel_, "no operand " + std::string(operand), "that operand", "pass it by this name");
}

const tensor& kernel_call::input(std::string_view operand) const {
  const std::span<const tensor> list = inputs(operand);
  if (list.size() != 1)
    fail(kernel_, "a list of " + std::to_string(list.size()) + " tensors as " + std::string(operand), "one tensor");
  return list[0];
}

bool kernel_call::has_attr(std::string_view name) const {
  return std::any_of(attrs_.begin(), attrs_.end(), [&](const named_attribute& a) { return a.name == name; });
}

const attr_value& kernel_call::attr(std::string_view name) const {
  for (const named_attribute& a : attrs_)
    if (a.name == name) return a.value;
  fail(kernel_, "no attribute " + std::string(name), "that attribute", "pass it by this name");
}

attr_value kernel_call::attr(std::string_view name, const attr_value& fallback) const {
  return has_attr(name) ? attr(name) : fallback;
}

const tensor& gradient_call::output(int k) const {
  if (static_cast<std::size_t>(k) >= results_.size())
    fail(forward_.kernel(), "a rule that reads result " + std::to_string(k), "a result that is saved",
         "set saves_outputs");
  return results_[static_cast<std::size_t>(k)];
}

const tensor& gradient_call::input(std::string_view operand) const {
  const tensor& x = forward_.input(operand);
  if (!x.defined())
    fail(forward_.kernel(), "a rule that reads operand " + std::string(operand), "an operand that is saved",
         "name it in saves_inputs");
  return x;
}

bool gradient_call::wants(std::string_view operand) const {
  std::size_t at = 0;
  for (const named_operand& x : forward_.operands())
    for (std::size_t i = 0; i < x.tensors.size(); ++i, ++at)
      if (x.name == operand && wanted_[at]) return true;
  return false;
}

// ------------------------------------------------------------------------------------------ registration

void register_kernel(kernel_config config, existing taken) {
  if (config.name.empty()) fail("register_kernel", "an empty name", "a name");
  if (!config.run)
    fail("register_kernel", "kernel " + config.name + " without a function", "a function that computes its results");
  registry& all = the_registry();
  if (taken == existing::refuse &&
      (registered_kernel(config.name, config.backend) || is_built_in(config.name, config.backend)))
    fail("register_kernel", "kernel " + config.name + " for backend " + config.backend + ", which has one",
         "a name that is free", "unregister it, or pass existing::replace");
  if (config.setup) config.setup();  // before anything changes: it may throw
  auto entry = std::make_shared<const kernel_config>(std::move(config));
  std::shared_ptr<const kernel_config> old;
  {
    std::unique_lock lock(all.mutex);
    const auto at = all.kernel(entry->name, entry->backend);
    if (at != all.kernels.end()) old = std::exchange(*at, std::move(entry));
    else all.kernels.push_back(std::move(entry));
  }
  if (old && old->dispose) old->dispose();
}

void unregister_kernel(std::string_view name, std::string_view backend) {
  registry& all = the_registry();
  std::shared_ptr<const kernel_config> old;
  {
    std::unique_lock lock(all.mutex);
    const auto at = all.kernel(name, backend);
    if (at != all.kernels.end()) {
      old = *at;
      all.kernels.erase(at);
    }
  }
  if (!old)
    fail("unregister_kernel", "kernel " + std::string(name) + " for backend " + std::string(backend),
         "one that was registered");
  if (old->dispose) old->dispose();
}

void register_gradient(gradient_config config, existing taken) {
  if (config.name.empty()) fail("register_gradient", "an empty name", "a name");
  if (!config.run)
    fail("register_gradient", "gradient " + config.name + " without a function", "a function that computes gradients");
  const int id = find_op(config.name);
  if (id >= 0)
    for (const std::string& operand : config.saves_inputs)
      if (op_table[static_cast<std::size_t>(id)].operand_index(operand) < 0)
        fail("register_gradient", "gradient " + config.name + " that saves " + operand, "operands that the op has");
  registry& all = the_registry();
  std::unique_lock lock(all.mutex);
  const auto at = all.gradient(config.name);
  const bool registered = at != all.gradients.end();
  if (taken == existing::refuse && (registered || (id >= 0 && detail::gradient_of(id))))
    fail("register_gradient", "gradient " + config.name + ", which has one", "a name that is free",
         "unregister it, or pass existing::replace");
  auto entry = std::make_shared<const gradient_config>(std::move(config));
  if (registered) {
    *at = std::move(entry);
  } else {
    all.gradients.push_back(std::move(entry));
    if (id >= 0) ++replaced_gradients;
  }
}

void unregister_gradient(std::string_view name) {
  registry& all = the_registry();
  std::unique_lock lock(all.mutex);
  const auto at = all.gradient(name);
  if (at == all.gradients.end())
    fail("unregister_gradient", "gradient " + std::string(name), "one that was registered");
  if (find_op(name) >= 0) --replaced_gradients;
  all.gradients.erase(at);
}

// ------------------------------------------------------------------------------------------ listing

bool has_gradient(std::string_view name) {
  const int id = find_op(name);
  return registered_gradient(name) || (id >= 0 && detail::gradient_of(id));
}

std::optional<kernel_info> get_kernel(std::string_view name, std::string_view backend) {
  if (const auto config = registered_kernel(name, backend))
    return kernel_info{config->name, config->backend, config->dtypes, false, has_gradient(name)};
  if (!is_built_in(name, backend)) return {};
  return kernel_info{std::string(name), std::string(backend), kernel_dtypes(*backend_named(backend), find_op(name)),
                     true, has_gradient(name)};
}

std::vector<kernel_info> kernels_for_backend(std::string_view backend) {
  std::vector<std::string> names;
  for (const op_row& row : op_table)
    if (is_built_in(row.name, backend)) names.emplace_back(row.name);
  {
    registry& all = the_registry();
    std::shared_lock lock(all.mutex);
    for (const auto& config : all.kernels)
      if (config->backend == backend) names.push_back(config->name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<kernel_info> list;
  for (const std::string& name : names)
    if (auto info = get_kernel(name, backend)) list.push_back(std::move(*info));
  return list;
}

// ------------------------------------------------------------------------------------------ the by-name door

namespace {

// What a registered gradient keeps of a call until the walk comes by: only what it said it needs.
struct saved_call {
  std::shared_ptr<const gradient_config> gradient;
  std::string kernel;
  std::vector<named_operand> operands;
  std::vector<named_attribute> attrs;
  std::vector<tensor> results;
};

std::vector<tensor> run_registered_gradient(const saved_call& saved, std::span<const tensor> dy,
                                            const std::vector<bool>& wanted) {
  const kernel_call forward(saved.kernel, "", saved.operands, saved.attrs);
  std::vector<named_operand> given = saved.gradient->run(gradient_call(forward, dy, saved.results, wanted));
  std::vector<tensor> grads;
  for (const named_operand& operand : saved.operands) {
    const auto at =
        std::find_if(given.begin(), given.end(), [&](const named_operand& g) { return g.name == operand.name; });
    for (std::size_t i = 0; i < operand.tensors.size(); ++i)
      grads.push_back(at != given.end() && i < at->tensors.size() ? at->tensors[i] : tensor());
    if (at != given.end()) given.erase(at);
  }
  if (!given.empty())
    fail(saved.kernel, "a gradient for " + given[0].name, "gradients named after operands",
         "name them as the call does");
  return grads;
}

// Puts a call whose gradient is in the registry on the tape.
void record_registered(std::shared_ptr<const gradient_config> gradient, std::string_view name,
                       std::span<const named_operand> operands, std::span<const named_attribute> attrs,
                       tensor_list& out) {
  std::vector<const tensor*> in;
  for (const named_operand& operand : operands)
    for (const tensor& x : operand.tensors) in.push_back(&x);
  std::vector<tensor> results;
  for (int k = 0; k < out.size(); ++k) results.push_back(out[k]);
  auto saved = std::make_shared<saved_call>();
  detail::record_free(name, in, results, [saved](std::span<const tensor> dy, const std::vector<bool>& wanted) {
    if (!saved->gradient)
      fail(saved->kernel, "a gradient through it", "a kernel with a gradient", "register one with register_gradient");
    return run_registered_gradient(*saved, dy, wanted);
  });
  for (int k = 0; k < out.size(); ++k) out[k] = results[static_cast<std::size_t>(k)];
  if (saved.use_count() == 1) return;  // nothing was recorded
  saved->gradient = std::move(gradient);
  saved->kernel = name;
  saved->attrs.assign(attrs.begin(), attrs.end());
  for (const named_operand& operand : operands) {
    const bool keep =
        saved->gradient && std::find(saved->gradient->saves_inputs.begin(), saved->gradient->saves_inputs.end(),
                                     operand.name) != saved->gradient->saves_inputs.end();
    saved->operands.push_back(keep ? operand
                                   : named_operand(operand.name, std::vector<tensor>(operand.tensors.size())));
  }
  if (saved->gradient && saved->gradient->saves_outputs) saved->results = std::move(results);
}

tensor_list run_registered(const kernel_config& config, std::span<const named_operand> operands,
                           std::span<const named_attribute> attrs) {
  for (const named_operand& operand : operands)
    for (const tensor& x : operand.tensors)
      if (x.defined() && !config.dtypes.has(x.type()))
        fail(config.name, "operand " + operand.name + " of dtype " + std::string(name_of(x.type())),
             to_string(config.dtypes));
  tensor_list out;
  {
    const detail::unrecorded pause;
    out = config.run(kernel_call(config.name, config.backend, operands, attrs));
  }
  for (int k = 0; k < out.size(); ++k) {
    if (!out[k].defined()) fail(config.name, "an empty handle as result " + std::to_string(k), "tensors");
    detail::place& at = tensor_access::place(out[k]);
    at = {};
  }
  return out;
}

template <class Specs>
std::string names_of(const Specs& specs) {
  std::string names;
  for (const auto& spec : specs) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  return names.empty() ? "none" : names;
}

// The operands of a known op in the order of its row. A single operand needs no name.
std::vector<const tensor*> ordered(const op_row& row, std::span<const named_operand> operands) {
  static const tensor left_out;
  std::vector<const tensor*> in;
  if (!row.takes_list()) in.assign(row.operands.size(), &left_out);
  for (const named_operand& operand : operands) {
    const int at = operand.name.empty() && row.operands.size() == 1 ? 0 : row.operand_index(operand.name);
    if (at < 0) fail(row.name, "operand \"" + operand.name + "\"", "operands " + names_of(row.operands));
    if (row.takes_list()) {
      for (const tensor& x : operand.tensors) in.push_back(&x);
      continue;
    }
    if (operand.tensors.size() != 1)
      fail(row.name, "a list of " + std::to_string(operand.tensors.size()) + " tensors as " + operand.name,
           "one tensor");
    const tensor*& place = in[static_cast<std::size_t>(at)];
    if (place != &left_out) fail(row.name, "operand " + operand.name + " twice", "every operand once");
    place = &operand.tensors[0];
  }
  while (!in.empty() && !in.back()->defined() && row.operands[in.size() - 1].optional) in.pop_back();
  return in;
}

// The attributes of a known op in the order of its row, absent where they are not given.
std::array<attr_value, 8> ordered(const op_row& row, std::span<const named_attribute> given) {
  std::array<attr_value, 8> attrs;
  for (const named_attribute& a : given) {
    const int at = row.attr_index(a.name);
    if (at < 0) fail(row.name, "attribute \"" + a.name + "\"", "attributes " + names_of(row.attrs));
    attr_value& place = attrs[static_cast<std::size_t>(at)];
    if (place.given()) fail(row.name, "attribute " + a.name + " twice", "every attribute once");
    place = a.value;
  }
  return attrs;
}

tensor_list run_known(int id, std::span<const named_operand> operands, std::span<const named_attribute> given) {
  const op_row& row = op_table[static_cast<std::size_t>(id)];
  const std::array<attr_value, 8> attrs = ordered(row, given);
  return detail::run_list(id, ordered(row, operands), {attrs.data(), row.attrs.size()});
}

// A registered kernel's call on the tape: with the registered gradient of its name or, when the kernel stands in for
// a known op's, with the op's own rule.
void record_call(std::string_view name, std::span<const named_operand> operands, std::span<const named_attribute> attrs,
                 tensor_list& out) {
  auto gradient = registered_gradient(name);
  const int id = find_op(name);
  if (gradient || id < 0) return record_registered(std::move(gradient), name, operands, attrs, out);
  const op_row& row = op_table[static_cast<std::size_t>(id)];
  std::vector<tensor> results;
  for (int k = 0; k < out.size(); ++k) results.push_back(std::move(out[k]));
  std::array<attr_value, 8> normal;
  detail::check_attrs(row, ordered(row, attrs), std::span(normal).first(row.attrs.size()));
  detail::record(id, ordered(row, operands), std::span<const attr_value>(normal).first(row.attrs.size()), results);
  for (int k = 0; k < out.size(); ++k) out[k] = std::move(results[static_cast<std::size_t>(k)]);
}

}  // namespace

tensor_list run_kernel_list(std::string_view name, std::span<const named_operand> operands,
                            std::span<const named_attribute> attrs) {
  const std::string_view on = name_of(active_backend());
  if (const auto config = registered_kernel(name, on)) {
    tensor_list out = run_registered(*config, operands, attrs);
    if (detail::recording_now()) record_call(name, operands, attrs, out);
    return out;
  }
  const int id = find_op(name);
  if (id < 0) {
    const std::string others = backends_with(name), similar = similar_names(name);
    fail("run_kernel", "kernel \"" + std::string(name) + "\" on backend " + std::string(on),
         others.empty()
             ? similar.empty() ? "a known or registered name" : "a known or registered name, such as " + similar
             : "a backend that has it: " + others,
         "register it with register_kernel");
  }
  return run_known(id, operands, attrs);
}

tensor run_kernel(std::string_view name, std::initializer_list<named_operand> operands,
                  std::initializer_list<named_attribute> attrs) {
  tensor_list out = run_kernel_list(name, {operands.begin(), operands.size()}, {attrs.begin(), attrs.size()});
  if (out.size() != 1) fail(name, std::to_string(out.size()) + " results", "one", "take them all with run_kernel_list");
  return std::move(out.front());
}

namespace detail {

// A known op whose gradient was replaced: called while recording, with the operands in the order of the row.
bool record_replaced(int id, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     std::span<tensor> out) {
  if (replaced_gradients.load(std::memory_order_relaxed) == 0) return false;
  const op_row& row = op_table[static_cast<std::size_t>(id)];
  auto gradient = registered_gradient(row.name);
  if (!gradient) return false;
  std::vector<named_operand> operands;
  if (row.takes_list()) {
    std::vector<tensor> list;
    for (const tensor* x : in) list.push_back(*x);
    operands.emplace_back(row.operands[0].name, std::move(list));
  } else {
    for (std::size_t i = 0; i < in.size(); ++i) operands.emplace_back(row.operands[i].name, *in[i]);
  }
  std::vector<named_attribute> named;
  for (std::size_t i = 0; i < attrs.size(); ++i) named.push_back({std::string(row.attrs[i].name), attrs[i]});
  tensor_list results;
  for (const tensor& y : out) results.push_back(y);
  record_registered(std::move(gradient), row.name, operands, named, results);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = results[static_cast<int>(k)];
  return true;
}

}  // namespace detail

}  // namespace kerngrad
