// SPDX-License-Identifier: Apache-2.0
// The test kit itself: ops with one planted fault each are found by the check that the fault belongs to, and by no
// check without the fault.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::testkit::check;

enum class fault {
  none,
  wrong_gradient,
  cut_second_order,
  forgotten_dy,
  skipped_tail,
  written_operand,
  counted_calls,
  read_address,
  kept_tensor,
  lost_nan,
  refused_scalar,
  foreign_exception,
  other_name,
  no_bound,
  other_reference,
  narrow_result,
  no_sample,
};

// ------------------------------------------------------------------------------------------ an op with faults

// The third power, plus a number.
constexpr kg::attr_spec plus[] = {{"plus", kg::attr_kind::number, "what is added", false, 0.5, {}, 0, 8}};
constexpr kg::attr_spec plus_without_bound[] = {{"plus", kg::attr_kind::number, "what is added", false, 0.5}};
constexpr kg::attr_spec plus_list[] = {{"plus", kg::attr_kind::list, "what is added", true}};
constexpr kg::operand x_of_floats[] = {{"x", kg::floating}};

std::vector<kg::tensor> kept;

template <fault F>
constexpr void infer_cube(kg::inference& call) {
  if constexpr (F == fault::foreign_exception)
    if (call.in[0].dims.rank() == 8) throw std::out_of_range("rank");
  if constexpr (F == fault::other_name)
    if (call.in[0].dims.rank() == 8) kg::fail("Cubic", "rank 8", "less");
  call.give(call.in[0].dims);
}

template <class T, class Out, fault F>
void run_cube(const kg::launch_call& c) {
  const std::span<const T> x = kg::elements_in<T>(c, 0);
  const std::span<Out> y = kg::elements_out<Out>(c);
  const double add = F == fault::no_sample ? 0.5 : c.call.attr("plus").as_number();
  if (F == fault::refused_scalar && c.in[0].dims.rank() == 0) kg::fail("Cube", "a scalar", "a vector");
  const std::size_t count = F == fault::skipped_tail ? x.size() / 4 * 4 : x.size();
  for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<Out>(x[i] * x[i] * x[i] + add);
  if (y.empty()) return;
  const Out eps = std::numeric_limits<Out>::epsilon();
  static int calls = 0;
  if (F == fault::written_operand) const_cast<T&>(x[0]) += static_cast<T>(1);
  if (F == fault::counted_calls && ++calls % 2) y[0] *= 1 + eps;
  if (F == fault::read_address && reinterpret_cast<std::uintptr_t>(x.data()) / 64 % 2) y[0] *= 1 + eps;
  if (F == fault::kept_tensor) kept.push_back(kg::zeros({3}));
  for (std::size_t i = 0; F == fault::lost_nan && i < x.size(); ++i)
    if (std::isnan(x[i])) y[i] = 0;
  if (F == fault::other_reference) y[0] *= static_cast<Out>(1.001);
}

template <fault F>
struct cube {
  static constexpr kg::op_row row{
      .name = "Cube",
      .doc = "The third power.",
      .group = kg::family::elementwise,
      .operands = x_of_floats,
      .attrs = F == fault::no_bound    ? std::span<const kg::attr_spec>(plus_without_bound)
               : F == fault::no_sample ? std::span<const kg::attr_spec>(plus_list)
                                       : std::span<const kg::attr_spec>(plus),
      .types = {kg::lift::none, F == fault::narrow_result ? kg::result::float32 : kg::result::same},
      .infer = infer_cube<F>,
      .convention = kg::convention::unary};
  static constexpr fault fault_of_reference = F == fault::other_reference ? fault::none : F;
  using wide = std::conditional_t<F == fault::narrow_result, float, double>;
  static constexpr auto kernels =
      kg::kernel_list(kg::on_call<float>([](const kg::launch_call& c) { run_cube<float, float, F>(c); }),
                      kg::on_call<double>([](const kg::launch_call& c) { run_cube<double, wide, F>(c); }));
  static constexpr auto reference = kg::kernel_list(
      kg::on_call<float>([](const kg::launch_call& c) { run_cube<float, float, fault_of_reference>(c); }),
      kg::on_call<double>([](const kg::launch_call& c) { run_cube<double, wide, fault_of_reference>(c); }));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) {
    const auto x = F == fault::cut_second_order ? kg::stop_gradient(c.in(0)) : c.in(0);
    const auto dy = F == fault::forgotten_dy ? kg::stop_gradient(c.dy()) : c.dy();
    return dy * kg::square(x) * (F == fault::wrong_gradient ? 3.0001 : 3);
  }));
};

