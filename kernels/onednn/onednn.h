// SPDX-License-Identifier: Apache-2.0
// Kernels on oneDNN, for the dtype that it computes in: a third table next to the SIMD kernels and the references, with
// their ABI and their geometry structs. Built with the option `onednn`; nothing of oneDNN is seen through this header.
//
// If oneDNN has no optimized code for a geometry, or means something else by it, the entry is the SIMD kernel of the
// same op: empty arrays and empty sums; arrays of 2^31 elements and more; images cropped at the top or left, or at the
// bottom or right by a stride or more; Softmax along an axis that is not the last, or of anything not finite; and
// whatever else oneDNN rejects or has reference code for only.
//
// Errors: std::bad_alloc for want of memory, as from the SIMD kernels, and nothing else; no exception of oneDNN gets
// out. Numerics: sums in float32, in an order that depends on the geometry, the CPU and the number of OpenMP threads at
// the first call of a geometry in a thread, and not on the contents or the call; |error| <= terms * eps * sum |terms|.
// Softmax: |error| <= (8 + |x - max| + classes / 2) * eps * y, and all of it is the SIMD kernel's work, in its order,
// when an element of any row is not finite.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels::onednn {

// Each applies X(Name, dtype) to the kernels of one family. Geometries: matmul_geometry, window_geometry and
// reduce_geometry, as for the SIMD kernels of the same name.
#define KG_ONEDNN_MATMUL_KERNELS(X) X(BatchMatMul, float32)
#define KG_ONEDNN_CONV_KERNELS(X) X(Conv2D, float32) X(Conv2DBackpropInput, float32) X(Conv2DBackpropFilter, float32)
#define KG_ONEDNN_SOFTMAX_KERNELS(X) X(Softmax, float32)
#define KG_ONEDNN_KERNELS(X) KG_ONEDNN_MATMUL_KERNELS(X) KG_ONEDNN_CONV_KERNELS(X) KG_ONEDNN_SOFTMAX_KERNELS(X)

#define KG_DECLARE_ONEDNN(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_ONEDNN_KERNELS(KG_DECLARE_ONEDNN)
#undef KG_DECLARE_ONEDNN

/// Every kernel on oneDNN. Ops and dtypes that are not here have SIMD kernels only.
inline constexpr entry onednn_kernels[] = {KG_ONEDNN_KERNELS(KG_ENTRY)};

/// oneDNN's name of the code that the kernel of `op` runs for a geometry, "jit:avx512_core" for one; empty where it is
/// the SIMD kernel, and for ops that are not in the table. Valid until the thread's next call of a kernel on oneDNN.
const char* implementation(const char* op, const void* geometry);

}  // namespace kerngrad::kernels::onednn
