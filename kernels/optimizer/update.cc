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

// Arrays of the state. An array that the optimizer does not use is null.
template <class T>
struct states {
  T *first = nullptr, *second = nullptr, *third = nullptr;
  states from(std::size_t i) const {
    return {first ? first + i : nullptr, second ? second + i : nullptr, third ? third + i : nullptr};
  }
};

// Runs step(d, x, first, second, third, g) over arrays; a state that is absent is 0.
template <class T, class Step>
HWY_INLINE void update(T* HWY_RESTRICT p, const states<T>& s, const T* HWY_RESTRICT g, std::size_t n,
                       const Step& step) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = [&](T* pp, const states<T>& ss, const T* gg) HWY_ATTR {
    auto x = hn::LoadU(d, pp);
    auto first = ss.first ? hn::LoadU(d, ss.first) : hn::Zero(d);
    auto second = ss.second ? hn::LoadU(d, ss.second) : hn::Zero(d);
    auto third = ss.third ? hn::LoadU(d, ss.third) : hn::Zero(d);
    step(d, x, first, second, third, hn::LoadU(d, gg));
    hn::StoreU(x, d, pp);
    if (ss.first) hn::StoreU(first, d, ss.first);
    if (ss.second) hn::StoreU(second, d, ss.second);
    if (ss.third) hn::StoreU(third, d, ss.third);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) one(p + i, s.from(i), g + i);
  if (i == n) return;
  T tail[5][HWY_MAX_BYTES / sizeof(T)] = {};
  const std::size_t bytes = (n - i) * sizeof(T);
  const states<T> rest = s.from(i);
  const states<T> padded = {rest.first ? tail[1] : nullptr, rest.second ? tail[2] : nullptr,
                            rest.third ? tail[3] : nullptr};
  std::memcpy(tail[0], p + i, bytes);
  if (rest.first) std::memcpy(tail[1], rest.first, bytes);
  if (rest.second) std::memcpy(tail[2], rest.second, bytes);
  if (rest.third) std::memcpy(tail[3], rest.third, bytes);
  std::memcpy(tail[4], g + i, bytes);
  one(tail[0], padded, tail[4]);
  std::memcpy(p + i, tail[0], bytes);
  if (rest.first) std::memcpy(rest.first, tail[1], bytes);
  if (rest.second) std::memcpy(rest.second, tail[2], bytes);
  if (rest.third) std::memcpy(rest.third, tail[3], bytes);
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
  HWY_INLINE void operator()(D d, V& x, V&, V&, V&, V g) const {
    x = hn::NegMulAdd(hn::Set(d, static_cast<hn::TFromD<D>>(rate)), g, x);
  }
};

struct Momentum {
  double rate, friction;
  bool nesterov;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& m, V&, V&, V g) const {
    using T = hn::TFromD<D>;
    const V mu = hn::Set(d, static_cast<T>(friction));
    m = without_subnormals(d, hn::MulAdd(mu, m, g));
    const V direction = nesterov ? hn::MulAdd(mu, m, g) : m;
    x = hn::NegMulAdd(hn::Set(d, static_cast<T>(rate)), direction, x);
  }
};

// A mean that forgets: decay * old + (1 - decay) * now.
template <class D, class V>
HWY_INLINE V running_mean(D d, double decay, V old, V now) {
  using T = hn::TFromD<D>;
  const V fresh = hn::Mul(hn::Set(d, static_cast<T>(1 - decay)), now);
  return without_subnormals(d, hn::MulAdd(hn::Set(d, static_cast<T>(decay)), old, fresh));
}

template <bool Decays>
struct Adam {
  adam_step s;
  double decay = 0;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& m, V& v, V&, V g) const {
    using T = hn::TFromD<D>;
    const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
    m = running_mean(d, s.beta1, m, g);
    v = running_mean(d, s.beta2, v, hn::Mul(g, g));
    const V root = hn::Add(hn::Sqrt(hn::Mul(v, set(s.correction2))), set(s.epsilon));
    if constexpr (Decays) x = hn::NegMulAdd(set(s.rate * decay), x, x);
    x = hn::NegMulAdd(set(s.rate * s.correction1), hn::Div(m, root), x);
  }
};

struct Adagrad {
  adagrad_step s;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& a, V&, V&, V g) const {
    using T = hn::TFromD<D>;
    a = hn::MulAdd(g, g, a);
    const V root = hn::Sqrt(hn::Add(a, hn::Set(d, static_cast<T>(s.epsilon))));
    x = hn::NegMulAdd(hn::Set(d, static_cast<T>(s.rate)), hn::Div(g, root), x);
  }
};

