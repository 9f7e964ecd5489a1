// SPDX-License-Identifier: Apache-2.0
// Values that have no right result: they throw, or are NaN, and do not saturate in silence.
#include <algorithm>
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct rejected {
  std::string name;
  std::function<tensor()> call;
};

TEST(values_without_a_right_result, throw) {
  const tensor pixels = kg::zeros({2}, dtype::uint8), nothing = kg::zeros({0}, dtype::float64);
  const rejected rows[] = {
      {"full of uint8 with 300", [] { return kg::full({1}, 300, dtype::uint8); }},
      {"full of uint8 with -1", [] { return kg::full({1}, -1, dtype::uint8); }},
      {"full of int32 with NaN", [] { return kg::full({1}, nan, dtype::int32); }},
      {"full of int32 with 2^31", [] { return kg::full({1}, 2147483648.0, dtype::int32); }},
      {"pad of uint8 with 300", [&] { return kg::pad(pixels, {1, 1}, 300); }},
      {"moving_average with decay 1", [&] { return kg::moving_average(tensor(1.0), tensor(2.0), 1, {.step = 1.0}); }},
      {"confusion_matrix of NaN", [] { return kg::confusion_matrix(tensor({nan}), tensor({0.0}), 2); }},
      {"norm of nothing", [&] { return kg::norm(nothing, infinity); }},
  };
  for (const rejected& r : rows) EXPECT_NE(refusal(r.call), accepted) << r.name;
}

TEST(values, at_the_ends_of_a_dtype_are_exact) {
  EXPECT_EQ(kg::norm(tensor({2147483647, 1}), 1).item(), 2147483648.0);
  const tensor a(std::vector<std::uint8_t>{200}), b(std::vector<std::uint8_t>{100});
  EXPECT_NEAR(kg::log_add_exp(a, b).item(), 200, 1e-5);
  EXPECT_TRUE(std::isnan(kg::clip(tensor(1.0), nan, 2).item()));
  EXPECT_TRUE(std::isnan(kg::clip(tensor(1.0), 0, nan).item()));
}

TEST(cross_entropies, of_infinite_logits_are_0_or_infinite) {
  const auto loss = [](double label, double logit) {
    return kg::sigmoid_cross_entropy(tensor({label}), tensor({logit})).item();
  };
  EXPECT_EQ(loss(1, infinity), 0);
  EXPECT_EQ(loss(0, -infinity), 0);
  EXPECT_EQ(loss(0, infinity), infinity);
  EXPECT_EQ(loss(1, -infinity), infinity);
}

// ------------------------------------------------------------------------------------------ quantiles

TEST(quantiles, rise_with_their_share_and_lie_between_the_elements) {
  for (int round = 0; round < rounds(20); ++round) {
    dice d(static_cast<std::uint64_t>(round) + 1);
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const double high = d.between(1, 1e6);
      const doubles drawn = d.yes() ? doubles(5, high) : d.values(5, -high, high);
      const tensor x = kg::testkit::from_doubles(drawn, {5}, type), sorted = kg::sort(x);
      double last = -infinity;
      for (int i = 0; i <= 40; ++i) {
        const double q = i / 40.0, value = kg::quantile(x, q).item();
        const int below = static_cast<int>(std::floor(q * 4));
        EXPECT_GE(value, last) << q;
        EXPECT_GE(value, sorted(below).item()) << q;
        EXPECT_LE(value, sorted(std::min(below + 1, 4)).item()) << q;
        last = value;
      }
    }
  }
}

}  // namespace
