// SPDX-License-Identifier: Apache-2.0
// Calls of elementwise functions with attributes, of comparisons and of bits.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

bool is_complex(const kg::tensor& x) { return kg::name_of(x.type()).starts_with("complex"); }

kg::tensor truths(const kg::tensor& x) { return x.type() == kg::dtype::boolean ? x : x != 0; }

// A number as a tensor of another one's dtype, a fraction next to integers in float32.
kg::tensor operand(in s, int place, const kg::tensor& beside) {
  if (!s.is_number(place)) return s.x(place);
  const double value = s.number("", place);
  const bool fraction = !s.raw("", place).is_number_integer() && !s.raw("", place).is_boolean();
  return kg::full(kg::shape{}, value, fraction && kg::integral.has(beside.type()) ? kg::dtype::float32 : beside.type());
}

kg::tensor second(in s) { return operand(s, 1, s.x()); }

results scaled_sum(in s, double sign) {
  if (!s.has("alpha", 2)) return list_of(sign < 0 ? s.x() - second(s) : s.x() + second(s));
  const json& alpha = s.raw("alpha", 2);
  const kg::tensor b = second(s);
  const kg::tensor scaled =
      alpha.is_number_integer() || alpha.is_boolean() ? b * s.whole("alpha", 2) : b * s.number("alpha", 2);
  return list_of(sign < 0 ? s.x() - scaled : s.x() + scaled);
}

results divided(in s) {
  const std::string mode = s.text("rounding_mode", 2, "");
  const kg::tensor a = s.x(), b = second(s);
  if (mode.empty()) return list_of(a / b);
  if (mode == "floor") return list_of(kg::floor_divide(a, b));
  if (!kg::floating.has(a.type())) throw skip{"quotients of integers cut towards zero"};
  return list_of(kg::trunc(a / b));
}

kg::tensor limit(in s, const char* name, int place) {
  if (!s.has(name, place)) return {};
  const json& value = s.raw(name, place);
  return value.is_object() ? s.at(value) : kg::full(kg::shape{}, s.number(name, place), s.x().type());
}

results clamped(const kg::tensor& x, const kg::tensor& least, const kg::tensor& most) {
  kg::tensor y = x;
  if (least.defined()) y = kg::maximum(y, least);
  if (most.defined()) y = kg::minimum(y, most);
  return list_of(y);
}

results without_nan(in s) {
  const kg::tensor x = s.x();
  if (kg::integral.has(x.type()) || x.type() == kg::dtype::boolean) return list_of(x);
  const double most = x.type() == kg::dtype::float16   ? 65504
                      : x.type() == kg::dtype::float32 ? std::numeric_limits<float>::max()
                                                       : std::numeric_limits<double>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const kg::tensor numbers = kg::where(kg::isnan(x), s.number("nan", 1, 0), x);
  const kg::tensor below = kg::where(numbers == -infinity, s.number("neginf", 3, -most), numbers);
  return list_of(kg::where(below == infinity, s.number("posinf", 2, most), below));
}

kg::tensor products_added(in s, bool quotient) {
  const kg::tensor x = s.x(), a = s.x(1), b = s.x(2);
  const kg::tensor product = quotient ? a / b : a * b;
  return s.has("value", 3) ? x + product * s.number("value", 3) : x + product;
}

results rounded(in s) {
  const auto digits = s.whole("decimals", 1, 0);
  if (digits == 0) return list_of(kg::round(s.x()));
  const double scale = std::pow(10, static_cast<double>(std::abs(digits)));
  return list_of(digits > 0 ? kg::round(s.x() * scale) / scale : kg::round(s.x() / scale) * scale);
}

kg::tensor entropy(const kg::tensor& x) {
  return kg::where(x < 0, -std::numeric_limits<double>::infinity(), -kg::xlogy(x, x));
}

// The normal distribution's probability below x.
kg::tensor normal_below(const kg::tensor& x) { return kg::erfc(x * -std::numbers::sqrt2 / 2) * 0.5; }

