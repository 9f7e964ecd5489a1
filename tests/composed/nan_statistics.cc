// SPDX-License-Identifier: Apache-2.0
// Reductions and scans that pass over NaN, against sums over the numbers that are left.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
const tensor x({nan, 1., 4., 3., nan, nan, nan, nan, -2., 5., nan, -7.}, {3, 4});

using reduction = tensor (*)(const tensor&, const kg::axes&, bool);
struct reduced {
  const char* name;
  reduction of;
  doubles rows, columns;
  double all, nothing;
};

TEST(nan_statistics, pass_over_nan_along_any_axes) {
  const reduced cases[] = {
      {"nansum", kg::nansum, {8, 0, -4}, {-2, 6, 4, -4}, 4, 0},
      {"nanprod", kg::nanprod, {12, 1, 70}, {-2, 5, 4, -21}, 840, 1},
      {"nanmean", kg::nanmean, {8 / 3., nan, -4 / 3.}, {-2, 3, 4, -2}, 4 / 6., nan},
      {"nanmax", kg::nanmax, {4, nan, 5}, {-2, 5, 4, 3}, 5, nan},
      {"nanmin", kg::nanmin, {1, nan, -7}, {-2, 1, 4, -7}, -7, nan},
  };
  for (const reduced& c : cases) {
    SCOPED_TRACE(c.name);
    expect_values(c.of(x, 1, false), {3}, c.rows);
    expect_values(c.of(x, -2, true), {1, 4}, c.columns);
    expect_values(c.of(x, {0, 1}, false), {}, {c.all});
    expect_values(c.of(kg::full({2}, nan, kg::dtype::float64), 0, false), {}, {c.nothing});
    EXPECT_EQ(c.of(kg::cast(x, kg::dtype::float16), kg::all_axes, false).type(), kg::dtype::float16);
    expect_refused(c.name, [&] { return c.of(tensor({kg::complex64(1, 2)}), 0, false); }, {"operand x"});
  }
  expect_values(kg::nansum(tensor({2, 3})), {}, {5});
  EXPECT_EQ(kg::nanmax(tensor({2, 3})).type(), kg::dtype::int32);
  EXPECT_EQ(kg::nanmean(tensor({2, 3})).type(), kg::dtype::float64);
  expect_values(kg::nanmax(tensor({nan, -inf})), {}, {-inf});
}

TEST(nanvar, divides_by_the_number_of_numbers_less_ddof) {
  // Rows 1, 4, 3 and -2, 5, -7: squared distances from the means add up to 14/3 and 218/3.
  expect_values(kg::nanvar(x, 1), {3}, {14 / 9., nan, 218 / 9.});
  expect_values(kg::nanvar(x, 1, true, 1), {3, 1}, {14 / 6., nan, 218 / 6.});
  expect_values(kg::nanstd(x, 1, false, 1), {3}, {std::sqrt(14 / 6.), nan, std::sqrt(218 / 6.)});
  expect_values(kg::nanvar(tensor({nan, 5.}), 0, false, 1), {}, {nan});
  expect_values(kg::nanvar(tensor({1, 3})), {}, {1});
  // The mean of the two is no float.
  expect_values(kg::nanvar(tensor({16777216.f, static_cast<float>(nan), 16777218.f})), {}, {1});
}

// Each fourth element is none.
tensor with_holes(const tensor& t) {
  const tensor at = kg::reshape(kg::arange(0, static_cast<double>(t.size())), t.dims());
  return kg::where(kg::mod(at, 4) == 2, kg::full_like(t, nan), t);
}

