// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :tape;

namespace kerngrad {

namespace {

// A tensor that is to be clipped, in float64, where squares of floats do not overflow.
tensor wide(std::string_view name, const tensor& x) {
  if (!x.defined()) fail(name, "an undefined tensor", "tensors", "check it with defined()");
  if (!floating.has(x.type()))
    fail(name, "a tensor of dtype " + std::string(name_of(x.type())), to_string(floating), "leave it out");
  return cast(x, dtype::float64);
}

// The norm of all gradients, which part() finds in the items. Squares that leave the range of float64 are those of
// numbers over a power of two near the largest one.
template <class T, class Part>
double norm_of_all(std::string_view name, std::span<T> all, Part part) {
  const detail::unrecorded pause;
  double total = 0, most = 0;
  for (T& item : all) total += sum(square(wide(name, part(item)))).item();
  if (total > 0x1p-900 && total < std::numeric_limits<double>::infinity()) return std::sqrt(total);
  for (T& item : all)
    if (part(item).size() != 0) most = std::max(most, max(abs(wide(name, part(item)))).item());
  if (std::isnan(total) || most == 0 || std::isinf(most)) return std::sqrt(total);
  total = 0;
  const double unit = std::ldexp(1.0, std::ilogb(most));
  for (T& item : all) total += sum(square(wide(name, part(item)) / unit)).item();
  return std::sqrt(total) * unit;
}

// x * factor for a factor from 0 to 1, which may be below the normal numbers of x.
tensor scaled(const tensor& x, double factor) {
  if (factor >= 0x1p-14) return x * factor;  // normal in every dtype
  int exponent = 0;
  const double digits = std::frexp(factor, &exponent);
  return x * digits * std::ldexp(1.0, exponent);
}

template <class T, class Part>
double clip_norm_of_all(std::span<T> all, double most, Part part) {
  constexpr std::string_view name = "kg::clip_by_global_norm";
  if (!(most > 0)) fail(name, "a largest norm " + to_string(attr_value(most)), "a number above 0");
  const double norm = norm_of_all(name, all, part);
  if (!(norm > most) || !std::isfinite(norm)) return norm;
  std::vector<tensor> clipped;
  for (T& item : all) clipped.push_back(scaled(part(item), most / norm));
  for (std::size_t i = 0; i < clipped.size(); ++i) part(all[i]) = std::move(clipped[i]);
  return norm;
}

template <class T, class Part>
void clip_value_of_all(std::span<T> all, double low, double high, Part part) {
  constexpr std::string_view name = "kg::clip_by_value";
  if (!(low <= high))
    fail(name, "low " + to_string(attr_value(low)) + " and high " + to_string(attr_value(high)), "low at most high");
  std::vector<tensor> clipped;
  for (T& item : all) {
    if (!part(item).defined()) fail(name, "an undefined tensor", "tensors", "check it with defined()");
    clipped.push_back(clip(part(item), low, high));
  }
  for (std::size_t i = 0; i < clipped.size(); ++i) part(all[i]) = std::move(clipped[i]);
}

constexpr auto itself = [](auto& x) -> auto& { return x; };
constexpr auto gradient_in = [](auto& g) -> auto& { return g.grad; };

}  // namespace

double global_norm(std::span<const tensor> xs) { return norm_of_all("kg::global_norm", xs, itself); }
double global_norm(std::span<const variable_gradient> grads) {
  return norm_of_all("kg::global_norm", grads, gradient_in);
}

double clip_by_global_norm(std::span<tensor> grads, double most) { return clip_norm_of_all(grads, most, itself); }
double clip_by_global_norm(std::span<variable_gradient> grads, double most) {
  return clip_norm_of_all(grads, most, gradient_in);
}

void clip_by_value(std::span<tensor> grads, double low, double high) { clip_value_of_all(grads, low, high, itself); }
void clip_by_value(std::span<variable_gradient> grads, double low, double high) {
  clip_value_of_all(grads, low, high, gradient_in);
}

}  // namespace kerngrad
