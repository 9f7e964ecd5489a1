// SPDX-License-Identifier: Apache-2.0
// x.at(indices...).set(values) and its kin: the indices of slices of x, the new values of these, and either a
// TensorScatterUpdate, which differentiates, or a write into x when nobody else sees it.
module;
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :live;
import :selection;
import :tape;

namespace kerngrad::detail {
namespace {

// Position of a selection in x, as x is seen by the update: [slices, inner].
struct update_position {
  std::int64_t slices = 1, inner = 1;
  shape dims;   // of x(indices...)
  tensor rows;  // which slices, int32 [n]
  bool may_repeat = false;
};

// The leading axes up to the last one that is not taken whole: `entries` of the selection name them. The following
// parts belong to each slice.
struct leading_axes {
  int entries = 0, axes = 0;
};
leading_axes leading_of(const selection& taken) {
  leading_axes found;
  for (int i = 0; i < taken.count; ++i) {
    const selected_axis& a = taken.of[i];
    if (a.is == selected_axis::kind::fresh || a.is_whole()) continue;
    found = {i + 1, a.axis + a.axes};
  }
  return found;
}

// The slices of integers and ranges, in order.
tensor slices_walked(std::span<const selected_axis> axes) {
  std::int64_t count = 1;
  for (const selected_axis& a : axes) count *= a.count;
  return tensor::build<std::int32_t>({count}, [&](std::span<std::int32_t> to) {
    std::vector<std::int64_t> at(axes.size());
    for (std::int32_t& slice : to) {
      std::int64_t index = 0;
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].is != selected_axis::kind::fresh)
          index = index * axes[i].size + axes[i].first + at[i] * axes[i].step;
      slice = static_cast<std::int32_t>(index);
      for (std::size_t i = axes.size(); i-- > 0 && ++at[i] == axes[i].count;) at[i] = 0;
    }
  });
}

update_position update_position_of(const shape& dims, const selection& taken) {
  const leading_axes front = leading_of(taken);
  update_position p;
  for (int i = 0; i < dims.rank(); ++i) (i < front.axes ? p.slices : p.inner) *= dims[i];
  if (p.slices > std::numeric_limits<std::int32_t>::max())
    fail("at", std::to_string(p.slices) + " slices to choose from", "at most 2^31 - 1", "reshape the tensor");
  selection first;
  for (; first.count < front.entries; ++first.count) first.of[first.count] = taken.of[first.count];
  std::vector<std::int64_t> sizes;
  if (first.is_by_tensors()) {
    // The numbers of the slices, chosen from like x itself.
    const shape all(std::span<const std::int64_t>(dims.begin(), static_cast<std::size_t>(front.axes)));
    const tensor numbers = arange(0, static_cast<double>(p.slices), 1, dtype::int32);
    const tensor chosen = selected(reshape(numbers, all), first);
    sizes.assign(chosen.dims().begin(), chosen.dims().end());
    p.rows = reshape(chosen, shape{chosen.size()});
    for (const selected_axis& a : first.all())
      p.may_repeat = p.may_repeat || (a.is == selected_axis::kind::chosen && !a.is_mask);
  } else {
    const shape walk = dims_of(first);
    sizes.assign(walk.begin(), walk.end());
    p.rows = slices_walked(first.all());
  }
  for (int i = front.entries; i < taken.count; ++i) sizes.push_back(taken.of[i].count);
  p.dims = shape(sizes);
  return p;
}

