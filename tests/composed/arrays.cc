// SPDX-License-Identifier: Apache-2.0
// Shapes without elements being moved, identities and grids.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

TEST(squeeze, drops_all_axes_of_size_1_or_those_that_are_named) {
  const tensor x({1, 2, 3, 4, 5, 6}, {1, 2, 1, 3, 1});
  EXPECT_EQ(kg::squeeze(x).dims(), (kg::shape{2, 3}));
  EXPECT_EQ(kg::squeeze(x, 0).dims(), (kg::shape{2, 1, 3, 1}));
  EXPECT_EQ(kg::squeeze(x, {-1, 2}).dims(), (kg::shape{1, 2, 3}));
  EXPECT_EQ(kg::squeeze(x, {}).dims(), x.dims());
  EXPECT_EQ(kg::squeeze(tensor(1.0)).dims(), kg::shape{});
  EXPECT_EQ(kg::squeeze(kg::zeros({1, 0})).dims(), kg::shape{0});
  EXPECT_TRUE(kg::squeeze(x).shares_with(x));
  EXPECT_EQ(kg::squeeze(tensor({true, false}, {2, 1})).type(), kg::dtype::boolean);
}

TEST(squeeze, refuses_axes_of_other_sizes_that_are_not_there_or_named_twice) {
  const tensor x = kg::zeros({1, 2, 1});
  expect_refused("squeeze", [&] { return kg::squeeze(x, 1); }, {"axis 1 of operand x", "[1, 2, 1]", "size 1"});
  expect_refused("squeeze", [&] { return kg::squeeze(x, {0, 3}); }, {"axis 3", "an axis from -3 to 2"});
  expect_refused("squeeze", [&] { return kg::squeeze(x, -4); }, {"axis -4"});
  expect_refused("squeeze", [&] { return kg::squeeze(x, {0, -3}); }, {"twice"});
  expect_refused("squeeze", [&] { return kg::squeeze(tensor(1.0), 1); }, {"axis 1", "rank 0", "from -1 to 0"});
  expect_refused("squeeze", [] { return kg::squeeze(tensor()); }, {"operand x"});
}

TEST(flatten, puts_the_elements_on_one_axis) {
  expect_values(kg::flatten(tensor{{1, 2}, {3, 4}}), {4}, {1, 2, 3, 4});
  expect_values(kg::flatten(tensor(7)), {1}, {7});
  expect_values(kg::ravel(tensor{{1, 2}, {3, 4}}), {4}, {1, 2, 3, 4});
  EXPECT_EQ(kg::flatten(kg::zeros({2, 0, 3})).dims(), kg::shape{0});
  expect_refused("flatten", [] { return kg::flatten(tensor()); }, {"operand x"});
}

TEST(full_like, has_the_shape_and_dtype_of_another) {
  const tensor x({1, 2, 3, 4}, {2, 2});
  expect_values(kg::full_like(x, 7), {2, 2}, {7, 7, 7, 7});
  EXPECT_EQ(kg::full_like(x, 7).type(), kg::dtype::int32);
  EXPECT_EQ(kg::full_like(x, 0.5, kg::dtype::float64).type(), kg::dtype::float64);
}

TEST(ensure_shape, gives_x_back_or_says_what_was_wanted) {
  const tensor x = kg::zeros({2, 3});
  EXPECT_TRUE(kg::ensure_shape(x, {2, 3}).shares_with(x));
  EXPECT_TRUE(kg::ensure_shape(x, {-1, 3}).shares_with(x));
  expect_refused("ensure_shape", [&] { return kg::ensure_shape(x, {5, 3}); }, {"operand x", "[2, 3]", "[5, 3]"});
  expect_refused("ensure_shape", [&] { return kg::ensure_shape(x, {2}); }, {"[2, 3]"});
  expect_refused("ensure_shape", [&] { return kg::ensure_shape(x, {2, 3, -1}); }, {"[2, 3, -1]"});
}

