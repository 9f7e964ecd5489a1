// SPDX-License-Identifier: Apache-2.0
// Products, norms, bases and decompositions of vectors and matrices.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(dot, is_the_product_of_vectors_and_matrices_of_every_pairing) {
  const tensor v({1.0, 2.0}), w({3.0, 5.0}), m({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
  expect_values(kg::dot(v, w), {}, {13});
  expect_values(kg::dot(v, m), {3}, {9, 12, 15});
  expect_values(kg::dot(kg::transpose(m), v), {3}, {9, 12, 15});
  expect_values(kg::dot(kg::transpose(m), m), {3, 3}, {17, 22, 27, 22, 29, 36, 27, 36, 45});
  expect_values(kg::dot(kg::zeros({0}), kg::zeros({0})), {}, {0});
}

TEST(dot, refuses_other_ranks_and_inner_sizes) {
  const tensor v({1.0, 2.0});
  expect_refused("dot", [&] { return kg::dot(kg::zeros({2, 2, 2}), v); }, {"operand t1", "rank 1 or 2"});
  expect_refused("dot", [&] { return kg::dot(v, tensor(1.0)); }, {"operand t2", "rank 1 or 2"});
  expect_refused("dot", [&] { return kg::dot(v, kg::zeros({3})); }, {"equal inner sizes", "[2]", "[3]"});
}

TEST(outer_product, multiplies_all_pairs) {
  expect_values(kg::outer_product(tensor({1, 2, 3}), tensor({4, 5})), {3, 2}, {4, 5, 8, 10, 12, 15});
  EXPECT_EQ(kg::outer_product(tensor({1, 2}), tensor({4})).type(), kg::dtype::int32);
  expect_refused("outer_product", [] { return kg::outer_product(tensor(1), tensor({1})); }, {"operand v1", "rank 1"});
}

TEST(outer, is_that_of_the_elements_in_their_order) {
  expect_values(kg::outer(tensor({1, 2}, {2, 1}), tensor(3)), {2, 1}, {3, 6});
}

TEST(matmul, takes_a_vector_for_a_row_or_a_column) {
  const tensor v({1.0, 2.0}), m({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3}), stack = kg::stack({m, m + 6});
  expect_values(kg::matmul(v, v), {}, {5});
  expect_values(kg::matmul(v, m), {3}, {9, 12, 15});
  expect_values(kg::matmul(m, v, true), {3}, {9, 12, 15});
  expect_values(kg::matmul(m, tensor({1.0, 0.0, 1.0})), {2}, {4, 10});
  expect_values(kg::matmul(v, stack), {2, 3}, {9, 12, 15, 27, 30, 33});
  expect_values(kg::matmul(stack, tensor({1.0, 0.0, 0.0})), {2, 2}, {1, 4, 7, 10});
  expect_values(kg::matmul(kg::zeros({0}), kg::zeros({0})), {}, {0});
  check_gradients("matmul", [](std::span<const tensor> in) { return kg::matmul(in[0], in[1]); },
                  {uniform({3}, 1), uniform({3, 2}, 2)});
  check_gradients("matmul", [](std::span<const tensor> in) { return kg::matmul(in[0], in[1]); },
                  {uniform({3}, 1), uniform({3}, 2)});
  expect_refused("matmul", [&] { return kg::matmul(v, m, true); }, {"a vector that is to be transposed"});
  expect_refused("matmul", [&] { return kg::matmul(v, tensor(1.0)); }, {"operand b of shape []"});
}

TEST(trace, adds_up_the_diagonal_and_reads_nothing_else) {
  const double nan = std::nan("");
  expect_values(kg::trace(tensor({1.0, nan, nan, nan, 5.0, nan}, {2, 3})), {}, {6});
  expect_values(kg::trace(tensor({1.0, nan, nan, 5.0, nan, nan}, {3, 2})), {}, {6});
  expect_values(kg::trace(tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2})), {2}, {5, 13});
  expect_values(kg::trace(kg::zeros({0, 3})), {}, {0});
  expect_values(kg::trace(kg::ones({1, 1})), {}, {1});
  expect_refused("trace", [] { return kg::trace(kg::zeros({3})); }, {"operand x", "rank 2 or more"});
}

