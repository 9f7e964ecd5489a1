// SPDX-License-Identifier: Apache-2.0
// Indices: what they take, what they share, what is changed at them, and what they reject.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/refusal.h"
#include "tests/tensor/index_oracle.h"

import kerngrad.testkit;

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::accepted;
using kgtest::drawn_rows;
using kgtest::index_row;
using kgtest::numbered;
using kgtest::oracle;
using kgtest::places;
using kgtest::refusal;
using kgtest::says;
using kgtest::with_indices;
using doubles = std::vector<double>;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();

void expect_elements(const tensor& got, const shape& dims, const doubles& values) {
  EXPECT_EQ(got.dims(), dims);
  EXPECT_EQ(got.to_doubles(), values);
}

tensor taken(const tensor& x, const index_row& row) {
  return with_indices(row, [&](const auto&... at) { return x(at...); });
}

// ------------------------------------------------------------------------------------------ what is taken

TEST(indices, take_what_the_first_page_says) {
  const tensor x = kg::reshape(kg::arange(12), {3, 4});
  expect_elements(x(1, 2), {}, {6});
  expect_elements(x(-1, kg::all), {4}, {8, 9, 10, 11});
  expect_elements(x(kg::range(0, 3, 2), kg::range(-2, kg::end)), {2, 2}, {2, 3, 10, 11});
  EXPECT_EQ(x(kg::newaxis, kg::ellipsis, 0).dims(), (shape{1, 3}));
  expect_elements(x(x > 8), {3}, {9, 10, 11});
  expect_elements(x(kg::tensor({2, 0}), kg::all), {2, 4}, {8, 9, 10, 11, 0, 1, 2, 3});
  expect_elements(x.at(kg::all, 0).set(-1), {3, 4}, {-1, 1, 2, 3, -1, 5, 6, 7, -1, 9, 10, 11});
  expect_elements(x.at(1).add(100), {3, 4}, {0, 1, 2, 3, 104, 105, 106, 107, 8, 9, 10, 11});
  EXPECT_EQ(x.item<float>(1, 2), 6);
  EXPECT_EQ(x.to_doubles(), numbered({12}).to_doubles()) << "x is what it was";
}

struct taken_case {
  std::string what;
  shape dims;
  index_row at;
  shape result;
};

