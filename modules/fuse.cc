// SPDX-License-Identifier: Apache-2.0
// Fused functions: an expression over elementwise ops, read by the compiler into a program that computes a block of
// elements at a time, on the kernels that single ops run on, and its derivative as another such program.
module;
#include "kernels/abi.h"
export module kerngrad:fuse;

import :std;
import :core;
import :op;
import :launch;
import :table;
import :tensor;
import :entry;
import :engine;
import :call;
import :rule;
import :symbol;
import :fuse_rules;
import :own;
import :grad;

namespace kerngrad::detail {

/// A reduction at the end of an expression.
struct fused_tail {
  const op_entry* op = nullptr;  // null: there is none
  std::optional<int> axis;
  bool keep_dims = false;
};

/// A program: steps in an order in which they can run, and which of them are results.
struct fused_program {
  std::span<const fused_step> steps;
  std::span<const std::int16_t> results;  // -1: there is none, an operand has no gradient
  int operands = 0;
  int frame = 0;    // the step that has the shape of a block's walk: all elements of all results
  int buffers = 0;  // how many steps' results are alive at once and are no result of the program
  int singles = 0;  // how often a number is an operand
  fused_tail tail{};
};

/// What a fused function is at run time.
struct fused_parts {
  const fused_program* value = nullptr;
  const fused_program* gradient = nullptr;  // null: an op in it has no gradient rule
};

/// Runs a fused function on tensors; records it as one step of the tape.
tensor run_fused(const fused_parts& parts, std::span<const tensor* const> in);
/// Value and gradients in one pass. False: nothing was done, somebody records, watches, or dtypes differ.
bool run_fused_with_gradients(const fused_program& program, std::span<const tensor* const> in, tensor& value,
                              std::span<tensor> grads);

// ------------------------------------------------------------------------------------------ reading

/// What is read off an expression.
enum class fused_kind { value, gradient, value_and_gradient };

/// A program under construction.
struct drawn_program {
  std::vector<fused_step> steps;
  std::vector<int> results;
  int frame = 0, buffers = 0, singles = 0;
  fused_tail tail{};
  bool has_gradient = true;  // every op on the way has a rule, and something flows to the result
};

template <class F, std::size_t... I>
constexpr auto read_expression(step_list& list, std::index_sequence<I...>) {
  const auto operand = [&](std::size_t i) {
    return symbol{&list, list.add({.kind = step_kind::operand, .place = static_cast<std::int8_t>(i)})};
  };
  return F{}(operand(I)...);
}

constexpr symbol last_step(symbol y, fused_tail&) { return y; }
constexpr symbol last_step(const reduced_symbol& y, fused_tail& tail) {
  tail = {y.op, y.axis, y.keep_dims};
  return y.of;
}

/// Products with ones are their other operand: what the gradient of a result that nobody weighs begins with.
constexpr void drop_ones(std::vector<fused_step>& steps, std::vector<int>& results) {
  std::vector<std::int16_t> stands_for = repeated<std::int16_t>(steps.size(), -1);
  const auto one = [&](std::int16_t i) {
    const fused_step& step = steps[static_cast<std::size_t>(i)];
    return step.kind == step_kind::constant && step.numbers[0] == 1;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    stands_for[i] = static_cast<std::int16_t>(i);
    for (std::int16_t& k : steps[i].in)
      if (k >= 0) k = stands_for[static_cast<std::size_t>(k)];
    if (steps[i].kind != step_kind::op || steps[i].row->name != "Multiply") continue;
    if (one(steps[i].in[0])) stands_for[i] = steps[i].in[1];
    else if (one(steps[i].in[1])) stands_for[i] = steps[i].in[0];
  }
  for (int& r : results)
    if (r >= 0) r = stands_for[static_cast<std::size_t>(r)];
}

/// Leaves out the steps that no result needs.
constexpr void drop_unused(drawn_program& p) {
  step_marks used = repeated<char>(p.steps.size(), 0);
  used[static_cast<std::size_t>(p.frame)] = true;
  for (int r : p.results)
    if (r >= 0) used[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = p.steps.size(); i-- > 0;)
    for (std::int16_t k : p.steps[i].in)
      if (used[i] && k >= 0) used[static_cast<std::size_t>(k)] = true;
  std::vector<int> moved = repeated(p.steps.size(), -1);
  std::vector<fused_step> kept;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    if (!used[i]) continue;
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(p.steps[i]);
    for (std::int16_t& k : kept.back().in)
      if (k >= 0) k = static_cast<std::int16_t>(moved[static_cast<std::size_t>(k)]);
  }
  p.steps = kept;
  p.frame = moved[static_cast<std::size_t>(p.frame)];
  for (int& r : p.results)
    if (r >= 0) r = moved[static_cast<std::size_t>(r)];
}

