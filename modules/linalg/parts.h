// SPDX-License-Identifier: Apache-2.0
// Checks, loops over stacks and ops that the units of kerngrad.linalg share. Included in the purview of the module,
// after its module line, with the headers of the standard library and LAPACK that it needs before that line.
#ifndef KERNGRAD_MODULES_LINALG_PARTS_H_
#define KERNGRAD_MODULES_LINALG_PARTS_H_

namespace kerngrad::linalg::detail {

// ------------------------------------------------------------------------------------------ checks

// A function by the name that its errors bear. Checks give the operand in a dtype that LAPACK has.
struct function {
  std::string_view name;

  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
  // x as floats or complex numbers: integers and booleans become float64.
  tensor numbers(std::string_view operand, const tensor& x) const;
  // The same of two operands in their common dtype.
  void numbers(tensor& a, std::string_view a_name, tensor& b, std::string_view b_name) const;
  // Throws below rank 2 and for sizes that LAPACK cannot count.
  void matrices(std::string_view operand, const tensor& x) const;
  void square(std::string_view operand, const tensor& x) const;
  // Throws unless b, a vector or matrices, has as many rows as `rows` and its batch axes broadcast with those of a.
  void right_side(const tensor& a, std::int64_t rows, const tensor& b) const;
  // Throws for the first matrix of a stack whose entry in `info`, int32, is not 0: "got THE_MATRIX at batch index [3]:
  // pivot 2 PIVOT_IS".
  void passed(const tensor& info, std::string_view the_matrix, std::string_view pivot_is, std::string_view wanted,
              std::string_view advice) const;
};

// "operand x of shape [2, 3]".
std::string shaped(std::string_view operand, const tensor& x);

// ------------------------------------------------------------------------------------------ dtypes

using lapack::all_finite;
using lapack::conjugate;
using lapack::fill_with_nan;
using lapack::is_complex;
using lapack::part_of;
using lapack::transpose_into;
using lapack::transpose_square;

// Dtypes that LAPACK computes with.
inline constexpr dtype_set lapack_dtypes = wide_floats | complex_only;
// The dtype of the parts of complex numbers, and of the numbers with such parts.
constexpr dtype part_type(dtype type) {
  return type == dtype::complex64 ? dtype::float32 : type == dtype::complex128 ? dtype::float64 : type;
}
constexpr dtype pair_type(dtype type) {
  return part_type(type) == dtype::float32 ? dtype::complex64 : dtype::complex128;
}
// The distance of 1 from the next number.
constexpr double rounding_of(dtype type) { return part_type(type) == dtype::float32 ? 0x1p-23 : 0x1p-52; }

// ------------------------------------------------------------------------------------------ stacks

inline std::int64_t rows_of(const shape& dims) { return dims[dims.rank() - 2]; }
inline std::int64_t columns_of(const shape& dims) { return dims[dims.rank() - 1]; }
// The batch axes.
inline shape batch_of(const shape& dims, int matrix_axes = 2) {
  return shape(dims.dims().first(static_cast<std::size_t>(dims.rank() - matrix_axes)));
}
// Batch axes and further ones.
shape with_axes(const shape& batch, std::initializer_list<std::int64_t> more);
// Which matrix of an operand's stack takes part in the i-th of the results' stack, whose batch axes it broadcasts to.
std::int64_t matrix_at(const shape& operand_batch, const shape& batch, std::int64_t i);
// The batch axes of a call with two stacks.
shape common_batch(const inference& call, const shape& a, const shape& b);

// Work arrays, which count under the memory limits as elements do.
template <class T>
using workspace = lapack::workspace<T, counted_memory>;
template <class T>
struct work_array {
  counted_memory counted;
  std::vector<T> all;
  explicit work_array(std::int64_t count)
      : counted(kernels::product_of(count, static_cast<std::int64_t>(sizeof(T)))),
        all(static_cast<std::size_t>(count)) {}
  T* data() { return all.data(); }
  T& operator[](std::int64_t i) { return all[static_cast<std::size_t>(i)]; }
  std::span<T> span() { return all; }
};

// A stack that the kernels of kernels/linalg take: some real matrices of few rows. One alone is faster by LAPACK.
inline bool is_small(dtype type, std::int64_t count, std::int64_t n) {
  return wide_floats.has(type) && count >= 8 && n >= 1 && n <= lanes::largest;
}
inline bool is_small(const tensor& a) { return is_small(a.type(), batch_of(a.dims()).size(), rows_of(a.dims())); }

// Kernels that run the op's template for each dtype.
template <class Op, class... T>
constexpr auto kernels_of = kernel_list(on_call<T>([](const launch_call& c) { Op::template run<T>(c); })...);
template <class Op>
constexpr auto kernels_for_floats = kernels_of<Op, float, double>;
template <class Op>
constexpr auto kernels_for_numbers = kernels_of<Op, float, double, std::complex<float>, std::complex<double>>;

// ------------------------------------------------------------------------------------------ ops

inline tensor transposed(const tensor& x) { return swapaxes(x, -1, -2); }
// The conjugate transpose. Products with conj(x) transpose a real x without a copy.
inline tensor adjoint(const tensor& x) { return conj(transposed(x)); }
// The sum with its conjugate transpose, halved.
inline tensor hermitian_part(const tensor& x) { return (x + adjoint(x)) * 0.5; }
// abs(x)^2.
inline tensor squared_modulus(const tensor& x) {
  return complex_only.has(x.type()) ? square(real(x)) + square(imag(x)) : square(x);
}
// b as a column where it is a vector, and back.
inline tensor as_columns(const tensor& b) { return b.rank() == 1 ? expand_dims(b, 1) : b; }
tensor like_right_side(const tensor& x, const tensor& b);
// A stack of matrices in units: they are x * unit. A unit is a power of two for each matrix, and a constant. An
// undefined unit is 1 for all matrices. Matrices whose elements are of usual sizes have the unit 1.
struct in_units {
  tensor x, unit;
};
// Units in which factors, norms and their inverses are in range.
in_units in_matrix_units(const tensor& x);
// Units in which sums are in range. No element rounds: a matrix that has very small elements too keeps the unit 1. One
// pass tells that a stack has no large elements, as most stacks.
in_units in_sum_units(const tensor& x);
// y * unit, and y / unit.
tensor times_unit(const tensor& y, const tensor& unit);
tensor over_unit(const tensor& y, const tensor& unit);
// values * unit for a vector of each matrix.
tensor values_times_unit(const tensor& values, const tensor& unit);
// The solution of a linear system by solve(b). Large right sides are taken in units, because sums on the way to a
// solution in range may leave the range.
template <class F>
tensor solved_in_units(const tensor& b, F solve) {
  const auto [right, unit] = in_sum_units(b);
  return times_unit(solve(right), unit);
}

// The identity matrices for a stack.
tensor identities(const tensor& like);

// op(a) X = b for a triangular a.
tensor triangular_solution(const tensor& a, const tensor& b, bool lower, bool transpose, bool unit_diagonal = false);

// The factors of a matrix for solutions: of a^T, because a row-major a is that for LAPACK. They have no gradient.
struct column_factors {
  tensor lu, pivots, info;
};
column_factors factored(const tensor& a);
// op(a) X = b by the factors of a. The gradient flows to a and b; the factors are constants that stand for a.
tensor factored_solution(const tensor& a, const column_factors& by, const tensor& b, bool transpose = false);

// The part of the largest number that counts as 0 to rounding after a decomposition into as many values as x has
// columns.
double negligible_part(const tensor& x);
// Values of each vector, element (i, j) being the j-th less the i-th.
tensor pairs_apart(const tensor& values);
// numerators / denominators for pairs (i, j) of eigenvalues or singular values. A denominator that is 0 to rounding,
// relative to `scale`, gives 0 for functions of the whole eigenspace and NaN for others, as far as derivatives for one
// choice of vectors tell. Derivatives for a pair are differences of numbers up to `largest_part`. They give NaN if
// - the numerator is not 0 to rounding. On the diagonal it is the derivative by the phase of a complex vector.
// - `largest_part` is 0 to rounding, but not that of (i, i) and (j, j). The vectors of a diagonal matrix are such a
//   choice: there the squares of one vector and those of the whole space have the same derivatives.
// - it is not 0, and the gradients of both values, in `slopes`, differ: the gradient needs more than the rule sees.
tensor quotient_of_pairs(const tensor& numerators, const tensor& denominators, const tensor& scale,
                         const tensor& largest_part, const tensor& slopes);

// Factors of a for its pseudoinverse; `inverses` are those of singular values, 0 for those that count as 0. The values
// `s` alone have a gradient.
struct pseudo_factors {
  tensor u, s, inverses, vh;
};
// By singular values above `rtol` times the largest; below 0 it is the larger size times the rounding error.
pseudo_factors pseudo_factored(const function& self, const tensor& a, double rtol, bool check);
// The pseudoinverse of a, or of its adjoint, times b. The gradient flows to a and b; the factors are constants that
// stand for a.
tensor pseudo_solution(const tensor& a, const pseudo_factors& by, const tensor& b, bool adjoint = false);

}  // namespace kerngrad::linalg::detail

#endif  // KERNGRAD_MODULES_LINALG_PARTS_H_
