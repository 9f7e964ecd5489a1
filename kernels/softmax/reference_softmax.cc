// SPDX-License-Identifier: Apache-2.0
// From the definitions, one class after the other; in long double throughout, rounded once.
#include "kernels/softmax/reference_softmax.h"

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

template <class T> void Softmax(const line<T>& l, T* y) {
  const long double m = l.maximum(), s = l.sum(m);
  for (std::int64_t i = 0; i < l.count; ++i) y[i * l.step] = static_cast<T>(std::exp(l[i] - m) / s);
}

template <class T> void LogSoftmax(const line<T>& l, T* y) {
  const long double m = l.maximum(), log_sum = std::log(l.sum(m));
  for (std::int64_t i = 0; i < l.count; ++i) y[i * l.step] = static_cast<T>(l[i] - m - log_sum);
}

template <class T> void LogSumExp(const line<T>& l, T* y) {
  const long double m = l.maximum(), shift = std::isfinite(m) ? m : 0.0L;
  *y = static_cast<T>(shift + std::log(l.sum(shift)));
}

template <class T> void SoftmaxCrossEntropy(const line<T>& l, const T* labels, T* y) {
  const long double m = l.maximum(), log_sum = std::log(l.sum(m));
  long double loss = 0;
  for (std::int64_t i = 0; i < l.count; ++i) loss -= labels[i] * (l[i] - m - log_sum);
  *y = static_cast<T>(loss);
}

template <class T, class F>
void each_line(const void* const* in, const reduce_geometry& g, F f) {
  const T* x = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
    const std::int64_t first = i / g.inner * g.count * g.inner + i % g.inner;
    f(line<T>{x + first, g.count, g.inner}, first, i);
  }
}

}  // namespace

#define KG_LINES(Name, type, T, call)                                                            \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) {            \
    T* y = static_cast<T*>(out[0]);                                                              \
    const auto one = [&]([[maybe_unused]] const line<T>& l, [[maybe_unused]] std::int64_t first, \
                         [[maybe_unused]] std::int64_t i) { call; };                             \
    each_line<T>(in, *static_cast<const reduce_geometry*>(geometry), one);                       \
  }
#define KG_FAMILY(type, T)                                \
  KG_LINES(Softmax, type, T, Softmax(l, y + first))       \
  KG_LINES(LogSoftmax, type, T, LogSoftmax(l, y + first)) \
  KG_LINES(LogSumExp, type, T, LogSumExp(l, y + i))       \
  KG_LINES(SoftmaxCrossEntropy, type, T, SoftmaxCrossEntropy(l, static_cast<const T*>(in[1]) + first, y + i))
KG_FAMILY(float32, float)
KG_FAMILY(float64, double)
#undef KG_FAMILY
#undef KG_LINES

}  // namespace kerngrad::kernels::reference
