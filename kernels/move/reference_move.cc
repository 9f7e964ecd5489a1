// SPDX-License-Identifier: Apache-2.0
// From the definitions, index by index. Elements are copied as bytes; sums and products of float32 are carried in
// double, those of float64 in their own type in the order of the elements, integers modulo their width.
#include "kernels/move/move.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/common/sizes.h"

namespace kerngrad::kernels::reference {
namespace {

// Copies the element `from` of x to the element `to` of y.
template <dtype Type> void move_one(const void* x, std::int64_t from, void* y, std::int64_t to) {
  constexpr std::int64_t size = sizeof(storage_t<Type>);
  std::memcpy(static_cast<char*>(y) + to * size, static_cast<const char*>(x) + from * size, sizeof(storage_t<Type>));
}

// The sum in the type's own arithmetic; integers wrap.
template <class T> T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

template <dtype Type>
void StridedCopy(const copy_geometry& g, const void* x, void* y) {
  std::int64_t count = 1;
  for (int a = 0; a < g.rank; ++a) count *= g.dims[a];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = g.in_offset, to = g.out_offset, rest = n;
    for (int a = g.rank - 1; a >= 0; --a) {
      from += rest % g.dims[a] * g.in_strides[a];
      to += rest % g.dims[a] * g.out_strides[a];
      rest /= g.dims[a];
    }
    move_one<Type>(x, from, y, to);
  }
}

template <dtype Type>
void PadV2(const pad_geometry& g, const void* x, void* y) {
  std::int64_t count = 1;
  for (int a = 0; a < g.rank; ++a) count *= g.before[a] + g.dims[a] + g.after[a];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = 0, step = 1, rest = n;
    bool inside = true;
    for (int a = g.rank - 1; a >= 0; --a) {
      const std::int64_t size = g.before[a] + g.dims[a] + g.after[a], at = rest % size - g.before[a];
      inside = inside && at >= 0 && at < g.dims[a];
      from += at * step;
      step *= g.dims[a];
      rest /= size;
    }
    move_one<Type>(inside ? x : g.value, inside ? from : 0, y, n);
  }
}

// Calls f(element of x, element of y) for every element that a gather reads and writes.
template <class F> void each_gathered(const gather_geometry& g, const std::int32_t* indices, F f) {
  for (std::int64_t b = 0; b < g.batch; ++b) {
    for (std::int64_t o = 0; o < g.outer; ++o) {
      for (std::int64_t j = 0; j < g.count; ++j) {
        for (std::int64_t i = 0; i < g.inner; ++i) {
          const std::int64_t part = b * g.outer + o;
          f((part * g.axis + indices[b * g.count + j]) * g.inner + i, (part * g.count + j) * g.inner + i);
        }
      }
    }
  }
}

template <dtype Type>
void GatherV2(const gather_geometry& g, const void* x, const std::int32_t* indices, void* y) {
  each_gathered(g, indices, [&](std::int64_t from, std::int64_t to) { move_one<Type>(x, from, y, to); });
}

// The accumulator of sums at indices, which are rounded once.
template <class T> using sum_of = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <dtype Type, class T = storage_t<Type>>
void GatherGrad(const gather_geometry& g, const T* dy, const std::int32_t* indices, T* dx) {
  std::vector<sum_of<T>> sums(extent(g.batch, g.outer, g.axis, g.inner));
  each_gathered(g, indices, [&](std::int64_t x, std::int64_t y) { sums[static_cast<std::size_t>(x)] += dy[y]; });
  std::transform(sums.begin(), sums.end(), dx, [](auto sum) { return static_cast<T>(sum); });
}

template <dtype Type, class T = storage_t<Type>>
void UnsortedSegmentSum(const segment_geometry& g, const T* x, const std::int32_t* ids, T* y) {
  for (std::int64_t s = 0; s < g.segments; ++s) {
    for (std::int64_t i = 0; i < g.inner; ++i) {
      sum_of<T> sum = 0;
      for (std::int64_t r = 0; r < g.rows; ++r)
        sum = ids[r] == s ? plus(sum, static_cast<sum_of<T>>(x[r * g.inner + i])) : sum;
      y[s * g.inner + i] = static_cast<T>(sum);
    }
  }
}

