// SPDX-License-Identifier: Apache-2.0
// The loops of the kernels of complex numbers, once per target. A map says with its base class what it takes: vectors
// with pairs of lanes, or vectors of real and of imaginary parts.
#if defined(KERNGRAD_KERNELS_COMPLEX_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_COMPLEX_LOOPS_INL_H_
#undef KERNGRAD_KERNELS_COMPLEX_LOOPS_INL_H_
#else
#define KERNGRAD_KERNELS_COMPLEX_LOOPS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Two variables with the real and the imaginary parts of as many numbers as a vector has lanes.
template <class V>
struct part_vectors {
  V& re;
  V& im;
};

// Loads `count` numbers, or as many as there are lanes, as parts; missing ones are 1.
template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void load_parts(D d, const T* z, std::size_t count, part_vectors<V> y) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadInterleaved2(d, z, y.re, y.im);
  T some[2 * hn::MaxLanes(D{})] = {};
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) some[2 * i] = 1;
  std::memcpy(some, z, 2 * count * sizeof(T));
  hn::LoadInterleaved2(d, some, y.re, y.im);
}
template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void store_parts(D d, V re, V im, T* y, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::StoreInterleaved2(re, im, d, y);
  T some[2 * hn::MaxLanes(D{})];
  hn::StoreInterleaved2(re, im, d, some);
  std::memcpy(y, some, 2 * count * sizeof(T));
}

// An operand of a loop: an array of numbers, or one number.
template <class T>
struct number_source {
  const T* z;
  bool moves;

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void load(D d, std::size_t i, std::size_t count, part_vectors<V> y) const {
    if (moves) return load_parts(d, z + 2 * i, count, y);
    y.re = hn::Set(d, z[0]), y.im = hn::Set(d, z[1]);
  }
};

// Maps of parts. Their results are numbers, or masks.
struct parts_map {
  template <class T> using out = T;
  template <class Map, class T>
  static HWY_INLINE void run(Map map, number_source<T> x, T* y, std::size_t n) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> re = hn::Zero(d), im = re, u = re, v = re;
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      x.load(d, i, n - i, part_vectors<decltype(re)>{re, im});
      map(d, re, im, part_vectors<decltype(re)>{u, v});
      store_parts(d, u, v, y + 2 * i, n - i);
    }
  }
  template <class Map, class T>
  static HWY_INLINE void run(Map map, number_source<T> left, number_source<T> right, T* y, std::size_t n) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> a = hn::Zero(d), b = a, c = a, e = a, u = a, v = a;
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      left.load(d, i, n - i, part_vectors<decltype(a)>{a, b});
      right.load(d, i, n - i, part_vectors<decltype(a)>{c, e});
      map(d, a, b, c, e, part_vectors<decltype(a)>{u, v});
      store_parts(d, u, v, y + 2 * i, n - i);
    }
  }
};

// Numbers of floats go through double lanes, as many as there are in a vector.
struct wide_map : parts_map {
  template <class Map>
  static HWY_INLINE void run(Map map, number_source<double> left, number_source<double> right, double* y,
                             std::size_t n) {
    parts_map::run(map, left, right, y, n);
  }
  template <class Map>
  static HWY_INLINE void run(Map map, number_source<float> left, number_source<float> right, float* y, std::size_t n) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> floats;
    hn::Vec<decltype(d)> u = hn::Zero(d), v = u;
    hn::Vec<decltype(floats)> a = hn::Zero(floats), b = a, c = a, e = a;
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      left.load(floats, i, n - i, part_vectors<decltype(a)>{a, b});
      right.load(floats, i, n - i, part_vectors<decltype(a)>{c, e});
      map(d, hn::PromoteTo(d, a), hn::PromoteTo(d, b), hn::PromoteTo(d, c), hn::PromoteTo(d, e),
          part_vectors<decltype(u)>{u, v});
      store_parts(floats, Narrow(floats, d, u), Narrow(floats, d, v), y + 2 * i, n - i);
    }
  }
};

struct parts_test {
  template <class T> using out = std::uint8_t;
  template <class Map, class T>
  static HWY_INLINE void run(Map map, number_source<T> left, number_source<T> right, std::uint8_t* y, std::size_t n) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> a = hn::Zero(d), b = a, c = a, e = a;
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const part_vectors<decltype(a)> p{a, b}, q{c, e};
      left.load(d, i, n - i, p);
      right.load(d, i, n - i, q);
      const auto mask = map(d, p, q);
      if (n - i >= hn::Lanes(d)) mask_result::put(d, mask, y + i);
      else mask_result::put_first(d, mask, y + i, n - i);
    }
  }
};

// Pairs of lanes: the loops of real numbers, with twice as many elements.
struct lanes_map : short_map {
  template <class T> using out = T;
  template <class Map, class T>
  static HWY_INLINE void run(Map map, number_source<T> x, T* y, std::size_t n) {
    map_array<T>(map, y, 2 * n, array(x.z));
  }
  template <class Map, class T>
  static HWY_INLINE void run(Map map, number_source<T> left, number_source<T> right, T* y, std::size_t n) {
    spread<T> a, b;
    map_array<T>(map, y, 2 * n, lanes_of(left, a), lanes_of(right, b));
  }
  template <class T>
  static HWY_INLINE operand<T> lanes_of(number_source<T> x, spread<T>& room) {
    if (x.moves) return array(x.z);
    for (std::size_t i = 0; i < 4 * hn::Lanes(hn::ScalableTag<T>{}); ++i) room.lanes[i] = x.z[i % 2];
    return {room.lanes, 0};
  }
};

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard that toggles per target
