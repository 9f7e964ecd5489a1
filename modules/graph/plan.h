// SPDX-License-Identifier: Apache-2.0
// Shared by the units that plan and run graphs. Included in the purview of kerngrad.graph, after its module line,
// <atomic> and <memory>.
#ifndef KERNGRAD_MODULES_GRAPH_PLAN_H_
#define KERNGRAD_MODULES_GRAPH_PLAN_H_

namespace kerngrad::graph::detail {

// ------------------------------------------------------------------------------------------ values and steps

// Bytes that the lists of a run may still take.
struct item_budget {
  std::int64_t left = 0;
};

// Items of a tensor array or a list; an item that nobody has written is an undefined tensor. Arrays are written in
// place, in the order of their flow; a list that others hold is copied first. Items count under the memory limit and
// under the budget of the run that made the list.
class item_list {
 public:
  inline explicit item_list(std::shared_ptr<item_budget> budget) : budget_(std::move(budget)) {}
  item_list(const item_list& other);
  item_list& operator=(const item_list&) = delete;
  inline ~item_list() { budget_->left += counted_.bytes(); }

  inline std::int64_t size() const { return static_cast<std::int64_t>(at_.size()); }
  inline const tensor& operator[](std::int64_t i) const { return at_[static_cast<std::size_t>(i)]; }
  inline tensor& operator[](std::int64_t i) { return at_[static_cast<std::size_t>(i)]; }
  inline std::span<const tensor> all() const { return at_; }
  void resize(std::int64_t count);

  dtype type = dtype::float32;
  partial_shape item;
  bool grows = false;

 private:
  void count(std::int64_t items);

  std::vector<tensor> at_;
  counted_memory counted_;
  std::shared_ptr<item_budget> budget_;
};

// Result of a node: a tensor, a list, or nothing on the branch that a Switch did not take.
struct run_value {
  tensor x;
  std::shared_ptr<item_list> items;
  inline bool there() const { return x.defined() || items; }
};

struct sequence;

enum class plan_step_kind : std::uint8_t {
  call,        // of a row, bound when it was planned
  late_call,   // of a row, bound when its operands are there
  fused,       // of several rows, element by element
  function,    // of a mapping
  registered,  // of a kernel of the registry, by the graph's name
  stop,        // the value without its history
  choose,      // Switch
  merge,
  loop,    // while `first` gives true, `second`; of the old control flow and the new one
  branch,  // `first` if the condition holds, else `second`
  items,   // what there is to tensor arrays and lists
  guard,   // the shape is that which the plan was made for, or another plan has to run
};

// One step. Values are numbered: those of the run from 0 on, constants ~0, ~1, ...
struct step {
  plan_step_kind kind = plan_step_kind::call;
  const node* at = nullptr;
  const op_mapping* mapping = nullptr;
  std::vector<std::int32_t> in, out;  // out: negative where nobody wants it
  std::vector<std::int32_t> outputs;  // of the node, in ascending order, where `out` is not all from the first on
  std::vector<std::int32_t> last;     // values that no later step reads
  std::string kernel;
  struct operand {
    std::string name;
    std::vector<std::int32_t> in;  // values
    bool list = false;
  };
  std::vector<operand> operands;
  std::vector<named_attribute> attrs;
  std::vector<attribute_ref> given;  // they, as a call takes them
  std::shared_ptr<const sequence> first, second;
  fused_expression together{};  // of fused calls
  signature expected{};         // of a guard
  bool by_shapes = false;       // a late call that is bound alike for operands of the same shapes and dtypes
  std::int32_t late = -1;       // which of those of its sequence it is
};

// The constants of a sequence, which are the values ~0, ~1, ... None moves while others are added: planning adds some
// while it holds references to others.
class constant_list {
 public:
  inline std::int32_t add(run_value v) {
    all_.push_back(std::make_shared<const run_value>(std::move(v)));
    return ~static_cast<std::int32_t>(all_.size() - 1);
  }
  inline const run_value& operator[](std::int32_t value) const { return *all_[static_cast<std::size_t>(~value)]; }

