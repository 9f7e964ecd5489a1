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

/// A set of axes with one bit for each.
using axis_bits = std::uint32_t;

/// The name of a composed function for its error messages, with checks of its operands. Each check passes or throws.
struct composed {
  std::string_view name;

  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
  void given(std::string_view operand, const tensor& x) const;
  /// Checks that x has at least `least` and at most `most` axes. A `most` below `least` is ignored.
  void rank(std::string_view operand, const tensor& x, int least, int most = max_rank) const;
  /// Checks that the dtype is any but text.
  void numbers(std::string_view operand, const tensor& x) const;
  /// Checks that the dtype is neither complex, which has no order, nor text.
  void real(std::string_view operand, const tensor& x) const;
  /// Checks that the dtype is floating: real numbers through which a gradient can flow.
  void floating(std::string_view operand, const tensor& x) const;
  void one_shape(std::string_view a_name, const tensor& a, std::string_view b_name, const tensor& b) const;
  /// Checks that b broadcasts to a's shape.
  void broadcasts_to(std::string_view b_name, const tensor& b, std::string_view a_name, const tensor& a) const;
  /// Counts an axis from the front, or throws. For a scalar, axes 0 and -1 give 0, although `dims` has no axis.
  int axis(std::int64_t axis, int rank) const;
  /// The distinct axes that were given, or all axes if none were. Empty for a scalar, which accepts axis 0 or -1.
  axis_bits axes_of(const axes& over, int rank) const;
  /// Number of elements that a reduction over axes combines into one.
  std::int64_t elements_of(axis_bits reduced, const shape& dims) const;
};

// Composed functions of half precision compute in float32 and round each result once: they take `widened` operands and
// return `narrowed` results.

/// Returns half precision as float32; other dtypes and undefined tensors as they are.
tensor widened(const tensor& x);
/// The common dtype of operands. Undefined tensors are ignored.
dtype promoted(std::initializer_list<const tensor*> xs);
/// y rounded to `type` if that is half precision; y itself otherwise.
tensor narrowed(const tensor& y, dtype type);

/// The square root with the gradient 0 at 0, like that of a length, which cannot get shorter.
tensor root_of(const tensor& squares);

/// Column index minus row index for each element of a matrix, int64: its distance above the main diagonal.
tensor columns_less_rows(std::int64_t rows, std::int64_t columns);

/// Describes an operand for a message: "operand x of shape [2, 3]".
std::string shaped(std::string_view operand, const tensor& x);

}  // namespace kerngrad::detail