bool has_repeated(const tensor& rows) {
  const auto given = rows.data<std::int32_t>();
  std::vector<std::int32_t> sorted(given.begin(), given.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

tensor indices_of(const std::vector<std::int32_t>& list) {
  return tensor(std::span<const std::int32_t>(list), {static_cast<std::int64_t>(list.size())});
}

// For each row the product of all values that are given for it. complex64 has no kernel that does this: neighbours of
// one row are multiplied until each has one left, so that there are as many steps as the most values have binary
// digits.
tensor products_of_rows(const tensor& rows, const tensor& values) {
  struct factor {
    std::int32_t row, at;  // of the product's value
  };
  const auto given = rows.data<std::int32_t>();
  std::vector<factor> factors;
  for (const std::int32_t row : given) factors.push_back({row, static_cast<std::int32_t>(factors.size())});
  std::sort(factors.begin(), factors.end(),
            [](const factor& a, const factor& b) { return a.row < b.row || (a.row == b.row && a.at < b.at); });
  tensor products = values;
  for (;;) {
    std::vector<std::int32_t> left, right, alone;
    std::vector<factor> next;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const bool paired = i + 1 < factors.size() && factors[i + 1].row == factors[i].row;
      next.push_back({factors[i].row, static_cast<std::int32_t>(paired ? left.size() : alone.size())});
      (paired ? left : alone).push_back(factors[i].at);
      if (paired) right.push_back(factors[++i].at);
      else next.back().at = -1 - next.back().at;  // after the pairs, whose number is not known yet
    }
    if (right.empty()) break;
    for (factor& f : next)
      if (f.at < 0) f.at = static_cast<std::int32_t>(left.size()) - 1 - f.at;
    const tensor pairs = gather(products, indices_of(left)) * gather(products, indices_of(right));
    products = alone.empty() ? pairs : concat({pairs, gather(products, indices_of(alone))}, 0);
    factors = std::move(next);
  }
  std::vector<std::int32_t> found;
  for (const std::int32_t row : given)
    found.push_back(std::lower_bound(factors.begin(), factors.end(), row, [](const factor& f, std::int32_t wanted) {
                      return f.row < wanted;
                    })->at);
  return gather(products, indices_of(found));
}

// Dtype that updates which meet are computed in. The lower bits of a wider integer are those of the narrower one.
dtype wide_type(dtype type) { return type == dtype::uint8 ? dtype::int32 : computed_in(type, {}); }

// The rows after all updates of each, so that it makes no difference which of equal ones is written last.
tensor combined_in_turn(const tensor& flat, const tensor& rows, part_update how, const tensor& values) {
  if (flat.type() == dtype::complex64 && how == part_update::multiply)
    return gather(flat, rows) * products_of_rows(rows, values);
  const bool whole = integral.has(flat.type());
  const dtype wide = wide_type(flat.type());
  const tensor x = whole ? cast(flat, wide) : flat, by = whole ? cast(values, wide) : values;
  const tensor all = how == part_update::multiply ? scatter_mul(x, rows, by)
                     : how == part_update::max    ? scatter_max(x, rows, by)
                                                  : scatter_min(x, rows, by);
  return cast(gather(all, rows), flat.type());
}

// The rows plus all that is added to each, likewise. Halves are added up in float32.
tensor summed(const tensor& flat, const update_position& p, const tensor& values) {
  const auto sums_of = [&](const tensor& parts) { return gather(segment_sum(parts, p.rows, p.slices), p.rows); };
  const tensor sums = flat.type() == dtype::complex64 ? complex(sums_of(real(values)), sums_of(imag(values)))
                                                      : sums_of(cast(values, wide_type(flat.type())));
  return cast(gather(flat, p.rows) + sums, flat.type());
}

// Values for the rows of x, seen as [slices, inner].
tensor combined(const tensor& flat, const update_position& p, part_update how, const tensor& values) {
  if (how == part_update::set) return values;
  const tensor& rows = p.rows;
  if (how == part_update::add && p.may_repeat) return summed(flat, p, values);
  if (p.may_repeat && has_repeated(rows)) return combined_in_turn(flat, rows, how, values);
  const tensor before = gather(flat, rows);
  switch (how) {
    case part_update::multiply: return before * values;
    case part_update::max: return maximum(before, values);
    case part_update::min: return minimum(before, values);
    default: return before + values;
  }
}

// Nobody sees x change: it has one owner, its elements are on the host only, and no tape has to know. Texts would refer
// to the bytes of others.
bool may_change(const tensor& x, const tensor& values) {
  return direct_table() >= 0 && x.type() != dtype::text && tensor_access::unique(x) && tensor_access::buffer(x)->data &&
         !recording_now() && !concerns_a_tape(x) && !concerns_a_tape(values);
}

tensor written_into(tensor x, const update_position& p, const tensor& values) {
  const std::size_t bytes = static_cast<std::size_t>(p.inner) * size_of(x.type());
  std::byte* const to = tensor_access::buffer(x)->data;
  const auto* from = static_cast<const std::byte*>(values.address());
  for (const std::int32_t row : p.rows.data<std::int32_t>()) {
    std::memcpy(to + static_cast<std::size_t>(row) * bytes, from, bytes);
    from += bytes;
  }
  tensor_access::position(x) = {};
  return x;
}

// Values as x takes them.
tensor converted(const tensor& values, dtype type) {
  if (values.type() == type) return values;
  if (values.type() == dtype::text || type == dtype::text || promote(values.type(), type) != type)
    fail("at",
         "values of dtype " + std::string(name_of(values.type())) + " for a tensor of " + std::string(name_of(type)),
         "a dtype that promotes to " + std::string(name_of(type)), "cast one of them");
  return cast(values, type);
}

}  // namespace

tensor updated_at(tensor x, const index_items& indices, part_update how, const tensor& values) {
  const std::span<const index_item> items(indices.data(), static_cast<std::size_t>(indices.size()));
  const update_position p = update_position_of(x.dims(), selection_of("index", x.dims(), items));
  const std::optional<shape> both = broadcast(p.dims, values.dims());
  if (!both || !(*both == p.dims))
    fail("at", "values of shape " + to_string(values.dims()) + " for elements of shape " + to_string(p.dims),
         "a shape that broadcasts to it");
  if (how != part_update::set && !(numeric | complex_only).has(x.type()))
    fail("at", "an update of a tensor of " + std::string(name_of(x.type())) + " other than set", "numbers", "cast it");
  const tensor given = converted(values, x.type());
  if (p.dims.size() == 0) return x;
  const std::int64_t count = p.rows.size();
  const tensor spread = reshape(given.dims() == p.dims ? given : broadcast_to(given, p.dims), {count, p.inner});
  tensor flat = reshape(x, {p.slices, p.inner});
  const tensor fresh = cast(combined(flat, p, how, spread), x.type());
  const shape dims = x.dims();
  flat = tensor();  // x may be its only owner now
  if (may_change(x, fresh)) return written_into(std::move(x), p, fresh);
  return reshape(tensor_scatter_update(reshape(x, {p.slices, p.inner}), p.rows, fresh), dims);
}

tensor updated_at(tensor x, const index_items& indices, part_update how, const plain_number& value) {
  if (x.type() == dtype::boolean && how == part_update::set && value.is_integer && (value.integer | 1) == 1)
    return updated_at(std::move(x), indices, how, tensor(value.integer != 0));
  const tensor number = number_like("at", value, x);
  return updated_at(std::move(x), indices, how, number);
}

}  // namespace kerngrad::detail
