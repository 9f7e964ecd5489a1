// SPDX-License-Identifier: Apache-2.0
// First and second derivatives of the elementwise and special ops against MPFR: the first hold the bounds of
// kernels/common/accuracy.h, the second a common one. `./dev accuracy --gradients` measures the first over all floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_gradients.h"
#include "tests/support/full.h"
#include "tests/support/kernels.h"
#include "tools/accuracy/derivatives.h"
#include "tools/accuracy/gradients.h"
import kerngrad;

namespace {

using kerngrad::kernels::accuracy_worst;
using kerngrad::kernels::gradient_accuracy;
using kerngrad::kernels::gradient_bound;
using kerngrad::kernels::gradients_measured;
using kg::dtype;
using kg::tensor;
using kgtest::full;
using namespace kgaccuracy;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double rounding = 0.5e-4 + 1e-9;  // errors are kept with four places

template <class T>
double limit_of(const gradient_bound& bound) {
  return std::is_same_v<T, float> ? bound.ulp_float32 : bound.ulp_float64;
}
const derivative_of_one* one_named(std::string_view op) {
  const auto found = std::ranges::find_if(derivatives_of_one, [&](const auto& d) { return op == d.op; });
  return found == derivatives_of_one.end() ? nullptr : &*found;
}
const derivative_of_two* two_named(std::string_view op, int operand) {
  const auto found =
      std::ranges::find_if(derivatives_of_two, [&](const auto& d) { return op == d.op && operand == d.operand; });
  return found == derivatives_of_two.end() ? nullptr : &*found;
}

// Operands with the gradient there; `b` is empty for ops of one.
template <class T>
struct wanted_gradients {
  std::vector<T> a, b;
  std::vector<long double> exact;
};

template <class T>
wanted_gradients<T> wanted_of(const gradient_bound& bound) {
  wanted_gradients<T> all;
  if (const derivative_of_one* one = one_named(bound.op)) {
    // Special functions, which have no estimate, take MPFR up to half a millisecond each.
    const int whole = one->estimate ? 50000 : 5000;
    for (const T x : points<T>(full() ? whole : 1500)) {
      if (!is_in_domain(bound.domain, x) || x < one->least || x > one->most) continue;
      all.a.push_back(x);
      all.exact.push_back(one->first(number(x)).rounded());
    }
    return all;
  }
  const derivative_of_two* two = two_named(bound.op, bound.operand);
  if (!two) return all;
  // The beta function takes MPFR half a millisecond too.
  const int whole = std::string_view(bound.op) == "Beta" ? 10000 : 100000;
  const pairs<T> at = pairs_in_domain<T>(bound.domain, full() ? whole : 5000);
  for (std::size_t i = 0; i < at.a.size(); ++i) {
    const long double exact = two->first(number(at.a[i]), number(at.b[i])).rounded();
    if (std::isnan(exact)) continue;
    all.a.push_back(at.a[i]);
    all.b.push_back(at.b[i]);
    all.exact.push_back(exact);
  }
  return all;
}

template <class T>
std::vector<T> gradients_at(const gradient_bound& bound, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> got(a.size());
  if (b.empty()) gradient_of_one(bound.op, a.data(), got.data(), a.size());
  else gradient_of_two(bound.op, bound.operand, a.data(), b.data(), got.data(), a.size());
  return got;
}

template <class T>
void check_bound(const gradient_bound& bound) {
  const wanted_gradients<T> wanted = wanted_of<T>(bound);
  ASSERT_GT(wanted.exact.size(), 1000U) << bound.op;
  kgtest::on_every_target([&](const char* target) {
    const std::vector<T> got = gradients_at(bound, wanted.a, wanted.b);
    std::size_t worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      if (distance(got[i], wanted.exact[i]) > distance(got[worst], wanted.exact[worst])) worst = i;
    EXPECT_LE(distance(got[worst], wanted.exact[worst]), std::max(limit_of<T>(bound), 0.5))
        << target << ", " << sizeof(T) * 8 << " bits, the gradient of " << bound.op << " for operand " << bound.operand
        << " at " << wanted.a[worst] << (wanted.b.empty() ? "" : ", " + std::to_string(wanted.b[worst])) << " is "
        << got[worst] << " instead of " << static_cast<double>(wanted.exact[worst]);
  });
}

class the_gradient : public ::testing::TestWithParam<gradient_bound> {};
TEST_P(the_gradient, of_float32_holds_its_bound_on_every_target) { check_bound<float>(GetParam()); }
TEST_P(the_gradient, of_float64_holds_its_bound_on_every_target) { check_bound<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(bounds, the_gradient, ::testing::ValuesIn(gradient_accuracy), [](const auto& info) {
  return std::string(info.param.op) + "_" + std::to_string(info.param.operand);
});

TEST(every_elementwise_or_special_op_with_a_gradient, has_a_bound_for_each_operand) {
  // Their gradients are dy or 0.
  const std::set<std::string_view> choices = {"AddN", "Select", "ClipByValue"};
  for (const kg::op_row& row : kg::op_table) {
    if (row.group != kg::family::elementwise && row.group != kg::family::special) continue;
    if (!row.no_gradient.empty() || choices.contains(row.name)) continue;
    for (int k = 0; k < static_cast<int>(row.operands.size()); ++k) {
      EXPECT_EQ(std::ranges::count_if(gradient_accuracy,
                                      [&](const gradient_bound& b) { return row.name == b.op && k == b.operand; }),
                1)
          << row.name << ", operand " << k;
      for (const dtype type : {dtype::float32, dtype::float64})
        EXPECT_TRUE(kg::gradient_accuracy_of(row.name, k, type)) << row.name << ", operand " << k;
    }
  }
}

template <class T>
void check_kept(const accuracy_worst& row, const char* target) {
  const gradient_bound& bound = *std::ranges::find_if(gradient_accuracy, [&](const gradient_bound& b) {
    return std::string_view(b.op) == row.op && b.operand == row.operand;
  });
  const T a = static_cast<T>(row.a), b = static_cast<T>(row.b);
  const derivative_of_one* one = one_named(row.op);
  const long double exact =
      (one ? one->first(number(a)) : two_named(row.op, row.operand)->first(number(a), number(b))).rounded();
  const T got = gradients_at<T>(bound, {a}, one ? std::vector<T>{} : std::vector<T>{b})[0];
  const double error = row.ulp == 0 ? 0 : distance(got, exact);
  EXPECT_LE(error, std::max(limit_of<T>(bound), 0.5)) << row.op << " at " << row.a;
  if (std::string_view(target) == row.target)
    EXPECT_NEAR(error, row.ulp, rounding) << row.op << " at " << row.a << ": measure again with ./dev accuracy "
                                          << "--gradients --rows kernels/common/accuracy_gradients.h " << row.op;
}

TEST(the_largest_errors_that_are_kept, are_those_of_their_own_target_and_hold_the_bound_on_every_one) {
  kgtest::on_every_target([&](const char* target) {
    for (const accuracy_worst& row : gradients_measured) {
      if (row.type == dtype::float32) check_kept<float>(row, target);
      else check_kept<double>(row, target);
    }
  });
}

TEST(the_domain_of_a_bound, is_stated_in_words) {
  EXPECT_EQ(kg::gradient_accuracy_of("Exp", 0, dtype::float32)->domain, "");
  EXPECT_EQ(kg::gradient_accuracy_of("Atan", 0, dtype::float32)->domain, "x^2 is finite");
  EXPECT_EQ(kg::gradient_accuracy_of("Silu", 0, dtype::float64)->domain, "|x + 1.2784645| >= 0.125");
  EXPECT_EQ(kg::gradient_accuracy_of("RealDiv", 1, dtype::float64)->domain,
            "2^-20 <= |a| <= 2^20, 2^-20 <= |b| <= 2^20");
  EXPECT_EQ(kg::gradient_accuracy_of("Polygamma", 0, dtype::float32)->domain, "x > 0, n = 1");
  EXPECT_EQ(kg::gradient_accuracy_of("BesselJ1", 0, dtype::float64)->domain, "x > -1.5, x < 1.5");
  EXPECT_FALSE(kg::gradient_accuracy_of("Exp", 1, dtype::float32));
}

// ------------------------------------------------------------------------------------------ second derivatives

constexpr double most_of_second = 64;

// Operands of a second derivative, apart from those within `distance` of a zero of it at either sign.
struct interval {
  const char* op;
  double low, high;
  double zero = inf, distance = 0;
};
constexpr interval intervals[] = {
    {"Exp", -80, 80},
    {"Exp2", -120, 120},
    {"Expm1", -80, 80},
    {"Log", 1e-6, 1e6},
    {"Log2", 1e-6, 1e6},
    {"Log10", 1e-6, 1e6},
    {"Asin", -1, 1},
    {"Acos", -1, 1},
    {"Atanh", -1, 1},
    {"Acosh", 1, 1e6},
    {"Asinh", -1e6, 1e6},
    {"Tanh", -40, 40},
    {"Elu", -80, 5},
    {"Selu", -80, 5},
    {"Gelu", -6, 6, 1.4142135623730951, 0.1},
    {"Silu", -80, 80, 2.3993572805154677, 0.1},
    {"Sigmoid", -80, 80},
    {"Softplus", -80, 80},
};

// A thousand points, every third one near an end or near 0.
std::vector<double> points_of(const interval& in) {
  words next;
  std::vector<double> all;
  const double width = in.high - in.low;
  for (int i = 0; all.size() < 1000; ++i) {
    const double near = std::exp2(-20 * next.unit());
    double x = in.low + width * next.unit();
    if (i % 9 == 0) x = in.low + width * near;
    if (i % 9 == 3) x = in.high - width * near;
    if (i % 9 == 6 && in.low < 0) x = i % 2 ? near : -near;
    // A float in the open interval, for both dtypes.
    x = static_cast<float>(x);
    if (x > in.low && x < in.high && std::fabs(std::fabs(x) - in.zero) >= in.distance) all.push_back(x);
  }
  return all;
}

std::vector<double> second_derivative(const derivative_of_one& d, const std::vector<double>& at, dtype type) {
  const auto f = [&](const tensor& t) { return kg::run_kernel(d.op, {{"x", t}}); };
  const auto slope = [&](const tensor& t) { return kg::grad(f)(t); };
  return kg::grad(slope)(kg::cast(tensor(at), type)).to_doubles();
}

double error_of(double got, long double exact, dtype type) {
  return type == dtype::float32 ? distance(static_cast<float>(got), exact) : distance(got, exact);
}

TEST(second_derivatives, are_within_64_units_in_the_last_place_at_a_thousand_points) {
  for (const derivative_of_one& d : derivatives_of_one) {
    if (!d.second) continue;
    const auto* in = std::ranges::find_if(intervals, [&](const interval& i) { return std::string_view(i.op) == d.op; });
    ASSERT_NE(in, std::end(intervals)) << d.op;
    const std::vector<double> at = points_of(*in);
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const std::vector<double> got = second_derivative(d, at, type);
      for (std::size_t i = 0; i < at.size(); ++i) {
        const long double exact = d.second(number(at[i])).rounded();
        ASSERT_LE(error_of(got[i], exact, type), most_of_second)
            << d.op << " of " << kg::name_of(type) << " at " << at[i] << ": " << got[i] << " is not "
            << static_cast<double>(exact);
      }
    }
  }
}

// The mixed derivative is 0 on the diagonals: pairs have sizes that differ by an eighth at least.
TEST(second_derivatives, of_atan2_are_within_64_units_in_the_last_place_apart_from_the_diagonals) {
  pairs<float> at = pairs_in_domain<float>({.powers = {20, 20}}, 2000);
  std::vector<double> a, b;
  for (std::size_t i = 0; a.size() < 1000; ++i) {
    const double ratio = std::fabs(at.a[i] / at.b[i]);
    if (ratio > 0.875 && ratio < 1.125) continue;
    a.push_back(at.a[i]);
    b.push_back(at.b[i]);
  }
  for (int operand = 0; operand < 2; ++operand)
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const derivative_of_two& d = *two_named("Atan2", operand);
      const auto f = [](const tensor& s, const tensor& t) { return kg::atan2(s, t); };
      const auto slope = [&](const tensor& s, const tensor& t) {
        return kg::grads(f)(s, t)[static_cast<std::size_t>(operand)];
      };
      const auto got = kg::grads(slope)(kg::cast(tensor(a), type), kg::cast(tensor(b), type));
      const std::vector<double> by_a = got[0].to_doubles(), by_b = got[1].to_doubles();
      for (std::size_t i = 0; i < a.size(); ++i) {
        const number p(a[i]), q(b[i]);
        EXPECT_LE(error_of(by_a[i], d.second_a(p, q).rounded(), type), most_of_second)
            << operand << ", a, " << kg::name_of(type) << " at " << a[i] << ", " << b[i];
        EXPECT_LE(error_of(by_b[i], d.second_b(p, q).rounded(), type), most_of_second)
            << operand << ", b, " << kg::name_of(type) << " at " << a[i] << ", " << b[i];
      }
    }
}

