// SPDX-License-Identifier: Apache-2.0
// Krylov spaces that solutions and eigenvalues of operators share. Included as parts.h is, which it includes.
#ifndef KERNGRAD_MODULES_LINALG_KRYLOV_H_
#define KERNGRAD_MODULES_LINALG_KRYLOV_H_

#include "modules/linalg/parts.h"

namespace kerngrad::linalg::detail {

// ------------------------------------------------------------------------------------------ vectors

using vector64 = std::vector<double>;
using map = std::function<tensor(const tensor&)>;

inline double inner_product(const tensor& a, const tensor& b) { return sum(a * b).item(); }
inline double length_of(const tensor& a) { return std::sqrt(inner_product(a, a)); }
inline tensor nan_like(const tensor& x) { return full_like(x, std::numeric_limits<double>::quiet_NaN()); }
inline tensor flat(const tensor& x) { return reshape(x, {x.size()}); }
inline std::string text_of(double x) { return to_string(attr_value(x)); }
inline std::string text_of(const tensor& x) { return std::string(name_of(x.type())) + " " + to_string(x.dims()); }

// The part of a length below which only rounding errors are left.
inline double negligible(dtype type) { return 32 * rounding_of(type); }

inline tensor numbers_of(const vector64& values, dtype type) { return cast(tensor(values), type); }

std::vector<tensor> constants(std::span<const tensor> xs);

// Orthonormal vectors in the rows of one tensor. In a module, functions in a class are not inline by themselves.
class orthonormal_rows {
 public:
  inline orthonormal_rows(std::int64_t most, const tensor& like) : rows_(zeros({most, like.size()}, like.type())) {}
  inline std::int64_t count() const { return count_; }
  inline tensor last() const { return rows_(count_ - 1); }
  inline void add(const tensor& vector, double length) { rows_ = std::move(rows_).at(count_++).set(vector / length); }
  // Replaces the rows by others in their span.
  inline void replace(const tensor& rows) {
    count_ = rows.dims()[0];
    rows_ = std::move(rows_).at(range(0, count_)).set(rows);
  }
  // Coefficients times rows.
  inline tensor combined(const tensor& coefficients) const { return matmul(coefficients, used()); }
  // Subtracts the part of a vector in the span, and returns its coefficients. Twice is enough (Giraud, Langou and
  // Rozloznik 2005).
  inline vector64 remove_from(tensor& vector) const {
    const tensor rows = used();
    vector64 all(static_cast<std::size_t>(count_));
    for (int pass = 0; pass < 2; ++pass) {
      const tensor part = matmul(rows, vector);
      vector = vector - matmul(part, rows);
      const vector64 coefficients = part.to_doubles();
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += coefficients[i];
    }
    return all;
  }

 private:
  inline tensor used() const { return rows_(range(0, count_)); }
  tensor rows_;
  std::int64_t count_ = 0;
};

// ------------------------------------------------------------------------------------------ systems

// A system of equations apply(x, p...) = b by one of the two methods.
struct krylov_solver {
  function self;
  list_function apply;
  gmres_options options;
  bool definite = false;    // by conjugate gradients
  bool symmetric = false;   // the transpose is the operator itself
  bool transposed = false;  // solves with the transpose of apply
  std::string_view advice;
};

// The x of apply(x, p...) = b for operands b, p..., with a gradient.
tensor solution(const krylov_solver& solver, std::span<const tensor> operands);

// apply(x, p...), which must be like x.
tensor applied(const function& self, const list_function& apply, const tensor& x, std::span<const tensor> parameters);

// Throws for an undefined operand, and for a first one that is no float of 32 or 64 bits.
void expect_operands(const function& self, std::string_view first, std::span<const tensor> operands);
// Throws for options out of range. Returns rtol, or the value that 0 stands for.
double expect_options(const function& self, double rtol, std::int64_t products, dtype type);

}  // namespace kerngrad::linalg::detail

#endif  // KERNGRAD_MODULES_LINALG_KRYLOV_H_
