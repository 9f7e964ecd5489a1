// SPDX-License-Identifier: Apache-2.0
// What makes a sequence of a graph. Included in the purview of kerngrad.graph, after plan.h.
#ifndef KERNGRAD_MODULES_GRAPH_PLANNER_H_
#define KERNGRAD_MODULES_GRAPH_PLANNER_H_

namespace kerngrad::graph::detail {

// A number for each endpoint of a graph.
class endpoint_table {
 public:
  inline endpoint_table(std::size_t nodes, std::int32_t unset) : of_(nodes), unset_(unset) {}
  inline std::int32_t at(endpoint e) const {
    const std::vector<std::int32_t>& all = of_[static_cast<std::size_t>(e.node)];
    return static_cast<std::size_t>(e.output) < all.size() ? all[static_cast<std::size_t>(e.output)] : unset_;
  }
  inline bool has(endpoint e) const { return at(e) != unset_; }
  inline std::int32_t& operator[](endpoint e) {
    std::vector<std::int32_t>& all = of_[static_cast<std::size_t>(e.node)];
    if (all.size() <= static_cast<std::size_t>(e.output)) all.resize(static_cast<std::size_t>(e.output) + 1, unset_);
    return all[static_cast<std::size_t>(e.output)];
  }
  // How many outputs of a node have been named.
  inline std::size_t outputs(std::int32_t node) const { return of_[static_cast<std::size_t>(node)].size(); }

 private:
  std::vector<std::vector<std::int32_t>> of_;
  std::int32_t unset_;
};

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

// A sequence that grows: of a graph, and of the functions that it calls in place.
struct growing {
  sequence made;
  run_frame frame;           // values of the run while planning
  std::vector<bool> fixed;   // whether the shape of a value follows from those of the inputs
  std::vector<int> waiting;  // how many readers of a value are to come
};

class planner {
 public:
  inline planner(const plan_request& how, bool traced, growing& to)
      : how_(how),
        f_(*how.function),
        traced_(traced),
        to_(to),
        slots_(f_.nodes.size(), no_value),
        readers_(f_.nodes.size(), 0) {}
  // Makes all of the sequence. The last `roots` of the parameters are values of the graph's own that loops may read,
  // too.
  void make(std::span<const std::vector<endpoint>> params, std::span<const endpoint> wanted,
            std::span<const run_value> values, std::size_t roots);
  // Adds a function's steps to it. `arguments` are values, the results those of `wanted`.
  std::vector<std::int32_t> add_function(std::span<const std::int32_t> arguments, std::span<const endpoint> wanted);

 private:
  inline const node& at(std::int32_t i) const { return f_.nodes[static_cast<std::size_t>(i)]; }
  const tensor* weight(std::int32_t i) const;
  const loop_nodes& loop_ended_by(std::int32_t exit);
  const function_def& function_of(const node& who, std::string_view attr) const;
  std::vector<endpoint> needs_of(std::int32_t i);
  std::vector<std::int32_t> in_order(std::span<const endpoint> wanted);

  // Values of the sequence and what the graph calls them.
  inline std::int32_t constant(run_value v) {
    to_.made.constants.push_back(std::move(v));
    return ~static_cast<std::int32_t>(to_.made.constants.size() - 1);
  }
  inline std::int32_t value(bool fixed) {
    to_.fixed.push_back(fixed), to_.waiting.push_back(0);
    return to_.made.values++;
  }
  inline bool is_fixed(std::int32_t v) const { return v < 0 || to_.fixed[static_cast<std::size_t>(v)]; }
  bool is_absent(std::int32_t v) const;
  inline const run_value& seen(std::int32_t v) const { return value_at(to_.made, to_.frame, v); }
  // Readers of a value are to come; one of them has read it. What was computed while planning is freed after the last.
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
  std::shared_ptr<const sequence> part(const function_def& f, std::span<const std::vector<endpoint>> params,
                                       std::span<const endpoint> wanted, std::span<const run_value> constants,
                                       std::size_t roots) const;

  step step_for(std::int32_t i, step_kind kind) const;
  void make_registered(step& s, const op_mapping* m) const;
  void bind_now(step& s);
  bool folds(const step& s) const;
  bool gives_fixed(const step& s) const;
  void add(step s, std::span<const endpoint> results, bool fixed);
  void guard(endpoint e);

  const plan_request& how_;
  const function_def& f_;
  const bool traced_;
  growing& to_;
  std::vector<endpoint> roots_;
  endpoint_table slots_;    // the value of an endpoint
  endpoint_table readers_;  // how many read it
  std::vector<std::unique_ptr<const loop_nodes>> loops_;
};

}  // namespace kerngrad::graph::detail

#endif  // KERNGRAD_MODULES_GRAPH_PLANNER_H_