 private:
  std::vector<std::shared_ptr<const run_value>> all_;
};

// Steps in the order in which they run. `params` are the values that the caller gives, `results` those that it gets.
struct sequence {
  std::vector<step> steps;
  constant_list constants;
  std::vector<std::int32_t> params, results;
  std::int32_t values = 0;
  // Shapes and dtypes of the first values, as they were while it was planned; none where they were not known.
  std::vector<std::optional<signature>> seen;
};

// A late call as it was bound last, for operands of these shapes and dtypes.
struct late_binding {
  std::vector<signature> in;
  step bound;
};

// State that all sequences of one run, or of one plan, share.
struct run_state {
  std::vector<node_time>* times = nullptr;  // of steps, when a caller asks
  graph_limits left{};
  std::shared_ptr<item_budget> items{};  // of the bytes that are left, once there is a list
};

// Memory of a run, kept between runs, so that they need not allocate.
struct run_frame {
  run_state* run = nullptr;
  std::vector<run_value> values;
  std::vector<operand_ref> operands;
  std::vector<tensor> list, inputs;
  std::vector<const tensor*> together;
  std::vector<run_value> arguments;
  std::vector<late_binding> bound;  // by `late` + 1; the first is of those that are bound again each time
};

// A guard did not hold.
struct other_shapes {};

// Runs a sequence. `arguments` are taken; results are in its order.
void run_sequence(const sequence& s, std::span<run_value> arguments, std::span<run_value> results, run_frame& with);
std::vector<run_value> run_sequence(const sequence& s, std::vector<run_value> arguments, run_state& run);
void run_step(const step& s, const sequence& of, run_frame& with);
// A value of a step, and the tensor that it has to be.
const run_value& value_at(const sequence& s, const run_frame& with, std::int32_t at);
const tensor& tensor_at(const step& s, const sequence& of, const run_frame& with, std::size_t input);
// The one element of an input.
std::int64_t integer_at(const step& s, const sequence& of, const run_frame& with, std::size_t input);
void put(const step& s, run_frame& with, std::size_t output, run_value value);
// How many results a step has to have.
std::size_t results_wanted(const step& s);
// A late call as a call, for inputs of which it may depend on what `read_inputs` says.
step bound_step(const step& s, std::span<const tensor> in);
// Steps of several steps, and of lists.
void run_control(const step& s, const sequence& of, run_frame& with);
void run_items(const step& s, const sequence& of, run_frame& with);
bool is_items_op(std::string_view op);
// Refusals name the node.
[[noreturn]] void fail_at(const node& at, std::string_view got, std::string_view wanted, std::string_view advice = {});
// In a handler of that error.
[[noreturn]] void fail_again_at(const node& at, const error& e);
// The value that is a call's operand of that name in the row, if it is one tensor.
std::optional<std::int32_t> operand_of(const step& s, std::string_view name);

// ------------------------------------------------------------------------------------------ models and plans

struct fed_input {
  endpoint at;
  signature is;
  bool operator==(const fed_input&) const = default;
};
struct plan_key {
  std::vector<fed_input> fed;
  std::vector<endpoint> wanted;
  bool variables = false;
  bool operator==(const plan_key&) const = default;
};

// A pointer that any thread reads and replaces.
#ifdef __cpp_lib_atomic_shared_ptr
template <class T>
using shared_slot = std::atomic<std::shared_ptr<T>>;
#elif defined(__GLIBCXX__)
#error "include <memory> before: units would disagree on what a model is"
#else
template <class T>
class shared_slot {  // what that is elsewhere: a pointer and a bit that is set while it is copied
 public:
  inline std::shared_ptr<T> load() const {
    enter();
    std::shared_ptr<T> found = held_;
    leave();
    return found;
  }
  inline void store(std::shared_ptr<T> wanted) {
    enter();
    held_.swap(wanted);  // what was there ends with the argument
    leave();
  }
  inline bool compare_exchange_strong(std::shared_ptr<T>& expected, std::shared_ptr<T> wanted) {
    enter();
    std::shared_ptr<T> found = held_;
    const bool same = found == expected;
    if (same) held_.swap(wanted);
    leave();
    if (!same) expected = std::move(found);
    return same;
  }