// The op from its definition, in long double.
kg::tensor_list cube_by_definition(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  const double add =
      call.has_attr("plus") && call.attr("plus").kind() != kg::attr_kind::list ? call.attr("plus").as_number() : 0.5;
  std::vector<double> y;
  for (double v : x.to_doubles()) y.push_back(static_cast<double>(std::pow(static_cast<long double>(v), 3) + add));
  return {kg::testkit::from_doubles(y, x.dims(), x.type())};
}

kg::testkit::options with_oracle() {
  kg::testkit::options how;
  how.oracle = cube_by_definition;
  how.tolerance = 16;
  return how;
}

// The checks that failed, in their order.
std::string checks_that_found(const kg::testkit::report& found) {
  std::string names;
  for (int c = 0; c < kg::testkit::check_count; ++c)
    if (const check by = static_cast<check>(c); found.failed(by) > 0)
      names += (names.empty() ? "" : ", ") + std::string(name_of(by));
  return names;
}

template <fault F>
std::string found_in(const kg::testkit::options& how = with_oracle()) {
  const kg::testkit::report found = kg::testkit::check_op<cube<F>>(how);
  kept.clear();
  EXPECT_EQ(found.ok(), F == fault::none) << found;
  for (const kg::testkit::failure& f : found.failures()) EXPECT_TRUE(!f.got.empty() && !f.wanted.empty()) << found;
  return checks_that_found(found);
}

// ------------------------------------------------------------------------------------------ what is found

TEST(the_test_kit, finds_nothing_in_an_op_without_a_fault) {
  const kg::testkit::report found = kg::testkit::check_op<cube<fault::none>>(with_oracle());
  EXPECT_TRUE(found) << found;
  for (int c = 0; c < kg::testkit::check_count; ++c) EXPECT_GT(found.count(static_cast<check>(c)), 0) << c;
  EXPECT_TRUE(kg::testkit::check_op<cube<fault::none>>()) << "without an oracle";
  EXPECT_EQ(kg::row_named("Cube"), nullptr) << "registered for the time only";
}

