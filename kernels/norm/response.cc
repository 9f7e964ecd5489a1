// SPDX-License-Identifier: Apache-2.0
// Local response normalization across channels (Krizhevsky, Sutskever and Hinton 2012, section 3.3) and its gradient.
//
// Pixels stand side by side in a buffer, with gaps of `radius` zeros between them, so that vectors are full however few
// channels there are, and no window meets another pixel. The sums of windows of 2 radius + 1 terms are put together
// from those of 1, 2, 4, ... terms: their number of additions grows with the logarithm of the radius, and nothing
// cancels, as it would in differences of running sums.
//
// Error: sums within log2(2 radius + 1) + 1 roundings, the power as given for Pow in accuracy.h, or four roundings for
// the exponents 1/2, 3/4 and 1. Where n is 0 or below, the result is what C's pow gives: infinite, or NaN.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/response.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"
#include "kernels/norm/response.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// ------------------------------------------------------------------------------------------ maps

struct sum_of_two : short_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
struct square_of : short_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};
struct product_of_two : short_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// n, from the sum of squares.
template <class T>
struct norm_of : short_map {
  T bias, alpha;
  explicit norm_of(const response_geometry& g) : bias(static_cast<T>(g.bias)), alpha(static_cast<T>(g.alpha)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V sum) const {
    return hn::Add(hn::Set(d, bias), hn::Mul(hn::Set(d, alpha), sum));
  }
};

// n^-beta for the exponents that have a shorter way, and for any.
struct inverse {
  template <class D, class V>
  static HWY_INLINE V of(D d, V n, V) {
    return hn::Div(hn::Set(d, 1), n);
  }
};
struct inverse_root {
  template <class D, class V>
  static HWY_INLINE V of(D d, V n, V) {
    return hn::Div(hn::Set(d, 1), hn::Sqrt(n));
  }
};
struct inverse_three_quarters {
  template <class D, class V>
  static HWY_INLINE V of(D d, V n, V) {
    const V root = hn::Sqrt(n);
    return hn::Div(hn::Set(d, 1), hn::Mul(root, hn::Sqrt(root)));
  }
};
struct any_power {
  template <class D, class V>
  static HWY_INLINE V of(D d, V n, V exponent) {
    return Pow(d, n, exponent);
  }
};

/// n^-beta, from the sum of squares.
template <class T, class Power>
struct power_of : long_map {
  norm_of<T> norm;
  T exponent;
  explicit power_of(const response_geometry& g) : norm(g), exponent(static_cast<T>(-g.beta)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V sum) const {
    return Power::of(d, norm(d, sum), hn::Set(d, exponent));
  }
};

struct weighted_quotient : short_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V dy, V y, V n) const {
    return hn::Div(hn::Mul(dy, y), n);
  }
};

template <class T>
struct gradient_of : short_map {
  T slope;
  explicit gradient_of(const response_geometry& g) : slope(static_cast<T>(2 * g.alpha * g.beta)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V power, V x, V sum) const {
    return hn::Sub(hn::Mul(dy, power), hn::Mul(hn::Mul(hn::Set(d, slope), x), sum));
  }
};

// ------------------------------------------------------------------------------------------ windows

// Elements of a buffer, for as many pixels as fit: the buffers stay in a first-level cache.
constexpr std::int64_t room = 1024;

/// How many pixels are worked on together.
inline std::int64_t pixels_together(const response_geometry& g) {
  return std::clamp<std::int64_t>((room - g.radius) / (g.channels + g.radius), 1, g.rows);
}

/// Sums over the windows of some pixels.
template <class T>
class window_sums {
 public:
  explicit window_sums(const response_geometry& g)
      : radius_(g.radius),
        pitch_(sum_of(g.channels, g.radius)),
        size_(sum_of(product_of(pixels_together(g), pitch_), g.radius)),
        buffers_(product_of(4, size_)),
        terms_(buffers_.data()),
        others_(terms_ + size_) {}

  /// How many elements of `sums` `pixels` pixels take, gaps between them included, and where one of them begins.
  std::size_t count(std::int64_t pixels) const { return static_cast<std::size_t>(pixels * pitch_ - radius_); }
  std::int64_t at(std::int64_t pixel) const { return pixel * pitch_; }
  T* sums() { return buffers_.data() + 2 * size_; }
  /// Room for as many elements.
  T* powers() { return buffers_.data() + 3 * size_; }

