// SPDX-License-Identifier: Apache-2.0
// Composed functions of vectors and matrices.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_matrices;

import :std;
import :core;
import :tensor;
import :engine;
import :axes;

export namespace kerngrad {

/// The product of vectors and matrices: a number of two vectors, a vector of a vector and a matrix, a matrix of two.
/// Ranks 1 and 2; the dtypes of `matmul`. Throws where the inner sizes differ.
tensor dot(const tensor& t1, const tensor& t2);
/// The products of all pairs of elements of two vectors: [n, m].
tensor outer_product(const tensor& v1, const tensor& v2);
/// The products of all pairs of elements of two tensors of any shapes, in their order: [n, m].
tensor outer(const tensor& a, const tensor& b);
/// The sum of the diagonal of each matrix in the last two axes, which go. Elements next to it are not read. Gradient:
/// dy on the diagonal.
tensor trace(const tensor& x);

/// Which norm: a number, `infinity`, or a name.
class norm_order {
 public:
  template <class T>
    requires number<T>
  constexpr norm_order(T p) : p_(static_cast<double>(p)) {}
  constexpr norm_order(const char* name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }  ///< empty for a number
  constexpr double number() const { return p_; }

 private:
  std::string_view name_{};
  double p_ = 0;
};
/// The norm of all elements, of the vectors along one axis, or of the matrices in two axes, rows before columns.
///
/// | order | vectors | matrices |
/// | --- | --- | --- |
/// | "euclidean" | sqrt(sum(x^2)) | sqrt(sum(x^2)) |
/// | "fro" | | sqrt(sum(x^2)) |
/// | 1 | sum(abs(x)) | the largest sum(abs(x)) of a column |
/// | 2 | sqrt(sum(x^2)) | |
/// | infinity | max(abs(x)) | the largest sum(abs(x)) of a row |
/// | -infinity | min(abs(x)) | the smallest sum(abs(x)) of a row |
/// | 0 | the number of elements that are not 0 | |
/// | p, another number | sum(abs(x)^p)^(1/p) | |
///
/// Squares and powers stay in range, whatever the size of the numbers. Complex numbers count by their magnitudes.
/// Integers give float32 under the root of squares and float64 elsewhere. Throws for other orders, for more than two
/// axes that are named, and for the greatest or least of no elements. The gradient of a root at 0 is 0. Homogeneous of
/// degree 1, but for the order 0.
tensor norm(const tensor& x, norm_order order = "euclidean", const axes& over = all_axes, bool keep_dims = false);
/// The root of the sum of squares over axes: `norm` of the order "euclidean". Homogeneous of degree 1.
tensor euclidean_norm(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

/// The elements of a diagonal of the matrices on two axes, the main one or that `offset` places above it, below it
/// where that is negative: x without the two axes, with one of the diagonal's elements last. Any dtype. Throws below
/// rank 2 and for one axis twice. Gradient: dy on the diagonal.
tensor diagonal(const tensor& x, std::int64_t offset = 0, axis_index rows = 0, axis_index columns = 1);
/// The last two axes' matrices with 0 above a diagonal, as `diagonal` counts it: the lower triangles. Any dtype but
/// text. Gradient: the same part of dy.
tensor tril(const tensor& x, std::int64_t offset = 0);
/// The last two axes' matrices with 0 below a diagonal: the upper triangles. The rest is as for `tril`.
tensor triu(const tensor& x, std::int64_t offset = 0);

/// How often each class, the row, was predicted to be each, the column: int32 [classes, classes]. Labels and
/// predictions are lists of class indices of one length, floats cut off; a pair with a number outside of [0,
/// classes) is left out. Throws for NaN and for complex numbers. No gradient.
tensor confusion_matrix(const tensor& labels, const tensor& predictions, std::int64_t classes);

/// An orthonormal basis of the vectors' span, by the Gram-Schmidt process in the order in which they are given: of the
/// rows of a matrix a matrix, of a list of vectors a list. Throws for vectors of different lengths, and for more of
/// them than they have elements. Floats of any size. Vectors that depend on each other give NaN or noise. Homogeneous
/// of degree 0.
tensor gram_schmidt(const tensor& xs);
tensor_list gram_schmidt(std::span<const tensor> xs);
inline tensor_list gram_schmidt(std::initializer_list<tensor> xs) {
  return gram_schmidt(std::span(xs.begin(), xs.size()));
}

/// The parts of `qr`.
struct qr_parts {
  tensor q, r;
};
/// Each matrix of the last two axes, [m, n], as q * r with orthonormal columns in q and 0 below the diagonal of r, by
/// Householder reflections (Golub and Van Loan 2013, section 5.2). With k = min(m, n) q is [m, k] and r [k, n], or with
/// `full_matrices` [m, m] and [m, n]. The elements of r's diagonal have the sign that makes the reflections stable: not
/// always positive. Floats of any size; rank 2 or more. Differentiable where the columns are independent. Homogeneous:
/// q of degree 0, r of degree 1. Its gradient is right while products of dy with x stay in range.
qr_parts qr(const tensor& x, bool full_matrices = false);

}  // namespace kerngrad
