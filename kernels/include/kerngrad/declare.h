// SPDX-License-Identifier: Apache-2.0
// Declares the entry points of kernels that were written with <kerngrad/kernel.h>, and names them as table entries.
// No Highway: for a header, or the global module fragment of a module unit.
//
//   namespace my {
//   KERNGRAD_DECLARE_UNARY(Cube, float32)
//   }
//   inline constexpr kerngrad::kernels::entry table[] = {KERNGRAD_ENTRY_UNARY(my, Cube, float32)};
//
// A dtype is float32, float64, int32, int64 or uint8. The name of an entry is what the registry calls the op.
#pragma once
#include <cstddef>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// True if <kerngrad/kernel.h> makes kernels of this dtype: those whose elements are lanes of a vector.
constexpr bool is_author_dtype(dtype type) {
  const dtype_kind kind = trait_of(type).kind;
  return (kind == dtype_kind::integer || kind == dtype_kind::real) && trait_of(type).computed == type;
}

}  // namespace kerngrad::kernels

#define KERNGRAD_PRIVATE_DTYPE(macro, type)                                    \
  static_assert(::kerngrad::kernels::is_author_dtype(::kerngrad::dtype::type), \
                macro ": kernels compute in float32, float64, int32, int64 or uint8, not in " #type)
#define KERNGRAD_PRIVATE_DECLARE_RUN(Name, type) \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry);

/// Declares `Name_type`, a flat1_fn, and `Name_type_run`, a run_fn that takes a unary_geometry. Use it in the kernel's
/// namespace, as the other KERNGRAD_DECLARE macros.
#define KERNGRAD_DECLARE_UNARY(Name, type)                   \
  KERNGRAD_PRIVATE_DTYPE("KERNGRAD_DECLARE_UNARY", type);    \
  void Name##_##type(const void* x, void* y, std::size_t n); \
  KERNGRAD_PRIVATE_DECLARE_RUN(Name, type)
/// Declares `Name_type_run`, a run_fn that takes a unary_geometry with its parameters.
#define KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Name, type)                \
  KERNGRAD_PRIVATE_DTYPE("KERNGRAD_DECLARE_UNARY_WITH_PARAMS", type); \
  KERNGRAD_PRIVATE_DECLARE_RUN(Name, type)
/// Declares `Name_type`, a flat2_fn, and `Name_type_run`, a run_fn that takes a broadcast_geometry.
#define KERNGRAD_DECLARE_BINARY(Name, type)                                 \
  KERNGRAD_PRIVATE_DTYPE("KERNGRAD_DECLARE_BINARY", type);                  \
  void Name##_##type(const void* a, const void* b, void* y, std::size_t n); \
  KERNGRAD_PRIVATE_DECLARE_RUN(Name, type)
/// Declares `Name_type_run`, a run_fn that takes a reduce_geometry.
#define KERNGRAD_DECLARE_REDUCTION(Name, type)                \
  KERNGRAD_PRIVATE_DTYPE("KERNGRAD_DECLARE_REDUCTION", type); \
  KERNGRAD_PRIVATE_DECLARE_RUN(Name, type)

#define KERNGRAD_PRIVATE_ENTRY(space, Name, type, flat1, flat2) \
  (::kerngrad::kernels::entry{#Name, ::kerngrad::dtype::type, &space::Name##_##type##_run, flat1, flat2})

/// The kernel's entry for `register_kernel_table` and `simd_kernel`: a constant of type kerngrad::kernels::entry.
/// `space` is the namespace that the kernel was declared in.
#define KERNGRAD_ENTRY_UNARY(space, Name, type) \
  KERNGRAD_PRIVATE_ENTRY(space, Name, type, &space::Name##_##type, nullptr)
#define KERNGRAD_ENTRY_UNARY_WITH_PARAMS(space, Name, type) KERNGRAD_PRIVATE_ENTRY(space, Name, type, nullptr, nullptr)
#define KERNGRAD_ENTRY_BINARY(space, Name, type) \
  KERNGRAD_PRIVATE_ENTRY(space, Name, type, nullptr, &space::Name##_##type)
#define KERNGRAD_ENTRY_REDUCTION(space, Name, type) KERNGRAD_PRIVATE_ENTRY(space, Name, type, nullptr, nullptr)
