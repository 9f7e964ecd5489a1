// SPDX-License-Identifier: Apache-2.0
// The convolution of a fused layer: each part of the result is finished where it was computed, while it is in a cache
// of that thread.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

/// Pixels of a convolution's result that lie at equal distances, and some of their channels.
struct pixel_part {
  std::int64_t pixels, pitch;    ///< elements from one pixel to the next
  std::int64_t first, channels;  ///< first is the number of the channel at which the part begins
};

/// Finishes a part; called once for each element of the result, by several threads.
struct conv_finish {
  void (*run)(const void* context, void* y, const pixel_part& part);
  const void* context;
};

struct finished_geometry {
  window_geometry window;
  conv_finish after;
};

// Operands and result are those of Conv2D. The geometry is a finished_geometry. There is no reference: without SIMD
// kernels of the dtype, the entry point is null.
#define KG_FINISHED_CONV_KERNELS(X) KG_FLOATS(X, FinishedConv2D)
#define KG_DECLARE_FINISHED(Name, type)                   \
  KG_IF_SIMD(type, void Name##_##type KG_RUN_PARAMETERS;) \
  KG_UNLESS_SIMD(type, inline constexpr run_fn Name##_##type = nullptr;)
KG_FINISHED_CONV_KERNELS(KG_DECLARE_FINISHED)
#undef KG_DECLARE_FINISHED

}  // namespace kerngrad::kernels