TEST(moveaxis, keeps_the_order_of_the_other_axes) {
  const tensor x = kg::zeros({2, 3, 4, 5});
  EXPECT_EQ(kg::moveaxis(x, 0, 2).dims(), (kg::shape{3, 4, 2, 5}));
  EXPECT_EQ(kg::moveaxis(x, -1, 0).dims(), (kg::shape{5, 2, 3, 4}));
  EXPECT_EQ(kg::moveaxis(x, 1, 1).dims(), x.dims());
  expect_values(kg::moveaxis(tensor{{1, 2, 3}, {4, 5, 6}}, 0, 1), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_refused("moveaxis", [&] { return kg::moveaxis(x, 4, 0); }, {"axis 4"});
}

TEST(moveaxis, moves_several_axes_at_once) {
  const tensor x = kg::zeros({2, 3, 4, 5});
  EXPECT_EQ(kg::moveaxis(x, {0, 1}, {-1, -2}).dims(), (kg::shape{4, 5, 3, 2}));
  EXPECT_EQ(kg::moveaxis(x, {3, 1}, {0, 1}).dims(), (kg::shape{5, 3, 2, 4}));
  EXPECT_EQ(kg::moveaxis(x, kg::all_axes, {3, 2, 1, 0}).dims(), (kg::shape{5, 4, 3, 2}));
  EXPECT_TRUE(kg::moveaxis(x, {}, {}).shares_with(x)) << "nothing moves";
  expect_refused("moveaxis", [&] { return kg::moveaxis(x, {0, 1}, {2}); }, {"2 axes and 1 places"});
  expect_refused("moveaxis", [&] { return kg::moveaxis(x, {0, -4}, {1, 2}); }, {"axis 0 twice"});
  expect_refused("moveaxis", [&] { return kg::moveaxis(x, {0, 1}, {2, 2}); }, {"axis 2 twice"});
}

TEST(expand_dims, adds_several_axes_at_their_places_in_the_result) {
  const tensor x({1, 2, 3});
  expect_values(kg::expand_dims(x, {0, 2}), {1, 3, 1}, {1, 2, 3});
  EXPECT_EQ(kg::expand_dims(x, {-1, 0}).dims(), (kg::shape{1, 3, 1}));
  EXPECT_TRUE(kg::expand_dims(x, {0, 2}).shares_with(x));
  expect_refused("expand_dims", [&] { return kg::expand_dims(x, {0, 3}); }, {"axis 3"});
  expect_refused("expand_dims", [&] { return kg::expand_dims(x, {1, -2}); }, {"axis 1 twice"});
  expect_refused("expand_dims", [&] { return kg::expand_dims(x, {0, 1, 2, 3, 4, 5, 6, 7}); }, {"8 new axes"});
}

TEST(eye, has_1_on_the_diagonal_for_every_dtype_and_batch) {
  for (int i = 0; i < kg::dtype_count; ++i) {
    const auto type = static_cast<kg::dtype>(i);
    if (kg::kind_of(type) >= kg::dtype_kind::complex) continue;
    SCOPED_TRACE(name_of(type));
    const tensor y = kg::eye(2, 3, 0, type);
    EXPECT_EQ(y.type(), type);
    expect_values(y, {2, 3}, {1, 0, 0, 0, 1, 0});
  }
  expect_values(kg::eye(3, 2), {3, 2}, {1, 0, 0, 1, 0, 0});
  expect_values(kg::eye(2, {}, 0, kg::dtype::float32, {2, 1}), {2, 1, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  expect_values(kg::real(kg::eye(2, {}, 0, kg::dtype::complex64)), {2, 2}, {1, 0, 0, 1});
  expect_values(kg::eye(1), {1, 1}, {1});
  EXPECT_EQ(kg::eye(0).dims(), (kg::shape{0, 0}));
  EXPECT_EQ(kg::eye(2, 0).dims(), (kg::shape{2, 0}));
  EXPECT_EQ(kg::eye(2, 2, 0, kg::dtype::float32, {0}).dims(), (kg::shape{0, 2, 2}));
  expect_values(kg::eye(2, 3, 1), {2, 3}, {0, 1, 0, 0, 0, 1});
  for (const std::int64_t rows : {1, 2, 5, 7})
    for (const std::int64_t columns : {1, 3, 7})
      for (std::int64_t offset = -9; offset <= 9; ++offset) {
        kgtest::doubles wanted;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) wanted.push_back(j - i == offset);
        expect_values(kg::eye(rows, columns, offset), {rows, columns}, wanted);
      }
  expect_values(kg::eye(3, 2, -1), {3, 2}, {0, 0, 1, 0, 0, 1});
  for (const std::int64_t far : {std::int64_t{3}, std::int64_t{-2}, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()})
    expect_values(kg::eye(2, 3, far), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_refused("eye", [] { return kg::eye(2, -1); }, {"2 rows and -1 columns"});
}

TEST(meshgrid, gives_the_coordinates_of_every_point) {
  const tensor x({1, 2, 3}), y({10, 20});
  const kg::tensor_list xy = kg::meshgrid({x, y});
  expect_values(xy[0], {2, 3}, {1, 2, 3, 1, 2, 3});
  expect_values(xy[1], {2, 3}, {10, 10, 10, 20, 20, 20});
  const kg::tensor_list ij = kg::meshgrid({x, y}, kg::indexing::ij);
  expect_values(ij[0], {3, 2}, {1, 1, 2, 2, 3, 3});
  expect_values(ij[1], {3, 2}, {10, 20, 10, 20, 10, 20});
  const kg::tensor_list three = kg::meshgrid({x, y, tensor(5)});
  for (const tensor& part : three) EXPECT_EQ(part.dims(), (kg::shape{2, 3, 1}));
  EXPECT_EQ(kg::meshgrid({x})[0].dims(), kg::shape{3});
  EXPECT_TRUE(kg::meshgrid(std::vector<tensor>{}).empty());
  expect_refused("meshgrid", [&] { return kg::meshgrid({x, kg::zeros({2, 2})}); }, {"vectors[1]", "rank 0 or 1"});
  expect_refused("meshgrid", [&] { return kg::meshgrid(std::vector<tensor>(9, x)); }, {"9 vectors"});
}

TEST(composed_arrays, are_differentiable) {
  check_gradients("meshgrid",
                  [](std::span<const tensor> in) {
                    const kg::tensor_list grid = kg::meshgrid(in);
                    return kg::sin(grid[0]) * grid[1];
                  },
                  {uniform({3}, 1), uniform({2}, 2)});
  check_gradients("squeeze and moveaxis",
                  [](std::span<const tensor> in) {
                    return kg::square(kg::moveaxis(kg::squeeze(in[0]), 0, 1)) + kg::reshape(kg::flatten(in[0]), {3, 2});
                  },
                  {uniform({1, 2, 3, 1}, 3)});
  check_gradients("moveaxis and expand_dims of several axes",
                  [](std::span<const tensor> in) {
                    return kg::square(kg::moveaxis(kg::expand_dims(in[0], {0, 3}), {1, 2}, {-1, 0}));
                  },
                  {uniform({2, 3}, 4)});
}

}  // namespace
