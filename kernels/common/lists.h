// SPDX-License-Identifier: Apache-2.0
// Makes declarations, tables and definitions of a family's list of kernels.
//
// A list is a macro that applies X(Name, dtype) to each kernel. With
//
//   #define KG_SORT_KERNELS(X) KG_ORDERED(X, Sort) KG_ORDERED(X, ArgSort)
//
// a family takes four lines.
//
// In the header, declares the entry points and the tables sort_simd and reference::sort_reference:
//   KG_DECLARE_KERNELS(sort, KG_SORT_KERNELS)
// In kernels::HWY_NAMESPACE, defines the entry points of a CPU target:
//   KG_DEFINE_KERNELS(KG_SORT_KERNELS)
// In kernels, in the last pass, defines the entry points that jump to those of the best target:
//   KG_DISPATCH_KERNELS(KG_SORT_KERNELS)
// In kernels::reference, defines the entry points of the reference kernels:
//   KG_DEFINE_PLAIN_KERNELS(KG_SORT_KERNELS)
//
// A kernel is a template on the dtype. Its parameters are the geometry, the operands and the results:
//
//   template <dtype Type, class T = storage_t<Type>>
//   void Sort(const sort_geometry& g, const T* x, T* y)
//
// Operands that a kernel does not read are parameters without a name, or missing at the end.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Says if a kernel's parameter is an operand, a pointer to const, or else a result.
template <class Parameter>
inline constexpr bool is_operand = std::is_const_v<std::remove_pointer_t<Parameter>>;

/// Returns a parameter's index in the operands, or in the results: the number of earlier parameters of its kind.
template <class... Parameters>
consteval std::size_t index_of_parameter(std::size_t parameter) {
  constexpr bool operand[] = {is_operand<Parameters>...};
  std::size_t index = 0;
  for (std::size_t i = 0; i < parameter; ++i) index += operand[i] == operand[parameter] ? 1 : 0;
  return index;
}

/// Returns the pointer that a kernel takes as a parameter.
template <class Parameter>
constexpr Parameter argument([[maybe_unused]] const void* const* in, [[maybe_unused]] void* const* out,
                             std::size_t index) {
  if constexpr (is_operand<Parameter>) return static_cast<Parameter>(in[index]);
  else return static_cast<Parameter>(out[index]);
}

}  // namespace kerngrad::kernels

// Defines typed_call in the namespace of the kernels. A CPU target needs its own: only functions that are compiled for
// a target can inline its kernels.
#define KG_TYPED_CALL                                                                                            \
  namespace {                                                                                                    \
  template <auto Kernel, class Signature = decltype(Kernel)>                                                     \
  struct typed_call;                                                                                             \
  template <auto Kernel, class Geometry, class... Parameters>                                                    \
  struct typed_call<Kernel, void (*)(const Geometry&, Parameters...)> {                                          \
    template <std::size_t... I>                                                                                  \
    [[gnu::always_inline]] static void run(std::index_sequence<I...>, [[maybe_unused]] const void* const* in,    \
                                           [[maybe_unused]] void* const* out, const void* geometry) {            \
      Kernel(*static_cast<const Geometry*>(geometry),                                                            \
             argument<Parameters>(                                                                               \
                 in, out, std::integral_constant<std::size_t, index_of_parameter<Parameters...>(I)>::value)...); \
    }                                                                                                            \
    [[gnu::always_inline]] static void run KG_RUN_PARAMETERS {                                                   \
      run(std::index_sequence_for<Parameters...>(), in, out, geometry);                                          \
    }                                                                                                            \
  };                                                                                                             \
  }

// For each kernel of a list: its entry in a table, and its declaration and definition as a SIMD kernel or in plain C++.
#define KG_ENTRY(Name, type, ...) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#define KG_DECLARE_KERNEL(Name, type, ...) \
  KG_DECLARE_FUNCTION(KG_SIMD_FOR(type, __VA_ARGS__), Name##_##type, KG_RUN_PARAMETERS)
#define KG_DECLARE_PLAIN(Name, type) KG_DECLARE_FUNCTION(any, Name##_##type, KG_RUN_PARAMETERS)
#define KG_DEFINE_TYPED(Name, type, ...)                                               \
  KG_DEFINE_FUNCTION(KG_SIMD_FOR(type, __VA_ARGS__), Name##_##type, KG_RUN_PARAMETERS, \
                     typed_call<&Name<dtype::type>>::run(in, out, geometry))
#define KG_DEFINE_PLAIN(Name, type, ...) \
  void Name##_##type KG_RUN_PARAMETERS { typed_call<&Name<dtype::type>>::run(in, out, geometry); }
#define KG_NAMES_OF(Op, Name) \
  served_op { #Op, #Name }
#define KG_SERVED(names, type, ...) serving(kernels_of_list, KG_NAMES_OF names, dtype::type),

/// Declares the entry points of a list and its tables `table_simd` and `reference::table_reference`.
#define KG_DECLARE_KERNELS(table, LIST) KG_DECLARE_LIST(table, LIST, KG_DECLARE_KERNEL, KG_ENTRY)
/// The same for kernels in plain C++, which serve every CPU target.
#define KG_DECLARE_PLAIN_KERNELS(table, LIST) KG_DECLARE_LIST(table, LIST, KG_DECLARE_PLAIN, KG_ENTRY)
/// The same with the declaration and the entry of each kernel by two macros.
#define KG_DECLARE_LIST(table, LIST, DECLARE, ENTRY)          \
  LIST(DECLARE)                                               \
  inline constexpr entry table##_simd[] = {LIST(ENTRY)};      \
  namespace reference {                                       \
  inline constexpr entry table##_reference[] = {LIST(ENTRY)}; \
  }

/// The same where several ops share kernels. OPS applies X((Op, Kernel), dtype) to each op, and the tables have the
/// ops.
#define KG_DECLARE_SHARED_KERNELS(table, LIST, OPS)              \
  LIST(KG_DECLARE_KERNEL)                                        \
  namespace table##_ops {                                        \
    inline constexpr entry kernels_of_list[] = {LIST(KG_ENTRY)}; \
    inline constexpr entry simd[] = {OPS(KG_SERVED)};            \
  }                                                              \
  inline constexpr auto& table##_simd = table##_ops::simd;       \
  namespace reference {                                          \
  namespace table##_ops {                                        \
    inline constexpr entry kernels_of_list[] = {LIST(KG_ENTRY)}; \
    inline constexpr entry plain[] = {OPS(KG_SERVED)};           \
  }                                                              \
  inline constexpr auto& table##_reference = table##_ops::plain; \
  }

/// Defines the entry points of a list for one CPU target. Each calls the kernel of its name.
#define KG_DEFINE_KERNELS(LIST) KG_TYPED_CALL LIST(KG_DEFINE_TYPED)
/// Defines entry points of kernels in plain C++: those that serve every CPU target, and the reference kernels.
#define KG_DEFINE_PLAIN_KERNELS(LIST) KG_TYPED_CALL LIST(KG_DEFINE_PLAIN)
