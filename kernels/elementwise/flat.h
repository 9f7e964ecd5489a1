// SPDX-License-Identifier: Apache-2.0
// Lists of kernels that map elements by an expression, with two entry points each: one for contiguous arrays, which the
// span API calls, and a run_fn.
//
// A list applies X(kind, Name, types, expression). For maps of one operand a family takes these lines; those of two
// operands have a 2 for the 1:
//
// In the header, declares the entry points and the tables unary_simd and reference::unary_reference:
//   KG_DECLARE_LIST(unary, KG_UNARY_KERNELS, KG_DECLARE_MAP1, KG_ENTRY_MAP)
// In kernels::HWY_NAMESPACE, defines maps and entry points of a CPU target (kernels/elementwise/maps-inl.h):
//   KG_UNARY_KERNELS(KG_DEFINE_MAP1)
// In kernels, in the last pass, defines the entry points that jump to those of the best target:
//   KG_UNARY_KERNELS(KG_DISPATCH_MAP1)
// In kernels::reference, defines the entry points of the scalar definitions (kernels/elementwise/reference_maps.h):
//   KG_UNARY_KERNELS(KG_DEFINE_PLAIN_MAP1)
#pragma once
#include "kernels/common/lists.h"

#define KG_FLAT1_PARAMETERS (const void* x, void* y, std::size_t n)
#define KG_FLAT2_PARAMETERS (const void* a, const void* b, void* y, std::size_t n)

// An item of a list: its declaration, its entry in a table and its entry points.
#define KG_DECLARE_MAP1(kind, Name, types, ...) types(KG_DECLARE_FLAT1, Name)
#define KG_DECLARE_MAP2(kind, Name, types, ...) types(KG_DECLARE_FLAT2, Name)
#define KG_ENTRY_MAP(kind, Name, types, ...) types(KG_ENTRY_FLAT, Name)
#define KG_DISPATCH_MAP1(kind, Name, types, ...) types(KG_DISPATCH_FLAT1, Name)
#define KG_DISPATCH_MAP2(kind, Name, types, ...) types(KG_DISPATCH_FLAT2, Name)

// The same of one dtype of an item.
#define KG_DECLARE_FLAT1(Name, type)                            \
  KG_DECLARE_FUNCTION(type, Name##_##type, KG_FLAT1_PARAMETERS) \
  KG_DECLARE_FUNCTION(type, Name##_##type##_run, KG_RUN_PARAMETERS)
#define KG_DECLARE_FLAT2(Name, type, ...)                                                 \
  KG_DECLARE_FUNCTION(KG_SIMD_FOR(type, __VA_ARGS__), Name##_##type, KG_FLAT2_PARAMETERS) \
  KG_DECLARE_FUNCTION(KG_SIMD_FOR(type, __VA_ARGS__), Name##_##type##_run, KG_RUN_PARAMETERS)
#define KG_ENTRY_FLAT(Name, type, ...) flat_entry(#Name, dtype::type, Name##_##type##_run, Name##_##type),
#define KG_DISPATCH_FLAT1(Name, type)                                       \
  KG_DISPATCH_FUNCTION(type, Name##_##type, KG_FLAT1_PARAMETERS, (x, y, n)) \
  KG_DEFINE_FUNCTION(type, Name##_##type##_run, KG_RUN_PARAMETERS, Name##_##type(in[0], out[0], count_of(geometry)))
#define KG_DISPATCH_FLAT2(Name, type)                                          \
  KG_DISPATCH_FUNCTION(type, Name##_##type, KG_FLAT2_PARAMETERS, (a, b, y, n)) \
  KG_DISPATCH_FUNCTION(type, Name##_##type##_run, KG_RUN_PARAMETERS, (in, out, geometry))

namespace kerngrad::kernels {

/// in[0] to out[0]. The result has the operand's dtype, boolean for the predicates. LeakyRelu and Step take alpha =
/// params[0], ClipByValue the bounds params[0] <= params[1]; others ignore them.
struct unary_geometry {
  std::int64_t count;
  double params[2];
};
/// Returns the number of elements of a unary_geometry, which run_fn does not name.
inline std::size_t count_of(const void* unary) {
  return static_cast<std::size_t>(static_cast<const unary_geometry*>(unary)->count);
}

/// Entry of a map of one operand or two in a table.
constexpr entry flat_entry(const char* op, dtype type, run_fn run, flat1_fn flat) {
  return {op, type, run, flat, nullptr};
}
constexpr entry flat_entry(const char* op, dtype type, run_fn run, flat2_fn flat) {
  return {op, type, run, nullptr, flat};
}

}  // namespace kerngrad::kernels
