// SPDX-License-Identifier: Apache-2.0
// Solutions and eigenvalues of operators without a matrix.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "tests/linalg/support.h"

namespace {

using namespace kgtest;
using kg::dtype;

// x -> a x, for an operand a.
constexpr auto by_matrix = [](const tensor& x, const tensor& a) { return kg::matmul(a, x); };
// Minus the Laplacian on a grid whose rim is 0.
constexpr auto laplacian = [](const tensor& x) {
  const tensor wide = kg::pad(x, {{1, 1}, {1, 1}});
  const std::int64_t n = x.dims()[0], m = x.dims()[1];
  const auto moved = [&](std::int64_t i, std::int64_t j) { return wide(kg::range(i, i + n), kg::range(j, j + m)); };
  return x * 4 - moved(0, 1) - moved(2, 1) - moved(1, 0) - moved(1, 2);
};
// The same with a conductivity for each element, which makes the operator depend on a parameter.
constexpr auto reaction = [](const tensor& x, const tensor& c) { return laplacian(x) + kg::square(c) * x; };

double residual(const tensor& a, const tensor& x, const tensor& b) {
  return kg::norm(product(a, x) - kg::cast(b, dtype::float64)).item() / kg::norm(b).item();
}
bool same_bits(const tensor& a, const tensor& b) {
  return a.dims() == b.dims() && a.type() == b.type() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}
tensor with_eigenvalues(const doubles& values, dtype type = dtype::float64) {
  const auto n = static_cast<std::int64_t>(values.size());
  const tensor q = kg::qr(uniform({n, n}, 7)).q;
  return kg::cast(mirrored(kg::matmul(q * kg::expand_dims(tensor(values), 0), q, false, true)), type);
}

// ------------------------------------------------------------------------------------------ solutions

TEST(cg, solves_what_solve_solves) {
  for (dtype type : both_floats)
    for (std::int64_t n : {1, 2, 7, 40, 200}) {
      const tensor a = definite({n, n}, 1, type), b = uniform({n}, 2, type) * 1e3;
      const double bound = type == dtype::float64 ? 1e-10 : 2e-5;
      const tensor x = la::cg(by_matrix)(b, a);
      EXPECT_EQ(x.type(), type);
      EXPECT_LE(residual(a, x, b), bound) << n;
      EXPECT_LE(residual(a, la::gmres(by_matrix)(b, a), b), bound) << n;
      if (type == dtype::float64) expect_near(x, la::solve(a, b), 1e-5);
    }
}

TEST(gmres, solves_what_solve_solves) {
  for (dtype type : both_floats)
    for (std::int64_t n : {1, 2, 7, 40, 200})
      for (std::int64_t restart : {5, 60}) {
        const tensor a = uniform({n, n}, 1, type) + kg::eye(n, n, 0, type) * (n / 4.0 + 2), b = uniform({n}, 2, type);
        const tensor x = la::gmres(by_matrix, {.restart = restart})(b, a);
        EXPECT_EQ(x.type(), type);
        EXPECT_LE(residual(a, x, b), type == dtype::float64 ? 1e-10 : 2e-5) << n << " " << restart;
        if (type == dtype::float64) expect_near(x, la::solve(a, b), 1e-8);
      }
}

TEST(gmres, solves_an_indefinite_system_in_as_many_products_as_rows) {
  const tensor a = with_eigenvalues({-3, -1, 0.5, 2, 5}), b = uniform({5});
  expect_near(la::gmres(by_matrix, {.products = 5})(b, a), la::solve(a, b), 1e-9);
  const tensor cycle{{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}};
  expect_near(la::gmres(by_matrix)(tensor({1.0, 0.0, 0.0}), cycle), tensor({0.0, 1.0, 0.0}), 1e-12);
}

TEST(solutions, have_any_shape_and_need_no_matrix) {
  const tensor b = uniform({20, 30});
  const tensor x = la::cg(laplacian)(b);
  EXPECT_EQ(x.dims(), b.dims());
  EXPECT_LE(kg::norm(laplacian(x) - b).item(), 1e-10 * kg::norm(b).item());
  expect_near(la::gmres(laplacian)(b), x, 1e-7);
  expect_near(la::cg([](const tensor& z) { return z * 4; })(tensor(8.0)), tensor(2.0));
  const tensor stiff = la::cg(laplacian, {.rtol = 1e-3})(b);
  EXPECT_GT(kg::norm(laplacian(stiff) - b).item(), 1e-8);
}

TEST(solutions, of_huge_and_tiny_right_sides_stay_in_range) {
  const tensor a = kg::cast(definite({6, 6}), dtype::float32), b = uniform({6}, 2, dtype::float32);
  const tensor x = la::solve(a, b);
  for (double scale : {1e-30, 1e30}) {
    expect_near(la::cg(by_matrix)(b * scale, a) / scale, x, 1e-3);
    expect_near(la::gmres(by_matrix)(b * scale, a) / scale, x, 1e-3);
  }
}

TEST(preconditioners, make_graded_systems_converge) {
  const std::int64_t n = 100;
  const tensor scales = kg::exp(kg::linspace(0, 14, n, dtype::float64)), rest = definite({n, n}) * 0.01;
  const tensor a = kg::diag(scales) + rest, b = uniform({n}, 3);
  const la::preconditioner_function divide = [&](const tensor& x) { return x / scales; };
  constexpr int products = 60;
  expect_refused([&] { return la::cg(by_matrix, {.products = products})(b, a); }, {"[kg::linalg::cg]", "60 products"});
  expect_refused([&] { return la::gmres(by_matrix, {.products = products})(b, a); }, {"[kg::linalg::gmres]", "|b|"});
  const auto by_cg = la::cg(by_matrix, {.products = products, .preconditioner = divide});
  const auto by_gmres = la::gmres(by_matrix, {.products = products, .preconditioner = divide});
  EXPECT_LE(residual(a, by_cg(b, a), b), 1e-10);
  EXPECT_LE(residual(a, by_gmres(b, a), b), 1e-10);
  // Gradients are preconditioned too.
  const auto wanted = kg::grads([](const tensor& m, const tensor& r) { return kg::sum(la::solve(m, r)); })(a, b);
  const auto found = kg::grads([&](const tensor& m, const tensor& r) { return kg::sum(by_cg(r, m)); })(a, b);
  const auto others = kg::grads([&](const tensor& m, const tensor& r) { return kg::sum(by_gmres(r, m)); })(a, b);
  for (std::size_t i = 0; i < 2; ++i) {
    expect_near(found[i], wanted[i], 1e-7);
    expect_near(others[i], wanted[i], 1e-7);
  }
}

TEST(solutions, of_zero_and_empty_right_sides_take_no_product) {
  int products = 0;
  const auto counted = [&](const tensor& x) { return ++products, x * 2; };
  for (const kg::shape& dims : {kg::shape{4}, kg::shape{0}, kg::shape{3, 0}}) {
    expect_near(la::cg(counted)(kg::zeros(dims)), kg::zeros(dims), 0);
    expect_near(la::gmres(counted)(kg::zeros(dims)), kg::zeros(dims), 0);
  }
  EXPECT_EQ(products, 0);
  const tensor g = kg::grad([&](const tensor& b) { return kg::sum(la::cg(counted)(b)); })(kg::zeros({3}));
  expect_near(g, kg::full({3}, 0.5), 1e-6);
}

TEST(solutions, of_numbers_that_are_not_finite_are_nan) {
  const tensor nan(std::vector{1.0, not_a_number}), infinite(std::vector{1.0, HUGE_VAL}), b({1.0, 2.0});
  const tensor a = kg::eye(2, 2, 0, dtype::float64) * 2;
  const auto all_nan = [](const tensor& x) { expect_values(x, doubles(2, not_a_number)); };
  for (const tensor& each : {nan, infinite}) {
    all_nan(la::cg(by_matrix)(each, a)), all_nan(la::gmres(by_matrix)(each, a));
    all_nan(la::cg(by_matrix)(b, a * each)), all_nan(la::gmres(by_matrix)(b, a * each));
    all_nan(la::cg(by_matrix, {.preconditioner = [&](const tensor& x) { return x * each; }})(b, a));
    all_nan(la::eigsh(by_matrix, {.k = 2})(each, a).eigenvalues);
    all_nan(la::eigsh(by_matrix, {.k = 2})(b, a * each).eigenvalues);
    all_nan(la::eigsh(by_matrix)(b, a * each).eigenvectors(kg::all, 0));
  }
}

TEST(gradients, of_solutions_are_those_of_solve) {
  const tensor a = definite({6, 6}), m = regular({6, 6}) + kg::eye(6, 6, 0, dtype::float64), b = uniform({6}, 2);
  const tensor weights = uniform({6}, 3);
  const auto loss = [&](const tensor& x) { return kg::sum(kg::sin(x) * weights); };
  // Conjugate gradients take A for its own transpose, so that its parameters have to keep it symmetric.
  struct way {
    bool symmetric;
    std::function<tensor(const tensor&, const tensor&)> solve;
  };
  for (const way& each :
       {way{true, la::cg(by_matrix)}, way{true, la::gmres(by_matrix)}, way{false, la::gmres(by_matrix)}}) {
    const tensor& at = each.symmetric ? a : m;
    const auto matrix_of = [&](const tensor& x) { return each.symmetric ? mirrored(x) : x; };
    const auto f = [&](const tensor& x, const tensor& r) { return loss(each.solve(r, matrix_of(x))); };
    const auto dense = [&](const tensor& x, const tensor& r) { return loss(la::solve(matrix_of(x), r)); };
    const auto found = kg::grads(f)(at, b), wanted = kg::grads(dense)(at, b);
    for (std::size_t i = 0; i < 2; ++i) expect_near(found[i], wanted[i], 1e-8);
    // Second order, in b and in a.
    const tensor u = uniform({6, 6}, 4), v = uniform({6}, 5);
    const auto slope_of = [&](const auto& g) {
      return [&](const tensor& x, const tensor& r) {
        const auto found_first = kg::grads(g)(x, r);
        return kg::sum(found_first[0] * u) + kg::sum(found_first[1] * v);
      };
    };
    const auto second = kg::grads(slope_of(f))(at, b), second_wanted = kg::grads(slope_of(dense))(at, b);
    for (std::size_t i = 0; i < 2; ++i) expect_near(second[i], second_wanted[i], 1e-7);
    expect_near(kg::jvp(f)({at, b}, {u, v}).tangent, kg::jvp(dense)({at, b}, {u, v}).tangent, 1e-8);
  }
}

TEST(gradients, of_operators_without_a_matrix_are_right) {
  const tensor b = uniform({4, 5}), c = uniform({4, 5}, 2);
  check_gradients("cg", [](std::span<const tensor> in) { return la::cg(reaction, {.rtol = 1e-13})(in[0], in[1]); },
                  {b, c});
  check_gradients(
      "gmres", [](std::span<const tensor> in) { return la::gmres(reaction, {.rtol = 1e-13})(in[0], in[1]); }, {b, c});
}

TEST(gradients, of_a_large_grid_need_no_more_than_the_solution) {
  const std::int64_t n = 100;
  const tensor b = uniform({n, n}), c = kg::full({n, n}, 0.01, dtype::float64);
  const auto solve = la::cg(reaction, {.products = 600});
  const auto [of_b, of_c] = kg::grads([&](const tensor& r, const tensor& k) { return kg::sum(solve(r, k)); })(b, c);
  // With u = A^-1 1: the gradients are u, and -u x dA/dc.
  const tensor u = solve(kg::ones({n, n}, dtype::float64), c);
  expect_near(of_b, u, 1e-5);
  expect_near(of_c, -u * solve(b, c) * c * 2, 1e-5);
}

TEST(gradients, pass_parameters_without_one_and_captured_tensors) {
  const tensor a = definite({4, 4}), b = uniform({4}, 2);
  const tensor order({3, 2, 1, 0});
  const auto permuted = [](const tensor& x, const tensor& m, const tensor& rows) {
    return kg::gather(kg::matmul(kg::gather(m, rows), kg::gather(x, rows)), rows);
  };
  const auto f = [&](const tensor& m) { return kg::sum(la::gmres(permuted)(b, m, order)); };
  EXPECT_GT(largest(kg::grad(f)(a)), 0);
  const auto captured = [&](const tensor& m) {
    return kg::sum(la::cg([&](const tensor& x) { return kg::matmul(m, x); })(b) + m(0));
  };
  expect_near(kg::grad(captured)(a)(kg::range(1, 4)), kg::zeros({3, 4}, dtype::float64), 0);
}

TEST(iterations, are_not_recorded) {
  const tensor a = definite({30, 30}), b = uniform({30}, 2);
  int products = 0;
  const auto counted = [&](const tensor& x, const tensor& m) { return ++products, kg::matmul(m, x); };
  const auto solve = la::cg(counted);
  const auto back = kg::vjp([&](const tensor& r) { return solve(r, a); })(b);
  const int forward = products;
  static_cast<void>(back.back(b));
  EXPECT_LE(products, 2 * forward + 2);
  EXPECT_GT(forward, 5);
}

// ------------------------------------------------------------------------------------------ eigenvalues

TEST(eigsh, finds_the_ends_of_the_spectrum_that_eigh_finds) {
  for (dtype type : both_floats)
    for (std::int64_t n : {1, 2, 5, 30, 150})
      for (std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(4, n)})
        for (bool smallest : {false, true}) {
          const tensor a = mirrored(uniform({n, n}, 1, type));
          const auto [values, vectors] = la::eigsh(by_matrix, {.k = k, .smallest = smallest})(kg::zeros({n}, type), a);
          const tensor all = la::eigvalsh(a);
          EXPECT_EQ(vectors.dims(), (kg::shape{n, k}));
          EXPECT_EQ(vectors.type(), type);
          const double bound = type == dtype::float64 ? 1e-10 : 1e-4;
          expect_near(values, all(smallest ? kg::range(0, k) : kg::range(n - k, n)), bound * largest(all));
          const tensor apart = product(a, vectors) - kg::cast(vectors * values, dtype::float64);
          EXPECT_LE(largest(apart), bound * largest(all) * 2) << n << " " << k;
          expect_near(kg::matmul(vectors, vectors, true), kg::eye(k, k, 0, type), bound);
        }
}

