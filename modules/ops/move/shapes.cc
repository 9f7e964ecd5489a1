// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops that move elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_move;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// Reshape: the given sizes. One of them may be -1 and is computed from the others.
export constexpr void reshape(inference& call) {
  const std::span<const std::int64_t> wanted = call.attr(place_in(attributes::reshape, "shape")).as_list();
  const std::int64_t size = call.in[0].dims.size();
  std::int64_t dims[max_rank]{}, known = 1;
  int open = -1;
  if (wanted.size() > static_cast<std::size_t>(max_rank))
    call.refuse("a shape of more than 8 axes", "a rank of at most 8");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    dims[i] = wanted[i];
    if (wanted[i] == -1 && open < 0) open = static_cast<int>(i);
    else if (wanted[i] < 0)
      call.refuse("a size of " + std::to_string(wanted[i]), "sizes of 0 or more, and -1 at most once");
    else if (wanted[i] > 0 && known > most_elements / wanted[i])
      call.refuse("sizes whose product overflows", "as many elements as there are, " + std::to_string(size));
    else known *= wanted[i];
  }
  if (open >= 0) {
    if (known == 0 || size % known != 0)
      call.refuse(std::to_string(size) + " elements",
                  "a multiple of the known sizes' product " + std::to_string(known));
    dims[open] = size / known;
  }
  const shape result(std::span<const std::int64_t>(dims, wanted.size()));
  if (result.size() != size)
    call.refuse("shape " + to_string(call.in[0].dims) + " with " + std::to_string(size) + " elements",
                "as many elements as " + to_string(result) + " has, " + std::to_string(result.size()));
  call.give(result);
}

/// ExpandDims: x with one more axis, of size 1.
export constexpr void expand_dims(inference& call) {
  const shape& dims = call.in[0].dims;
  if (dims.rank() == max_rank) call.refuse("rank 8", "a rank of at most 7, so that one axis can be added");
  call.give(with_inserted(dims, axis_of(call, place_in(attributes::expand_dims, "dim"), dims.rank() + 1), 1));
}

/// The permutation of Transpose. Without the attribute it reverses the axes.
constexpr std::array<int, max_rank> permutation(const inference& call) {
  const shape& dims = call.in[0].dims;
  std::array<int, max_rank> perm{};
  const attr_value& given = call.attr(place_in(attributes::transpose, "perm"));
  if (!given.given()) {
    for (int i = 0; i < dims.rank(); ++i) perm[static_cast<std::size_t>(i)] = dims.rank() - 1 - i;
    return perm;
  }
  const std::span<const std::int64_t> wanted = given.as_list();
  if (wanted.size() != static_cast<std::size_t>(dims.rank()))
    call.refuse("perm of " + std::to_string(wanted.size()) + " axes",
                "one for each of the " + std::to_string(dims.rank()));
  axis_set seen = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    perm[i] = normalized_axis(call, "perm", wanted[i], dims.rank());
    if ((seen >> perm[i]) & 1)
      call.refuse("perm that names axis " + std::to_string(perm[i]) + " twice", "every axis once");
    seen |= axis_set{1} << perm[i];
  }
  return perm;
}

/// Transpose: axis i of the result is axis perm[i] of x.
export constexpr void transpose(inference& call) {
  const shape& dims = call.in[0].dims;
  const auto perm = permutation(call);
  call.resolved.set_permutation(perm);
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) sizes[i] = dims[perm[static_cast<std::size_t>(i)]];
  call.give(shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()))));
}

/// The begin of Slice on each axis. A single integer is that of the first axis; missing ones are 0.
constexpr std::array<std::int64_t, max_rank> slice_begin(const inference& call) {
  const shape& dims = call.in[0].dims;
  const attr_value& value = call.attr(place_in(attributes::slice, "begin"));
  std::array<std::int64_t, max_rank> begin{};
  if (value.kind() == attr_kind::integer) begin[0] = value.as_integer();
  const std::span<const std::int64_t> list = value.as_list();
  if (list.size() > static_cast<std::size_t>(dims.rank()) || (value.kind() == attr_kind::integer && dims.rank() == 0))
    call.refuse("begin of more axes than the rank " + std::to_string(dims.rank()), "at most one value an axis");
  for (std::size_t i = 0; i < list.size(); ++i) begin[i] = list[i];
  for (int i = 0; i < dims.rank(); ++i)
    if (begin[static_cast<std::size_t>(i)] < 0 || begin[static_cast<std::size_t>(i)] > dims[i])
      call.refuse("begin " + std::to_string(begin[static_cast<std::size_t>(i)]) + " on axis " + std::to_string(i),
                  "0 to the axis' size " + std::to_string(dims[i]));
  return begin;
}

