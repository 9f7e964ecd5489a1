// SPDX-License-Identifier: Apache-2.0
// Local response normalization across channels (Krizhevsky, Sutskever and Hinton 2012, section 3.3) and its gradient.
//
// Pixels stand side by side in a buffer, with gaps of `radius` zeros between them, so that vectors are full however few
// channels there are, and no window meets another pixel. The sums of windows of 2 radius + 1 terms are put together
// from those of 1, 2, 4, ... terms: their number of additions grows with the logarithm of the radius, and nothing
// cancels, as it would in differences of running sums.
//
// Error: sums within log2(2 radius + 1) + 1 roundings, the power as given for Pow in accuracy.h, or four roundings for
// the exponents 1/2, 3/4 and 1. If n is 0 or below, the result is what C's pow gives: infinite, or NaN. Elements
// whose n is so large or small that squares or powers leave the range of T are computed in the next wider type.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/response.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
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

// ------------------------------------------------------------------------------------------ numbers of any size

/// The interval of n in which its powers, and x * n^(-beta - 1), are normal numbers of T.
template <class T>
class normal_range {
 public:
  explicit normal_range(const response_geometry& g) : norm_(g) {
    // x is at most (n / alpha)^(1/2).
    const double bits = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits;
    most_ = static_cast<T>(std::exp2(std::floor(bits / std::max(1.0, std::fabs(g.beta) + 0.5))));
    least_ = 1 / most_;
  }
  HWY_INLINE bool has_all(const T* sums, std::size_t count) const {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    bool all = true;
    if (count < lanes) {
      for (std::size_t i = 0; i < count; ++i) all &= has(norm_.bias + norm_.alpha * sums[i]);
      return all;
    }
    auto in_range = hn::FirstN(d, lanes);
    for (std::size_t i = 0; i < count; i += lanes) {  // the last vector overlaps the one before
      const auto n = norm_(d, hn::LoadU(d, sums + std::min(i, count - lanes)));
      in_range = hn::And(in_range, hn::And(hn::Ge(n, hn::Set(d, least_)), hn::Le(n, hn::Set(d, most_))));
    }
    return hn::AllTrue(d, in_range);
  }

 private:
  bool has(T n) const { return n >= least_ && n <= most_; }

  const norm_of<T> norm_;
  T least_, most_;
};

/// The channels of one pixel, in a type whose range has the squares of T.
template <class T>
class wide_pixel {
 public:
  using wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  wide_pixel(const response_geometry& g, const T* x) : g_(g), x_(x) {}
  wide result(std::int64_t c) const { return x_[c] * power(c); }
  wide gradient(std::int64_t c, const T* y, const T* dy) const {
    const wide sum = sum_around(c, [&](std::int64_t k) { return wide{dy[k]} * y[k] / norm(k); });
    return dy[c] * power(c) - static_cast<wide>(2 * g_.alpha * g_.beta) * x_[c] * sum;
  }

 private:
  template <class Term>
  wide sum_around(std::int64_t c, const Term& term) const {
    wide sum = 0;
    const std::int64_t end = std::min(c + g_.radius + 1, g_.channels);
    for (std::int64_t k = std::max<std::int64_t>(c - g_.radius, 0); k < end; ++k) sum += term(k);
    return sum;
  }
  wide norm(std::int64_t c) const {
    const wide sum = sum_around(c, [&](std::int64_t k) { return wide{x_[k]} * x_[k]; });
    return static_cast<wide>(g_.bias) + static_cast<wide>(g_.alpha) * sum;
  }

  wide power(std::int64_t c) const { return std::pow(norm(c), static_cast<wide>(-g_.beta)); }

  const response_geometry& g_;
  const T* const x_;
};

/// Fills the sums of squares of `pixels` pixels.
template <class T>
HWY_INLINE void add_squares(window_sums<T>& windows, const response_geometry& g, const T* x, std::int64_t first,
                            std::int64_t pixels) {
  windows.add_up(pixels, [&](T* to, std::int64_t i) HWY_ATTR {
    map_array<T>(square_of{}, to, static_cast<std::size_t>(g.channels), array(x + (first + i) * g.channels));
  });
}

/// Replaces elements of y by element(pixel, channel) where a sum up to `reach` channels away is out of `range`.
template <class T, class Element>
void replace_extremes(window_sums<T>& windows, const response_geometry& g, const normal_range<T>& range, const T* x,
                      std::int64_t first, std::int64_t pixels, std::int64_t reach, T* y, const Element& element) {
  add_squares(windows, g, x, first, pixels);
  for (std::int64_t i = 0; i < pixels; ++i) {
    const wide_pixel<T> pixel(g, x + (first + i) * g.channels);
    const T* const sums = windows.sums() + windows.at(i);
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const std::int64_t begin = std::max<std::int64_t>(c - reach, 0), end = std::min(c + reach + 1, g.channels);
      if (!range.has_all(sums + begin, static_cast<std::size_t>(end - begin)))
        y[(first + i) * g.channels + c] = static_cast<T>(element(pixel, first + i, c));
    }
  }
}

// ------------------------------------------------------------------------------------------ kernels

template <dtype Type, class T = storage_t<Type>>
void LRN(const response_geometry& g, const T* x, T* y) {
  const std::size_t channels = static_cast<std::size_t>(g.channels);
  const normal_range<T> range(g);
  with_power<T>(g, [&](const auto& power) HWY_ATTR {
    for_pixels<T>(g, [&](window_sums<T>& windows, std::int64_t first, std::int64_t pixels) HWY_ATTR {
      add_squares(windows, g, x, first, pixels);
      const bool normal = range.has_all(windows.sums(), windows.count(pixels));
      map_array<T>(power, windows.sums(), windows.count(pixels), array<T>(windows.sums()));
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t at = (first + i) * g.channels;
        map_array<T>(product_of_two{}, y + at, channels, array(x + at), array<T>(windows.sums() + windows.at(i)));
      }
      if (!normal)
        replace_extremes(windows, g, range, x, first, pixels, 0, y,
                         [](const auto& pixel, std::int64_t, std::int64_t c) { return pixel.result(c); });
    });
  });
}

template <dtype Type, class T = storage_t<Type>>
void LRNGrad(const response_geometry& g, const T* x, const T* y, const T* dy, T* dx) {
  const std::size_t channels = static_cast<std::size_t>(g.channels);
  const norm_of<T> norm(g);
  const gradient_of<T> gradient(g);
  const normal_range<T> range(g);
  with_power<T>(g, [&](const auto& power) HWY_ATTR {
    for_pixels<T>(g, [&](window_sums<T>& windows, std::int64_t first, std::int64_t pixels) HWY_ATTR {
      add_squares(windows, g, x, first, pixels);
      const bool normal = range.has_all(windows.sums(), windows.count(pixels));
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
      if (!normal)
        replace_extremes(windows, g, range, x, first, pixels, g.radius, dx,
                         [&](const auto& pixel, std::int64_t row, std::int64_t c) {
                           return pixel.gradient(c, y + row * g.channels, dy + row * g.channels);
                         });
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
