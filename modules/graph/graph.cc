// SPDX-License-Identifier: Apache-2.0
// Graph models: what TensorFlow.js's converter writes, a graph of named ops and its weights, loaded, run,
// differentiated and saved. Each node is a call by name: graph ops are mapped to the library's rows, and what has no
// row is taken from the registry. A module of its own on top, so that the library needs no JSON.
module;
#include <cstddef>
#include "kernels/common/abi.h"
export module kerngrad.graph;

import kerngrad;

export namespace kerngrad::graph {

// ------------------------------------------------------------------------------------------ what models take and give

/// An input or an output of a model.
struct port {
  std::string key;   ///< name in the signature; the node's name if there is no signature
  std::string node;  ///< the node and, after a colon, which of its results: "detector/boxes:0"
  dtype type = dtype::float32;
  bool known_rank = false;           ///< false: tensors of any rank, and `dims` is empty
  std::vector<std::int64_t> dims{};  ///< sizes of the axes; -1 stands for any size
};

/// The results of a run, in the order of the requested outputs, by their keys. A model with one output gives a tensor:
/// `const kg::tensor y = model({{"input", x}});`.
class results {
 public:
  results() = default;
  results(std::vector<std::string> keys, std::vector<tensor> values);
  /// The result of that key. Throws, and lists the keys, if there is none.
  const tensor& at(std::string_view key) const;
  /// Result i, counted from 0.
  const tensor& operator[](std::size_t i) const { return values_.at(i); }
  /// The only result. Throws if there are several.
  operator tensor() const;
  std::span<const std::string> keys() const { return keys_; }
  std::size_t size() const { return values_.size(); }
  std::vector<tensor>::const_iterator begin() const { return values_.begin(); }
  std::vector<tensor>::const_iterator end() const { return values_.end(); }

 private:
  std::vector<std::string> keys_;
  std::vector<tensor> values_;
};

// ------------------------------------------------------------------------------------------ what a model needs

/// An op of a model's graph, and the code that runs it.
struct needed_op {
  std::string name;  ///< name of the graph op: "FusedBatchNormV3"
  int nodes = 0;     ///< number of nodes with this op
  /// Name of the code that runs the op: the name of an op of the library, or "composed" for several calls. The graph
  /// executor is "graph", and a registered kernel of the same name is "registry". Empty if nothing runs it.
  std::string by{};
  std::string reason{};  ///< the reason why nothing runs it
};

/// Returns all graph ops of TensorFlow.js's converter in the order of its topics. `by` is empty for ops that nothing
/// runs, and `nodes` is 0 for all.
std::vector<needed_op> known_ops();
}  // namespace kerngrad::graph

namespace kerngrad::graph::detail {
struct graph_def;
struct model_state;
struct plan_state;
}  // namespace kerngrad::graph::detail

export namespace kerngrad::graph {

/// The planned steps of a model for operands of given shapes, in order.
class plan {
 public:
  /// The number of calls in one run. Calls whose operands are all constants were made when the model was planned, and
  /// do not count.
  int steps() const;
  /// The graph of the steps as Graphviz source.
  std::string to_dot() const;

 private:
  friend class model;
  std::shared_ptr<const detail::plan_state> state_;
};

/// Time of one node of a run. A node inside a function is listed under its name in that function.
struct node_time {
  /// A tensor that the node read, with the name of the op's operand, or without a name if no op runs the node.
  struct operand {
    std::string name;
    signature is;
  };
  std::string node, op;  ///< name and op of the node in the graph
  std::string by;        ///< the code that ran it, as in needed_op; for joined nodes the fused op, or "fused"
  double seconds = 0;
  std::vector<signature> results;
  std::vector<operand> operands{};  ///< tensors that the node and the nodes joined with it read
};

/// A graph with weights, as a function of tensors. Copies are the same model. Any number of threads may call it at the
/// same time.
class model {
 public:
  /// An empty model; calls throw.
  model() = default;

  std::span<const port> inputs() const;
  std::span<const port> outputs() const;
  /// The names of all nodes, in an order in which they can run.
  std::vector<std::string> nodes() const;
  /// Every op of the graph, sorted by name, and the code that runs it.
  std::vector<needed_op> needs() const;