TEST(indices, follow_numpy_where_its_rules_are_subtle) {
  const tensor two({1, 0}), column({1, 0}, {2, 1}), row({0, 2, 1}), none = kg::zeros({0}, dtype::int64);
  const std::vector<taken_case> cases = {
      {"a reversed axis", {3, 4}, {kg::range(-1, kg::end, -1)}, {3, 4}},
      {"every other one from the back", {2, 5}, {kg::all, kg::range(-1, 0, -2)}, {2, 2}},
      {"bounds beyond both ends", {5}, {kg::range(-100, 100)}, {5}},
      {"bounds beyond both ends, backwards", {5}, {kg::range(100, -100, -1)}, {5}},
      {"a range that is empty", {5}, {kg::range(3, 1)}, {0}},
      {"a range beyond the end", {5}, {kg::range(7, 9)}, {0}},
      {"the largest step", {5}, {kg::range(1, kg::end, most)}, {1}},
      {"the smallest step", {5}, {kg::range(-1, kg::end, least)}, {1}},
      {"the smallest and largest bounds", {5}, {kg::range(least, most)}, {5}},
      {"a range of an empty axis", {0, 2}, {kg::range(-1, kg::end, -1)}, {0, 2}},
      {"an empty selection of an empty tensor", {0, 2}, {kg::all, std::int64_t{1}}, {0}},
      {"no index", {2, 3}, {}, {2, 3}},
      {"an ellipsis for no axis", {2, 3}, {std::int64_t{1}, kg::ellipsis, std::int64_t{2}}, {}},
      {"an ellipsis of a scalar", {}, {kg::ellipsis}, {}},
      {"new axes of a scalar", {}, {kg::newaxis, kg::newaxis}, {1, 1}},
      {"tensors that broadcast", {3, 4}, {column, row}, {2, 3}},
      {"a tensor of rank 2", {3, 4}, {kg::all, column}, {3, 2, 1}},
      {"a scalar tensor", {3, 4}, {tensor(2)}, {4}},
      {"an empty tensor", {3, 4}, {none}, {0, 4}},
      {"a tensor of bytes", {3, 4}, {kg::cast(two, dtype::uint8)}, {2, 4}},
      {"tensors side by side stay", {2, 3, 4}, {kg::all, two, tensor({3, 0})}, {2, 2}},
      {"tensors apart come first", {2, 3, 4}, {two, kg::all, tensor({3, 0})}, {2, 3}},
      {"an integer beside a tensor", {2, 3, 4}, {kg::all, std::int64_t{1}, row}, {2, 3}},
      {"an integer apart from a tensor", {2, 3, 4}, {std::int64_t{1}, kg::all, row}, {3, 3}},
      {"a new axis between tensors", {2, 3, 4}, {two, kg::newaxis, two}, {2, 1, 4}},
      {"a range behind a tensor", {3, 4}, {row, kg::range(3, 0, -1)}, {3, 3}},
      {"a mask of all axes", {2, 3}, {numbered({2, 3}) > 2}, {3}},
      {"a mask of the first axes", {2, 3, 4}, {numbered({2, 3}) < 5}, {5, 4}},
      {"a mask of a later axis", {2, 3, 4}, {kg::all, tensor({true, false, true})}, {2, 2, 4}},
      {"a mask of nothing", {2, 3}, {numbered({2, 3}) > 9}, {0}},
      {"a mask beside a tensor", {2, 3}, {tensor({true, true}), two}, {2}},
  };
  for (const taken_case& c : cases) {
    const tensor x = numbered(c.dims), y = taken(x, c.at);
    const kgtest::taken wanted = oracle(c.dims, c.at);
    EXPECT_EQ(y.dims(), c.result) << c.what;
    EXPECT_EQ(y.dims(), shape(wanted.dims)) << c.what;
    EXPECT_EQ(y.to_doubles(), doubles(wanted.from.begin(), wanted.from.end())) << c.what;
  }
}

const std::vector<shape> sweep = {{5}, {3, 4}, {2, 3, 4}, {1, 3, 1, 2}, {2, 0, 3}};

TEST(indices, take_what_walking_element_by_element_takes) {
  for (const shape& dims : sweep) {
    drawn_rows draw(dims);
    for (int i = 0; i < 200; ++i) {
      const index_row row = draw();
      const kgtest::taken wanted = oracle(dims, row);
      const tensor y = taken(numbered(dims), row);
      ASSERT_EQ(y.dims(), shape(wanted.dims)) << to_string(dims) << ", row " << i;
      ASSERT_EQ(y.to_doubles(), doubles(wanted.from.begin(), wanted.from.end())) << to_string(dims) << ", row " << i;
    }
  }
}

TEST(indices, serve_every_dtype) {
  for (int i = 0; i < kg::dtype_count; ++i) {
    const dtype type = static_cast<dtype>(i);
    if (type == dtype::text) continue;  // tests/tensor/texts.cc
    const tensor x = kg::cast(numbered({3, 4}) > 4, type);
    for (const tensor& y : {x(1), x(1, 2), x(kg::all, kg::range(3, 0, -2)), x(tensor({2, 0})), x(numbered({3, 4}) > 6),
                            x.at(1).set(x(0))})
      EXPECT_EQ(y.type(), type);
    if (kg::kind_of(type) != kg::dtype_kind::complex) expect_elements(x(1), {4}, {0, 1, 1, 1});
  }
}

// ------------------------------------------------------------------------------------------ what is shared

TEST(a_slice, shares_memory_where_its_elements_lie_together) {
  const tensor x = numbered({4, 3, 2});
  for (const tensor& y : {x(2), x(-1, 1), x(kg::range(1, 3)), x(1, kg::range(0, 2)), x(kg::all), x(kg::newaxis, 2),
                          x(kg::range(2, 3), kg::all), x(3, 2, kg::range(1, kg::end))})
    EXPECT_TRUE(y.shares_with(x));
  for (const tensor& y : {x(1, 2, 0), x(kg::all, 1), x(kg::range(0, 4, 2)), x(kg::range(-1, kg::end, -1)),
                          x(tensor({0})), x(x > 8), x(kg::range(2, 2))})
    EXPECT_FALSE(y.shares_with(x));
  EXPECT_EQ(x(1).address(), x.data<float>().data() + 6);
  EXPECT_TRUE(x(kg::range(0, 2)).shares_with(x(1)));
  EXPECT_FALSE(x(0).shares_with(x(1))) << "no element is in both";
  EXPECT_TRUE(kg::reshape(x(1), {6})(kg::range(2, 4)).shares_with(x(1, 1)));
}

