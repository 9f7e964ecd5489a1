// SPDX-License-Identifier: Apache-2.0
// Composed functions and constants at the edges: equal and infinite operands, zeros under roots, neighbours of ranges,
// numbers that a dtype does not hold, nothing at all.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

// Rejected, with all the words, by an op under whichever of its names the error has.
template <class F>
void expect_refused_by_op(F call, std::initializer_list<std::string_view> words) {
  const std::string text = kgtest::refusal(call);
  EXPECT_TRUE(text.starts_with("[") && kgtest::says(text, words)) << text;
}

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// ------------------------------------------------------------------------------------------ sums of exponentials

TEST(log_add_exp, has_the_derivatives_of_its_definition_where_the_operands_are_equal) {
  const auto f = [](const tensor& x) { return kg::log_add_exp(x(0), x(1)); };
  const struct {
    double a, b;
  } points[] = {{0, 0}, {1.5, 1.5}, {-700, -700}, {1, 3}, {3, 1}, {2, 2.0000001}, {800, -800}};
  for (const auto& [a, b] : points) {
    SCOPED_TRACE(::testing::Message() << a << ", " << b);
    const tensor x({a, b});
    const double p = 1 / (1 + std::exp(b - a)), q = 1 / (1 + std::exp(a - b)), s = p * q;
    expect_values(kg::grad(f)(x), {2}, {p, q}, 1e-14);
    expect_values(kg::hessian(f)(x), {2, 2}, {s, -s, -s, s}, 1e-14);
  }
  // Equal infinities share the gradient.
  for (const double end : {inf, -inf}) expect_values(kg::grad(f)(tensor({end, end})), {2}, {0.5, 0.5});
  expect_values(kg::grad(f)(tensor({inf, 1.})), {2}, {1, 0});
}

TEST(log_add_exp, of_integers_is_computed_in_float32) {
  for (const dtype type : {dtype::uint8, dtype::int32, dtype::int64, dtype::boolean}) {
    const tensor a = kg::cast(tensor({0, 1, 1}), type), b = kg::cast(tensor({1, 0, 1}), type);
    const tensor y = kg::log_add_exp(a, b);
    EXPECT_EQ(y.type(), dtype::float32);
    expect_values(y, {3}, {std::log1p(std::exp(1.)), std::log1p(std::exp(1.)), 1 + std::log(2.)}, 1e-6);
  }
  const tensor bytes({std::uint8_t{3}, std::uint8_t{250}}), others({std::uint8_t{250}, std::uint8_t{3}});
  expect_values(kg::log_add_exp(bytes, others), {2}, {250, 250}, 1e-4);
  expect_refused("log_add_exp", [&] { return kg::log_add_exp(bytes, kg::ones({3})); }, {"[2]", "[3]", "broadcast"});
}

TEST(sigmoid_cross_entropy, of_infinite_logits_is_0_or_infinity) {
  const struct {
    double label, logit, loss;
  } cases[] = {{1, inf, 0}, {0, inf, inf}, {0.5, inf, inf}, {0, -inf, 0}, {1, -inf, inf}, {0.25, -inf, inf}};
  for (const dtype type : {dtype::float64, dtype::float32, dtype::float16})
    for (const auto& [label, logit, loss] : cases) {
      const tensor y = kg::cast(tensor({label}), type), x = kg::cast(tensor({logit}), type);
      EXPECT_EQ(kg::sigmoid_cross_entropy(y, x).item(), loss) << label << " beside " << logit;
    }
  // The loss of one that is right adds nothing, to the gradients neither.
  const tensor y({1., 0., 1.}), x({inf, -inf, 0.});
  expect_values(kg::sigmoid_cross_entropy(y, x, {.reduction = kg::loss_reduction::sum}), {}, {std::log(2.)}, 1e-15);
  const auto f = [&](const tensor& logits) {
    return kg::sigmoid_cross_entropy(y, logits, {.reduction = kg::loss_reduction::sum});
  };
  expect_values(kg::grad(f)(x), {3}, {0, 0, -0.5}, 1e-15);
}