TEST(eigsh, takes_vectors_of_any_shape_and_a_start) {
  const auto [values, vectors] = la::eigsh(laplacian, {.k = 3, .smallest = true})(uniform({12, 9}));
  doubles wanted;
  for (int i = 1; i <= 12; ++i)
    for (int j = 1; j <= 9; ++j) wanted.push_back(4 - 2 * std::cos(M_PI * i / 13) - 2 * std::cos(M_PI * j / 10));
  std::ranges::sort(wanted);
  expect_values(values, doubles(wanted.begin(), wanted.begin() + 3), 1e-9);
  EXPECT_EQ(vectors.dims(), (kg::shape{12, 9, 3}));
  const tensor first = vectors(kg::ellipsis, 0);
  expect_near(laplacian(first), first * values(0), 1e-8);
}

TEST(eigsh, goes_on_after_a_space_that_is_closed) {
  const tensor one = kg::eye(9, 9, 0, dtype::float64);
  const auto [values, vectors] = la::eigsh(by_matrix, {.k = 4})(kg::zeros({9}, dtype::float64), one);
  expect_values(values, {1, 1, 1, 1});
  expect_near(kg::matmul(vectors, vectors, true), kg::eye(4, 4, 0, dtype::float64), 1e-12);
  // A start with a part in two eigenvectors alone.
  const tensor a = kg::diag(tensor({1.0, 2.0, 3.0, 4.0, 5.0})), start({1.0, 1.0, 0.0, 0.0, 0.0});
  expect_values(la::eigsh(by_matrix, {.k = 2})(start, a).eigenvalues, {4, 5});
  expect_values(la::eigsh(by_matrix, {.k = 2})(start, a * 0).eigenvalues, {0, 0});
}

