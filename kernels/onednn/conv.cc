// SPDX-License-Identifier: Apache-2.0
// Conv2D and its gradients. Images stay NHWC; oneDNN picks the order of the filter, which is small next to the work,
// and the filter is reordered from or to HWIO with every call. The direct algorithm alone: Winograd's loses accuracy.
#include "kernels/window/conv.h"

#include <cstddef>
#include <limits>

#include "kernels/onednn/onednn.h"
#include "kernels/onednn/plan.h"

namespace kerngrad::kernels::onednn {
namespace {

using layout = dnnl::memory::desc;
using tag = dnnl::memory::format_tag;

// A convolution in oneDNN's words: logical dimensions are NCHW and OIHW whatever the order in memory, dilations count
// the pixels skipped, and padding is given on both sides.
struct convolution {
  layout input, output, filter, any_filter;
  dnnl::memory::dims strides, dilations, before, after;

  explicit convolution(const window_geometry& g)
      : input({g.batch, g.in_c, g.in_h, g.in_w}, dnnl::memory::data_type::f32, tag::nhwc),
        output({g.batch, g.out_c, g.out_h, g.out_w}, dnnl::memory::data_type::f32, tag::nhwc),
        filter({g.out_c, g.in_c, g.filter_h, g.filter_w}, dnnl::memory::data_type::f32, tag::hwio),
        any_filter({g.out_c, g.in_c, g.filter_h, g.filter_w}, dnnl::memory::data_type::f32, tag::any),
        strides{g.stride_h, g.stride_w},
        dilations{g.dilation_h - 1, g.dilation_w - 1},
        before{g.pad_top, g.pad_left},
        after{(g.out_h - 1) * g.stride_h + (g.filter_h - 1) * g.dilation_h + 1 - g.in_h - g.pad_top,
              (g.out_w - 1) * g.stride_w + (g.filter_w - 1) * g.dilation_w + 1 - g.in_w - g.pad_left} {}
};

constexpr auto direct = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc forward(const convolution& c, dnnl::prop_kind kind) {
  return described<dnnl::convolution_forward>(kind, direct, c.input, c.any_filter, c.output, c.strides, c.dilations,
                                              c.before, c.after);
}

plan output_of(const convolution& c) {
  const auto found = forward(c, dnnl::prop_kind::forward_inference);
  if (is_reference(found)) return {};
  return {
      dnnl::convolution_forward(found),
      found.impl_info_str(),
      {plain_operand(DNNL_ARG_SRC, c.input), reordered_operand(DNNL_ARG_WEIGHTS, c.filter, found.weights_desc(), true)},
      plain_operand(DNNL_ARG_DST, c.output)};
}

plan input_of(const convolution& c) {
  const auto found = described_after<dnnl::convolution_backward_data>(forward(c, dnnl::prop_kind::forward_training),
                                                                      direct, c.input, c.any_filter, c.output,
                                                                      c.strides, c.dilations, c.before, c.after);
  if (is_reference(found)) return {};
  return {dnnl::convolution_backward_data(found),
          found.impl_info_str(),
          {plain_operand(DNNL_ARG_DIFF_DST, c.output),
           reordered_operand(DNNL_ARG_WEIGHTS, c.filter, found.weights_desc(), true)},
          plain_operand(DNNL_ARG_DIFF_SRC, c.input)};
}

plan filter_of(const convolution& c) {
  const auto found = described_after<dnnl::convolution_backward_weights>(forward(c, dnnl::prop_kind::forward_training),
                                                                         direct, c.input, c.any_filter, c.output,
                                                                         c.strides, c.dilations, c.before, c.after);
  if (is_reference(found)) return {};
  return {dnnl::convolution_backward_weights(found),
          found.impl_info_str(),
          {plain_operand(DNNL_ARG_SRC, c.input), plain_operand(DNNL_ARG_DIFF_DST, c.output)},
          reordered_operand(DNNL_ARG_DIFF_WEIGHTS, c.filter, found.diff_weights_desc(), false)};
}

plan build(plan_kind kind, const void* geometry) {
  const convolution c(*static_cast<const window_geometry*>(geometry));
  return kind == output_plan ? output_of(c) : kind == input_plan ? input_of(c) : filter_of(c);
}

// True if there is one group, no array is empty and each can be counted in int, as oneDNN's generated code does.
bool is_in_range(const window_geometry& g) {
  if (g.groups != 1) return false;
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  const auto product = [](auto... sizes) { return (static_cast<double>(sizes) * ...); };
  const double sizes[] = {product(g.batch, g.in_h, g.in_w, g.in_c), product(g.batch, g.out_h, g.out_w, g.out_c),
                          product(g.filter_h, g.filter_w, g.in_c, g.out_c)};
  for (const double size : sizes)
    if (size < 1 || size > most) return false;
  return true;
}

void convolve(plan_kind kind, run_fn simd, const void* const* in, void* const* out, const void* geometry) {
  plan& ready = conv_plan(kind, *static_cast<const window_geometry*>(geometry));
  if (!ready.primitive) return simd(in, out, geometry);
  run(ready, in, out[0]);
}

}  // namespace

plan& conv_plan(plan_kind kind, const window_geometry& g) {
  if (!is_in_range(g)) return no_plan();
  return plan_for({kind, g.batch, g.in_h, g.in_w, g.in_c, g.out_h, g.out_w, g.out_c, g.filter_h, g.filter_w, g.stride_h,
                   g.stride_w, g.dilation_h, g.dilation_w, g.pad_top, g.pad_left},
                  build, &g);
}

void Conv2D_float32(const void* const* in, void* const* out, const void* geometry) {
  convolve(output_plan, kernels::Conv2D_float32, in, out, geometry);
}
void Conv2DBackpropInput_float32(const void* const* in, void* const* out, const void* geometry) {
  convolve(input_plan, kernels::Conv2DBackpropInput_float32, in, out, geometry);
}
void Conv2DBackpropFilter_float32(const void* const* in, void* const* out, const void* geometry) {
  convolve(filter_plan, kernels::Conv2DBackpropFilter_float32, in, out, geometry);
}

}  // namespace kerngrad::kernels::onednn
