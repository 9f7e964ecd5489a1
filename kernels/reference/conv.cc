// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/conv.h"

#include <cstddef>

namespace kerngrad::kernels::reference {
namespace {

// The type that sums are formed in; rounded once to the result.
template <class T> struct wide;
template <> struct wide<float> {
  using type = double;
};
template <> struct wide<double> {
  using type = long double;
};

struct position {
  std::int64_t batch, oy, ox, ky, kx;
  std::int64_t iy(const window_geometry& g) const { return oy * g.stride_h - g.pad_top + ky * g.dilation_h; }
  std::int64_t ix(const window_geometry& g) const { return ox * g.stride_w - g.pad_left + kx * g.dilation_w; }
  bool inside(const window_geometry& g) const { return iy(g) >= 0 && iy(g) < g.in_h && ix(g) >= 0 && ix(g) < g.in_w; }
  std::int64_t input(const window_geometry& g) const { return ((batch * g.in_h + iy(g)) * g.in_w + ix(g)) * g.in_c; }
  std::int64_t output(const window_geometry& g) const { return ((batch * g.out_h + oy) * g.out_w + ox) * g.out_c; }
  std::int64_t filter(const window_geometry& g) const { return (ky * g.filter_w + kx) * g.in_c * g.out_c; }
};

template <class T>
void Conv2D(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (p.oy = 0; p.oy < g.out_h; ++p.oy)
      for (p.ox = 0; p.ox < g.out_w; ++p.ox)
        for (std::int64_t co = 0; co < g.out_c; ++co) {
          typename wide<T>::type sum = 0;
          for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
            for (p.kx = 0; p.kx < g.filter_w; ++p.kx) {
              if (!p.inside(g)) continue;
              for (std::int64_t ci = 0; ci < g.in_c; ++ci)
                sum += typename wide<T>::type{x[p.input(g) + ci]} * w[p.filter(g) + ci * g.out_c + co];
            }
          y[p.output(g) + co] = static_cast<T>(sum);
        }
}

template <class T>
void Conv2DBackpropInput(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (std::int64_t iy = 0; iy < g.in_h; ++iy)
      for (std::int64_t ix = 0; ix < g.in_w; ++ix)
        for (std::int64_t ci = 0; ci < g.in_c; ++ci) {
          typename wide<T>::type sum = 0;
          for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
            for (p.kx = 0; p.kx < g.filter_w; ++p.kx) {
              const std::int64_t down = iy + g.pad_top - p.ky * g.dilation_h;
              const std::int64_t right = ix + g.pad_left - p.kx * g.dilation_w;
              if (down < 0 || right < 0 || down % g.stride_h != 0 || right % g.stride_w != 0) continue;
              p.oy = down / g.stride_h;
              p.ox = right / g.stride_w;
              if (p.oy >= g.out_h || p.ox >= g.out_w) continue;
              for (std::int64_t co = 0; co < g.out_c; ++co)
                sum += typename wide<T>::type{dy[p.output(g) + co]} * w[p.filter(g) + ci * g.out_c + co];
            }
          dx[((p.batch * g.in_h + iy) * g.in_w + ix) * g.in_c + ci] = static_cast<T>(sum);
        }
}

template <class T>
void Conv2DBackpropFilter(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* dy = static_cast<const T*>(in[1]);
  T* dw = static_cast<T*>(out[0]);
  position p{};
  for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
    for (p.kx = 0; p.kx < g.filter_w; ++p.kx)
      for (std::int64_t ci = 0; ci < g.in_c; ++ci)
        for (std::int64_t co = 0; co < g.out_c; ++co) {
          typename wide<T>::type sum = 0;
          for (p.batch = 0; p.batch < g.batch; ++p.batch)
            for (p.oy = 0; p.oy < g.out_h; ++p.oy)
              for (p.ox = 0; p.ox < g.out_w; ++p.ox) {
                if (!p.inside(g)) continue;
                sum += typename wide<T>::type{x[p.input(g) + ci]} * dy[p.output(g) + co];
              }
          dw[p.filter(g) + ci * g.out_c + co] = static_cast<T>(sum);
        }
}

}  // namespace

#define KG_DEFINE_CONV(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_CONV_KERNELS(KG_DEFINE_CONV)
#undef KG_DEFINE_CONV

}  // namespace kerngrad::kernels::reference