TEST(the_test_kit, finds_a_gradient_with_a_wrong_factor) {
  EXPECT_EQ(found_in<fault::wrong_gradient>(), "gradient, forward");
}
TEST(the_test_kit, finds_a_rule_whose_second_order_is_cut) {
  EXPECT_EQ(found_in<fault::cut_second_order>(), "second order");
}
TEST(the_test_kit, finds_a_rule_that_is_not_differentiable_in_dy) {
  EXPECT_EQ(found_in<fault::forgotten_dy>(), "forward");
}
TEST(the_test_kit, finds_a_kernel_that_leaves_out_the_tail) {
  EXPECT_NE(found_in<fault::skipped_tail>().find("oracle"), std::string::npos);
}
TEST(the_test_kit, finds_a_kernel_that_writes_its_operand) {
  EXPECT_NE(found_in<fault::written_operand>().find("aliasing"), std::string::npos);
}
TEST(the_test_kit, finds_a_kernel_whose_results_differ_from_run_to_run) {
  EXPECT_EQ(found_in<fault::counted_calls>(), "determinism, forward") << "forward: the value beside the tangent";
}
TEST(the_test_kit, finds_a_kernel_whose_results_depend_on_the_address) {
  EXPECT_EQ(found_in<fault::read_address>(), "determinism");
}
TEST(the_test_kit, finds_a_kernel_that_keeps_tensors) {
  EXPECT_EQ(found_in<fault::kept_tensor>(), "bad calls, memory");
}
TEST(the_test_kit, finds_a_nan_that_is_lost) { EXPECT_EQ(found_in<fault::lost_nan>(), "special values"); }
TEST(the_test_kit, finds_a_shape_that_is_refused) { EXPECT_EQ(found_in<fault::refused_scalar>(), "results"); }
TEST(the_test_kit, finds_an_exception_of_another_type) { EXPECT_EQ(found_in<fault::foreign_exception>(), "bad calls"); }
TEST(the_test_kit, finds_an_error_that_names_another_op) { EXPECT_EQ(found_in<fault::other_name>(), "bad calls"); }
TEST(the_test_kit, finds_a_backend_that_differs_from_the_reference) {
  EXPECT_EQ(found_in<fault::other_reference>(), "targets, oracle, gradient, forward");
}
TEST(the_test_kit, finds_a_result_of_the_wrong_dtype) {
  EXPECT_EQ(found_in<fault::narrow_result>(), "oracle, special values");
}
TEST(the_test_kit, finds_that_a_row_gives_no_sample) { EXPECT_EQ(found_in<fault::no_sample>(), "samples"); }

TEST(the_test_kit, finds_an_attribute_that_should_be_refused) {
  kg::testkit::options how = with_oracle();
  how.refused = {{{{"x", kg::shape{7}}}, {{"plus", -1.0}}}};
  EXPECT_EQ(found_in<fault::no_bound>(how), "bad calls");
  EXPECT_EQ(found_in<fault::none>(how), "");
}

// ------------------------------------------------------------------------------------------ other ops

// a + 2 b, with the shape rule of one operand or of both.
void run_plus_twice(const kg::launch_call& c) {
  const std::span<const double> a = kg::elements_in<double>(c, 0), b = kg::elements_in<double>(c, 1);
  const std::span<double> y = kg::elements_out<double>(c);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = a.empty() || b.empty() ? 0 : a[i % a.size()] + 2 * b[i % b.size()];
}
template <kg::infer_fn Infer>
struct plus_twice {
  static constexpr kg::operand operands[] = {{"a", kg::only(kg::dtype::float64)}, {"b", kg::only(kg::dtype::float64)}};
  static constexpr kg::op_row row{.name = "PlusTwice",
                                  .doc = "a + 2 b.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = Infer,
                                  .convention = kg::convention::binary};
  static constexpr auto kernels =
      kg::kernel_list(kg::on_call<double>([](const kg::launch_call& c) { run_plus_twice(c); }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); }),
                      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 2; }));
};

TEST(the_test_kit, finds_a_shape_rule_that_forgets_to_broadcast) {
  const kg::testkit::report wrong = kg::testkit::check_op<plus_twice<kg::shapes::same>>(),
                            right = kg::testkit::check_op<plus_twice<kg::shapes::all_equal>>();
  EXPECT_GT(wrong.failed(check::results), 0) << wrong;
  EXPECT_TRUE(right) << right;
  EXPECT_GT(right.count(check::gradient), 3) << right;
}

// The square root, whose row may state the domain.
template <bool Stated>
struct root {
  static constexpr kg::domain domain = Stated ? kg::domain{{0.2, 3}} : kg::domain{};
  static constexpr kg::op_row row{.name = "Root",
                                  .doc = "The square root.",
                                  .group = kg::family::elementwise,
                                  .operands = x_of_floats,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .domain = domain};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<double>([](double x) { return std::sqrt(x); }),
                                                  kg::per_element<float>([](float x) { return std::sqrt(x); }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::out0, [](const auto& c) { return c.dy() / (c.out() * 2); }));
};

