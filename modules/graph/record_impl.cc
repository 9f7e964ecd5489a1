// SPDX-License-Identifier: Apache-2.0
// Recording: while a function runs, its thread's calls go to a backend of its own, whose kernels hand each call on to
// the backend that was active and write down which tensors it took and gave.
module;
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph {

using namespace detail;

namespace {

attribute attribute_of(std::string_view name, attribute::kind holds) {
  attribute a;
  a.name = name, a.holds = holds;
  return a;
}
attribute type_of(std::string_view name, dtype type) {
  attribute a = attribute_of(name, attribute::kind::type);
  a.type = type;
  return a;
}

node node_of(std::string name, std::string op, std::vector<endpoint> inputs = {}) {
  node n;
  n.name = std::move(name), n.op = std::move(op), n.inputs = std::move(inputs);
  return n;
}

class recording {
 public:
  explicit recording(const record_options& how) : how_(how), graph_(std::make_shared<graph_def>()) {}
  void add_input(const std::string& name, const tensor& x);
  void add_call(const kernel_call& call, const tensor_list& out);
  void add_result(std::size_t i, const tensor& y);
  std::shared_ptr<graph_def> take() { return std::move(graph_); }

 private:
  // A tensor and the endpoint that computes it. It is held, so that no other gets its address.
  struct value {
    tensor x;
    endpoint at;
  };
  endpoint endpoint_of(const tensor& x, std::string_view op);
  const value* known(const tensor& x);
  endpoint reshaped(const value& from, const tensor& x);
  endpoint add_constant(const tensor& x, const std::string& name);
  std::int32_t add_node(node n);
  std::string unused(const std::string& name);
  std::string weight_name(const tensor& x) const;
  partial_shape shape_of(const tensor& x) const;
  void keep(const tensor& x, endpoint at) { values_.push_back({x, at}); }

  const record_options& how_;
  std::shared_ptr<graph_def> graph_;
  std::vector<value> values_;
  std::vector<std::string> names_;  // sorted
};

std::string recording::unused(const std::string& name) {
  std::string free = name.empty() ? "unnamed" : name;
  std::ranges::replace_if(free, [](char c) { return c == ':' || c == '^'; }, '_');
  const std::string base = free;
  const auto position = [&] { return std::ranges::lower_bound(names_, free); };
  for (int i = 1; position() != names_.end() && *position() == free; ++i) free = base + "_" + std::to_string(i);
  names_.insert(position(), free);
  return free;
}

std::int32_t recording::add_node(node n) {
  n.name = unused(n.name);
  graph_->main.nodes.push_back(std::move(n));
  return static_cast<std::int32_t>(graph_->main.nodes.size() - 1);
}

partial_shape recording::shape_of(const tensor& x) const {
  partial_shape dims{true, {x.dims().begin(), x.dims().end()}};
  if (how_.any_batch && !dims.dims.empty()) dims.dims[0] = -1;
  return dims;
}

void recording::add_input(const std::string& name, const tensor& x) {
  if (!x.defined()) fail("record", "an undefined tensor as example " + name, "a tensor", "check it with defined()");
  if (known(x)) fail("record", "example " + name + ", whose elements another one has, too", "tensors of their own");
  node n = node_of(name, "Placeholder");
  n.attrs.push_back(type_of("dtype", x.type()));
  n.attrs.push_back(attribute_of("shape", attribute::kind::shape));
  n.attrs.back().dims = shape_of(x);
  function_def& f = graph_->main;
  const std::int32_t at = add_node(std::move(n));
  const partial_shape dims = shape_of(x);
  const std::string& made = f.nodes[static_cast<std::size_t>(at)].name;
  f.inputs.push_back({made, made + ":0", x.type(), true, dims.dims});
  f.arguments.push_back({at, 0});
  keep(x, {at, 0});
}

std::string recording::weight_name(const tensor& x) const {
  for (const variable& v : how_.named)
    if (v.value().address() == x.address()) return v.name();
  return "weight";
}

endpoint recording::add_constant(const tensor& x, const std::string& name) {
  node n = node_of(name, "Const");
  n.attrs.push_back(type_of("dtype", x.type()));
  n.attrs.push_back(attribute_of("value", attribute::kind::tensor));
  n.attrs.back().type = x.type();
  n.attrs.back().dims = {true, {x.dims().begin(), x.dims().end()}};
  const std::int32_t at = add_node(std::move(n));
  graph_->weights.push_back({at, stop_gradient(x)});
  return {at, 0};
}

const recording::value* recording::known(const tensor& x) {
  if (x.size() == 0) return nullptr;
  const value* alike = nullptr;  // of the same elements, in another shape
  for (const value& v : values_) {
    if (v.x.address() != x.address()) continue;
    if (v.x.signature() == x.signature()) return &v;
    alike = &v;
  }
  return alike;
}

// Calls that give the same elements another shape share them, and are seen by that alone.
endpoint recording::reshaped(const value& from, const tensor& x) {
  std::vector<std::int32_t> sizes;
  for (const std::int64_t size : x.dims()) sizes.push_back(static_cast<std::int32_t>(size));
  if (how_.any_batch && !sizes.empty()) sizes[0] = -1;
  const endpoint source = from.at;
  const endpoint dims = add_constant(tensor(sizes), "Reshape/shape");
  node n = node_of("Reshape", "Reshape", {source, dims});
  n.attrs.push_back(type_of("T", x.type()));
  n.attrs.push_back(type_of("Tshape", dtype::int32));
  const endpoint at{add_node(std::move(n)), 0};
  keep(x, at);
  return at;
}

endpoint recording::endpoint_of(const tensor& x, std::string_view op) {
  if (const value* v = known(x)) {
    if (v->x.signature() == x.signature()) return v->at;
    if (v->x.type() == x.type() && v->x.size() == x.size()) return reshaped(*v, x);
  }
  for (const value& v : values_)
    if (x.size() > 0 && v.x.shares_with(x))
      fail("record", "a part of a tensor, taken without a copy, as an operand of " + std::string(op),
           "tensors as calls gave them", "take it with slice or gather");
  const endpoint at = add_constant(x, weight_name(x));
  if (x.size() > 0) keep(x, at);
  return at;
}

void recording::add_call(const kernel_call& call, const tensor_list& out) {
  std::vector<tensor> flat;
  for (const operand_ref& operand : call.operands())
    flat.insert(flat.end(), operand.tensors.begin(), operand.tensors.end());
  node n = node_of(std::string(call.kernel()), {});
  if (row_named(call.kernel())) {
    graph_call made = unbind(call.kernel(), call.operands(), call.attrs());
    n.op = made.op;
    n.attrs = std::move(made.attrs);
    for (std::size_t i = 0; i < made.inputs.size(); ++i) {
      const graph_call::input& input = made.inputs[i];
      n.inputs.push_back(input.constant.defined() ? add_constant(input.constant, n.name + "/" + std::to_string(i))
                                                  : endpoint_of(flat[static_cast<std::size_t>(input.tensor)], n.name));
    }
  } else {
    fail("record", "a call of the registered kernel " + n.name, "calls of the library's ops",
         "say it by them while it is recorded");
  }
  const std::int32_t at = add_node(std::move(n));
  for (int k = 0; k < out.size(); ++k)
    if (out[k].size() > 0) keep(stop_gradient(out[k]), {at, k});
}

void recording::add_result(std::size_t i, const tensor& y) {
  const std::string number = i == 0 ? "output" : "output_" + std::to_string(i);
  const std::string key = i < how_.outputs.size() ? how_.outputs[i] : number;
  if (!y.defined() || !known(y))
    fail("record", "a result " + key + " that f did not compute", "tensors that calls gave");
  function_def& f = graph_->main;
  if (std::ranges::find(f.outputs, key, &port::key) != f.outputs.end())
    fail("record", "the key " + key + " of two results", "each key once", "change record_options::outputs");
  node n = node_of(key, "Identity", {endpoint_of(y, key)});
  n.attrs.push_back(type_of("T", y.type()));
  const std::int32_t at = add_node(std::move(n));
  f.outputs.push_back({key, f.nodes[static_cast<std::size_t>(at)].name + ":0", y.type(), true, shape_of(y).dims});
  f.results.push_back({at, 0});
}

// The backend that records, as long as this lives.
class recording_backend {
 public:
  explicit recording_backend(recording& to) : name_("graph.record." + std::to_string(count_++)) {
    const std::string usual = active_backend();
    register_backend(name_, [] { return std::shared_ptr<storage>(); }, -100);
    try {
      for (const std::string& op : op_names())
        kernels_.push_back(scoped_kernel({.name = op, .backend = name_, .run = [&to, usual](const kernel_call& call) {
                                            const backend_scope there(usual);
                                            tensor_list out =
                                                run_kernel_list(call.kernel(), call.operands(), call.attrs());
                                            to.add_call(call, out);
                                            return out;
                                          }}));
    } catch (...) {
      end();
      throw;
    }
  }
  recording_backend(const recording_backend&) = delete;
  recording_backend& operator=(const recording_backend&) = delete;
  ~recording_backend() {
    try {
      end();
    } catch (...) {  // f removed the backend itself
    }
  }
  const std::string& name() const { return name_; }

 private:
  void end() {
    kernels_.clear();
    remove_backend(name_);
  }
  static inline std::atomic<unsigned> count_{0};
  std::string name_;
  std::vector<registration> kernels_;
};

}  // namespace

model record(const std::function<std::vector<tensor>(std::span<const tensor>)>& f,
             std::span<const named_operand> examples, const record_options& how) {
  const no_grad pause;
  recording all(how);
  std::vector<tensor> inputs;
  for (const named_operand& example : examples) {
    if (example.tensors.size() != 1) fail("record", "a list as example " + example.name, "one tensor");
    inputs.push_back(stop_gradient(example.tensors[0]));
    all.add_input(example.name.empty() ? "input" : example.name, inputs.back());
  }
  const recording_backend backend(all);
  const backend_scope here(backend.name());
  const std::vector<tensor> results = f(inputs);
  if (results.empty()) fail("record", "no results", "one or more");
  for (std::size_t i = 0; i < results.size(); ++i) all.add_result(i, results[i]);
  return make_model(all.take());
}

model record(const std::function<tensor(const tensor&)>& f, const tensor& example, const record_options& how) {
  const named_operand input("input", example);
  return record([&](std::span<const tensor> inputs) { return std::vector{f(inputs[0])}; }, {&input, 1}, how);
}

}  // namespace kerngrad::graph
