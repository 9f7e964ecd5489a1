// SPDX-License-Identifier: Apache-2.0
// Built-in ops with other parts, at compile time: kernels for a user-defined backend, and a rule for a scope of code.
module;
#include "kernels/common/abi.h"
export module kerngrad:replaced;

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
import :own;

export namespace kerngrad {

/// The kernels that a user-defined backend has for a built-in op, as `kernels_of` makes them.
template <fixed_string Name, std::size_t N>
struct op_kernels {
  static_assert(known_op<Name>, "kernels for an op that has no row: correct the name");
  std::array<own_kernel, N> list;
};
/// Makes the kernels of a user-defined backend for a built-in op: `kernels_of<"Add">(per_pair<float>(...))`.
template <fixed_string Name, std::same_as<own_kernel>... Kernels>
consteval op_kernels<Name, sizeof...(Kernels)> kernels_of(Kernels... list) {
  return {{list...}};
}

}  // namespace kerngrad

namespace kerngrad::detail {

template <class T>
inline constexpr bool is_op_kernels = false;
template <fixed_string Name, std::size_t N>
inline constexpr bool is_op_kernels<op_kernels<Name, N>> = true;
template <class T>
inline constexpr bool is_kernel_tuple = false;
template <class... T>
inline constexpr bool is_kernel_tuple<std::tuple<T...>> = (is_op_kernels<T> && ...);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A user-defined backend at compile time: a type with `kernels`, a std::tuple of results of kernels_of. It may also
/// have `base`, the built-in backend that has all other kernels (simd by default).
template <class Backend>
concept own_backend = requires { requires detail::is_kernel_tuple<std::remove_cvref_t<decltype(Backend::kernels)>>; };

}  // namespace kerngrad

namespace kerngrad::detail {

template <class Backend>
consteval backend base_of() {
  if constexpr (requires { Backend::base; }) return Backend::base;
  else return backend::simd;
}

template <fixed_string Name, std::size_t N>
consteval bool fit_known(const op_kernels<Name, N>& own) {
  return fit_launcher(own.list, row_of<op_id<Name>>);
}

// The slots of one op on a user-defined backend: what it replaces, and its base for the rest.
template <fixed_string Name, class Backend>
consteval std::array<kernel_slot, dtype_count> slots_on() {
  static_assert(own_backend<Backend>,
                "a user-defined backend needs a member `static constexpr auto kernels = std::tuple(kernels_of...)`");
  static_assert(std::apply([](const auto&... own) { return (fit_known(own) && ...); }, Backend::kernels),
                "a kernel of a user-defined backend does not take what its op's launcher gives");
  std::array<kernel_slot, dtype_count> slots{};
  for (int t = 0; t < dtype_count; ++t)
    slots[static_cast<std::size_t>(t)] = slot_of(base_of<Backend>(), op_id<Name>, static_cast<dtype>(t));
  const auto take = [&]<fixed_string Other, std::size_t N>(const op_kernels<Other, N>& own) {
    if (Other.view() != Name.view()) return;
    for (const own_kernel& k : own.list) slots[static_cast<std::size_t>(k.type)] = k.slot;
  };
  if constexpr (own_backend<Backend>) std::apply([&](const auto&... own) { (take(own), ...); }, Backend::kernels);
  return slots;
}
template <fixed_string Name, class Backend>
inline constexpr std::array<kernel_slot, dtype_count> backend_slots = slots_on<Name, Backend>();

// A built-in op with these kernels, whichever built-in backend is active; its rule and everything else are its own.
template <fixed_string Name, class Backend>
const op_entry& entry_on() {
  static const op_entry entry =
      make_entry(row_of<op_id<Name>>, op_id<Name>,
                 {backend_slots<Name, Backend>.data(), backend_slots<Name, Backend>.data()}, nullptr);
  return entry;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Runs the elementwise kernel that a user-defined backend has for a built-in op on spans of one size: `kernel<"Add",
/// my_backend>(a, b, y)`. Sizes are not checked, except in kerngrad's debug build.
template <fixed_string Name, class Backend, element T>
  requires known_op<Name>
inline void kernel(std::span<const std::type_identity_t<T>> x, std::span<T> y) {
  constexpr kernel_slot slot = detail::backend_slots<Name, Backend>[static_cast<std::size_t>(dtype_of<T>)];
  static_assert(slot.flat1 != nullptr, "this kernel does not take one operand without attributes: use the typed call");
  detail::run_flat<T>(slot, Name, x, y);
}
template <fixed_string Name, class Backend, element T>
  requires known_op<Name>
inline void kernel(std::span<const T> a, std::span<const std::type_identity_t<T>> b,
                   std::span<std::type_identity_t<T>> y) {
  constexpr kernel_slot slot = detail::backend_slots<Name, Backend>[static_cast<std::size_t>(dtype_of<T>)];
  static_assert(slot.flat2 != nullptr, "this kernel does not take two operands: use the typed call");
  detail::run_flat<T>(slot, Name, a, b, y);
}
/// Runs a built-in op on a user-defined backend, as a typed call: `kg::call_on<"Add", my::Backend>(a, b)`.
template <fixed_string Name, class Backend, class... Args>
  requires known_op<Name>
inline tensor call_on(const Args&... args) {
  return detail::invoke<known<Name>>(detail::entry_on<Name, Backend>(), args...);
}

/// Replaces the gradient rule of a built-in op for calls that this thread records while the object exists:
/// `kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));` The
/// compiler checks the rule. Scopes nest: the innermost one that still lives counts. Calls that were recorded in a
/// scope keep its rule after the scope ends.
template <fixed_string Name, class... F>
class rule_scope {
 public:
  explicit rule_scope(const op_rule<Name, F...>& given) {
    // Recordings point to it after the scope has ended. A rule's type says all but its masks, which are the same for
    // every value that one expression gives.
    static const detail::op_gradient rule = detail::instantiate<row_of<op_id<Name>>>(given.parts);
    scope_ = detail::begin_override(detail::known_entry<op_id<Name>>(), rule);
  }
  ~rule_scope() { detail::end_override(scope_); }
  rule_scope(const rule_scope&) = delete;
  rule_scope& operator=(const rule_scope&) = delete;

 private:
  std::shared_ptr<void> scope_;
};

}  // namespace kerngrad