TEST(a_slice, of_a_slice_outlives_both) {
  tensor y;
  {
    const tensor x = numbered({4, 3, 2});
    y = x(kg::range(1, 3))(1)(kg::range(1, 3));
  }
  expect_elements(y, {2, 2}, {14, 15, 16, 17});
}

TEST(a_slice, keeps_the_memory_of_the_whole_and_a_scalar_does_not) {
  const std::int64_t before = kg::memory().live_bytes;
  tensor kept = numbered({100, 100})(1);
  EXPECT_EQ(kg::memory().live_bytes - before, 40000);
  kept = numbered({100, 100})(1, 1);
  EXPECT_EQ(kg::memory().live_bytes - before, 4);
}

TEST(a_slice, is_never_written_through_what_is_computed_from_it) {
  const tensor x = numbered({3, 4});
  const tensor y = x(1) + 1, z = kg::exp(x(kg::range(0, 2)));
  tensor row = x(2);
  row += 5;
  row *= x(0);
  EXPECT_EQ(x.to_doubles(), numbered({12}).to_doubles());
  expect_elements(y, {4}, {5, 6, 7, 8});
  expect_elements(row, {4}, {0, 14, 30, 48});
}

// Slices begin at any element: what is computed from one is what is computed from a copy of it, to the bit.
TEST(a_slice, gives_kernels_the_bits_that_its_copy_gives) {
  using one_operand = tensor (*)(const tensor&);
  const std::vector<std::pair<std::string, one_operand>> functions = {
      {"exp", [](const tensor& a) { return kg::exp(a); }},
      {"a sum with numbers", [](const tensor& a) { return (a + 2) * a; }},
      {"sum", [](const tensor& a) { return kg::sum(a); }},
      {"cumsum", [](const tensor& a) { return kg::cumsum(a); }},
      {"softmax", [](const tensor& a) { return kg::softmax(a); }},
      {"sort", [](const tensor& a) { return kg::sort(a); }},
      {"transpose", [](const tensor& a) { return kg::transpose(kg::reshape(a, {-1, 5})); }},
      {"matmul", [](const tensor& a) { return kg::matmul(kg::reshape(a, {-1, 5}), kg::reshape(a, {5, -1})); }},
      {"cast", [](const tensor& a) { return kg::cast(a, dtype::float64); }},
      {"cast to halves", [](const tensor& a) { return kg::cast(a, dtype::bfloat16); }},
      {"comparison", [](const tensor& a) { return a > 0; }},
      {"gather", [](const tensor& a) { return kg::gather(a, tensor({3, 1, 2})); }},
      {"concat", [](const tensor& a) { return kg::concat({a, a}); }},
      {"reverse", [](const tensor& a) { return kg::reverse(a); }},
      {"pad", [](const tensor& a) { return kg::pad(a, {1, 2}); }},
      {"convolution",
       [](const tensor& a) {
         const tensor image = kg::reshape(a, {1, 5, -1, 1});
         return kg::conv2d(image, kg::reshape(a(kg::range(0, 4)), {2, 2, 1, 1}));
       }},
      {"fused", [](const tensor& a) { return kg::fuse([](auto v) { return kg::exp(-v * v) + 1; })(a); }},
  };
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const tensor x = kg::random_normal({1100}, 0, 1, 5, type);
    for (const std::int64_t first : {1, 3, 5, 8}) {
      const tensor slice = x(kg::range(first, first + 1045));
      const tensor copy = slice(kg::range(0, kg::end, 1), kg::newaxis), apart = kg::concat({copy(kg::all, 0)});
      ASSERT_FALSE(apart.shares_with(x));
      for (const auto& [name, f] : functions) {
        const tensor got = f(slice), wanted = f(apart);
        EXPECT_EQ(got.dims(), wanted.dims()) << name;
        const auto same = kg::cast(kg::all(got == wanted), dtype::int32);
        EXPECT_EQ(same.item(), 1) << name << " from element " << first << " of " << kg::name_of(type);
      }
    }
  }
}

