// SPDX-License-Identifier: Apache-2.0
// User-defined ops, at compile time: a type with a row, kernels and a gradient rule is called, validated,
// recorded and tested like a built-in op.
module;
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
export module kerngrad:own;

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
import :backend;
import :registry;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ kernels

/// A kernel of a custom op: the dtype that it computes in, and its code. `per_element`, `per_pair`, `on_call` and
/// `simd_kernel` make it.
struct own_kernel {
  dtype type = dtype::float32;
  kernel_slot slot{};
  bool plain_cpp = false;  ///< per-element or span code, compiled for the baseline; explain() says so
  int numbers = -1;        ///< number of attributes that a kernel per element takes; -1 for other kernels
};

/// Makes a kernel of a custom op from a Highway kernel that was declared with <kerngrad/declare.h>:
/// `kg::simd_kernel(KERNGRAD_ENTRY_UNARY(my, Softshrink, float32))`.
consteval own_kernel simd_kernel(const kernels::entry& declared) {
  return {declared.type, {declared.run, declared.flat1, declared.flat2, nullptr}, false};
}

/// Makes a kernel from a function of one element and up to two numeric attributes, which are double and have the order
/// of the op's `row`: `per_element<float>([](float x, double lambda) { ... })`. It is baseline code: the compiler may
/// vectorize it for the CPU that the program is built for.
template <element T, class F>
consteval own_kernel per_element(F);
/// Makes a kernel from a function of two elements; operands broadcast: `per_pair<float>([](float a, float b) { ... })`.
template <element T, class F>
consteval own_kernel per_pair(F);
/// Makes a kernel from a function of the whole call: `on_call<float>([](const launch_call& c) { ... })`. The function
/// gets shapes, attributes and elements of operands and results, checked by the op's `row`. The elements of the results
/// are uninitialized.
template <element T, class F>
consteval own_kernel on_call(F);
/// Makes the kernels of all dtypes of a set, the op's member `kernels`, from a template of such a function:
/// `on_calls<any_dtype>([]<class T>(const launch_call& c) { ... })`.
template <dtype_set Set, class F>
consteval auto on_calls(F);

/// Makes the list of an op's kernels, one per dtype, for its member `kernels` or `reference`.
template <std::same_as<own_kernel>... Kernels>
consteval std::array<own_kernel, sizeof...(Kernels)> kernel_list(Kernels... kernels) {
  return {kernels...};
}

}  // namespace kerngrad

namespace kerngrad::detail {

template <class F>
concept stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;

template <class T, class F, class... Numbers>
inline void each_element(const void* x, void* y, std::size_t n, Numbers... numbers) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = F{}(from[i], numbers...);
}

