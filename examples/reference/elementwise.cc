// SPDX-License-Identifier: Apache-2.0
// Ops of one element or a pair of them, and the operators.
#include <cmath>
#include <iostream>
#include <numbers>

#include "example.h"

import kerngrad;

namespace {

void negatives() { std::cout << kg::neg(kg::tensor({1, -2})) << "\n"; }
const example for_negatives{"kg::neg", negatives};

void signs() { std::cout << kg::sign(kg::tensor({-2.5f, 0.f, 3.f, NAN})) << "\n"; }
const example for_signs{"kg::sign", signs};

void one_over_x_and_its_root() {
  const kg::tensor x({4, 0});
  std::cout << kg::reciprocal(x) << "\n" << kg::rsqrt(x) << "\n";
}
const example for_one_over_x_and_its_root{"kg::reciprocal kg::rsqrt", one_over_x_and_its_root};

void powers_of_two() { std::cout << kg::exp2(kg::tensor({-1, 0, 10})) << "\n"; }
const example for_powers_of_two{"kg::exp2", powers_of_two};

void logarithms() {
  std::cout << kg::log2(kg::tensor({8, 1, 0, -1})) << "\n";
  std::cout << kg::log10(kg::tensor({1000, 1, 0, -1})) << "\n";
}
const example for_logarithms{"kg::log2 kg::log10", logarithms};

void near_zero() {
  const kg::tensor x(1e-10f);
  std::cout << kg::expm1(x).item() << ", not " << (kg::exp(x) - 1).item() << "\n";
  std::cout << kg::log1p(x).item() << ", not " << kg::log(1 + x).item() << "\n";
}
const example for_near_zero{"kg::expm1 kg::log1p", near_zero};

void cube_roots() { std::cout << kg::cbrt(kg::tensor({27, -8})) << "\n"; }
const example for_cube_roots{"kg::cbrt", cube_roots};

void tangent() { std::cout << kg::tan(kg::tensor({0.0, std::numbers::pi / 4, -std::numbers::pi / 4})) << "\n"; }
const example for_tangent{"kg::tan", tangent};

void arcs() {
  const kg::tensor x({0.0, 1.0, 2.0});
  std::cout << kg::asin(x) << "\n" << kg::acos(x) << "\n" << kg::atan(x) << "\n";
}
const example for_arcs{"kg::asin kg::acos kg::atan", arcs};

void hyperbolic() {
  const kg::tensor x({-1.0, 0.0, 1.0});
  std::cout << kg::sinh(x) << "\n" << kg::cosh(x) << "\n";
}
const example for_hyperbolic{"kg::sinh kg::cosh", hyperbolic};

void inverse_hyperbolic() {
  const kg::tensor x({0.0, 1.0, 2.0});
  std::cout << kg::asinh(x) << "\n" << kg::acosh(x) << "\n" << kg::atanh(x) << "\n";
}
const example for_inverse_hyperbolic{"kg::asinh kg::acosh kg::atanh", inverse_hyperbolic};

void error_function() {
  const kg::tensor x({0.f, 1.f, 6.f});
  std::cout << kg::erf(x) << "\n" << kg::erfc(x) << "\n" << 1 - kg::erf(x) << "\n";
}
const example for_error_function{"kg::erf kg::erfc", error_function};

void up_or_towards_zero() {
  const kg::tensor x({-1.5f, 1.5f});
  std::cout << kg::ceil(x) << "\n" << kg::trunc(x) << "\n";
}
const example for_up_or_towards_zero{"kg::ceil kg::trunc", up_or_towards_zero};

void all_bits_the_other_way() { std::cout << kg::bitwise_not(kg::tensor({0, 5, -1})) << "\n"; }
const example for_all_bits_the_other_way{"kg::bitwise_not", all_bits_the_other_way};

void nothing_below_zero() {
  const kg::tensor x({-1.f, 3.f, 8.f});
  std::cout << kg::relu(x) << "\n" << kg::relu6(x) << "\n";
}
const example for_nothing_below_zero{"kg::relu kg::relu6", nothing_below_zero};

void little_below_zero() { std::cout << kg::leaky_relu(kg::tensor({-10.f, 5.f}), 0.1) << "\n"; }
const example for_little_below_zero{"kg::leaky_relu", little_below_zero};

void a_slope_for_each_column() {
  const kg::tensor x({{-1.f, -1.f}, {2.f, 2.f}});
  std::cout << kg::prelu(x, kg::tensor({0.1f, 0.5f})) << "\n";
}
const example for_a_slope_for_each_column{"kg::prelu", a_slope_for_each_column};

void exponential_below_zero() {
  const kg::tensor x({-1.0, 0.0, 2.0});
  std::cout << kg::elu(x) << "\n" << kg::selu(x) << "\n";
}
const example for_exponential_below_zero{"kg::elu kg::selu", exponential_below_zero};

void smooth_activations() {
  const kg::tensor x({-1.0, 0.0, 1.0});
  std::cout << kg::gelu(x) << "\n" << kg::silu(x) << "\n" << kg::softplus(x) << "\n";
}
const example for_smooth_activations{"kg::gelu kg::silu kg::softplus", smooth_activations};

void slopes_from_results() {
  const kg::tensor x({-1.f, 2.f}), dy({10.f, 10.f});
  std::cout << kg::relu_grad(dy, kg::relu(x)) << "\n" << kg::elu_grad(dy, kg::elu(x)) << "\n";
}
const example for_slopes_from_results{"kg::relu_grad kg::elu_grad", slopes_from_results};

void slopes_in_the_tails() {
  const kg::tensor x({0.f, 40.f}), dy({1.f, 1.f});
  std::cout << kg::sigmoid_grad(dy, x) << "\n" << kg::tanh_grad(dy, x) << "\n";
}
const example for_slopes_in_the_tails{"kg::sigmoid_grad kg::tanh_grad", slopes_in_the_tails};

void a_step_at_zero() {
  const kg::tensor x({-3.f, 0.f, 2.f});
  std::cout << kg::step(x) << "\n" << kg::step(x, 0.5) << "\n";
}
const example for_a_step_at_zero{"kg::step", a_step_at_zero};

void kinds_of_numbers() {
  const kg::tensor x({1.f, -INFINITY, NAN});
  std::cout << kg::is_inf(x) << "\n" << kg::is_finite(x) << "\n";
}
const example for_kinds_of_numbers{"kg::is_inf kg::is_finite", kinds_of_numbers};

void what_is_false() { std::cout << kg::logical_not(kg::tensor({true, false})) << "\n"; }
const example for_what_is_false{"kg::logical_not", what_is_false};

void truth_tables() {
  const kg::tensor a({false, false, true, true}), b({false, true, false, true});
  std::cout << kg::logical_and(a, b) << "\n" << kg::logical_or(a, b) << "\n" << kg::logical_xor(a, b) << "\n";
}
const example for_truth_tables{"kg::logical_and kg::logical_or kg::logical_xor", truth_tables};

void the_same_values() {
  kg::tensor x({1, 2});
  const kg::tensor y = kg::identity(x);
  x += 10;
  std::cout << y << "\n";
}
const example for_the_same_values{"kg::identity", the_same_values};

void zeros_of_a_shape_and_dtype() { std::cout << kg::zeros_like(kg::tensor({{1, 2, 3}, {4, 5, 6}})) << "\n"; }
const example for_zeros_of_a_shape_and_dtype{"kg::zeros_like", zeros_of_a_shape_and_dtype};

void complex_numbers() {
  const kg::tensor z = kg::complex(kg::tensor({3.f, 1.f}), kg::tensor({4.f, -2.f}));
  std::cout << z << "\n" << kg::real(z) << "\n" << kg::imag(z) << "\n" << kg::conj(z) << "\n";
}
const example for_complex_numbers{"kg::complex kg::real kg::imag kg::conj", complex_numbers};

void angles_of_complex_numbers() {
  std::cout << kg::angle(kg::complex(kg::tensor({1.f, 0.f, -1.f}), kg::tensor({0.f, 1.f, 0.f}))) << "\n";
}
const example for_angles_of_complex_numbers{"kg::angle", angles_of_complex_numbers};

void a_column_and_a_row() {
  const kg::tensor column({{1}, {2}}), row({10, 20, 30});
  std::cout << kg::add(column, row) << "\n" << kg::sub(row, column) << "\n";
}
const example for_a_column_and_a_row{"kg::add kg::sub", a_column_and_a_row};

void times_and_over_a_number() {
  const kg::tensor x({7, -8});
  std::cout << kg::mul(x, 2) << "\n" << kg::div(x, 2) << "\n";
}
const example for_times_and_over_a_number{"kg::mul kg::div", times_and_over_a_number};

void what_a_division_leaves() {
  const kg::tensor a({7, -7});
  std::cout << kg::mod(a, 3) << "\n" << kg::fmod(a, 3) << "\n";
}
const example for_what_a_division_leaves{"kg::mod kg::fmod", what_a_division_leaves};

void sign_of_another_number() { std::cout << kg::copysign(kg::tensor({-3.f, 3.f}), kg::tensor({1.f, -0.f})) << "\n"; }
const example for_sign_of_another_number{"kg::copysign", sign_of_another_number};

void the_smaller_one() { std::cout << kg::minimum(kg::tensor({1.f, 5.f, NAN}), 3) << "\n"; }
const example for_the_smaller_one{"kg::minimum", the_smaller_one};

void squares_of_differences() { std::cout << kg::squared_difference(kg::tensor({1, 5}), kg::tensor({4, 3})) << "\n"; }
const example for_squares_of_differences{"kg::squared_difference", squares_of_differences};

void powers() {
  std::cout << kg::pow(kg::tensor({4.f, 2.f}), -0.5) << "\n";
  std::cout << kg::pow(kg::tensor({2, 2}), kg::tensor({10, -1})) << "\n";
}
const example for_powers{"kg::pow", powers};

void angles_of_points() {
  const kg::tensor x({1.0, -1.0, -1.0}), y({1.0, 1.0, -1.0});
  std::cout << kg::atan2(y, x) << "\n";
}
const example for_angles_of_points{"kg::atan2", angles_of_points};

void long_sides() { std::cout << kg::hypot(kg::tensor({3.f, 3e30f}), kg::tensor({4.f, 4e30f})) << "\n"; }
const example for_long_sides{"kg::hypot", long_sides};

void zero_times_the_logarithm_of_zero() {
  const kg::tensor p({0.0, 0.5});
  std::cout << kg::xlogy(p, p) << "\n" << p * kg::log(p) << "\n";
}
const example for_zero_times_the_logarithm_of_zero{"kg::xlogy", zero_times_the_logarithm_of_zero};

void bits_of_two() {
  const kg::tensor a({0b110, 0b1100}), b({0b011, 0b1010});
  std::cout << kg::bitwise_and(a, b) << "\n" << kg::bitwise_or(a, b) << "\n" << kg::bitwise_xor(a, b) << "\n";
}
const example for_bits_of_two{"kg::bitwise_and kg::bitwise_or kg::bitwise_xor", bits_of_two};

void shifts() {
  const kg::tensor x({5, -5});
  std::cout << kg::left_shift(x, 1) << "\n" << kg::right_shift(x, 1) << "\n";
}
const example for_shifts{"kg::left_shift kg::right_shift", shifts};

void nan_equals_nothing() {
  const kg::tensor a({1.f, 2.f, NAN}), b({1.f, 3.f, NAN});
  std::cout << kg::equal(a, b) << "\n" << kg::not_equal(a, b) << "\n";
}
const example for_nan_equals_nothing{"kg::equal kg::not_equal", nan_equals_nothing};

void comparisons() {
  const kg::tensor x({1, 2, 3});
  std::cout << kg::less(x, 2) << "\n" << kg::less_equal(x, 2) << "\n";
  std::cout << kg::greater(x, 2) << "\n" << kg::greater_equal(x, 2) << "\n";
}
const example for_comparisons{"kg::less kg::less_equal kg::greater kg::greater_equal", comparisons};

void the_sum_of_a_list() {
  std::cout << kg::add_n({kg::tensor({1, 2}), kg::tensor({10, 20}), kg::tensor({100, 200})}) << "\n";
}
const example for_the_sum_of_a_list{"kg::add_n", the_sum_of_a_list};

void operators() {
  const kg::tensor a({7, -7}), b({2, 3});
  std::cout << -a * b + 1 << "\n" << a / b << "\n" << (a >= 7) << "\n";
}
const example for_operators{"kg::operator-", operators};

void operators_of_integers_and_booleans() {
  const kg::tensor a({7, -7}), b({2, 3});
  std::cout << a % b << "\n" << (a >> 1) << "\n" << (a & 6) << "\n";
  std::cout << (!(a > 0) & (b == 3)) << "\n";
}
const example for_operators_of_integers_and_booleans{"kg::operator!", operators_of_integers_and_booleans};

void operators_that_assign() {
  kg::tensor x({1, 2});
  x /= 2;
  x += kg::tensor({{0}, {10}});
  std::cout << x << "\n";
}
const example for_operators_that_assign{"kg::operator+=", operators_that_assign};

void names_of_numpy() {
  const kg::tensor a({7, 4}), b({2, 4});
  std::cout << kg::subtract(a, b) << "\n" << kg::multiply(a, b) << "\n";
  std::cout << kg::divide(a, b) << "\n" << kg::floor_divide(a, b) << "\n";
}
const example for_names_of_numpy{"kg::subtract kg::multiply kg::divide kg::floor_divide", names_of_numpy};

void negative_numbers() { std::cout << kg::negative(kg::tensor({1.5, -2.0})) << "\n"; }
const example for_negative_numbers{"kg::negative", negative_numbers};

void what_is_no_ordinary_number() {
  const kg::tensor x({0.f, INFINITY, NAN});
  std::cout << kg::isnan(x) << "\n" << kg::isinf(x) << "\n" << kg::isfinite(x) << "\n";
}
const example for_what_is_no_ordinary_number{"kg::isnan kg::isinf kg::isfinite", what_is_no_ordinary_number};

}  // namespace