/// Slice: the given size on each axis. A size that is -1 or missing reaches to the end of the axis.
export constexpr void slice(inference& call) {
  const shape& dims = call.in[0].dims;
  const auto begin = slice_begin(call);
  const attr_value& value = call.attr(place_in(attributes::slice, "size"));
  const std::span<const std::int64_t> list = value.as_list();
  if (list.size() > static_cast<std::size_t>(dims.rank()))
    call.refuse("size of more axes than the rank " + std::to_string(dims.rank()), "at most one value an axis");
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const std::int64_t rest = dims[i] - begin[at];
    sizes[i] = at < list.size() ? list[at] : i == 0 && value.kind() == attr_kind::integer ? value.as_integer() : -1;
    if (sizes[i] == -1) sizes[i] = rest;
    if (sizes[i] < 0 || sizes[i] > rest)
      call.refuse("begin " + std::to_string(begin[at]) + " and size " + std::to_string(sizes[i]) + " on axis " +
                      std::to_string(i) + " of size " + std::to_string(dims[i]),
                  "begin + size within the axis");
  }
  call.resolved.set_begin(begin);
  call.give(shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()))));
}

/// The axis along which tensors are joined or cut.
constexpr int resolve_axis(inference& call, attr_place at, int rank) {
  const int axis = axis_of_parts(call, at, rank);
  call.resolved.set_axis(axis);
  return axis;
}

/// Concat: the sizes of the axis added up. The other sizes are equal.
export constexpr void concat(inference& call) {
  const shape& first = call.in[0].dims;
  const int axis = resolve_axis(call, place_in(attributes::join, "axis"), first.rank());
  std::int64_t total = 0;
  for (const view& in : call.in) {
    if (!equal_but_for(in.dims, first, axis))
      call.refuse("shapes " + to_string(first) + " and " + to_string(in.dims),
                  "equal shapes but for axis " + std::to_string(axis));
    total = sum_of_sizes(call, total, in.dims[axis]);
  }
  call.give(with_axis(first, axis, total));
}

/// Pack: the shape of the operands, which is the same for all, with a new axis.
export constexpr void pack(inference& call) {
  const shape& first = call.in[0].dims;
  for (const view& in : call.in)
    if (!(in.dims == first)) call.refuse("shapes " + to_string(first) + " and " + to_string(in.dims), "equal shapes");
  if (first.rank() == max_rank) call.refuse("rank 8", "a rank of at most 7, so that one axis can be added");
  const int axis = resolve_axis(call, place_in(attributes::join, "axis"), first.rank() + 1);
  call.give(with_inserted(first, axis, static_cast<std::int64_t>(call.in.size())));
}

/// The largest number of results of a call.
inline constexpr std::int64_t most_results = 65536;
constexpr void check_results(const inference& call, std::int64_t count) {
  if (count > most_results)
    call.refuse(std::to_string(count) + " results", "at most " + std::to_string(most_results), "use slice or reshape");
}

/// Unpack: a result for each index of the axis, without the axis.
export constexpr void unpack(inference& call) {
  const shape& dims = call.in[0].dims;
  const int axis = resolve_axis(call, place_in(attributes::join, "axis"), dims.rank());
  check_results(call, dims[axis]);
  for (std::int64_t i = 0; i < dims[axis]; ++i) call.give(without_axes(dims, axis_set{1} << axis, false));
}

/// SplitV: equal parts of the axis, or parts of the given sizes, one of which may be -1.
export constexpr void split(inference& call) {
  const shape& dims = call.in[0].dims;
  const int axis = resolve_axis(call, place_in(attributes::split, "axis"), dims.rank());
  const attr_value& value = call.attr(place_in(attributes::split, "numOrSizeSplits"));
  if (value.kind() == attr_kind::integer) {
    const std::int64_t parts = value.as_integer();
    if (parts < 1 || dims[axis] % parts != 0)
      call.refuse(std::to_string(parts) + " parts of an axis of size " + std::to_string(dims[axis]),
                  "a divisor of the size");
    check_results(call, parts);
    for (std::int64_t i = 0; i < parts; ++i) call.give(with_axis(dims, axis, dims[axis] / parts));
    return;
  }
  const std::span<const std::int64_t> sizes = value.as_list();
  std::int64_t known = 0, open = 0;
  for (std::int64_t size : sizes) {
    if (size < -1) call.refuse("a part of size " + std::to_string(size), "sizes of 0 or more, and -1 at most once");
    if (size == -1) ++open;
    else known = sum_of_sizes(call, known, size);
  }
  if (open > 1 || (open == 0 && known != dims[axis]) || known > dims[axis])
    call.refuse("parts of " + std::to_string(known) + " in all on an axis of size " + std::to_string(dims[axis]),
                "sizes that add up to the axis, -1 at most once");
  check_results(call, static_cast<std::int64_t>(sizes.size()));
  for (std::int64_t size : sizes) call.give(with_axis(dims, axis, size == -1 ? dims[axis] - known : size));
}