TEST(diagonal, is_that_of_any_two_axes_at_any_offset) {
  const tensor x{{1, 2, 3}, {4, 5, 6}};
  expect_values(kg::diagonal(x), {2}, {1, 5});
  expect_values(kg::diagonal(x, 1), {2}, {2, 6});
  expect_values(kg::diagonal(x, 2), {1}, {3});
  expect_values(kg::diagonal(x, -1), {1}, {4});
  for (const std::int64_t far : {std::int64_t{3}, std::int64_t{-2}, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()})
    expect_values(kg::diagonal(x, far), {0}, {});
  const tensor stack = kg::reshape(kg::arange(12), {2, 2, 3});
  expect_values(kg::diagonal(stack), {3, 2}, {0, 9, 1, 10, 2, 11});
  expect_values(kg::diagonal(stack, 0, -2, -1), {2, 2}, {0, 4, 6, 10});
  expect_values(kg::diagonal(stack, 0, 2, 0), {2, 2}, {0, 7, 3, 10});
  EXPECT_EQ(kg::diagonal(kg::zeros({0, 3})).dims(), kg::shape{0});
  EXPECT_EQ(kg::diagonal(kg::zeros({0, 2, 3}), 0, 1, 2).dims(), (kg::shape{0, 2}));
  const tensor large = kg::ones({300, 300});
  kg::reset_peak_memory();
  const std::int64_t before = kg::memory().peak_bytes;
  EXPECT_EQ(kg::sum(kg::diagonal(large)).item(), 300);
  EXPECT_LT(kg::memory().peak_bytes - before, 300 * 300) << "the matrix was copied";
  expect_refused("diagonal", [&] { return kg::diagonal(x, 0, 1, -1); }, {"axis 1 for rows and columns"});
  expect_refused("diagonal", [] { return kg::diagonal(kg::zeros({3})); }, {"operand x", "rank 2 or more"});
}

