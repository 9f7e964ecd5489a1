// SPDX-License-Identifier: Apache-2.0
// The tables: every row, every kernel of every backend, and the constexpr look-ups between them.
module;
#include "kernels/common/abi.h"
#include "modules/ops/families.h"
#include "modules/ops/include_kernels.inc"
export module kerngrad:table;

import :std;
import :core;
import :op;
import :launch;
import :all_rows;

export namespace kerngrad {

namespace kernels {
/// An entry of a kernel table: op, dtype and code of one kernel. Custom backends make tables of them.
using kerngrad::kernels::entry;
}  // namespace kernels

// Tables are made by consteval functions: clang keeps the result of one in the compiled module, and computes a
// constexpr one's again for every importer.

/// Joins tables of one element type.
template <class T, std::size_t... Sizes>
consteval auto joined(const T (&... tables)[Sizes]) {
  std::array<T, (Sizes + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& table) {
    for (const T& item : table) all[at++] = item;
  };
  (append(tables), ...);
  return all;
}

#define KG_ROWS(F) rows::F##_rows
#define KG_SIMD(F) kernels::F##_kernel_list.items
#define KG_REFERENCE(F) kernels::reference::F##_kernel_list.items
/// All built-in ops. The position of an op in the table is its id.
inline constexpr auto op_table = joined(KG_FAMILIES(KG_ROWS));
/// Number of built-in ops.
inline constexpr int op_count = static_cast<int>(op_table.size());
/// All kernels of the backend simd.
inline constexpr auto simd_kernels = joined(KG_FAMILIES(KG_SIMD));
/// All kernels of the backend reference.
inline constexpr auto reference_kernels = joined(KG_FAMILIES(KG_REFERENCE));

/// The names of all ops by id, apart from the table: a look-up by name at run time links no row of it.
inline constexpr auto op_names_by_id = []() consteval {
  std::array<std::string_view, op_count> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = op_table[i].name;
  return names;
}();
/// Ids of all ops in the order of their names, for the binary search of a look-up by name.
inline constexpr auto ops_by_name = []() consteval {
  std::array<std::uint16_t, op_count> order{};
  for (std::uint16_t i = 0; i < op_count; ++i) {
    std::size_t at = i;
    for (; at > 0 && op_table[i].name < op_table[order[at - 1]].name; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}();

/// The id of the op of that name, or -1.
constexpr int find_op(std::string_view name) {
  std::size_t low = 0, high = ops_by_name.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = op_names_by_id[ops_by_name[middle]].compare(name);
    if (order == 0) return ops_by_name[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

}  // namespace kerngrad

namespace kerngrad::detail {

// The name of an op as a template argument.
template <int Id>
consteval auto name_of_op() {
  constexpr std::string_view name = op_table[Id].name;
  char text[name.size() + 1]{};
  for (std::size_t i = 0; i < name.size(); ++i) text[i] = name[i];
  return fixed_string<name.size() + 1>(text);
}

// The op whose name takes the fewest letters to insert, delete or exchange (Levenshtein 1966); of equals the first by
// name.
consteval int nearest_op_to(std::string_view wanted) {
  int nearest = 0;
  std::size_t least = ~std::size_t{0};
  for (const std::uint16_t id : ops_by_name) {
    const std::string_view name = op_table[id].name;
    std::size_t line[100]{};
    for (std::size_t j = 0; j <= name.size(); ++j) line[j] = j;
    for (const char letter : wanted) {
      std::size_t corner = line[0]++;
      for (std::size_t j = 0; j < name.size(); ++j) {
        const std::size_t exchanged = corner + (letter != name[j]);
        corner = line[j + 1];
        const std::size_t shorter = corner < line[j] ? corner : line[j];
        line[j + 1] = exchanged < shorter + 1 ? exchanged : shorter + 1;
      }
    }
    if (line[name.size()] < least) least = line[name.size()], nearest = id;
  }
  return nearest;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Shown in the compiler's message for a name that no op has: the nearest name.
template <fixed_string Name>
struct did_you_mean {
  static constexpr bool same_name = false;
};
/// Always false. The compiler's message about an unknown op shows the argument, which contains the nearest name.
template <class Other>
concept spelt_like_an_op = Other::same_name;

/// True if a built-in op has the name.
template <fixed_string Name>
concept known_op =
    find_op(Name) >= 0 || spelt_like_an_op<did_you_mean<detail::name_of_op<detail::nearest_op_to(Name)>()>>;

/// The id of a built-in op. An unknown name is a compile error.
template <fixed_string Name>
  requires known_op<Name>
inline constexpr int op_id = find_op(Name);

/// The entry of a built-in op by its id. It is an object of its own, so that code that uses it links this entry alone.
template <int Id>
inline constexpr op_row row_of = op_table[Id];

/// Error bounds of the kernels of an op in one dtype, in units in the last place of the result.
struct op_accuracy {
  double bound;             ///< the error is below this bound on every target
  double worst;             ///< the largest error that was measured; 0: none above half a unit
  double at[2];             ///< the operands of `worst`; an op of one operand has the first
  std::string_view target;  ///< the SIMD target on which `worst` was measured, the best of that machine
  bool all;                 ///< true if measured over all values of the dtype, false if over samples
};
/// The accuracy of an op in float32 or float64. Empty if the result is exact, or bounded by the summation of its
/// family.
std::optional<op_accuracy> accuracy_of(std::string_view name, dtype type);

/// Error bounds of the gradient of an op for one operand, in units in the last place, for a dy of 1. They hold in a
/// domain.
struct gradient_accuracy {
  op_accuracy errors;
  std::string domain;  ///< the finite operands with this bound, such as "x^2 is finite"; empty for all
};
/// The accuracy of the gradient for operand `operand` in float32 or float64. Empty if it was not measured.
std::optional<gradient_accuracy> gradient_accuracy_of(std::string_view name, int operand, dtype type);

/// True for a backend with a table of kernels.
template <backend Which>
concept known_backend = static_cast<int>(Which) < backend_count;

/// The name of a backend: "simd" or "reference".
constexpr std::string_view name_of(backend which) { return which == backend::simd ? "simd" : "reference"; }

/// The kernels of a backend by op id, with one slot for each dtype.
using kernel_table = std::array<kernel_slot, static_cast<std::size_t>(op_count) * dtype_count>;

/// Sorts a list of kernels into slots by op and dtype. An op that borrows a kernel gets the same slot.
template <std::size_t N>
consteval kernel_table slots_of(const std::array<kernels::entry, N>& list) {
  kernel_table table{};
  for (const kernels::entry& item : list) {
    const int id = find_op(item.op);
    if (id < 0) continue;  // rejected by the audit
    table[static_cast<std::size_t>(id * dtype_count + static_cast<int>(item.type))] = {item.run, item.flat1, item.flat2,
                                                                                       nullptr};
  }
  for (int id = 0; id < op_count; ++id) {
    if (op_table[static_cast<std::size_t>(id)].kernel.empty()) continue;
    const int lender = find_op(op_table[static_cast<std::size_t>(id)].kernel);
    for (int type = 0; type < dtype_count; ++type)
      table[static_cast<std::size_t>(id * dtype_count + type)] =
          table[static_cast<std::size_t>(lender * dtype_count + type)];
  }
  return table;
}

/// The kernels of all backends: kernel_tables[backend][op * dtype_count + dtype]. Code that reads it at run time links
/// every kernel.
inline constexpr std::array<kernel_table, backend_count> kernel_tables{slots_of(simd_kernels),
                                                                       slots_of(reference_kernels)};

/// The kernel of an op for a dtype on a backend; an empty slot if there is none.
constexpr const kernel_slot& slot_of(backend which, int id, dtype type) {
  return kernel_tables[static_cast<std::size_t>(which)]
                      [static_cast<std::size_t>(id * dtype_count + static_cast<int>(type))];
}

/// The kernels of one op: kernels_of_op<Id>[backend][dtype]. Code that reads it at run time links only these.
template <int Id>
inline constexpr auto kernels_of_op = []() consteval {
  std::array<std::array<kernel_slot, dtype_count>, backend_count> slots{};
  for (std::size_t b = 0; b < backend_count; ++b)
    for (std::size_t type = 0; type < dtype_count; ++type) slots[b][type] = kernel_tables[b][Id * dtype_count + type];
  return slots;
}();
/// The kernel of a built-in op for a dtype on a backend. Links the kernels of this op alone.
template <fixed_string Name>
inline const kernel_slot& kernel_of(backend which, dtype type) {
  return kernels_of_op<op_id<Name>>[static_cast<std::size_t>(which)][static_cast<std::size_t>(type)];
}

/// The dtypes for which a backend has kernels of an op.
constexpr dtype_set kernel_dtypes(backend which, int id) {
  dtype_set set{};
  for (int type = 0; type < dtype_count; ++type)
    if (slot_of(which, id, static_cast<dtype>(type)).exists()) set = set | only(static_cast<dtype>(type));
  return set;
}

/// True if a backend has a kernel of the op for the dtype.
template <fixed_string Name, backend Which, dtype Type>
concept has_kernel = known_op<Name> && known_backend<Which> && slot_of(Which, find_op(Name), Type).exists();

}  // namespace kerngrad

namespace kerngrad::detail {

// Last step of the span API: the kernel's own function, once the sizes are known to match.
template <class T>
inline void run_flat(const kernel_slot& slot, [[maybe_unused]] std::string_view op, std::span<const T> x,
                     std::span<T> y) {
#ifndef NDEBUG
  if (x.size() != y.size()) fail(op, "spans of different sizes", "equal sizes");
#endif
  slot.flat1(x.data(), y.data(), y.size());
}
template <class T>
inline void run_flat(const kernel_slot& slot, [[maybe_unused]] std::string_view op, std::span<const T> a,
                     std::span<const T> b, std::span<T> y) {
#ifndef NDEBUG
  if (a.size() != y.size() || b.size() != y.size()) fail(op, "spans of different sizes", "equal sizes");
#endif
  slot.flat2(a.data(), b.data(), y.data(), y.size());
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The span API: runs the kernel of a built-in op on spans of one size, as a direct call of the dispatched kernel. It
/// allocates nothing, checks nothing and calls no hook. Spans of different sizes are undefined behavior; the debug
/// build of kerngrad throws for them.
template <fixed_string Name, backend Which = backend::simd, element T>
  requires has_kernel<Name, Which, dtype_of<T>>
inline void kernel(std::span<const std::type_identity_t<T>> x, std::span<T> y) {
  constexpr kernel_slot slot = slot_of(Which, op_id<Name>, dtype_of<T>);
  static_assert(slot.flat1 != nullptr, "this kernel does not take one operand without attributes: use the typed call");
  detail::run_flat<T>(slot, Name.view(), x, y);
}
template <fixed_string Name, backend Which = backend::simd, element T>
  requires has_kernel<Name, Which, dtype_of<T>>
inline void kernel(std::span<const T> a, std::span<const std::type_identity_t<T>> b,
                   std::span<std::type_identity_t<T>> y) {
  constexpr kernel_slot slot = slot_of(Which, op_id<Name>, dtype_of<T>);
  static_assert(slot.flat2 != nullptr, "this kernel does not take two operands: use the typed call");
  detail::run_flat<T>(slot, Name.view(), a, b, y);
}

}  // namespace kerngrad