// Its logarithm: near 1 by the other tail, and of halves in float32, where the tail is no subnormal number.
kg::tensor logarithm_of_normal(const kg::tensor& operand) {
  const bool half = operand.type() == kg::dtype::float16;
  const kg::tensor x = half || !kg::floating.has(operand.type()) ? kg::cast(operand, kg::dtype::float32) : operand;
  const kg::tensor lower = kg::log(normal_below(kg::minimum(x, 0)));
  const kg::tensor upper = kg::log1p(-normal_below(-kg::maximum(x, 0)));
  const kg::tensor y = kg::where(x < 0, lower, upper);
  return half ? kg::cast(y, operand.type()) : y;
}

// 0 where x is, whatever y is but NaN.
kg::tensor product_with_log1p(const kg::tensor& x, const kg::tensor& y) {
  return kg::where((x == 0) & !kg::isnan(y), x * kg::ones_like(y), x * kg::log1p(y));
}

kg::tensor logit(in s) {
  kg::tensor x = s.x();
  if (s.has("eps", 1)) x = kg::clip(x, s.number("eps", 1), 1 - s.number("eps", 1));
  return kg::log(x / (1 - x));
}

kg::tensor is_infinite(const kg::tensor& x, double sign) {
  return kg::integral.has(x.type()) ? kg::zeros(x.dims(), kg::dtype::boolean)
                                    : x == sign * std::numeric_limits<double>::infinity();
}

kg::tensor sign_of(const kg::tensor& z) {
  const kg::tensor size = kg::abs(z), divisor = kg::where(size == 0, 1, size);
  return kg::complex(kg::real(z) / divisor, kg::imag(z) / divisor);
}

kg::tensor hypotenuse_of_exponents(const kg::tensor& a, const kg::tensor& b) {
  return kg::log_add_exp(a * std::numbers::ln2, b * std::numbers::ln2) / std::numbers::ln2;
}