TEST(triangles, keep_what_lies_on_their_side_of_a_diagonal) {
  const tensor x{{1, 2, 3}, {4, 5, 6}};
  expect_values(kg::tril(x), {2, 3}, {1, 0, 0, 4, 5, 0});
  expect_values(kg::tril(x, 1), {2, 3}, {1, 2, 0, 4, 5, 6});
  expect_values(kg::tril(x, -1), {2, 3}, {0, 0, 0, 4, 0, 0});
  expect_values(kg::triu(x), {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_values(kg::triu(x, 1), {2, 3}, {0, 2, 3, 0, 0, 6});
  expect_values(kg::triu(x, -1), {2, 3}, {1, 2, 3, 4, 5, 6});
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  for (const auto& [lower, upper] :
       {std::pair(kg::tril(x, most), kg::tril(x, least)), std::pair(kg::triu(x, least), kg::triu(x, most))}) {
    EXPECT_EQ(lower.to_doubles(), x.to_doubles());
    EXPECT_EQ(upper.to_doubles(), std::vector<double>(6, 0));
  }
  EXPECT_EQ(kg::tril(tensor{{true, true}, {true, true}}).to_doubles(), (std::vector<double>{1, 0, 1, 1}));
  const double nan = std::nan("");
  expect_values(kg::triu(tensor{{1.0, 2.0}, {nan, 3.0}}), {2, 2}, {1, 2, 0, 3});
  expect_values(kg::tril(kg::ones({2, 2, 2})), {2, 2, 2}, {1, 0, 1, 1, 1, 0, 1, 1});
  for (const kg::dtype type : {kg::dtype::uint8, kg::dtype::float16, kg::dtype::complex64, kg::dtype::complex128}) {
    EXPECT_EQ(kg::triu(kg::cast(x, type)).type(), type);
    expect_values(kg::cast(kg::triu(kg::cast(x, type)), kg::dtype::float64), {2, 3}, {1, 2, 3, 0, 5, 6});
  }
  EXPECT_EQ(kg::tril(kg::zeros({0, 3})).dims(), (kg::shape{0, 3}));
  expect_refused("tril", [] { return kg::tril(kg::zeros({3})); }, {"operand x", "rank 2 or more"});
  expect_refused("triu", [] { return kg::triu(tensor{{"a"}}); }, {"operand x"});
}

// ------------------------------------------------------------------------------------------ norms

TEST(norm, of_vectors_has_every_order) {
  const tensor x({1.0, -2.0, 2.0, -4.0});
  const struct {
    kg::norm_order order;
    double wanted;
  } cases[] = {{"euclidean", 5},
               {2, 5},
               {1, 9},
               {inf, 4},
               {-inf, 1},
               {0, 4},
               {3, std::cbrt(1 + 8 + 8 + 64)},
               {0.5, std::pow(3 + 2 * std::sqrt(2), 2)},
               {-1, 1 / (1 + 0.5 + 0.5 + 0.25)}};
  for (const auto& [order, wanted] : cases) {
    expect_values(kg::norm(x, order), {}, {wanted});
    expect_values(kg::norm(kg::reshape(x, {2, 2}), order), {}, {wanted});
    expect_values(kg::norm(kg::reshape(x, {2, 2}), order, kg::all_axes, true), {1, 1}, {wanted});
    expect_values(kg::norm(kg::reshape(x, {4, 1}), order, 0), {1}, {wanted});
    expect_values(kg::norm(kg::reshape(x, {4, 1}), order, {-2}, true), {1, 1}, {wanted});
  }
  expect_values(kg::norm(tensor(-3.0), 1), {}, {3});
  // Powers that overflow, and the zero vector.
  expect_values(kg::norm(tensor({3e200, 3e200}), 3) / 1e200, {}, {3 * std::cbrt(2)});
  expect_values(kg::norm(kg::zeros({2}), 3), {}, {0});
  check_gradients("norm", [](auto in) { return kg::norm(in[0], 3); }, {x});
  EXPECT_EQ(kg::norm(tensor({3, -4})).item<float>(), 5);
  EXPECT_EQ(kg::norm(tensor({3, -4}), 1).item<double>(), 7);
}

TEST(norm, of_matrices_has_every_order_whatever_the_order_of_the_axes) {
  const tensor x({1.0, -2.0, 3.0, -4.0, 5.0, -6.0}, {2, 3});
  const struct {
    kg::norm_order order;
    double wanted, transposed;
  } cases[] = {{1, 9, 15},
               {inf, 15, 9},
               {-inf, 6, 5},
               {"fro", std::sqrt(91), std::sqrt(91)},
               {"euclidean", std::sqrt(91), std::sqrt(91)}};
  for (const auto& [order, wanted, transposed] : cases) {
    expect_values(kg::norm(x, order, {0, 1}), {}, {wanted});
    expect_values(kg::norm(x, order, {1, 0}), {}, {transposed});
    expect_values(kg::norm(x, order, {-2, -1}, true), {1, 1}, {wanted});
    expect_values(kg::norm(kg::stack({x, x * 2}, 1), order, {0, 2}), {2}, {wanted, 2 * wanted});
  }
}

TEST(norm, of_complex_numbers_takes_their_absolute_values) {
  const tensor z = kg::complex(tensor({3.f, 0.f}), tensor({4.f, 12.f}));
  expect_values(kg::norm(z), {}, {13});
  expect_values(kg::norm(z, 1), {}, {17});
}

TEST(norm, refuses_other_orders_and_axes) {
  const tensor x = kg::ones({2, 3, 4});
  expect_refused("norm", [&] { return kg::norm(x, std::nan("")); }, {"order nan", "vectors"});
  expect_refused("norm", [&] { return kg::norm(x, "fro"); }, {"order \"fro\"", "vectors"});
  expect_refused("norm", [&] { return kg::norm(x, 2, {0, 1}); }, {"order 2", "matrices"});
  expect_refused("norm", [&] { return kg::norm(x, "max", {0, 1}); }, {"order \"max\""});
  expect_refused("norm", [&] { return kg::norm(x, 1, {0, 1, 2}); }, {"3 axes"});
  expect_refused("norm", [&] { return kg::norm(x, 1, {}); }, {"0 axes"});
  expect_refused("norm", [&] { return kg::norm(x, 1, 3); }, {"axis 3"});
  expect_refused("euclidean_norm", [&] { return kg::euclidean_norm(x, 3); }, {"axis 3"});
}

TEST(euclidean_norm, is_the_root_of_the_squares) {
  expect_values(kg::euclidean_norm(tensor({3.0, 4.0, 6.0, 8.0}, {2, 2}), 1), {2}, {5, 10});
  expect_values(kg::euclidean_norm(tensor({3.0, 4.0, 6.0, 8.0}, {2, 2}), {0, 1}, true), {1, 1}, {std::sqrt(125)});
}

// ------------------------------------------------------------------------------------------ counts

TEST(confusion_matrix, counts_labels_by_row_and_predictions_by_column) {
  const tensor labels({0, 1, 2, 1, 0}), predictions({0, 2, 2, 1, 0});
  const tensor y = kg::confusion_matrix(labels, predictions, 3);
  EXPECT_EQ(y.type(), kg::dtype::int32);
  expect_values(y, {3, 3}, {2, 0, 0, 0, 1, 1, 0, 0, 1});
  expect_values(kg::confusion_matrix(kg::cast(labels, kg::dtype::float32), predictions, 3), {3, 3},
                {2, 0, 0, 0, 1, 1, 0, 0, 1});
  expect_values(kg::confusion_matrix(tensor({0, -1, 0, 5}), tensor({1, 0, 2, 0}), 2), {2, 2}, {0, 1, 0, 0});
  expect_values(kg::confusion_matrix(kg::zeros({0}), kg::zeros({0}), 1), {1, 1}, {0});
}

TEST(confusion_matrix, refuses_other_ranks_lengths_and_numbers_of_classes) {
  const tensor two({0, 1}), three({0, 1, 2}), matrix = kg::zeros({2, 2});
  const auto call = [](const tensor& a, const tensor& b, std::int64_t n) {
    return [=] { return kg::confusion_matrix(a, b, n); };
  };
  expect_refused("confusion_matrix", call(matrix, two, 2), {"operand labels", "rank 1"});
  expect_refused("confusion_matrix", call(two, tensor(1), 2), {"operand predictions", "rank 1"});
  expect_refused("confusion_matrix", call(two, three, 2), {"one shape"});
  expect_refused("confusion_matrix", call(two, two, 0), {"0 classes"});
  expect_refused("confusion_matrix", call(two, two, std::int64_t{1} << 40), {"classes"});
}

// ------------------------------------------------------------------------------------------ bases

double furthest(const tensor& a, const tensor& b) { return kg::max(kg::abs(a - b)).item(); }

TEST(gram_schmidt, makes_an_orthonormal_basis_whose_first_vectors_span_the_same) {
  const tensor x = uniform({3, 5}, 1), y = kg::gram_schmidt(x);
  EXPECT_LT(furthest(kg::matmul(y, y, false, true), kg::eye(3, {}, 0, kg::dtype::float64)), 1e-14);
  // x is a lower triangle times the basis.
  EXPECT_LT(furthest(kg::matmul(kg::band_part(kg::matmul(x, y, false, true), -1, 0), y), x), 1e-14);
  const kg::tensor_list rows = kg::unstack(x);
  const kg::tensor_list list = kg::gram_schmidt(std::span<const tensor>(rows.begin(), rows.end()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(list[i].to_doubles(), kg::unstack(y)[i].to_doubles());
}

TEST(gram_schmidt, refuses_no_vectors_different_lengths_integers_and_too_many) {
  const tensor two = kg::ones({2}), three = kg::ones({3});
  expect_refused("gram_schmidt", [&] { return kg::gram_schmidt({three, three, two}); }, {"xs[2]", "[2]", "one shape"});
  expect_refused("gram_schmidt", [&] { return kg::gram_schmidt({two, two, two}); }, {"3 vectors of 2 elements"});
  expect_refused("gram_schmidt", [] { return kg::gram_schmidt(std::vector<tensor>{}); }, {"no vectors"});
  expect_refused("gram_schmidt", [] { return kg::gram_schmidt(kg::zeros({0, 2})); }, {"no vectors"});
  expect_refused("gram_schmidt", [] { return kg::gram_schmidt(tensor{{1, 2}, {3, 4}}); }, {"int32"});
  expect_refused("gram_schmidt", [&] { return kg::gram_schmidt(two); }, {"operand xs", "rank 2"});
}

// ------------------------------------------------------------------------------------------ decompositions

TEST(qr, gives_orthonormal_columns_and_a_triangle_for_every_form) {
  for (const kg::shape& dims : {kg::shape{4, 4}, {5, 3}, {3, 5}, {1, 1}, {1, 4}, {4, 1}, {2, 3, 4, 2}})
    for (bool full : {false, true}) {
      SCOPED_TRACE(to_string(dims) + (full ? " full" : ""));
      const tensor x = uniform(dims, 1);
      const auto [q, r] = kg::qr(x, full);
      const std::int64_t m = dims[dims.rank() - 2], k = full ? m : std::min(m, dims[dims.rank() - 1]);
      ASSERT_EQ(q.dims()[dims.rank() - 1], k);
      ASSERT_EQ(r.dims()[dims.rank() - 2], k);
      EXPECT_LT(furthest(kg::matmul(q, r), x), 1e-14);
      EXPECT_LT(furthest(kg::matmul(q, q, true), kg::eye(k, {}, 0, kg::dtype::float64)), 1e-14);
      EXPECT_EQ(furthest(kg::band_part(r, 0, -1), r), 0);
    }
}

TEST(qr, takes_the_signs_of_the_recorded_reference) {
  const auto [q, r] = kg::qr(tensor({1.f, 3.f, -2.f, -4.f}, {2, 2}));
  expect_values(q, {2, 2}, {-0.4472, -0.8944, 0.8944, -0.4472}, 1e-4);
  expect_values(r, {2, 2}, {-2.2361, -4.9193, 0, -0.8944}, 1e-4);
}

TEST(qr, of_columns_of_zeros_and_of_nothing_is_finite) {
  const auto [q, r] = kg::qr(tensor({0.0, 1.0, 0.0, 2.0, 0.0, 2.0}, {3, 2}));
  EXPECT_LT(furthest(kg::matmul(q, r), tensor({0.0, 1.0, 0.0, 2.0, 0.0, 2.0}, {3, 2})), 1e-15);
  EXPECT_EQ(kg::qr(kg::zeros({3, 0})).r.dims(), (kg::shape{0, 0}));
  EXPECT_EQ(kg::qr(kg::zeros({0, 3})).r.dims(), (kg::shape{0, 3}));
  EXPECT_EQ(kg::qr(kg::zeros({0, 2, 2})).q.dims(), (kg::shape{0, 2, 2}));
}

TEST(qr, refuses_vectors_and_integers) {
  expect_refused("qr", [] { return kg::qr(kg::zeros({3})).q; }, {"operand x", "rank 2 or more"});
  expect_refused("qr", [] { return kg::qr(tensor(1.0)).q; }, {"operand x", "rank 2 or more"});
  expect_refused("qr", [] { return kg::qr(tensor{{1, 2}, {3, 4}}).q; }, {"int32"});
}

TEST(composed_matrices, are_differentiable) {
  const tensor a = uniform({3, 2}, 1), b = uniform({3}, 2), square = uniform({3, 3}, 3);
  check_gradients("dot", [](auto in) { return kg::sin(kg::dot(in[1], in[0])); }, {a, b});
  check_gradients("outer_product", [](auto in) { return kg::sin(kg::outer_product(in[0], in[0])); }, {b});
  check_gradients("trace", [](auto in) { return kg::square(kg::trace(in[0])); }, {square});
  check_gradients("diagonal", [](auto in) { return kg::square(kg::diagonal(in[0], 1)); }, {square});
  check_gradients("tril", [](auto in) { return kg::sin(kg::tril(in[0], -1)); }, {square});
  check_gradients("triu", [](auto in) { return kg::sin(kg::triu(in[0])); }, {square});
  // Away from zeros and from equal sums, where norms have kinks.
  const tensor v({0.5, -1.5, 2.25}), m({1.0, -2.0, 3.5, -4.25, 5.0, -6.5}, {3, 2});
  for (const kg::norm_order& order : {kg::norm_order("euclidean"), kg::norm_order(1), kg::norm_order(inf)}) {
    check_gradients("norm", [&](auto in) { return kg::square(kg::norm(in[0], order)); }, {v});
    check_gradients("norm", [&](auto in) { return kg::square(kg::norm(in[0], order, {0, 1})); }, {m});
  }
  check_gradients("gram_schmidt", [](auto in) { return kg::sin(kg::gram_schmidt(in[0])); }, {uniform({2, 3}, 5)});
  check_gradients("q of qr", [](auto in) { return kg::sin(kg::qr(in[0]).q); }, {a});
  check_gradients("r of qr", [](auto in) { return kg::sin(kg::qr(in[0]).r); }, {square});
}

TEST(norm, has_a_gradient_of_0_for_elements_that_are_0) {
  for (const double order : {3., 1.5, 0.5, -0.5, -1., -2.}) {
    const auto f = [&](const tensor& x) { return kg::norm(x, order); };
    EXPECT_EQ(kg::grad(f)(kg::zeros({3})).to_doubles(), (doubles{0, 0, 0})) << order;
    const doubles some = kg::grad(f)(tensor({2., 0., 0.})).to_doubles();
    EXPECT_EQ(some, (doubles{order > 0 ? 1. : 0., 0, 0})) << order;
  }
}

}  // namespace
