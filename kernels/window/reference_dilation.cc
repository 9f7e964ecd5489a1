// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/dilation.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/window/reference_position.h"

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

template <dtype Type, class T = storage_t<Type>>
void Dilation2D(const window_geometry& g, const T* x, const T* w, T* y) {
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_winner(g, x, w, [&](std::int64_t at, const winner<T>& best) { y[at] = best.exists ? best.sum : nothing; });
}

template <dtype Type, class T = storage_t<Type>>
void Dilation2DBackpropInput(const window_geometry& g, const T* x, const T* w, const T* dy, T* dx) {
  for (std::int64_t i = 0; i < g.batch * g.in_h * g.in_w * g.in_c; ++i) dx[i] = 0;
  for_each_winner(g, x, w, [&](std::int64_t at, const winner<T>& best) {
    if (best.exists) dx[best.input] += dy[at];
  });
}

template <dtype Type, class T = storage_t<Type>>
void Dilation2DBackpropFilter(const window_geometry& g, const T* x, const T* w, const T* dy, T* dw) {
  for (std::int64_t i = 0; i < g.filter_h * g.filter_w * g.in_c; ++i) dw[i] = 0;
  for_each_winner(g, x, w, [&](std::int64_t at, const winner<T>& best) {
    if (best.exists) dw[best.tap] += dy[at];
  });
}

template <dtype Type, class T = storage_t<Type>>
void Dilation2DGatherInput(const window_geometry& g, const T* source, const T* x, const T* w, T* z) {
  for_each_winner(g, x, w,
                  [&](std::int64_t at, const winner<T>& best) { z[at] = best.exists ? source[best.input] : T{0}; });
}

template <dtype Type, class T = storage_t<Type>>
void Dilation2DGatherFilter(const window_geometry& g, const T* source, const T* x, const T* w, T* z) {
  for_each_winner(g, x, w,
                  [&](std::int64_t at, const winner<T>& best) { z[at] = best.exists ? source[best.tap] : T{0}; });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_DILATION_KERNELS)

}  // namespace kerngrad::kernels::reference
