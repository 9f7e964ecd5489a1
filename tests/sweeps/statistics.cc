// SPDX-License-Identifier: Apache-2.0
// Random statistics over axes, against their definitions in long double.
#include <algorithm>
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;
using wide = long double;
using of_row = std::function<wide(const doubles&)>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct drawn {
  dtype type;
  shape dims;
  place over;
  kg::axes axes;
  bool keep;
  doubles values;
  tensor x;
};
drawn draw(dice& d, std::int64_t least = 0) {
  constexpr dtype types[] = {dtype::float64, dtype::float64, dtype::float32,
                             dtype::int32,   dtype::uint8,   dtype::boolean};
  drawn all{d.one_of(types), d.dims(0, 4, least, 5), {}, kg::all_axes, d.yes(), {}, {}};
  if (all.dims.rank() > 0 && d.yes()) all.over = d.axes(all.dims.rank()), all.axes = kg::axes(all.over);
  all.values = all.type == dtype::boolean   ? d.whole(all.dims.size(), 0, 1)
               : all.type == dtype::uint8   ? d.whole(all.dims.size(), 0, 255)
               : kg::integral.has(all.type) ? d.whole(all.dims.size(), -40, 40)
                                            : d.values(all.dims.size(), -3, 3);
  all.x = kg::testkit::from_doubles(all.values, all.dims, all.type);
  all.values = kg::cast(all.x, dtype::float64).to_doubles();  // as the dtype has them
  return all;
}
// In double precision as exact as this; float32 results are rounded.
double within(const tensor& got) { return got.type() == dtype::float64 ? 1e-13 : 1e-5; }

void expect_of_rows(const tensor& got, const drawn& x, const of_row& f) {
  const rows all = rows_of(x.values, x.dims, x.over);
  expected wanted{x.keep ? with_ones(x.dims, x.over) : all.dims, {}};
  for (const doubles& row : all.each) wanted.values.push_back(static_cast<double>(f(row)));
  expect_is(got, wanted, within(got));
}

wide mean_of(const doubles& row) {
  wide sum = 0;
  for (const double v : row) sum += v;
  return sum / static_cast<wide>(row.size());
}
wide squares_of(const doubles& row) {
  wide sum = 0;
  for (const double v : row) sum += (v - mean_of(row)) * (v - mean_of(row));
  return sum;
}
// Definition 7 of Hyndman and Fan.
wide quantile_of(doubles row, double q) {
  std::sort(row.begin(), row.end());
  if (row.empty()) return nan;
  const wide at = static_cast<wide>(q) * static_cast<wide>(row.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, row.size() - 1);
  return row[below] + (at - static_cast<wide>(below)) * (static_cast<wide>(row[above]) - row[below]);
}

void sums(dice& d) {
  const drawn x = draw(d);
  expect_of_rows(kg::sum(x.x, x.axes, x.keep), x, [](const doubles& row) {
    wide sum = 0;
    for (const double v : row) sum += v;
    return sum;
  });
  expect_of_rows(kg::count_nonzero(x.x, x.axes, x.keep), x, [](const doubles& row) {
    return static_cast<wide>(std::count_if(row.begin(), row.end(), [](double v) { return v != 0; }));
  });
}

void means(dice& d) {
  const drawn x = draw(d);
  expect_of_rows(kg::mean(x.x, x.axes, x.keep), x, mean_of);
  const kg::moments_parts parts = kg::moments(x.x, x.axes, x.keep);
  expect_of_rows(parts.mean, x, mean_of);
  expect_of_rows(parts.variance, x, [](const doubles& row) { return squares_of(row) / static_cast<wide>(row.size()); });
}

void variances(dice& d) {
  const drawn x = draw(d, 1);
  const std::int64_t ddof = d.from_to(0, 1);
  const of_row variance = [&](const doubles& row) {
    return squares_of(row) / static_cast<wide>(std::ssize(row) - ddof);  // 0 / 0 of one element
  };
  expect_of_rows(kg::variance(x.x, x.axes, x.keep, ddof), x, variance);
  expect_of_rows(kg::standard_deviation(x.x, x.axes, x.keep, ddof), x,
                 [&](const doubles& row) { return std::sqrt(variance(row)); });
}

