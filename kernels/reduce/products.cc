// SPDX-License-Identifier: Apache-2.0
// Everything is carried in double precision and rounded once. Columns are taken in strips, so that what is carried
// stays in the first-level cache.
#include "kernels/reduce/products.h"

#include <algorithm>
#include <cstddef>

namespace kerngrad::kernels {
namespace {

constexpr std::int64_t strip = 256;  // numbers

struct carried_numbers {
  alignas(64) double re[strip];
  alignas(64) double im[strip];
  void start(std::int64_t width, double value) {
    std::fill_n(re, width, value);
    std::fill_n(im, width, 0.0);
  }
};

struct plus {
  static constexpr double start = 0;
  static void join(carried_numbers& carry, std::int64_t i, double re, double im) {
    carry.re[i] += re;
    carry.im[i] += im;
  }
};
struct times {
  static constexpr double start = 1;
  static void join(carried_numbers& carry, std::int64_t i, double re, double im) {
    const double left = carry.re[i];
    carry.re[i] = left * re - carry.im[i] * im;
    carry.im[i] = left * im + carry.im[i] * re;
  }
};

// Rows of few numbers have four partial products each, which do not wait for each other.
template <class T>
void row_product(std::int64_t count, const T* x, T* y) {
  constexpr std::int64_t side_by_side = 4;
  carried_numbers carry;
  carry.start(side_by_side, times::start);
  std::int64_t i = 0;
  for (; i + side_by_side <= count; i += side_by_side)
    for (std::int64_t k = 0; k < side_by_side; ++k) times::join(carry, k, x[2 * (i + k)], x[2 * (i + k) + 1]);
  for (; i < count; ++i) times::join(carry, i % side_by_side, x[2 * i], x[2 * i + 1]);
  for (std::int64_t k = 1; k < side_by_side; ++k) times::join(carry, 0, carry.re[k], carry.im[k]);
  y[0] = static_cast<T>(carry.re[0]), y[1] = static_cast<T>(carry.im[0]);
}

template <dtype Type, class T = part_t<Type>>
void Prod(const reduce_geometry& g, const T* x, T* y) {
  carried_numbers carry;
  for (std::int64_t o = 0; o < g.outer; ++o, x += 2 * g.count * g.inner, y += 2 * g.inner) {
    if (g.inner == 1) {
      row_product(g.count, x, y);
      continue;
    }
    for (std::int64_t j = 0; j < g.inner; j += strip) {
      const std::int64_t width = std::min(strip, g.inner - j);
      carry.start(width, times::start);
      for (std::int64_t r = 0; r < g.count; ++r) {
        const T* row = x + 2 * (r * g.inner + j);
        for (std::int64_t i = 0; i < width; ++i) times::join(carry, i, row[2 * i], row[2 * i + 1]);
      }
      for (std::int64_t i = 0; i < width; ++i)
        y[2 * (j + i)] = static_cast<T>(carry.re[i]), y[2 * (j + i) + 1] = static_cast<T>(carry.im[i]);
    }
  }
}

// The results may take the operand's memory: an element is read before its position is written.
template <class Op, bool Exclusive, class T>
void scan(const scan_geometry& g, const T* x, T* y) {
  carried_numbers carry;
  for (std::int64_t o = 0; o < g.outer; ++o, x += 2 * g.count * g.inner, y += 2 * g.count * g.inner) {
    for (std::int64_t j = 0; j < g.inner; j += strip) {
      const std::int64_t width = std::min(strip, g.inner - j);
      carry.start(width, Op::start);
      for (std::int64_t r = 0; r < g.count; ++r) {
        const std::int64_t at = 2 * ((g.reverse ? g.count - 1 - r : r) * g.inner + j);
        for (std::int64_t i = 0; i < width; ++i) {
          const double before_re = carry.re[i], before_im = carry.im[i];
          Op::join(carry, i, x[at + 2 * i], x[at + 2 * i + 1]);
          y[at + 2 * i] = static_cast<T>(Exclusive ? before_re : carry.re[i]);
          y[at + 2 * i + 1] = static_cast<T>(Exclusive ? before_im : carry.im[i]);
        }
      }
    }
  }
}

template <dtype Type, class T = part_t<Type>>
void Cumsum(const scan_geometry& g, const T* x, T* y) {
  g.exclusive ? scan<plus, true>(g, x, y) : scan<plus, false>(g, x, y);
}
template <dtype Type, class T = part_t<Type>>
void Cumprod(const scan_geometry& g, const T* x, T* y) {
  g.exclusive ? scan<times, true>(g, x, y) : scan<times, false>(g, x, y);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_PRODUCT_KERNELS)

}  // namespace kerngrad::kernels
