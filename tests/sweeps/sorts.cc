// SPDX-License-Identifier: Apache-2.0
// Random orders, against comparisons one by one: NaN is greater than all numbers, ties keep their order.
#include <algorithm>
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;

// Few different values, so that there are ties; of floats NaN, infinities and zeros of both signs too.
doubles drawn_values(dice& d, std::int64_t count, dtype type) {
  constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(), 0.0, -0.0};
  doubles all = type == dtype::boolean ? d.whole(count, 0, 1)
                : type == dtype::uint8 ? d.whole(count, 0, 255)
                                       : d.whole(count, -3, 3);
  if (kg::floating.has(type))
    for (double& v : all) v = d.from_to(0, 3) == 0 ? d.one_of(special) : v / 2;
  return all;
}
dtype drawn_dtype(dice& d) {
  constexpr dtype types[] = {dtype::float32, dtype::float64, dtype::int32,   dtype::int64,
                             dtype::uint8,   dtype::boolean, dtype::float16, dtype::bfloat16};
  return d.one_of(types);
}

// Tells if a comes before b in ascending order. NaNs are alike and come last.
bool before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// The positions of a row in order, ties by their positions.
std::vector<std::size_t> order_of(const doubles& row, bool descending) {
  std::vector<std::size_t> at(row.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::size_t k = i;
    for (; k > 0 && (descending ? before(row[at[k - 1]], row[i]) : before(row[i], row[at[k - 1]])); --k)
      at[k] = at[k - 1];
    at[k] = i;
  }
  return at;
}

struct drawn {
  dtype type;
  shape dims;
  std::int64_t axis;
  doubles values;
  tensor x;
  kgtest::rows rows;
};
drawn draw(dice& d, std::int64_t least = 0, std::int64_t most = 7) {
  drawn all{drawn_dtype(d), d.dims(1, 3, least, most), 0, {}, {}, {}};
  all.axis = d.axis(all.dims.rank());
  all.values = drawn_values(d, all.dims.size(), all.type);
  all.x = kg::testkit::from_doubles(all.values, all.dims, all.type);
  all.rows = rows_of(all.values, all.dims, {all.axis});
  return all;
}
// The result whose element at position p of each row is `of(row, p)`.
template <class F>
expected along_rows(const drawn& x, F of) {
  expected all{x.dims, doubles(x.values.size())};
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const place& at = x.rows.indices[i];
    all.values[i] = of(x.rows.each[static_cast<std::size_t>(at[0])], static_cast<std::size_t>(at[1]));
  }
  return all;
}

void sorted(dice& d) {
  const drawn x = draw(d);
  const kg::sort_options how{.axis = x.axis, .descending = d.yes()};
  expect_is(kg::sort(x.x, how),
            along_rows(x, [&](const doubles& row, std::size_t p) { return row[order_of(row, how.descending)[p]]; }));
  expect_is(kg::argsort(x.x, how), along_rows(x, [&](const doubles& row, std::size_t p) {
              return static_cast<double>(order_of(row, how.descending)[p]);
            }));
}

void largest(dice& d) {
  drawn x = draw(d);
  x.axis = -1, x.rows = rows_of(x.values, x.dims, {-1});
  const std::int64_t size = x.dims[x.dims.rank() - 1], k = d.from_to(0, size);
  place sizes(x.dims.begin(), x.dims.end());
  sizes.back() = k;
  const auto [values, indices] = kg::top_k(x.x, k);
  const auto row_at = [&](const place& i) -> const doubles& {
    return x.rows.each[flat(x.rows.dims, place(i.begin(), i.end() - 1))];
  };
  expect_is(indices, by_index(shape(sizes), [&](const place& i) {
              return static_cast<double>(order_of(row_at(i), true)[static_cast<std::size_t>(i.back())]);
            }));
  expect_is(values, by_index(shape(sizes), [&](const place& i) {
              return row_at(i)[order_of(row_at(i), true)[static_cast<std::size_t>(i.back())]];
            }));
}

void extremes(dice& d) {
  const drawn x = draw(d, 1);
  expected most{x.rows.dims, {}}, least = most;
  for (const doubles& row : x.rows.each) {
    // NaN is passed over unless it is the first.
    std::size_t high = 0, low = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (row[i] > row[high]) high = i;
      if (row[i] < row[low]) low = i;
    }
    most.values.push_back(static_cast<double>(high)), least.values.push_back(static_cast<double>(low));
  }
  expect_is(kg::argmax(x.x, x.axis), most);
  expect_is(kg::argmin(x.x, x.axis), least);
}