TEST(the_test_kit, draws_values_from_the_domain_of_the_row) {
  const kg::testkit::report unstated = kg::testkit::check_op<root<false>>(),
                            stated = kg::testkit::check_op<root<true>>();
  EXPECT_EQ(checks_that_found(unstated), "gradient, second order, forward") << unstated;
  EXPECT_TRUE(stated) << stated;
}

// The quotient without its fraction, whose row may state that it jumps at integers.
template <kg::kink Kinks>
struct whole_part {
  static constexpr kg::operand operands[] = {{"a", kg::only(kg::dtype::float64)}, {"b", kg::only(kg::dtype::float64)}};
  static constexpr kg::op_row row{.name = "WholePart",
                                  .doc = "trunc(a / b).",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::all_equal,
                                  .convention = kg::convention::binary,
                                  .domain = {{-4, 4}, {1, 3}},
                                  .kinks = Kinks};
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<double>([](double a, double b) { return std::trunc(a / b); }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 0; }),
                      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 0; }));
};

TEST(the_test_kit, keeps_away_from_the_kinks_of_the_row) {
  std::int64_t unstated = 0, stated = 0;
  kg::testkit::options how;
  for (how.seed = 1; how.seed < 20; ++how.seed) {
    unstated += kg::testkit::check_op<whole_part<kg::kink::none>>(how).failed(check::gradient);
    stated += kg::testkit::check_op<whole_part<kg::kink::whole_quotients>>(how).failed(check::gradient);
  }
  EXPECT_GT(unstated, 0);
  EXPECT_EQ(stated, 0);
}

// Three times x, and its backward op, whose shapes and values are those of a call of the forward op.
struct thrice {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Thrice",
                                  .doc = "3 x.",
                                  .group = kg::family::reduce,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "none is asked for"};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return 3 * x; }));
};
struct thrice_backward {
  static constexpr kg::attr_spec attrs[] = {{"inputShape", kg::attr_kind::list, "shape of x", true}};
  static constexpr kg::operand operands[] = {{"dy", kg::only(kg::dtype::float32)}, {"y", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "ThriceBackward",
                                  .doc = "The gradient of Thrice.",
                                  .group = kg::family::reduce,
                                  .operands = operands,
                                  .attrs = attrs,
                                  .infer = kg::shapes::all_equal,
                                  .convention = kg::convention::binary,
                                  .forward = "Thrice",
                                  .no_gradient = "none is asked for"};
  static constexpr auto kernels = kg::kernel_list(kg::per_pair<float>([](float dy, float) { return 3 * dy; }));
};

TEST(the_test_kit, makes_the_calls_of_a_backward_op_from_those_of_its_forward_op) {
  const kg::registration forward = kg::scoped_op<thrice>();
  const std::vector<kg::testkit::sample> calls = kg::testkit::samples_of(thrice_backward::row);
  ASSERT_EQ(calls.size(), kg::testkit::samples_of(thrice::row).size());
  EXPECT_EQ(to_string(calls[2]), "dy [2, 3] y [2, 3] inputShape=[2, 3]");
  EXPECT_THROW(kg::testkit::backward_sample(thrice::row, calls[0]), kg::error);
}

// Twice x, where the first elements up to a multiple of 16 bytes may be left out.
template <bool Peel>
void run_twice(const void* in, void* out, std::size_t n) {
  const float* x = static_cast<const float*>(in);
  float* y = static_cast<float*>(out);
  const std::size_t first = Peel ? (16 - reinterpret_cast<std::uintptr_t>(x) % 16) % 16 / 4 : 0;
  for (std::size_t i = 0; i < n; ++i) y[i] = i < first ? 0 : 2 * x[i];
}
template <bool Peel>
struct twice {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Twice",
                                  .doc = "2 x.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "none is asked for"};
  // The form for tensors, whose elements are aligned, and that for spans.
  static constexpr auto kernels = [] {
    kg::own_kernel kernel = kg::per_element<float>([](float x) { return 2 * x; });
    kernel.slot.flat1 = run_twice<Peel>;
    return kg::kernel_list(kernel);
  }();
};

TEST(the_test_kit, finds_a_kernel_that_depends_on_the_alignment_of_a_span) {
  const kg::testkit::report wrong = kg::testkit::check_op<twice<true>>(), right = kg::testkit::check_op<twice<false>>();
  EXPECT_EQ(checks_that_found(wrong), "determinism") << wrong;
  EXPECT_TRUE(right) << right;
}

TEST(the_test_kit, finds_a_result_that_shares_memory_with_an_operand) {
  kg::kernel_config config;
  config.name = "Floor";
  config.run = [](const kg::kernel_call& call) { return kg::tensor_list{call.input("x")}; };
  const kg::registration replaced = kg::scoped_kernel(config, kg::existing::replace);
  EXPECT_GT(kg::testkit::check_op("Floor").failed(check::aliasing), 0);
}

TEST(the_test_kit, finds_a_wrong_rule_in_place_of_a_known_one) {
  EXPECT_TRUE(kg::testkit::check_op("Tanh"));
  kg::gradient_config wrong;
  wrong.name = "Tanh";
  wrong.saves_outputs = true;
  wrong.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"x", call.dy() * (1.001 - kg::square(call.output()))}};
  };
  const kg::registration replaced = kg::scoped_gradient(wrong, kg::existing::replace);
  EXPECT_GT(kg::testkit::check_op("Tanh").failed(check::gradient), 0);
}