TEST(a_slice, that_is_given_up_may_hold_the_result) {
  for (const std::int64_t first : {1, 2, 3}) {
    tensor y = numbered({40})(kg::range(first, kg::end));  // its only owner
    y += 1;
    y *= 2;
    EXPECT_EQ(y(0).item(), 2.0 * static_cast<double>(first + 1));
    EXPECT_EQ(y(-1).item(), 80);
  }
}

// ------------------------------------------------------------------------------------------ what is changed

using update = tensor (*)(kg::tensor_part, const tensor&);
using rule_of_update = double (*)(double, double);
struct update_case {
  std::string name;
  update run;
  rule_of_update rule;
};
const std::vector<update_case> updates = {
    {"set", [](kg::tensor_part p, const tensor& v) { return std::move(p).set(v); }, [](double, double v) { return v; }},
    {"add", [](kg::tensor_part p, const tensor& v) { return std::move(p).add(v); },
     [](double x, double v) { return x + v; }},
    {"multiply", [](kg::tensor_part p, const tensor& v) { return std::move(p).multiply(v); },
     [](double x, double v) { return x * v; }},
    {"max", [](kg::tensor_part p, const tensor& v) { return std::move(p).max(v); },
     [](double x, double v) { return std::max(x, v); }},
    {"min", [](kg::tensor_part p, const tensor& v) { return std::move(p).min(v); },
     [](double x, double v) { return std::min(x, v); }},
};

TEST(updates, change_the_places_that_indices_take_and_no_others) {
  for (const shape& dims : sweep) {
    drawn_rows draw(dims);
    for (int i = 0; i < 60; ++i) {
      const index_row row = draw();
      const kgtest::taken at = oracle(dims, row);
      const tensor values = numbered(shape(at.dims), dtype::int32) * 3 - 7;
      for (const update_case& u : updates) {
        const auto updated = [&](auto&& x) {
          return with_indices(
              row, [&](const auto&... index) { return u.run(std::forward<decltype(x)>(x).at(index...), values); });
        };
        const tensor x = numbered(dims);
        doubles wanted = x.to_doubles();
        for (std::size_t k = 0; k < at.from.size(); ++k) {
          double& element = wanted[static_cast<std::size_t>(at.from[k])];
          element = u.rule(element, values.to_doubles()[k]);
        }
        ASSERT_EQ(updated(x).to_doubles(), wanted) << u.name << " into " << to_string(dims) << ", row " << i;
        ASSERT_EQ(x.to_doubles(), numbered(dims).to_doubles()) << u.name << ": x is what it was";
        ASSERT_EQ(updated(numbered(dims)).to_doubles(), wanted) << u.name << " in place, row " << i;
      }
    }
  }
}

TEST(updates, take_values_that_broadcast_and_numbers) {
  const tensor x = numbered({2, 3});
  expect_elements(x.at().set(7), {2, 3}, doubles(6, 7));
  expect_elements(x.at(kg::all, kg::range(1, 3)).set(tensor({8, 9})), {2, 3}, {0, 8, 9, 3, 8, 9});
  expect_elements(x.at(x > 3).multiply(10), {2, 3}, {0, 1, 2, 3, 40, 50});
  expect_elements(x.at(1).max(4), {2, 3}, {0, 1, 2, 4, 4, 5});
  expect_elements(x.at(1).min(4.5), {2, 3}, {0, 1, 2, 3, 4, 4.5});
  expect_elements(tensor(2.0).at().add(1), {}, {3});
  expect_elements(tensor({true, true}).at(0).set(false), {2}, {0, 1});
  expect_elements(kg::zeros({0, 3}).at(kg::all, 1).set(5), {0, 3}, {});
  EXPECT_EQ(numbered({2}, dtype::float16).at(0).add(0.5).type(), dtype::float16);
  const tensor index({0, 0, 1, 0});
  expect_elements(kg::zeros({2, 2}).at(index).add(tensor({1, 2, 3, 4}, {4, 1})), {2, 2}, {7, 7, 3, 3});
  expect_elements(kg::zeros({2}).at(index).set(tensor({1, 2, 3, 4})), {2}, {4, 3});
}

