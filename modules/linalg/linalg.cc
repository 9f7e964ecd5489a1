// SPDX-License-Identifier: Apache-2.0
// Linear algebra on stacks of matrices, by LAPACK, with gradients of every order. A module of its own on top of
// kerngrad's public interface: programs that do not import it link no LAPACK. Operands are float32, float64, complex64
// or complex128; integers and booleans become float64, and half precision throws. The last two axes are a matrix, and
// the axes before them are batch axes, which broadcast. Each size of a matrix is below 2^31. Errors name the function,
// the batch index and the pivot, both counted from 0. x^H is the conjugate transpose of x, for real numbers the
// transpose. A Hermitian matrix equals its conjugate transpose; a real one is symmetric.
module;
#include <cstddef>
#include "kernels/common/abi.h"
export module kerngrad.linalg;

import kerngrad;

export namespace kerngrad::linalg {

// ------------------------------------------------------------------------------------------ factors

/// Options of functions that reject some matrices, such as singular ones.
struct check_options {
  /// Throws for these matrices. If false, their results are NaN and the results of the other matrices are right.
  bool check = true;
};

/// Options of cholesky.
struct cholesky_options {
  bool upper = false;  ///< gives the upper factor, the conjugate transpose of the lower one
  bool check = true;   ///< throws for matrices that are not positive definite; if false, their factor is NaN
};
/// The lower triangular L with x = L L^H of each Hermitian positive definite matrix, by LAPACK's potrf. Reads only the
/// lower triangle of x. float32, float64, complex64 or complex128; integers and booleans become float64. Throws for a
/// matrix that is not positive definite. Gradient: Hermitian (Giles 2008, Murray 2016).
tensor cholesky(const tensor& x, const cholesky_options& options = {});

/// The factors of `lu_factor`.
struct lu_factors {
  tensor lu;      ///< U in the upper triangle, L below it without its diagonal of ones
  tensor pivots;  ///< int32: step k exchanged row k with row pivots[k]
};
/// LU factors of each matrix with partial pivoting, as scipy.linalg.lu_factor (LAPACK's getrf). Takes matrices of any
/// shape; a singular one has a zero pivot. Dtypes are those of `cholesky`. Gradient: if the leading square part is not
/// singular.
lu_factors lu_factor(const tensor& x);

/// The parts of `lu`.
struct lu_parts {
  tensor p;  ///< a permutation of rows
  tensor l;  ///< a lower triangle with ones on the diagonal
  tensor u;  ///< an upper triangle
};
/// Factors each matrix [m, n] as p l u, by `lu_factor`: p is [m, m], l [m, k] and u [k, n] with k = min(m, n). Dtypes
/// are those of `cholesky`. Gradient: as of `lu_factor`; p has none. Homogeneous: l of degree 0, u of degree 1.
lu_parts lu(const tensor& x);

/// The factors that `qr` returns.
enum class qr_mode : std::uint8_t {
  reduced,   ///< q is [m, k] and r [k, n], with k = min(m, n)
  complete,  ///< q is [m, m] and r [m, n]
  r,         ///< r of the reduced factors; q is undefined
};
/// Factors each matrix [m, n] as q r, by LAPACK's Householder reflections. q has orthonormal columns, and r is 0 below
/// its diagonal. Signs are those of NumPy. Dtypes are those of `cholesky`. Gradient: if the first min(m, n) columns are
/// independent (Walter and Lehmann 2018). It throws for the complete factors of a tall matrix. Homogeneous: q of degree
/// 0, r of degree 1.
qr_parts qr(const tensor& x, qr_mode mode = qr_mode::reduced);

/// The parts of `eigh`.
struct eigh_parts {
  tensor eigenvalues;   ///< ascending, real
  tensor eigenvectors;  ///< in columns, of length 1
};
/// Eigenvalues and eigenvectors of each Hermitian matrix, by LAPACK's syevd and heevd. Reads only the lower triangle.
/// Dtypes are those of `cholesky`. Elements that are not finite give NaN. Throws if LAPACK does not converge. Gradient:
/// Hermitian (Giles 2008). If eigenvalues are equal up to rounding, it is finite for functions that do not depend on
/// the choice of vectors. Examples are sums of the equal eigenvalues and projectors onto their whole space. Otherwise
/// the gradient is NaN, also for functions of the phase of a complex vector. There it does not exist, or needs more
/// than the derivatives of values and vectors. At a diagonal matrix, parts of these projectors get NaN as well.
/// Homogeneous: eigenvalues of degree 1, eigenvectors of degree 0.
eigh_parts eigh(const tensor& x, const check_options& options = {});
/// Only the eigenvalues of each Hermitian matrix, ascending, in less time than `eigh`. Dtypes, NaN and errors are those
/// of `eigh`. Gradient: finite everywhere. For equal eigenvalues it is one of several possible ones. Homogeneous of
/// degree 1.
tensor eigvalsh(const tensor& x, const check_options& options = {});

/// The parts of `eig`.
struct eig_parts {
  tensor eigenvalues;   ///< complex numbers, in LAPACK's order
  tensor eigenvectors;  ///< in columns, complex numbers, of length 1
};
/// Eigenvalues and eigenvectors of each square matrix, by LAPACK's geev: complex64 for float32 and complex64, else
/// complex128. Elements that are not finite give NaN. Throws if LAPACK does not converge. Differentiable if the
/// eigenvalues are distinct (Boeddeker et al. 2017). The gradient is NaN for vectors of equal eigenvalues and for a
/// matrix without a basis of eigenvectors. It is also NaN for functions of a vector's phase, which LAPACK chooses.
/// Homogeneous: eigenvalues of degree 1, eigenvectors of degree 0.
eig_parts eig(const tensor& x, const check_options& options = {});
/// Only the eigenvalues of each square matrix, complex numbers, in less time than `eig`. Dtypes, NaN and errors are
/// those of `eig`. Gradient: NaN for a matrix without a basis of eigenvectors. For equal eigenvalues it is one of
/// several possible ones. Homogeneous of degree 1.
tensor eigvals(const tensor& x, const check_options& options = {});

/// The parts of `schur`.
struct schur_parts {
  tensor t;  ///< upper triangular; of a real matrix a block of 2 x 2 for each conjugate pair of eigenvalues
  tensor z;  ///< orthonormal columns
};
/// Factors each square matrix as z t z^H, by LAPACK's gees. Dtypes are those of `cholesky`. For a triangular t, cast a
/// real matrix to complex numbers first. Elements that are not finite give NaN. Throws if LAPACK does not converge. No
/// gradient. Homogeneous: t of degree 1, z of degree 0.
schur_parts schur(const tensor& x, const check_options& options = {});

/// Options of svd.
struct svd_options {
  bool full_matrices = false;  ///< u is [m, m] and vh [n, n]
  bool check = true;           ///< throws where it does not converge; if false, the parts are NaN
};
/// The parts of `svd`.
struct svd_parts {
  tensor u;   ///< orthonormal columns
  tensor s;   ///< singular values, descending
  tensor vh;  ///< orthonormal rows
};
/// The singular value decomposition u diag(s) vh of each matrix [m, n], by LAPACK's gesdd. With k = min(m, n), u is [m,
/// k] and vh [k, n]. Dtypes are those of `cholesky`. Elements that are not finite give NaN. Gradient: as of `eigh` for
/// singular values that are equal or zero (Seeger et al. 2017). It throws for full factors of a matrix that is not
/// square. Homogeneous: u of degree 0, s of degree 1, vh of degree 0.
svd_parts svd(const tensor& x, const svd_options& options = {});
/// Only the singular values of each matrix, in descending order. Dtypes, NaN and errors are those of `svd`. Gradient:
/// finite everywhere. For equal values it is one of several possible ones. Homogeneous of degree 1.
tensor svdvals(const tensor& x, const check_options& options = {});

// ------------------------------------------------------------------------------------------ equations

/// Solves a X = b by LU factors with partial pivoting (LAPACK's getrf). b is a vector if it has rank 1, else a stack of
/// matrices with one system per column. Dtypes are those of `cholesky`. Throws for a singular matrix. Gradient: in a
/// and b, by the same factors. Homogeneous: in a of degree -1, in b of degree 1.
tensor solve(const tensor& a, const tensor& b, const check_options& options = {});

/// Options of solve_triangular.
struct triangular_options {
  bool lower = false;          ///< reads the lower triangle; otherwise the upper one
  bool transpose = false;      ///< solves a^T X = b, without conjugation
  bool unit_diagonal = false;  ///< takes the diagonal as ones and does not read it
  bool check = true;           ///< throws for a zero on the diagonal; if false, the solution is not finite
};
/// Solves a X = b for a triangular a, by BLAS's trsm. Reads one triangle of a. b and dtypes are as in `solve`. Throws
/// for a zero on the diagonal. Gradient: in b and in the triangle of a that is read. Homogeneous: in a of degree -1, in
/// b of degree 1.
tensor solve_triangular(const tensor& a, const tensor& b, const triangular_options& options = {});

/// Options of cho_solve.
struct cho_options {
  bool upper = false;  ///< the factor is the upper one
  bool check = true;   ///< throws for a zero on the diagonal
};
/// Solves a X = b with the Cholesky factor of a. b and dtypes are as in `solve`. Throws for a zero on the diagonal of
/// the factor. Gradient: in factor and b. Homogeneous: in b of degree 1.
tensor cho_solve(const tensor& factor, const tensor& b, const cho_options& options = {});

/// Options of lu_solve.
struct lu_solve_options {
  bool transpose = false;  ///< solves a^T X = b, without conjugation
};
/// Solves a X = b with the factors that `lu_factor` returned for a. b and dtypes are as in `solve`. The result is not
/// finite if a is singular. Throws for pivots that are no rows. Gradient: in factors.lu and b. Homogeneous: in b of
/// degree 1.
tensor lu_solve(const lu_factors& factors, const tensor& b, const lu_solve_options& options = {});

/// Numbers of diagonals below and above the main one of a banded matrix.
struct bandwidths {
  std::int64_t lower = 1;  ///< below the main diagonal
  std::int64_t upper = 1;  ///< above it
};
/// Solves a X = b for banded square matrices a, as SciPy's solve_banded (LAPACK's gbtrf). `bands` has a row for each
/// diagonal, from the highest to the lowest: bands[upper + i - j, j] is a[i, j]. Elements of bands outside of a are not
/// read. b and dtypes are as in `solve`. Throws for a singular matrix. Gradient: in bands and b. Homogeneous: in b of
/// degree 1.
tensor solve_banded(const bandwidths& widths, const tensor& bands, const tensor& b, const check_options& options = {});

/// Options of functions that count small singular values as zero.
struct rank_options {
  double rtol = -1;   ///< those up to rtol times the largest; below 0: the larger size times the rounding error
  bool check = true;  ///< throws where singular values do not converge; if false, the result is NaN
};
/// The parts of `lstsq`.
struct lstsq_parts {
  tensor x;                ///< the solution of least length
  tensor residuals;        ///< the sum of squared moduli of b - a x for each column of b
  tensor rank;             ///< int64, of each matrix
  tensor singular_values;  ///< of each matrix, descending
};
/// The x that minimizes the norm of a x - b, by singular values, for matrices of any shape and rank. If several do, it
/// is the shortest. b and dtypes are as in `solve`. x and residuals are differentiable in a and b while the rank stays
/// the same (Golub and Pereyra 1973), singular values in a.
lstsq_parts lstsq(const tensor& a, const tensor& b, const rank_options& options = {});

/// The Moore-Penrose inverse of each matrix, by singular values: [m, n] gives [n, m]. Dtypes are those of `cholesky`.
/// Gradient: while the rank stays the same. Homogeneous of degree -1.
tensor pinv(const tensor& x, const rank_options& options = {});

/// The inverse of each matrix, by its LU factors. `solve` is faster and more accurate than a product with an inverse.
/// Dtypes are those of `cholesky`. Throws for a singular matrix. Gradient: by the same factors. Homogeneous of degree
/// -1.
tensor inv(const tensor& x, const check_options& options = {});

// ------------------------------------------------------------------------------------------ numbers

/// The determinant of each square matrix, by its LU factors; 1 for a matrix of 0 x 0. Dtypes are those of `cholesky`.
/// Gradient: the cofactors, by the same factors, or for a singular matrix by singular values. For a singular matrix the
/// third derivative throws.
tensor det(const tensor& x);

/// The parts of `slogdet`.
struct slogdet_parts {
  tensor sign;       ///< -1, 0 or 1; of complex matrices 0 or a number of modulus 1
  tensor logabsdet;  ///< the logarithm of the determinant's absolute value; -infinity for a singular matrix
};
/// The determinant of each square matrix as a sign and a logarithm, which neither overflow nor underflow. Dtypes are
/// those of `cholesky`. The gradient of the logarithm is x^-H, NaN for a singular matrix. The gradient of a real sign
/// is 0. Homogeneous: sign of degree 0.
slogdet_parts slogdet(const tensor& x);

/// The rank of each matrix: the number of singular values above the tolerance, int64. Dtypes of x are those of
/// `cholesky`. No gradient. Homogeneous of degree 0.
tensor matrix_rank(const tensor& x, const rank_options& options = {});

/// Options of vector_norm.
struct vector_norm_options {
  axes over = all_axes;    ///< the axes whose elements make a vector
  bool keep_dims = false;  ///< keeps these axes with size 1
  norm_order order = 2;    ///< p: any number, infinity or -infinity; 0 counts the elements that are not 0
};
/// The norm of all elements, or of the vectors along axes: (sum of abs(x)^p)^(1/p). For infinity it is the largest
/// absolute element, for -infinity the smallest. Powers stay in range for elements of any size. Dtypes of x are those
/// of `cholesky`; the norm is real. Gradient: for the order 2 it is 0 at 0. Homogeneous of degree 1, but for the order
/// 0.
tensor vector_norm(const tensor& x, const vector_norm_options& options = {});

/// The norm of each matrix. "fro" is sqrt(sum(x^2)), "nuc" the sum of the singular values, 2 and -2 the largest and the
/// smallest of them. 1 and -1 are the largest and the smallest sum(abs(x)) of a column, infinity and -infinity those of
/// a row. Dtypes of x are those of `cholesky`; the norm is real. Throws for other orders. Differentiable. Homogeneous
/// of degree 1.
tensor matrix_norm(const tensor& x, norm_order order = "fro", bool keep_dims = false);

/// The condition number of each matrix: its norm times that of its inverse. The orders 2 and -2 take matrices of any
/// shape. Infinity for a singular matrix. Other orders of `matrix_norm` take square matrices. Throws for matrices
/// without elements. Differentiable. Homogeneous of degree 0.
tensor cond(const tensor& x, norm_order order = 2);

// ------------------------------------------------------------------------------------------ functions of matrices

/// The n-th power of each square matrix, by repeated squaring. A negative n takes powers of the inverse; 0 gives the
/// identity. Dtypes are those of `cholesky`. Throws for a singular matrix with a negative n. Differentiable.
tensor matrix_power(const tensor& x, std::int64_t n, const check_options& options = {});

/// The exponential of each square matrix, by scaling, a Pade approximant and squaring (Higham 2005). Dtypes are those
/// of `cholesky`. Gradient: that of these steps.
tensor expm(const tensor& x);

/// The principal square root of each square matrix, by the iteration of Denman and Beavers in product form (Higham
/// 2008, section 6.3). Dtypes are those of `cholesky`. Throws for a matrix with an eigenvalue at or below zero.
/// Gradient: that of these steps.
tensor sqrtm(const tensor& x, const check_options& options = {});

/// The logarithm of each square matrix, by square roots and a Pade approximant (Kenney and Laub 1989; Dieci, Morini and
/// Papini 1996). Dtypes and errors are those of `sqrtm`. Gradient: that of these steps.
tensor logm(const tensor& x, const check_options& options = {});

/// The parts of `polar`.
struct polar_parts {
  tensor u;  ///< orthonormal columns, or rows of a wide matrix
  tensor p;  ///< Hermitian and without negative eigenvalues
};
/// The polar decomposition u p of each matrix, by singular values. Dtypes are those of `cholesky`. Gradient: as of
/// `svd`. Homogeneous: u of degree 0, p of degree 1.
polar_parts polar(const tensor& x);

/// The q of LAPACK's geqrf: the first n columns of the product of reflectors I - tau[i] v v^H. v is column i of
/// `reflectors` [m, n] below its diagonal, with 1 on the diagonal. tau [k] has at most n elements. Dtypes are those of
/// `cholesky`. Differentiable in both.
tensor householder_product(const tensor& reflectors, const tensor& tau);

// ------------------------------------------------------------------------------------------ products

/// `kg::matmul`: the products of the matrices on the last two axes. The axes before them broadcast. Any dtype but text;
/// integers stay integers. Throws for inner sizes that differ. Differentiable in both.
using kerngrad::matmul;
/// The transposed matrices of the last two axes. Any dtype but text. Throws below rank 2. Gradient: dy transposed.
tensor matrix_transpose(const tensor& x);
/// The elements of a diagonal of each matrix [..., m, n], as the last axis. A positive `offset` counts diagonals above
/// the main one, a negative one those below it. Any dtype but text. Throws below rank 2. Gradient: dy on the diagonal,
/// 0 elsewhere.
tensor diagonal(const tensor& x, std::int64_t offset = 0);
/// The sum of the elements of a diagonal of each matrix; the result lacks the last two axes. `offset` and errors are
/// those of `diagonal`, dtypes those of `sum`. Differentiable. Homogeneous of degree 1.
tensor trace(const tensor& x, std::int64_t offset = 0);
/// The products of all pairs of elements of two vectors, [n] and [m]: [n, m]. Dtypes are those of `mul`. Throws for
/// other ranks. Differentiable.
tensor outer(const tensor& a, const tensor& b);
/// The sums of the products of conj(a) and b along an axis of both; the other axes broadcast. The axis counts from the
/// back: -1 is the last one, and 0 or more throws. Any dtype but text. Throws for vectors of different lengths.
/// Differentiable.
tensor vecdot(const tensor& a, const tensor& b, std::int64_t axis = -1);
/// The cross products of vectors of 3 elements along an axis of both; the other axes broadcast. The axis counts from
/// the back: -1 is the last one, and 0 or more throws. Dtypes are those of `mul`. Throws for vectors of another length.
/// Differentiable.
tensor cross(const tensor& a, const tensor& b, std::int64_t axis = -1);
/// The Kronecker product: a with each element replaced by b times that element. The operand of lower rank gets axes of
/// size 1 in front. Dtypes are those of `mul`. Throws for more than 4 axes. Differentiable.
tensor kron(const tensor& a, const tensor& b);
/// The sum of products over the last `count` axes of a and the first `count` axes of b. The result has a's other axes,
/// then b's. Dtypes are those of `matmul`. Throws for axes of different sizes and for a result of more than 8 axes.
/// Differentiable.
tensor tensordot(const tensor& a, const tensor& b, std::int64_t count = 2);
/// The sum of products over pairs of axes, the k-th of `a_axes` with the k-th of `b_axes`. The rest is as for
/// `tensordot` with a count.
tensor tensordot(const tensor& a, const tensor& b, std::span<const std::int64_t> a_axes,
                 std::span<const std::int64_t> b_axes);
inline tensor tensordot(const tensor& a, const tensor& b, std::initializer_list<std::int64_t> a_axes,
                        std::initializer_list<std::int64_t> b_axes) {
  return linalg::tensordot(a, b, std::span(a_axes.begin(), a_axes.size()), std::span(b_axes.begin(), b_axes.size()));
}
/// The product of two matrices or more, in the order that takes the fewest operations. The first may be a row vector,
/// and the last a column vector; the result lacks their axis. Dtypes are those of `matmul`. Throws for fewer than two
/// factors and for other shapes. Differentiable.
tensor multi_dot(std::span<const tensor> factors);
inline tensor multi_dot(std::initializer_list<tensor> factors) {
  return multi_dot(std::span(factors.begin(), factors.size()));
}

// ------------------------------------------------------------------------------------------ operators

// An operator is a function x -> A x that is linear in x, float32 or float64, and keeps its shape and dtype. It may
// take further tensors p..., its parameters: apply(x, p...). Gradients of every order flow to the parameters; tensors
// that apply captures have none. Steps of the iterations are not recorded and take no memory afterwards. NaN or
// infinity in b, a start or a product gives NaN.

/// An approximation of a solution, such as division by the diagonal: linear, of one tensor to one of the same shape and
/// dtype.
using preconditioner_function = std::function<tensor(const tensor&)>;

/// Options of cg.
struct cg_options {
  double rtol = 0;                           ///< bound of |b - A x| / |b|; 0: 1e-10 in float64, 1e-5 in float32
  std::int64_t products = 1000;              ///< most products with A, of a solution and of each gradient
  preconditioner_function preconditioner{};  ///< symmetric, positive definite and close to the inverse of A
};
/// Options of gmres.
struct gmres_options {
  double rtol = 0;                           ///< bound of |b - A x| / |b|; 0: 1e-10 in float64, 1e-5 in float32
  std::int64_t products = 1000;              ///< most products with A, of a solution and of each gradient
  std::int64_t restart = 60;                 ///< most vectors that are kept; more take fewer products
  preconditioner_function preconditioner{};  ///< close to the inverse of A; gradients need its gradient
};
/// Options of eigsh.
struct eigsh_options {
  std::int64_t k = 1;            ///< number of eigenvalues, at most the number of elements of a vector
  bool smallest = false;         ///< finds the smallest ones instead of the largest
  double rtol = 0;               ///< bound of |A v - w v| / |A|; 0: 1e-10 in float64, 1e-5 in float32
  std::int64_t products = 5000;  ///< most products with A, of the pairs and of the gradient of each vector
  std::int64_t basis = 0;        ///< most vectors that are kept, above k; 0: the larger of 2 k + 1 and 20
};

}  // namespace kerngrad::linalg

