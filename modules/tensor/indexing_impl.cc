// SPDX-License-Identifier: Apache-2.0
// From indices to a selection, and the calls that start there.
module;
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :selection;

namespace kerngrad::detail {
namespace {

using item_kind = index_item::kind;

bool is_mask(const index_item& item) { return item.is == item_kind::elements && item.by.type() == dtype::boolean; }

// The axes of the tensor that an index stands for.
int axes_of_index(const index_item& item) {
  if (item.is == item_kind::new_axis || item.is == item_kind::ellipsis) return 0;
  return is_mask(item) ? item.by.rank() : 1;
}

// The entries of a selection as they are found.
class selection_maker {
 public:
  selection_maker(std::string_view who, const shape& dims, selection& made) : who_(who), dims_(dims), made_(made) {}

  void take_whole(int axes) {
    for (; axes > 0; --axes) add({.count = size(), .size = size()}, 1);
  }
  void take_fresh() { add({.is = selected_axis::kind::fresh}, 0); }

  void take_single(std::int64_t at) {
    const std::int64_t n = size(), from_front = at < 0 ? at + n : at;
    if (from_front < 0 || from_front >= n) refuse_index_into(who_, at, axis_, n);
    add({.is = selected_axis::kind::single, .first = from_front, .size = n}, 1);
  }

  void take_range(const index_item& item) {
    if (item.step == 0) fail(who_, "a range with step 0", "a step that is not 0");
    const std::int64_t n = size();
    const bool forward = item.step > 0;
    const std::int64_t low = forward ? 0 : -1, high = forward ? n : n - 1;
    const auto inside = [&](std::int64_t at) {
      if (at < 0) at += n;
      return at < low ? low : at > high ? high : at;
    };
    const std::int64_t from = inside(item.start), to = item.to_end ? (forward ? n : -1) : inside(item.stop);
    const std::int64_t length = forward ? to - from : from - to;
    // The size of a step as an unsigned number: that of the smallest one is no int64.
    const std::uint64_t stride =
        forward ? static_cast<std::uint64_t>(item.step) : -static_cast<std::uint64_t>(item.step);
    const std::int64_t count =
        length <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(length) - 1) / stride) + 1;
    add({.first = count ? from : 0, .count = count, .step = count > 1 ? item.step : 1, .size = n}, 1);
  }

  void take_chosen(const tensor& by) {
    const bool masks = by.type() == dtype::boolean;
    if (!masks && !integral.has(by.type()))
      fail(who_, "a tensor of dtype " + std::string(name_of(by.type())) + " as an index", "integers or booleans",
           "cast it");
    const int axes = masks ? by.rank() : 1;
    if (masks && axes == 0) fail(who_, "a mask of rank 0", "rank 1 or more");
    for (int i = 0; masks && i < axes; ++i)
      if (by.dims()[i] != dims_[axis_ + i])
        fail(who_,
             "a mask of shape " + to_string(by.dims()) + " from axis " + std::to_string(axis_) + " of shape " +
                 to_string(dims_) + " on",
             "a mask of the sizes of these axes");
    add({.is = selected_axis::kind::chosen, .is_mask = masks, .axes = axes, .size = size(), .by = &by}, axes);
  }

  int axis() const { return axis_; }

 private:
  std::int64_t size() const { return dims_[axis_]; }
  void add(selected_axis entry, int axes) {
    if (made_.count == selection::most) fail(who_, "a result of more than 8 axes", "at most 8");
    entry.axis = axis_;
    made_.of[made_.count++] = entry;
    axis_ += axes;
  }

  std::string_view who_;
  const shape& dims_;
  selection& made_;
  int axis_ = 0;
};

}  // namespace

void refuse_index_into(std::string_view who, std::int64_t at, int axis, std::int64_t size) {
  fail(who, "index " + std::to_string(at) + " into axis " + std::to_string(axis) + " of size " + std::to_string(size),
       size ? "an index from " + std::to_string(-size) + " to " + std::to_string(size - 1)
            : "no index: the axis is empty");
}

selection selection_of(std::string_view who, const shape& dims, std::span<const index_item> indices) {
  int named = 0, ellipses = 0;
  for (const index_item& item : indices) {
    named += axes_of_index(item);
    ellipses += item.is == item_kind::ellipsis;
  }
  if (ellipses > 1) fail(who, "an ellipsis twice", "at most one");
  if (named > dims.rank())
    fail(who, "indices for " + std::to_string(named) + " axes of a tensor of shape " + to_string(dims),
         "at most " + std::to_string(dims.rank()));
  selection made;
  selection_maker make(who, dims, made);
  for (const index_item& item : indices) {
    switch (item.is) {
      case item_kind::integer: make.take_single(item.start); break;
      case item_kind::range: make.take_range(item); break;
      case item_kind::new_axis: make.take_fresh(); break;
      case item_kind::ellipsis: make.take_whole(dims.rank() - named); break;
      case item_kind::elements: make.take_chosen(item.by); break;
    }
  }
  make.take_whole(dims.rank() - make.axis());
  return made;
}

tensor elements_at(const tensor& x, std::initializer_list<index_item> indices) {
  return selected(x, selection_of("index", x.dims(), std::span(indices.begin(), indices.size())));
}

std::int64_t row_major_index(const shape& dims, std::initializer_list<std::int64_t> at) {
  if (static_cast<std::int64_t>(at.size()) != dims.rank())
    fail("item", std::to_string(at.size()) + " indices into a tensor of shape " + to_string(dims),
         std::to_string(dims.rank()) + ", one for each axis");
  std::int64_t flat = 0;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const std::int64_t given = at.begin()[axis], n = dims[axis], index = given < 0 ? given + n : given;
    if (index < 0 || index >= n) refuse_index_into("item", given, axis, n);
    flat = flat * n + index;
  }
  return flat;
}

}  // namespace kerngrad::detail

namespace kerngrad {

tensor_part::tensor_part(tensor x, std::initializer_list<detail::index_item> indices)
    : x_(std::move(x)), indices_(indices) {}
tensor_part::~tensor_part() = default;

}  // namespace kerngrad
