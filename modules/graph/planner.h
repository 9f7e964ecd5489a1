// SPDX-License-Identifier: Apache-2.0
// Makes a sequence of a graph. Included in the purview of kerngrad.graph, after plan.h.
#ifndef KERNGRAD_MODULES_GRAPH_PLANNER_H_
#define KERNGRAD_MODULES_GRAPH_PLANNER_H_

namespace kerngrad::graph::detail {

// Numbers of endpoints. It takes memory for those that were named alone, however large a graph is and whatever outputs
// it names: a plan has a table for each function that it plans.
class endpoint_table {
 public:
  inline explicit endpoint_table(std::int32_t unset) : slots_(16, -1), unset_(unset) {}
  inline std::int32_t at(endpoint e) const {
    const std::int32_t found = slots_[slot_for(e)];
    return found < 0 ? unset_ : entries_[static_cast<std::size_t>(found)].number;
  }
  inline bool has(endpoint e) const { return at(e) != unset_; }
  inline std::int32_t& operator[](endpoint e) {
    const std::int32_t found = slots_[slot_for(e)];
    return entries_[static_cast<std::size_t>(found < 0 ? add(e) : found)].number;
  }
  // The outputs of a node that have been named, and the first one, in ascending order.
  std::vector<std::int32_t> outputs(std::int32_t node) const;

 private:
  // Output -1 of a node is where the chain of its outputs after the first begins.
  struct entry {
    endpoint at;
    std::int32_t number, chained;
  };
  inline std::size_t slot_for(endpoint e) const {
    std::uint64_t key =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.node)) << 32 | static_cast<std::uint32_t>(e.output);
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    std::size_t i = (key ^ key >> 32) & (slots_.size() - 1);
    while (slots_[i] >= 0 && !(entries_[static_cast<std::size_t>(slots_[i])].at == e))
      i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  inline void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t i = 0; i < entries_.size(); ++i) slots_[slot_for(entries_[i].at)] = static_cast<std::int32_t>(i);
  }
  inline std::int32_t add(endpoint e) {
    std::int32_t head = -1;
    if (e.output > 0) {
      head = slots_[slot_for({e.node, -1})];
      if (head < 0) head = add({e.node, -1});
    }
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const auto made = static_cast<std::int32_t>(entries_.size());
    slots_[slot_for(e)] = made;
    entries_.push_back({e, unset_, -1});
    if (head >= 0) entries_.back().chained = std::exchange(entries_[static_cast<std::size_t>(head)].chained, made);
    return made;
  }

  std::vector<std::int32_t> slots_;  // of entries; a power of two of them, at most half of them taken
  std::vector<entry> entries_;
  std::int32_t unset_;
};

// A value of a plan: its handle and its shape while planning.
inline constexpr std::int64_t value_bytes = sizeof(run_value) + sizeof(std::optional<signature>);
inline constexpr std::int32_t no_value = std::numeric_limits<std::int32_t>::min();

inline bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (name == op) return true;
  return false;
}
inline bool is_constant_op(std::string_view op) {
  return is_one_of(op, {"Const", "VarHandleOp", "VariableV2", "Variable"});
}
inline bool is_identity_op(std::string_view op) {
  return is_one_of(op, {"Identity", "IdentityN", "Snapshot", "ReadVariableOp", "Print", "PreventGradient",
                        "FakeQuantWithMinMaxVars", "PlaceholderWithDefault", "LoopCond"});
}
inline bool is_call_op(std::string_view op) { return is_one_of(op, {"PartitionedCall", "StatefulPartitionedCall"}); }
inline bool is_branch_op(std::string_view op) { return is_one_of(op, {"If", "StatelessIf"}); }
inline bool is_while_op(std::string_view op) { return is_one_of(op, {"While", "StatelessWhile"}); }

// The loops of a function: found once, and looked up by the Enters' frames.
class loop_table {
 public:
  explicit loop_table(const function_def& f);
  // The loop that a node ends. Throws for an Exit that no loop has.
  const loop_nodes& ended_by(std::int32_t exit) const;

 private:
  const function_def& f_;
  std::vector<loop_nodes> loops_;
  std::vector<std::pair<std::string_view, std::int32_t>> by_frame_;  // sorted
};

// State that the functions of one plan share.
struct planning {
  inline planning(const graph_def& graph, run_state& run)
      : loops(graph.library.size() + 1), run(run), left(graph.limits.bytes) {}
  // Takes bytes of what the plan may have: for constants that it computes, and for its steps and values.
  void take(std::int64_t bytes);
  void take_for_steps(std::int64_t bytes);
  const loop_table& loops_of(const graph_def& graph, const function_def& f);

  std::vector<std::unique_ptr<const loop_table>> loops;  // of the main function, then of those of the library
  run_state& run;
  int bodies = 0;
  std::int64_t left;
  counted_memory counted;  // of steps and values

 private:
  std::int64_t taken_ = 0;
};

