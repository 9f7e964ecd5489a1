// SPDX-License-Identifier: Apache-2.0
// Numbers of MPFR with operators, so that one formula serves MPFR and the C library.
#pragma once
#include <mpfr.h>

#include <utility>

namespace kgaccuracy {

/// MPFR keeps constants a thread, which it gives back when asked only.
struct thread_caches {
  ~thread_caches() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

/// A number of 160 bits: no formula of the oracles cancels so much that the 64 bits of a long double come out wrong.
class number {
 public:
  number() {
    thread_local const thread_caches caches;
    mpfr_init2(v_, 160);
  }
  number(double x) : number() { mpfr_set_d(v_, x, MPFR_RNDN); }
  number(const number& other) : number() { mpfr_set(v_, other.v_, MPFR_RNDN); }
  number(number&& other) noexcept : number() { mpfr_swap(v_, other.v_); }
  number& operator=(number other) noexcept {
    mpfr_swap(v_, other.v_);
    return *this;
  }
  ~number() { mpfr_clear(v_); }

  mpfr_ptr get() { return v_; }
  mpfr_srcptr get() const { return v_; }
  /// Rounded to 64 bits.
  long double rounded() const { return mpfr_get_ld(v_, MPFR_RNDN); }

 private:
  mpfr_t v_;
};

#define KG_NUMBER_OPERATOR(symbol, function)                 \
  inline number operator symbol(number a, const number& b) { \
    function(a.get(), a.get(), b.get(), MPFR_RNDN);          \
    return a;                                                \
  }
KG_NUMBER_OPERATOR(+, mpfr_add)
KG_NUMBER_OPERATOR(-, mpfr_sub)
KG_NUMBER_OPERATOR(*, mpfr_mul)
KG_NUMBER_OPERATOR(/, mpfr_div)
#undef KG_NUMBER_OPERATOR

inline number operator-(number a) {
  mpfr_neg(a.get(), a.get(), MPFR_RNDN);
  return a;
}
inline bool operator<(const number& a, const number& b) { return mpfr_less_p(a.get(), b.get()) != 0; }
inline bool operator==(const number& a, const number& b) { return mpfr_equal_p(a.get(), b.get()) != 0; }

#define KG_NUMBER_FUNCTION(name, function) \
  inline number name(number x) {           \
    function(x.get(), x.get(), MPFR_RNDN); \
    return x;                              \
  }
KG_NUMBER_FUNCTION(abs, mpfr_abs)
KG_NUMBER_FUNCTION(sqrt, mpfr_sqrt)
KG_NUMBER_FUNCTION(cbrt, mpfr_cbrt)
KG_NUMBER_FUNCTION(exp, mpfr_exp)
KG_NUMBER_FUNCTION(exp2, mpfr_exp2)
KG_NUMBER_FUNCTION(log, mpfr_log)
KG_NUMBER_FUNCTION(sin, mpfr_sin)
KG_NUMBER_FUNCTION(cos, mpfr_cos)
KG_NUMBER_FUNCTION(sinh, mpfr_sinh)
KG_NUMBER_FUNCTION(cosh, mpfr_cosh)
KG_NUMBER_FUNCTION(tanh, mpfr_tanh)
KG_NUMBER_FUNCTION(atan, mpfr_atan)
KG_NUMBER_FUNCTION(erfc, mpfr_erfc)
#undef KG_NUMBER_FUNCTION

inline number floor(number x) {
  mpfr_floor(x.get(), x.get());
  return x;
}
inline number trunc(number x) {
  mpfr_trunc(x.get(), x.get());
  return x;
}
inline number pow(number a, const number& b) {
  mpfr_pow(a.get(), a.get(), b.get(), MPFR_RNDN);
  return a;
}
inline number hypot(number a, const number& b) {
  mpfr_hypot(a.get(), a.get(), b.get(), MPFR_RNDN);
  return a;
}

}  // namespace kgaccuracy
