// SPDX-License-Identifier: Apache-2.0
// Support for the program that program.py writes: functions, lists and generators that entries of the dictionary name,
// and printing of every kind of result.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

import kerngrad;

namespace {

using tensors = std::vector<kg::tensor>;
using in = const kg::tensor&;  // an operand of an entry

// ---- what entries name

[[maybe_unused]] kg::tensor f(const kg::tensor& t) { return kg::sum(kg::sin(t) * t); }
[[maybe_unused]] kg::tensor g(const kg::tensor& t) { return kg::sum(kg::sin(t) * t, 1); }
[[maybe_unused]] kg::tensor f2(const kg::tensor& s, const kg::tensor& t) { return kg::sum(kg::exp(s) * t); }
[[maybe_unused]] kg::tensor_list run(const kg::kernel_call&) { return {}; }
[[maybe_unused]] std::vector<kg::named_operand> run_gradient(const kg::gradient_call&) { return {}; }
[[maybe_unused]] kg::generator rng(7);
[[maybe_unused]] std::vector<float> values{1, 2, 3, 4, 5, 6};
[[maybe_unused]] tensors slopes{kg::tensor({3.f, 4.f}), kg::tensor({12.f})};
[[maybe_unused]] tensors parts{kg::tensor({1.f, 2.f}), kg::tensor({3.f})};
[[maybe_unused]] const kg::variable weight(kg::tensor({0.5f, -1.f}), "weight");
[[maybe_unused]] kg::tensor loss() { return kg::sum(kg::square(weight.value())); }
[[maybe_unused]] kg::dlpack::managed_tensor* given = nullptr;
[[maybe_unused]] std::vector<kg::rnn_cell> cells;

// Custom ops of two tensors.
inline constexpr kg::operand two_integers[] = {{"a", kg::only(kg::dtype::int32)}, {"b", kg::only(kg::dtype::int32)}};
inline constexpr kg::operand two_floats[] = {{"a", kg::only(kg::dtype::float32)}, {"b", kg::only(kg::dtype::float32)}};
consteval kg::op_row row_of_pairs(std::string_view name, std::string_view doc, std::span<const kg::operand> operands) {
  return {.name = name,
          .doc = doc,
          .group = kg::family::elementwise,
          .operands = operands,
          .infer = kg::shapes::broadcasted,
          .convention = kg::convention::binary,
          .no_gradient = "it is not needed here"};
}
struct Gcd {
  static constexpr kg::op_row row = row_of_pairs("Gcd", "The greatest common divisor.", two_integers);
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<std::int32_t>([](std::int32_t a, std::int32_t b) { return std::gcd(a, b); }));
};
struct Lcm {
  static constexpr kg::op_row row = row_of_pairs("Lcm", "The least common multiple.", two_integers);
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<std::int32_t>([](std::int32_t a, std::int32_t b) { return std::lcm(a, b); }));
};
struct NextAfter {
  static constexpr kg::op_row row = row_of_pairs("NextAfter", "The next float32 after a towards b.", two_floats);
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<float>([](float a, float b) { return std::nextafter(a, b); }));
};

// ---- results as tensors

[[maybe_unused]] kg::tensor as_tensor(const kg::tensor& value) { return value; }
[[maybe_unused]] kg::tensor as_tensor(bool value) { return kg::cast(kg::tensor(value ? 1 : 0), kg::dtype::boolean); }
template <class T>
  requires std::is_arithmetic_v<T>