// A sequence that grows: of a graph, and of the functions that it calls in place.
struct growing {
  inline explicit growing(run_state& run) { frame.run = &run; }
  sequence made;
  run_frame frame;           // values of the run while planning
  std::vector<bool> fixed;   // whether the shape of a value follows from those of the inputs
  std::vector<int> waiting;  // how many readers of a value are to come
};

class planner {
 public:
  inline planner(const plan_request& how, bool traced, growing& to)
      : how_(how), f_(*how.function), traced_(traced), to_(to), slots_(no_value), readers_(0) {}
  // Makes all of the sequence. `roots` are values of the graph's own that loops may read, too: those that this one
  // reads become parameters, after `params`.
  void make(std::span<const std::vector<endpoint>> params, std::span<const endpoint> wanted,
            std::span<const run_value> values, const endpoint_table* roots);
  // Adds a function's steps to it. `arguments` are values, the results those of `wanted`.
  std::vector<std::int32_t> add_function(std::span<const std::int32_t> arguments, std::span<const endpoint> wanted);

 private:
  inline const node& at(std::int32_t i) const { return f_.nodes[static_cast<std::size_t>(i)]; }
  const tensor* weight(std::int32_t i) const;
  inline const loop_nodes& loop_ended_by(std::int32_t exit) const {
    return how_.shared->loops_of(*how_.graph, f_).ended_by(exit);
  }
  const function_def& function_of(const node& who, std::string_view attr) const;
  std::vector<endpoint> needs_of(std::int32_t i);
  std::vector<std::int32_t> in_order(std::span<const endpoint> wanted);

  // Values of the sequence and what the graph calls them.
  inline std::int32_t constant(run_value v) {
    how_.shared->take_for_steps(sizeof(run_value));
    return to_.made.constants.add(std::move(v));
  }
  inline std::int32_t value(bool fixed) {
    how_.shared->take_for_steps(value_bytes);
    to_.fixed.push_back(fixed), to_.waiting.push_back(0);
    return to_.made.values++;
  }
  inline bool is_fixed(std::int32_t v) const { return v < 0 || to_.fixed[static_cast<std::size_t>(v)]; }
  bool is_absent(std::int32_t v) const;
  // By value: values of the run move when the next step gets its own.
  inline run_value seen(std::int32_t v) const { return value_at(to_.made, to_.frame, v); }
  // Readers of a value are to come; one of them has read it. Values computed while planning are freed after the last.
  inline void expect(std::int32_t v, int readers) {
    if (v >= 0) to_.waiting[static_cast<std::size_t>(v)] += readers;
  }
  inline void let_go(std::int32_t v) {
    if (v >= 0 && --to_.waiting[static_cast<std::size_t>(v)] == 0) to_.frame.values[static_cast<std::size_t>(v)] = {};
  }
  // Writes down the shape of a value that is the newest.
  void note(std::int32_t v);
  void name(endpoint e, std::int32_t v);
  std::int32_t slot(endpoint e) const;
  // The value of one of the graph's roots, which becomes a parameter where it is none yet.
  std::int32_t root(endpoint e);
  std::vector<endpoint> results_of(std::int32_t i) const;
  void alias(std::int32_t i, std::size_t input);

  void emit(std::int32_t i);
  void emit_constant(std::int32_t i);
  void emit_choice(std::int32_t i);
  void emit_merge(std::int32_t i);
  void emit_loop(std::int32_t exit);
  void emit_functions(std::int32_t i);
  void emit_in_place(std::int32_t i, std::string_view attr, std::size_t first);
  void emit_work(std::int32_t i);
  plan_request inside(const function_def& f) const;
  // A sequence of its own. `read` are roots among its last parameters; those that it reads besides are added to both.
  std::shared_ptr<const sequence> part(const function_def& f, std::vector<std::vector<endpoint>>& params,
                                       std::span<const endpoint> wanted, std::span<const run_value> constants,
                                       std::vector<endpoint>* read) const;

  step step_for(std::int32_t i, plan_step_kind kind) const;
  void make_registered(step& s, const op_mapping* m) const;
  void bind_now(step& s);
  bool folds(const step& s) const;
  bool gives_fixed(const step& s) const;
  void add(step s, std::span<const endpoint> results, bool fixed);
  // The step of a node, whose results are those that are read.
  void add_node(step s, std::int32_t i, bool fixed);
  void run_while_planning(const step& s, bool folded);
  std::int64_t bytes_of_constant(const step& s, const tensor& x) const;
  void guard(endpoint e);

  const plan_request& how_;
  const function_def& f_;
  const bool traced_;
  growing& to_;
  const endpoint_table* roots_ = nullptr;  // not unset: one of them
  std::vector<endpoint> roots_read_;
  endpoint_table slots_;    // the value of an endpoint
  endpoint_table readers_;  // how many read it
};

}  // namespace kerngrad::graph::detail

#endif  // KERNGRAD_MODULES_GRAPH_PLANNER_H_
