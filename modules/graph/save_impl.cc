// SPDX-License-Identifier: Apache-2.0
// Graph models to files, as TensorFlow.js's converter lays them out.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/io/json.h"
module kerngrad.graph;

import kerngrad.io;

#include "modules/graph/files.h"

namespace kerngrad::graph {

using namespace detail;

namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view got, std::string_view wanted,
                         std::string_view advice = {}) {
  fail("save", in_quotes(path) + ", which " + std::string(got), wanted, advice);
}

// ------------------------------------------------------------------------------------------ weights

struct named_weight {
  std::string name;
  tensor x;
  std::size_t number = 0;
};

// All constants by their nodes' names; the widest elements first, so that all are aligned in the file.
std::vector<named_weight> weights_of(const graph_def& graph) {
  std::vector<named_weight> all;
  std::vector<bool> there(graph.main.nodes.size(), false);
  for (const weight& w : graph.weights) {
    const auto at = static_cast<std::size_t>(w.at);
    all.push_back({graph.main.nodes[at].name, value_of(w), 0});
    there[at] = true;
  }
  const auto add = [&](const node& n) {
    const attribute* value = n.op == "Const" ? n.attr("value") : nullptr;
    if (value && value->value.defined()) all.push_back({n.name, value->value, 0});
  };
  for (std::size_t i = 0; i < there.size(); ++i)
    if (!there[i]) add(graph.main.nodes[i]);
  for (const function_def& f : graph.library)
    for (const node& n : f.nodes) add(n);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
  // Nodes of one name have one weight.
  std::ranges::sort(all, [](const named_weight& a, const named_weight& b) {
    return std::pair(std::string_view(a.name), a.number) < std::pair(std::string_view(b.name), b.number);
  });
  const auto same = std::ranges::unique(all, {}, &named_weight::name);
  all.erase(same.begin(), same.end());
  const auto width = [](const named_weight& w) {
    return w.x.type() == dtype::text ? 1 : static_cast<int>(size_of(w.x.type()));
  };
  std::ranges::sort(all, [&](const named_weight& a, const named_weight& b) {
    return std::pair(width(b), a.number) < std::pair(width(a), b.number);
  });
  return all;
}

std::string_view manifest_name(const std::string& path, const named_weight& w) {
  switch (w.x.type()) {
    case dtype::float32: return "float32";
    case dtype::int32: return "int32";
    case dtype::boolean: return "bool";
    case dtype::complex64: return "complex64";
    case dtype::text: return "string";
    default:
      refuse(path, "would have weight " + in_quotes(w.name) + " of dtype " + std::string(name_of(w.x.type())),
             "float32, int32, bool, complex64 or text", "graph models have no others; cast it");
  }
}

bool is_halved(const named_weight& w, const save_options& how) {
  return how.half_weights && w.x.type() == dtype::float32;
}

manifest_entry entry_of(const std::string& path, const named_weight& w, const save_options& how) {
  return {w.name, manifest_name(path, w), w.x.dims().dims(), is_halved(w, how)};
}

// Bytes in files of at most so many each.
class shards {
 public:
  shards(io::file_group& to, std::int64_t each) : to_(to), each_(static_cast<std::size_t>(each)), left_(each_) {}
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::span<const std::byte> now = bytes.first(std::min(left_, bytes.size()));
      to_.write(now);
      bytes = bytes.subspan(now.size());
      left_ -= now.size();
      if (left_ > 0) continue;
      to_.end_part();
      left_ = each_;
    }
  }

 private:
  io::file_group& to_;
  std::size_t each_, left_;
};

void write_elements(shards& to, const named_weight& w, const save_options& how) {
  if (w.x.type() == dtype::text) {
    for (const std::string& text : w.x.to_texts()) {
      const auto length = static_cast<std::uint32_t>(text.size());
      to.add(std::as_bytes(std::span(&length, 1)));
      to.add(std::as_bytes(std::span(text)));
    }
    return;
  }
  const tensor x = is_halved(w, how) ? cast(w.x, dtype::float16) : w.x;
  to.add({static_cast<const std::byte*>(x.address()), static_cast<std::size_t>(x.size()) * size_of(x.type())});
}

// ------------------------------------------------------------------------------------------ checks

// A dtype that TensorFlow.js has: a file says the others, too, but what is read is float32 or int32.
bool is_kept(dtype type) {
  return type == dtype::float32 || type == dtype::int32 || type == dtype::boolean || type == dtype::complex64 ||
         type == dtype::text;
}

void check_ports(const std::string& path, std::span<const port> ports, std::string_view what) {
  for (const port& p : ports)
    if (!is_kept(p.type))
      refuse(path,
             "would have " + std::string(what) + " " + in_quotes(p.key) + " of dtype " + std::string(name_of(p.type)),
             "float32, int32, bool, complex64 or text", "graph models have no others; cast it where it is recorded");
}

// Rejects dtypes that a recorded node computes in and a loaded one would not; a node that was loaded computes in what
// was read, whatever its file said.
void check_nodes(const std::string& path, const function_def& f) {
  for (const node& n : f.nodes)
    for (const attribute& a : n.attrs)
      if (a.holds == attribute::kind::type && a.text.empty() && !is_kept(a.type))
        refuse(
            path,
            "would have node " + in_quotes(n.name) + " of op " + n.op + " with dtype " + std::string(name_of(a.type)),
            "float32, int32, bool, complex64 or text", "graph models have no others; cast where it is recorded");
}

void check_texts(const std::string& path, const named_weight& w) {
  if (w.x.type() != dtype::text) return;
  for (const std::string& text : w.x.to_texts())
    if (text.size() > std::numeric_limits<std::uint32_t>::max())
      refuse(path, "would have a text of " + std::to_string(text.size()) + " bytes in weight " + in_quotes(w.name),
             "texts of less than 4 GiB");
}

// The weight files that a model's text names.
std::vector<std::string> paths_in(const std::string& path, std::span<const std::byte> bytes) {
  const origin file{path};
  const json_document read = parsed(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::vector<std::string> all;
  for (const json& group : list_in(file, read.root(), "weightsManifest", "a model"))
    for (const json& name : list_in(file, group, "paths", "a group of weights"))
      if (name.is_string()) all.emplace_back(name.text());
  return all;
}

}  // namespace

void save(const std::string& path, const model& m, const save_options& how) {
  if (how.shard_bytes < 1)
    refuse(path, "would have weight files of " + std::to_string(how.shard_bytes) + " bytes", "1 or more",
           "change save_options::shard_bytes");
  graph_def graph = graph_of(m);
  separate_names(graph);
  check_ports(path, graph.main.inputs, "input");
  check_ports(path, graph.main.outputs, "output");
  check_nodes(path, graph.main);
  const std::vector<named_weight> all = weights_of(graph);
  std::vector<manifest_entry> entries;
  for (const named_weight& w : all) {
    check_texts(path, w);
    entries.push_back(entry_of(path, w, how));
  }
  model_text(path, graph, entries, {});  // throws before anything is written
  io::file_group files(path, "save");
  shards to(files, how.shard_bytes);
  for (const named_weight& w : all) write_elements(to, w, how);
  files.keep([&](std::span<const std::string> names) { return model_text(path, graph, entries, names) + "\n"; },
             [&](std::span<const std::byte> replaced) { return paths_in(path, replaced); });
}

}  // namespace kerngrad::graph