TEST(sigmoid_cross_entropy, has_the_derivatives_of_its_definition_at_0) {
  for (const double label : {0., 1., 0.3}) {
    const auto f = [&](const tensor& x) { return kg::sigmoid_cross_entropy(tensor({label}), x); };
    for (const double at : {0., -0., 1e-9, -2.5, 40.}) {
      const double p = 1 / (1 + std::exp(-at));
      expect_values(kg::grad(f)(tensor({at})), {1}, {p - label}, 1e-15);
      expect_values(kg::hessian(f)(tensor({at})), {1, 1}, {p * (1 - p)}, 1e-15);
    }
  }
}

// ------------------------------------------------------------------------------------------ roots

TEST(roots, of_zeros_have_gradients_of_zeros) {
  const struct {
    const char* name;
    std::function<tensor(const tensor&)> f;
  } cases[] = {
      {"norm", [](const tensor& x) { return kg::norm(x); }},
      {"norm of rows", [](const tensor& x) { return kg::sum(kg::norm(x, 2, 1)); }},
      {"norm of a matrix", [](const tensor& x) { return kg::norm(x, "fro", {0, 1}); }},
      {"euclidean_norm", [](const tensor& x) { return kg::sum(kg::euclidean_norm(x, 0, true)); }},
      {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x); }},
      {"standard_deviation of rows", [](const tensor& x) { return kg::sum(kg::standard_deviation(x, 1, false, 1)); }},
  };
  for (const auto& [name, f] : cases) {
    SCOPED_TRACE(name);
    for (const dtype type : {dtype::float64, dtype::float32}) {
      const tensor x = kg::zeros({2, 3}, type);
      EXPECT_EQ(f(x).item(), 0);
      expect_values(kg::grad(f)(x), {2, 3}, doubles(6, 0));
    }
  }
  const auto deviation = [](const tensor& x) { return kg::sum(kg::standard_deviation(x, 1)); };
  expect_values(kg::grad(deviation)(tensor{{5., 5.}, {1., 3.}}), {2, 2}, {0, 0, -0.5, 0.5});
  const tensor z = kg::zeros({2}, dtype::complex64);
  const tensor slope = kg::grad([](const tensor& v) { return kg::norm(v); })(z);
  expect_values(kg::real(slope), {2}, {0, 0});
  expect_values(kg::imag(slope), {2}, {0, 0});
}

TEST(distances_of_pairs, have_finite_gradients) {
  const tensor points{{0., 0.}, {3., 4.}, {3., 4.}};
  const auto f = [](const tensor& x) {
    return kg::sum(kg::norm(kg::expand_dims(x, 1) - kg::expand_dims(x, 0), 2, -1));
  };
  EXPECT_EQ(f(points).item(), 20);
  expect_values(kg::grad(f)(points), {3, 2}, {-2.4, -3.2, 1.2, 1.6, 1.2, 1.6});
}

// ------------------------------------------------------------------------------------------ quantiles

