// SPDX-License-Identifier: Apache-2.0
// The elements of a selection. Integers and ranges are one StridedSlice, or a view where what they take lies together;
// tensors of indices are one gather after it. The result has the axes in NumPy's order.
module;
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :selection;
import :tape;

namespace kerngrad::detail {
namespace {

using axis_kind = selected_axis::kind;
using sizes_of = std::vector<std::int64_t>;

// The attributes of the StridedSlice that a selection is.
struct slice_attrs {
  attr_value of[std::size(attributes::strided_slice)];

  explicit slice_attrs(std::span<const selected_axis> axes) {
    std::int64_t begin[selection::most], end[selection::most], stride[selection::most];
    std::int64_t to_end = 0, fresh = 0, single = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const selected_axis& a = axes[i];
      const std::int64_t last = a.first + (a.count - 1) * a.step, bit = std::int64_t{1} << i;
      begin[i] = a.first;
      end[i] = a.count == 0 ? a.first : last + (a.step > 0 ? 1 : -1);
      stride[i] = a.step;
      if (end[i] < 0) to_end |= bit;  // a walk backwards over index 0: -1 would count from the back
      if (a.is == axis_kind::fresh) fresh |= bit;
      if (a.is == axis_kind::single) single |= bit;
    }
    const auto set = [&](std::string_view name, const attr_value& value) {
      for (std::size_t i = 0; i < std::size(attributes::strided_slice); ++i)
        if (attributes::strided_slice[i].name == name) of[i] = value;
    };
    set("begin", std::span<const std::int64_t>(begin, axes.size()));
    set("end", std::span<const std::int64_t>(end, axes.size()));
    set("strides", std::span<const std::int64_t>(stride, axes.size()));
    set("beginMask", 0), set("ellipsisMask", 0);
    set("endMask", to_end), set("newAxisMask", fresh), set("shrinkAxisMask", single);
  }
};

// True if elements lie together in memory: single indices, then one range of step 1, then whole axes.
bool lies_together(std::span<const selected_axis> axes) {
  bool more = false;  // an axis with several indices came before
  for (const selected_axis& a : axes) {
    if (a.is == axis_kind::fresh) continue;
    if (more && !a.is_whole()) return false;
    if (a.count > 1) {
      if (a.step != 1) return false;
      more = true;
    }
  }
  return true;
}

// Integers and ranges only.
tensor sliced(const tensor& x, const selection& taken) {
  const op_entry& op = known_entry<op_id<"StridedSlice">>();
  const tensor* const in[] = {&x};
  const shape dims = dims_of(taken);
  buffer* from = tensor_access::buffer(x);
  const std::byte* data = __atomic_load_n(&from->data, __ATOMIC_ACQUIRE);
  // A backend whose storage has the elements slices them there.
  if (!data || !lies_together(taken.all())) return run_one(op, in, slice_attrs(taken.all()).of);
  std::int64_t first = 0;
  for (const selected_axis& a : taken.all())
    if (a.is != axis_kind::fresh) first = first * a.size + a.first;
  const std::int64_t size = static_cast<std::int64_t>(size_of(from->type));
  tensor y;
  if (dims.rank() > 0) {
    y = tensor_access::adopt(dims.size() == 0 ? allocate(from->type, dims) : share_part(from, dims, first * size));
  } else {  // one number does not keep all the others
    y = tensor_access::adopt(allocate(from->type, dims));
    std::memcpy(tensor_access::buffer(y)->data, data + first * size, static_cast<std::size_t>(size));
  }
  if (concerns_a_tape(x)) record(op, in, slice_attrs(taken.all()).of, {&y, 1});
  return y;
}

// Indices of an axis, int32 from the front, all of them checked. `axis` is that of the tensor that was indexed.
tensor checked_indices(const tensor& by, int axis, std::int64_t size) {
  return visit(by.type(), [&]<dtype Type>(dtype_constant<Type> is) -> tensor {
    if constexpr (!integral.has(Type)) {
      return by;
    } else {
      const auto from = by.data<typename decltype(is)::element>();
      if (size > std::numeric_limits<std::int32_t>::max())
        fail("index", "a tensor of indices into axis " + std::to_string(axis) + " of size " + std::to_string(size),
             "at most 2^31 - 1", "take ranges of the axis");
      return tensor::build<std::int32_t>(by.dims(), [&](std::span<std::int32_t> to) {
        for (std::size_t i = 0; i < from.size(); ++i) {
          const std::int64_t given = static_cast<std::int64_t>(from[i]), at = given < 0 ? given + size : given;
          if (at < 0 || at >= size) refuse_index_into("index", given, axis, size);
          to[i] = static_cast<std::int32_t>(at);
        }
      });
    }
  });
}

// A tensor of indices that waits for its gather.
struct chosen_axis {
  const selected_axis* entry;
  int axis;  // of what integers and ranges have left
};

// Parts of a selection by tensors.
struct parted_selection {
  selection slices;  // with the axes that tensors choose from whole
  std::vector<chosen_axis> chosen;
  int position = 0;       // of the chosen axes in the result
  bool all_whole = true;  // the slices take everything
};

// NumPy's rule for the order of axes: integers count as tensors of indices here; where all of these stand side by side
// the axes that they make stand there, else they come first.
parted_selection parted(const selection& taken) {
  parted_selection parts;
  int axis = 0, runs = 0;
  bool inside = false;
  for (const selected_axis& a : taken.all()) {
    const bool chooses = a.is == axis_kind::chosen || a.is == axis_kind::single;
    if (chooses && !inside) {
      ++runs;
      parts.position = axis;
    }
    inside = chooses;
    if (a.is != axis_kind::chosen) {
      parts.slices.of[parts.slices.count++] = a;
      parts.all_whole = parts.all_whole && a.is_whole();
      axis += a.is != axis_kind::single;
      continue;
    }
    parts.chosen.push_back({&a, axis});
    for (int i = 0; i < a.axes; ++i, ++axis) {
      const std::int64_t size = a.is_mask ? a.by->dims()[i] : a.size;
      parts.slices.of[parts.slices.count++] = {.axis = a.axis + i, .count = size, .size = size};
    }
  }
  if (runs > 1) parts.position = 0;
  return parts;
}

// The axes [from, from + count) moved to begin at `to`.
tensor with_axes_at(const tensor& x, int from, int count, int to) {
  if (from == to || count == 0) return x;
  sizes_of perm(static_cast<std::size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  const auto first = perm.begin() + from;
  if (to < from) std::rotate(perm.begin() + to, first, first + count);
  else std::rotate(first, first + count, perm.begin() + to + count);
  return transpose(x, perm);
}

// The rows of indices [..., depth] of several tensors that choose together, and the axes that they index.
tensor rows_of_chosen(std::span<const chosen_axis> chosen, std::vector<int>& axes) {
  std::vector<tensor> columns;
  for (const chosen_axis& c : chosen) {
    const selected_axis& a = *c.entry;
    for (int i = 0; i < a.axes; ++i) axes.push_back(c.axis + i);
    if (!a.is_mask) {
      columns.push_back(checked_indices(*a.by, a.axis, a.size));
      continue;
    }
    for (const tensor& column : unstack(nonzero(*a.by), 1)) columns.push_back(column);
  }
  shape dims;
  for (const tensor& column : columns) {
    const std::optional<shape> both = broadcast(dims, column.dims());
    if (!both)
      fail("index", "tensors of indices of shapes " + to_string(dims) + " and " + to_string(column.dims()),
           "shapes that broadcast, masks with as many elements as the others");
    dims = *both;
  }
  for (tensor& column : columns) column = broadcast_to(column, dims);
  return stack(columns, -1);
}

// Several tensors choose together: the axes that they index come first for the gather.
tensor gathered(const tensor& x, std::span<const chosen_axis> chosen, int position) {
  std::vector<int> axes;
  const tensor rows = rows_of_chosen(chosen, axes);
  sizes_of perm(axes.begin(), axes.end());
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) perm.push_back(i);
  const tensor y = gather_nd(std::is_sorted(perm.begin(), perm.end()) ? x : transpose(x, perm), rows);
  return with_axes_at(y, 0, rows.rank() - 1, position);
}

}  // namespace

bool selection::is_by_tensors() const {
  return std::any_of(of, of + count, [](const selected_axis& a) { return a.is == axis_kind::chosen; });
}

shape dims_of(const selection& taken) {
  std::int64_t sizes[selection::most];
  std::size_t rank = 0;
  for (const selected_axis& a : taken.all())
    if (a.is != axis_kind::single) sizes[rank++] = a.count;
  return shape(std::span<const std::int64_t>(sizes, rank));
}

tensor selected(const tensor& x, const selection& taken) {
  if (!taken.is_by_tensors()) return sliced(x, taken);
  const parted_selection parts = parted(taken);
  const tensor whole = parts.all_whole ? x : sliced(x, parts.slices);
  const chosen_axis& first = parts.chosen.front();
  const selected_axis& a = *first.entry;
  if (parts.chosen.size() > 1) return gathered(whole, parts.chosen, parts.position);
  if (a.is_mask) return with_axes_at(boolean_mask(whole, *a.by, first.axis), first.axis, 1, parts.position);
  return with_axes_at(gather(whole, checked_indices(*a.by, a.axis, a.size), first.axis), first.axis, a.by->rank(),
                      parts.position);
}

}  // namespace kerngrad::detail