/// Adds a pair (before, after) of paddings to each axis.
constexpr void pad_axes(inference& call) {
  const shape& dims = call.in[0].dims;
  const std::span<const std::int64_t> pairs = call.attr(place_in(attributes::pad, "paddings")).as_list();
  if (pairs.size() != 2 * static_cast<std::size_t>(dims.rank()))
    call.refuse("paddings of " + std::to_string(pairs.size()) + " values",
                "a pair for each of the " + std::to_string(dims.rank()) + " axes");
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) {
    const std::int64_t before = pairs[2 * static_cast<std::size_t>(i)],
                       after = pairs[2 * static_cast<std::size_t>(i) + 1];
    if (before < 0 || after < 0)
      call.refuse("a negative padding on axis " + std::to_string(i), "paddings of 0 or more");
    sizes[i] = sum_of_sizes(call, sum_of_sizes(call, dims[i], before), after);
  }
  call.give(shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()))));
}

/// PadV2: each axis with its paddings added. Tensors of text are padded with a string.
export constexpr void pad(inference& call) {
  expect_element(call, place_in(attributes::pad, "constantValue"), call.in[0].type);
  pad_axes(call);
}

/// Tile: each size multiplied by its number of repetitions.
export constexpr void tile(inference& call) {
  const shape& dims = call.in[0].dims;
  const std::span<const std::int64_t> reps = call.attr(place_in(attributes::tile, "reps")).as_list();
  if (reps.size() != static_cast<std::size_t>(dims.rank()))
    call.refuse("reps of " + std::to_string(reps.size()) + " values",
                "one for each of the " + std::to_string(dims.rank()) + " axes");
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) {
    const std::int64_t count = reps[static_cast<std::size_t>(i)];
    if (count < 0 || (dims[i] > 0 && count > most_elements / dims[i]))
      call.refuse("a repetition of " + std::to_string(count), "repetitions of 0 or more whose result fits in memory");
    sizes[i] = dims[i] * count;
  }
  call.give(shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()))));
}

/// BroadcastTo: the given shape, to which the operand broadcasts.
export constexpr void broadcast_to(inference& call) {
  const shape wanted = shape_attr(call, place_in(attributes::shape_of_result, "shape"));
  const std::optional<shape> both = broadcast(call.in[0].dims, wanted);
  if (!both || !(*both == wanted))
    call.refuse("shape " + to_string(call.in[0].dims), "a shape that broadcasts to " + to_string(wanted));
  call.give(wanted);
}

/// GatherV2: x with the axes of the indices in place of its axis. The first `batchDims` axes of both are shared.
export constexpr void gather(inference& call) {
  const shape &x = call.in[0].dims, &indices = call.in[1].dims;
  const int axis = axis_of_parts(call, place_in(attributes::gather, "axis"), x.rank());
  const std::int64_t given = call.attr(place_in(attributes::gather, "batchDims")).as_integer();
  const std::int64_t batch = given < 0 ? given + indices.rank() : given;
  if (batch < 0 || batch > indices.rank() || batch > axis)
    call.refuse("batchDims " + std::to_string(given), "0 to the smaller of the axis and the indices' rank");
  call.resolved.set_axis(axis, static_cast<int>(batch));
  std::int64_t dims[2 * max_rank]{};
  std::size_t rank = 0;
  for (int i = 0; i < axis; ++i) {
    if (i < batch && x[i] != indices[i])
      call.refuse("shapes " + to_string(x) + " and " + to_string(indices), "equal sizes on the batch axes");
    dims[rank++] = x[i];
  }
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) dims[rank++] = indices[i];
  for (int i = axis + 1; i < x.rank(); ++i) dims[rank++] = x[i];
  call.give(shape(std::span<const std::int64_t>(dims, rank)));
}

