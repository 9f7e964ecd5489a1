// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :geometry;

namespace kerngrad {

using detail::axis_bits;
using detail::composed;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

tensor squeeze(const tensor& x, const axes& over) {
  constexpr composed call{"squeeze"};
  call.given("x", x);
  const axis_bits gone = call.axes_of(over, x.rank());
  const bool named = over.value().given();
  sizes_of kept;
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t size = x.dims()[i];
    const bool asked = (gone >> i) & 1;
    if (asked && named && size != 1)
      call.refuse("axis " + std::to_string(i) + " of " + shaped("x", x), "an axis of size 1");
    if (!asked || size != 1) kept.push_back(size);
  }
  return reshape(x, shape(kept));
}

tensor flatten(const tensor& x) {
  constexpr composed call{"flatten"};
  call.given("x", x);
  return detail::in_a_row(x);
}

tensor ensure_shape(const tensor& x, std::span<const std::int64_t> sizes) {
  constexpr composed call{"ensure_shape"};
  call.given("x", x);
  const auto fits = [](std::int64_t size, std::int64_t wanted) { return wanted == -1 || wanted == size; };
  if (!std::equal(x.dims().begin(), x.dims().end(), sizes.begin(), sizes.end(), fits))
    call.refuse(shaped("x", x), "the sizes " + to_string(attr_value(sizes)));
  return x;
}

namespace {

// Distinct axes counted from the front, in the order in which they were given.
std::vector<int> axes_in_order(const composed& call, std::span<const std::int64_t> given, int rank) {
  std::vector<int> found;
  for (const std::int64_t axis : given) {
    found.push_back(call.axis(axis, rank));
    if (std::count(found.begin(), found.end(), found.back()) > 1)
      call.refuse("axis " + std::to_string(found.back()) + " twice", "each axis once");
  }
  return found;
}

std::vector<int> axes_in_order(const composed& call, const axes& given, int rank) {
  const attr_value& value = given.value();
  if (value.kind() == attr_kind::list) return axes_in_order(call, value.as_list(), rank);
  if (value.given()) return {call.axis(value.as_integer(), rank)};
  std::vector<int> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

tensor moveaxis(const tensor& x, const axes& from, const axes& to) {
  constexpr composed call{"moveaxis"};
  call.given("x", x);
  const std::vector<int> sources = axes_in_order(call, from, x.rank());
  const std::vector<int> destinations = axes_in_order(call, to, x.rank());
  if (sources.size() != destinations.size())
    call.refuse(std::to_string(sources.size()) + " axes and " + std::to_string(destinations.size()) + " places",
                "a place for each axis");
  if (x.rank() == 0) return x;
  sizes_of perm(static_cast<std::size_t>(x.rank()), -1);
  for (std::size_t i = 0; i < sources.size(); ++i) perm[static_cast<std::size_t>(destinations[i])] = sources[i];
  int next = 0;
  for (std::int64_t& axis : perm) {
    if (axis >= 0) continue;
    while (std::count(sources.begin(), sources.end(), next) > 0) ++next;
    axis = next++;
  }
  if (std::is_sorted(perm.begin(), perm.end())) return x;  // nothing moves
  return transpose(x, perm);
}

tensor expand_dims(const tensor& x, std::span<const std::int64_t> positions) {
  constexpr composed call{"expand_dims"};
  call.given("x", x);
  const std::size_t rank = static_cast<std::size_t>(x.rank()) + positions.size();
  if (rank > static_cast<std::size_t>(max_rank))
    call.refuse(std::to_string(positions.size()) + " new axes of " + shaped("x", x), "at most 8 axes in all");
  sizes_of sizes(x.dims().begin(), x.dims().end());
  std::vector<int> added = axes_in_order(call, positions, static_cast<int>(rank));
  std::sort(added.begin(), added.end());
  for (const int axis : added) sizes.insert(sizes.begin() + axis, 1);
  return reshape(x, shape(sizes));
}

tensor detail::columns_less_rows(std::int64_t rows, std::int64_t columns) {
  const auto numbers = [](std::int64_t count) { return arange(0, static_cast<double>(count), 1, dtype::int64); };
  return numbers(columns) - expand_dims(numbers(rows), 1);
}

tensor eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t offset, dtype type,
           const shape& batch) {
  constexpr composed call{"eye"};
  const std::int64_t width = columns.value_or(rows);
  if (rows < 0 || width < 0)
    call.refuse(std::to_string(rows) + " rows and " + std::to_string(width) + " columns", "sizes of 0 or more");
  sizes_of sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), {rows, width});
  const shape dims(sizes);
  if (dims.size() == 0) return zeros(dims, type);
  const std::int64_t above = std::clamp(offset, -rows, width), first = std::max<std::int64_t>(-above, 0);
  const std::int64_t ones_there = std::min(rows - first, width - std::max<std::int64_t>(above, 0));
  if (ones_there == 0) return zeros(dims, type);
  // Rows that are one element longer have their ones below each other. `first` rows down, the diagonal is as many
  // elements later in the memory.
  const std::int64_t before = std::max<std::int64_t>(above, 0);
  const std::int64_t longer = std::max(first + ones_there, (first + rows * width + width) / (width + 1));
  const tensor column = pad(ones({ones_there, 1}, type), {first, longer - first - ones_there, before, width - before});
  const tensor flat = detail::in_a_row(column);
  return broadcast_to(reshape(flat(range(first, first + rows * width)), {rows, width}), dims);
}