kg::tensor as_tensor(T value) {
  if constexpr (std::is_integral_v<T>) return kg::tensor(static_cast<std::int64_t>(value));
  else return kg::tensor(value);
}
[[maybe_unused]] kg::tensor as_tensor(const kg::shape& value) { return kg::tensor(value.dims(), {value.rank()}); }
[[maybe_unused]] kg::tensor as_tensor(std::span<const float> value) {
  return kg::tensor(value, {static_cast<std::int64_t>(value.size())});
}
/// The rates of some steps.
[[maybe_unused]] kg::tensor as_tensor(const kg::schedule& rate) {
  std::vector<double> rates;
  for (const std::int64_t step : {0, 3, 10, 50, 99, 100, 150, 250}) rates.push_back(rate(step));
  return kg::tensor(rates);
}
[[maybe_unused]] tensors as_tensors(const kg::qr_parts& value) { return {value.q, value.r}; }
[[maybe_unused]] tensors as_tensors(const kg::moments_parts& value) { return {value.mean, value.variance}; }
[[maybe_unused]] tensors as_tensors(const kg::pooled_maxima& value) { return {value.result, value.indexes}; }
[[maybe_unused]] tensors as_tensors(const kg::difference_parts& value) { return {value.values, value.indices}; }
[[maybe_unused]] tensors as_tensors(const kg::value_and_tangent& value) { return {value.value, value.tangent}; }
[[maybe_unused]] tensors as_tensors(const kg::lstm_state& value) { return {value.h, value.c}; }
template <class T>
tensors as_tensors(const T& value) {
  if constexpr (requires { as_tensor(value); }) {
    return {as_tensor(value)};
  } else if constexpr (requires { value.grad; }) {
    return {value.value, value.grad};
  } else {
    tensors all;
    for (const auto& item : value) all.push_back(as_tensor(item));
    return all;
  }
}

/// A variable after three steps of an optimizer, with gradients of both signs times `scale`.
template <class Optimizer>
kg::tensor steps_of(Optimizer optimizer, double scale = 1) {
  const kg::variable moved(kg::tensor({1.f, -2.f, 0.5f}), "moved");
  const kg::tensor gradients[] = {kg::tensor({0.5f, -1.f, 0.75f}), kg::tensor({-0.25f, 2.f, 0.5f}),
                                  kg::tensor({1.f, 0.5f, -0.25f})};
  for (const kg::tensor& gradient : gradients) {
    const kg::variable_gradient step[] = {{moved, gradient * scale}};
    optimizer.apply(step);
  }
  return moved.value();
}

// ---- printing

[[maybe_unused]] void print_number(double value) {
  if (std::isnan(value)) std::cout << "NaN";
  else if (std::isinf(value)) std::cout << (value < 0 ? "-Infinity" : "Infinity");
  else std::cout << value;
}
[[maybe_unused]] void print_numbers(std::string_view name, const kg::tensor& x) {
  std::cout << ", \"" << name << "\": [";
  const char* comma = "";
  for (const double value : x.to_doubles()) std::cout << std::exchange(comma, ", "), print_number(value);
  std::cout << "]";
}
/// The end of a tensor of text without quotes and backslashes.
[[maybe_unused]] void print_texts(const kg::tensor& x) {
  std::cout << ", \"text\": [";
  const char* comma = "";
  for (const std::string& text : x.to_texts()) std::cout << std::exchange(comma, ", ") << '"' << text << '"';
  std::cout << "]}";
}
[[maybe_unused]] void print(const kg::tensor& x) {
  std::cout << "{\"dtype\": \"" << kg::name_of(x.type()) << "\", \"dims\": [";
  const char* comma = "";
  for (const std::int64_t size : x.dims()) std::cout << std::exchange(comma, ", ") << size;
  std::cout << "]";
  if (x.type() == kg::dtype::text) return print_texts(x);
  const bool is_complex = x.type() == kg::dtype::complex64 || x.type() == kg::dtype::complex128;
  print_numbers("real", is_complex ? kg::real(x) : x);
  if (is_complex) print_numbers("imag", kg::imag(x));
  std::cout << "}";
}
const char* between = "{\n";
/// Prints what an entry gives, or the error that it throws.
template <class Code>
void print_result(Code code) {
  try {
    const tensors all = as_tensors(code());
    std::cout << "[";
    const char* comma = "";
    for (const kg::tensor& x : all) std::cout << std::exchange(comma, ", "), print(x);
    std::cout << "]";
  } catch (const std::exception& e) {
    std::cout << "\"" << e.what() << "\"";
  }
}
/// Prints what an entry gives for each of `operands`, which are called x, a and b in it.
template <class Code>
void show(int number, std::initializer_list<std::array<const kg::tensor*, 3>> operands, Code code) {
  std::cout.precision(17);
  std::cout << std::exchange(between, ",\n") << "\"" << number << "\": [";
  const char* comma = "";
  for (const auto& [x, a, b] : operands) {
    std::cout << std::exchange(comma, ", ");
    print_result([&] { return code(*x, *a, *b); });
  }
  std::cout << "]";
}
void finish() { std::cout << "\n}\n"; }

}  // namespace
