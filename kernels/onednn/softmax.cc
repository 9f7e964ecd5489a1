// SPDX-License-Identifier: Apache-2.0
// Softmax along the last axis; y may be x. The clamped exponentials of oneDNN turn NaN and infinities into finite
// shares, so that arrays with any are the SIMD kernel's business. There is no LogSoftmax: oneDNN's logarithm is off by
// 1.4e-6 at 1, and log-probabilities that should be -1e-9 would be above 0.
#include "kernels/softmax/softmax.h"

#include <bit>
#include <limits>

#include "kernels/onednn/onednn.h"
#include "kernels/onednn/plan.h"

namespace kerngrad::kernels::onednn {
namespace {

plan build(plan_kind, const void* geometry) {
  const auto& g = *static_cast<const reduce_geometry*>(geometry);
  const dnnl::memory::desc rows({g.outer, g.count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const auto found =
      described<softmax_forward>(dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, rows, rows, 1);
  if (is_reference(found)) return {};
  return {softmax_forward(found),
          found.impl_info_str(),
          {plain_operand(DNNL_ARG_SRC, rows)},
          plain_operand(DNNL_ARG_DST, rows)};
}

// Without an early exit, which would keep the compiler from using vectors.
bool all_finite(const float* x, std::int64_t n) {
  constexpr std::uint32_t exponent = 0x7f800000u;
  bool found = false;
  for (std::int64_t i = 0; i < n; ++i) found |= (std::bit_cast<std::uint32_t>(x[i]) & exponent) == exponent;
  return !found;
}

}  // namespace

plan& softmax_plan(const reduce_geometry& g) {
  // oneDNN's generated code counts elements in int.
  const double size = static_cast<double>(g.outer) * static_cast<double>(g.count);
  if (g.inner != 1 || size < 1 || size > std::numeric_limits<std::int32_t>::max()) return no_plan();
  return plan_for({classes_plan, g.outer, g.count}, build, &g);
}

void Softmax_float32(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const reduce_geometry*>(geometry);
  plan& ready = softmax_plan(g);
  if (!ready.primitive || !all_finite(static_cast<const float*>(in[0]), g.outer * g.count))
    return kernels::Softmax_float32(in, out, geometry);
  run(ready, in, out[0]);
}

}  // namespace kerngrad::kernels::onednn