TEST(nanvar, is_the_mean_of_squared_distances_along_any_axes) {
  constexpr std::size_t sizes[] = {3, 5, 7};
  for (const double center : {0., 1000.}) {
    const tensor t = with_holes(kgtest::uniform({3, 5, 7}, 9) + center);
    const doubles numbers = t.to_doubles();
    for (std::uint32_t axes = 1; axes < 8; ++axes) {
      SCOPED_TRACE(::testing::Message() << "center " << center << ", axes " << axes);
      std::vector<std::int64_t> over;
      for (int axis = 0; axis < 3; ++axis)
        if ((axes >> axis) & 1) over.push_back(axis);
      // The group of an element has its index with 0 on these axes.
      std::vector<doubles> groups(numbers.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t index[] = {i / 35, i / 7 % 5, i % 7};
        std::size_t group = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          group = group * sizes[axis] + ((axes >> axis) & 1 ? 0 : index[axis]);
        if (!std::isnan(numbers[i])) groups[group].push_back(numbers[i]);
      }
      doubles wanted;
      for (const doubles& group : groups) {
        if (group.empty()) continue;
        long double total = 0, squares = 0;
        for (const double number : group) total += number;
        const long double mean = total / static_cast<long double>(group.size());
        for (const double number : group) squares += (number - mean) * (number - mean);
        wanted.push_back(static_cast<double>(squares / static_cast<long double>(group.size())));
      }
      const tensor variances = kg::nanvar(t, over);
      expect_values(variances, variances.dims(), wanted, 1e-14);
      expect_values(kg::square(kg::nanstd(t, over)), variances.dims(), wanted, 1e-14);
    }
  }
}

TEST(nanargmax, finds_the_first_extreme_number) {
  expect_values(kg::nanargmax(tensor({nan, 1., 4., nan, 4., 0.}, {2, 3}), 1), {2}, {2, 1});
  expect_values(kg::nanargmin(tensor({nan, 1., 4., nan, 4., 0.}, {2, 3}), -1), {2}, {1, 2});
  expect_values(kg::nanargmax(tensor({nan, -inf})), {}, {1});  // not where infinity stands in for NaN
  expect_values(kg::nanargmin(tensor({3, 1, 2})), {}, {1});
  expect_refused("nanargmax", [] { return kg::nanargmax(x, 1); }, {"without numbers"});
  expect_refused("nanargmin", [] { return kg::nanargmin(x, 2); }, {"axis 2"});
}

TEST(nancumsum, adds_nothing_for_nan) {
  expect_values(kg::nancumsum(tensor({nan, 1., nan, 2.})), {4}, {0, 1, 1, 3});
  expect_values(kg::nancumprod(tensor({nan, 3., nan, 2.}, {2, 2}), 0), {2, 2}, {1, 3, 1, 6});
}

TEST(nan_statistics, have_gradients_without_those_of_nan) {
  const auto slope = [](auto f) {
    return kg::grad([f](const tensor& t) { return kg::sum(f(t)); })(tensor({nan, 1., 3.}));
  };
  expect_values(slope([](const tensor& t) { return kg::nansum(t); }), {3}, {0, 1, 1});
  expect_values(slope([](const tensor& t) { return kg::nanmean(t); }), {3}, {0, 0.5, 0.5});
  expect_values(slope([](const tensor& t) { return kg::nanmax(t); }), {3}, {0, 0, 1});
  expect_values(slope([](const tensor& t) { return kg::nanvar(t); }), {3}, {0, -1, 1});
  expect_values(slope([](const tensor& t) { return kg::nancumsum(t); }), {3}, {0, 2, 1});
  const tensor numbers = kgtest::uniform({2, 3}, 4);
  check_gradients("nanstd", [](auto in) { return kg::nanstd(in[0], 1); }, {numbers});
  check_gradients("nanvar", [](auto in) { return kg::nanvar(with_holes(in[0]), 1); }, {kgtest::uniform({2, 9}, 5)});
  check_gradients("nanvar", [](auto in) { return kg::nanvar(with_holes(in[0])); }, {kgtest::uniform({3, 5}, 6)});
  check_gradients("nanstd", [](auto in) { return kg::nanstd(with_holes(in[0]), 0); }, {kgtest::uniform({5, 3}, 7)});
  check_gradients("nanprod", [](auto in) { return kg::nanprod(in[0], 1); }, {numbers});
}

}  // namespace