struct Adadelta {
  adadelta_step s;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& a, V& u, V&, V g) const {
    using T = hn::TFromD<D>;
    const V epsilon = hn::Set(d, static_cast<T>(s.epsilon));
    const V ratio = hn::Div(hn::Sqrt(hn::Add(u, epsilon)), hn::Sqrt(hn::Add(a, epsilon)));
    const V move = hn::Mul(ratio, g);
    a = running_mean(d, s.rho, a, hn::Mul(g, g));
    u = running_mean(d, s.rho, u, hn::Mul(move, move));
    x = hn::NegMulAdd(hn::Set(d, static_cast<T>(s.rate)), move, x);
  }
};

struct Adamax {
  adamax_step s;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& m, V& u, V&, V g) const {
    using T = hn::TFromD<D>;
    m = running_mean(d, s.beta1, m, g);
    // Not Max, whose result for NaN differs between targets.
    const V old = without_subnormals(d, hn::Mul(hn::Set(d, static_cast<T>(s.beta2)), u)), now = hn::Abs(g);
    u = hn::IfThenElse(hn::Gt(old, now), old, now);
    const V quotient = hn::Div(m, hn::Add(u, hn::Set(d, static_cast<T>(s.epsilon))));
    x = hn::NegMulAdd(hn::Set(d, static_cast<T>(s.rate)), quotient, x);
  }
};

template <bool Centered>
struct RmsProp {
  rms_prop_step s;
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V& a, V& q, V& c, V g) const {
    using T = hn::TFromD<D>;
    const V epsilon = hn::Set(d, static_cast<T>(s.epsilon));
    a = running_mean(d, s.decay, a, hn::Mul(g, g));
    V under = hn::Add(a, epsilon);
    if constexpr (Centered) {
      c = running_mean(d, s.decay, c, g);
      under = hn::Sub(a, hn::MulAdd(c, c, epsilon));
      under = hn::IfThenElse(hn::Le(under, hn::Zero(d)), epsilon, under);  // NaN stays
    }
    const V move = hn::Div(hn::Mul(hn::Set(d, static_cast<T>(s.rate)), g), hn::Sqrt(under));
    q = without_subnormals(d, hn::MulAdd(hn::Set(d, static_cast<T>(s.friction)), q, move));
    x = hn::Sub(x, q);
  }
};

template <class T>
HWY_INLINE void sgd(T* p, const T* g, std::size_t n, double rate) {
  update<T>(p, {}, g, n, Sgd{rate});
}
template <class T>
HWY_INLINE void momentum(T* p, T* m, const T* g, std::size_t n, double rate, double friction, bool nesterov) {
  update<T>(p, {m}, g, n, Momentum{rate, friction, nesterov});
}
template <class T>
HWY_INLINE void adam(T* p, T* m, T* v, const T* g, std::size_t n, const adam_step& step) {
  update<T>(p, {m, v}, g, n, Adam<false>{step});
}
template <class T>
HWY_INLINE void adam_w(T* p, T* m, T* v, const T* g, std::size_t n, const adam_step& step, double decay) {
  update<T>(p, {m, v}, g, n, Adam<true>{step, decay});
}
template <class T>
HWY_INLINE void adagrad(T* p, T* a, const T* g, std::size_t n, const adagrad_step& step) {
  update<T>(p, {a}, g, n, Adagrad{step});
}
template <class T>
HWY_INLINE void adadelta(T* p, T* a, T* u, const T* g, std::size_t n, const adadelta_step& step) {
  update<T>(p, {a, u}, g, n, Adadelta{step});
}
template <class T>
HWY_INLINE void adamax(T* p, T* m, T* u, const T* g, std::size_t n, const adamax_step& step) {
  update<T>(p, {m, u}, g, n, Adamax{step});
}
template <class T>
HWY_INLINE void rms_prop(T* p, T* a, T* q, const T* g, std::size_t n, const rms_prop_step& step) {
  update<T>(p, {a, q}, g, n, RmsProp<false>{step});
}
template <class T>
HWY_INLINE void centered_rms_prop(T* p, T* a, T* q, T* c, const T* g, std::size_t n, const rms_prop_step& step) {
  update<T>(p, {a, q, c}, g, n, RmsProp<true>{step});
}

#define KG_DEFINE_UPDATE(name, type, parameters, arguments) \
  void name##_##type parameters { name arguments; }
KG_UPDATE_KERNELS(KG_DEFINE_UPDATE, float32, float)
KG_UPDATE_KERNELS(KG_DEFINE_UPDATE, float64, double)
#undef KG_DEFINE_UPDATE

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

#define KG_DISPATCH_UPDATE(name, type, parameters, arguments) \
  KG_DISPATCH_FUNCTION(any, name##_##type, parameters, arguments)
KG_UPDATE_KERNELS(KG_DISPATCH_UPDATE, float32, float)
KG_UPDATE_KERNELS(KG_DISPATCH_UPDATE, float64, double)
#undef KG_DISPATCH_UPDATE

}  // namespace kerngrad::kernels
#endif