tensor_list meshgrid(std::span<const tensor> vectors, indexing order) {
  constexpr composed call{"meshgrid"};
  if (vectors.size() > static_cast<std::size_t>(max_rank))
    call.refuse(std::to_string(vectors.size()) + " vectors", "at most 8: one for each axis");
  const int rank = static_cast<int>(vectors.size());
  const auto axis_of = [&](int i) { return order == indexing::xy && i < 2 && rank > 1 ? 1 - i : i; };
  sizes_of grid(vectors.size());
  for (int i = 0; i < rank; ++i) {
    const tensor& vector = vectors[static_cast<std::size_t>(i)];
    call.rank("vectors[" + std::to_string(i) + "]", vector, 0, 1);
    grid[static_cast<std::size_t>(axis_of(i))] = vector.size();
  }
  tensor_list all;
  for (int i = 0; i < rank; ++i) {
    const tensor& vector = vectors[static_cast<std::size_t>(i)];
    sizes_of along(grid.size(), 1);
    along[static_cast<std::size_t>(axis_of(i))] = vector.size();
    all.push_back(broadcast_to(reshape(vector, shape(along)), shape(grid)));
  }
  return all;
}

tensor swapaxes(const tensor& x, axis_index a, axis_index b) {
  constexpr composed call{"swapaxes"};
  call.given("x", x);
  const int first = call.axis(a.value(), x.rank()), second = call.axis(b.value(), x.rank());
  if (x.rank() == 0) return x;
  sizes_of perm(static_cast<std::size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(first)], perm[static_cast<std::size_t>(second)]);
  return transpose(x, perm);
}

