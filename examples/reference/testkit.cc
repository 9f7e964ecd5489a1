// SPDX-License-Identifier: Apache-2.0
// The test kit: calls that rows give, checks of ops and functions, values.
#include <array>
#include <iostream>
#include <span>
#include <vector>

#include "example.h"

import kerngrad;
import kerngrad.testkit;

namespace {

void an_op_holds_what_its_row_promises() {
  const kg::testkit::report found = kg::testkit::check_op("Softplus", {.dtypes = kg::only(kg::dtype::float64)});
  std::cout << "right: " << found.ok() << "\n"
            << "gradients judged: " << (found.count(kg::testkit::check::gradient) > 0) << "\n";
}
const example for_an_op_holds_what_its_row_promises{"kg::testkit::check_op", an_op_holds_what_its_row_promises};

void a_gradient_that_is_wrong_is_found() {
  const auto cube = kg::custom_grad([](const kg::tensor& x) {
    return kg::with_gradient(x * x * x, [x](const kg::tensor& dy) { return std::vector{dy * x * 3}; });
  });
  const auto f = [&](std::span<const kg::tensor> xs) -> kg::tensor_list { return {cube(xs[0])}; };
  const kg::testkit::report found = kg::testkit::check_function("cube", f, std::array{kg::tensor({1.0, 2.0})});
  std::cout << "right: " << found.ok() << ", found by: " << kg::testkit::name_of(found.failures()[0].by) << "\n";
}
const example for_a_gradient_that_is_wrong_is_found{"kg::testkit::check_function", a_gradient_that_is_wrong_is_found};

void what_was_checked() {
  const auto f = [](std::span<const kg::tensor> xs) -> kg::tensor_list { return {kg::exp(xs[0]) * xs[1]}; };
  const std::array at{kg::tensor({1.0, 2.0}), kg::tensor({3.0, 4.0})};
  std::cout << kg::testkit::check_function("f", f, at) << "\n";
}
const example for_what_was_checked{"kg::testkit::operator<<", what_was_checked};

void names_of_checks() {
  for (const auto which : {kg::testkit::check::special_values, kg::testkit::check::second_order})
    std::cout << kg::testkit::name_of(which) << "\n";
}
const example for_names_of_checks{"kg::testkit::name_of", names_of_checks};

// ------------------------------------------------------------------------------------------ calls

void a_call_in_a_line() {
  const kg::testkit::sample call{{{"x", kg::shape{2, 3}}}, {{"alpha", 0.1}}};
  std::cout << kg::testkit::to_string(call) << "\n";
}
const example for_a_call_in_a_line{"kg::testkit::to_string", a_call_in_a_line};

void legal_calls_of_a_row() {
  const std::vector<kg::testkit::sample> calls = kg::testkit::samples_of(*kg::row_named("Add"));
  for (const kg::testkit::sample& call : std::span(calls).first(4)) std::cout << kg::testkit::to_string(call) << "\n";
}
const example for_legal_calls_of_a_row{"kg::testkit::samples_of", legal_calls_of_a_row};

void a_call_of_a_backward_op() {
  const kg::testkit::sample pooled = kg::testkit::samples_of(*kg::row_named("AvgPool")).front();
  const kg::testkit::sample backward = kg::testkit::backward_sample(*kg::row_named("AvgPoolGrad"), pooled);
  std::cout << kg::testkit::to_string(pooled) << "\n" << kg::testkit::to_string(backward) << "\n";
}
const example for_a_call_of_a_backward_op{"kg::testkit::backward_sample", a_call_of_a_backward_op};

void values_that_a_sample_fixes() {
  kg::testkit::sample_operand parts("tensors", kg::tensor({1, 2, 3}));
  parts.dims = {{1}, {2}};  // of a list, one after the other
  for (const kg::tensor& part : kg::testkit::fixed_tensors(parts)) std::cout << part << "\n";
}
const example for_values_that_a_sample_fixes{"kg::testkit::fixed_tensors", values_that_a_sample_fixes};

void operands_within_a_range() {
  const kg::testkit::sample call{{{"a", kg::shape{2, 3}}, {"b", kg::shape{3}}}};
  const std::array ranges{kg::testkit::operand_range{"b", 5, 6}};
  for (const kg::named_operand& x :
       kg::testkit::operands_for(*kg::row_named("Add"), call, kg::dtype::float64, 1, ranges))
    std::cout << x.name << " " << kg::to_string(x.tensors[0].dims())
              << ", at least 5: " << (kg::min(x.tensors[0]).item() >= 5) << "\n";
}
const example for_operands_within_a_range{"kg::testkit::operands_for", operands_within_a_range};

void a_text_where_elements_are_texts() {
  const kg::testkit::sample call{{{"x", kg::shape{2}}}, {{"paddings", {1, 0}}, {"constantValue", 7}}};
  for (const kg::dtype type : {kg::dtype::int32, kg::dtype::text})
    for (const kg::named_attribute& a : kg::testkit::attributes_for(*kg::row_named("PadV2"), call, type))
      std::cout << a.name << " " << kg::name_of(a.value.kind()) << "\n";
}
const example for_a_text_where_elements_are_texts{"kg::testkit::attributes_for", a_text_where_elements_are_texts};

void calls_with_a_mistake() {
  const std::vector<kg::testkit::wrong_call> calls = kg::testkit::wrong_calls_of(*kg::row_named("Sum"));
  for (const kg::testkit::wrong_call& call : std::span(calls).first(4)) std::cout << call.label << "\n";
}
const example for_calls_with_a_mistake{"kg::testkit::wrong_calls_of", calls_with_a_mistake};

// ------------------------------------------------------------------------------------------ values

void numbers_in_any_dtype() {
  std::cout << kg::testkit::from_doubles({1, 2, 3, 4}, {2}, kg::dtype::complex64) << "\n"  // in pairs
            << kg::testkit::from_doubles({255, 256}, {2}, kg::dtype::uint8) << "\n";       // wraps
}
const example for_numbers_in_any_dtype{"kg::testkit::from_doubles", numbers_in_any_dtype};

void elements_as_doubles() {
  const kg::tensor z = kg::complex(kg::tensor({1.f, 3.f}), kg::tensor({2.f, 4.f}));
  for (const double part : kg::testkit::doubles_of(z)) std::cout << part << "\n";
}
const example for_elements_as_doubles{"kg::testkit::doubles_of", elements_as_doubles};

void numbers_that_are_the_same_everywhere() {
  kg::testkit::stream numbers(7);
  for (int i = 0; i < 3; ++i) std::cout << numbers.below(100) << " ";
  std::cout << "\n";
}
const example for_numbers_that_are_the_same_everywhere{"kg::testkit::stream", numbers_that_are_the_same_everywhere};

}  // namespace