TEST(the_test_kit, finds_a_rule_that_is_not_linear_in_dy) {
  kg::gradient_config wrong;
  wrong.name = "Tanh";
  wrong.saves_outputs = true;
  wrong.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"x", call.dy() * call.dy() * (1 - kg::square(call.output()))}};
  };
  const kg::registration replaced = kg::scoped_gradient(wrong, kg::existing::replace);
  EXPECT_GT(kg::testkit::check_op("Tanh").failed(check::forward), 0);
}

// Zeros in place of the gradient of every built-in op that has another one.
TEST(the_test_kit, finds_a_gradient_that_is_lost_whichever_op_it_is_of) {
  for (const kg::op_row& row : kg::op_table) {
    if (!row.no_gradient.empty() || row.doc.find("Gradient: 0.") != std::string_view::npos) continue;
    kg::gradient_config lost;
    lost.name = row.name;
    lost.run = [](const kg::gradient_call&) { return std::vector<kg::named_operand>(); };
    const kg::registration replaced = kg::scoped_gradient(lost, kg::existing::replace);
    kg::testkit::options how;
    for (int c = 0; c < kg::testkit::check_count; ++c)
      if (const check by = static_cast<check>(c); by != check::gradient) how.without.push_back({by, "not asked for"});
    EXPECT_GT(kg::testkit::check_op(row.name, how).failed(check::gradient), 0) << row.name;
  }
}

// ------------------------------------------------------------------------------------------ functions

const kg::tensor somewhere({1.5, 0.75});

kg::tensor_list cube_with_factor(std::span<const kg::tensor> xs, double factor, bool cut) {
  return kg::custom_grad(
      [=](std::span<const kg::tensor> x) {
        const kg::tensor v = cut ? kg::stop_gradient(x[0]) : x[0];
        return kg::with_gradient(v * v * v,
                                 [=](const kg::tensor& dy) { return std::vector<kg::tensor>{dy * v * v * factor}; });
      },
      xs);
}
std::string found_in_function(double factor, bool cut) {
  const auto f = [=](std::span<const kg::tensor> xs) { return cube_with_factor(xs, factor, cut); };
  return checks_that_found(kg::testkit::check_function("cube", f, {&somewhere, 1}));
}

TEST(a_checked_function, is_accepted_when_right_and_noticed_when_off_by_a_millionth) {
  EXPECT_EQ(found_in_function(3, false), "");
  EXPECT_EQ(found_in_function(3.00001, false), "gradient, forward");
  EXPECT_EQ(found_in_function(3, true), "second order");
}

