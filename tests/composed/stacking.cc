// SPDX-License-Identifier: Apache-2.0
// Joined tensors, and products of tensors against loops over their elements.
#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

const tensor a({1, 2, 3, 4}, {2, 2}), b({5, 6, 7, 8}, {2, 2}), v({1, 2}), w({3, 4});

TEST(stacking, joins_lists_and_matrices) {
  expect_values(kg::vstack({v, w}), {2, 2}, {1, 2, 3, 4});
  expect_values(kg::vstack({a, w}), {3, 2}, {1, 2, 3, 4, 3, 4});
  expect_values(kg::hstack({v, tensor({9})}), {3}, {1, 2, 9});
  expect_values(kg::hstack({a, b}), {2, 4}, {1, 2, 5, 6, 3, 4, 7, 8});
  expect_values(kg::hstack({tensor(1), tensor(2)}), {2}, {1, 2});
  expect_values(kg::dstack({v, w}), {1, 2, 2}, {1, 3, 2, 4});
  expect_values(kg::dstack({a, b}), {2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  expect_values(kg::column_stack({v, w}), {2, 2}, {1, 3, 2, 4});
  expect_values(kg::column_stack({a, v}), {2, 3}, {1, 2, 1, 3, 4, 2});
  expect_values(kg::concatenate({v, w}), {4}, {1, 2, 3, 4});
  expect_values(kg::concatenate({a, b}, -1), {2, 4}, {1, 2, 5, 6, 3, 4, 7, 8});
  check_gradients("dstack", [](auto in) { return kg::square(kg::dstack({in[0], in[1]})); },
                  {uniform({2, 3}, 1), uniform({2, 3}, 2)});
}

TEST(stacking, refuses_tensors_that_do_not_fit) {
  expect_refused("vstack", [] { return kg::vstack({v, tensor({1, 2, 3})}); }, {"tensors[1]", "axis 0"});
  expect_refused("hstack", [] { return kg::hstack({a, v}); }, {"tensors[1]", "one rank"});
  expect_refused("dstack", [] { return kg::dstack(std::span<const tensor>{}); }, {"no tensors"});
  expect_refused("concatenate", [] { return kg::concatenate({tensor(1), tensor(2)}); }, {"tensors[0]", "rank 1"});
}

TEST(tensordot, sums_products_over_pairs_of_axes) {
  const tensor p = uniform({2, 3, 4}, 1), q = uniform({4, 3, 5}, 2);
  const doubles x = p.to_doubles(), y = q.to_doubles();
  doubles wanted(10);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t l = 0; l < 4; ++l) wanted[5 * i + j] += x[12 * i + 4 * k + l] * y[15 * l + 5 * k + j];
  expect_values(kg::tensordot(p, q, {1, 2}, {1, 0}), {2, 5}, wanted);
  expect_values(kg::tensordot(p, q, {-1, 1}, {0, 1}), {2, 5}, wanted);
  EXPECT_EQ(kg::tensordot(p, q, 1).dims(), (kg::shape{2, 3, 3, 5}));
  // Axes that are first, last, and neither, on both sides.
  const tensor turned = kg::transpose(p, {2, 1, 0}), turned_q = kg::transpose(q, {2, 1, 0});
  expect_values(kg::tensordot(turned, q, {1, 0}, {1, 0}), {2, 5}, wanted);
  expect_values(kg::tensordot(turned, q, {0, 1}, {0, 1}), {2, 5}, wanted);
  expect_values(kg::tensordot(p, turned_q, {2, 1}, {2, 1}), {2, 5}, wanted);
  expect_values(kg::tensordot(kg::transpose(p, {1, 0, 2}), q, {0, 2}, {1, 0}), {2, 5}, wanted);
  EXPECT_EQ(kg::tensordot(kg::zeros({0, 3}), kg::zeros({4, 3}), {1}, {1}).dims(), (kg::shape{0, 4}));
  const tensor x64 = kg::cast(a, kg::dtype::float64), y64 = kg::cast(b, kg::dtype::float64);
  expect_values(kg::tensordot(x64, y64), {}, {70});
  expect_values(kg::tensordot(tensor({1., 2.}), tensor({3., 4.}), 0), {2, 2}, {3, 4, 6, 8});
  check_gradients("tensordot", [](auto in) { return kg::tensordot(in[0], in[1], {1, 2}, {1, 0}); }, {p, q});
  expect_refused("tensordot", [&] { return kg::tensordot(p, q, 2); }, {"axis 1", "equal sizes"});
  expect_refused("tensordot", [&] { return kg::tensordot(p, q, {0, 0}, {0, 1}); }, {"twice"});
}

TEST(kron, multiplies_each_element_by_all) {
  doubles wanted;
  const doubles x = a.to_doubles(), y = b.to_doubles();
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) wanted.push_back(x[i / 2 * 2 + j / 2] * y[i % 2 * 2 + j % 2]);
  expect_values(kg::kron(a, b), {4, 4}, wanted);
  expect_values(kg::kron(tensor({1, 10}), a), {2, 4}, {1, 2, 10, 20, 3, 4, 30, 40});
  expect_values(kg::kron(tensor(3), v), {2}, {3, 6});
  check_gradients("kron", [](auto in) { return kg::kron(in[0], in[1]); }, {uniform({2, 2}, 1), uniform({1, 3}, 2)});
}

TEST(cross, is_orthogonal_and_broadcasts) {
  expect_values(kg::cross(tensor({1, 2, 3}), tensor({4, 5, 6})), {3}, {-3, 6, -3});
  expect_values(kg::cross(kg::eye(3), tensor({1.f, 0.f, 0.f})), {3, 3}, {0, 0, 0, 0, 0, -1, 0, 1, 0});
  const tensor p = uniform({3, 4}, 1), q = uniform({3, 4}, 2);
  expect_values(kg::sum(kg::cross(p, q, 0) * q, 0), {4}, {0, 0, 0, 0});
  check_gradients("cross", [](auto in) { return kg::cross(in[0], in[1], 0); }, {p, q});
  expect_refused("cross", [] { return kg::cross(v, w); }, {"3 elements"});
}

}  // namespace