 private:
  inline void enter() const {
    while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true, std::memory_order_relaxed);
  }
  inline void leave() const {
    busy_.clear(std::memory_order_release);
    busy_.notify_one();
  }

  mutable std::atomic_flag busy_;
  std::shared_ptr<T> held_;
};
#endif

struct plan_state {
  plan_key key;
  sequence steps;
  std::vector<variable> variables;  // arguments that follow those that are fed
  std::shared_ptr<const graph_def> graph;
  bool guarded = false;
  counted_memory counted;  // of its steps
  mutable shared_slot<const plan_state> without_guards;
  mutable std::atomic<run_frame*> spare = nullptr;
  inline ~plan_state() { delete spare.load(); }
};

struct plan_list {
  std::vector<std::shared_ptr<const plan_state>> plans;  // the newest first
};

// Variables of a model's weights, made at the first request; by node, in order.
struct weight_variables {
  std::vector<std::int32_t> nodes;
  std::vector<variable> variables;
};

struct model_state {
  std::shared_ptr<const graph_def> graph;
  std::vector<std::int32_t> by_name;  // nodes of the main graph, by their names
  std::vector<std::int32_t> inputs_by_key, inputs_by_endpoint, outputs_by_key;
  mutable shared_slot<const std::vector<tensor>> weights;  // by node, after the first request
  mutable shared_slot<const plan_list> plans;
  mutable shared_slot<const weight_variables> variables;
};

// Values of the weights by node. The first request widens them.
std::span<const tensor> weights_of(const model_state& m);
// A node of the main graph by its name, or -1.
std::int32_t node_named(const model_state& m, std::string_view name);
// All nodes, each after what it reads but for NextIteration.
std::vector<std::int32_t> order_of(const function_def& f);
// The value of a Const, or an undefined tensor.
tensor constant_of(const node& at);
// The plan for such inputs, the kept one if there is.
std::shared_ptr<const plan_state> plan_for(const model_state& m, const plan_key& key, std::span<const tensor> values);
std::shared_ptr<const plan_state> plan_without_guards(const model_state& m, const plan_state& of,
                                                      std::span<const tensor> values);
// Runs it; `values` are those of `key.fed`. If a guard does not hold, the plan without guards.
void run_plan(const model_state& m, const plan_state& p, std::span<const tensor> values, std::span<run_value> results,
              std::vector<node_time>* times = nullptr);

// ------------------------------------------------------------------------------------------ planning

// Drops steps whose results nobody reads, numbers the values again and says where each is read last.
void seal(sequence& s);
// Moves transposes after what works in any order of the axes, and leaves out those that undo each other.
void cancel_transposes(sequence& s);
// Makes one call of several where a row does what they do.
void fuse_steps(sequence& s);
// Makes one call of steps that work element by element on arrays of one shape.
void fuse_elements(sequence& s);
// How often each value is read, by steps and as a result.
std::vector<int> reads_of(const sequence& s);

// A while loop of the old control flow, as its nodes say.
struct loop_nodes {
  struct turned {  // a loop variable; -1 where it has no such node
    std::int32_t enter = -1, merge = -1, next = -1, exit = -1;
    std::vector<std::int32_t> switches;
  };
  std::vector<turned> variables;
  std::vector<std::int32_t> invariants;  // Enter nodes
  endpoint condition;
};

struct planning;  // planner.h
// The sequence that gives wanted values of a graph; it is run on `values` of the parameters while it is made.
struct plan_request {
  const model_state* model = nullptr;
  const graph_def* graph = nullptr;
  const function_def* function = nullptr;
  bool guards = false;
  planning* shared = nullptr;
  int depth = 0;  // of functions in each other
};
sequence make_sequence(const plan_request& how, std::span<const endpoint> params, std::span<const endpoint> wanted,
                       std::span<const run_value> values);

}  // namespace kerngrad::graph::detail

#endif  // KERNGRAD_MODULES_GRAPH_PLAN_H_