template <dtype Type>
void ScatterRows(const scatter_geometry& g, const void* x, const std::int32_t* indices, void* y) {
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int64_t i = 0; i < g.inner; ++i) move_one<Type>(x, r * g.step + i, y, indices[r] * g.inner + i);
}

template <dtype Type>
void BandPart(const band_geometry& g, const void* x, void* y) {
  const storage_t<Type> zero{};
  for (std::int64_t n = 0; n < g.count * g.columns; ++n) {
    const std::int64_t row = (g.first + n / g.columns) % g.rows, column = n % g.columns;
    const bool inside = row - column <= g.lower && column - row <= g.upper;
    move_one<Type>(inside ? x : &zero, inside ? n : 0, y, n);
  }
}

template <dtype Type, class T = storage_t<Type>>
void OneHot(const one_hot_geometry& g, const std::int32_t* indices, T* y) {
  for (std::int64_t o = 0; o < g.outer; ++o) {
    for (std::int64_t c = 0; c < g.depth; ++c) {
      for (std::int64_t i = 0; i < g.inner; ++i) {
        y[(o * g.depth + c) * g.inner + i] = static_cast<T>(indices[o * g.inner + i] == c ? g.on : g.off);
      }
    }
  }
}

template <class T, class A, class F> void scan(const T* x, T* y, const scan_geometry& g, A start, F f) {
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    A carry = start;
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t row = g.reverse ? g.count - 1 - r : r;
      const std::int64_t at = (n / g.inner * g.count + row) * g.inner + n % g.inner;
      const A before = carry;
      carry = f(carry, static_cast<A>(x[at]));
      y[at] = static_cast<T>(g.exclusive ? before : carry);
    }
  }
}

// Type that a scan carries: double for both float types, the unsigned type of integers.
template <class T, bool Float = std::is_floating_point_v<T>> struct carried {
  using type = std::make_unsigned_t<T>;
};
template <class T> struct carried<T, true> {
  using type = double;
};

template <dtype Type, class T = storage_t<Type>>
void Cumsum(const scan_geometry& g, const T* x, T* y) {
  using A = typename carried<T>::type;
  scan(x, y, g, A{0}, [](A a, A b) { return a + b; });
}

template <dtype Type, class T = storage_t<Type>>
void Cumprod(const scan_geometry& g, const T* x, T* y) {
  using A = typename carried<T>::type;
  scan(x, y, g, A{1}, [](A a, A b) { return a * b; });
}

// From the definition: of the elements up to each index the first that none goes before, a NaN going before all others.
template <bool Greatest, class T> void running_extreme(const T* x, T* y, const scan_geometry& g) {
  using limits = std::numeric_limits<T>;
  T start = Greatest ? limits::lowest() : limits::max();
  if (limits::has_infinity) start = Greatest ? -limits::infinity() : limits::infinity();
  const auto goes_before = [](T a, T b) { return b == b && (a != a || (Greatest ? a > b : a < b)); };
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    const auto at = [&](std::int64_t step) {
      const std::int64_t row = g.reverse ? g.count - 1 - step : step;
      return (n / g.inner * g.count + row) * g.inner + n % g.inner;
    };
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t seen = g.exclusive ? r : r + 1;
      T best = seen == 0 ? start : x[at(0)];
      for (std::int64_t i = 1; i < seen; ++i) best = goes_before(x[at(i)], best) ? x[at(i)] : best;
      y[at(r)] = best;
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void CumMax(const scan_geometry& g, const T* x, T* y) {
  running_extreme<true>(x, y, g);
}

template <dtype Type, class T = storage_t<Type>>
void CumMin(const scan_geometry& g, const T* x, T* y) {
  running_extreme<false>(x, y, g);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_MOVE_KERNELS)

}  // namespace kerngrad::kernels::reference