void running_extremes(dice& d) {
  const drawn x = draw(d, 1);
  if (x.type == dtype::boolean) return;
  const bool reverse = d.yes();
  const auto running = [&](bool max) {
    return along_rows(x, [&](const doubles& row, std::size_t p) {
      double best = row[p];
      const std::size_t first = reverse ? p : 0, last = reverse ? row.size() : p + 1;
      for (std::size_t i = first; i < last; ++i)
        if (std::isnan(row[i]) || (!std::isnan(best) && (max ? row[i] > best : row[i] < best))) best = row[i];
      return best;
    });
  };
  expect_is(kg::cummax(x.x, x.axis, false, reverse), running(true));
  expect_is(kg::cummin(x.x, x.axis, false, reverse), running(false));
}

void searched(dice& d) {
  const dtype type = drawn_dtype(d);
  doubles sequence = drawn_values(d, d.from_to(0, 9), type);
  const std::vector<std::size_t> order = order_of(sequence, false);
  doubles ascending;
  for (const std::size_t i : order) ascending.push_back(sequence[i]);
  const shape dims = d.dims(0, 2, 0, 4);
  const doubles values = drawn_values(d, dims.size(), type);
  const tensor in = kg::testkit::from_doubles(ascending, {std::ssize(ascending)}, type),
               wanted = kg::testkit::from_doubles(values, dims, type);
  const auto counted = [&](bool or_equal) {
    return by_index(dims, [&](const place& i) {
      const double v = values[flat(dims, i)];
      return static_cast<double>(std::count_if(ascending.begin(), ascending.end(),
                                               [&](double a) { return before(a, v) || (or_equal && !before(v, a)); }));
    });
  };
  expect_is(kg::lower_bound(in, wanted), counted(false));
  expect_is(kg::upper_bound(in, wanted), counted(true));
}

// Distinct elements in the order in which they come first; NaN equals NaN.
void distinct(dice& d) {
  const dtype type = drawn_dtype(d);
  const shape dims = d.dims(0, 2, 0, 6);
  const doubles x = drawn_values(d, dims.size(), type);
  doubles values, places;
  for (const double v : x) {
    const auto found = std::find_if(values.begin(), values.end(), [&](double seen) { return same_number(seen, v); });
    places.push_back(static_cast<double>(found - values.begin()));
    if (found == values.end()) values.push_back(v);
  }
  const auto [got, at] = kg::unique(kg::testkit::from_doubles(x, dims, type));
  expect_is(got, {{std::ssize(values)}, values});
  expect_is(at, {{std::ssize(places)}, places});
}

void counted(dice& d) {
  const std::int64_t size = d.from_to(0, 6);
  const shape dims = d.dims(0, 2, 0, 5);
  const doubles x = d.whole(dims.size(), 0, 8), weights = d.whole(dims.size(), -4, 4);
  const auto total = [&](bool weighted) {
    return by_index({size}, [&](const place& i) {
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k)
        if (x[k] == static_cast<double>(i[0])) sum += weighted ? weights[k] : 1;
      return sum;
    });
  };
  const tensor t = kg::testkit::from_doubles(x, dims, d.yes() ? dtype::int32 : dtype::int64);
  expect_is(kg::bincount(t, size), total(false));
  expect_is(kg::bincount(t, size, kg::testkit::from_doubles(weights, dims, dtype::float32)), total(dims.size() > 0));
}

void left_over(dice& d) {
  const dtype type = drawn_dtype(d);
  const doubles x = drawn_values(d, d.from_to(0, 8), type), y = drawn_values(d, d.from_to(0, 4), type);
  expected values{{0}, {}}, places{{0}, {}};
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::none_of(y.begin(), y.end(), [&](double v) { return same_number(v, x[i]); }))
      values.values.push_back(x[i]), places.values.push_back(static_cast<double>(i));
  values.dims = places.dims = {std::ssize(values.values)};
  const auto list = [&](const doubles& all) { return kg::testkit::from_doubles(all, {std::ssize(all)}, type); };
  const kg::difference_parts got = kg::list_difference(list(x), list(y));
  expect_is(got.values, values);
  expect_is(got.indices, places);
}

const kind_of_call kinds[] = {
    {"sort", sorted},     {"top_k", largest},   {"argmax", extremes},  {"cummax", running_extremes},
    {"bounds", searched}, {"unique", distinct}, {"bincount", counted}, {"list_difference", left_over}};

TEST(random_orders, are_those_of_comparisons_one_by_one) { sweep(kinds, 120); }

}  // namespace