// Walks a broadcast geometry: the innermost axis in a loop, the others by counting.
template <class T, class F>
void each_pair(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const kernels::broadcast_geometry*>(geometry);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  const int last = g.rank - 1;
  std::int64_t index[max_rank] = {};
  for (;;) {
    for (std::int64_t i = 0; i < g.dims[last]; ++i) *y++ = F{}(a[i * g.strides[0][last]], b[i * g.strides[1][last]]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      a += g.strides[0][axis], b += g.strides[1][axis];
      if (++index[axis] < g.dims[axis]) break;
      a -= g.strides[0][axis] * g.dims[axis], b -= g.strides[1][axis] * g.dims[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

// The dtypes that a row's kernels may be asked to compute in, when there are kernels for these.
consteval dtype_set asked_of(const op_row& row, dtype_set there) {
  dtype_set set{};
  bool any = false;
  for (const operand& o : row.operands) {
    if (o.part != role::value) continue;
    any = true;
    for (int t = 0; t < dtype_count; ++t)
      if (o.types.has(static_cast<dtype>(t)))
        set = set | only(computed_in(lifted(static_cast<dtype>(t), row.types.before), there));
  }
  return any ? set : only(dtype::float32);
}

template <std::size_t N>
consteval dtype_set dtypes_of(const std::array<own_kernel, N>& kernels) {
  dtype_set set{};
  for (const own_kernel& k : kernels) set = set | only(k.type);
  return set;
}

template <std::size_t N>
consteval bool one_a_dtype(const std::array<own_kernel, N>& kernels) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kernels[i].type == kernels[j].type) return false;
  return true;
}

// True if a kernel is written for what the row's launcher hands over, as far as the kernel's forms tell.
consteval bool fits_launcher(const kernel_slot& slot, bool plain_cpp, const op_row& row) {
  if (slot.direct) return true;
  const bool unary = row.convention == convention::unary, binary = row.convention == convention::binary;
  if (unary && (slot.flat2 || row.operands.size() != 1 || row.attrs.size() > 2)) return false;
  if (binary && (!slot.flat2 || row.operands.size() != 2)) return false;
  return !plain_cpp || (slot.flat2 ? binary || row.convention == convention::add_n : unary);
}
template <std::size_t N>
consteval bool fit_launcher(const std::array<own_kernel, N>& kernels, const op_row& row) {
  for (const own_kernel& k : kernels)
    if (!fits_launcher(k.slot, k.plain_cpp, row)) return false;
  return true;
}

template <std::size_t N>
consteval bool take_calls(const std::array<own_kernel, N>& kernels) {
  for (const own_kernel& k : kernels)
    if (!k.slot.direct) return false;
  return true;
}
// True if the row has no convention and no launcher, and every kernel takes the call as it is.
template <class Op>
consteval bool needs_no_launcher() {
  bool all = Op::row.convention == convention::custom && Op::row.launch == nullptr;
  if constexpr (requires { take_calls(Op::kernels); }) all = all && take_calls(Op::kernels);
  else all = false;
  if constexpr (requires { take_calls(Op::reference); }) all = all && take_calls(Op::reference);
  return all;
}

template <std::size_t N>
consteval std::array<kernel_slot, dtype_count> slots_by_dtype(const std::array<own_kernel, N>& kernels) {
  std::array<kernel_slot, dtype_count> slots{};
  for (const own_kernel& k : kernels) slots[static_cast<std::size_t>(k.type)] = k.slot;
  return slots;
}

template <std::size_t N>
consteval dtype_set plain_dtypes_of(const std::array<own_kernel, N>& kernels) {
  dtype_set set{};
  for (const own_kernel& k : kernels)
    if (k.plain_cpp) set = set | only(k.type);
  return set;
}

template <std::size_t N>
consteval bool take_attributes(const std::array<own_kernel, N>& kernels, std::size_t count) {
  for (const own_kernel& k : kernels)
    if (k.numbers >= 0 && static_cast<std::size_t>(k.numbers) != count) return false;
  return true;
}

template <class T>
inline constexpr std::size_t rule_size = 0;
template <class... F>
inline constexpr std::size_t rule_size<rule_parts<F...>> = sizeof...(F);

}  // namespace kerngrad::detail

export namespace kerngrad {

template <element T, class F>
consteval own_kernel per_element(F) {
  static_assert(detail::stateless<F>, "a kernel per element must be a lambda without captures or an empty functor");
  constexpr bool none = std::is_invocable_r_v<T, F, T>;
  constexpr bool one = std::is_invocable_r_v<T, F, T, double>, two = std::is_invocable_r_v<T, F, T, double, double>;
  static_assert(none || one || two,
                "a kernel per element must take one element and up to two numbers, and give an element");
  own_kernel k{dtype_of<T>, {}, true, none ? 0 : one ? 1 : two ? 2 : -1};
  if constexpr (none) {
    k.slot.flat1 = [](const void* x, void* y, std::size_t n) { detail::each_element<T, F>(x, y, n); };
    k.slot.run = [](const void* const* in, void* const* out, const void* geometry) {
      const auto& g = *static_cast<const kernels::unary_geometry*>(geometry);
      detail::each_element<T, F>(in[0], out[0], static_cast<std::size_t>(g.count));
    };
  } else {
    k.slot.run = [](const void* const* in, void* const* out, const void* geometry) {
      const auto& g = *static_cast<const kernels::unary_geometry*>(geometry);
      const std::size_t n = static_cast<std::size_t>(g.count);
      if constexpr (!one && !two) return;  // one mistake, one message
      else if constexpr (one) detail::each_element<T, F>(in[0], out[0], n, g.params[0]);
      else detail::each_element<T, F>(in[0], out[0], n, g.params[0], g.params[1]);
    };
  }
  return k;
}

template <element T, class F>
consteval own_kernel per_pair(F) {
  static_assert(detail::stateless<F>, "a kernel per pair must be a lambda without captures or an empty functor");
  static_assert(std::is_invocable_r_v<T, F, T, T>, "a kernel per pair must take two elements and give one");
  own_kernel k{dtype_of<T>, {}, true};
  k.slot.flat2 = [](const void* a, const void* b, void* y, std::size_t n) {
    const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
    T* to = static_cast<T*>(y);
    for (std::size_t i = 0; i < n; ++i) to[i] = F{}(p[i], q[i]);
  };
  k.slot.run = detail::each_pair<T, F>;
  return k;
}

template <element T, class F>
consteval own_kernel on_call(F) {
  static_assert(detail::stateless<F>, "a kernel on a call must be a lambda without captures or an empty functor");
  static_assert(std::is_invocable_r_v<void, F, const launch_call&>,
                "a kernel on a call must take a const launch_call& and give nothing");
  own_kernel k{dtype_of<T>, {}, true};
  k.slot.direct = [](const launch_call& c) { F{}(c); };
  return k;
}
template <dtype_set Set, class F>
consteval auto on_calls(F) {
  std::array<own_kernel, static_cast<std::size_t>(__builtin_popcount(Set.bits))> all;
  std::size_t next = 0;
  const auto add = [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (Set.has(Type)) all[next++] = on_call<T>([](const launch_call& c) { F{}.template operator()<T>(c); });
  };
  for (int t = 0; t < dtype_count; ++t) visit(static_cast<dtype>(t), add);
  return all;
}

/// The elements of operand i in row-major order, for a kernel of `on_call`; empty for an omitted operand. T is the
/// dtype's C++ type.
template <element T>
std::span<const T> elements_in(const launch_call& c, int i) {
  if (static_cast<std::size_t>(i) >= c.in.size() || !c.in[static_cast<std::size_t>(i)].data) return {};
  const view& x = c.in[static_cast<std::size_t>(i)];
  if (x.type != dtype_of<T>)
    fail(c.call.row.name, "operand " + std::to_string(i) + " read as another dtype", "its own");
  return {static_cast<const T*>(x.data), static_cast<std::size_t>(x.dims.size())};
}
/// The elements of result k in row-major order, for writing. T is the dtype's C++ type.
template <element T>
std::span<T> elements_out(const launch_call& c, int k = 0) {
  const view& y = c.out[static_cast<std::size_t>(k)];
  if (y.type != dtype_of<T>)
    fail(c.call.row.name, "result " + std::to_string(k) + " written as another dtype", "its own");
  return {static_cast<T*>(y.data), static_cast<std::size_t>(y.dims.size())};
}

// ------------------------------------------------------------------------------------------ the op

/// True if the op has a member `row` of type op_row, which describes it.
template <class Op>
concept has_own_row = requires { requires std::same_as<std::remove_cvref_t<decltype(Op::row)>, op_row>; };
/// True if the op's `row` has a name, a line of documentation, a shape rule and a launcher. It needs no launcher if all
/// kernels are made by `on_call`.
template <class Op>
concept row_is_whole = !Op::row.name.empty() && !Op::row.doc.empty() && Op::row.infer != nullptr &&
                       (Op::row.has_launcher() || detail::needs_no_launcher<Op>());
/// True if the declarations of the op's attributes have no fault, so that calls can give them.
template <class Op>
concept attributes_are_sound = attrs_are_sound(Op::row.attrs);
/// True if the op has a list of kernels.
template <class Op>
concept has_own_kernels = requires { detail::dtypes_of(Op::kernels); };
/// True if the op has a kernel for every dtype that its `row` accepts.
template <class Op>
concept kernels_cover_row = [] {
  const dtype_set there = detail::dtypes_of(Op::kernels), asked = detail::asked_of(Op::row, there);
  return (there & asked) == asked;
}();
/// True if the op has at most one kernel per dtype.
template <class Op>
concept kernels_are_single = detail::one_a_dtype(Op::kernels);
/// True if the op's kernels take the geometry struct that the launcher of its `row` makes.
template <class Op>
concept kernels_fit_launcher = detail::fit_launcher(Op::kernels, Op::row);
/// True if the op's kernels of `per_element` take all attributes of its `row`.
template <class Op>
concept kernels_take_attributes = detail::take_attributes(Op::kernels, Op::row.attrs.size());
/// True if the op has a gradient rule.
template <class Op>
concept has_own_gradient = requires { Op::gradient; };
/// True if either the op has a gradient rule or its `row` has the reason for having none.
template <class Op>
concept gradient_is_stated = has_own_gradient<Op> != !Op::row.no_gradient.empty();
/// True if the op's rule has a part for each operand.
template <class Op>
concept rule_has_all_parts = detail::rule_size<std::remove_cvref_t<decltype(Op::gradient)>> == Op::row.operands.size();

}  // namespace kerngrad

namespace kerngrad::detail {

template <class Op>
consteval bool check_own_op() {
  static_assert(has_own_row<Op>, "a user-defined op needs a member `static constexpr kg::op_row row`");
  if constexpr (has_own_row<Op>) {
    static_assert(
        bool(row_is_whole<Op>),
        "an op's row needs a name, a line of documentation, a shape rule and a launcher; kernels that are all "
        "on_call need no launcher");
    static_assert(
        bool(attributes_are_sound<Op>),
        "an attribute of the op's row has no name or another one's, an empty range, or a default that no call "
        "could give");
    static_assert(find_op(Op::row.name) < 0, "a user-defined op has the name of a built-in op: give it another one");
    static_assert(Op::row.operands.size() <= op_gradient::max_operands && Op::row.attrs.size() <= 16 &&
                      Op::row.results.size() <= max_results,
                  "an op's row may have up to 8 operands, 8 named results and 16 attributes");
    static_assert(results_are_sound(Op::row.results), "a result of the op's row has no name, or another one's");
    static_assert(lists_are_last(Op::row.operands), "a list must be the last operand of an op's row");
    static_assert(bool(has_own_kernels<Op>),
                  "a user-defined op needs a member `static constexpr auto kernels = kg::kernel_list(...)`");
    if constexpr (has_own_kernels<Op>) {
      static_assert(bool(kernels_cover_row<Op>),
                    "a dtype that the op's row accepts has no kernel: add one, or narrow the operand's dtypes");
      static_assert(bool(kernels_are_single<Op>), "an op has two kernels for one dtype: keep one");
      static_assert(
          bool(kernels_fit_launcher<Op>),
          "a kernel does not take what its row's calling convention gives: convention::unary is for one operand "
          "and up to two attributes, convention::binary for two operands");
      static_assert(bool(kernels_take_attributes<Op>),
                    "a kernel per element must take as many numbers as the op's row has attributes");
    }
    static_assert(bool(gradient_is_stated<Op>),
                  "a user-defined op needs a member `gradient`, or in its row the reason for having none, not both");
    if constexpr (has_own_gradient<Op>)
      static_assert(bool(rule_has_all_parts<Op>), "a gradient rule must have one part per operand of the op's row");
  }
  return true;
}

template <class Op>
inline constexpr auto own_slots = slots_by_dtype(Op::kernels);
template <class Op>
inline constexpr auto own_reference_slots = [] {
  if constexpr (requires { Op::reference; }) return slots_by_dtype(Op::reference);
  else return slots_by_dtype(Op::kernels);
}();
template <class Op>
inline constexpr std::array<dtype_set, backend_count> own_plain_cpp = [] {
  if constexpr (requires { Op::reference; })
    return std::array{plain_dtypes_of(Op::kernels), plain_dtypes_of(Op::reference)};
  else return std::array{plain_dtypes_of(Op::kernels), plain_dtypes_of(Op::kernels)};
}();
template <class Op>
inline constexpr op_gradient own_gradient = [] {
  if constexpr (has_own_gradient<Op>) return instantiate<Op::row>(Op::gradient);
  else return op_gradient{};
}();

/// The object that the engine takes: one for each program.
template <class Op>
  requires(check_own_op<Op>())
inline constexpr op_entry own_entry = make_entry(Op::row, -1, {own_slots<Op>.data(), own_reference_slots<Op>.data()},
                                                 has_own_gradient<Op> ? &own_gradient<Op> : nullptr, own_plain_cpp<Op>);

// Record of an op for typed calls, for built-in ops and custom ops alike.
template <class Op>
struct entry_of {
  static constexpr const op_entry& get() { return own_entry<Op>; }
};
template <fixed_string Name>
struct entry_of<known<Name>> {
  static const op_entry& get() { return known_entry<op_id<Name>>(); }
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Runs a custom op: `call<my::Softshrink>(x, kg::attr<"lambda">(0.5))`. It does the same as `call<"Name">` of a
/// built-in op, at the same cost. It checks at compile time, validates by the op's `row`, and records for gradients.
template <class Op, class... Args>
inline call_result<Op> call(const Args&... args) {
  static_assert(detail::check_own_op<Op>());
  return detail::invoke<Op>(detail::entry_of<Op>::get(), args...);
}
/// Runs a custom op on a list of operands and returns all its results, as `call_list<"Name">` of a built-in op.
template <class Op, class... Attrs>
tensor_list call_list(std::span<const tensor> operands, const Attrs&... given) {
  return detail::invoke_list<Op>(detail::entry_of<Op>::get(), operands, given...);
}

/// Runs the elementwise kernel of a custom op on spans of one size, as `kernel<"Name">` of a built-in op. Sizes are not
/// checked, except in kerngrad's debug build.
template <class Op, element T>
inline void kernel(std::span<const std::type_identity_t<T>> x, std::span<T> y) {
  constexpr kernel_slot slot = detail::own_slots<Op>[static_cast<std::size_t>(dtype_of<T>)];
  static_assert(slot.flat1 != nullptr, "this kernel does not take one operand without attributes: use the typed call");
  detail::run_flat<T>(slot, Op::row.name, x, y);
}
template <class Op, element T>
inline void kernel(std::span<const T> a, std::span<const std::type_identity_t<T>> b,
                   std::span<std::type_identity_t<T>> y) {
  constexpr kernel_slot slot = detail::own_slots<Op>[static_cast<std::size_t>(dtype_of<T>)];
  static_assert(slot.flat2 != nullptr, "this kernel does not take two operands: use the typed call");
  detail::run_flat<T>(slot, Op::row.name, a, b, y);
}

/// Makes a custom op callable by name as well. Throws if the name is taken.
template <class Op>
void register_op(std::source_location where = std::source_location::current()) {
  detail::register_entry(detail::entry_of<Op>::get(), where);
}
/// Makes a custom op callable by name for as long as the result lives. Throws if the name is taken.
template <class Op>
[[nodiscard]] registration scoped_op(std::source_location where = std::source_location::current()) {
  return detail::scoped_entry(detail::entry_of<Op>::get(), where);
}

}  // namespace kerngrad
