// SPDX-License-Identifier: Apache-2.0
module;
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

// Values in ascending order, their order among those that `unique` found, and which of these each element is.
struct sorted_unique {
  tensor values, order, found;
};
sorted_unique sorted_unique_of(const composed& call, const tensor& x) {
  call.real("x", x);
  const auto [values, found] = unique(flatten(x));
  const tensor order = argsort(values);
  return {gather(values, order), order, found};
}

// The inverse of a permutation is the order of its elements.
tensor inverse_of(const sorted_unique& of, const shape& dims) {
  return reshape(gather(argsort(of.order), of.found), dims);
}

tensor counts_of(const sorted_unique& of) { return gather(bincount(of.found, of.values.size()), of.order); }

// Operands as lists of one dtype.
struct two_lists {
  tensor a, b;
};
two_lists lists_of(const composed& call, const tensor& a, const tensor& b) {
  call.real("a", a);
  call.real("b", b);
  const dtype type = promote(a.type(), b.type());
  return {cast(flatten(a), type), cast(flatten(b), type)};
}

// Tells for each element if a list of the same dtype has it. `unique` numbers distinct elements as they come first, so
// the numbers of the list's elements are the least ones where the list is in front.
tensor is_in(const tensor& x, const tensor& list) {
  if (x.size() == 0 || list.size() == 0) return zeros(x.dims(), dtype::boolean);
  const tensor numbers = unique(concat({list, x}))[1];
  const tensor last = max(slice(numbers, {0}, {list.size()}));
  const tensor found = slice(numbers, {list.size()}, {x.size()}) <= last;
  return floating.has(x.type()) ? found & !is_nan(x) : found;
}

tensor values_of(const composed& call, const tensor& x) { return sorted_unique_of(call, x).values; }

int checked_axis(const composed& call, const tensor& x, std::int64_t kth, axis_index axis) {
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  const std::int64_t size = x.rank() == 0 ? 1 : x.dims()[at];
  if (kth < -size || kth >= size)
    call.refuse("index " + std::to_string(kth) + " of an axis of size " + std::to_string(size),
                "an index from " + std::to_string(-size) + " to " + std::to_string(size - 1));
  return at;
}

}  // namespace

unique_parts unique_all(const tensor& x) {
  const sorted_unique of = sorted_unique_of(composed{"unique_all"}, x);
  const auto length = static_cast<double>(x.size());
  const tensor first = segment_min(arange(0, length, 1, dtype::int32), of.found, of.values.size());
  return {of.values, gather(first, of.order), inverse_of(of, x.dims()), counts_of(of)};
}
tensor unique_values(const tensor& x) { return values_of(composed{"unique_values"}, x); }
unique_counts_parts unique_counts(const tensor& x) {
  const sorted_unique of = sorted_unique_of(composed{"unique_counts"}, x);
  return {of.values, counts_of(of)};
}
unique_inverse_parts unique_inverse(const tensor& x) {
  const sorted_unique of = sorted_unique_of(composed{"unique_inverse"}, x);
  return {of.values, inverse_of(of, x.dims())};
}

tensor isin(const tensor& x, const tensor& elements, bool invert) {
  constexpr composed call{"isin"};
  const two_lists lists = lists_of(call, x, elements);
  const tensor found = reshape(is_in(lists.a, lists.b), x.dims());
  return invert ? !found : found;
}

tensor intersect1d(const tensor& a, const tensor& b) {
  constexpr composed call{"intersect1d"};
  const two_lists lists = lists_of(call, a, b);
  const tensor values = values_of(call, lists.a);
  return boolean_mask(values, is_in(values, lists.b));
}
tensor union1d(const tensor& a, const tensor& b) {
  constexpr composed call{"union1d"};
  const two_lists lists = lists_of(call, a, b);
  return values_of(call, concat({lists.a, lists.b}));
}
tensor setdiff1d(const tensor& a, const tensor& b) {
  constexpr composed call{"setdiff1d"};
  const two_lists lists = lists_of(call, a, b);
  const tensor values = values_of(call, lists.a);
  return boolean_mask(values, !is_in(values, lists.b));
}
tensor setxor1d(const tensor& a, const tensor& b) {
  constexpr composed call{"setxor1d"};
  lists_of(call, a, b);
  return sort(concat({setdiff1d(a, b), setdiff1d(b, a)}));
}

tensor lexsort(std::span<const tensor> keys, axis_index axis) {
  constexpr composed call{"lexsort"};
  if (keys.empty()) call.refuse("no keys", "one or more");
  for (const tensor& key : keys) {
    call.real("keys", key);
    call.one_shape("keys", key, "keys", keys[0]);
  }
  call.axis(axis.value(), keys[0].rank());
  tensor order = argsort(keys[0], {.axis = axis});
  if (keys[0].rank() == 0) return order;
  for (const tensor& key : keys.subspan(1)) {
    const tensor next = argsort(take_along_axis(key, order, axis), {.axis = axis});
    order = take_along_axis(order, next, axis);
  }
  return order;
}

tensor partition(const tensor& x, std::int64_t kth, axis_index axis) {
  return sort(x, {.axis = checked_axis(composed{"partition"}, x, kth, axis)});
}
tensor argpartition(const tensor& x, std::int64_t kth, axis_index axis) {
  return argsort(x, {.axis = checked_axis(composed{"argpartition"}, x, kth, axis)});
}

}  // namespace kerngrad
