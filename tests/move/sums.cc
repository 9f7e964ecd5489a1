// SPDX-License-Identifier: Apache-2.0
// Sums of float32 at indices, wherever a program gets one: carried in double, rounded once, with bitwise identical
// results on every target. Beyond 2^24 a float32 that a one is added to stays what it is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/full.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using doubles = std::vector<double>;

constexpr std::int64_t rows = 101;  // the first is 2^24, the others are ones
constexpr double total = 16777216 + 100, mean = total / rows;

// Rows of so many columns, all of one index or segment.
struct rows_at_one_place {
  tensor x, at, ids;
};
rows_at_one_place rows_of(std::int64_t columns) {
  const tensor first = kg::full({1, columns}, 16777216), others = kg::ones({rows - 1, columns});
  return {kg::concat({first, others}, 0), kg::arange(static_cast<double>(rows), dtype::int32),
          kg::full({rows}, 1, dtype::int32)};
}

struct sum_case {
  const char* name;
  std::function<tensor(const rows_at_one_place&)> f;  // a row of sums
  double wanted;
};

tensor gathered_slope(const rows_at_one_place& r, std::int64_t places) {
  const tensor x = kg::zeros({places, r.x.dims()[1]});
  return kg::grad([&](const tensor& v) { return kg::sum(kg::gather(v, r.ids) * r.x); })(x);
}

const sum_case cases[] = {
    {"segment_sum", [](const rows_at_one_place& r) { return kg::segment_sum(r.x, r.ids, 3)(1); }, total},
    {"segment_sum with more segments than rows",
     [](const rows_at_one_place& r) { return kg::segment_sum(r.x, r.ids, 500)(1); }, total},
    {"segment_mean", [](const rows_at_one_place& r) { return kg::segment_mean(r.x, r.ids, 3)(1); }, mean},
    {"segment_mean with more segments than rows",
     [](const rows_at_one_place& r) { return kg::segment_mean(r.x, r.ids, 500)(1); }, mean},
    {"at().add", [](const rows_at_one_place& r) { return kg::zeros({3, r.x.dims()[1]}).at(r.ids).add(r.x)(1); }, total},
    {"scatter_add",
     [](const rows_at_one_place& r) { return kg::scatter_add(kg::zeros({3, r.x.dims()[1]}), r.ids, r.x)(1); }, total},
    {"scatter_nd",
     [](const rows_at_one_place& r) { return kg::scatter_nd(kg::expand_dims(r.ids, 1), r.x, {3, r.x.dims()[1]})(1); },
     total},
    {"the gradient of gather", [](const rows_at_one_place& r) { return gathered_slope(r, 3)(1); }, total},
    {"the gradient of gather from many", [](const rows_at_one_place& r) { return gathered_slope(r, 500)(1); }, total},
    {"sparse_segment_sum", [](const rows_at_one_place& r) { return kg::sparse_segment_sum(r.x, r.at, r.ids - 1)(0); },
     total},
    {"sparse_segment_mean", [](const rows_at_one_place& r) { return kg::sparse_segment_mean(r.x, r.at, r.ids - 1)(0); },
     mean},
    {"embedding_bag",
     [](const rows_at_one_place& r) {
       return kg::embedding_bag(r.x, r.at, kg::tensor({0}),
                                {.mode = kg::bag_mode::sum, .weights = kg::ones({rows})})(0);
     },
     total},
};

void check_all(const std::string& where) {
  SCOPED_TRACE(where);
  for (const std::int64_t columns : {1, 2, 3, 5, 8, 19, 67}) {
    const rows_at_one_place r = rows_of(columns);
    for (const auto& [name, f, wanted] : cases) {
      SCOPED_TRACE(name);
      const doubles got = f(r).to_doubles();
      ASSERT_EQ(got, doubles(static_cast<std::size_t>(columns), static_cast<double>(static_cast<float>(wanted))));
    }
  }
}

TEST(sums_at_indices, do_not_stop_where_float32_does) {
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    check_all(target.name);
  }
  kg::set_simd_target("");
  const kg::backend_scope reference(kg::backend::reference);
  check_all("reference");
}

TEST(sums_at_indices, count_33554432_ones) {
  constexpr std::int64_t count = std::int64_t{1} << 25;
  const tensor ones = kg::ones({count}), at = kg::zeros({count}, dtype::int32);
  EXPECT_EQ(kg::segment_sum(ones, at, 1).item(), count);
  if (kgtest::full()) EXPECT_EQ(kg::zeros({1}).at(at).add(ones).item(), count);  // takes seconds
}

// A place of two rows is not carried, and gives bitwise identical results: sums whose last digits are lost, and
// infinite ones.
TEST(sums_at_indices, of_two_rows_are_rounded_as_all_others) {
  const std::vector<float> a = {0x1.fffffep0f, 1.f, -1.f, 0x1p-149f, 0x1.fffffep127f, -0.f, 0x1.8p-126f};
  const std::vector<float> b = {0x1p-24f, 0x1.000002p-24f, 0x1p-25f, -0x1p-149f, 0x1p103f, 0.f, 0x1.fp-149f};
  const auto columns = static_cast<std::int64_t>(a.size());
  const tensor x = kg::stack({tensor(a), tensor(b), kg::zeros({columns})});
  const tensor many = kg::segment_sum(x, kg::zeros({3}, dtype::int32), 1)(0);
  const tensor two = kg::segment_sum(kg::slice(x, {0, 0}, {2, columns}), kg::zeros({2}, dtype::int32), 40)(0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto wanted = static_cast<float>(static_cast<double>(a[i]) + static_cast<double>(b[i]));
    EXPECT_EQ(two.to_doubles()[i], static_cast<double>(wanted)) << i;
    EXPECT_EQ(many.to_doubles()[i], static_cast<double>(wanted)) << i;
  }
}

}  // namespace
