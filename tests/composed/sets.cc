// SPDX-License-Identifier: Apache-2.0
// Sets of elements, against the containers of the standard library, and orders by several keys.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

const doubles few{3, 1, 1, 2, 3, 7, 2.5, -1}, other{-1, 0.5, 7, 7, 4};

doubles sorted(const std::set<double>& s) { return {s.begin(), s.end()}; }
std::int64_t size(const doubles& list) { return static_cast<std::int64_t>(list.size()); }

TEST(unique_all, sorts_counts_and_finds_the_first_of_each) {
  std::map<double, doubles> places;
  for (std::size_t i = 0; i < few.size(); ++i) places[few[i]].push_back(static_cast<double>(i));
  doubles values, first, counts, inverse;
  for (const auto& [value, at] : places) {
    values.push_back(value);
    first.push_back(at[0]);
    counts.push_back(static_cast<double>(at.size()));
  }
  for (const double x : few) inverse.push_back(std::distance(places.begin(), places.find(x)));
  const auto all = kg::unique_all(tensor(few, {2, 4}));
  expect_values(all.values, {size(values)}, values);
  expect_values(all.indices, {size(values)}, first);
  expect_values(all.inverse_indices, {2, 4}, inverse);
  expect_values(all.counts, {size(values)}, counts);
  for (const tensor& part : {all.indices, all.inverse_indices, all.counts}) EXPECT_EQ(part.type(), kg::dtype::int32);
  expect_values(kg::unique_counts(tensor(few)).counts, {size(values)}, counts);
  expect_values(kg::unique_inverse(tensor(few)).inverse_indices, {8}, inverse);
}

TEST(unique_values, take_nan_zeros_nothing_and_other_dtypes) {
  expect_values(kg::unique_values(tensor({nan, 2., nan, 0., -0.})), {3}, {0, 2, nan});
  EXPECT_EQ(kg::unique_all(kg::zeros({0})).counts.dims(), kg::shape{0});
  expect_values(kg::unique_values(tensor({true, false, true})), {2}, {0, 1});
  expect_values(kg::unique_values(tensor(3)), {1}, {3});
  const auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::square(kg::unique_values(t))); });
  expect_values(slope(tensor({3., 1., 3.})), {3}, {6, 2, 0});
  expect_refused("unique_all", [] { return kg::unique_all(tensor({kg::complex64(1, 2)})).values; }, {"operand x"});
}

TEST(isin, looks_each_element_up) {
  const std::set<double> in(other.begin(), other.end());
  doubles wanted, inverted;
  for (const double x : few) {
    wanted.push_back(in.contains(x));
    inverted.push_back(!in.contains(x));
  }
  expect_values(kg::isin(tensor(few, {4, 2}), tensor(other)), {4, 2}, wanted);
  expect_values(kg::isin(tensor(few), tensor(other, {5, 1}), true), {8}, inverted);
  expect_values(kg::isin(tensor({nan, 0., -0.}), tensor({nan, -0.})), {3}, {0, 1, 1});
  expect_values(kg::isin(tensor({1, 2}), tensor({2.5, 2.0})), {2}, {0, 1});
  expect_values(kg::isin(tensor({1, 2}), kg::zeros({0})), {2}, {0, 0});
  EXPECT_EQ(kg::isin(kg::zeros({0}), tensor({1})).dims(), kg::shape{0});
}

TEST(set_functions, are_those_of_the_standard_library) {
  const std::set<double> a(few.begin(), few.end()), b(other.begin(), other.end());
  const auto by = [&](auto f) {
    doubles y;
    f(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(y));
    return y;
  };
  const auto compare = [](const tensor& got, const doubles& wanted) { expect_values(got, {size(wanted)}, wanted); };
  const tensor p(few), q(other);
  compare(kg::intersect1d(p, q), by([](auto... in) { return std::set_intersection(in...); }));
  compare(kg::union1d(p, q), by([](auto... in) { return std::set_union(in...); }));
  compare(kg::setdiff1d(p, q), by([](auto... in) { return std::set_difference(in...); }));
  compare(kg::setxor1d(p, q), by([](auto... in) { return std::set_symmetric_difference(in...); }));
  compare(kg::union1d(p, kg::zeros({0})), sorted(a));
  EXPECT_EQ(kg::union1d(tensor({1}), tensor({2.5})).type(), kg::promote(kg::dtype::int32, kg::dtype::float64));
  compare(kg::setdiff1d(tensor({nan, 1.}), tensor({nan})), {1, nan});
  compare(kg::intersect1d(tensor({nan, 1.}), tensor({nan})), {});
}

