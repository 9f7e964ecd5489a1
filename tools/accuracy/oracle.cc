// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/oracle.h"

#include <cmath>
#include <string_view>

#include "tools/accuracy/number.h"

namespace kgaccuracy {
namespace {

#define PLAIN(Name, function, estimate) \
  {#Name, [](mpfr_t y, mpfr_t x, mpfr_t) { function(y, x, MPFR_RNDN); }, [](double x) -> double { return estimate; }}
constexpr unary_oracle table[] = {
    PLAIN(Exp, mpfr_exp, std::exp(x)),
    PLAIN(Exp2, mpfr_exp2, std::exp2(x)),
    PLAIN(Expm1, mpfr_expm1, std::expm1(x)),
    PLAIN(Log, mpfr_log, std::log(x)),
    PLAIN(Log2, mpfr_log2, std::log2(x)),
    PLAIN(Log10, mpfr_log10, std::log10(x)),
    PLAIN(Log1p, mpfr_log1p, std::log1p(x)),
    PLAIN(Cbrt, mpfr_cbrt, std::cbrt(x)),
    PLAIN(Sin, mpfr_sin, std::sin(x)),
    PLAIN(Cos, mpfr_cos, std::cos(x)),
    PLAIN(Tan, mpfr_tan, std::tan(x)),
    PLAIN(Asin, mpfr_asin, std::asin(x)),
    PLAIN(Acos, mpfr_acos, std::acos(x)),
    PLAIN(Atan, mpfr_atan, std::atan(x)),
    PLAIN(Sinh, mpfr_sinh, std::sinh(x)),
    PLAIN(Cosh, mpfr_cosh, std::cosh(x)),
    PLAIN(Tanh, mpfr_tanh, std::tanh(x)),
    PLAIN(Asinh, mpfr_asinh, std::asinh(x)),
    PLAIN(Acosh, mpfr_acosh, std::acosh(x)),
    PLAIN(Atanh, mpfr_atanh, std::atanh(x)),
    PLAIN(Erf, mpfr_erf, std::erf(x)),
    PLAIN(Erfc, mpfr_erfc, std::erfc(x)),
    {"Rsqrt",  // mpfr_rec_sqrt gives +infinity at -0
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_sqrt(t, x, MPFR_RNDN);
       mpfr_ui_div(y, 1, t, MPFR_RNDN);
     },
     [](double x) -> double { return 1 / std::sqrt(x); }},
    {"Round", [](mpfr_t y, mpfr_t x, mpfr_t) { mpfr_rint(y, x, MPFR_RNDN); },
     [](double x) { return std::nearbyint(x); }},
    {"Sigmoid",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_neg(t, x, MPFR_RNDN);
       mpfr_exp(t, t, MPFR_RNDN);
       mpfr_add_ui(t, t, 1, MPFR_RNDN);
       mpfr_ui_div(y, 1, t, MPFR_RNDN);
     },
     [](double x) -> double { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
    {"Softplus",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_exp(t, x, MPFR_RNDN);
       if (mpfr_cmp_ui(x, 1000) > 0) mpfr_set(y, x, MPFR_RNDN);
       else mpfr_log1p(y, t, MPFR_RNDN);
     },
     [](double x) -> double { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }},
    {"Silu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_neg(t, x, MPFR_RNDN);
       mpfr_exp(t, t, MPFR_RNDN);
       mpfr_add_ui(t, t, 1, MPFR_RNDN);
       mpfr_div(y, x, t, MPFR_RNDN);
     },
     [](double x) -> double { return x < 0 ? x * std::exp(x) / (1 + std::exp(x)) : x / (1 + std::exp(-x)); }},
    {"Gelu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_sqrt_ui(t, 2, MPFR_RNDN);
       mpfr_div(t, x, t, MPFR_RNDN);
       mpfr_neg(t, t, MPFR_RNDN);
       mpfr_erfc(t, t, MPFR_RNDN);
       mpfr_mul(t, t, x, MPFR_RNDN);
       mpfr_div_ui(y, t, 2, MPFR_RNDN);
     },
     [](double x) -> double { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }},
    {"Elu",
     [](mpfr_t y, mpfr_t x, mpfr_t) {
       if (mpfr_sgn(x) < 0) mpfr_expm1(y, x, MPFR_RNDN);
       else mpfr_set(y, x, MPFR_RNDN);
     },
     [](double x) -> double { return x < 0 ? std::expm1(x) : x; }},
    {"Selu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       if (mpfr_sgn(x) < 0) {
         mpfr_expm1(y, x, MPFR_RNDN);
         mpfr_set_str(t, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
         mpfr_mul(y, y, t, MPFR_RNDN);
       } else {
         mpfr_set(y, x, MPFR_RNDN);
       }
       mpfr_set_str(t, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
       mpfr_mul(y, y, t, MPFR_RNDN);
     },
     [](double x) -> double { return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * std::expm1(x) : x); }},
};
#undef PLAIN

}  // namespace

const std::span<const unary_oracle> unary_oracles = table;

namespace {

int xlogy(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t rounding) {
  if (mpfr_zero_p(a) && !mpfr_nan_p(b)) return mpfr_set_ui(y, 0, rounding);
  mpfr_log(y, b, rounding);
  return mpfr_mul(y, y, a, rounding);
}
// dy / cosh(x)^2, and dy / (4 cosh(x / 2)^2).
int tanh_grad(mpfr_ptr y, mpfr_srcptr dy, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_cosh(y, x, rounding);
  mpfr_sqr(y, y, rounding);
  return mpfr_div(y, dy, y, rounding);
}
int sigmoid_grad(mpfr_ptr y, mpfr_srcptr dy, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_div_2ui(y, x, 1, rounding);
  tanh_grad(y, dy, y, rounding);
  return mpfr_div_2ui(y, y, 2, rounding);
}
constexpr binary_oracle pairs_table[] = {{"Pow", mpfr_pow}, {"Atan2", mpfr_atan2},         {"Hypot", mpfr_hypot},
                                         {"Xlogy", xlogy},  {"SigmoidGrad", sigmoid_grad}, {"TanhGrad", tanh_grad}};

}  // namespace

const std::span<const binary_oracle> binary_oracles = pairs_table;

long double exact_value(const unary_oracle& oracle, double x) {
  // The limits, where the composition has inf / inf or 0 inf.
  const std::string_view op = oracle.op;
  if ((op == "Silu" || op == "Gelu") && std::isinf(x) && x < 0) return -0.0L;
  number in(x), out, scratch;
  oracle.exact(out.get(), in.get(), scratch.get());
  return out.rounded();
}

long double exact_value(const binary_oracle& oracle, double a, double b) {
  const number left(a), right(b);
  number out;
  oracle.exact(out.get(), left.get(), right.get(), MPFR_RNDN);
  return out.rounded();
}

}  // namespace kgaccuracy
