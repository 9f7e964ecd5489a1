// SPDX-License-Identifier: Apache-2.0
// Checks of the composed functions' operands before any op is called. Internal: the functions are called by
// their own names, so their errors bear these.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_checks;

import :std;
import :core;
import :tensor;
import :axes;

namespace kerngrad::detail {

/// Axes, one bit each.
using axis_bits = std::uint32_t;

/// A composed function by the name that its errors bear. Each check passes or throws.
struct composed {
  std::string_view name;

  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
  void given(std::string_view operand, const tensor& x) const;
  /// At least `least` axes and, unless it is below, at most `most`.
  void rank(std::string_view operand, const tensor& x, int least, int most = max_rank) const;
  /// Checks that the dtype is any but text.
  void numbers(std::string_view operand, const tensor& x) const;
  /// Throws for complex numbers, which have no order, and for text.
  void real(std::string_view operand, const tensor& x) const;
  /// Checks that a gradient can flow through the dtype, complex numbers aside.
  void floating(std::string_view operand, const tensor& x) const;
  void one_shape(std::string_view a_name, const tensor& a, std::string_view b_name, const tensor& b) const;
  /// b broadcasts to a's shape.
  void broadcasts_to(std::string_view b_name, const tensor& b, std::string_view a_name, const tensor& a) const;
  /// An axis counted from the front; 0 for the axis 0 or -1 of a scalar, which `dims` lacks.
  int axis(std::int64_t axis, int rank) const;
  /// Distinct axes; all of them where none were given. None of a scalar, whose one axis may be named.
  axis_bits axes_of(const axes& over, int rank) const;
  /// Number of elements that a reduction over axes brings together.
  std::int64_t elements_of(axis_bits reduced, const shape& dims) const;
};

// Composed functions of half precision compute in float32 and round each result once: they take `widened` operands and
// return `narrowed` results.

/// Returns half precision as float32; other dtypes and undefined tensors as they are.
tensor widened(const tensor& x);
/// The common dtype of operands. Undefined ones have no say.
dtype promoted(std::initializer_list<const tensor*> xs);
/// y rounded to `type` if that is a half; y itself otherwise.
tensor narrowed(const tensor& y, dtype type);

/// The square root, with the gradient 0 at 0, as of a length that cannot get shorter.
tensor root_of(const tensor& squares);

/// For each element of a matrix, int64, how far it lies above the main diagonal.
tensor columns_less_rows(std::int64_t rows, std::int64_t columns);

/// "operand x of shape [2, 3]".
std::string shaped(std::string_view operand, const tensor& x);

}  // namespace kerngrad::detail