void products(dice& d) {
  drawn x = draw(d);
  if (!kg::floating.has(x.type)) return;
  expect_of_rows(kg::prod(x.x, x.axes, x.keep), x, [](const doubles& row) {
    wide product = 1;
    for (const double v : row) product *= v;
    return product;
  });
}

void quantiles(dice& d) {
  const drawn x = draw(d);
  constexpr double shares[] = {0, 0.25, 0.5, 0.9, 1};
  const double q = d.yes() ? d.one_of(shares) : d.unit();
  expect_of_rows(kg::quantile(x.x, q, x.axes, x.keep), x, [&](const doubles& row) { return quantile_of(row, q); });
  expect_of_rows(kg::median(x.x, x.axes, x.keep), x, [](const doubles& row) { return quantile_of(row, 0.5); });
}

void extremes(dice& d) {
  const drawn x = draw(d, 1);
  expect_of_rows(kg::max(x.x, x.axes, x.keep), x,
                 [](const doubles& row) { return *std::max_element(row.begin(), row.end()); });
  expect_of_rows(kg::min(x.x, x.axes, x.keep), x,
                 [](const doubles& row) { return *std::min_element(row.begin(), row.end()); });
}

void norms(dice& d) {
  drawn x = draw(d, 1);
  if (!kg::floating.has(x.type)) return;
  if (x.over.size() > 1) x.over.resize(1), x.axes = kg::axes(x.over);
  const auto power = [](double p) {
    return [p](const doubles& row) {
      wide sum = 0;
      for (const double v : row) sum += std::pow(std::fabs(static_cast<wide>(v)), static_cast<wide>(p));
      return std::pow(sum, 1 / static_cast<wide>(p));
    };
  };
  const auto largest = [](const doubles& row) {
    wide most = 0;
    for (const double v : row) most = std::max(most, std::fabs(static_cast<wide>(v)));
    return most;
  };
  expect_of_rows(kg::euclidean_norm(x.x, x.axes, x.keep), x, power(2));
  expect_of_rows(kg::norm(x.x, 1, x.axes, x.keep), x, power(1));
  expect_of_rows(kg::norm(x.x, std::numeric_limits<double>::infinity(), x.axes, x.keep), x, largest);
}

void softmaxes(dice& d) {
  drawn x = draw(d, 1);
  if (x.dims.rank() == 0) return;
  const std::int64_t axis = d.axis(x.dims.rank());
  x.over = {axis}, x.keep = false;
  const rows all = rows_of(x.values, x.dims, x.over);
  const auto total = [](const doubles& row) {
    wide sum = 0;
    for (const double v : row) sum += std::exp(static_cast<wide>(v));
    return sum;
  };
  expect_of_rows(kg::logsumexp(x.x, axis), x, [&](const doubles& row) { return std::log(total(row)); });
  expected share{x.dims, {}}, logarithm = share;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const wide sum = total(all.each[static_cast<std::size_t>(all.indices[i][0])]);
    share.values.push_back(static_cast<double>(std::exp(static_cast<wide>(x.values[i])) / sum));
    logarithm.values.push_back(static_cast<double>(x.values[i] - std::log(sum)));
  }
  expect_is(kg::softmax(x.x, axis), share, within(kg::softmax(x.x, axis)));
  expect_is(kg::log_softmax(x.x, axis), logarithm, within(kg::softmax(x.x, axis)));
}

const kind_of_call kinds[] = {{"sum", sums},      {"mean", means},         {"variance", variances},
                              {"prod", products}, {"quantile", quantiles}, {"max", extremes},
                              {"norm", norms},    {"softmax", softmaxes}};

TEST(random_statistics, are_those_of_their_definitions_over_any_axes) { sweep(kinds, 120); }

}  // namespace
