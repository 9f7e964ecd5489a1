// SPDX-License-Identifier: Apache-2.0
// From the definitions, one element after the other: float32 in double, float64 in long double, rounded once;
// integers modulo their width, sums of bytes modulo 2^64.
#include "kernels/reduce/reduce.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

template <class T, bool Float = std::is_floating_point_v<T>> struct wide {
  using type = std::make_unsigned_t<T>;
};
template <> struct wide<std::uint8_t, false> {
  using type = std::uint64_t;
};
template <> struct wide<float, true> {
  using type = double;
};
template <> struct wide<double, true> {
  using type = long double;
};
template <class T> using wide_t = typename wide<T>::type;

template <class T>
struct column {
  const T* x;
  std::int64_t count, step;
  T operator[](std::int64_t i) const { return x[i * step]; }
};

template <class T> wide_t<T> total(const column<T>& c) {
  wide_t<T> sum = 0;
  for (std::int64_t i = 0; i < c.count; ++i) sum += static_cast<wide_t<T>>(c[i]);
  return sum;
}

// y[i] = of(column) for each column of the middle axis. Parts of complex numbers are columns of their own.
template <dtype Type, class T, class Y, class F>
void each_column(const reduce_geometry& g, const T* x, Y* y, F of) {
  constexpr std::int64_t parts = parts_of<storage_t<Type>>::count;
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
    const T* first = x + parts * (i / g.inner * g.count * g.inner + i % g.inner);
    for (std::int64_t part = 0; part < parts; ++part)
      y[parts * i + part] = of(column<T>{first + part, g.count, parts * g.inner});
  }
}

template <dtype Type, class T = part_t<Type>, class Total = std::conditional_t<Type == dtype::uint8, std::int64_t, T>>
void Sum(const reduce_geometry& g, const T* x, Total* y) {
  each_column<Type>(g, x, y, [](const column<T>& c) { return static_cast<Total>(total(c)); });
}

template <dtype Type, class T = part_t<Type>>
void Mean(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y,
                    [](const column<T>& c) { return static_cast<T>(total(c) / static_cast<wide_t<T>>(c.count)); });
}

template <dtype Type, class T = storage_t<Type>>
void Prod(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, [](const column<T>& c) {
    wide_t<T> product = 1;
    for (std::int64_t i = 0; i < c.count; ++i) product *= static_cast<wide_t<T>>(c[i]);
    return static_cast<T>(product);
  });
}

// Returns the greatest or the least element, or the first NaN.
template <bool Greatest, dtype Type, class T>
T extreme(const column<T>& c) {
  using limits = std::numeric_limits<T>;
  T best = Greatest ? limits::lowest() : Type == dtype::boolean ? T{1} : limits::max();
  if (limits::has_infinity) best = Greatest ? -limits::infinity() : limits::infinity();
  for (std::int64_t i = 0; i < c.count; ++i) {
    if (c[i] != c[i]) return c[i];
    if (Greatest ? c[i] > best : c[i] < best) best = c[i];
  }
  return best;
}

template <dtype Type, class T = storage_t<Type>>
void Max(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, extreme<true, Type, T>);
}

template <dtype Type, class T = storage_t<Type>>
void Min(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, extreme<false, Type, T>);
}

// Returns the greatest or the least element that is not NaN.
template <bool Greatest, class T>
T extreme_number(const column<T>& c) {
  T best = Greatest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < c.count; ++i)
    if (Greatest ? c[i] > best : c[i] < best) best = c[i];
  return best;
}

template <dtype Type, class T = storage_t<Type>>
void NanMax(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, extreme_number<true, T>);
}

template <dtype Type, class T = storage_t<Type>>
void NanMin(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, extreme_number<false, T>);
}

// Says if an element is zero, or with Zero = false, if one is not.
template <bool Zero, class T>
bool has(const column<T>& c) {
  for (std::int64_t i = 0; i < c.count; ++i)
    if ((c[i] == 0) == Zero) return true;
  return false;
}

template <dtype Type, class T = storage_t<Type>>
void All(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, [](const column<T>& c) { return has<true>(c) ? T{0} : T{1}; });
}

template <dtype Type, class T = storage_t<Type>>
void Any(const reduce_geometry& g, const T* x, T* y) {
  each_column<Type>(g, x, y, [](const column<T>& c) { return has<false>(c) ? T{1} : T{0}; });
}

// Returns the index of the first greatest or least element. NaN is passed over unless it is the first element.
template <bool Greatest, class T>
std::int32_t index_of_extreme(const column<T>& c) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < c.count; ++i) {
    if (Greatest ? c[i] > c[best] : c[i] < c[best]) best = i;
  }
  return static_cast<std::int32_t>(best);
}

template <dtype Type, class T = storage_t<Type>>
void ArgMax(const reduce_geometry& g, const T* x, std::int32_t* y) {
  each_column<Type>(g, x, y, index_of_extreme<true, T>);
}

template <dtype Type, class T = storage_t<Type>>
void ArgMin(const reduce_geometry& g, const T* x, std::int32_t* y) {
  each_column<Type>(g, x, y, index_of_extreme<false, T>);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_REDUCE_KERNELS)

}  // namespace kerngrad::kernels::reference
