// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/reference_dilation.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/common/reference_position.h"

namespace kerngrad::kernels::reference {
namespace {

/// The sum that a tap gives: rounded to the type, because which of them is the largest depends on it; of integers the
/// one that wraps.
template <class T>
T sum_of(T x, T w) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(x) + static_cast<bits>(w));
  } else {
    return x + w;
  }
}

/// The first tap that gives the largest sum of its window.
template <class T>
struct winner {
  bool exists = false;
  T sum{};
  std::int64_t input = 0, tap = 0;
};

/// Calls visit(output index, winner) for every element of the result.
template <class T, class Visit>
void for_each_winner(const window_geometry& g, const T* x, const T* w, Visit visit) {
  position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (p.oy = 0; p.oy < g.out_h; ++p.oy)
      for (p.ox = 0; p.ox < g.out_w; ++p.ox)
        for (std::int64_t c = 0; c < g.in_c; ++c) {
          winner<T> best;
          for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
            for (p.kx = 0; p.kx < g.filter_w; ++p.kx) {
              if (!p.inside(g)) continue;
              const std::int64_t input = p.input(g) + c, tap = p.tap(g) * g.in_c + c;
              const T sum = sum_of(x[input], w[tap]);
              if (sum == sum && (!best.exists || sum > best.sum)) best = {true, sum, input, tap};
            }
          visit(p.output(g) + c, best);
        }
}

template <class T>
void Dilation2D(const void* const* in, void* const* out, const void* geometry) {
  T* y = static_cast<T*>(out[0]);
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_winner(*static_cast<const window_geometry*>(geometry), static_cast<const T*>(in[0]),
                  static_cast<const T*>(in[1]),
                  [&](std::int64_t at, const winner<T>& best) { y[at] = best.exists ? best.sum : nothing; });
}

template <class T>
void Dilation2DBackpropInput(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[2]);
  T* dx = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < g.batch * g.in_h * g.in_w * g.in_c; ++i) dx[i] = 0;
  for_each_winner(g, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]),
                  [&](std::int64_t at, const winner<T>& best) {
                    if (best.exists) dx[best.input] += dy[at];
                  });
}

template <class T>
void Dilation2DBackpropFilter(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[2]);
  T* dw = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < g.filter_h * g.filter_w * g.in_c; ++i) dw[i] = 0;
  for_each_winner(g, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]),
                  [&](std::int64_t at, const winner<T>& best) {
                    if (best.exists) dw[best.tap] += dy[at];
                  });
}

template <class T>
void Dilation2DGatherInput(const void* const* in, void* const* out, const void* geometry) {
  const T* source = static_cast<const T*>(in[0]);
  T* z = static_cast<T*>(out[0]);
  for_each_winner(*static_cast<const window_geometry*>(geometry), static_cast<const T*>(in[1]),
                  static_cast<const T*>(in[2]),
                  [&](std::int64_t at, const winner<T>& best) { z[at] = best.exists ? source[best.input] : T{0}; });
}

template <class T>
void Dilation2DGatherFilter(const void* const* in, void* const* out, const void* geometry) {
  const T* source = static_cast<const T*>(in[0]);
  T* z = static_cast<T*>(out[0]);
  for_each_winner(*static_cast<const window_geometry*>(geometry), static_cast<const T*>(in[1]),
                  static_cast<const T*>(in[2]),
                  [&](std::int64_t at, const winner<T>& best) { z[at] = best.exists ? source[best.tap] : T{0}; });
}

}  // namespace

#define KG_DEFINE_DILATION(Name, type)                                                \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_DILATION_KERNELS(KG_DEFINE_DILATION)
#undef KG_DEFINE_DILATION

}  // namespace kerngrad::kernels::reference