TEST(updates, leave_the_bits_of_other_elements) {
  const tensor x({-0.0, -0.0, std::numeric_limits<double>::infinity()});
  const tensor y = x.at(tensor({1})).add(0);
  EXPECT_TRUE(std::signbit(y.item<double>(0)));
  EXPECT_FALSE(std::signbit(y.item<double>(1)));
  EXPECT_EQ(y.item<double>(2), std::numeric_limits<double>::infinity());
}

TEST(updates, happen_in_place_when_nobody_else_holds_the_elements) {
  tensor x = numbered({3, 4});
  const void* const where = x.address();
  x = std::move(x).at(1).set(5);
  x = std::move(x).at(kg::all, 2).add(1);
  x = std::move(x).at(x > 7).multiply(2);
  EXPECT_EQ(x.address(), where);
  const tensor other = x;
  x = std::move(x).at(0).set(0);
  EXPECT_NE(x.address(), where);
  EXPECT_EQ(other.item<float>(0, 1), 1) << "another handle sees no change";
  const tensor row = x(1);
  x = std::move(x).at(1).set(-1);
  EXPECT_EQ(row.item<float>(0), 5) << "nor does a slice";
  const auto [value, grads] = kg::value_and_grad([](const tensor& w) {
    tensor y = w * 2;
    const tensor square = y * y;
    y = std::move(y).at(0).set(0);
    return kg::sum(square) + kg::sum(y);
  })(tensor({1.f, 3.f}));
  EXPECT_EQ(value.item(), 46);
  EXPECT_EQ(grads.to_doubles(), (doubles{8, 26})) << "nor does a rule";
}

// ------------------------------------------------------------------------------------------ gradients

TEST(indices, differentiate_to_the_places_taken) {
  for (const shape& dims : {shape{3, 4}, shape{2, 3, 4}}) {
    drawn_rows draw(dims);
    for (int i = 0; i < 60; ++i) {
      const index_row row = draw();
      const kgtest::taken at = oracle(dims, row);
      const tensor weights = numbered(shape(at.dims)) + 1;
      const tensor dx = kg::grad([&](const tensor& x) { return kg::sum(taken(x, row) * weights); })(numbered(dims));
      doubles wanted(static_cast<std::size_t>(dims.size()), 0);
      for (std::size_t k = 0; k < at.from.size(); ++k)
        wanted[static_cast<std::size_t>(at.from[k])] += static_cast<double>(k) + 1;
      ASSERT_EQ(dx.to_doubles(), wanted) << to_string(dims) << ", row " << i;
    }
  }
}

using function = tensor (*)(const tensor&, const tensor&);
TEST(indices, and_updates_have_the_gradients_that_differences_say) {
  const std::vector<std::pair<std::string, function>> functions = {
      {"slices", [](const tensor& x, const tensor& v) { return x(1) * x(kg::all, kg::range(3, kg::end, -1)) + v; }},
      {"elements", [](const tensor& x, const tensor& v) { return x(1, 2) * x(0, 0) * v; }},
      {"tensors",
       [](const tensor& x, const tensor& v) { return x(tensor({2, 0, 2}), tensor({1, 1, 1})) * kg::sum(v); }},
      {"a mask", [](const tensor& x, const tensor& v) { return x(tensor({true, false, true})) * v; }},
      {"rows",
       [](const tensor& x, const tensor& v) {
         tensor sum = v;
         for (const tensor& row : x) sum = sum * row + v;
         return sum;
       }},
      {"set", [](const tensor& x, const tensor& v) { return kg::square(x.at(kg::range(0, 2)).set(v * v)); }},
      {"add", [](const tensor& x, const tensor& v) { return kg::square(x.at(1).add(v)); }},
      {"add twice", [](const tensor& x, const tensor& v) { return kg::square(x.at(tensor({2, 0, 2})).add(v)); }},
      {"multiply", [](const tensor& x, const tensor& v) { return kg::square(x.at(kg::all, 1).multiply(v(1))); }},
      {"multiply twice",
       [](const tensor& x, const tensor& v) { return kg::square(x.at(tensor({2, 0, 2})).multiply(v)); }},
      {"max twice",
       [](const tensor& x, const tensor& v) {
         return kg::square(x.at(tensor({2, 0, 2})).max(kg::stack({v * 0.9, v, v})));
       }},
      {"max", [](const tensor& x, const tensor& v) { return kg::square(x.at(0).max(v)); }},
      {"min", [](const tensor& x, const tensor& v) { return kg::square(x.at(0).min(v)); }},
  };
  const std::vector<tensor> at = {kg::random_uniform({3, 4}, 0.5, 1, 3, dtype::float64),
                                  kg::random_uniform({4}, 1.5, 2, 4, dtype::float64)};
  for (const auto& [name, f] : functions) {
    const kg::testkit::results_of results = [f = f](std::span<const tensor> in) {
      return kg::tensor_list{f(in[0], in[1])};
    };
    const kg::testkit::report found = kg::testkit::check_function(name, results, at);
    EXPECT_TRUE(found) << found;
  }
}

