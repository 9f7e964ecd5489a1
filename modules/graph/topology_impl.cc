// SPDX-License-Identifier: Apache-2.0
// The text of a graph model's file: nodes, functions, signature, manifest of weights. The keys of each object, but for
// those of ports, are sorted: the same graph gives the same text.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/io/json.h"
module kerngrad.graph;

#include "modules/graph/files.h"

namespace kerngrad::graph::detail {

namespace {

constexpr int producer = 1882;  // of graphs: TensorFlow 2.17

std::string text_of(const function_def& f, endpoint e, bool in_function) {
  const node& from = f.nodes[static_cast<std::size_t>(e.node)];
  if (e.output == 0 && (!in_function || from.op == "Placeholder")) return from.name;
  return from.name + (in_function ? ":output:" : ":") + std::to_string(e.output);
}

void write_attributes(json_writer& to, std::span<const attribute> attrs) {
  std::vector<const attribute*> sorted;
  sorted.reserve(attrs.size());
  for (const attribute& a : attrs) sorted.push_back(&a);
  std::ranges::sort(sorted, {}, [](const attribute* a) { return std::string_view(a->name); });
  to.begin_object();
  for (const attribute* a : sorted) {
    to.key(a->name);
    write(to, *a);
  }
  to.end_object();
}

void write(json_writer& to, const function_def& f, const node& n, bool in_function) {
  to.begin_object();
  if (!n.attrs.empty()) {
    to.key("attr");
    write_attributes(to, n.attrs);
  }
  if (!n.inputs.empty() || !n.controls.empty()) {
    to.key("input");
    to.begin_list();
    for (const endpoint& e : n.inputs) to.string(text_of(f, e, in_function));
    for (const std::int32_t from : n.controls) to.string("^" + f.nodes[static_cast<std::size_t>(from)].name);
    to.end_list();
  }
  to.member("name", n.name);
  to.member("op", n.op);
  to.end_object();
}

// Arguments or results of a function.
void write_arguments(json_writer& to, std::string_view key, std::span<const port> ports) {
  if (ports.empty()) return;
  to.key(key);
  to.begin_list();
  for (const port& p : ports) {
    to.begin_object();
    to.member("name", p.key);
    to.member("type", graph_name_of(p.type));
    to.end_object();
  }
  to.end_list();
}

void write(json_writer& to, const function_def& f) {
  to.begin_object();
  to.key("nodeDef");
  to.begin_list();
  for (std::size_t i = f.arguments.size(); i < f.nodes.size(); ++i) write(to, f, f.nodes[i], true);
  to.end_list();
  to.key("ret");
  to.begin_object();
  for (std::size_t i = 0; i < f.outputs.size(); ++i) to.member(f.outputs[i].key, text_of(f, f.results[i], true));
  to.end_object();
  to.key("signature");
  to.begin_object();
  write_arguments(to, "inputArg", f.inputs);
  to.member("name", f.name);
  write_arguments(to, "outputArg", f.outputs);
  to.end_object();
  to.end_object();
}

void check_keys(const std::string& path, std::span<const port> ports, std::string_view what) {
  std::vector<std::string_view> keys;
  for (const port& p : ports) keys.push_back(p.key);
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end())
    fail("save", in_quotes(path) + ", which would have two " + std::string(what) + " of the key " + in_quotes(*twice),
         "keys that occur once");
}

void write_ports(json_writer& to, std::string_view key, std::span<const port> ports) {
  to.key(key);
  to.begin_object();
  for (const port& p : ports) {
    to.key(p.key);
    to.begin_object();
    to.member("dtype", graph_name_of(p.type));
    to.member("name", p.node);
    to.key("tensorShape");
    write(to, partial_shape{p.known_rank, p.dims});
    to.end_object();
  }
  to.end_object();
}

void write_topology(json_writer& to, const graph_def& graph) {
  to.begin_object();
  to.key("library");
  to.begin_object();
  if (!graph.library.empty()) {
    to.key("function");
    to.begin_list();
    for (const function_def& f : graph.library) write(to, f);
    to.end_list();
  }
  to.end_object();
  to.key("node");
  to.begin_list();
  for (const node& n : graph.main.nodes) write(to, graph.main, n, false);
  to.end_list();
  to.key("versions");
  to.begin_object();
  to.key("producer");
  to.integer(producer);
  to.end_object();
  to.end_object();
}

void write(json_writer& to, const manifest_entry& w) {
  to.begin_object();
  to.member("dtype", w.type);
  to.member("name", w.name);
  if (w.half) {
    to.key("quantization");
    to.begin_object();
    to.member("dtype", "float16");
    to.end_object();
  }
  to.key("shape");
  to.begin_list();
  for (const std::int64_t size : w.dims) to.integer(size);
  to.end_list();
  to.end_object();
}

// One group.
void write_manifest(json_writer& to, std::span<const manifest_entry> weights, std::span<const std::string> paths) {
  to.begin_list();
  to.begin_object();
  to.key("paths");
  to.begin_list();
  for (const std::string& path : paths) to.string(path);
  to.end_list();
  to.key("weights");
  to.begin_list();
  for (const manifest_entry& w : weights) write(to, w);
  to.end_list();
  to.end_object();
  to.end_list();
}

}  // namespace

std::string model_text(const std::string& path, const graph_def& graph, std::span<const manifest_entry> weights,
                       std::span<const std::string> parts) {
  check_keys(path, graph.main.inputs, "inputs");
  check_keys(path, graph.main.outputs, "outputs");
  try {
    return io::detail::json_text([&](json_writer& to) {
      to.begin_object();
      to.member("convertedBy", "kerngrad");
      to.member("format", "graph-model");
      to.member("generatedBy", "kerngrad");
      to.key("modelTopology");
      write_topology(to, graph);
      to.key("signature");
      to.begin_object();
      write_ports(to, "inputs", graph.main.inputs);
      write_ports(to, "outputs", graph.main.outputs);
      to.end_object();
      to.key("weightsManifest");
      write_manifest(to, weights, parts);
      to.end_object();
    });
  } catch (const json_refusal& e) {
    fail("save", in_quotes(path) + ", which would have " + e.got, e.wanted,
         e.advice.empty() ? "name inputs, outputs and variables again" : e.advice);
  }
}

}  // namespace kerngrad::graph::detail
