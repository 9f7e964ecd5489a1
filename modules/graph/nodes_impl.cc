// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph and of its functions: names become indices, and what would not run is rejected.
module;
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/io/json.h"
module kerngrad.graph;

#include "modules/graph/files.h"

namespace kerngrad::graph::detail {

std::optional<node_output> node_output_in(std::string_view text) {
  constexpr std::int32_t most_outputs = 1 << 20;
  const std::size_t first = text.find(':');
  node_output at{text.substr(0, first), {}, 0};
  if (at.name.empty()) return {};
  if (first == std::string_view::npos) return at;
  const std::size_t last = text.rfind(':');
  if (last != first) at.output = text.substr(first + 1, last - first - 1);
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data() + last + 1, end, at.index);
  if (code != std::errc() || stopped != end || at.index < 0 || at.index >= most_outputs) return {};
  return at;
}

node_names::node_names(const origin& file, std::span<const node> nodes) {
  sorted_.reserve(nodes.size());
  for (const node& n : nodes) sorted_.emplace_back(n.name, static_cast<std::int32_t>(sorted_.size()));
  std::ranges::sort(sorted_);
  const auto name = [](const auto& entry) { return entry.first; };
  if (const auto twice = std::ranges::adjacent_find(sorted_, {}, name); twice != sorted_.end())
    file.refuse("has node " + in_quotes(twice->first) + " twice", "names that occur once");
}