// ------------------------------------------------------------------------------------------ saturated results

// If results round to 1, the derivatives are those of the tails: through the op, in a fused function with and
// without its value, and through rules that call them.
TEST(the_gradients_of_saturated_functions, are_those_of_their_tails) {
  const tensor far = tensor({37.4f, 60.f, 87.f}), near = tensor({9.f, 20.f, 43.f});
  const auto expect = [](const tensor& got, const tensor& x, auto exact) {
    for (std::size_t i = 0; i < 3; ++i) {
      const float at = x.data<float>()[i];
      EXPECT_LE(distance(got.data<float>()[i], exact(number(at)).rounded()), 8) << at;
    }
  };
  const auto first = [](const char* op) { return one_named(op)->first; };
  const auto sigmoid = [](const auto& x) { return kg::sigmoid(x); };
  const auto tanh = [](const auto& x) { return kg::tanh(x); };
  expect(kg::grad(sigmoid)(far), far, first("Sigmoid"));
  expect(kg::grad(tanh)(near), near, first("Tanh"));
  expect(kg::grad([](const tensor& x) { return kg::softplus(-x); })(far), far,
         [](const number& x) { return -one_named("Softplus")->first(-x); });
  expect(kg::grad([](const tensor& x) { return kg::log_sigmoid(x); })(far), far,
         [](const number& x) { return one_named("Softplus")->first(-x); });
  expect(kg::grad([](const tensor& x) { return kg::sigmoid_cross_entropy(kg::ones_like(x), x) * 3; })(far), far,
         [](const number& x) { return -one_named("Softplus")->first(-x); });
  expect(kg::fuse([](auto x) { return kg::sigmoid(x); }).value_and_grads(far).grads[0], far, first("Sigmoid"));
  expect(kg::fuse([](auto x) { return kg::tanh(x); }).value_and_grads(near).grads[0], near, first("Tanh"));
}

}  // namespace
