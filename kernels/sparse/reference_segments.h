// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/sparse/segments.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/sparse/segments.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_SEGMENTS(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_SPARSE_SEGMENT_KERNELS(KG_DECLARE_SEGMENTS)
KG_EMBEDDING_KERNELS(KG_DECLARE_SEGMENTS)
#undef KG_DECLARE_SEGMENTS

inline constexpr entry sparse_segments_reference[] = {
#define KG_ENTRY_SEGMENTS(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SPARSE_SEGMENT_KERNELS(KG_ENTRY_SEGMENTS) KG_EMBEDDING_KERNELS(KG_ENTRY_SEGMENTS)
#undef KG_ENTRY_SEGMENTS
};

}  // namespace kerngrad::kernels::reference
