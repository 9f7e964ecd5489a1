// SPDX-License-Identifier: Apache-2.0
// Calls that sort, search and compare with lists.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

results sorted(in s) {
  const kg::tensor x = s.x();
  s.truth("stable", -1);
  const kg::sort_options how{.axis = s.whole("dim", 1, -1), .descending = s.truth("descending", 2)};
  if (x.rank() == 0) return {x, kg::zeros({}, kg::dtype::int64)};
  return {kg::sort(x, how), kg::argsort(x, how)};
}

// The k largest or least along an axis: the library's are along the last one.
results top(in s) {
  const auto k = s.whole("k", 1), axis = s.whole("dim", 2, -1);
  const bool largest = s.truth("largest", 3, true);
  if (!s.truth("sorted", 4, true)) throw skip{"elements without an order"};
  if (s.x().rank() == 0) throw skip{"the top of a scalar"};
  const kg::tensor x = kg::moveaxis(s.x(), axis, -1);
  if (!largest && !kg::floating.has(x.type())) throw skip{"the least integers"};
  const auto [values, indices] = kg::top_k(largest ? x : -x, k);
  return {kg::moveaxis(largest ? values : -values, -1, axis), kg::moveaxis(indices, -1, axis)};
}

// Elements with another rank than the k-th are not asked for.
results kth(in s) {
  if (s.x().rank() == 0) throw skip{"an element of a scalar"};
  const auto k = s.whole("k", 1), axis = s.whole("dim", 2, -1);
  const bool keep = s.truth("keepdim", 3);
  const kg::tensor at({static_cast<std::int32_t>(k - 1)});
  kg::tensor value = kg::take(kg::sort(s.x(), {.axis = axis}), at, axis);
  kg::tensor index = kg::take(kg::argsort(s.x(), {.axis = axis}), at, axis);
  if (!keep) value = kg::squeeze(value, axis), index = kg::squeeze(index, axis);
  return {value, index};
}

results distinct(in s) {
  if (s.has("dim", 4) || s.truth("return_inverse", 2) || s.truth("return_counts", 3))
    throw skip{"distinct slices, indices and counts"};
  s.truth("sorted", 1, true);
  return list_of(kg::sort(kg::unique(s.x())[0]));
}

kg::tensor searched(in s, const kg::tensor& edges, const kg::tensor& values, bool right) {
  s.truth("out_int32", -1);
  if (s.has("sorter")) throw skip{"a list that is not sorted"};
  if (values.rank() == 0)
    return kg::squeeze(kg::searchsorted(edges, kg::reshape(values, {1}), right ? "right" : "left"));
  if (edges.rank() == 1 && values.rank() > 1)
    return kg::reshape(kg::searchsorted(edges, kg::ravel(values), right ? "right" : "left"), values.dims());
  return kg::searchsorted(edges, values, right ? "right" : "left");
}

bool right_side(in s) {
  const bool right = s.truth("right", -1);
  return s.has("side") ? s.text("side", -1, "left") == "right" : right;
}

constexpr call_line lines[] = {
    {"order", "sort", sorted},
    {"order", "argsort", [](in s) { return results{sorted(s)[1]}; }},
    {"order", "topk", top},
    {"order", "kthvalue", kth},
    {"order", "unique", distinct},
    {"order", "unique_consecutive",
     [](in s) {
       if (s.has("dim") || s.truth("return_inverse", 1) || s.truth("return_counts", 2))
         throw skip{"distinct slices, indices and counts"};
       const kg::tensor u = kg::ravel(s.x());
       if (u.size() == 0) return list_of(u);
       const kg::tensor changes = u(kg::range(1, kg::end)) != u(kg::range(0, -1));
       return list_of(kg::boolean_mask(u, kg::concat({kg::tensor({true}), changes})));
     }},
    {"order", "searchsorted", [](in s) { return list_of(searched(s, s.x(), s.x(1), right_side(s))); }},
    {"order", "bucketize", [](in s) { return list_of(searched(s, s.x(1), s.x(), right_side(s))); }},
    {"order", "isin",
     [](in s) {
       s.truth("assume_unique", -1);
       const bool invert = s.truth("invert", -1);
       const kg::tensor inside = kg::any(kg::expand_dims(s.x(), -1) == kg::ravel(s.x(1)), -1);
       return list_of(invert ? !inside : inside);
     }},
};

}  // namespace

std::span<const call_line> order_calls() { return lines; }

}  // namespace opinfo