/// GatherGrad: the shape of x in the attribute `inputShape`. dy has the shape of the gathered slices.
export constexpr void gather_grad(inference& call) {
  const shape x = shape_attr(call, place_in(attributes::gather_grad, "inputShape"));
  const view operands[2] = {{nullptr, x, call.in[0].type}, call.in[1]};
  inference forward{
      .row = call.row, .in = operands, .attrs = call.attrs, .compute = call.compute, .result_type = call.result_type};
  gather(forward);
  if (!(forward.out[0].dims == call.in[0].dims))
    call.refuse("dy of shape " + to_string(call.in[0].dims),
                "the shape of the gathered result, " + to_string(forward.out[0].dims));
  call.resolved.set_axis(forward.resolved.axis.at, forward.resolved.axis.batch);
  call.give(x);
}

/// UnsortedSegmentSum: x with one axis of `numSegments` in place of its first axes, which are those of the ids.
export constexpr void segment_sum(inference& call) {
  const shape &x = call.in[0].dims, &ids = call.in[1].dims;
  const std::int64_t segments = call.attr(place_in(attributes::segments, "numSegments")).as_integer();
  if (segments < 0) call.refuse("numSegments " + std::to_string(segments), "0 or more");
  if (ids.rank() > x.rank() || !(shape(x.dims().first(static_cast<std::size_t>(ids.rank()))) == ids))
    call.refuse("x " + to_string(x) + " and segmentIds " + to_string(ids), "ids with the first sizes of x");
  std::int64_t dims[max_rank + 1]{segments};
  std::size_t rank = 1;
  for (int i = ids.rank(); i < x.rank(); ++i) dims[rank++] = x[i];
  call.give(shape(std::span<const std::int64_t>(dims, rank)));
}

/// The double from which on numbers become infinite in a float type: half a unit beyond the largest.
template <class T>
constexpr double end_of() {
  const auto end = [](int digits, int max_exponent) {
    const auto power = [](int exponent) {
      return __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 + exponent) << 52);
    };
    return power(max_exponent) - power(max_exponent - digits - 1);
  };
  if constexpr (requires { T::digits; }) return end(T::digits, T::max_exponent);
  else return end(std::numeric_limits<T>::digits, std::numeric_limits<T>::max_exponent);
}
/// True if a dtype can hold a number. The number is in the range of the dtype (up to 2^53 for int64, where doubles stop
/// being exact). It is 0 or 1 for bool, and finite. text holds none.
constexpr bool holds_number(dtype type, double value) {
  return visit(type, [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    constexpr dtype_kind kind = kind_of(Type);
    double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
    if constexpr (kind == dtype_kind::text) {
      return false;
    } else if constexpr (kind == dtype_kind::half || std::is_same_v<T, float>) {
      return value > -end_of<T>() && value < end_of<T>();
    } else if constexpr (kind == dtype_kind::boolean || kind == dtype_kind::integer) {
      constexpr double exact = 9007199254740992.0;
      least = static_cast<double>(std::numeric_limits<T>::lowest()),
      most = static_cast<double>(std::numeric_limits<T>::max());
      if (least < -exact) least = -exact, most = exact;
    }
    return value >= least && value <= most;
  });
}
constexpr void check_fits(const inference& call, attr_place at, dtype type) {
  if (!holds_number(type, call.attr(at).as_number()))
    call.refuse(std::string(at.name) + " = " + to_string(call.attr(at)),
                "a number that " + std::string(name_of(type)) + " holds");
}

/// OneHot: the shape of the indices with a new last axis of size `depth`.
export constexpr void one_hot(inference& call) {
  const std::int64_t depth = call.attr(place_in(attributes::one_hot, "depth")).as_integer();
  const shape& indices = call.in[0].dims;
  if (depth < 2) call.refuse("depth " + std::to_string(depth), "a depth of at least 2");
  if (indices.rank() == max_rank) call.refuse("rank 8", "a rank of at most 7, so that one axis can be added");
  const dtype type = call.attr(place_in(attributes::one_hot, "dtype")).as_dtype();
  if (!floating.has(type)) {
    check_fits(call, place_in(attributes::one_hot, "onValue"), type);
    check_fits(call, place_in(attributes::one_hot, "offValue"), type);
  }
  call.give(with_inserted(indices, indices.rank(), depth), type);
}

/// Reverse: the shape of x.
export constexpr void reverse(inference& call) {
  call.resolved.set_axes(reduced_axes(call, call.in[0].dims.rank()));
  call.give(call.in[0].dims);
}

}  // namespace kerngrad::shapes