/// Gives every op that is no result a buffer, which is free again after the last step that reads it.
constexpr void give_buffers(drawn_program& p) {
  std::vector<std::size_t> last = repeated<std::size_t>(p.steps.size(), 0);
  step_marks is_result = repeated<char>(p.steps.size(), 0);
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    for (std::int16_t k : p.steps[i].in)
      if (k >= 0) last[static_cast<std::size_t>(k)] = i;
  for (int r : p.results)
    if (r >= 0) is_result[static_cast<std::size_t>(r)] = true;
  // A Cast to the dtype that its operand has is that operand: who reads the one reads the other.
  for (std::size_t i = p.steps.size(); i-- > 0;) {
    if (p.steps[i].kind != step_kind::op || p.steps[i].row->launch != launch::cast) continue;
    std::size_t& read = last[static_cast<std::size_t>(p.steps[i].in[0])];
    if (read < last[i]) read = last[i];
  }
  step_marks taken;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    fused_step& step = p.steps[i];
    if (step.kind != step_kind::op) continue;
    for (std::int16_t k : step.in)
      if (k >= 0 && p.steps[static_cast<std::size_t>(k)].kind != step_kind::op) ++p.singles;
    if (!is_result[i]) {
      std::size_t free = 0;
      while (free < taken.size() && taken[free]) ++free;
      if (free == taken.size()) taken.push_back(false);
      taken[free] = true;
      step.buffer = static_cast<std::int8_t>(free);
    }
    // The result of a step never shares memory with its operands: they are given back after it.
    for (std::int16_t k : step.in) {
      if (k < 0) continue;
      const fused_step& read = p.steps[static_cast<std::size_t>(k)];
      if (read.buffer >= 0 && last[static_cast<std::size_t>(k)] == i)
        taken[static_cast<std::size_t>(read.buffer)] = false;
    }
  }
  p.buffers = static_cast<int>(taken.size());
}

template <class F, std::size_t N>
constexpr drawn_program draw(fused_kind what) {
  step_list list;
  drawn_program p;
  const symbol root = last_step(read_expression<F>(list, std::make_index_sequence<N>{}), p.tail);
  p.frame = root.at;
  if (what != fused_kind::gradient) p.results.push_back(root.at);
  if (what != fused_kind::value) {
    symbol seed;
    if (what == fused_kind::gradient) {
      seed = {&list, list.add({.kind = step_kind::operand, .place = static_cast<std::int8_t>(N)})};
      p.frame = seed.at;
    } else {
      seed = constant_step(1, root);
    }
    std::array<symbol, N> grads;
    p.has_gradient = flowing(list.steps)[static_cast<std::size_t>(root.at)] && differentiate(root, seed, grads);
    for (const symbol& g : grads) p.results.push_back(g.at);
    drop_ones(list.steps, p.results);
  }
  p.steps = list.steps;
  drop_unused(p);
  give_buffers(p);
  return p;
}

/// A program in the memory of the program that uses it.
template <class F, std::size_t N, fused_kind What>
struct program_of {
  static constexpr std::array<std::size_t, 2> sizes = [] {
    const drawn_program p = draw<F, N>(What);
    return std::array{p.steps.size(), p.results.size()};
  }();
  static_assert(sizes[0] < 1000, "[fuse] an expression of a thousand steps: split it");
  struct parts {
    std::array<fused_step, sizes[0]> steps{};
    std::array<std::int16_t, sizes[1]> results{};
    int frame = 0, buffers = 0, singles = 0;
    fused_tail tail{};
    bool has_gradient = false;
  };
  static constexpr parts whole = [] {
    const drawn_program p = draw<F, N>(What);
    parts all{
        .frame = p.frame, .buffers = p.buffers, .singles = p.singles, .tail = p.tail, .has_gradient = p.has_gradient};
    for (std::size_t i = 0; i < sizes[0]; ++i) all.steps[i] = p.steps[i];
    for (std::size_t i = 0; i < sizes[1]; ++i) all.results[i] = static_cast<std::int16_t>(p.results[i]);
    return all;
  }();
  static_assert(whole.buffers < 100, "[fuse] an expression that keeps a hundred values at once: split it");
  static constexpr fused_program program{whole.steps,   whole.results, static_cast<int>(N), whole.frame,
                                         whole.buffers, whole.singles, whole.tail};
};

template <class F, std::size_t N>
inline constexpr fused_parts parts_of{&program_of<F, N, fused_kind::value>::program,
                                      program_of<F, N, fused_kind::gradient>::whole.has_gradient
                                          ? &program_of<F, N, fused_kind::gradient>::program
                                          : nullptr};

template <class F, class Operands>
inline constexpr bool takes_symbols = false;
template <class F, std::size_t... I>
inline constexpr bool takes_symbols<F, std::index_sequence<I...>> =
    std::is_invocable_v<const F&, decltype(static_cast<void>(I), symbol())...>;
template <class F, class Operands>
struct read_as;
template <class F, std::size_t... I>
struct read_as<F, std::index_sequence<I...>> {
  using type = std::invoke_result_t<const F&, decltype(static_cast<void>(I), symbol())...>;
};

