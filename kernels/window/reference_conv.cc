// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/conv.h"
#include "kernels/window/reference_convolve.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void Conv2D(const window_geometry& g, const T* x, const T* w, T* y) {
  convolve(g, x, w, y);
}
template <dtype Type, class T = storage_t<Type>>
void Conv2DBackpropInput(const window_geometry& g, const T* dy, const T* w, T* dx) {
  convolve_back_to_input(g, dy, w, dx);
}
template <dtype Type, class T = storage_t<Type>>
void Conv2DBackpropFilter(const window_geometry& g, const T* x, const T* dy, T* dw) {
  convolve_back_to_filter(g, x, dy, dw);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_CONV_KERNELS)

}  // namespace kerngrad::kernels::reference
