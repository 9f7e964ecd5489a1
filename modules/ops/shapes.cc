// SPDX-License-Identifier: Apache-2.0
// The shape rules: constexpr functions that give an op's result shapes or reject the call. Rows name them; the typed
// API, the by-name API and static assertions run the same code.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes;

import :std;
import :core;
import :op;
import :attributes;

namespace kerngrad::shapes {

/// A set of axes, one bit each.
using axis_set = std::uint32_t;

/// Counts an axis from the front, or throws. A scalar accepts axis 0 or -1 (detail::axis_from_front).
constexpr int normalized_axis(const inference& call, std::string_view name, std::int64_t axis, int rank) {
  const std::optional<int> counted = detail::axis_from_front(axis, rank);
  if (!counted) {
    const int count = rank == 0 ? 1 : rank;
    call.refuse(std::string(name) + " " + std::to_string(axis) + (rank == 0 ? " of a scalar" : ""),
                "an axis from " + std::to_string(-count) + " to " + std::to_string(count - 1));
  }
  return *counted;
}

/// The axis that an attribute names, counted from the front.
constexpr int axis_of(const inference& call, attr_place at, int rank) {
  return normalized_axis(call, at.name, call.attr(at).as_integer(), rank);
}

/// The axis that an attribute names, for an op that joins, cuts or indexes this axis. Throws for a scalar.
constexpr int axis_of_parts(const inference& call, attr_place at, int rank) {
  if (rank == 0) call.refuse("a scalar", "rank 1 or more: an axis with elements", "reshape it to [1]");
  return axis_of(call, at, rank);
}

/// The axes of a reduction or reversal, the first attribute: an integer, a list, or nothing for all of them. Empty for
/// a scalar, which accepts axis 0 or -1.
constexpr axis_set reduced_axes(const inference& call, int rank) {
  const std::string_view name = call.row.attrs[0].name;
  const attr_value& value = call.attrs[0];
  const axis_set all = (axis_set{1} << rank) - 1;
  if (!value.given()) return all;
  if (value.kind() == attr_kind::integer)
    return all & (axis_set{1} << normalized_axis(call, name, value.as_integer(), rank));
  axis_set axes = 0;
  for (std::int64_t axis : value.as_list()) {
    const axis_set bit = axis_set{1} << normalized_axis(call, name, axis, rank);
    if (axes & bit) call.refuse(std::string(name) + " names axis " + std::to_string(axis) + " twice", "distinct axes");
    axes |= bit;
  }
  return all & axes;
}

/// `dims` without the axes in the set, or with size 1 for them if `keep` is true.
constexpr shape without_axes(const shape& dims, axis_set axes, bool keep) {
  std::int64_t kept[max_rank]{};
  std::size_t rank = 0;
  for (int i = 0; i < dims.rank(); ++i) {
    if (!((axes >> i) & 1)) kept[rank++] = dims[i];
    else if (keep) kept[rank++] = 1;
  }
  return shape(std::span<const std::int64_t>(kept, rank));
}

/// The largest number of elements of a shape, and so the largest size of an axis.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 58;
/// The sum of two sizes, which cannot overflow. Throws for a sum that no shape has.
constexpr std::int64_t sum_of_sizes(const inference& call, std::int64_t a, std::int64_t b) {
  if (a > most_elements || b > most_elements - a) call.refuse("sizes that add up to more than 2^58", "at most 2^58");
  return a + b;
}

/// `dims` with one axis replaced.
constexpr shape with_axis(const shape& dims, int axis, std::int64_t size) {
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) sizes[i] = i == axis ? size : dims[i];
  return shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank())));
}

/// True if two shapes have one rank, and equal sizes but for one axis.
constexpr bool equal_but_for(const shape& a, const shape& b, int axis) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

/// `dims` with an axis inserted before `axis`.
constexpr shape with_inserted(const shape& dims, int axis, std::int64_t size) {
  std::int64_t sizes[max_rank + 1]{};
  for (int i = 0; i <= dims.rank(); ++i) sizes[i] = i < axis ? dims[i] : i == axis ? size : dims[i - 1];
  return shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()) + 1));
}

