// SPDX-License-Identifier: Apache-2.0
// From the definitions, one class after the other; in long double throughout, rounded once.
#include "kernels/softmax/softmax.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

// One line of classes; `x` and the results are `step` elements apart.
template <class T>
struct line {
  const T* x;
  std::int64_t count, step;
  long double operator[](std::int64_t i) const { return x[i * step]; }

  long double maximum() const {
    long double m = -std::numeric_limits<long double>::infinity();
    for (std::int64_t i = 0; i < count; ++i) m = (*this)[i] > m ? (*this)[i] : m;
    return m;
  }
  long double sum(long double shift) const {
    long double s = 0;
    for (std::int64_t i = 0; i < count; ++i) s += std::exp((*this)[i] - shift);
    return s;
  }
};

// Calls f(line, first element, number) for each line of classes.
template <class T, class F>
void each_line(const reduce_geometry& g, const T* x, F f) {
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
    const std::int64_t first = i / g.inner * g.count * g.inner + i % g.inner;
    f(line<T>{x + first, g.count, g.inner}, first, i);
  }
}

template <dtype Type, class T = storage_t<Type>>
void Softmax(const reduce_geometry& g, const T* x, T* y) {
  each_line(g, x, [&](const line<T>& l, std::int64_t first, std::int64_t) {
    const long double m = l.maximum(), s = l.sum(m);
    for (std::int64_t i = 0; i < l.count; ++i) y[first + i * l.step] = static_cast<T>(std::exp(l[i] - m) / s);
  });
}

template <dtype Type, class T = storage_t<Type>>
void LogSoftmax(const reduce_geometry& g, const T* x, T* y) {
  each_line(g, x, [&](const line<T>& l, std::int64_t first, std::int64_t) {
    const long double m = l.maximum(), log_sum = std::log(l.sum(m));
    for (std::int64_t i = 0; i < l.count; ++i) y[first + i * l.step] = static_cast<T>(l[i] - m - log_sum);
  });
}

template <dtype Type, class T = storage_t<Type>>
void LogSumExp(const reduce_geometry& g, const T* x, T* y) {
  each_line(g, x, [&](const line<T>& l, std::int64_t, std::int64_t number) {
    const long double m = l.maximum(), shift = std::isfinite(m) ? m : 0.0L;
    y[number] = static_cast<T>(shift + std::log(l.sum(shift)));
  });
}

template <dtype Type, class T = storage_t<Type>>
void SoftmaxCrossEntropy(const reduce_geometry& g, const T* x, const T* labels, T* y) {
  each_line(g, x, [&](const line<T>& l, std::int64_t first, std::int64_t number) {
    const long double m = l.maximum(), log_sum = std::log(l.sum(m));
    long double loss = 0;
    for (std::int64_t i = 0; i < l.count; ++i) loss -= labels[first + i] * (l[i] - m - log_sum);
    y[number] = static_cast<T>(loss);
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SOFTMAX_KERNELS)

}  // namespace kerngrad::kernels::reference
