// SPDX-License-Identifier: Apache-2.0
// Graph models to files, as TensorFlow.js's converter lays them out.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  const auto width = [](const named_weight& w) {
    return w.x.type() == dtype::text ? 1 : static_cast<int>(size_of(w.x.type()));
  };
  std::ranges::sort(all, [&](const named_weight& a, const named_weight& b) {
    return std::pair(width(b), a.number) < std::pair(width(a), b.number);
  });
  return all;
}

std::string_view manifest_name(const named_weight& w) {
  switch (w.x.type()) {
    case dtype::float32: return "float32";
    case dtype::int32: return "int32";
    case dtype::boolean: return "bool";
    case dtype::complex64: return "complex64";
    case dtype::text: return "string";
    default:
      fail("save", "weight " + w.name + " of dtype " + std::string(name_of(w.x.type())),
           "float32, int32, bool, complex64 or text", "graph models have no others; cast it");
  }
}

manifest_entry entry_of(const named_weight& w, const save_options& how) {
  return {w.name, manifest_name(w), w.x.dims().dims(), how.half_weights && w.x.type() == dtype::float32};
}

std::string bytes_of(const named_weight& w, const save_options& how) {
  if (w.x.type() == dtype::text) {
    std::string bytes;
    for (const std::string& text : w.x.to_texts()) {
      const auto length = static_cast<std::uint32_t>(text.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
      bytes += text;
    }
    return bytes;
  }
  const tensor x = how.half_weights && w.x.type() == dtype::float32 ? cast(w.x, dtype::float16) : w.x;
  return {static_cast<const char*>(x.address()), static_cast<std::size_t>(x.size()) * size_of(x.type())};
}

// Bytes in files of at most so many each, written as they fill.
class shards {
 public:
  shards(std::string stem, std::int64_t each, std::uint64_t total)
      : stem_(std::move(stem)), each_(static_cast<std::size_t>(each)), count_((total + each_ - 1) / each_) {}
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t taken = std::min(each_ - now_.size(), bytes.size());
      now_ += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      if (now_.size() == each_) flush();
    }
  }
  void flush() {
    if (now_.empty()) return;
    const std::string path = stem_ + "-" + std::to_string(paths_.size() + 1) + "of" + std::to_string(count_) + ".bin";
    io::save_bytes(path, std::as_bytes(std::span(now_)), "save");
    paths_.push_back(path.substr(path.rfind('/') + 1));
    now_.clear();
  }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string stem_;
  std::size_t each_;
  std::uint64_t count_;
  std::string now_;
  std::vector<std::string> paths_;
};

std::uint64_t stored_bytes(const named_weight& w, const save_options& how) {
  if (w.x.type() != dtype::text)
    return static_cast<std::uint64_t>(w.x.size()) *
           (how.half_weights && w.x.type() == dtype::float32 ? 2 : size_of(w.x.type()));
  std::uint64_t bytes = 0;
  for (const std::string& text : w.x.to_texts()) bytes += 4 + text.size();
  return bytes;
}

// Writes the elements, and gives the names of the files.
std::vector<std::string> write_weights(const std::string& path, std::span<const named_weight> all,
                                       const save_options& how) {
  std::uint64_t total = 0;
  for (const named_weight& w : all) total += stored_bytes(w, how);
  const std::string stem = path.ends_with(".json") ? path.substr(0, path.size() - 5) : path;
  shards files(stem, how.shard_bytes, total);
  for (const named_weight& w : all) files.add(bytes_of(w, how));
  files.flush();
  return files.paths();
}

}  // namespace

void save(const std::string& path, const model& m, const save_options& how) {
  if (how.shard_bytes < 1) fail("save", "shard_bytes " + std::to_string(how.shard_bytes), "1 or more");
  const graph_def graph = graph_of(m);
  const std::vector<named_weight> all = weights_of(graph);
  std::vector<manifest_entry> entries;
  for (const named_weight& w : all) entries.push_back(entry_of(w, how));
  model_text(graph, entries, {});  // throws before anything is written
  const std::string text = model_text(graph, entries, write_weights(path, all, how)) + "\n";
  io::save_bytes(path, std::as_bytes(std::span(text)), "save");
}

}  // namespace kerngrad::graph