std::int32_t node_names::find(std::string_view name) const {
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name,
                                   [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return at != sorted_.end() && at->first == name ? at->second : -1;
}

namespace {

// Names by which functions call outputs after the first.
struct named_output {
  std::string_view op, name;
  std::int32_t index;
};
constexpr named_output named_outputs[] = {{"FusedBatchNorm", "batch_mean", 1},
                                          {"FusedBatchNorm", "batch_variance", 2},
                                          {"FusedBatchNormV2", "batch_mean", 1},
                                          {"FusedBatchNormV2", "batch_variance", 2},
                                          {"FusedBatchNormV3", "batch_mean", 1},
                                          {"FusedBatchNormV3", "batch_variance", 2},
                                          {"ListDiff", "idx", 1},
                                          {"Merge", "value_index", 1},
                                          {"NonMaxSuppressionV4", "valid_outputs", 1},
                                          {"NonMaxSuppressionV5", "selected_scores", 1},
                                          {"NonMaxSuppressionV5", "valid_outputs", 2},
                                          {"SparseFillEmptyRows", "output_values", 1},
                                          {"SparseFillEmptyRows", "empty_row_indicator", 2},
                                          {"SparseFillEmptyRows", "reverse_index_map", 3},
                                          {"SparseReshape", "output_shape", 1},
                                          {"StringNGrams", "ngrams_splits", 1},
                                          {"StringSplit", "values", 1},
                                          {"StringSplit", "shape", 2},
                                          {"Switch", "output_true", 1},
                                          {"TensorListPopBack", "tensor", 1},
                                          {"TopKV2", "indices", 1},
                                          {"Unique", "idx", 1},
                                          {"UniqueV2", "idx", 1}};

std::int32_t index_of(const node& of, const node_output& at) {
  for (const named_output& known : named_outputs)
    if (known.op == of.op && known.name == at.output) return known.index + at.index;
  return at.index;
}

class reader {
 public:
  reader(const origin& file, const load_options& how, std::int64_t& nodes, std::int64_t& bytes_left)
      : file_(file), how_(how), count_(nodes), bytes_left_(bytes_left) {}
  // The nodes of a list, after those that `f` has.
  void read(const json& list, function_def& f, std::string_view of);
  endpoint endpoint_of(const function_def& f, std::string_view text, std::string_view who) const;

 private:
  void connect(const json& entry, function_def& f, std::size_t i);

  const origin& file_;
  const load_options& how_;
  std::int64_t& count_;
  std::int64_t& bytes_left_;
  std::optional<node_names> names_;
};

constexpr std::size_t most_attributes = 1000;  // TensorFlow's ops have fewer than 50

std::string name_of(const node& n) { return "node " + in_quotes(n.name); }

void reader::read(const json& list, function_def& f, std::string_view of) {
  count_ += static_cast<std::int64_t>(list.size() + f.nodes.size());
  if (count_ > how_.most_nodes)
    file_.refuse("has " + std::to_string(count_) + " nodes or more", "at most " + std::to_string(how_.most_nodes),
                 "raise load_options::most_nodes");
  const std::size_t first = f.nodes.size();
  f.nodes.reserve(first + list.size());  // names are looked up where they lie
  const std::string some_node = "a node of " + std::string(of);
  for (const json& entry : list) {
    check_stop("load");
    node n;
    n.name = text_in(file_, entry, "name", some_node);
    const std::string what = name_of(n);  // once: errors want it, and all that follows could have one
    n.op = text_in(file_, entry, "op", what);
    if (n.name.empty() || n.op.empty() || n.name.find_first_of(":^") != std::string::npos)
      file_.refuse("has " + what + " of op " + in_quotes(n.op), "names that are not empty and have no : or ^");
    take_bytes(file_, static_cast<std::int64_t>(sizeof(node) + n.name.size() + n.op.size()), what, bytes_left_);
    if (const json* attrs = member(entry, "attr")) {
      if (!attrs->is_object()) file_.refuse("has " + what + " with attributes that are no object", "an object");
      if (attrs->size() > most_attributes)  // each look-up of one goes through them all
        file_.refuse("has " + what + " with " + std::to_string(attrs->size()) + " attributes",
                     "at most " + std::to_string(most_attributes));
      take_bytes(file_, static_cast<std::int64_t>(attrs->size() * sizeof(attribute)), what, bytes_left_);
      n.attrs.reserve(attrs->size());
      for (const json_member attr : attrs->members())
        if (!attr.name.starts_with('_'))
          n.attrs.push_back(attribute_in(file_, attr.name, attr.value, what, bytes_left_));
    }
    f.nodes.push_back(std::move(n));
  }
  names_.emplace(file_, f.nodes);
  std::size_t next = first;
  for (const json& entry : list) connect(entry, f, next++);
}

endpoint reader::endpoint_of(const function_def& f, std::string_view text, std::string_view who) const {
  const std::optional<node_output> at = node_output_in(text);
  if (!at) file_.refuse("has " + std::string(who) + " of " + in_quotes(text), "\"name\", \"name:1\" or \"^name\"");
  const std::int32_t found = names_->find(at->name);
  if (found < 0)
    file_.refuse("has " + std::string(who) + " of " + in_quotes(text) + ", which is no node", "a node of the graph");
  const node& from = f.nodes[static_cast<std::size_t>(found)];
  return {found, at->output.empty() ? at->index : index_of(from, *at)};
}

void reader::connect(const json& entry, function_def& f, std::size_t i) {
  node& n = f.nodes[i];
  if (!member(entry, "input")) return;
  const std::string what = name_of(n), who = what + " with an input";
  for (const json& item : list_in(file_, entry, "input", what)) {
    if (!item.is_string()) file_.refuse("has " + what + " with an input that is no text", "names of nodes");
    const std::string_view text = item.text();
    if (text.starts_with('^')) n.controls.push_back(endpoint_of(f, text.substr(1), who).node);
    else n.inputs.push_back(endpoint_of(f, text, who));
  }
}

// Every cycle goes through a NextIteration into a Merge. Counts what each node waits for.
void refuse_cycles(const origin& file, const function_def& f) {
  const std::size_t count = f.nodes.size();
  std::vector<std::int32_t> waits(count, 0), order;
  std::vector<std::vector<std::int32_t>> readers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto read = [&](std::int32_t from) {
      if (f.nodes[i].op == "Merge" && f.nodes[static_cast<std::size_t>(from)].op == "NextIteration") return;
      readers[static_cast<std::size_t>(from)].push_back(static_cast<std::int32_t>(i));
      ++waits[i];
    };
    for (const endpoint& e : f.nodes[i].inputs) read(e.node);
    for (const std::int32_t from : f.nodes[i].controls) read(from);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (waits[i] == 0) order.push_back(static_cast<std::int32_t>(i));
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const std::int32_t i : readers[static_cast<std::size_t>(order[next])])
      if (--waits[static_cast<std::size_t>(i)] == 0) order.push_back(i);
  for (std::size_t i = 0; i < count; ++i)
    if (waits[i] > 0)
      file.refuse("has " + name_of(f.nodes[i]) + " on a cycle or behind one", "cycles through NextIteration only");
}

void add_argument(const origin& file, const json& argument, function_def& f) {
  node n;
  n.name = text_in(file, argument, "name", "an argument of function " + in_quotes(f.name));
  n.op = "Placeholder";
  port p{.key = n.name, .node = n.name};
  if (const json* type = member(argument, "type")) {
    n.attrs.push_back(type_attribute("dtype", graph_dtype_in(file, *type, "attribute \"dtype\" of " + name_of(n))));
    p.type = n.attrs.back().type;
  }
  f.inputs.push_back(std::move(p));
  f.arguments.push_back({static_cast<std::int32_t>(f.nodes.size()), 0});
  f.nodes.push_back(std::move(n));
}

function_def function_in(const origin& file, const json& entry, const load_options& how, std::int64_t& nodes,
                         std::int64_t& bytes_left) {
  const json* signature = member(entry, "signature");
  if (!signature) file.refuse("has a function without a signature", "names of its arguments and results");
  function_def f;
  f.name = text_in(file, *signature, "name", "a function");
  const std::string what = "function " + in_quotes(f.name);
  for (const json& argument : list_in(file, *signature, "inputArg", what)) add_argument(file, argument, f);
  reader all(file, how, nodes, bytes_left);
  all.read(list_in(file, entry, "nodeDef", what), f, what);
  const json* results = member(entry, "ret");
  for (const json& result : list_in(file, *signature, "outputArg", what)) {
    const std::string key = text_in(file, result, "name", "a result of " + what);
    const json* text = results ? member(*results, key) : nullptr;
    if (!text || !text->is_string())
      file.refuse("has no \"ret\" of result " + in_quotes(key) + " of " + what, "a node");
    f.results.push_back(all.endpoint_of(f, text->text(), "a result"));
    f.outputs.push_back({.key = key, .node = std::string(text->text())});
  }
  std::vector<std::string_view> keys;
  for (const port& p : f.outputs) keys.push_back(p.key);
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end())
    file.refuse("has the result " + in_quotes(*twice) + " of " + what + " twice", "names that occur once");
  refuse_cycles(file, f);
  return f;
}

