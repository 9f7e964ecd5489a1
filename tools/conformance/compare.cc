// SPDX-License-Identifier: Apache-2.0
// Compares a result with the recorded one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/conformance/conformance.h"

namespace conformance {

tolerance tolerance_of(std::string_view kernel) {
  const kg::op_row* row = row_of(kernel);
  if (!row) return by_element;
  switch (row->group) {
    case kg::family::reduce:
    case kg::family::matmul:
    case kg::family::window:
    case kg::family::volume:
    case kg::family::fused:
    case kg::family::softmax: return by_sum;
    default: return by_element;
  }
}

std::string text_of(const kg::tensor& x) {
  return fmt::format("{} {}", kg::name_of(x.type()), kg::to_string(x.dims()));
}

namespace {

bool agree(double actual, double expected, tolerance within) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <= std::fmax(within.absolute, within.relative * std::fabs(expected));
}

// Complex elements count as two numbers; integers and bools are exact in double.
std::vector<double> numbers_of(const kg::tensor& x) {
  return kg::visit(x.type(), [&]<kg::dtype Type>(kg::dtype_constant<Type> is) {
    if constexpr (Type == kg::dtype::text) {
      return std::vector<double>();
    } else if constexpr (kg::parts_of(Type) == 1) {
      return x.to_doubles();
    } else {
      std::vector<double> numbers;
      for (const auto& z : x.data<typename decltype(is)::element>()) numbers.insert(numbers.end(), {z.real, z.imag});
      return numbers;
    }
  });
}

std::string text_difference(const std::vector<std::string>& got, const std::vector<std::string>& wanted) {
  const auto [mine, theirs] = std::ranges::mismatch(got, wanted);
  if (mine == got.end()) return {};
  return fmt::format("element {}: got \"{}\", expected \"{}\"", mine - got.begin(), *mine, *theirs);
}

}  // namespace

std::string difference(const kg::tensor& actual, const kg::tensor& expected, tolerance within) {
  if (actual.type() != expected.type() || !(actual.dims() == expected.dims()))
    return fmt::format("got {}, expected {}", text_of(actual), text_of(expected));
  if (expected.type() == kg::dtype::text) return text_difference(actual.to_texts(), expected.to_texts());
  const bool exact = !kg::differentiable.has(expected.type());
  const std::vector<double> got = numbers_of(actual), wanted = numbers_of(expected);
  std::size_t first = 0, count = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (exact ? got[i] == wanted[i] : agree(got[i], wanted[i], within)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format("{} of {} differ, first at {}: got {:.9g}, expected {:.9g}", count, got.size(), first, got[first],
                     wanted[first]);
}

bool cancels(const kg::tensor& actual, const kg::tensor& expected, const kg::tensor& sums) {
  if (actual.type() != kg::dtype::float32 || actual.signature() != expected.signature()) return false;
  if (!(sums.dims() == expected.dims())) return false;
  const std::vector<double> got = actual.to_doubles(), wanted = expected.to_doubles(), terms = sums.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double rounding = std::isfinite(terms[i]) ? std::numeric_limits<float>::epsilon() * terms[i] : 0;
    if (!agree(got[i], wanted[i], {std::fmax(by_sum.absolute, rounding), by_sum.relative})) return false;
  }
  return true;
}

}  // namespace conformance
