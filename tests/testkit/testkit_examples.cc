// SPDX-License-Identifier: Apache-2.0
// The examples of the page about the test kit.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

import kerngrad;
import kerngrad.testkit;

namespace my {

constexpr kg::attr_spec softshrink_attrs[] = {{.name = "lambda",
                                               .kind = kg::attr_kind::number,
                                               .doc = "half the width of what becomes 0",
                                               .fallback = 0.5,
                                               .least = 0}};
constexpr kg::operand softshrink_operands[] = {{"x", kg::floating}};

struct Softshrink {
  static constexpr kg::op_row row{.name = "Softshrink",
                                  .doc = "What is beyond lambda, moved towards 0 by lambda; 0 between.",
                                  .group = kg::family::elementwise,
                                  .operands = softshrink_operands,
                                  .attrs = softshrink_attrs,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  template <class T>
  static constexpr auto shrink = [](T x, double lambda) {
    const T by = static_cast<T>(lambda);
    return x > by ? x - by : x < -by ? x + by : x * 0;
  };
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>(shrink<float>), kg::per_element<double>(shrink<double>));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::out0, [](const auto& c) { return kg::where(c.out() != 0, c.dy(), kg::zeros_like(c.dy())); }));
};

// [one line]
TEST(Softshrink, HoldsWhatItsRowPromises) {
  const kg::testkit::report found = kg::testkit::check_op<my::Softshrink>();
  EXPECT_TRUE(found) << found;
}
// [/one line]

// [domain]
constexpr kg::operand wrap_operands[] = {{"a", kg::floating}, {"b", kg::floating}};

struct Wrap {
  static constexpr kg::op_row row{.name = "Wrap",
                                  .doc = "a - b * floor(a / b).",
                                  .group = kg::family::elementwise,
                                  .operands = wrap_operands,
                                  .infer = kg::shapes::all_equal,
                                  .convention = kg::convention::binary,
                                  .domain = {{-4, 4}, {1, 3}},  // of a, of b
                                  .kinks = kg::kink::whole_quotients};
  template <class T>
  static constexpr auto wrap = [](T a, T b) { return a - b * std::floor(a / b); };
  static constexpr auto kernels = kg::kernel_list(kg::per_pair<float>(wrap<float>), kg::per_pair<double>(wrap<double>));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); }),
      kg::wrt(kg::keep::in0 | kg::keep::in1, [](const auto& c) { return -c.dy() * kg::floor(c.in(0) / c.in(1)); }));
};

TEST(Wrap, HasRightGradientsWhereItIsSmooth) {
  const kg::testkit::report found = kg::testkit::check_op<my::Wrap>();
  EXPECT_TRUE(found) << found;
}
// [/domain]

// [oracle]
// The definition, in other arithmetic.
kg::tensor_list softshrink_by_definition(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  const double lambda = call.attr("lambda").as_number();
  std::vector<double> y;
  for (const double v : x.to_doubles())
    y.push_back(std::isnan(v) ? v : std::copysign(std::fmax(std::fabs(v) - lambda, 0), v));
  return {kg::testkit::from_doubles(y, x.dims(), x.type())};
}

TEST(Softshrink, IsWhatItsDefinitionSays) {
  kg::testkit::options how;
  how.oracle = softshrink_by_definition;
  how.refused = {{{{"x", kg::shape{7}}}, {{"lambda", -1.0}}}};
  const kg::testkit::report found = kg::testkit::check_op<my::Softshrink>(how);
  EXPECT_TRUE(found) << found;
  EXPECT_GT(found.count(kg::testkit::check::oracle), 50);
}
// [/oracle]

// [samples]
TEST(Softshrink, HoldsForCallsOfMyOwn) {
  kg::testkit::options how;
  how.samples = {{{{"x", kg::shape{128, 3}}}, {{"lambda", 0.25}}},              // values are drawn
                 {{{"x", kg::tensor({-1.25, 0.125, 3.0})}}, {{"lambda", 1}}}};  // values are these
  how.ranges = {{"x", -3, 3}};
  how.dtypes = kg::only(kg::dtype::float64);
  how.without = {{kg::testkit::check::second_order, "the rule is piecewise constant"}};
  const kg::testkit::report found = kg::testkit::check_op<my::Softshrink>(how);
  EXPECT_TRUE(found) << found;
}
// [/samples]

// [function]
TEST(MyLoss, HasRightGradients) {
  const auto loss = [](std::span<const kg::tensor> xs) {
    return kg::tensor_list{kg::mean(kg::square(kg::call<my::Softshrink>(xs[0] * xs[1])))};
  };
  const std::vector<kg::tensor> at = {kg::tensor({1.5, -2.0, 0.25}), kg::tensor({1.0, 0.75, 0.5})};
  const kg::testkit::report found = kg::testkit::check_function("MyLoss", loss, at);
  EXPECT_TRUE(found) << found;
}
// [/function]

}  // namespace my
