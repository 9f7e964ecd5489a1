// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the reductions and the scans.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_reduce;

import :std;
import :core;
import :shapes;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

/// `dims` with the reduced axes kept as 1. The forward pass has checked the axes. `dims` of a scalar lacks its one
/// axis.
constexpr shape kept_dims(const shape& dims, const attr_value& reduced) {
  shapes::axis_set axes = 0;
  const auto add = [&](std::int64_t axis) {
    axes |= shapes::axis_set{1} << *detail::axis_from_front(axis, dims.rank());
  };
  if (!reduced.given()) axes = (shapes::axis_set{1} << dims.rank()) - 1;
  else if (reduced.kind() == attr_kind::list) {
    for (std::int64_t axis : reduced.as_list()) add(axis);
  } else {
    add(reduced.as_integer());
  }
  return shapes::without_axes(dims, axes, true);
}

/// A value per reduced group, repeated over the operand's shape.
inline constexpr auto spread = [](const auto& c, const auto& g, const attr_value& reduced) {
  return broadcast_to(reshape(g, kept_dims(c.dims(0), reduced)), c.dims(0));
};

/// dy divided among equal elements, which are counted; where there are none the count may be 0. Halves count in
/// float32.
template <class T>
T shared_among(const T& dy, const T& counts) {
  const dtype wide = promote(dy.type(), dtype::float32);
  return cast(cast(dy, wide) / cast(maximum(counts, ones_like(counts)), wide), dy.type());
}

/// dy to the extremes of each group, in equal shares.
inline constexpr auto to_extremes = [](const auto& c, const attr_value& reduced) {
  const shape kept = kept_dims(c.dims(0), reduced);
  const auto extreme = c.in(0) == reshape(c.out(), kept);
  const auto counts = call<"Sum">(extreme, attr<"axis">(reduced), attr<"keepDims">(true));
  return where(extreme, shared_among(reshape(c.dy(), kept), counts), zeros(shape{}, c.dy().type()));
};

