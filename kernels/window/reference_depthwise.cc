// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/depthwise.h"
#include "kernels/window/reference_convolve.h"

#include <algorithm>

namespace kerngrad::kernels::reference {
namespace {

// A depthwise convolution has a group for each channel of the input.
window_geometry by_channel(window_geometry g) {
  g.groups = std::max<std::int64_t>(g.in_c, 1);
  return g;
}

template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNative(const window_geometry& g, const T* x, const T* w, T* y) {
  convolve(by_channel(g), x, w, y);
}
template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNativeBackpropInput(const window_geometry& g, const T* dy, const T* w, T* dx) {
  convolve_back_to_input(by_channel(g), dy, w, dx);
}
template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNativeBackpropFilter(const window_geometry& g, const T* x, const T* dy, T* dw) {
  convolve_back_to_filter(by_channel(g), x, dy, dw);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_DEPTHWISE_KERNELS)

}  // namespace kerngrad::kernels::reference