namespace {

// `count` slices along an axis from `first` on.
tensor slices(const tensor& x, int axis, std::int64_t first, std::int64_t count) {
  sizes_of begin(static_cast<std::size_t>(x.rank()), 0), size(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = count;
  return slice(x, begin, size);
}

}  // namespace

namespace {

constexpr operand rolled_operands[] = {{"x", any_dtype}};
constexpr attr_spec rolled_attributes[] = {{.name = "shifts",
                                            .kind = attr_kind::list,
                                            .doc = "positions that elements move by, for each axis",
                                            .required = true}};
void infer_rolled(inference& call) { call.give(call.in[0].dims); }
tensor rolled_back(const tensor& dy, std::span<const std::int64_t> shifts);

// Elements [0, moved) of a row come from its end. Short rows are not worth calls of memcpy.
template <class T>
void copy_rolled(const T* x, std::int64_t length, std::int64_t moved, T* y) {
  constexpr std::int64_t few = 8;
  const std::int64_t kept = length - moved;
  if (length > few) {
    std::memcpy(y, x + kept, static_cast<std::size_t>(moved) * sizeof(T));
    std::memcpy(y + moved, x, static_cast<std::size_t>(kept) * sizeof(T));
    return;
  }
#pragma clang loop vectorize(disable)
  for (std::int64_t i = 0; i < length; ++i) y[i] = x[i < moved ? i + kept : i - moved];
}

// Rows of the last axis that moves, with the axes inside of it, are copied in two parts.
template <class T>
void run_rolled(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  if (dims.size() == 0) return;
  const std::span<const T> x = elements_in<T>(c, 0);
  const std::span<T> y = elements_out<T>(c);
  const std::span<const std::int64_t> shifts = c.call.attr(place_in(rolled_attributes, "shifts")).as_list();
  const auto shift = [&](int axis) { return shifts[static_cast<std::size_t>(axis)]; };
  int last = dims.rank() - 1, first = 0;
  while (last > 0 && shift(last) == 0) --last;
  while (first < last && shift(first) == 0) ++first;
  std::int64_t inside = 1;
  for (int axis = last + 1; axis < dims.rank(); ++axis) inside *= dims[axis];
  const std::int64_t length = dims[last] * inside, rows = dims.size() / length;
  const auto row_before = [&](std::int64_t row) {
    std::int64_t from = 0, stride = 1;
    for (int axis = last - 1; axis >= first; --axis) {
      const std::int64_t size = dims[axis], at = row % size - shift(axis);
      from += (at < 0 ? at + size : at) * stride;
      stride *= size, row /= size;
    }
    return row * stride + from;
  };
  const std::int64_t together = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / length);
  detail::in_chunks(
      rows, together, static_cast<std::int64_t>(y.size_bytes()), [&](std::int64_t begin, std::int64_t count) {
        for (std::int64_t i = begin; i < begin + count; ++i)
          copy_rolled(x.data() + row_before(i) * length, length, shift(last) * inside, y.data() + i * length);
      });
}

/// Moves elements along all axes at once.
struct Rolled {
  static constexpr op_row row{.name = "Rolled",
                              .doc = "Elements moved along axes; those that leave at an end come in at the other one.",
                              .group = family::move,
                              .operands = rolled_operands,
                              .attrs = rolled_attributes,
                              .infer = infer_rolled,
                              .cost = 1};
  static constexpr auto kernels = on_calls<any_dtype>([]<class T>(const launch_call& c) { run_rolled<T>(c); });
  static constexpr auto gradient = gradient_of(
      wrt(keep::nothing, [](const auto& c) { return rolled_back(c.dy(), c.template attr<"shifts">().as_list()); }));
};

// Shifts from 0 to below the size of each axis.
tensor rolled(const tensor& x, std::span<const std::int64_t> shifts) {
  if (x.type() != dtype::text) return call<Rolled>(x, attr<"shifts">(attr_value(shifts)));
  tensor y = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t size = x.dims()[axis], shift = shifts[static_cast<std::size_t>(axis)];
    if (shift > 0) y = concat({slices(y, axis, size - shift, shift), slices(y, axis, 0, size - shift)}, axis);
  }
  return y;
}
tensor rolled_back(const tensor& dy, std::span<const std::int64_t> shifts) {
  sizes_of back(shifts.begin(), shifts.end());
  for (std::size_t i = 0; i < back.size(); ++i)
    if (back[i] > 0) back[i] = dy.dims()[static_cast<int>(i)] - back[i];
  return rolled(dy, back);
}