TEST(eigsh, separates_clusters) {
  doubles spectrum;
  for (int i = 0; i < 60; ++i) spectrum.push_back(i / 60.0);
  spectrum.insert(spectrum.end(), {2, 2 + 1e-6, 2 + 1e-5, 3});
  const tensor a = with_eigenvalues(spectrum);
  const auto pairs = la::eigsh(by_matrix, {.k = 4})(kg::zeros({64}, dtype::float64), a);
  expect_values(pairs.eigenvalues, {2, 2 + 1e-6, 2 + 1e-5, 3}, 1e-11);
  // The values' gradients are v v^T, whatever the gap; those of eigh are as accurate as its vectors.
  const auto f = [](const tensor& m) {
    return kg::sum(la::eigsh(by_matrix, {.k = 4})(kg::zeros({64}, dtype::float64), m).eigenvalues(kg::range(2, 4)));
  };
  const auto dense = [](const tensor& m) { return kg::sum(la::eigvalsh(m)(kg::range(62, 64))); };
  expect_near(mirrored(kg::grad(f)(a)), kg::grad(dense)(a), 1e-4);
}

TEST(gradients, of_eigenpairs_are_those_of_eigh) {
  const tensor a = definite({8, 8}), weights = uniform({8}, 3), u = mirrored(uniform({8, 8}, 4));
  for (bool smallest : {false, true}) {
    const auto score = [&](const tensor& values, const tensor& vectors) {
      return kg::sum(kg::sin(values) * tensor({1.0, 2.0})) +
             kg::sum(kg::square(kg::matmul(weights, vectors)) * tensor({3.0, -1.0}));
    };
    const auto f = [&](const tensor& m) {
      const auto [w, v] =
          la::eigsh(by_matrix, {.k = 2, .smallest = smallest})(kg::zeros({8}, dtype::float64), mirrored(m));
      return score(w, v);
    };
    const auto dense = [&](const tensor& m) {
      const auto [w, v] = la::eigh(mirrored(m));
      const kg::range ends = smallest ? kg::range(0, 2) : kg::range(6, 8);
      return score(w(ends), v(kg::all, ends));
    };
    expect_near(f(a), dense(a), 1e-9);
    expect_near(kg::grad(f)(a), kg::grad(dense)(a), 1e-7);
    const auto slope_of = [&](const auto& g) { return [&](const tensor& m) { return kg::sum(kg::grad(g)(m) * u); }; };
    expect_near(kg::grad(slope_of(f))(a), kg::grad(slope_of(dense))(a), 1e-5);
    expect_near(kg::jvp(f)(a, u).tangent, kg::jvp(dense)(a, u).tangent, 1e-7);
  }
}

