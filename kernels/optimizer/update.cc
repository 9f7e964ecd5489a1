// SPDX-License-Identifier: Apache-2.0
// One functor per optimizer on full vectors; the last elements go through padded stack buffers, so that every element
// sees the same arithmetic wherever it lies.
#include "kernels/optimizer/update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/update.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Runs step(p, s0, s1, g) over arrays, where s0 and s1 are state that may be absent (null).
template <class T, class Step>
HWY_INLINE void update(T* HWY_RESTRICT p, T* HWY_RESTRICT s0, T* HWY_RESTRICT s1, const T* HWY_RESTRICT g,
                       std::size_t n, const Step& step) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = [&](T* pp, T* ss0, T* ss1, const T* gg) HWY_ATTR {
    auto x = hn::LoadU(d, pp);
    auto m = ss0 ? hn::LoadU(d, ss0) : hn::Zero(d);
    auto v = ss1 ? hn::LoadU(d, ss1) : hn::Zero(d);
    step(d, x, m, v, hn::LoadU(d, gg));
    hn::StoreU(x, d, pp);
    if (ss0) hn::StoreU(m, d, ss0);
    if (ss1) hn::StoreU(v, d, ss1);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) one(p + i, s0 ? s0 + i : nullptr, s1 ? s1 + i : nullptr, g + i);
  if (i == n) return;
  T tail[4][HWY_MAX_BYTES / sizeof(T)] = {};
  const std::size_t bytes = (n - i) * sizeof(T);
  std::memcpy(tail[0], p + i, bytes);
  if (s0) std::memcpy(tail[1], s0 + i, bytes);
  if (s1) std::memcpy(tail[2], s1 + i, bytes);
  std::memcpy(tail[3], g + i, bytes);
  one(tail[0], s0 ? tail[1] : nullptr, s1 ? tail[2] : nullptr, tail[3]);
  std::memcpy(p + i, tail[0], bytes);
  if (s0) std::memcpy(s0 + i, tail[1], bytes);
  if (s1) std::memcpy(s1 + i, tail[2], bytes);
}

// A moment that decays without a gradient would end among the subnormal numbers, where arithmetic is ten times
// slower on many CPUs: below the smallest normal number it is zero. NaN stays.
template <class D, class V>
HWY_INLINE V without_subnormals(D d, V x) {
  const V least = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), least), x);
}

struct Sgd {
  double rate;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V&, V&, V g) const {
    x = hn::NegMulAdd(hn::Set(d, static_cast<hn::TFromD<D>>(rate)), g, x);
  }
};

struct Momentum {
  double rate, friction;
  bool nesterov;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& m, V&, V g) const {
    using T = hn::TFromD<D>;
    const V mu = hn::Set(d, static_cast<T>(friction));
    m = without_subnormals(d, hn::MulAdd(mu, m, g));
    const V direction = nesterov ? hn::MulAdd(mu, m, g) : m;
    x = hn::NegMulAdd(hn::Set(d, static_cast<T>(rate)), direction, x);
  }
};

struct Adam {
  adam_step s;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& m, V& v, V g) const {
    using T = hn::TFromD<D>;
    const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
    m = without_subnormals(d, hn::MulAdd(set(s.beta1), m, hn::Mul(set(1 - s.beta1), g)));
    v = without_subnormals(d, hn::MulAdd(set(s.beta2), v, hn::Mul(set(1 - s.beta2), hn::Mul(g, g))));
    const V root = hn::Add(hn::Sqrt(hn::Mul(v, set(s.correction2))), set(s.epsilon));
    x = hn::NegMulAdd(set(s.rate * s.correction1), hn::Div(m, root), x);
  }
};

void sgd_f32(float* p, const float* g, std::size_t n, double rate) {
  update<float>(p, nullptr, nullptr, g, n, Sgd{rate});
}
void sgd_f64(double* p, const double* g, std::size_t n, double rate) {
  update<double>(p, nullptr, nullptr, g, n, Sgd{rate});
}
void momentum_f32(float* p, float* m, const float* g, std::size_t n, double rate, double friction, bool nesterov) {
  update<float>(p, m, nullptr, g, n, Momentum{rate, friction, nesterov});
}
void momentum_f64(double* p, double* m, const double* g, std::size_t n, double rate, double friction, bool nesterov) {
  update<double>(p, m, nullptr, g, n, Momentum{rate, friction, nesterov});
}
void adam_f32(float* p, float* m, float* v, const float* g, std::size_t n, const adam_step& step) {
  update<float>(p, m, v, g, n, Adam{step});
}
void adam_f64(double* p, double* m, double* v, const double* g, std::size_t n, const adam_step& step) {
  update<double>(p, m, v, g, n, Adam{step});
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_TARGETS_OF(sgd_f32);
KG_TARGETS_OF(sgd_f64);
KG_TARGETS_OF(momentum_f32);
KG_TARGETS_OF(momentum_f64);
KG_TARGETS_OF(adam_f32);
KG_TARGETS_OF(adam_f64);

void sgd_float32(float* p, const float* g, std::size_t n, double rate) { KG_ON_TARGET(sgd_f32)(p, g, n, rate); }
void sgd_float64(double* p, const double* g, std::size_t n, double rate) { KG_ON_TARGET(sgd_f64)(p, g, n, rate); }
void momentum_float32(float* p, float* m, const float* g, std::size_t n, double rate, double friction, bool nesterov) {
  KG_ON_TARGET(momentum_f32)(p, m, g, n, rate, friction, nesterov);
}
void momentum_float64(double* p, double* m, const double* g, std::size_t n, double rate, double friction,
                      bool nesterov) {
  KG_ON_TARGET(momentum_f64)(p, m, g, n, rate, friction, nesterov);
}
void adam_float32(float* p, float* m, float* v, const float* g, std::size_t n, const adam_step& step) {
  KG_ON_TARGET(adam_f32)(p, m, v, g, n, step);
}
void adam_float64(double* p, double* m, double* v, const double* g, std::size_t n, const adam_step& step) {
  KG_ON_TARGET(adam_f64)(p, m, v, g, n, step);
}

}  // namespace kerngrad::kernels
#endif