TEST(a_checked_function, takes_floating_tensors_only) {
  const kg::tensor whole({1, 2});
  const auto f = [](std::span<const kg::tensor> xs) { return kg::tensor_list{xs[0]}; };
  EXPECT_THROW(kg::testkit::check_function("whole", f, {&whole, 1}), kg::error);
}

// ------------------------------------------------------------------------------------------ options and texts

TEST(the_report, says_in_sentences_what_was_got_and_what_is_wanted) {
  const kg::testkit::report found = kg::testkit::check_op<cube<fault::wrong_gradient>>(with_oracle());
  const std::string text = to_string(found);
  for (const char* part : {"[Cube] gradient: float64 x [7]: got gradient ", "; wanted ", "by differences, within 1e-06",
                           "more\n", "[Cube] wrong; calls judged: samples "})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(found.failures().front().op, "Cube");
  EXPECT_GT(found.failed(check::gradient), 4);
  EXPECT_LE(found.failures().size(), 8u) << "up to four of each check are told";
}

TEST(the_options, leave_out_a_check_for_a_reason_that_the_report_repeats) {
  kg::testkit::options how = with_oracle();
  how.without = {{check::gradient, "the gradient is meant"}, {check::forward, "so is this"}};
  const kg::testkit::report found = kg::testkit::check_op<cube<fault::wrong_gradient>>(how);
  EXPECT_TRUE(found) << found;
  EXPECT_EQ(found.count(check::gradient), 0);
  EXPECT_NE(to_string(found).find("without gradient: the gradient is meant"), std::string::npos) << found;
  how.without = {{check::gradient, ""}};
  EXPECT_THROW(kg::testkit::check_op<cube<fault::none>>(how), kg::error);
}

TEST(the_options, take_samples_in_place_of_those_of_the_row) {
  kg::testkit::options how;
  how.samples = {{{{"x", kg::shape{2, 5}}}, {{"plus", {1, 2}}}}, {{{"x", kg::tensor({1.0, 2.0})}}, {{"plus", {0, 1}}}}};
  how.dtypes = kg::only(kg::dtype::float64);
  const kg::testkit::report found = kg::testkit::check_op<cube<fault::no_sample>>(how);
  EXPECT_TRUE(found) << found;
  EXPECT_EQ(found.count(check::samples), 2);
  EXPECT_EQ(found.count(check::results), 2) << "two calls in one dtype";
}

TEST(the_options, keep_values_in_a_range) {
  const kg::op_row& row = *kg::row_named("Exp");
  const kg::testkit::operand_range narrow[] = {{"x", 10, 11}};
  const std::vector<kg::named_operand> operands =
      kg::testkit::operands_for(row, {{{"x", kg::shape{50}}}}, kg::dtype::float64, 1, narrow);
  const std::vector<double> values = operands[0].tensors[0].to_doubles();
  EXPECT_EQ(values.size(), 50u);
  for (double v : values) EXPECT_TRUE(v >= 10 && v <= 11) << v;
}

TEST(the_options, check_the_reference_itself_or_another_backend) {
  kg::testkit::options how = with_oracle();
  how.backend = "reference";
  EXPECT_EQ(found_in<fault::none>(how), "");
  EXPECT_EQ(checks_that_found(kg::testkit::check_op<cube<fault::other_reference>>(how)), "")
      << "the reference kernels are right";
}

TEST(the_options, that_leave_no_call_to_be_made_are_a_failure) {
  kg::testkit::options how;
  how.dtypes = kg::only(kg::dtype::int32);
  EXPECT_EQ(checks_that_found(kg::testkit::check_op<cube<fault::none>>(how)), "results");
}

TEST(a_name_without_a_row, is_refused) { EXPECT_THROW(kg::testkit::check_op("Cubic"), kg::error); }

}  // namespace