TEST(gradients, of_eigenvalues_alone_solve_nothing) {
  int products = 0;
  const auto counted = [&](const tensor& x, const tensor& c) { return ++products, reaction(x, c); };
  const tensor c = uniform({10, 10}), start = uniform({10, 10}, 2);
  const auto back =
      kg::vjp([&](const tensor& p) { return la::eigsh(counted, {.k = 2, .smallest = true})(start, p).eigenvalues; })(c);
  products = 0;
  const tensor g = back.back(tensor({1.0, 0.0}))[0];
  EXPECT_LE(products, 4);
  const tensor v = la::eigsh(reaction, {.k = 2, .smallest = true})(start, c).eigenvectors(kg::ellipsis, 0);
  expect_near(g, kg::square(v) * c * 2, 1e-8);
  expect_near(kg::grad([&](const tensor& s) { return kg::sum(la::eigsh(reaction)(s, c).eigenvalues); })(start),
              start * 0, 0);
}

// ------------------------------------------------------------------------------------------ all three

TEST(iterations, have_the_same_bits_for_any_number_of_threads) {
  const std::int64_t n = 300;
  const tensor b = uniform({n, n}), start = uniform({n, n}, 2);
  const auto shifted = [](const tensor& x) { return laplacian(x) + x; };
  std::vector<kg::tensor> first;
  for (int threads : {1, 2, 3}) {
    kg::set_num_threads(threads);
    const auto [values, vectors] = la::eigsh(laplacian, {.k = 2, .rtol = 1e-2})(start);
    const std::vector now{la::cg(shifted)(b), la::gmres(shifted)(b), values, vectors};
    if (first.empty()) first = now;
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(same_bits(now[i], first[i])) << threads << " " << i;
  }
  kg::set_num_threads(1);
}