  /// Runs the model and returns its outputs. Inputs are named by the signature's keys or by their nodes; you may give a
  /// value for any node. The plan for the inputs' shapes and dtypes is kept for the next call. Differentiable with
  /// respect to the inputs and, by `variable_grads`, to `variables`. Throws for a missing input, for an input of
  /// another dtype or of a shape that the port does not allow, and for an op that nothing runs. If an op rejects its
  /// operands, the error names the node. A stop_scope ends a run between two nodes or iterations of a loop.
  results operator()(std::span<const named_operand> inputs) const;
  results operator()(std::initializer_list<named_operand> inputs) const;
  /// Runs the model and returns the results of the nodes in `wanted`, in that order: "node", "node:1", or a key of the
  /// signature. Throws for a name that the graph lacks.
  results operator()(std::span<const named_operand> inputs, std::span<const std::string> wanted) const;
  results operator()(std::initializer_list<named_operand> inputs, std::initializer_list<std::string> wanted) const;

  /// Returns the plan that a call with these inputs runs. `wanted` is as in a call.
  plan planned(std::span<const named_operand> inputs, std::span<const std::string> wanted = {}) const;
  plan planned(std::initializer_list<named_operand> inputs) const;

  /// Runs one call with a clock around each step, and returns the times in the order of the steps. Nodes in a loop
  /// occur once for each iteration. Time for planning is not included. `wanted` is as in a call; steps that only other
  /// nodes need do not run.
  std::vector<node_time> profile(std::span<const named_operand> inputs, std::span<const std::string> wanted = {}) const;
  std::vector<node_time> profile(std::initializer_list<named_operand> inputs,
                                 std::initializer_list<std::string> wanted = {}) const;

  /// Returns the floating weights as variables, by their nodes' names. From then on the model reads the variables, so
  /// training changes it. Each call returns the same variables.
  std::vector<variable> variables() const;

 private:
  friend struct model_access;
  std::shared_ptr<detail::model_state> state_;
};

// ------------------------------------------------------------------------------------------ files

/// Limits for sizes that a file claims and for resources that its graph takes.
struct load_options {
  /// Limit for the number of nodes.
  std::int64_t most_nodes = 1'000'000;
  /// Memory limit of the model in bytes: its nodes and attributes, its constants, and its weights as elements, mapped
  /// ones included. A model with more than 1 GiB of weights needs a larger number. Each plan may take as much again for
  /// its steps and for the constants that it computes. The lists of each run may take as much, at 256 bytes for each
  /// item. Elements in a run are limited by set_memory_limit or a memory_budget.
  std::int64_t most_bytes = std::int64_t{1} << 30;
  /// Limit for the iterations of all loops of one run together. Loops count in int32, so the default only ends loops
  /// that would run for ever. A stop_scope limits the time.
  std::int64_t most_iterations = std::numeric_limits<std::int32_t>::max();
};

/// Reads a graph model: `model.json`, and the weight files that it names in the same folder. Weights are float32,
/// float16, int32, uint8, bool, complex64 or text. Those of float32 may be quantized to float16, uint8 or uint16.
/// float32, int32 and complex64 without quantization are not copied. The files stay mapped, and must not be changed in
/// place meanwhile. If `save` replaces the model during the read, it is read again. Inputs and outputs have the order
/// of the file. Ops are looked up when the model runs or `needs` asks. Throws `error`, with the file's name, for a
/// wrong format, a passed limit, or a file outside of the folder. Throws `stopped` if a stop_scope asks for it.
model load(const std::string& path, const load_options& how = {});

/// Options for writing a model.
struct save_options {
  bool half_weights = false;                         ///< true: float32 weights are written as float16
  std::int64_t shard_bytes = std::int64_t{4} << 20;  ///< largest size of one weight file, in bytes
};

/// Writes a graph model that TensorFlow.js loads: `model.json` at `path`, its weight files next to it. Weights that are
/// variables have their current values.
///
/// The new model replaces an old one as a whole. New weight files get new names, then `model.json` is replaced, then
/// files that only the old one names are removed. If a step fails, the old model is unchanged. Processes that load at
/// the same time get the old model or the new one. Throws `error`, with the file's name, for weights of other dtypes
/// than float32, int32, bool, complex64 and text, and for names that are not UTF-8.
void save(const std::string& path, const model& m, const save_options& how = {});

// ------------------------------------------------------------------------------------------ recording

/// Options for recording a function.
struct record_options {
  std::vector<std::string> outputs{};  ///< keys of the results; by default "output", "output_1", ...
  /// Variables whose weights get the variables' names. The others are called "weight", "weight_1", ...
  std::vector<variable> named{};
  /// True: inputs and results may have any size on their first axis. f must treat all sizes as that of the examples.
  bool any_batch = false;
};

/// Runs `f` once on the examples and records its calls as a graph. Call the model to replay it, and `save` to write it.
/// Only names, shapes and dtypes of the examples are kept. Tensors that f reads but did not compute become weights,
/// also those of variables. Choices that depend on elements (an `if` on a value, the sizes of `nonzero`) are fixed to
/// those of the examples. Throws for a call that no graph op represents, and for results that f did not compute. Throws
/// for a part of a tensor that was taken without a copy, such as `x(0)`: use `slice`.
model record(const std::function<std::vector<tensor>(std::span<const tensor>)>& f,
             std::span<const named_operand> examples, const record_options& how = {});
/// Runs and records a function of one tensor in the same way. The input is called "input", the result "output".
model record(const std::function<tensor(const tensor&)>& f, const tensor& example, const record_options& how = {});

}  // namespace kerngrad::graph