// ------------------------------------------------------------------------------------------ rows, elements, refusals

TEST(a_loop_over_a_tensor, sees_its_slices) {
  const tensor x = numbered({3, 4});
  std::int64_t i = 0;
  for (const tensor& row : x) {
    EXPECT_TRUE(row.shares_with(x));
    EXPECT_EQ(row.to_doubles(), x(i++).to_doubles());
  }
  EXPECT_EQ(i, 3);
  EXPECT_EQ(std::vector<tensor>(x.begin(), x.end()).size(), 3u);
  EXPECT_EQ(std::ranges::distance(kg::zeros({0, 3})), 0);
  static_assert(std::ranges::forward_range<const tensor>);
  double sum = 0;
  for (const tensor& element : tensor({1, 2, 3})) sum += element.item();
  EXPECT_EQ(sum, 6);
  EXPECT_TRUE(says(refusal([] { return *tensor(1).begin(); }), {"[tensor]", "rows of a scalar"}));
}

TEST(an_element, is_read_by_its_indices) {
  const tensor x = numbered({2, 3});
  EXPECT_EQ(x.item<float>(-1, -3), 3);
  EXPECT_EQ(x.item<float>(0u, std::uint8_t{2}), 2);
  EXPECT_TRUE(says(refusal([&] { return x.item<float>(1); }), {"[item] got 1 indices", "[2, 3]", "wanted 2"}));
  EXPECT_TRUE(says(refusal([&] { return x.item<float>(1, 3); }), {"[item] got index 3 into axis 1 of size 3"}));
  EXPECT_TRUE(says(refusal([&] { return x.item<double>(1, 2); }), {"float32 read as float64"}));
}

TEST(indices, that_do_not_fit_are_refused_in_a_sentence) {
  const tensor x = numbered({3, 4}), mask = x > 4;
  const auto of = [&](auto... at) { return refusal([&] { return x(at...); }); };
  EXPECT_TRUE(says(of(3), {"[index] got index 3 into axis 0 of size 3", "an index from -3 to 2"}));
  EXPECT_TRUE(says(of(kg::all, -5), {"index -5 into axis 1 of size 4"}));
  EXPECT_TRUE(says(of(~std::uint64_t{}), {"into axis 0 of size 3"}));
  EXPECT_TRUE(says(of(least), {"index -9223372036854775808 into axis 0"}));
  EXPECT_TRUE(says(of(0, 0, 0), {"[index] got indices for 3 axes of a tensor of shape [3, 4]", "at most 2"}));
  EXPECT_TRUE(says(of(mask, 0), {"indices for 3 axes"}));
  EXPECT_TRUE(says(of(kg::ellipsis, kg::ellipsis), {"an ellipsis twice"}));
  EXPECT_TRUE(says(of(kg::range(0, 3, 0)), {"a range with step 0"}));
  EXPECT_TRUE(says(of(x), {"a tensor of dtype float32 as an index", "integers or booleans"}));
  EXPECT_TRUE(says(of(mask(kg::range(0, 2))), {"a mask of shape [2, 4] from axis 0 of shape [3, 4]"}));
  EXPECT_TRUE(says(of(mask(1, 1)), {"a mask of rank 0"}));
  EXPECT_TRUE(says(of(tensor({0, 3})), {"[index] got index 3 into axis 0 of size 3"}));
  EXPECT_TRUE(says(of(kg::all, tensor({-5})), {"index -5 into axis 1 of size 4"}));
  EXPECT_TRUE(says(of(tensor({0, 1}), tensor({0, 1, 2})), {"shapes [2] and [3]", "that broadcast"}));
  EXPECT_TRUE(says(refusal([] { return kg::zeros({0})(0); }), {"into axis 0 of size 0", "the axis is empty"}));
  EXPECT_TRUE(says(refusal([] { return tensor()(0); }), {"an undefined tensor", "defined()"}));
  EXPECT_NE(refusal([] { return kg::zeros({1, 1, 1, 1, 1, 1, 1, 1})(kg::newaxis); }), accepted);
}

