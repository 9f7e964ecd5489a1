// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a model: by its signature, or, where it has none, by its Placeholders and the nodes that nobody
// reads.
module;
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

namespace {

bool is_placeholder(const node& n) { return n.op == "Placeholder" || n.op == "PlaceholderWithDefault"; }

// Reads dtype and shape of a Placeholder.
void read_placeholder(const node& n, port& p) {
  if (const attribute* type = n.attr("dtype"); type && type->holds == attribute::kind::type) p.type = type->type;
  const attribute* dims = n.attr("shape");
  if (!dims || dims->holds != attribute::kind::shape) return;
  p.known_rank = dims->dims.known_rank;
  p.dims = dims->dims.dims;
}

class port_reader {
 public:
  port_reader(const origin& file, const function_def& f) : file_(file), f_(f), names_(file, f.nodes) {}
  // "inputs" or "outputs" of a signature.
  void read(const json& entries, std::vector<port>& ports, std::vector<endpoint>& at) const {
    constexpr std::size_t most = 1 << 16;  // each has a copy of its node's shape
    if (!entries.is_object()) file_.refuse("has a signature whose inputs or outputs are no object", "ports by keys");
    if (entries.size() > most)
      file_.refuse("has a signature with " + std::to_string(entries.size()) + " inputs or outputs",
                   "at most " + std::to_string(most));
    for (const json_member entry : entries.members()) add(entry.name, entry.value, ports, at);
  }

 private:
  void add(std::string_view key, const json& entry, std::vector<port>& ports, std::vector<endpoint>& at) const {
    const std::string what = "port " + in_quotes(key);
    port p{.key = std::string(key), .node = text_in(file_, entry, "name", what)};
    const std::optional<node_output> where = node_output_in(p.node);
    const std::int32_t found = where ? names_.find(where->name) : -1;
    if (found < 0)
      file_.refuse("has " + what + " at " + in_quotes(p.node) + ", which is no node", "a node of the graph");
    const node& n = f_.nodes[static_cast<std::size_t>(found)];
    if (is_placeholder(n)) read_placeholder(n, p);
    if (const json* type = member(entry, "dtype")) p.type = graph_dtype_in(file_, *type, what).type;
    // Runs hold their inputs to what the Placeholder says; older files' signatures know less.
    if (const json* dims = member(entry, "tensorShape"); dims && !(is_placeholder(n) && n.attr("shape"))) {
      partial_shape shape = shape_in(file_, *dims, what);
      p.known_rank = shape.known_rank;
      p.dims = std::move(shape.dims);
    }
    ports.push_back(std::move(p));
    at.push_back({found, where->index});
  }

  const origin& file_;
  const function_def& f_;
  node_names names_;
};

void take_placeholders(function_def& f) {
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const node& n = f.nodes[i];
    if (!is_placeholder(n)) continue;
    port p{.key = n.name, .node = n.name};
    read_placeholder(n, p);
    f.inputs.push_back(std::move(p));
    f.arguments.push_back({static_cast<std::int32_t>(i), 0});
  }
}

void take_unread(function_def& f) {
  std::vector<bool> read(f.nodes.size(), false);
  for (const node& n : f.nodes) {
    for (const endpoint& e : n.inputs) read[static_cast<std::size_t>(e.node)] = true;
    for (const std::int32_t from : n.controls) read[static_cast<std::size_t>(from)] = true;
  }
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const node& n = f.nodes[i];
    if (read[i] || result_count(n) == 0 || n.op == "NextIteration") continue;
    port p{.key = n.name, .node = n.name};
    if (const attribute* type = n.attr("T"); type && type->holds == attribute::kind::type) p.type = type->type;
    f.outputs.push_back(std::move(p));
    f.results.push_back({static_cast<std::int32_t>(i), 0});
  }
}

// A member of the document, or of "userDefinedMetadata" in older files.
const json* signature_in(const json& document) {
  if (const json* found = member(document, "signature")) return found;
  const json* metadata = member(document, "userDefinedMetadata");
  return metadata ? member(*metadata, "signature") : nullptr;
}

}  // namespace

void read_ports(const origin& file, const json& document, function_def& f) {
  if (const json* signature = signature_in(document)) {
    const port_reader ports(file, f);
    if (const json* inputs = member(*signature, "inputs")) ports.read(*inputs, f.inputs, f.arguments);
    if (const json* outputs = member(*signature, "outputs")) ports.read(*outputs, f.outputs, f.results);
  }
  if (f.inputs.empty()) take_placeholders(f);
  if (f.outputs.empty()) take_unread(f);
}

}  // namespace kerngrad::graph::detail