// Distinct or equal axes by their shifts, which may be of any size.
tensor rolled_by(const composed& call, const tensor& x, std::span<const std::int64_t> shifts,
                 std::span<const std::int64_t> over) {
  sizes_of all(static_cast<std::size_t>(x.rank()), 0);
  bool moves = false;
  for (std::size_t i = 0; i < over.size(); ++i) {
    const int axis = call.axis(over[i], x.rank());
    if (x.rank() == 0 || x.dims()[axis] == 0) continue;
    const std::int64_t size = x.dims()[axis], shift = shifts[i] % size;
    std::int64_t& sum = all[static_cast<std::size_t>(axis)];
    sum = (sum + shift + size) % size;
  }
  for (const std::int64_t shift : all) moves = moves || shift != 0;
  return moves && x.size() > 0 ? rolled(x, all) : x;
}

}  // namespace

tensor roll(const tensor& x, std::int64_t shift, axis_index axis) {
  constexpr composed call{"roll"};
  call.given("x", x);
  const std::int64_t at = axis.value();
  return rolled_by(call, x, {&shift, 1}, {&at, 1});
}

tensor roll(const tensor& x, std::int64_t shift) {
  constexpr composed call{"roll"};
  call.given("x", x);
  return reshape(roll(flatten(x), shift, 0), x.dims());
}

tensor roll(const tensor& x, std::span<const std::int64_t> shifts, std::span<const std::int64_t> over) {
  constexpr composed call{"roll"};
  call.given("x", x);
  if (shifts.size() != over.size())
    call.refuse(std::to_string(shifts.size()) + " shifts and " + std::to_string(over.size()) + " axes",
                "a shift for each axis");
  return rolled_by(call, x, shifts, over);
}

tensor repeat(const tensor& x, std::int64_t count) {
  constexpr composed call{"repeat"};
  call.given("x", x);
  return repeat(flatten(x), count, 0);
}

tensor repeat(const tensor& x, std::int64_t count, axis_index axis) {
  constexpr composed call{"repeat"};
  call.rank("x", x, 0, max_rank - 1);
  const int at = call.axis(axis.value(), x.rank());
  if (x.rank() == 0) return repeat(flatten(x), count, 0);
  if (count < 0) call.refuse("count " + std::to_string(count), "0 or more");
  sizes_of copies(x.dims().begin(), x.dims().end()), result(copies);
  copies.insert(copies.begin() + at + 1, count);
  const auto grown = static_cast<std::size_t>(at);
  if (__builtin_mul_overflow(result[grown], count, &result[grown]))
    call.refuse("count " + std::to_string(count) + " of " + shaped("x", x), "a size that fits into 64 bits");
  return reshape(broadcast_to(expand_dims(x, at + 1), shape(copies)), shape(result));
}

tensor take(const tensor& x, const tensor& indices, axis_index axis) {
  constexpr composed call{"take"};
  call.given("x", x);
  call.given("indices", indices);
  const int at = call.axis(axis.value(), x.rank());
  if (x.rank() == 0) return take(flatten(x), indices, 0);
  const std::int64_t size = x.dims()[at];
  if (indices.type() != dtype::int32 && indices.type() != dtype::int64)
    return gather(x, indices, axis);  // rejected there, which names what it was given
  const bool fits = size <= std::numeric_limits<std::int32_t>::max();
  const tensor given = fits ? indices : cast(indices, dtype::int64);
  const tensor from_back = (given < 0) & (given >= -size);  // what is outside is rejected as it was given
  return gather(x, where(from_back, given + size, given), axis);
}
tensor take(const tensor& x, const tensor& indices) {
  constexpr composed call{"take"};
  call.given("x", x);
  return take(flatten(x), indices, 0);
}

tensor diff(const tensor& x, std::int64_t order, axis_index axis) {
  constexpr composed call{"diff"};
  call.rank("x", x, 1);
  const int at = call.axis(axis.value(), x.rank());
  if (order < 0 || order > x.dims()[at])
    call.refuse("order " + std::to_string(order) + " of " + shaped("x", x), "0 to the size of the axis");
  tensor y = order > 1 ? detail::widened(x) : x;
  for (; order > 0; --order) {
    const std::int64_t left = y.dims()[at] - 1;
    y = slices(y, at, 1, left) - slices(y, at, 0, left);
  }
  return detail::narrowed(y, x.type());
}

}  // namespace kerngrad
