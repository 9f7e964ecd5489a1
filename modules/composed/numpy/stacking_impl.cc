// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

namespace {

std::string tensor_at(std::size_t i) { return "tensors[" + std::to_string(i) + "]"; }

// Each tensor changed, and all joined along an axis.
template <class Change>
tensor joined_as(const composed& call, std::span<const tensor> tensors, int axis, Change change) {
  if (tensors.empty()) call.refuse("no tensors", "one or more");
  std::vector<tensor> parts;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    call.given(tensor_at(i), tensors[i]);
    parts.push_back(change(tensors[i]));
    if (parts[i].rank() != parts[0].rank())
      call.refuse(shaped(tensor_at(i), tensors[i]) + " next to " + shaped(tensor_at(0), tensors[0]), "one rank");
    for (int at = 0; at < parts[0].rank(); ++at)
      if (at != axis && parts[i].dims()[at] != parts[0].dims()[at])
        call.refuse(shaped(tensor_at(i), tensors[i]) + " next to " + shaped(tensor_at(0), tensors[0]),
                    "the same sizes apart from axis " + std::to_string(axis));
  }
  return concat(parts, axis);
}

}  // namespace

tensor concatenate(std::span<const tensor> tensors, axis_index axis) {
  constexpr composed call{"concatenate"};
  if (tensors.empty()) call.refuse("no tensors", "one or more");
  call.rank(tensor_at(0), tensors[0], 1);
  return joined_as(call, tensors, call.axis(axis.value(), tensors[0].rank()), [](const tensor& x) { return x; });
}

tensor vstack(std::span<const tensor> tensors) {
  return joined_as(composed{"vstack"}, tensors, 0,
                   [](const tensor& x) { return x.rank() < 2 ? reshape(x, {1, x.size()}) : x; });
}

tensor hstack(std::span<const tensor> tensors) {
  const bool lists = !tensors.empty() && tensors[0].defined() && tensors[0].rank() < 2;
  return joined_as(composed{"hstack"}, tensors, lists ? 0 : 1,
                   [](const tensor& x) { return x.rank() == 0 ? flatten(x) : x; });
}

tensor dstack(std::span<const tensor> tensors) {
  return joined_as(composed{"dstack"}, tensors, 2, [](const tensor& x) {
    if (x.rank() < 2) return reshape(x, {1, x.size(), 1});
    return x.rank() == 2 ? expand_dims(x, 2) : x;
  });
}

tensor column_stack(std::span<const tensor> tensors) {
  return joined_as(composed{"column_stack"}, tensors, 1,
                   [](const tensor& x) { return x.rank() < 2 ? reshape(x, {x.size(), 1}) : x; });
}

// ------------------------------------------------------------------------------------------ products

