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

/// The product of vectors and matrices, as numpy.dot of ranks 1 and 2. Two vectors give a scalar, a vector and a matrix
/// give a vector, two matrices give a matrix. Dtypes are those of `matmul`. Throws for other ranks and if the inner
/// sizes differ. Differentiable.
tensor dot(const tensor& t1, const tensor& t2);
/// The products of all pairs of elements of two vectors: [n] and [m] give [n, m]. Dtypes are those of `mul`. Throws for
/// other ranks. Differentiable.
tensor outer_product(const tensor& v1, const tensor& v2);
/// The products of all pairs of elements of two tensors, which are flattened to [n] and [m]: [n, m]. Dtypes are those
/// of `mul`. Differentiable.
tensor outer(const tensor& a, const tensor& b);
/// The sum of the diagonal of each matrix in the last two axes. The result lacks these axes. Dtypes are those of `sum`.
/// Throws below rank 2. Gradient: dy on the diagonal, 0 elsewhere.
tensor trace(const tensor& x);

/// The order of a norm: a number, `infinity`, or a name.
class norm_order {
 public:
  template <class T>
    requires number<T>
  constexpr norm_order(T p) : p_(static_cast<double>(p)) {}
  constexpr norm_order(const char* name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }  ///< the name, empty for a number
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
/// Squares and powers stay in range for numbers of any size. Complex numbers count by their magnitudes. Integers give
/// float32 for sqrt(sum(x^2)) and float64 for the other norms. Throws for other orders, for more than two named axes,
/// and for the largest or smallest of no elements. The gradient of a root at 0 is 0, and so is that of powers for
/// elements that are 0. Homogeneous of degree 1, but for the order 0.
tensor norm(const tensor& x, norm_order order = "euclidean", const axes& over = all_axes, bool keep_dims = false);
/// The root of the sum of squares over axes: `norm` of the order "euclidean". Squares stay in range for numbers of any
/// size. The rest is as for `norm`. Homogeneous of degree 1.
tensor euclidean_norm(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

/// The elements of a diagonal of the matrices on axes `rows` and `columns`. A positive `offset` counts diagonals above
/// the main one, a negative one those below it. The result lacks the two axes; the diagonal is its last axis. Any
/// dtype. Throws below rank 2 and for one axis twice. Gradient: dy on the diagonal, 0 elsewhere.
tensor diagonal(const tensor& x, std::int64_t offset = 0, axis_index rows = 0, axis_index columns = 1);
/// Lower triangles: the matrices of the last two axes with 0 above a diagonal. `offset` counts as in `diagonal`. Any
/// dtype but text. Throws below rank 2. Gradient: the same part of dy.
tensor tril(const tensor& x, std::int64_t offset = 0);
/// Upper triangles: the matrices of the last two axes with 0 below a diagonal. The rest is as for `tril`.
tensor triu(const tensor& x, std::int64_t offset = 0);

/// Counts pairs of labels and predictions: int32 [classes, classes] with a row per label and a column per prediction.
/// Both are vectors of class indices of one length; floats are truncated. A pair with a number outside of [0, classes)
/// is ignored. Throws for NaN, for complex numbers, and unless there are 1 to 46340 classes. No gradient.
tensor confusion_matrix(const tensor& labels, const tensor& predictions, std::int64_t classes);

/// An orthonormal basis of the vectors' span, by the Gram-Schmidt process in their order. The vectors are the rows of a
/// matrix, which gives a matrix, or a list, which gives a list. Floats of any size. Throws for vectors of different
/// lengths, for more vectors than they have elements, and without vectors. Linearly dependent vectors give NaN or
/// noise. Differentiable. Homogeneous of degree 0.
tensor gram_schmidt(const tensor& xs);
tensor_list gram_schmidt(std::span<const tensor> xs);
inline tensor_list gram_schmidt(std::initializer_list<tensor> xs) {
  return gram_schmidt(std::span(xs.begin(), xs.size()));
}

/// The parts of `qr`: the orthonormal factor q and the upper triangular factor r.
struct qr_parts {
  tensor q, r;
};
/// The QR factors of each matrix [m, n] in the last two axes, by Householder reflections (Golub and Van Loan 2013,
/// section 5.2). q has orthonormal columns, and r is 0 below its diagonal. With k = min(m, n), q is [m, k] and r [k,
/// n], or with `full_matrices` [m, m] and [m, n]. Elements of r's diagonal may be negative: their signs keep the
/// reflections stable. Floats of any size; rank 2 or more. Differentiable if the columns are independent and products
/// of dy with x stay in range. Homogeneous: q of degree 0, r of degree 1.
qr_parts qr(const tensor& x, bool full_matrices = false);

}  // namespace kerngrad