TEST(quantile, lies_between_its_neighbours_and_never_falls) {
  const doubles lists[] = {{0.1, 0.1},
                           {0.3, 0.3, 0.3, 0.3, 0.3},
                           {-0.7, -0.7, -0.7},
                           {0, 1e-30, 1, 1e30},
                           {-1e300, -1, -1e-300, 2e300},
                           {1e-310, 3e-310, 0.1},
                           {-inf, -1, 1, 7},
                           {1, 2, inf},
                           {-5, -3, -2.9999999999999996, 0, 4},
                           {-3, 3},
                           {0.1, 0.30000000000000004, 0.7},
                           {-3e38, 3e38}};
  for (const dtype type : {dtype::float64, dtype::float32, dtype::bfloat16})
    for (const doubles& list : lists) {
      const tensor x = kg::cast(tensor(list), type);
      doubles sorted = x.to_doubles();
      std::sort(sorted.begin(), sorted.end());
      double before = sorted.front();
      for (int step = 0; step <= 997; ++step) {
        const double q = step / 997.0, place = q * static_cast<double>(list.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const double found = kg::quantile(x, q).item();
        ASSERT_GE(found, sorted[below]) << tensor(list) << " at " << q;
        ASSERT_LE(found, sorted[std::min(below + 1, sorted.size() - 1)]) << tensor(list) << " at " << q;
        ASSERT_GE(found, before) << tensor(list) << " at " << q;
        before = found;
      }
      EXPECT_EQ(before, sorted.back());
    }
}

TEST(quantile, does_not_overflow_between_the_ends_of_a_dtype) {
  EXPECT_EQ(kg::median(tensor({-1.7e308, 1.7e308})).item(), 0);
  EXPECT_DOUBLE_EQ(kg::quantile(tensor({1.6e308, 1.7e308}), 0.5).item(), 1.65e308);
}

TEST(quantile, gives_its_gradient_to_equal_neighbours) {
  const auto f = [](const tensor& x) { return kg::quantile(x, 0.25); };
  expect_values(kg::grad(f)(tensor({2., 2., 5.})), {3}, {0.5, 0.5, 0});
  expect_values(kg::grad(f)(tensor({-1., 2., 5.})), {3}, {0.5, 0.5, 0});
}

// ------------------------------------------------------------------------------------------ norms of integers

TEST(norm, of_integers_does_not_wrap) {
  constexpr double most = 2147483647;
  const tensor x({2147483647, 1}), least({std::numeric_limits<std::int32_t>::min(), 5});
  EXPECT_EQ(kg::norm(x, 1).item(), most + 1);
  EXPECT_EQ(kg::norm(x, 1).type(), dtype::float64);
  EXPECT_EQ(kg::norm(least, 1).item(), most + 6);
  EXPECT_EQ(kg::norm(least, inf).item(), most + 1);
  EXPECT_EQ(kg::norm(least, -inf).item(), 5);
  EXPECT_EQ(kg::norm(kg::reshape(x, {2, 1}), 1, {0, 1}).item(), most + 1);
  EXPECT_EQ(kg::norm(tensor(std::numeric_limits<std::int32_t>::min())).item(), most + 1);
  EXPECT_EQ(kg::norm(kg::full({300}, 255, dtype::uint8), 1).item(), 76500);
  EXPECT_EQ(kg::norm(tensor({true, true, false}), 1).item(), 2);
}

TEST(norm, of_nothing_has_no_greatest_element) {
  const tensor none = kg::zeros({0}), rows = kg::zeros({3, 0});
  EXPECT_EQ(kg::norm(none).item(), 0);
  EXPECT_EQ(kg::norm(none, 1).item(), 0);
  expect_refused("norm", [&] { return kg::norm(none, inf); }, {"greatest of no elements"});
  expect_refused("norm", [&] { return kg::norm(none, -inf); }, {"least of no elements"});
  expect_refused("norm", [&] { return kg::norm(rows, inf, 1); }, {"greatest of no elements"});
  expect_refused("norm", [&] { return kg::norm(rows, 1, {0, 1}); }, {"greatest of no elements"});
  expect_refused("norm", [&] { return kg::norm(rows, -inf, {1, 0}); }, {"least of no elements"});
  expect_values(kg::norm(rows, inf, {0, 1}), {}, {0});
  EXPECT_EQ(kg::norm(rows, inf, 0).dims(), kg::shape{0});
}

// ------------------------------------------------------------------------------------------ numbers and dtypes

TEST(constants, that_an_integer_dtype_does_not_hold_are_refused) {
  const struct {
    double value;
    dtype type;
    bool fits;
  } cases[] = {{300, dtype::uint8, false},    {256, dtype::uint8, false},    {255, dtype::uint8, true},
               {255.5, dtype::uint8, true},   {-1, dtype::uint8, false},     {-0.5, dtype::uint8, true},
               {nan, dtype::int32, false},    {inf, dtype::int32, false},    {0x1p31, dtype::int32, false},
               {-0x1p31, dtype::int32, true}, {2.75, dtype::int32, true},    {nan, dtype::uint8, false},
               {nan, dtype::int64, false},    {0x1p64, dtype::int64, false}, {-0x1p63, dtype::int64, true},
               {0x1p63, dtype::int64, true},  {1e300, dtype::int64, false},  {nan, dtype::float32, true},
               {300, dtype::boolean, true},   {1e300, dtype::float32, true}};
  for (const auto& [value, type, fits] : cases) {
    SCOPED_TRACE(::testing::Message() << value << " in " << name_of(type));
    const tensor x = kg::zeros({2}, type);
    for (const std::string& text : {kgtest::refusal([&] { return kg::full({1}, value, type); }),
                                    kgtest::refusal([&] { return kg::pad(x, {1, 0}, value); }),
                                    kgtest::refusal([&] { return kg::full_like(x, value); })}) {
      if (fits) EXPECT_EQ(text, kgtest::accepted);
      else EXPECT_TRUE(kgtest::says(text, {"[", "] got ", name_of(type), "holds"})) << text;
    }
  }
  EXPECT_EQ(kg::full({1}, 255.5, dtype::uint8).item(), 255);
  EXPECT_EQ(kg::full({1}, -2.75, dtype::int32).item(), -2);
  const tensor frames = kg::cast(tensor({1, 2, 3}), dtype::uint8);
  expect_refused_by_op([&] { return kg::frame(frames, 2, 2, {.pad_end = true, .pad_value = 300}); }, {"300", "uint8"});
  const tensor image = kg::zeros({1, 2, 2, 1}, dtype::uint8);
  expect_refused_by_op([&] { return kg::rotate_with_offset(image, 0.5, {.fill = {300}}); }, {"300", "uint8"});
}

TEST(clip, with_a_bound_that_is_nan_gives_nan) {
  for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::bfloat16}) {
    const tensor x = kg::cast(uniform({37}, 1), type);
    for (const tensor& y : {kg::clip(x, nan, 1), kg::clip(x, -1, nan), kg::clip(x, nan, nan), kg::clip(x, nan, {}),
                            kg::clip(x, {}, nan), kg::clip(x, nan, inf)})
      for (const double v : y.to_doubles()) ASSERT_TRUE(std::isnan(v));
  }
  const auto fused = kg::fuse([](auto v) { return kg::clip(v * 2, nan, 1); });
  for (const double v : fused(uniform({9}, 2)).to_doubles()) EXPECT_TRUE(std::isnan(v));
  EXPECT_TRUE(std::isnan(fused(0.5)));
  expect_values(kg::grad([](const tensor& v) { return kg::sum(kg::clip(v, nan, 1)); })(tensor({0.5, 2.})), {2}, {0, 0});
  expect_refused_by_op([] { return kg::clip(tensor({1, 2}), nan, 3); }, {"clipValueMin", "numbers", "int32"});
}

