// SPDX-License-Identifier: Apache-2.0
// Invariants that hold for all values: round trips, symmetries, orders, scales, and the transpose of a derivative.
#include <algorithm>
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;

tensor drawn(dice& d, const shape& dims, double low = -2, double high = 2, dtype type = dtype::float64) {
  return kg::testkit::from_doubles(d.values(dims.size(), low, high), dims, type);
}
void expect_equal(const tensor& a, const tensor& b, double within = 0) {
  expect_is(a, {b.dims(), kg::testkit::doubles_of(b)}, within);
}

// ------------------------------------------------------------------------------------------ round trips

void there_and_back(dice& d) {
  const tensor x = drawn(d, d.dims(1, 4));
  const int rank = x.rank();
  const std::int64_t axis = d.axis(rank);
  const place over = d.axes(rank), perm = d.order(rank);
  place back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  expect_equal(kg::transpose(kg::transpose(x, perm), back), x);
  expect_equal(kg::flip(kg::flip(x, over), over), x);
  expect_equal(kg::roll(kg::roll(x, 5, axis), -5, axis), x);
  expect_equal(kg::concat(kg::split(x, 1, axis), axis), x);
  expect_equal(kg::stack(kg::unstack(x, axis), axis), x);
  expect_equal(kg::squeeze(kg::expand_dims(x, axis), kg::axes(axis)), x);
  expect_equal(kg::cast(kg::cast(kg::cast(x, dtype::float16), dtype::float64), dtype::float16),
               kg::cast(x, dtype::float16));
  expect_equal(kg::irfft(kg::rfft(kg::cast(x, dtype::float32)), x.dims()[rank - 1]), kg::cast(x, dtype::float32), 1e-6);
}

void orders(dice& d) {
  const tensor x = drawn(d, d.dims(1, 3, 1, 8));
  const std::int64_t axis = d.axis(x.rank());
  const tensor sorted = kg::sort(x, {.axis = axis});
  expect_equal(kg::sort(sorted, {.axis = axis}), sorted);
  expect_equal(kg::sort(kg::flip(x, axis), {.axis = axis}), sorted);
  expect_equal(kg::flip(kg::sort(x, {.axis = axis, .descending = true}), axis), sorted);
  expect_equal(kg::take_along_axis(x, kg::argsort(x, {.axis = axis}), axis), sorted);
  const tensor rises = kg::diff(sorted, 1, axis);
  if (rises.size() > 0) EXPECT_GE(kg::min(rises).item(), 0);
  expect_equal(kg::max(x, axis), kg::take(sorted, tensor(-1), axis));
  const auto [values, at] = kg::unique(x);
  expect_equal(kg::gather(values, at), kg::flatten(x));
}

// ------------------------------------------------------------------------------------------ symmetries and scales

void exchanged_operands(dice& d) {
  const tensor a = drawn(d, {7}), b = drawn(d, {7});
  using binary = tensor (*)(const tensor&, const tensor&);
  constexpr binary symmetric[] = {kg::add, kg::mul, kg::maximum, kg::minimum, kg::squared_difference};
  for (const binary f : symmetric) expect_equal(f(a, b), f(b, a));
  expect_equal(kg::hypot(a, b), kg::hypot(b, a), 4e-16);  // the kernel rounds one of the squares
  expect_equal(kg::log_add_exp(a, b), kg::log_add_exp(b, a), 1e-15);
  expect_equal(a - b, -(b - a));
  expect_equal(kg::cast(kg::is_close(a, b, {.rtol = 0, .atol = 0.5}), dtype::int32),
               kg::cast(kg::is_close(b, a, {.rtol = 0, .atol = 0.5}), dtype::int32));
  EXPECT_TRUE(kg::all_close(a, a, {.rtol = 0, .atol = 0}));
  const tensor rows = drawn(d, {5, 3}),
               apart = kg::sum(kg::square(kg::expand_dims(rows, 0) - kg::expand_dims(rows, 1)), -1);
  expect_equal(apart, kg::transpose(apart));
}

