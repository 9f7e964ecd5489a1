// SPDX-License-Identifier: Apache-2.0
// The homogeneous functions of kerngrad.linalg, at numbers of any size.
#include <limits>

#include "tests/support/homogeneous.h"

#include "tests/linalg/support.h"

namespace {

using kg::tensor;
using kgtest::dominant;
using kgtest::homogeneous;
namespace la = kg::linalg;

constexpr double inf = std::numeric_limits<double>::infinity();

// Matrices whose pivots grow: LU factors have larger elements than the matrix.
tensor growing(const kg::shape& dims) {
  const std::int64_t n = dims[dims.rank() - 1];
  const tensor one = kg::eye(n, n, 0, kg::dtype::float64), last = one(kg::all, kg::range(n - 1, n));
  const tensor rest = kg::tril(kg::full({n, n}, -7.), -1) + one * 7;
  return kg::broadcast_to(kg::where(kg::transpose(last) == 1, kg::full({n, n}, 7.), rest), dims);
}
// The diagonals of a matrix with bandwidths of 1, in rows.
tensor bands(const kg::shape& dims) { return kgtest::numbers(dims) + tensor({0., 32., 0.}, {3, 1}); }

// The operands that do not change, of x's dtype.
tensor right_side(const tensor& x) { return kg::cast(kgtest::numbers({4, 2}) + 0.5, x.type()); }
tensor system(const tensor& x) { return kg::cast(dominant({4, 4}), x.type()); }

// A complex matrix of x's elements.
tensor turned(const tensor& x) { return kg::complex(x, kg::reverse(x, -1) * 0.5); }
// The elements of a complex result.
tensor parts(const tensor& z) { return kg::stack({kg::real(z), kg::imag(z)}); }

using x_ = const tensor&;
const kg::shape square{4, 4}, tall{4, 3}, wide{2, 3, 4}, small{8, 3, 3};  // the last one is for kernels of stacks

const homogeneous functions[] = {
    {"lu.l", "", square, [](x_ x) { return la::lu(x).l; }, dominant},
    {"lu.u", "", square, [](x_ x) { return la::lu(x).u; }, dominant},
    {"lu.l", "of tall matrices", tall, [](x_ x) { return la::lu(x).l; }, dominant},
    {"lu.u", "of wide matrices", wide, [](x_ x) { return la::lu(x).u; }, dominant},
    {"qr.q", "", tall, [](x_ x) { return la::qr(x).q; }, dominant},
    {"qr.r", "", tall, [](x_ x) { return la::qr(x).r; }, dominant},
    {"qr.q", "of wide matrices", wide, [](x_ x) { return la::qr(x).q; }, dominant},
    {"qr.r", "of wide matrices", wide, [](x_ x) { return la::qr(x).r; }, dominant},
    {"qr.r", "of complex matrices", tall, [](x_ x) { return parts(la::qr(turned(x)).r); }, dominant},
    {"eigh.eigenvalues", "", square, [](x_ x) { return la::eigh(x).eigenvalues; }, dominant},
    {"eigh.eigenvectors", "", square, [](x_ x) { return la::eigh(x).eigenvectors; }, dominant},
    {"eigh.eigenvalues", "of a stack", small, [](x_ x) { return la::eigh(x).eigenvalues; }, dominant},
    {"eigh.eigenvectors", "of a stack", small, [](x_ x) { return la::eigh(x).eigenvectors; }, dominant},
    {"eigvalsh", "", square, [](x_ x) { return la::eigvalsh(x); }, dominant},
    {"eigvalsh", "of a stack", small, [](x_ x) { return la::eigvalsh(x); }, dominant},
    {"eigvalsh", "of a complex matrix", square, [](x_ x) { return la::eigvalsh(turned(x)); }, dominant},
    {"eig.eigenvalues", "", square, [](x_ x) { return parts(la::eig(x).eigenvalues); }, dominant},
    {"eig.eigenvectors", "", square, [](x_ x) { return kg::abs(la::eig(x).eigenvectors); }, dominant},
    {"eigvals", "", square, [](x_ x) { return parts(la::eigvals(x)); }, dominant},
    {"eigvals", "of a complex matrix", square, [](x_ x) { return parts(la::eigvals(turned(x))); }, dominant},
    {"schur.t", "", square, [](x_ x) { return la::schur(x).t; }, dominant, false, false},
    {"schur.z", "", square, [](x_ x) { return la::schur(x).z; }, dominant, false, false},
    {"svd.u", "", tall, [](x_ x) { return la::svd(x).u; }, dominant},
    {"svd.s", "", tall, [](x_ x) { return la::svd(x).s; }, dominant},
    {"svd.vh", "", wide, [](x_ x) { return la::svd(x).vh; }, dominant},
    {"svdvals", "", wide, [](x_ x) { return la::svdvals(x); }, dominant},
    {"svdvals", "of a complex matrix", square, [](x_ x) { return la::svdvals(turned(x)); }, dominant},
    {"solve.a", "", square, [](x_ a) { return la::solve(a, right_side(a)); }, dominant},
    {"solve.a", "of a stack", small, [](x_ a) { return la::solve(a, kg::cast(tensor({1., 2., 3.}), a.type())); },
     dominant},
    {"solve.a", "with growing pivots", {4, 4}, [](x_ a) { return la::solve(a, right_side(a)); }, growing},
    {"solve.b", "", tall, [](x_ b) { return la::solve(system(b), b); }},
    {"solve_triangular.a", "", square, [](x_ a) { return la::solve_triangular(a, right_side(a)); }, dominant},
    {"solve_triangular.b", "", tall, [](x_ b) { return la::solve_triangular(system(b), b, {.lower = true}); }},
    {"cho_solve.b", "", tall, [](x_ b) { return la::cho_solve(system(b), b); }},
    {"lu_solve.b", "", tall, [](x_ b) { return la::lu_solve(la::lu_factor(system(b)), b); }},
    {"solve_banded.b", "", tall, [](x_ b) { return la::solve_banded({}, kg::cast(bands({3, 4}), b.type()), b); }},
    {"pinv", "", tall, [](x_ x) { return la::pinv(x); }, dominant},
    {"pinv", "of large sums", square, [](x_ x) { return la::pinv(x); }, growing},
    {"pinv", "of a complex matrix", square, [](x_ x) { return parts(la::pinv(turned(x))); }, dominant},
    {"inv", "", square, [](x_ x) { return la::inv(x); }, dominant},
    {"inv", "with growing pivots", square, [](x_ x) { return la::inv(x); }, growing},
    {"inv", "of a stack with growing pivots", small, [](x_ x) { return la::inv(x); }, growing},
    {"inv", "of a stack", small, [](x_ x) { return la::inv(x); }, dominant},
    {"inv", "of a complex matrix", square, [](x_ x) { return parts(la::inv(turned(x))); }, dominant},
    {"slogdet.sign", "", square, [](x_ x) { return la::slogdet(x).sign; }, dominant, true},
    {"slogdet.sign", "with growing pivots", square, [](x_ x) { return la::slogdet(x).sign; }, growing, true},
    {"slogdet.sign", "of a stack", small, [](x_ x) { return la::slogdet(x).sign; }, dominant, true},
    {"matrix_rank", "of large sums", square, [](x_ x) { return la::matrix_rank(x); }, growing, true, false},
    {"matrix_rank", "", wide, [](x_ x) { return la::matrix_rank(x); }, dominant, true, false},
    {"vector_norm", "", tall, [](x_ x) { return la::vector_norm(x); }},
    {"vector_norm", "of order 3", tall, [](x_ x) { return la::vector_norm(x, {.over = 1, .order = 3}); }},
    {"vector_norm", "of order 1", tall, [](x_ x) { return la::vector_norm(x, {.over = 0, .order = 1}); }},
    {"vector_norm", "of order infinity", tall, [](x_ x) { return la::vector_norm(x, {.over = 1, .order = inf}); }},
    {"matrix_norm", "of Frobenius", tall, [](x_ x) { return la::matrix_norm(x); }},
    {"matrix_norm", "of singular values", tall, [](x_ x) { return la::matrix_norm(x, "nuc"); }, dominant},
    {"matrix_norm", "of order 2", tall, [](x_ x) { return la::matrix_norm(x, 2); }, dominant},
    {"matrix_norm", "of order 1", tall, [](x_ x) { return la::matrix_norm(x, 1); }, dominant},
    {"cond", "", tall, [](x_ x) { return la::cond(x); }, dominant},
    {"cond", "of order -2", tall, [](x_ x) { return la::cond(x, -2); }, dominant},
    {"cond", "of large sums", square, [](x_ x) { return la::cond(x, inf); }, growing},
    {"cond", "of order 1", square, [](x_ x) { return la::cond(x, 1); }, dominant},
    {"cond", "of Frobenius", small, [](x_ x) { return la::cond(x, "fro"); }, dominant},
    {"polar.u", "", tall, [](x_ x) { return la::polar(x).u; }, dominant},
    {"polar.p", "of large sums", square, [](x_ x) { return la::polar(x).p; }, growing},
    {"polar.p", "", tall, [](x_ x) { return la::polar(x).p; }, dominant},
    {"trace", "", square, [](x_ x) { return la::trace(x); }, dominant},
};

// MODULES is the folder of the interface of kerngrad.linalg.
const kgtest::degrees_by_name& degrees() {
  static const kgtest::degrees_by_name found = kgtest::declared_degrees(MODULES);
  return found;
}

TEST(linalg_homogeneous, functions_are_those_whose_docstrings_declare_a_degree) {
  kgtest::expect_all_tested(functions, degrees());
}

TEST(linalg_homogeneous, functions_scale_with_their_operands_in_float32) {
  kgtest::check_homogeneous(functions, degrees(), kg::dtype::float32, 7);
}
TEST(linalg_homogeneous, functions_scale_with_their_operands_in_float64) {
  kgtest::check_homogeneous(functions, degrees(), kg::dtype::float64, 61);
}

}  // namespace