/// The checks of a fused expression on N operands; the first mistake is the one that is reported.
template <class F, std::size_t N>
consteval bool can_fuse() {
  if constexpr (!takes_symbols<F, std::make_index_sequence<N>>) {
    static_assert(takes_symbols<F, std::make_index_sequence<N>>,
                  "[fuse] the expression must be callable with as many operands as the fused function is called with: "
                  "a generic lambda like [](auto x, auto y) { return x * kg::sigmoid(y); }");
    return false;
  } else {
    using result = typename read_as<F, std::make_index_sequence<N>>::type;
    static_assert(symbolic<result>, "[fuse] the expression must return what it computed from its operands");
    return symbolic<result>;
  }
}

template <class Op>
inline constexpr symbolic_gradient own_symbolic_rules = [] {
  if constexpr (has_own_gradient<Op>) return symbolic_rules<Op::row>(Op::gradient);
  else return symbolic_gradient{};
}();
template <class Op>
consteval bool kernels_by_element() {
  for (const own_kernel& k : Op::kernels)
    if (k.slot.direct) return false;
  return true;
}

template <class T>
const tensor& first_tensor(const T& x, const auto&... rest) {
  if constexpr (std::is_same_v<T, tensor>) return x;
  else return first_tensor(rest...);
}
template <class T>
tensor as_operand(const T& x, const tensor& like) {
  if constexpr (std::is_same_v<T, tensor>) return x;
  else return literal_like(x, like);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// An op from outside the library in an expression that is being read.
template <class Op, class... Args>
  requires(symbolic<Args> || ...)
constexpr symbol call(const Args&... args) {
  static_assert(detail::kernels_by_element<Op>(),
                "[fuse] an op whose kernel takes the whole call cannot be fused: give it a kernel per element or per "
                "pair, or call it outside of the expression");
  return detail::symbol_call<Op>(&detail::own_entry<Op>, &detail::own_symbolic_rules<Op>, args...);
}

/// A function of tensors that runs as one: what `fuse` makes.
template <class F>
class fused {
 public:
  /// The value, for tensors that broadcast, and numbers, which take the dtype of the first tensor. Bits, shape and
  /// dtype are those of the same ops called one by one; what one of them refuses is refused with its name, before
  /// anything is computed. While a gradient is recorded the call is one step of the tape.
  template <class... T>
    requires(std::same_as<T, tensor> || ...)
  tensor operator()(const T&... xs) const {
    static_assert(((std::same_as<T, tensor> || std::is_arithmetic_v<T>) && ...),
                  "[fuse] operands of a fused function are tensors and numbers");
    if constexpr (detail::can_fuse<F, sizeof...(T)>()) {
      if constexpr ((std::same_as<T, tensor> && ...)) {
        const tensor* const in[] = {&xs...};
        return detail::run_fused(detail::parts_of<F, sizeof...(T)>, in);
      } else {
        const tensor& like = detail::first_tensor(xs...);
        const tensor all[] = {detail::as_operand(xs, like)...};
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          const tensor* const in[] = {&all[I]...};
          return detail::run_fused(detail::parts_of<F, sizeof...(T)>, in);
        }(std::index_sequence_for<T...>{});
      }
    } else {
      return {};
    }
  }

  /// The value and the gradients of the sum of its elements, in one pass over the operands: what
  /// `kg::value_and_grads(f)` gives, without running the expression twice.
  template <std::same_as<tensor>... T>
    requires(sizeof...(T) > 0)
  value_and_gradients<sizeof...(T)> value_and_grads(const T&... xs) const {
    constexpr std::size_t count = sizeof...(T);
    if constexpr (detail::can_fuse<F, count>()) {
      using both = detail::program_of<F, count, detail::fused_kind::value_and_gradient>;
      static_assert(both::whole.has_gradient,
                    "[fuse] there is no gradient: the result is no number, or an op of the expression has no gradient "
                    "rule, as its row says");
      value_and_gradients<count> out;
      const tensor* const in[] = {&xs...};
      if constexpr (both::whole.has_gradient && !both::whole.tail.op)
        if (detail::run_fused_with_gradients(both::program, in, out.value, out.grads)) return out;
      return kerngrad::value_and_grads(*this)(xs...);
    } else {
      return {};
    }
  }
};

/// Reads an expression and gives a function that computes it in one pass:
///   constexpr auto swish = kg::fuse([](auto x, auto y, auto z) { return x * kg::sigmoid(x) * y + z; });
///   kg::tensor r = swish(a, b, c);
/// The expression is a generic lambda without captures over its operands: elementwise ops, known ones and those from
/// outside the library, operators, numbers, `where`, comparisons, `cast`, and at the end, if wanted, one of sum, mean,
/// prod, max and min. Anything else is a compile error. Its derivative comes from the gradient rules of its ops.
template <class F>
constexpr fused<F> fuse(F) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "[fuse] the expression must be a lambda without captures: what it needs are operands of the fused "
                "function, numbers among them");
  return {};
}

}  // namespace kerngrad