TEST(moving_average, with_a_decay_of_1_has_nothing_to_correct) {
  const tensor v({1., 2.}), x({5., 5.});
  expect_refused("moving_average", [&] { return kg::moving_average(v, x, 1, {.step = 3}); },
                 {"decay 1", "zero_debias"});
  expect_values(kg::moving_average(v, x, 1, {.zero_debias = false}), {2}, {1, 2});
  expect_values(kg::moving_average(v, x, 0, {.step = 3}), {2}, {5, 5});
}

TEST(confusion_matrix, refuses_nan_and_leaves_infinities_out) {
  const tensor labels({0., nan, 1.}), whole({0, 1, 1});
  expect_refused("confusion_matrix", [&] { return kg::confusion_matrix(labels, whole, 2); }, {"NaN", "labels"});
  expect_refused("confusion_matrix", [&] { return kg::confusion_matrix(whole, kg::cast(labels, dtype::float16), 2); },
                 {"NaN", "predictions"});
  expect_values(kg::confusion_matrix(tensor({0., inf, 1.}), whole, 2), {2, 2}, {1, 0, 0, 1});
}

TEST(counts, of_more_elements_than_int32_counts_are_refused) {
  const std::uint8_t nothing = 0;  // that is read: sizes are looked at first
  const tensor x = kg::borrow(&nothing, {2, std::int64_t{1} << 30});
  const std::int64_t all = std::int64_t{1} << 31;
  expect_refused_by_op([&] { return kg::bincount(x, 2); }, {"2147483648", "2^31 - 1"});
  expect_refused_by_op([&] { return kg::dense_bincount(kg::reshape(x, {1, all}), 2); }, {"2147483648", "2^31 - 1"});
  expect_refused("count_nonzero", [&] { return kg::count_nonzero(x); }, {"2147483648", "2^31 - 1"});
  const tensor list = kg::reshape(x, {all});
  expect_refused("confusion_matrix", [&] { return kg::confusion_matrix(list, list, 2); }, {"2147483648", "2^31 - 1"});
}

}  // namespace