// Powers of two are exact.
void scaled_operands(dice& d) {
  const tensor x = drawn(d, d.dims(1, 3));
  const kg::axes over(d.axes(x.rank()));
  expect_equal(kg::sum(x * 4, over), kg::sum(x, over) * 4);
  expect_equal(kg::mean(x * 4, over), kg::mean(x, over) * 4);
  expect_equal(kg::euclidean_norm(x * 4), kg::euclidean_norm(x) * 4, 1e-15);
  expect_equal(kg::variance(x * 4, over), kg::variance(x, over) * 16, 1e-15);
  expect_equal(kg::median(x * 4, over), kg::median(x, over) * 4);
  expect_equal(kg::median(-x, over), -kg::median(x, over), 1e-15);
  expect_equal(kg::softmax(x + 1), kg::softmax(x), 1e-14);
  expect_equal(kg::sum(kg::softmax(x), -1), kg::ones_like(kg::sum(x, -1)), 1e-14);
}

void shuffled_operands(dice& d) {
  const tensor x = drawn(d, {9}), y = kg::gather(x, kg::testkit::from_doubles(
                                                        [&] {
                                                          const place order = d.order(9);
                                                          return doubles(order.begin(), order.end());
                                                        }(),
                                                        {9}, dtype::int32));
  expect_equal(kg::sort(x), kg::sort(y));
  for (const double q : {0.0, 0.1, 0.5, 0.77, 1.0}) expect_equal(kg::quantile(x, q), kg::quantile(y, q));
  expect_equal(kg::sum(x), kg::sum(y), 1e-14);
  expect_equal(kg::max(x), kg::max(y));
}

// ------------------------------------------------------------------------------------------ derivatives

using unary = std::function<tensor(const tensor&)>;
const std::pair<std::string, unary> smooth[] = {
    {"norm", [](const tensor& x) { return kg::euclidean_norm(x); }},
    {"variance", [](const tensor& x) { return kg::variance(x, 0); }},
    {"moments", [](const tensor& x) { return kg::moments(x, 1).variance; }},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x, 1); }},
    {"logsumexp", [](const tensor& x) { return kg::logsumexp(x, 0); }},
    {"softmax", [](const tensor& x) { return kg::softmax(x, 0); }},
    {"log_sigmoid", [](const tensor& x) { return kg::log_sigmoid(x); }},
    {"rms_norm", [](const tensor& x) { return kg::rms_norm(x); }},
    {"group_norm", [](const tensor& x) { return kg::group_norm(kg::reshape(x, {1, 3, 4}), 2); }},
    {"powers", [](const tensor& x) { return kg::pow(kg::square(x) + 1, kg::transpose(kg::reshape(x, {4, 3}))); }},
    {"cumprod", [](const tensor& x) { return kg::cumprod(x, 1); }},
    {"log_add_exp", [](const tensor& x) { return kg::log_add_exp(x, kg::flip(x) * 2); }},
    {"median", [](const tensor& x) { return kg::median(x, 1); }},
};

TEST(derivatives, forward_and_backward_are_transposes_of_each_other) {
  for (const auto& [name, f] : smooth)
    for (int round = 0; round < rounds(5); ++round) {
      SCOPED_TRACE(name);
      dice d(static_cast<std::uint64_t>(round) + 3);
      const tensor x = drawn(d, {3, 4}), v = drawn(d, {3, 4});
      const auto [value, along] = kg::jvp(f)(x, v);
      const tensor w = drawn(d, value.dims());
      const tensor back = kg::grad([&, &g = f](const tensor& t) { return kg::sum(g(t) * w); })(x);
      const double forward = kg::sum(along * w).item(), backward = kg::sum(back * v).item();
      EXPECT_NEAR(forward, backward, 1e-11 * std::max(1.0, std::fabs(forward)));
    }
}

TEST(derivatives, of_second_order_are_symmetric) {
  for (const auto& [name, f] : smooth) {
    if (name == "median") continue;  // of pieces that are linear
    SCOPED_TRACE(name);
    dice d(11);
    const tensor w = drawn(d, {3, 4}), x = drawn(d, {3, 4});
    const tensor h =
        kg::reshape(kg::hessian([&, &g = f](const tensor& t) { return kg::sum(kg::square(g(t) + 0.5)); })(x), {12, 12});
    EXPECT_LT(kg::max(kg::abs(h - kg::transpose(h))).item(), 1e-11 * std::max(1.0, kg::max(kg::abs(h)).item()));
  }
}

const kind_of_call kinds[] = {{"there and back", there_and_back},
                              {"orders", orders},
                              {"exchanged", exchanged_operands},
                              {"scaled", scaled_operands},
                              {"shuffled", shuffled_operands}};

TEST(invariants, hold_for_random_operands) { sweep(kinds, 40); }

}  // namespace
