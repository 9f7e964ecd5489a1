// SPDX-License-Identifier: Apache-2.0
// Typed names are functions: found next to those of C and C++ without a qualifier, overloaded for temporaries, numbers
// and symbols; and the same ops as objects.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

import kerngrad;

namespace {

using kg::tensor;
using doubles = std::vector<double>;

// A function as in generic numerical code.
template <class T>
T damped(const T& x) {
  using std::abs, std::cos, std::exp, std::pow, std::sqrt;
  return exp(-abs(x)) * cos(x) + sqrt(pow(x, 2) + 1.0);
}

TEST(a_typed_name, is_found_by_its_operands_beside_that_of_std) {
  const tensor x({-0.5, 0.0, 1.25});
  const doubles y = damped(x).to_doubles();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(y[i], damped(x.to_doubles()[i]), 1e-15);
  EXPECT_NEAR(damped(std::complex<double>(0.5, 0)).real(), damped(0.5), 1e-15) << "the template serves both";
  EXPECT_EQ(atan2(x, x + 1).size(), 3) << "no using declaration at all";
  EXPECT_EQ(fmod(x, 0.5).to_doubles(), (doubles{0, 0, 0.25}));
}

namespace unqualified {

using namespace kg;

TEST(a_typed_name, is_not_ambiguous_with_that_of_c) {
  const tensor a({-1.5, 2.5}), b({2.0, 3.0});
  const std::pair<tensor, doubles> calls[] = {
      {abs(a), {1.5, 2.5}},       {round(a), {-2, 2}},         {floor(a), {-2, 2}},       {ceil(a), {-1, 3}},
      {trunc(a), {-1, 2}},        {pow(a, b), {2.25, 15.625}}, {pow(a, 2), {2.25, 6.25}}, {pow(2, b), {4, 8}},
      {fmod(b, 1.5), {0.5, 0}},   {hypot(b, 0.0), {2, 3}},     {copysign(b, a), {-2, 3}}, {exp(a * 0), {1, 1}},
      {log(a * 0 + 1), {0, 0}},   {sqrt(b * b), {2, 3}},       {log2(b * 0 + 8), {3, 3}}, {exp2(b), {4, 8}},
      {div(a, 2), {-0.75, 1.25}}, {sin(a * 0), {0, 0}},        {tanh(a * 0), {0, 0}},     {atan2(a * 0, b), {0, 0}},
      {erf(a * 0), {0, 0}},       {cbrt(b * 0 + 27), {3, 3}},
  };
  for (std::size_t i = 0; i < std::size(calls); ++i) EXPECT_EQ(calls[i].first.to_doubles(), calls[i].second) << i;
  EXPECT_EQ(abs(-2), 2) << "and C's are still there";
  EXPECT_EQ(pow(2.0, 3.0), 8);
  EXPECT_EQ(std::abs(-2.5), 2.5);
}

}  // namespace unqualified

TEST(a_typed_name, takes_the_memory_of_what_is_given_up) {
  tensor x({1.f, 4.f});
  const void* const memory = x.address();
  tensor y = sqrt(std::move(x));
  EXPECT_EQ(y.address(), memory);
  y = kg::add(std::move(y), 1);
  EXPECT_EQ(y.address(), memory);
  y = kg::mul(2, std::move(y));
  EXPECT_EQ(y.address(), memory);
  const tensor kept = y;
  EXPECT_NE(kg::neg(kept).address(), memory);
  EXPECT_EQ(kg::function_of<"Neg">(std::move(y)).to_doubles(), (doubles{-4, -6}));
  EXPECT_EQ(kept.to_doubles(), (doubles{4, 6}));
}

TEST(a_typed_name, takes_symbols) {
  const tensor x({0.5, 1.0});
  const auto f = [](auto a) { return maximum(exp(a), pow(a, 2)) * kg::function_of<"Sin">(a); };
  EXPECT_EQ(kg::fuse(f)(x).to_doubles(), f(x).to_doubles());
  static_assert(std::is_same_v<decltype(kg::exp(kg::symbol{})), kg::symbol>);
}

TEST(a_name_of_numpy, is_that_of_the_function_that_tensorflow_js_names_otherwise) {
  const tensor a({6.f, -3.f}), b({4.f, 2.f}), x({1.f, NAN, INFINITY}), m{{1, 2}, {3, 4}};
  const auto same = [](const tensor& p, const tensor& q) { return to_string(p) == to_string(q); };
  EXPECT_TRUE(same(kg::subtract(a, b), a - b) && same(kg::multiply(a, b), a * b) && same(kg::divide(a, b), a / b));
  EXPECT_TRUE(same(kg::floor_divide(a, b), kg::floor_div(a, b)) && same(kg::negative(a), -a));
  EXPECT_TRUE(same(kg::multiply(a, 2), a * 2) && same(kg::subtract(1, a), 1 - a));
  EXPECT_TRUE(same(kg::isnan(x), kg::is_nan(x)) && same(kg::isinf(x), kg::is_inf(x)));
  EXPECT_TRUE(same(kg::isfinite(x), kg::is_finite(x)) && same(kg::isclose(a, b, 0, 2), kg::is_close(a, b, {0, 2})));
  EXPECT_TRUE(same(kg::flip(m), kg::reverse(m)) && same(kg::flip(m, 1), kg::reverse(m, 1)));
  EXPECT_TRUE(same(kg::take(m, tensor({1}), 0), kg::gather(m, tensor({1}), 0)));
  EXPECT_EQ(kg::take(m, tensor({3, 0})).to_doubles(), (std::vector<double>{4, 1}));
  EXPECT_EQ(kg::take(m, tensor({-1, 0, -4})).to_doubles(), (std::vector<double>{4, 1, 1}));
  EXPECT_EQ(kg::take(m, tensor({-1}), -1).to_doubles(), (std::vector<double>{2, 4}));
  EXPECT_EQ(kg::grad([](const tensor& x) { return kg::sum(kg::take(x, tensor({-1, 0, -1}))); })(
                kg::cast(m, kg::dtype::float32))
                .to_doubles(),
            (std::vector<double>{1, 0, 0, 2}));
  for (const int outside : {-5, 4}) {
    try {
      kg::take(m, tensor({0, outside}));
      ADD_FAILURE() << outside;
    } catch (const kg::error& e) {
      EXPECT_NE(e.got().find("index " + std::to_string(outside)), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(kg::take(m, tensor({0.5}), 0), kg::error);
  const tensor sorted({1, 2, 2, 5});
  EXPECT_TRUE(same(kg::searchsorted(sorted, tensor({2})), kg::lower_bound(sorted, tensor({2}))));
  EXPECT_TRUE(same(kg::searchsorted(sorted, tensor({2}), "right"), kg::upper_bound(sorted, tensor({2}))));
}

TEST(an_op, is_an_object_that_is_called_as_its_name) {
  const tensor x({0.25, -1.0}), y({2.0, 3.0});
  EXPECT_EQ(kg::function_of<"Tanh">(x).to_doubles(), kg::tanh(x).to_doubles());
  EXPECT_EQ(kg::function_of<"Pow">(y, 2).to_doubles(), (doubles{4, 9}));
  EXPECT_EQ(kg::function_of<"Sub">(1, y).to_doubles(), (doubles{-1, -2}));
  EXPECT_EQ(kg::function_of<"LeakyRelu">(x, kg::attr<"alpha">(0.5)).to_doubles(), (doubles{0.25, -0.5}));
  EXPECT_EQ(kg::function_of<"Sum">(y, kg::attr<"axis">(0)).item(), 5);
  const auto both = kg::function_of<"Unique">(tensor({3, 3, 1}));
  EXPECT_EQ(std::get<0>(both).size(), 2);
  EXPECT_EQ(kg::grad(kg::function_of<"Square">)(tensor(3.0)).item(), 6);
  const std::map<std::string, std::function<tensor(const tensor&)>> table = {{"exp", kg::function_of<"Exp">},
                                                                             {"abs", kg::function_of<"Abs">}};
  EXPECT_EQ(table.at("abs")(x).to_doubles(), (doubles{0.25, 1}));
}

}  // namespace