// Rejects a graph whose nodes and attributes would take more than the memory limit leaves. They are not tensors, and
// take up to thirty times their text.
void check_memory(const origin& file, const json& topology) {
  if (memory_limit() == unlimited) return;
  std::size_t bytes = 0;
  const auto add = [&](const json& list) {
    for (const json& entry : list) {
      const json* attrs = member(entry, "attr");
      bytes += sizeof(node) + (attrs ? attrs->size() : 0) * sizeof(attribute);
    }
  };
  add(list_in(file, topology, "node", "a graph"));
  if (const json* library = member(topology, "library"))
    for (const json& function : list_in(file, *library, "function", "the library"))
      add(list_in(file, function, "nodeDef", "a function"));
  const auto left = static_cast<std::size_t>(std::max<std::int64_t>(memory_limit() - memory().live_bytes, 0));
  if (bytes > left)
    file.refuse("needs " + std::to_string(bytes) + " bytes for its nodes",
                "at most the " + std::to_string(left) + " that the memory limit leaves",
                "raise it with set_memory_limit");
}

}  // namespace

graph_def topology_in(const origin& file, const json& topology, const load_options& how, std::int64_t& bytes_left) {
  constexpr std::int64_t known_version = 2'000;  // producers count up; those of 2024 say 1900
  graph_def graph;
  if (const json* versions = member(topology, "versions"))
    if (const json* consumer = member(*versions, "minConsumer");
        consumer && integer_in(file, *consumer, "\"minConsumer\"") > known_version)
      file.refuse("is for readers of graphs of version " + consumer->shown(),
                  "at most " + std::to_string(known_version));
  std::int64_t nodes = 0;
  const json& list = list_in(file, topology, "node", "a graph");
  if (list.empty()) file.refuse("has no nodes", "a graph");
  check_memory(file, topology);
  reader all(file, how, nodes, bytes_left);
  all.read(list, graph.main, "the graph");
  refuse_cycles(file, graph.main);
  if (const json* library = member(topology, "library"))
    for (const json& entry : list_in(file, *library, "function", "the library"))
      graph.library.push_back(function_in(file, entry, how, nodes, bytes_left));
  const auto name_of = [&](std::int32_t i) {
    return std::string_view(graph.library[static_cast<std::size_t>(i)].name);
  };
  for (std::size_t i = 0; i < graph.library.size(); ++i) graph.by_name.push_back(static_cast<std::int32_t>(i));
  std::ranges::sort(graph.by_name, {}, name_of);
  if (const auto twice = std::ranges::adjacent_find(graph.by_name, {}, name_of); twice != graph.by_name.end())
    file.refuse("has the function " + in_quotes(name_of(*twice)) + " twice", "names that occur once");
  return graph;
}

}  // namespace kerngrad::graph::detail