/// The least value of an integer dtype, and the first one above its range.
struct integer_bounds {
  double least, end;
};
constexpr integer_bounds bounds_of(dtype type) {
  return visit(type, []<dtype Type>(dtype_constant<Type> is) -> integer_bounds {
    using T = typename decltype(is)::element;
    if constexpr (!integral.has(Type)) return {};
    else
      return {static_cast<double>(std::numeric_limits<T>::min()),
              2 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1)};
  });
}
/// True if an integer dtype holds the number without its fraction, and for every number of another dtype. The end of
/// int64 is the double that is nearest to its largest integer.
constexpr bool has_integer(dtype type, double value) {
  if (!integral.has(type)) return true;
  const auto [least, end] = bounds_of(type);
  return type == dtype::int64 ? value >= least && value <= end : value > least - 1 && value < end;
}
/// Rejects a number that an integer dtype does not hold.
constexpr void expect_integer(const inference& call, std::string_view name, double value, dtype type) {
  if (has_integer(type, value)) return;
  call.refuse(std::string(name) + " = " + to_string(attr_value(value)) + " for dtype " + std::string(name_of(type)),
              "a number that " + std::string(name_of(type)) + " holds", "choose a dtype that holds it");
}
/// Rejects an attribute that cannot be an element of a dtype. Elements of text are made from a string, or from 0, which
/// stands for the empty one. Other elements are made from a number, which an integer dtype has to hold.
constexpr void expect_element(const inference& call, attr_place at, dtype type) {
  const attr_value& value = call.attr(at);
  if (value.kind() == attr_kind::text ? type == dtype::text : type != dtype::text || value.as_number() == 0) {
    if (value.kind() != attr_kind::text) expect_integer(call, at.name, value.as_number(), type);
    return;
  }
  call.refuse(std::string(at.name) + " = " + to_string(value) + " for dtype " + std::string(name_of(type)),
              "a text or 0 for text, a number for other dtypes");
}
/// Reads a shape from an attribute.
constexpr shape shape_attr(const inference& call, attr_place at) {
  const std::span<const std::int64_t> sizes = call.attr(at).as_list();
  for (std::int64_t size : sizes)
    if (size < 0) call.refuse(std::string(at.name) + " with the size " + std::to_string(size), "sizes of 0 or more");
  return shape(sizes);
}

// ------------------------------------------------------------------------------------------ elementwise

/// The result has the first operand's shape.
export constexpr void same(inference& call) { call.give(call.in[0].dims); }

/// The result has the shape that all operands broadcast to.
export constexpr void broadcasted(inference& call) {
  shape dims = call.in[0].dims;
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    const std::optional<shape> both = broadcast(dims, call.in[i].dims);
    if (!both)
      call.refuse("shapes " + to_string(dims) + " and " + to_string(call.in[i].dims),
                  "shapes that broadcast: aligned at the last axis, each pair of sizes equal or one of them 1",
                  "reshape one of the operands");
    dims = *both;
  }
  call.give(dims);
}

/// All operands have one shape, which is that of the result.
export constexpr void all_equal(inference& call) {
  for (std::size_t i = 1; i < call.in.size(); ++i)
    if (!(call.in[i].dims == call.in[0].dims))
      call.refuse("shapes " + to_string(call.in[0].dims) + " and " + to_string(call.in[i].dims), "equal shapes");
  call.give(call.in[0].dims);
}

/// ClipByValue: the shape of x. The bounds are in order, and a value of the dtype lies between them. They may lie
/// outside of the dtype. A bound that is NaN makes floats NaN; for integers it throws.
export constexpr void clip(inference& call) {
  constexpr attr_place lower = place_in(attributes::clip, "clipValueMin");
  constexpr attr_place upper = place_in(attributes::clip, "clipValueMax");
  const double least = call.attr(lower).as_number(), most = call.attr(upper).as_number();
  const auto refuse = [&](std::string_view wanted) {
    call.refuse("clipValueMin " + to_string(call.attr(lower)) + " and clipValueMax " + to_string(call.attr(upper)),
                wanted);
  };
  if (least > most) refuse("clipValueMin <= clipValueMax");
  if (integral.has(call.compute)) {
    if (least != least || most != most) refuse("numbers as bounds of " + std::string(name_of(call.compute)));
    const auto [least_of_all, end] = bounds_of(call.compute);
    const double first = __builtin_ceil(least), last = __builtin_floor(most);
    if (first > last || first >= end || last < least_of_all)
      refuse("bounds with a value of " + std::string(name_of(call.compute)) + " between them");
  }
  same(call);
}

/// Cast: the shape stays, the dtype is the attribute's.
export constexpr void cast(inference& call) {
  const dtype to = call.attr(place_in(attributes::cast, "dtype")).as_dtype();
  if (!any_dtype.has(to)) call.refuse("dtype " + std::string(name_of(to)), to_string(any_dtype));
  call.give(call.in[0].dims, to);
}