TEST(updates, that_do_not_fit_are_refused_in_a_sentence) {
  const tensor x = numbered({3, 4}), whole = numbered({3}, dtype::int32);
  EXPECT_TRUE(says(refusal([&] { return x.at(5).set(1); }), {"index 5 into axis 0 of size 3"}));
  EXPECT_TRUE(says(refusal([&] { return x.at(1).set(tensor({1, 2})); }), {"[at]", "shape [2]", "shape [4]"}));
  EXPECT_TRUE(says(refusal([&] { return x.at(1, 1).set(x(1)); }), {"[at]", "shape [4]", "shape []"}));
  EXPECT_TRUE(says(refusal([&] { return whole.at(1).set(0.5); }), {"[at]", "float32", "int32"}));
  EXPECT_TRUE(says(refusal([&] { return whole.at(1).add(most); }), {"[at]", "9223372036854775807", "int32"}));
  EXPECT_TRUE(says(refusal([&] { return whole.at(1).set(x(0, 0)); }), {"[at]", "float32", "int32"}));
  EXPECT_TRUE(says(refusal([&] { return (x > 4).at(1).add(true); }), {"[at]", "bool", "set"}));
}

// ------------------------------------------------------------------------------------------ arange

TEST(arange, counts_as_numpy_does) {
  EXPECT_EQ(kg::arange(12).type(), dtype::float32);
  expect_elements(kg::arange(3, dtype::int32), {3}, {0, 1, 2});
  expect_elements(kg::arange(2, 5), {3}, {2, 3, 4});
  expect_elements(kg::arange(1, 2, 0.25, dtype::float64), {4}, {1, 1.25, 1.5, 1.75});
  expect_elements(kg::arange(5, 1, -2), {2}, {5, 3});
  expect_elements(kg::arange(5, 1), {0}, {});
  expect_elements(kg::arange(1, 5, -1), {0}, {});
  expect_elements(kg::arange(-2), {0}, {});
  EXPECT_NE(refusal([] { return kg::arange(0, 3, 0); }), accepted);
}

// Doubles hold the even numbers there.
TEST(arange, of_int64_rounds_no_bound_and_no_step) {
  constexpr std::int64_t far = (std::int64_t{1} << 53) + 1;
  const auto elements = [](const tensor& x) {
    const auto all = x.data<std::int64_t>();
    return std::vector(all.begin(), all.end());
  };
  using numbers = std::vector<std::int64_t>;
  EXPECT_EQ(elements(kg::arange(far, far + 3, 1, dtype::int64)), (numbers{far, far + 1, far + 2}));
  EXPECT_EQ(elements(kg::arange(far, far - 3, -2, dtype::int64)), (numbers{far, far - 2}));
  EXPECT_EQ(elements(kg::arange(least, most, most, dtype::int64)), (numbers{least, -1, most - 1}));
  EXPECT_EQ(elements(kg::arange(0u, static_cast<std::uint64_t>(far), far - 1, dtype::int64)), (numbers{0, far - 1}));
  EXPECT_EQ(elements(kg::arange(far, far, 1, dtype::int64)), numbers{});
  EXPECT_EQ(elements(kg::arange(far, 0, 1, dtype::int64)), numbers{});
  EXPECT_NE(refusal([] { return kg::arange(far, far + 2, 0, dtype::int64); }), accepted);
  EXPECT_EQ(kg::arange(far, far + 4).type(), dtype::float32);
}

}  // namespace
