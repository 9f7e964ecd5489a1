// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
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

constexpr dtype_set member_types = wide_floats | only(dtype::int32) | only(dtype::int64);
constexpr operand member_operands[] = {{"x", member_types}, {"list", member_types}};
void infer_members(inference& call) { call.give(call.in[0].dims, dtype::boolean); }
constexpr std::int64_t few_pairs = 4096;  // compared one by one

/// Tells for each element if a list has it: by a table with a byte for each integer from the least to the greatest
/// element of the list, or by comparing few pairs.
struct Members {
  static constexpr op_row row{.name = "Members",
                              .doc = "True for each element that is in a list.",
                              .group = family::sort,
                              .operands = member_operands,
                              .infer = infer_members,
                              .no_gradient = "the result is boolean",
                              .cost = 4};

  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> x = elements_in<T>(c, 0), list = elements_in<T>(c, 1);
    const std::span<bool> y = elements_out<bool>(c);
    if constexpr (std::is_integral_v<T>) {
      if (std::ssize(x) * std::ssize(list) > few_pairs) return look_up(x, list, y);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      bool found = false;
      for (const T value : list) found |= x[i] == value;
      y[i] = found;
    }
  }
  template <class T>
  static void look_up(std::span<const T> x, std::span<const T> list, std::span<bool> y) {
    using bits = std::make_unsigned_t<T>;
    const auto [least, greatest] = std::minmax_element(list.begin(), list.end());
    const bits first = static_cast<bits>(*least), range = static_cast<bits>(*greatest) - first;
    kernels::scratch<std::uint8_t> table(kernels::sum_of(static_cast<std::int64_t>(range), 1));
    std::fill_n(table.data(), range + 1, std::uint8_t{0});
    for (const T value : list) table.data()[static_cast<bits>(value) - first] = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bits at = static_cast<bits>(x[i]) - first;
      y[i] = at <= range && table.data()[at] != 0;
    }
  }
  static constexpr auto kernels = on_calls<member_types>([]<class T>(const launch_call& c) { run<T>(c); });
};

// A table for the range of the list is worth its memory, less than that of the unique elements of both.
bool fits_table(const tensor& x, const tensor& list) {
  if (!integral.has(list.type())) return false;
  const double range = max(list).item() - min(list).item();
  return range < 8.0 * (static_cast<double>(x.size()) + static_cast<double>(list.size()));
}

// A dtype with kernels here that holds all values of another one.
dtype exact_type(dtype type) { return computed_in(lifted(type, lift::signs), member_types); }

// Tells for each element if a list of the same dtype has it. `unique` numbers distinct elements as they come first, so
// the numbers of the list's elements are the least ones where the list is in front.
tensor is_in(const tensor& x, const tensor& list) {
  if (x.size() == 0 || list.size() == 0) return zeros(x.dims(), dtype::boolean);
  const dtype exact = exact_type(x.type());
  const tensor wide = cast(x, exact), wide_list = cast(list, exact);
  const bool few = x.size() <= few_pairs && list.size() <= few_pairs / x.size();
  if (member_types.has(wide.type()) && (few || fits_table(wide, wide_list)))
    return call<Members>(detach(wide), detach(wide_list));
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

constexpr operand partition_operands[] = {{"x", member_types}};
constexpr attr_spec partition_attributes[] = {
    {.name = "kth", .kind = attr_kind::integer, .doc = "index along the last axis", .required = true, .least = 0}};
void infer_partition(inference& call) { call.give(call.in[0].dims, dtype::int32); }

/// Indices that divide rows of the last axis: those of less, of equal and of greater elements than the one that is at
/// index kth of the sorted row. NaN is greater than all numbers.
struct PartitionIndices {
  static constexpr op_row row{.name = "PartitionIndices",
                              .doc = "Indices of less, equal and greater elements than that at an index of the order.",
                              .group = family::sort,
                              .operands = partition_operands,
                              .attrs = partition_attributes,
                              .infer = infer_partition,
                              .no_gradient = "the results are indices",
                              .cost = 16};

  template <class T>
  using key_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  // Unsigned integers in the order of the elements, and equal where these are: both zeros are one.
  template <class T>
  static key_t<T> key_of(T x) {
    using key = key_t<T>;
    constexpr int sign = 8 * sizeof(T) - 1;
    if (x != x) return ~key{0};
    const key bits = std::bit_cast<key>(x + T{0}), top = key{1} << sign;
    if constexpr (std::is_integral_v<T>) return bits ^ top;
    return bits ^ ((key{0} - (bits >> sign)) | top);
  }

  // The key at an index of the order. A digit of all keys tells which of them stay: counts of each value lead to it.
  template <class Key>
  static Key selected(std::span<Key> keys, std::size_t kth) {
    constexpr int digit = 11;
    constexpr std::size_t few = 2048;
    for (int low = 8 * sizeof(Key) - digit; keys.size() > few; low = std::max(low - digit, 0)) {
      std::uint32_t counts[2][std::size_t{1} << digit] = {};  // of even, odd positions: equal digits follow each other
      const auto digit_of = [&](Key key) { return key >> low & ((Key{1} << digit) - 1); };
      for (std::size_t i = 0; i < keys.size(); ++i) ++counts[i % 2][digit_of(keys[i])];
      std::size_t at = 0;
      for (std::size_t count; kth >= (count = std::size_t{counts[0][at]} + counts[1][at]); ++at) kth -= count;
      std::size_t kept = 0;
      for (const Key key : keys) {
        keys[kept] = key;
        kept += digit_of(key) == at;
      }
      keys = keys.first(kept);
      if (low == 0) return keys[0];
    }
    const auto nth = keys.begin() + static_cast<std::ptrdiff_t>(kth);
    std::nth_element(keys.begin(), nth, keys.end());
    return *nth;
  }

  template <class T>
  static void divide(std::span<const T> x, std::size_t kth, std::int32_t* y) {
    using key = key_t<T>;
    kernels::scratch<key> room(std::ssize(x));
    const std::span<key> keys(room.data(), x.size());
    std::ranges::transform(x, keys.begin(), key_of<T>);
    const key pivot = selected(keys, kth);
    std::size_t next[3] = {};  // of less, equal and greater elements
    for (const T each : x) next[1] += key_of(each) < pivot, next[2] += key_of(each) <= pivot;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const key at = key_of(x[i]);
      y[next[(at >= pivot) + (at > pivot)]++] = static_cast<std::int32_t>(i);
    }
  }

  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> x = elements_in<T>(c, 0);
    const std::span<std::int32_t> y = elements_out<std::int32_t>(c);
    if (x.empty()) return;
    const shape& dims = c.in[0].dims;
    const auto kth = static_cast<std::size_t>(c.call.attr(place_in(partition_attributes, "kth")).as_integer());
    const auto length = static_cast<std::size_t>(dims[dims.rank() - 1]);
    kernels::parallel_chunks(x.size() / length,
                             [&](std::size_t i) { divide(x.subspan(i * length, length), kth, y.data() + i * length); });
  }
  static constexpr auto kernels = on_calls<member_types>([]<class T>(const launch_call& c) { run<T>(c); });
};

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
  const int at = checked_axis(composed{"argpartition"}, x, kth, axis);
  if (x.rank() == 0) return argsort(x);
  const std::int64_t size = x.dims()[at];
  const tensor rows = moveaxis(detach(cast(x, exact_type(x.type()))), at, -1);
  return moveaxis(call<PartitionIndices>(rows, attr<"kth">(kth < 0 ? kth + size : kth)), -1, at);
}

}  // namespace kerngrad