TEST(iterations, stop_where_a_scope_asks) {
  const tensor a = definite({4, 4}), b = uniform({4});
  const kg::stop_scope scope(std::chrono::seconds(0));
  EXPECT_THROW(la::cg(by_matrix)(b, a), kg::stopped);
  EXPECT_THROW(la::gmres(by_matrix)(b, a), kg::stopped);
  EXPECT_THROW(la::eigsh(by_matrix)(b, a), kg::stopped);
}

TEST(iterations, reject_operands_operators_and_options_that_do_not_fit) {
  const tensor b({1.0, 2.0, 3.0}), singular = kg::diag(tensor({1.0, 0.0, 2.0}));
  const tensor indefinite = kg::diag(tensor({1.0, -1.0, 2.0})), turn{{0.0, 1.0}, {-1.0, 0.0}};
  const auto twice = [](const tensor& x) { return x * 2; };
  const auto half = [](const tensor& x) { return x(kg::range(0, 2)); };
  const auto narrow = [](const tensor& x) { return kg::cast(x, dtype::float32); };
  const auto nothing = [](const tensor&) { return tensor(); };
  const auto negative = [](const tensor& x) { return -x; };
  struct misuse {
    std::function<kg::tensor()> call;
    std::string_view says;
  };
  const misuse all[] = {
      {[&] { return la::cg(twice)(tensor()); }, "[kg::linalg::cg] got operand b, an undefined tensor; wanted a tensor"},
      {[&] { return la::gmres(by_matrix)(b, tensor()); }, "[kg::linalg::gmres] got parameter 0, an undefined tensor"},
      {[&] { return la::cg(twice)(tensor({1, 2})); },
       "[kg::linalg::cg] got operand b of dtype int32; wanted float32 or float64; cast it"},
      {[&] { return la::eigsh(twice)(kg::cast(b, dtype::float16)).eigenvalues; },
       "[kg::linalg::eigsh] got operand start of dtype float16; wanted float32 or float64"},
      {[&] { return la::cg(half)(b); },
       "[kg::linalg::cg] got an operator from float64 [3] to float64 [2]; wanted a result of the operand's shape"},
      {[&] { return la::gmres(narrow)(b); }, "got an operator from float64 [3] to float32 [3]"},
      {[&] { return la::eigsh(half)(b).eigenvalues; }, "[kg::linalg::eigsh] got an operator from float64 [3]"},
      {[&] { return la::cg(nothing)(b); }, "got an operator that returns an undefined tensor; wanted float64 [3] like"},
      {[&] { return la::cg(twice, {.preconditioner = half})(b); }, "got a preconditioner from float64 [3] to float64"},
      {[&] { return la::gmres(twice, {.preconditioner = nothing})(b); }, "to an undefined tensor"},
      {[&] { return la::cg(by_matrix)(tensor({1.0, 4.0, 1.0}), indefinite); },
       "[kg::linalg::cg] got an operator with x^T A x = -0.8125 for an x that is not 0; wanted a symmetric positive "
       "definite "
       "operator; use gmres"},
      {[&] { return la::cg(twice, {.preconditioner = negative})(b); }, "got a preconditioner M with x^T M x = -"},
      {[&] { return la::cg(laplacian, {.products = 3})(uniform({9, 9})); },
       " |b| after 3 products; wanted at most 1e-10"},
      {[&] { return la::gmres(by_matrix)(b, singular); }, "[kg::linalg::gmres] got a residual of 0."},
      {[&] { return la::gmres(by_matrix, {.restart = 1})(tensor({1.0, 2.0}), turn); },
       "got a residual of 1 |b| after 1"},
      {[&] { return la::cg(twice, {.rtol = -1})(b); }, "[kg::linalg::cg] got an rtol of -1; wanted 0 or more"},
      {[&] { return la::gmres(twice, {.rtol = not_a_number})(b); }, "[kg::linalg::gmres] got an rtol of "},
      {[&] { return la::cg(twice, {.products = 0})(b); }, "[kg::linalg::cg] got 0 products; wanted 1 or more"},
      {[&] { return la::gmres(twice, {.restart = 0})(b); }, "got a restart of 0; wanted 1 vector or more"},
      {[&] { return la::eigsh(twice, {.k = 4})(b).eigenvalues; },
       "[kg::linalg::eigsh] got k = 4 for vectors of 3 elements; wanted 1 to as many eigenvalues as elements"},
      {[&] { return la::eigsh(twice, {.k = 0})(b).eigenvalues; }, "got k = 0"},
      {[&] { return la::eigsh(twice)(kg::zeros({0})).eigenvalues; }, "got k = 1 for vectors of 0 elements"},
      {[&] { return la::eigsh(twice, {.k = 2, .basis = 2})(b).eigenvalues; }, "got a basis of 2 vectors for k = 2"},
      {[&] { return la::eigsh(laplacian, {.smallest = true, .products = 30})(uniform({40, 40})).eigenvalues; },
       " |A| after 30 products; wanted at most 1e-10 |A|; raise `products`, `basis` or `rtol`"},
      {[&] { return la::eigsh(laplacian, {.k = 9, .products = 5})(uniform({9, 9})).eigenvalues; },
       "got fewer vectors than k after 5 products"},
  };
  for (const misuse& each : all) expect_refused(each.call, {each.says});
}

TEST(gradients, of_a_vector_of_a_repeated_eigenvalue_throw) {
  const auto f = [](const tensor& m) { return kg::sum(la::eigsh(by_matrix)(tensor({1.0, 2.0, 3.0}), m).eigenvectors); };
  expect_refused([&] { return kg::grad(f)(kg::diag(tensor({1.0, 2.0, 2.0}))); },
                 {"[kg::linalg::eigsh]", "an eigenvalue that is not repeated"});
}

}  // namespace