// ------------------------------------------------------------------------------------------ reductions

/// The reductions: x without the reduced axes, or with size 1 for them.
export constexpr void reduce(inference& call) {
  const shape& dims = call.in[0].dims;
  const axis_set axes = reduced_axes(call, dims.rank());
  call.resolved.set_axes(axes);
  call.give(without_axes(dims, axes, call.attr(place_in(attributes::reduce, "keepDims")).as_bool()));
}

/// ArgMax and ArgMin: x without the axis, which must not be empty.
export constexpr void arg_reduce(inference& call) {
  constexpr attr_place wanted = place_in(attributes::arg_reduce, "axis");
  const shape& dims = call.in[0].dims;
  const int axis = axis_of(call, wanted, dims.rank());
  if (dims.rank() == 0) {
    call.resolved.set_axes(0);
    return call.give(dims);
  }
  if (dims[axis] == 0) call.refuse("axis " + std::to_string(axis) + " of size 0", "an axis with elements");
  if (dims[axis] > std::numeric_limits<std::int32_t>::max())
    call.refuse("an axis of size " + std::to_string(dims[axis]), "at most 2^31 - 1 elements to index by int32");
  call.resolved.set_axes(axis_set{1} << axis);
  call.give(without_axes(dims, axis_set{1} << axis, false));
}

/// The axis along which softmax, scans and sorts work, the first attribute; -1 for a scalar, which is one element.
constexpr int resolve_axis_along(inference& call) {
  const int rank = call.in[0].dims.rank();
  const int named = normalized_axis(call, call.row.attrs[0].name, call.attrs[0].as_integer(), rank);
  const int axis = rank == 0 ? -1 : named;
  call.resolved.set_axis(axis);
  return axis;
}

/// Softmax, scans and sorts: the shape of x. Throws for an axis that x does not have.
export constexpr void along_axis(inference& call) {
  resolve_axis_along(call);
  call.give(call.in[0].dims);
}

/// LogSumExp: the operand's shape without the axis.
export constexpr void fold_along_axis(inference& call) {
  const int axis = resolve_axis_along(call);
  call.give(without_axes(call.in[0].dims, axis < 0 ? 0 : axis_set{1} << axis, false));
}

/// SoftmaxCrossEntropy: the logits without their last axis. Labels have the shape of the logits.
export constexpr void cross_entropy(inference& call) {
  const shape& dims = call.in[0].dims;
  if (!(dims == call.in[1].dims) || dims.rank() == 0)
    call.refuse("logits " + to_string(dims) + " and labels " + to_string(call.in[1].dims),
                "two tensors of one shape and rank 1 or more", "use one_hot for class indices");
  call.resolved.set_axis(dims.rank() - 1);
  call.give(without_axes(dims, axis_set{1} << (dims.rank() - 1), false));
}

/// BatchMatMul: the batch axes, broadcast, then the rows of a and the columns of b.
export constexpr void matmul(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[1].dims;
  if (a.rank() < 2 || b.rank() < 2)
    call.refuse("shapes " + to_string(a) + " and " + to_string(b), "rank 2 or more", "reshape vectors to matrices");
  const bool ta = call.attr(place_in(attributes::matmul, "transposeA")).as_bool();
  const bool tb = call.attr(place_in(attributes::matmul, "transposeB")).as_bool();
  const std::int64_t m = a[a.rank() - (ta ? 1 : 2)], ka = a[a.rank() - (ta ? 2 : 1)];
  const std::int64_t kb = b[b.rank() - (tb ? 1 : 2)], n = b[b.rank() - (tb ? 2 : 1)];
  if (ka != kb)
    call.refuse(
        "shapes " + to_string(a) + (ta ? " transposed" : "") + " and " + to_string(b) + (tb ? " transposed" : ""),
        "equal inner sizes, here " + std::to_string(ka) + " and " + std::to_string(kb));
  if (a.rank() == 2 && b.rank() == 2) return call.give({m, n});
  const std::optional<shape> batch = broadcast(shape(a.dims().first(static_cast<std::size_t>(a.rank()) - 2)),
                                               shape(b.dims().first(static_cast<std::size_t>(b.rank()) - 2)));
  if (!batch) call.refuse("shapes " + to_string(a) + " and " + to_string(b), "batch axes that broadcast");
  call.give(with_inserted(with_inserted(*batch, batch->rank(), m), batch->rank() + 1, n));
}

}  // namespace kerngrad::shapes