namespace kerngrad::linalg::detail {

using list_function = std::function<tensor(std::span<const tensor>)>;

template <class>
using each_a_tensor = const tensor&;
template <class A, class... P>
concept linear_operator = std::is_invocable_r_v<tensor, const A&, const tensor&, each_a_tensor<P>...> &&
                          (std::is_convertible_v<const P&, tensor> && ...);

template <std::size_t Count, class A>
list_function on_list(const A& apply) {
  return [apply](std::span<const tensor> xs) -> tensor {
    return
        [&]<std::size_t... I>(std::index_sequence<I...>) { return apply(xs[I]...); }(std::make_index_sequence<Count>{});
  };
}

// Operands are b or a start, then the parameters.
tensor solved_by_cg(const list_function& apply, std::span<const tensor> operands, const cg_options& options);
tensor solved_by_gmres(const list_function& apply, std::span<const tensor> operands, const gmres_options& options);
eigh_parts eigenpairs(const list_function& apply, std::span<const tensor> operands, const eigsh_options& options);

}  // namespace kerngrad::linalg::detail

export namespace kerngrad::linalg {

/// Makes a function of b and p... that returns the x with apply(x, p...) = b. A is symmetric and positive definite for
/// all parameters. b has any shape. Uses conjugate gradients (Hestenes and Stiefel 1952).
///   const auto solve = la::cg([](const tensor& x, const tensor& a) { return kg::matmul(a, x); });
///   solve(b, a);
/// Throws if x^T A x is not positive for a vector that is met, and if the residual is too large after the most
/// products. Gradient: in b and p, by one more solution with the same preconditioner.
template <class A>
auto cg(A apply, cg_options options = {}) {
  return [apply = std::move(apply), options = std::move(options)]<class... P>(const tensor& b, const P&... p) -> tensor
           requires detail::linear_operator<A, P...>
  {
    constexpr std::size_t count = sizeof...(P) + 1;
    return detail::solved_by_cg(detail::on_list<count>(apply), std::array<tensor, count>{b, p...}, options);
  };
}

/// `cg` for every square A that has an inverse, by GMRES with restarts (Saad and Schultz 1986). Preconditions from the
/// right, so that the residual is that of b. Throws if the residual is too large after the most products, or does not
/// fall from one restart to the next. Gradient: in b and p, by one more solution with the transposes of A and the
/// preconditioner, which are those of their gradients.
template <class A>
auto gmres(A apply, gmres_options options = {}) {
  return [apply = std::move(apply), options = std::move(options)]<class... P>(const tensor& b, const P&... p) -> tensor
           requires detail::linear_operator<A, P...>
  {
    constexpr std::size_t count = sizeof...(P) + 1;
    return detail::solved_by_gmres(detail::on_list<count>(apply), std::array<tensor, count>{b, p...}, options);
  };
}

/// Makes a function of a start and p... that returns the k largest or smallest eigenvalues of x -> apply(x, p...) and
/// their eigenvectors. A is symmetric for all parameters. The start gives shape and dtype of vectors and begins the
/// search; zeros stand for random numbers of a fixed seed. Eigenvalues ascend, vectors are along the last axis: those
/// of a start [n] are columns. Uses Lanczos's method with full orthogonalization and thick restarts (Wu and Simon
/// 2000). Repeated eigenvalues may be found once. Throws if a residual is too large after the most products. Gradient:
/// in p. For a value it takes one product with each vector. For a vector it solves a linear system by GMRES, and throws
/// if the eigenvalue is repeated.
template <class A>
auto eigsh(A apply, eigsh_options options = {}) {
  return [apply = std::move(apply), options]<class... P>(const tensor& start, const P&... p) -> eigh_parts
           requires detail::linear_operator<A, P...>
  {
    constexpr std::size_t count = sizeof...(P) + 1;
    return detail::eigenpairs(detail::on_list<count>(apply), std::array<tensor, count>{start, p...}, options);
  };
}

}  // namespace kerngrad::linalg