namespace {

std::vector<int> counted_axes(const composed& call, std::span<const std::int64_t> given, int rank) {
  std::vector<int> found;
  for (const std::int64_t axis : given) {
    found.push_back(call.axis(axis, rank));
    if (std::count(found.begin(), found.end(), found.back()) > 1)
      call.refuse("axis " + std::to_string(axis) + " twice", "each axis once");
  }
  return found;
}

// The axes that are not in a list, as axes and as sizes.
struct other_sizes {
  sizes_of axes, sizes;
};
other_sizes others(const tensor& x, const std::vector<int>& taken) {
  other_sizes of;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (std::count(taken.begin(), taken.end(), axis) == 0) {
      of.axes.push_back(axis);
      of.sizes.push_back(x.dims()[axis]);
    }
  return of;
}

std::int64_t product(const sizes_of& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count = kernels::product_of(count, size);
  return count;
}

// An operand as a matrix of the axes that stay and those that are summed over. It is copied only where neither order of
// the two is that of the elements.
struct summed_matrix {
  tensor elements;
  bool summed_first;
};
summed_matrix summed_matrix_of(const tensor& x, const other_sizes& stay, const std::vector<int>& summed,
                               std::int64_t inner) {
  const std::int64_t outer = product(stay.sizes);
  const auto in_order = [](sizes_of first, const sizes_of& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const sizes_of last(summed.begin(), summed.end()), perm = in_order(stay.axes, last);
  if (std::ranges::is_sorted(perm)) return {reshape(x, {outer, inner}), false};
  if (std::ranges::is_sorted(in_order(last, stay.axes))) return {reshape(x, {inner, outer}), true};
  return {reshape(transpose(x, perm), {outer, inner}), false};
}

}  // namespace

tensor tensordot(const tensor& a, const tensor& b, std::span<const std::int64_t> axes_of_a,
                 std::span<const std::int64_t> axes_of_b) {
  constexpr composed call{"tensordot"};
  call.numbers("a", a);
  call.numbers("b", b);
  const std::vector<int> of_a = counted_axes(call, axes_of_a, a.rank()), of_b = counted_axes(call, axes_of_b, b.rank());
  if (of_a.size() != of_b.size())
    call.refuse(std::to_string(of_a.size()) + " axes of a and " + std::to_string(of_b.size()) + " of b", "as many");
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (a.dims()[of_a[i]] != b.dims()[of_b[i]])
      call.refuse("axis " + std::to_string(of_a[i]) + " of " + shaped("a", a) + " and axis " + std::to_string(of_b[i]) +
                      " of " + shaped("b", b),
                  "equal sizes");
    inner = kernels::product_of(inner, a.dims()[of_a[i]]);
  }
  const other_sizes left = others(a, of_a), right = others(b, of_b);
  sizes_of result(left.sizes);
  result.insert(result.end(), right.sizes.begin(), right.sizes.end());
  if (result.size() > static_cast<std::size_t>(max_rank))
    call.refuse("a result of " + std::to_string(result.size()) + " axes", "at most 8 axes");
  const summed_matrix p = summed_matrix_of(a, left, of_a, inner), q = summed_matrix_of(b, right, of_b, inner);
  return reshape(matmul(p.elements, q.elements, p.summed_first, !q.summed_first), shape(result));
}

tensor tensordot(const tensor& a, const tensor& b, int count) {
  constexpr composed call{"tensordot"};
  call.given("a", a);
  call.given("b", b);
  if (count < 0 || count > std::min(a.rank(), b.rank()))
    call.refuse(std::to_string(count) + " axes of " + shaped("a", a) + " and " + shaped("b", b), "0 to the lower rank");
  sizes_of last(static_cast<std::size_t>(count)), first(last.size());
  std::iota(last.begin(), last.end(), a.rank() - count);
  std::iota(first.begin(), first.end(), 0);
  return tensordot(a, b, last, first);
}

tensor kron(const tensor& a, const tensor& b) {
  constexpr composed call{"kron"};
  call.rank("a", a, 0, max_rank / 2);
  call.rank("b", b, 0, max_rank / 2);
  const auto rank = static_cast<std::size_t>(std::max(a.rank(), b.rank()));
  sizes_of of_a(2 * rank, 1), of_b(2 * rank, 1), result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const int at_a = static_cast<int>(i) - static_cast<int>(rank) + a.rank();
    const int at_b = static_cast<int>(i) - static_cast<int>(rank) + b.rank();
    if (at_a >= 0) of_a[2 * i] = a.dims()[at_a];
    if (at_b >= 0) of_b[2 * i + 1] = b.dims()[at_b];
    if (__builtin_mul_overflow(of_a[2 * i], of_b[2 * i + 1], &result[i]))
      call.refuse(shaped("a", a) + " and " + shaped("b", b), "a size that fits into 64 bits");
  }
  return reshape(reshape(a, shape(of_a)) * reshape(b, shape(of_b)), shape(result));
}

tensor cross(const tensor& a, const tensor& b, axis_index axis) {
  constexpr composed call{"cross"};
  call.rank("a", a, 1);
  call.rank("b", b, 1);
  const int of_a = call.axis(axis.value(), a.rank()), of_b = call.axis(axis.value(), b.rank());
  if (a.dims()[of_a] != 3 || b.dims()[of_b] != 3)
    call.refuse(shaped("a", a) + " and " + shaped("b", b), "3 elements along the axis");
  const tensor p = moveaxis(a, of_a, -1), q = moveaxis(b, of_b, -1);
  if (!broadcast(p.dims(), q.dims())) call.refuse(shaped("a", a) + " and " + shaped("b", b), "shapes that broadcast");
  // p0 q1 - p1 q0 is the last element of the result, and so on.
  const tensor y = roll(p * roll(q, -1, -1) - roll(p, -1, -1) * q, -1, -1);
  return moveaxis(y, -1, axis.value() < 0 ? axis.value() : of_a);
}

}  // namespace kerngrad
