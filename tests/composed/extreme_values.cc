// SPDX-License-Identifier: Apache-2.0
// Functions of single numbers that are made of ops, at extreme numbers: values and derivatives against MPFR. Functions
// of rows are in extremes.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/accuracy/number.h"
#include "tools/accuracy/oracle.h"
import kerngrad;

namespace {

using kg::tensor;
using kgaccuracy::number;

using function_of_numbers = std::function<number(const number&)>;

struct extreme_function {
  const char* name;
  std::function<tensor(const tensor&)> f;
  function_of_numbers value, slope;
  bool of_shares = false;  // from 0 to 1; else of all sizes
  int most_of_slope = 16;  // units in the last place
};

number sigmoid(const number& x) { return number(1) / (number(1) + exp(-x)); }
// log(1 + exp(x)), by a series far below 0.
number softplus(const number& x) {
  if (number(200) < x) return x;  // 1e-87 less
  const number e = exp(x);
  return e < number(0x1p-80) ? e - e * e / number(2) : log(number(1) + e);
}
number mish(const number& x) { return x * tanh(softplus(x)); }
number mish_slope(const number& x) {
  const number t = tanh(softplus(x));
  return t + x * (number(1) - t) * (number(1) + t) * sigmoid(x);
}
number huber(const number& e) { return abs(e) < number(1) ? e * e / number(2) : abs(e) - number(0.5); }
number huber_slope(const number& e) { return abs(e) < number(1) ? e : e < number(0) ? number(-1) : number(1); }

tensor zeros_of(const tensor& x) { return kg::zeros_like(x); }
tensor ones_of(const tensor& x) { return kg::ones_like(x); }

const extreme_function functions[] = {
    {"logit", kg::logit, [](const number& x) { return log(x / (number(1) - x)); },
     [](const number& x) { return number(1) / (x * (number(1) - x)); }, true},
    {"softplus", [](const tensor& x) { return kg::softplus(x); }, softplus, sigmoid},
    {"log_sigmoid", [](const tensor& x) { return kg::log_sigmoid(x); }, [](const number& x) { return -softplus(-x); },
     [](const number& x) { return sigmoid(-x); }},
    {"mish", kg::mish, mish, mish_slope, false, 16},
    {"huber_loss",
     [](const tensor& x) { return kg::huber_loss(zeros_of(x), x, {.reduction = kg::loss_reduction::none}); }, huber,
     huber_slope},
    {"sigmoid_cross_entropy of 1",
     [](const tensor& x) { return kg::sigmoid_cross_entropy(ones_of(x), x, {.reduction = kg::loss_reduction::none}); },
     [](const number& x) { return softplus(-x); }, [](const number& x) { return -sigmoid(-x); }},
    {"sigmoid_cross_entropy of 0",
     [](const tensor& x) { return kg::sigmoid_cross_entropy(zeros_of(x), x, {.reduction = kg::loss_reduction::none}); },
     softplus, sigmoid},
};

// The ends of the range, the ends of the exponential, and numbers around the places where formulas change.
template <class T>
std::vector<T> extremes(bool of_shares) {
  using limits = std::numeric_limits<T>;
  const T half = T(0.5), quarter = T(0.25), one = 1, next = limits::epsilon();
  if (of_shares)
    return {limits::min(), limits::min() * 3,  next * next,     T(1e-10),        T(1e-3), quarter - next / 8,
            quarter,       quarter + next / 4, half - next / 4, half + next / 2, T(0.75), T(0.75) + next / 2,
            T(0.999),      one - next / 2,     one - next,      T(0.1)};
  std::vector<T> all;
  for (const T x : {limits::max(), limits::max() / 3, T(1e30), T(1e10), T(700), T(88), T(80), T(40), T(20), T(17),
                    one + next, one - next / 2, T(0.5), next, limits::min()})
    all.push_back(x), all.push_back(-x);
  return all;
}

// Errors below the normal numbers are relative to the least one: products of small numbers with few digits.
template <class T>
double error_of(T got, long double exact) {
  const double error = kgaccuracy::distance(got, exact);
  return std::fabs(exact) < static_cast<long double>(std::numeric_limits<T>::min()) ? error / 128 : error;
}

template <class T>
void check_extremes() {
  for (const extreme_function& of : functions) {
    const std::vector<T> at = extremes<T>(of.of_shares);
    const tensor x(at), y = of.f(x), dx = kg::grad([&](const tensor& t) { return kg::sum(of.f(t)); })(x);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const number exact(at[i]);
      EXPECT_LE(error_of(y.data<T>()[i], of.value(exact).rounded()), 8)
          << of.name << " of " << at[i] << " is " << y.data<T>()[i];
      EXPECT_LE(error_of(dx.data<T>()[i], of.slope(exact).rounded()), of.most_of_slope)
          << of.name << ", the gradient at " << at[i] << " is " << dx.data<T>()[i];
    }
  }
}

TEST(extreme_values, have_values_and_gradients_of_mpfr_in_float32) { check_extremes<float>(); }
TEST(extreme_values, have_values_and_gradients_of_mpfr_in_float64) { check_extremes<double>(); }

}  // namespace