/// Some axes of a tensor brought to the end and merged into one: [rows, count], and the inverse permutation.
struct rows_view {
  std::vector<std::int64_t> perm, inverse;
  shape moved;
  std::int64_t rows = 1, count = 1;
};
inline rows_view rows_of(const shape& dims, const shape& kept) {
  rows_view view;
  view.inverse.resize(static_cast<std::size_t>(dims.rank()));
  std::vector<std::int64_t> moved;
  for (bool last : {false, true})
    for (int i = 0; i < dims.rank(); ++i) {
      if ((kept[i] != dims[i]) != last) continue;
      view.inverse[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(view.perm.size());
      view.perm.push_back(i);
      moved.push_back(dims[i]);
      (last ? view.count : view.rows) *= dims[i];
    }
  view.moved = shape(moved);
  return view;
}

/// The dtype that running products are carried in, which hold the products of more elements than the operand's.
inline dtype carried_in(dtype type) { return promote(type, dtype::float64); }

/// True for rows of finite numbers, complex ones too.
template <class V>
auto finite_rows(const V& rows) {
  return all(rows - rows == 0, 1, true);
}

/// Products, and 0 for those that are NaN although a factor is `certainly` 0: the product of the others overflowed.
template <class V, class B>
V cleared(const V& product, const B& certainly) {
  return where(logical_and(product != product, certainly), zeros(shape{}, product.type()), product);
}

/// The conjugate product of the others, for every element: of those before it and of those behind it. Linear in the
/// number of elements, exact with zeros among them, and right at every order: next to a product that overflows, at the
/// first one.
inline constexpr auto others = [](const auto& x, const shape& dims, const attr_value& reduced) {
  const rows_view view = rows_of(dims, kept_dims(dims, reduced));
  const auto rows = cast(reshape(transpose(x, view.perm), shape{view.rows, view.count}), carried_in(x.type()));
  const auto zero = cast(rows == 0, dtype::int32);
  const auto has_zero = logical_and(sum(zero, 1, true) > zero, finite_rows(rows));
  const auto product = cleared(cumprod(rows, 1, true) * cumprod(rows, 1, true, true), has_zero);
  return conj(cast(transpose(reshape(product, view.moved), view.inverse), x.type()));
};

/// The first columns of v, or those from `begin` on.
template <class V>
V first_columns(const V& v, std::int64_t count) {
  return slice(v, {0, 0}, {v.dims()[0], count});
}
template <class V>
V columns_from(const V& v, std::int64_t begin) {
  return slice(v, {0, begin}, {v.dims()[0], v.dims()[1] - begin});
}

/// For rows v[0 .. n) and x[0 .. n): the s with s[i] = v[i] + x[i + 1] s[i + 1] and s[n - 1] = v[n - 1]. Each step
/// doubles the number of terms that s[i] has. `zeros_to` counts the zeros of x up to i in `finite` rows.
template <class V, class Z, class B>
V recurrence_from_last(const V& x, V v, const Z& zeros_to, const B& finite) {
  const std::int64_t count = v.dims()[1];
  V a = columns_from(x, 1);  // the products of x[i + 1 .. i + terms]
  for (std::int64_t terms = 1; terms < count; terms *= 2) {
    const std::int64_t left = count - terms;
    const auto later = columns_from(v, terms);
    const auto zero = logical_or(columns_from(zeros_to, terms) > first_columns(zeros_to, left), later == 0);
    const auto more = cleared(a * later, logical_and(zero, finite));
    v = concat({first_columns(v, left) + more, columns_from(v, left)}, 1);
    if (left > terms) a = first_columns(a, left - terms) * columns_from(a, terms);
  }
  return v;
}

/// dx_i = sum over k of dy_k times the running product up to k without x_i, for the k that x_i takes part in. So dx_i
/// is the product before i times s_i = dy_i + x_(i + 1) s_(i + 1).
inline constexpr auto running_others = [](const auto& c) {
  const shape& dims = c.dims(0);
  const bool exclusive = c.template attr<"exclusive">().as_bool(), reversed = c.template attr<"reverse">().as_bool();
  if (dims.rank() == 0) return exclusive ? c.zeros(0) : c.dy();
  if (dims.size() == 0) return c.zeros(0);
  const rows_view view = rows_of(dims, kept_dims(dims, c.template attr<"axis">()));
  const auto in_rows = [&](const auto& v) {
    const auto rows = cast(reshape(transpose(v, view.perm), shape{view.rows, view.count}), carried_in(v.type()));
    return reversed ? reverse(rows, 1) : rows;
  };
  const auto x = conj(in_rows(c.in(0))), dy = in_rows(c.dy());
  // The first result of an exclusive walk depends on no element, and the last element takes part in no result.
  const auto none = zeros(shape{view.rows, 1}, dy.type());
  const auto zero = cast(x == 0, dtype::int32), zeros_to = cumsum(zero, 1);
  const auto finite = logical_and(finite_rows(x), finite_rows(dy));
  const auto sums = recurrence_from_last(x, exclusive ? concat({columns_from(dy, 1), none}, 1) : dy, zeros_to, finite);
  const auto dx = cleared(cumprod(x, 1, true) * sums, logical_and(logical_or(zeros_to > zero, sums == 0), finite));
  const auto in_order = cast(reversed ? reverse(dx, 1) : dx, c.type(0));
  return transpose(reshape(in_order, view.moved), view.inverse);
};

/// dy to the elements that running extremes are. An element stays what it was where what comes before it is ahead of
/// it, so that indices, counted on the walk, are a running extreme themselves.
template <class C>
auto to_running_extremes(const C& c, bool greatest) {
  const shape& dims = c.dims(0);
  const bool exclusive = c.template attr<"exclusive">().as_bool(), reverse = c.template attr<"reverse">().as_bool();
  if (dims.size() == 0 || (dims.rank() == 0 && exclusive)) return c.zeros(0);
  if (dims.rank() == 0) return c.dy();
  const rows_view view = rows_of(dims, kept_dims(dims, c.template attr<"axis">()));
  const shape flat{view.rows, view.count};
  const auto in_rows = [&](const auto& v) { return reshape(transpose(v, view.perm), flat); };
  const auto x = in_rows(c.in(0));
  const auto before = greatest ? cummax(x, 1, true, reverse) : cummin(x, 1, true, reverse);
  const auto stays = logical_or(greatest ? before >= x : before <= x, is_nan(before));
  const double first = reverse ? static_cast<double>(view.count - 1) : 0;
  const auto started =
      where(stays, full(shape{}, first, dtype::int32), arange(0, static_cast<double>(view.count), 1, dtype::int32));
  const auto indices = reverse ? cummin(started, 1, false, true) : cummax(started, 1);
  // The first result of an exclusive walk is no element; each other one is that of the index before it.
  const auto others = [&](const auto& v, bool from_second) {
    return exclusive ? slice(v, {0, from_second ? 1 : 0}, {view.rows, view.count - 1}) : v;
  };
  const auto dx = call<"GatherGrad">(others(in_rows(c.dy()), !reverse), others(indices, reverse), attr<"axis">(1),
                                     attr<"batchDims">(1), attr<"inputShape">(flat));
  return transpose(reshape(dx, view.moved), view.inverse);
}

inline constexpr auto reduce_rules = family_rules(rule_list{
    rule<"Sum">(wrt(keep::nothing, [](const auto& c) { return spread(c, c.dy(), c.template attr<"axis">()); })),
    rule<"Mean">(wrt(keep::nothing,
                     [](const auto& c) {
                       const auto groups = static_cast<double>(kept_dims(c.dims(0), c.template attr<"axis">()).size());
                       return spread(c, c.dy() * (groups / static_cast<double>(c.dims(0).size())),
                                     c.template attr<"axis">());
                     })),
    rule<"Prod">(wrt(keep::in0,
                     [](const auto& c) {
                       return spread(c, c.dy(), c.template attr<"axis">()) *
                              others(c.in(0), c.dims(0), c.template attr<"axis">());
                     })),
    rule<"Max">(wrt(keep::in0 | keep::out0,
                    [](const auto& c) { return to_extremes(c, c.template attr<"reductionIndices">()); })),
    rule<"Min">(wrt(keep::in0 | keep::out0, [](const auto& c) { return to_extremes(c, c.template attr<"axis">()); })),
    rule<"NanMax">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return to_extremes(c, c.template attr<"axis">()); })),
    rule<"NanMin">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return to_extremes(c, c.template attr<"axis">()); })),
    rule<"Cumsum">(wrt(keep::nothing,
                       [](const auto& c) {
                         return cumsum(c.dy(), static_cast<int>(c.template attr<"axis">().as_integer()),
                                       c.template attr<"exclusive">().as_bool(),
                                       !c.template attr<"reverse">().as_bool());
                       })),
    rule<"Cumprod">(wrt(keep::in0, running_others)),
    rule<"CumMax">(wrt(keep::in0, [](const auto& c) { return to_running_extremes(c, true); })),
    rule<"CumMin">(wrt(keep::in0, [](const auto& c) { return to_running_extremes(c, false); })),
});

}  // namespace kerngrad::rules
