// SPDX-License-Identifier: Apache-2.0
// Shared by the units that read and write graph models. Included in the purview of kerngrad.graph, after its module
// line, where modules/io/json.h is included before that line.
#ifndef KERNGRAD_MODULES_GRAPH_FILES_H_
#define KERNGRAD_MODULES_GRAPH_FILES_H_

namespace kerngrad::graph::detail {

using json = io::detail::json_value;
using io::detail::json_document, io::detail::json_member, io::detail::json_refusal, io::detail::json_writer;

// A text of a file as errors quote it.
std::string in_quotes(std::string_view text);

// The file that is being read, for errors.
struct origin {
  const std::string& name;
  // Throws the error "[load] got "model.json", which GOT; wanted ...".
  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
};

// The text as JSON. Rejects what is deeper than any graph, and keys that occur twice.
json_document parsed(const origin& file, std::string_view text);

// Members of an object. `what` is the object: "node \"a\"".
const json* member(const json& object, std::string_view key);  // null: not there, or JSON's null
std::string text_in(const origin& file, const json& object, const char* key, std::string_view what);
// A whole number, which may be written as a text.
std::int64_t integer_in(const origin& file, const json& value, std::string_view what);
const json& list_in(const origin& file, const json& object, const char* key, std::string_view what);

// ------------------------------------------------------------------------------------------ protobuf as JSON

// A dtype of TensorFlow, by its name or its number. `type` is what kerngrad has for it, as TensorFlow.js reads it;
// resources and variants have none.
struct graph_dtype {
  std::string_view name;  // "DT_FLOAT"
  dtype type;
};
graph_dtype graph_dtype_in(const origin& file, const json& value, std::string_view what);
std::string_view graph_name_of(dtype type);

partial_shape shape_in(const origin& file, const json& value, std::string_view what);
void write(json_writer& to, const partial_shape& dims);

// An attribute, {"i": "1"}. A tensor whose elements are not there, as the converter writes it, has an undefined tensor.
// `bytes_left` is what may still be asked for elements.
attribute attribute_in(const origin& file, std::string_view name, const json& value, std::string_view what,
                       std::int64_t& bytes_left);
// A dtype as an attribute.
attribute type_attribute(std::string_view name, const graph_dtype& type);
void write(json_writer& to, const attribute& a);

std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);

// ------------------------------------------------------------------------------------------ parts of a model

// The graph of "modelTopology", without weights.
graph_def topology_in(const origin& file, const json& topology, const load_options& how, std::int64_t& bytes_left);
// A node's name and its output: "name", "name:1", in functions "name:output:1"; nothing for no such text.
struct node_output {
  std::string_view name, output;
  std::int32_t index = 0;
};
std::optional<node_output> node_output_in(std::string_view text);
// Checks each node's inputs and what is read of its results by the arity of its op, in all functions.
void check_arities(const origin& file, const graph_def& graph);
// Nodes by their names. Sorted: a file can have names that all fall into one slot of a hash table.
class node_names {
 public:
  // The nodes stay where they are as long as this lives. Rejects a name that occurs twice.
  node_names(const origin& file, std::span<const node> nodes);
  // The index of the node of that name; -1: there is none.
  std::int32_t find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::int32_t>> sorted_;
};
// Inputs and outputs, by the signature or by the graph.
void read_ports(const origin& file, const json& document, function_def& f);
// Gives the graph the weights of "weightsManifest".
void read_weights(const origin& file, const json& document, graph_def& graph, std::int64_t& bytes_left);
// A weight that save lists in the manifest.
struct manifest_entry {
  std::string_view name, type;
  std::span<const std::int64_t> dims;
  bool half = false;  // float32, stored as float16
};
// The text of the file at `path` that save writes, for weights in these files. Throws what save throws: for names that
// are no UTF-8, keys that occur twice, and for more text than the memory limit allows.
std::string model_text(const std::string& path, const graph_def& graph, std::span<const manifest_entry> weights,
                       std::span<const std::string> parts);
// Gives nodes of functions other names where one name would mean different weights, or a weight and another node: a
// file's weights are found by name in the graph and in all functions.
void separate_names(graph_def& graph);
// Takes bytes that `what` needs in memory from what is left; rejects what passes it.
void take_bytes(const origin& file, std::int64_t bytes, std::string_view what, std::int64_t& bytes_left);
// A tensor of texts. Rejects those that are not UTF-8.
tensor tensor_of(const origin& file, std::span<const std::string> texts, const shape& dims, std::string_view what);
// Takes the memory of elements from what is left; rejects what passes it, or makes no shape.
shape allowed_shape(const origin& file, std::span<const std::int64_t> dims, dtype type, std::string_view what,
                    std::int64_t& bytes_left);

}  // namespace kerngrad::graph::detail

#endif  // KERNGRAD_MODULES_GRAPH_FILES_H_
