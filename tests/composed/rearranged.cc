// SPDX-License-Identifier: Apache-2.0
// Elements moved along an axis: rolled, repeated, subtracted from their neighbours.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

TEST(roll, brings_in_at_one_end_what_leaves_at_the_other) {
  const tensor x({1, 2, 3, 4, 5});
  expect_values(kg::roll(x, 2), {5}, {4, 5, 1, 2, 3});
  expect_values(kg::roll(x, -1), {5}, {2, 3, 4, 5, 1});
  expect_values(kg::roll(x, 12), {5}, {4, 5, 1, 2, 3});
  expect_values(kg::roll(x, std::numeric_limits<std::int64_t>::min()), {5}, {4, 5, 1, 2, 3});
  expect_values(kg::roll(tensor{{1, 2, 3}, {4, 5, 6}}, 1, -1), {2, 3}, {3, 1, 2, 6, 4, 5});
  EXPECT_TRUE(kg::roll(x, 5).shares_with(x));
  EXPECT_EQ(kg::roll(kg::zeros({0, 2}), 1, 0).dims(), (kg::shape{0, 2}));
  expect_refused("roll", [&] { return kg::roll(x, 1, 1); }, {"axis 1"});
}

TEST(roll, without_an_axis_moves_all_elements_on_in_their_order) {
  expect_values(kg::roll(tensor{{1, 2, 3}, {4, 5, 6}}, 1), {2, 3}, {6, 1, 2, 3, 4, 5});
  expect_values(kg::roll(tensor(7), 3), {}, {7});
  EXPECT_EQ(kg::roll(kg::zeros({0, 2}), 1).dims(), (kg::shape{0, 2}));
}

TEST(roll, along_several_axes_is_one_after_the_other) {
  const tensor x{{1, 2, 3}, {4, 5, 6}};
  expect_values(kg::roll(x, {1, -1}, {0, 1}), {2, 3}, {5, 6, 4, 2, 3, 1});
  expect_values(kg::roll(x, {1, 1}, {1, 1}), {2, 3}, {2, 3, 1, 5, 6, 4});
  expect_refused("roll", [&] { return kg::roll(x, {1, 2}, {0}); }, {"2 shifts and 1 axes"});
}

// Every shift of each axis by loops over the elements, with those of bytes, of half precision and of complex numbers.
TEST(roll, along_three_axes_is_one_copy_of_each_element) {
  const kg::shape dims{3, 4, 5};
  const tensor x = kg::reshape(kg::arange(0, 60), dims);
  const auto of = [](std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; };
  for (const std::int64_t a : {0, 1, -4})
    for (const std::int64_t b : {0, 3, 5})
      for (const std::int64_t c : {0, -2, 7}) {
        kgtest::doubles wanted;
        for (std::int64_t i = 0; i < 3; ++i)
          for (std::int64_t j = 0; j < 4; ++j)
            for (std::int64_t k = 0; k < 5; ++k)
              wanted.push_back(static_cast<double>((of(i - a, 3) * 4 + of(j - b, 4)) * 5 + of(k - c, 5)));
        for (const kg::dtype type : {kg::dtype::float32, kg::dtype::uint8, kg::dtype::float16, kg::dtype::int64})
          expect_values(kg::roll(kg::cast(x, type), {a, b, c}, {0, 1, 2}), dims, wanted);
        const tensor both = kg::complex(x, -x);
        expect_values(kg::imag(kg::roll(both, {c, b, a}, {2, 1, 0})) * -1, dims, wanted);
      }
  const tensor texts{{"a", "b", "c"}, {"d", "e", "f"}};
  EXPECT_EQ(kg::roll(texts, {1, 1}, {0, 1}).to_texts(), (std::vector<std::string>{"f", "d", "e", "c", "a", "b"}));
  check_gradients("roll", [](auto in) { return kg::square(kg::roll(in[0], {1, -1}, {0, 2})); },
                  {uniform({2, 3, 4}, 1)});
}

TEST(repeat, sets_copies_beside_each_other) {
  expect_values(kg::repeat(tensor{{1, 2}, {3, 4}}, 2, 0), {4, 2}, {1, 2, 1, 2, 3, 4, 3, 4});
  expect_values(kg::repeat(tensor{{1, 2}, {3, 4}}, 3, -1), {2, 6}, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4});
  EXPECT_EQ(kg::repeat(tensor({1, 2}), 0).dims(), kg::shape{0});
  expect_refused("repeat", [] { return kg::repeat(tensor({1, 2}), -1); }, {"count -1"});
  expect_refused("repeat", [] { return kg::repeat(tensor(1), 2, 1); }, {"axis 1", "rank 0"});
}

TEST(repeat, without_an_axis_is_of_all_elements_in_their_order) {
  expect_values(kg::repeat(tensor{{1, 2}, {3, 4}}, 2), {8}, {1, 1, 2, 2, 3, 3, 4, 4});
  expect_values(kg::repeat(tensor(1), 2), {2}, {1, 1});
}

TEST(diff, subtracts_the_element_before) {
  const tensor x({1, 4, 9, 16});
  expect_values(kg::diff(x), {3}, {3, 5, 7});
  expect_values(kg::diff(x, 2), {2}, {2, 2});
  expect_values(kg::diff(x, 0), {4}, {1, 4, 9, 16});
  expect_values(kg::diff(x, 4), {0}, {});
  expect_values(kg::diff(tensor{{1, 2}, {5, 9}}, 1, 0), {1, 2}, {4, 7});
  expect_refused("diff", [&] { return kg::diff(x, 5); }, {"order 5"});
}

TEST(swapaxes, exchanges_two_axes) {
  EXPECT_EQ(kg::swapaxes(kg::zeros({2, 3, 4}), 0, -1).dims(), (kg::shape{4, 3, 2}));
  expect_values(kg::swapaxes(tensor{{1, 2}, {3, 4}}, 0, 1), {2, 2}, {1, 3, 2, 4});
  expect_refused("swapaxes", [] { return kg::swapaxes(kg::zeros({2, 3}), 0, 2); }, {"axis 2"});
}

TEST(count_nonzero, counts_nan_and_every_dtype) {
  expect_values(kg::count_nonzero(tensor{{0., std::nan(""), -1.}, {0., 0., 3.}}, 1), {2}, {2, 1});
  expect_values(kg::count_nonzero(tensor({true, false, true})), {}, {2});
  EXPECT_EQ(kg::count_nonzero(tensor({1, 0})).type(), kg::dtype::int32);
}

TEST(rearranged, are_differentiable) {
  const std::vector<tensor> in = {uniform({3, 4}, 1)};
  check_gradients("roll", [](std::span<const tensor> x) { return kg::sin(kg::roll(x[0], 1, 1)); }, in);
  check_gradients("roll of two axes", [](auto x) { return kg::sin(kg::roll(x[0], {1, 2}, {0, 1})); }, in);
  check_gradients("repeat of all", [](auto x) { return kg::sin(kg::repeat(x[0], 2)); }, in);
  check_gradients("roll of all", [](std::span<const tensor> x) { return kg::sin(kg::roll(x[0], 5)); }, in);
  check_gradients("repeat", [](std::span<const tensor> x) { return kg::sin(kg::repeat(x[0], 2, 1)); }, in);
  check_gradients("diff", [](std::span<const tensor> x) { return kg::sin(kg::diff(x[0], 2, 0)); }, in);
}

}  // namespace
