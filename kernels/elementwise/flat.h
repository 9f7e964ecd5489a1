// SPDX-License-Identifier: Apache-2.0
// Lists of kernels that map elements by an expression, with two entry points each: one for contiguous arrays, which the
// span API calls, and a run_fn.
//
// A list applies X(kind, Name, types, expression). KG_DECLARE_MAPS makes the declarations and the tables of it:
//   table  as in KG_DECLARE_KERNELS
//   LIST   the list
//   FLAT   KG_FLAT1 or KG_FLAT2, for one or two operands
#pragma once
#include "kernels/common/lists.h"

#define KG_FLAT1_PARAMETERS (const void* x, void* y, std::size_t n)
#define KG_FLAT2_PARAMETERS (const void* a, const void* b, void* y, std::size_t n)

// An item of a list for one operand or two: entry points of SIMD kernels, of plain ones, and the entry of a table.
#define KG_FLAT1_SIMD(kind, Name, types, ...) types(KG_DECLARE_FLAT1, Name)
#define KG_FLAT2_SIMD(kind, Name, types, ...) types(KG_DECLARE_FLAT2, Name)
#define KG_FLAT1_PLAIN(kind, Name, types, ...) types(KG_DECLARE_PLAIN_FLAT1, Name)
#define KG_FLAT2_PLAIN(kind, Name, types, ...) types(KG_DECLARE_PLAIN_FLAT2, Name)
#define KG_FLAT1_ENTRY(kind, Name, types, ...) types(KG_ENTRY_FLAT1, Name)
#define KG_FLAT2_ENTRY(kind, Name, types, ...) types(KG_ENTRY_FLAT2, Name)

#define KG_DECLARE_FLAT1(Name, type)                            \
  KG_DECLARE_FUNCTION(type, Name##_##type, KG_FLAT1_PARAMETERS) \
  KG_DECLARE_ENTRY(type, Name##_##type##_run)
#define KG_DECLARE_FLAT2(Name, type)                            \
  KG_DECLARE_FUNCTION(type, Name##_##type, KG_FLAT2_PARAMETERS) \
  KG_DECLARE_ENTRY(type, Name##_##type##_run)
#define KG_DECLARE_PLAIN_FLAT1(Name, type) \
  void Name##_##type KG_FLAT1_PARAMETERS;  \
  void Name##_##type##_run KG_RUN_PARAMETERS;
#define KG_DECLARE_PLAIN_FLAT2(Name, type) \
  void Name##_##type KG_FLAT2_PARAMETERS;  \
  void Name##_##type##_run KG_RUN_PARAMETERS;
#define KG_ENTRY_FLAT1(Name, type) {#Name, dtype::type, Name##_##type##_run, Name##_##type, nullptr},
#define KG_ENTRY_FLAT2(Name, type) {#Name, dtype::type, Name##_##type##_run, nullptr, Name##_##type},

#define KG_DECLARE_MAPS(table, LIST, FLAT)                           \
  LIST(FLAT##_SIMD)                                                  \
  inline constexpr entry table##_simd[] = {LIST(FLAT##_ENTRY)};      \
  namespace reference {                                              \
  LIST(FLAT##_PLAIN)                                                 \
  inline constexpr entry table##_reference[] = {LIST(FLAT##_ENTRY)}; \
  }