TEST(lexsort, decides_by_the_last_key_first) {
  const doubles minor{2, 1, 3, 0, 1}, major{1, 0, 1, 1, 0};
  doubles order{0, 1, 2, 3, 4};
  std::stable_sort(order.begin(), order.end(), [&](double i, double j) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    return std::pair(major[a], minor[a]) < std::pair(major[b], minor[b]);
  });
  expect_values(kg::lexsort({tensor(minor), tensor(major)}), {5}, order);
  expect_values(kg::lexsort({tensor({{1., 0.}, {0., 1.}})}, 0), {2, 2}, {1, 0, 0, 1});
  expect_refused("lexsort", [] { return kg::lexsort({kg::zeros({2}), kg::zeros({3})}); }, {"one shape"});
  expect_refused("lexsort", [] { return kg::lexsort(std::span<const tensor>{}); }, {"no keys"});
}

TEST(partition, has_no_greater_element_before_the_index) {
  const doubles parts = kg::partition(tensor(few), 3).to_doubles();
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(i < 3 ? parts[i] <= parts[3] : parts[i] >= parts[3]);
  expect_refused("partition", [] { return kg::partition(tensor(few), 8); }, {"index 8", "7"});
}

// The element at the index is that of the sorted row, none before it is greater, and none after it is less.
void expect_partitioned(const tensor& x, std::int64_t kth) {
  const tensor indices = kg::argpartition(x, kth);
  EXPECT_EQ(indices.type(), kg::dtype::int32);
  const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0], length = x.size() / rows;
  const doubles sorted_rows = kg::sort(x).to_doubles(), got = kg::take_along_axis(x, indices, -1).to_doubles();
  const doubles places = kg::sort(indices).to_doubles();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = [&](const doubles& list, std::int64_t i) {
      return list[static_cast<std::size_t>(row * length + i)];
    };
    const double pivot = at(sorted_rows, kth);
    for (std::int64_t i = 0; i < length; ++i) {
      EXPECT_EQ(at(places, i), static_cast<double>(i));
      const double each = at(got, i);
      const bool less = each < pivot || (std::isnan(pivot) && !std::isnan(each));
      const bool greater = each > pivot || (std::isnan(each) && !std::isnan(pivot));
      EXPECT_FALSE(i < kth ? greater : i > kth ? less : less || greater) << i << " of " << kth;
    }
  }
}

TEST(argpartition, divides_rows_of_any_length_and_dtype) {
  for (const std::int64_t length : {1, 7, 2048, 5000}) {
    doubles list;
    for (std::int64_t i = 0; i < 2 * length; ++i) {
      const double place = static_cast<double>((i * 7919) % (length + 3));
      list.push_back(i % 5 == 0 ? 1 : i % 11 == 0 ? -0.0 : std::exp(place / 100) - 20);
    }
    const tensor x(list, {2, length});
    for (const std::int64_t kth : {std::int64_t{0}, length / 3, length - 1})
      for (const kg::dtype type : {kg::dtype::float64, kg::dtype::float32, kg::dtype::float16, kg::dtype::int32,
                                   kg::dtype::int64, kg::dtype::boolean})
        expect_partitioned(kg::cast(kg::clip(x, -100., 1e4), type), kth);
  }
  doubles holed(6000);
  for (std::size_t i = 0; i < holed.size(); ++i) holed[i] = i % 3 == 0 ? nan : i % 7 == 0 ? -inf : std::sin(i);
  for (const std::int64_t kth : {100, 3000, 5000}) expect_partitioned(tensor(holed), kth);
  const tensor columns{{3., 1.}, {1., 2.}, {2., 0.}};
  expect_values(kg::take_along_axis(columns, kg::argpartition(columns, 1, 0), 0), {3, 2}, {1, 0, 2, 1, 3, 2});
  EXPECT_EQ(kg::argpartition(tensor(3.), 0).item(), 0);
  EXPECT_EQ(kg::argpartition(kg::zeros({0, 2}), 1).dims(), (kg::shape{0, 2}));
  expect_refused("argpartition", [] { return kg::argpartition(tensor(few), -9); }, {"index -9", "-8"});
}

TEST(argpartition, keeps_the_order_of_equal_elements_and_zeros_are_equal) {
  const tensor zeros({0., -0., 0., -0., 1., -0., 0.});
  for (const kg::dtype type : {kg::dtype::float64, kg::dtype::float32, kg::dtype::float16})
    for (const std::int64_t kth : {0, 2, 5})
      expect_values(kg::argpartition(kg::cast(zeros, type), kth), {7}, {0, 1, 2, 3, 5, 6, 4});
  expect_values(kg::argpartition(tensor({1., nan, 1., nan, 0.}), 1), {5}, {4, 0, 2, 1, 3});
}

}  // namespace
