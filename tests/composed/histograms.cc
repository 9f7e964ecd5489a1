// SPDX-License-Identifier: Apache-2.0
// Counts between edges, against a loop over elements and bins.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

bool is_in_bin(double x, const doubles& edges, std::size_t bin) {
  const bool is_last = bin + 2 == edges.size();
  return x >= edges[bin] && (is_last ? x <= edges[bin + 1] : x < edges[bin + 1]);
}

doubles counted(const doubles& xs, const doubles& edges) {
  doubles counts(edges.size() - 1);
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    for (const double x : xs) counts[bin] += is_in_bin(x, edges, bin);
  return counts;
}

TEST(histogram, counts_elements_between_edges) {
  const doubles xs{0, 0.5, 1, 1, 2.5, 3, 3, -1, 4, nan, inf}, edges{0, 1, 2.5, 3};
  const auto [counts, same] = kg::histogram(tensor(xs), tensor(edges));
  expect_values(counts, {3}, counted(xs, edges));
  expect_values(same, {4}, edges);
  EXPECT_EQ(counts.type(), kg::dtype::int32);
  const auto even = kg::histogram(tensor({1., 2., 2., 7., 9.}), 4);
  expect_values(even.edges, {5}, {1, 3, 5, 7, 9});
  expect_values(even.counts, {4}, {3, 0, 0, 2});
  const auto ranged = kg::histogram(tensor(xs), 3, {.range = std::array{0.0, 3.0}});
  expect_values(ranged.counts, {3}, counted(xs, {0, 1, 2, 3}));
  expect_values(kg::histogram(tensor({3, 5, 5}), 2).counts, {2}, {1, 2});
  EXPECT_EQ(kg::histogram(tensor({3, 5, 5}), 2).edges.type(), kg::dtype::float64);
  expect_values(kg::histogram(tensor({2.f, 2.f}), 2).edges, {3}, {1.5, 2, 2.5});
  expect_values(kg::histogram(kg::zeros({0}), 2).counts, {2}, {0, 0});
}

TEST(histogram, weighs_elements_and_integrates_to_one) {
  const tensor x({0., 0.5, 2.}), w({2., 3., 5.});
  expect_values(kg::histogram(x, tensor({0., 1., 4.}), {.weights = w}).counts, {2}, {5, 5});
  expect_values(kg::histogram(x, tensor({0., 1., 4.}), {.weights = w, .density = true}).counts, {2}, {0.5, 5 / 30.});
  expect_values(kg::histogram(x, tensor({0., 1., 4.}), {.density = true}).counts, {2}, {2 / 3., 1 / 9.});
  const auto slope =
      kg::grad([&](const tensor& t) { return kg::sum(kg::histogram(x, tensor({0., 1.}), {.weights = t}).counts); });
  expect_values(slope(w), {3}, {1, 1, 0});
}

TEST(histogram, refuses_ranges_edges_and_weights_that_do_not_fit) {
  const tensor x({1., 2.});
  expect_refused("histogram", [&] { return kg::histogram(x, 0).counts; }, {"0 bins"});
  expect_refused("histogram", [&] { return kg::histogram(tensor({1., nan}), 2).counts; }, {"range", "finite"});
  expect_refused("histogram", [&] { return kg::histogram(x, tensor({2., 1.})).counts; }, {"ascend"});
  expect_refused("histogram", [&] { return kg::histogram(x, tensor({2.})).counts; }, {"two edges"});
  expect_refused("histogram", [&] { return kg::histogram(x, 2, {.weights = tensor({1.})}).counts; }, {"weights"});
  const kg::memory_budget budget(std::int64_t{1} << 20);
  EXPECT_THROW(kg::histogram(x, std::int64_t{1} << 40), kg::error);
  EXPECT_THROW(kg::bincount(tensor({1 << 30})), kg::error);
}

TEST(histogram2d, counts_pairs_in_rectangles) {
  const doubles xs{0, 0.5, 1.5, 2, 2, -1, nan}, ys{0, 1, 1, 2, 3, 1, 1}, x_edges{0, 1, 2}, y_edges{0, 1, 2};
  doubles wanted(4);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < xs.size(); ++k)
        wanted[2 * i + j] += is_in_bin(xs[k], x_edges, i) && is_in_bin(ys[k], y_edges, j);
  expect_values(kg::histogram2d(tensor(xs), tensor(ys), tensor(x_edges), tensor(y_edges)).counts, {2, 2}, wanted);
  const auto even = kg::histogram2d(tensor({0., 1., 4.}), tensor({0., 3., 6.}), {2, 3});
  expect_values(even.counts, {2, 3}, {1, 1, 0, 0, 0, 1});
  expect_values(even.y_edges, {4}, {0, 2, 4, 6});
  const tensor samples = kg::stack({tensor(xs), tensor(ys)}, 1);
  const auto boxes = kg::histogramdd(samples, {tensor(x_edges), tensor(y_edges)});
  expect_values(boxes.counts, {2, 2}, wanted);
  EXPECT_EQ(boxes.edges.size(), 2u);
  const tensor cube({0., 0., 0., 1., 1., 1., 1., 0., 1.}, {3, 3});
  expect_values(kg::histogramdd(cube, {2, 1, 2}).counts, {2, 1, 2}, {1, 0, 0, 2});
  expect_values(kg::histogramdd(cube, {2, 1, 2}, {.density = true}).counts, {2, 1, 2}, {4 / 3., 0, 0, 8 / 3.});
  expect_refused("histogramdd", [&] { return kg::histogramdd(cube, {2, 1}).counts; }, {"2 axes"});
}

TEST(digitize, finds_bins_of_ascending_and_descending_edges) {
  const tensor x({0.5, 1., 2., 3.5, nan}), up({1., 2., 3.}), down({3., 2., 1.});
  expect_values(kg::digitize(x, up), {5}, {0, 1, 2, 3, 3});
  expect_values(kg::digitize(x, up, true), {5}, {0, 0, 1, 3, 3});
  expect_values(kg::digitize(x, down), {5}, {3, 2, 1, 0, 0});
  expect_values(kg::digitize(x, down, true), {5}, {3, 3, 2, 0, 0});
  expect_refused("digitize", [&] { return kg::digitize(x, tensor({1., 3., 2.})); }, {"no order"});
}

TEST(bincount, grows_to_the_greatest_element) {
  expect_values(kg::bincount(tensor({1, 3, 1})), {4}, {0, 2, 0, 1});
  expect_values(kg::bincount(tensor({1, 0}), {.minlength = 4}), {4}, {1, 1, 0, 0});
  expect_values(kg::bincount(tensor({1, 1}), {.weights = tensor({0.5, 2.})}), {2}, {0, 2.5});
  expect_values(kg::bincount(kg::zeros({0}, kg::dtype::int32), {.minlength = 2}), {2}, {0, 0});
  expect_refused("bincount", [] { return kg::bincount(tensor({1.5})); }, {"float64"});
  expect_refused("bincount", [] { return kg::bincount(tensor({1}), {.minlength = -1}); }, {"minlength -1"});
}

}  // namespace
