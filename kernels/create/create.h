// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that create elements; declarations and table are derived from create.inc.
#pragma once
#include <cmath>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// y[i] = the element at `value`, which has the dtype of the entry.
struct fill_geometry {
  std::int64_t count;
  const void* value;
};

/// Floats: y[i] = start + i * step in double, rounded once. Integers: start and step are whole numbers, exact, wraps.
struct range_geometry {
  std::int64_t count;
  double start, step;
};
/// The way from the first element to the last overflows: computed on halves, which are exact there, and doubled.
inline bool is_wide(const range_geometry& g) { return std::isinf(static_cast<double>(g.count) * g.step); }

/// y[i] = start + i * ((stop - start) / (count - 1)) in double, the last element is `stop` when count > 1.
struct linspace_geometry {
  std::int64_t count;
  double start, stop;
};
/// As for range_geometry.
inline bool is_wide(const linspace_geometry& g) { return std::isinf(g.stop - g.start); }

#define KG_CREATE(Name, types) types(KG_DECLARE_KERNEL, Name)
#define KG_CREATE_BYTES(Name, types) types(KG_DECLARE_BYTES, Name)
#include "kernels/create/create.inc"
#undef KG_CREATE

/// The kernels of create.inc under their own names.
inline constexpr entry create_kernels[] = {
#define KG_CREATE(Name, types) types(KG_KERNEL_CREATE, Name)
#define KG_KERNEL_CREATE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/create/create.inc"
};
#undef KG_CREATE
#undef KG_KERNEL_CREATE

/// Every op of create.inc with its dtypes. No entry reads `in`.
inline constexpr entry create_simd[] = {
#define KG_CREATE_OP(Op, Name, types) types(KG_ENTRY_CREATE, (#Op, #Name))
#define KG_ENTRY_CREATE(names, type) serving(create_kernels, served_op names, dtype::type),
#include "kernels/create/create.inc"
};
#undef KG_CREATE_OP
#undef KG_ENTRY_CREATE

}  // namespace kerngrad::kernels