  /// Fills the terms of `pixels` pixels, term(to, i) those of pixel i, and adds them up. `term` may read the sums that
  /// are there before.
  template <class Terms>
  void add_up(std::int64_t pixels, const Terms& term) {
    const std::size_t width = static_cast<std::size_t>(2 * radius_ + 1);
    const std::size_t size = static_cast<std::size_t>(pixels * pitch_ + radius_), found = count(pixels);
    std::fill_n(terms_, size, T{0});
    for (std::int64_t i = 0; i < pixels; ++i) term(terms_ + radius_ + at(i), i);
    std::copy_n(terms_, found, sums());  // the width is odd
    std::size_t begin = 1;
    for (std::size_t length = 2; length <= width; length *= 2) {
      map_array<T>(sum_of_two{}, others_, size - length + 1, array<T>(terms_), array<T>(terms_ + length / 2));
      std::swap(terms_, others_);
      if ((width & length) == 0) continue;
      map_array<T>(sum_of_two{}, sums(), found, array<T>(sums()), array<T>(terms_ + begin));
      begin += length;
    }
  }

 private:
  const std::int64_t radius_, pitch_, size_;
  scratch<T> buffers_;
  T *terms_, *others_;
};

/// Calls work(windows, first, pixels) for all pixels, some at a time, by several threads where that is worth it.
template <class T, class Work>
HWY_INLINE void for_pixels(const response_geometry& g, const Work& work) {
  if (g.rows == 0 || g.channels == 0) return;
  const std::int64_t together = pixels_together(g);
  // The cost of an element is about that of 32 products; chunks are of some thousand elements.
  const std::int64_t chunk = together * std::max<std::int64_t>(1, 8192 / (together * g.channels));
  run_in_chunks((g.rows + chunk - 1) / chunk, saturated_product(g.rows, g.channels, 32),
                [&](std::ptrdiff_t i) HWY_ATTR {
                  window_sums<T> windows(g);
                  const std::int64_t begin = i * chunk, end = std::min(begin + chunk, g.rows);
                  for (std::int64_t first = begin; first < end; first += together)
                    work(windows, first, std::min(together, end - first));
                });
}

/// f with the way to n^-beta.
template <class T, class F>
HWY_INLINE void with_power(const response_geometry& g, const F& f) {
  if (g.beta == 0.5) return f(power_of<T, inverse_root>(g));
  if (g.beta == 0.75) return f(power_of<T, inverse_three_quarters>(g));
  if (g.beta == 1) return f(power_of<T, inverse>(g));
  f(power_of<T, any_power>(g));
}

// ------------------------------------------------------------------------------------------ kernels

template <dtype Type, class T = storage_t<Type>>
void LRN(const response_geometry& g, const T* x, T* y) {
  const std::size_t channels = static_cast<std::size_t>(g.channels);
  with_power<T>(g, [&](const auto& power) HWY_ATTR {
    for_pixels<T>(g, [&](window_sums<T>& windows, std::int64_t first, std::int64_t pixels) HWY_ATTR {
      windows.add_up(pixels, [&](T* to, std::int64_t i) HWY_ATTR {
        map_array<T>(square_of{}, to, channels, array(x + (first + i) * g.channels));
      });
      map_array<T>(power, windows.sums(), windows.count(pixels), array<T>(windows.sums()));
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t at = (first + i) * g.channels;
        map_array<T>(product_of_two{}, y + at, channels, array(x + at), array<T>(windows.sums() + windows.at(i)));
      }
    });
  });
}

template <dtype Type, class T = storage_t<Type>>
void LRNGrad(const response_geometry& g, const T* x, const T* y, const T* dy, T* dx) {
  const std::size_t channels = static_cast<std::size_t>(g.channels);
  const norm_of<T> norm(g);
  const gradient_of<T> gradient(g);
  with_power<T>(g, [&](const auto& power) HWY_ATTR {
    for_pixels<T>(g, [&](window_sums<T>& windows, std::int64_t first, std::int64_t pixels) HWY_ATTR {
      windows.add_up(pixels, [&](T* to, std::int64_t i) HWY_ATTR {
        map_array<T>(square_of{}, to, channels, array(x + (first + i) * g.channels));
      });
      map_array<T>(power, windows.powers(), windows.count(pixels), array<T>(windows.sums()));
      map_array<T>(norm, windows.sums(), windows.count(pixels), array<T>(windows.sums()));
      windows.add_up(pixels, [&](T* to, std::int64_t i) HWY_ATTR {
        const std::int64_t at = (first + i) * g.channels;
        map_array<T>(weighted_quotient{}, to, channels, array(dy + at), array(y + at),
                     array<T>(windows.sums() + windows.at(i)));
      });
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t at = (first + i) * g.channels;
        map_array<T>(gradient, dx + at, channels, array(dy + at), array<T>(windows.powers() + windows.at(i)),
                     array(x + at), array<T>(windows.sums() + windows.at(i)));
      }
    });
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_RESPONSE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_RESPONSE_KERNELS)

}  // namespace kerngrad::kernels
#endif