// Shared by the parts. Not visible outside the module.
namespace kerngrad::graph::detail {

// ------------------------------------------------------------------------------------------ the graph as the file has
// it

// A shape as graphs write it.
struct partial_shape {
  bool known_rank = false;
  std::vector<std::int64_t> dims;  // -1: any size
};

// An attribute of a node. The file tells numbers from texts, not int from float where a list is empty.
struct attribute {
  enum class kind : std::uint8_t {
    boolean,
    integer,
    number,
    text,
    type,
    shape,
    tensor,
    function,
    booleans,
    integers,
    numbers,
    texts,
    types,
    shapes,
    nothing
  };
  std::string name;
  kind holds = kind::nothing;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;  // a text, a function's name
  dtype type = dtype::float32;
  partial_shape dims;
  tensor value;
  std::vector<std::int64_t> integers;  // booleans and types, too, as numbers
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::vector<partial_shape> shapes;
};

// Result `output` of a node.
struct endpoint {
  std::int32_t node = -1;
  std::int32_t output = 0;
  bool operator==(const endpoint&) const = default;
};

struct node {
  std::string name, op;
  std::vector<endpoint> inputs;
  std::vector<std::int32_t> controls;  // nodes that run before it
  std::vector<attribute> attrs;
  const attribute* attr(std::string_view wanted) const;  // null: not given
};

// A graph: the model's own, or a function that nodes name. The nodes of loops of the old control flow are on cycles
// through NextIteration; no other cycles exist once it has been read.
struct function_def {
  std::string name;
  std::vector<port> inputs;  // of a function: its arguments, Placeholder nodes in front
  std::vector<endpoint> arguments;
  std::vector<port> outputs;
  std::vector<endpoint> results;
  std::vector<node> nodes;
};

// The value of a node of `main`, Const or VarHandleOp's kin. In a file's mapped bytes it may be narrower than what
// calls read: float32 as halves, and numbers as bytes, of which k stands for k * scale + min.
struct weight {
  std::int32_t at = -1;
  tensor stored;
  std::optional<dtype> read_as{};  // where it is not as it is stored
  double scale = 1, min = 0;
};
// As calls read it.
tensor value_of(const weight& w);

// Limits of plans and runs of a graph from a file. The graph that a program recorded has none.
struct graph_limits {
  std::int64_t bytes = unlimited;
  std::int64_t iterations = unlimited;
};

struct graph_def {
  function_def main;
  std::vector<function_def> library;
  std::vector<std::int32_t> by_name{};  // functions of the library, by their names
  std::vector<weight> weights;
  graph_limits limits{};
  const function_def* function_named(std::string_view name) const;
};

// ------------------------------------------------------------------------------------------ graph ops and rows

// A node as a call: of a built-in op or of a registered kernel.
struct bound_call {
  std::string_view kernel;
  struct operand {
    std::string_view name;
    std::vector<std::int32_t> inputs;  // which of the node's
    bool list = false;
  };
  std::vector<operand> operands;
  std::vector<named_attribute> attrs;
};

enum class runs_by : std::uint8_t {
  row,       // one call of a row, by `bind`
  function,  // a function of tensors that makes several calls or none, by `run_function`
  graph,     // the executor itself: constants, placeholders, identities, control flow, lists
  nothing,   // there is a reason
};

// How an attribute of a row is made of an attribute of the graph, or of an input's elements.
enum class made_of : std::uint8_t {
  attribute,  // the graph's, as it is
  lower,      // a text in lower case
  upper,      // a text in upper case: data_format
  window,     // sizes or steps of all axes: those of the axes between batch and channels
  padding,    // "SAME" and "VALID" in lower case; "EXPLICIT": explicit_paddings
  joined,     // texts, with | between them
  integers,   // all elements of an input
  integer,    // the one element of an input
  number,
  value,  // the one element of an input, a number or a text
  type,   // the dtype of an input
  fixed,  // always `fallback`
};

inline constexpr double no_fallback = std::numeric_limits<double>::quiet_NaN();
struct mapped_attribute {
  std::string_view to;  // the row's
  made_of by = made_of::attribute;
  std::string_view from{};  // the graph's
  int input = 0;            // negative: from the back; one that is not there gives no attribute
  double fallback = no_fallback;
};

// An operand of a row, and the inputs that it is: one, or those from `input` to before `end` (0: to the last one;
// negative: from the back).
inline constexpr int one_input = std::numeric_limits<int>::max();
struct mapped_operand {
  std::string_view to;
  int input;
  int end = one_input;
};

// How many inputs and results a graph op has.
struct op_arity {
  static constexpr int any = -1;        // no most; a number of results that attributes or functions decide
  static constexpr int as_inputs = -2;  // results: one for each input
  int least = 0, most = any, results = any;
};

// Maps a graph op to an op. The table (mapping_table_impl.cc) is audited against the rows at compile time.
struct op_mapping {
  std::string_view op;   // the graph's name
  std::string_view row;  // empty: there is none
  runs_by how = runs_by::row;
  // Empty: the row's operands that are not optional are the first inputs, in order; a list has all that follow.
  std::span<const mapped_operand> operands{};
  std::span<const mapped_attribute> attrs{};
  // Changes of the call that the table cannot say.
  void (*adjust)(bound_call& call, const node& at, std::span<const tensor> in) = nullptr;
  // True if this node takes `run` although the op has a row; null: none does.
  bool (*is_more)(const node& at) = nullptr;
  tensor_list (*run)(const node& at, std::span<const tensor> in) = nullptr;
  std::uint32_t reads = 0;  // bits of inputs whose elements `run` reads on the host
  bool of_shapes = false;   // the results follow from shapes and dtypes of the inputs
  bool draws = false;       // each call gives others: no constant
  bool registered = false;  // the row is another module's, which a program registers; `reason` for when it has not
  std::string_view reason{};
  std::optional<op_arity> arity{};  // what the row, if there is one, does not say
};

// The mapping of a name; null when the table has none. All of them, by topics.
const op_mapping* mapping_of(std::string_view graph_op);
std::span<const op_mapping> all_mappings();
runs_by how_of(const op_mapping& m, const node& at);

// The arity of a graph op: the mapping's, else that of its row. Ops that are not in the table have any.
op_arity arity_of(std::string_view graph_op);
// How many results a node has; nothing where a run decides.
std::optional<std::int32_t> result_count(const node& at);

// Which inputs' elements become attributes of the call or sizes of its results: they are needed to plan it.
std::vector<std::int32_t> read_inputs(const op_mapping& m, const node& at);
// The call that a node makes. `in` has all its inputs; of those that `read_inputs` does not name only shapes and dtypes
// matter. Throws, without the node's name, for attributes that no row takes.
bound_call bind(const op_mapping& m, const node& at, std::span<const tensor> in);
// Makes that call through the registry.
tensor_list run_bound(const bound_call& call, std::span<const tensor> in);
// Several calls, or what the table cannot say.
tensor_list run_function(const op_mapping& m, const node& at, std::span<const tensor> in);

// Attributes of a node, or a default for what is not given. They throw for one of another kind.
bool flag_of(const node& at, std::string_view name, bool fallback);
std::int64_t integer_of(const node& at, std::string_view name, std::int64_t fallback);
double number_of(const node& at, std::string_view name, double fallback);
std::string_view text_of(const node& at, std::string_view name, std::string_view fallback);
std::span<const std::int64_t> integers_of(const node& at, std::string_view name);
std::span<const std::string> texts_of(const node& at, std::string_view name);
// The elements of a tensor of integers (floats are cut off).
std::vector<std::int64_t> elements_of(const tensor& x);

// Support of a graph op's name; nodes = 0.
needed_op need_of(std::string_view graph_op);

// The reverse, for recording: a node that makes such a call. An input is one of the call's tensors, counted through
// all operands, or, where `constant` is defined, elements for a Const node. Throws when no graph op says the call.
struct graph_call {
  std::string_view op;
  struct input {
    std::int32_t tensor = -1;
    kerngrad::tensor constant{};
  };
  std::vector<input> inputs;
  std::vector<attribute> attrs;
};
graph_call unbind(std::string_view kernel, std::span<const operand_ref> operands, std::span<const attribute_ref> attrs);

// ------------------------------------------------------------------------------------------ files and models

// A model of a graph that has been read or recorded.
model make_model(std::shared_ptr<const graph_def> graph);
// The graph of a model, with the weights of now.
graph_def graph_of(const model& m);

}  // namespace kerngrad::graph::detail

namespace kerngrad::graph {
struct model_access {
  static const std::shared_ptr<detail::model_state>& state(const model& m) { return m.state_; }
  static model make(std::shared_ptr<detail::model_state> state);
};
}  // namespace kerngrad::graph