constexpr call_line lines[] = {
    {"elementwise", "add", [](in s) { return scaled_sum(s, 1); }},
    {"elementwise", "sub", [](in s) { return scaled_sum(s, -1); }},
    {"elementwise", "rsub",
     [](in s) {
       const kg::tensor b = second(s);
       return list_of(s.has("alpha", 2) ? b - s.x() * s.number("alpha", 2) : b - s.x());
     }},
    {"elementwise", "__radd__", [](in s) { return list_of(second(s) + s.x()); }},
    {"elementwise", "__rsub__", [](in s) { return list_of(second(s) - s.x()); }},
    {"elementwise", "__rmul__", [](in s) { return list_of(second(s) * s.x()); }},
    {"elementwise", "__rdiv__", [](in s) { return list_of(second(s) / s.x()); }},
    {"elementwise", "__rmod__", [](in s) { return list_of(second(s) % s.x()); }},
    // PyTorch copies the base, which has no gradient thereby.
    {"elementwise", "__rpow__", [](in s) { return list_of(kg::pow(kg::stop_gradient(second(s)), s.x())); }},
    {"elementwise", "div", divided},
    {"elementwise", "clamp", [](in s) { return clamped(s.x(), limit(s, "min", 1), limit(s, "max", 2)); }},
    {"elementwise", "clamp_min", [](in s) { return clamped(s.x(), limit(s, "min", 1), {}); }},
    {"elementwise", "clamp_max", [](in s) { return clamped(s.x(), {}, limit(s, "max", 1)); }},
    {"elementwise", "addcmul", [](in s) { return list_of(products_added(s, false)); }},
    {"elementwise", "addcdiv", [](in s) { return list_of(products_added(s, true)); }},
    {"elementwise", "lerp", [](in s) { return list_of(s.x() + operand(s, 2, s.x()) * (s.x(1) - s.x())); }},
    {"elementwise", "round", rounded},
    {"elementwise", "nan_to_num", without_nan},
    {"elementwise", "logit", [](in s) { return list_of(logit(s)); }},
    {"elementwise", "logaddexp2", [](in s) { return list_of(hypotenuse_of_exponents(s.x(), s.x(1))); }},
    {"elementwise", "ldexp", [](in s) { return list_of(s.x() * kg::exp2(second(s))); }},
    {"elementwise", "float_power",
     [](in s) {
       const kg::tensor x = s.x(), y = second(s);
       const kg::dtype wide = is_complex(x) || is_complex(y) ? kg::dtype::complex128 : kg::dtype::float64;
       return list_of(kg::pow(kg::cast(x, wide), kg::cast(y, wide)));
     }},
    {"elementwise", "positive", [](in s) { return list_of(kg::identity(s.x())); }},
    {"elementwise", "conj_physical", [](in s) { return list_of(kg::conj(s.x())); }},
    {"elementwise", "angle",
     [](in s) {
       const kg::tensor x = s.x();
       if (is_complex(x)) return list_of(kg::atan2(kg::imag(x), kg::real(x)));
       return list_of(kg::where(kg::isnan(x), x, kg::where(x < 0, std::numbers::pi, kg::zeros_like(x))));
     }},
    {"elementwise", "sgn", [](in s) { return list_of(is_complex(s.x()) ? sign_of(s.x()) : kg::sign(s.x())); }},
    {"elementwise", "signbit",
     [](in s) {
       const kg::tensor x = s.x();
       return list_of(kg::floating.has(x.type()) ? kg::copysign(kg::ones_like(x), x) < 0 : x < 0);
     }},
    {"elementwise", "special.xlog1py", [](in s) { return list_of(product_with_log1p(s.x(), second(s))); }},
    {"elementwise", "special.entr", [](in s) { return list_of(entropy(s.x())); }},
    {"elementwise", "special.ndtr", [](in s) { return list_of(normal_below(s.x())); }},
    {"elementwise", "special.log_ndtr", [](in s) { return list_of(logarithm_of_normal(s.x())); }},
    {"elementwise", "nn.functional.tanhshrink", [](in s) { return list_of(s.x() - kg::tanh(s.x())); }},
    {"logic", "isposinf", [](in s) { return list_of(is_infinite(s.x(), 1)); }},
    {"logic", "isneginf", [](in s) { return list_of(is_infinite(s.x(), -1)); }},
    {"logic", "isreal",
     [](in s) {
       return list_of(is_complex(s.x()) ? kg::imag(s.x()) == 0 : kg::ones(s.x().dims(), kg::dtype::boolean));
     }},
    {"logic", "isclose",
     [](in s) {
       return list_of(
           kg::isclose(s.x(), s.x(1), s.number("rtol", 2, 1e-5), s.number("atol", 3, 1e-8), s.truth("equal_nan", 4)));
     }},
    {"logic", "allclose",
     [](in s) {
       return list_of(kg::all(
           kg::isclose(s.x(), s.x(1), s.number("rtol", 2, 1e-5), s.number("atol", 3, 1e-8), s.truth("equal_nan", 4))));
     }},
    {"logic", "logical_and", [](in s) { return list_of(truths(s.x()) & truths(second(s))); }},
    {"logic", "logical_or", [](in s) { return list_of(truths(s.x()) | truths(second(s))); }},
    {"logic", "logical_xor", [](in s) { return list_of(truths(s.x()) ^ truths(second(s))); }},
    {"logic", "logical_not", [](in s) { return list_of(!truths(s.x())); }},
    {"logic", "__rand__", [](in s) { return list_of(second(s) & s.x()); }},
    {"logic", "__ror__", [](in s) { return list_of(second(s) | s.x()); }},
    {"logic", "__rxor__", [](in s) { return list_of(second(s) ^ s.x()); }},
    {"logic", "bitwise_left_shift", [](in s) { return list_of(kg::left_shift(s.x(), second(s))); }},
    {"logic", "bitwise_right_shift", [](in s) { return list_of(kg::right_shift(s.x(), second(s))); }},
    {"logic", "bitwise_not",
     [](in s) { return list_of(s.x().type() == kg::dtype::boolean ? !s.x() : kg::bitwise_not(s.x())); }},
};

}  // namespace

std::span<const call_line> elementwise_calls() { return lines; }

}  // namespace opinfo
