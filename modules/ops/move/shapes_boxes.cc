// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops that take or place boxes of elements: with steps, mirrored, in blocks, on a diagonal.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_boxes;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :shapes_move;

namespace kerngrad::shapes {

/// The elements that StridedSlice takes from each axis of x, and the sizes of its result. The result lacks axes with a
/// single index and has the new ones.
struct strided_box {
  std::int64_t begin[max_rank]{}, stride[max_rank]{}, size[max_rank]{};
  std::int64_t result[max_rank]{};
  std::size_t result_rank = 0;
};
/// The begin, end and stride of StridedSlice on one axis.
struct strided_index {
  std::int64_t begin, end, stride;
  bool from_start, to_end;
};

/// The size that an index leaves of an axis. `begin` and `stride` become those of a copy.
constexpr std::int64_t taken_of_axis(strided_index& index, std::int64_t size) {
  const bool forward = index.stride > 0;
  const std::int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const auto inside = [&](std::int64_t at) {
    if (at < 0) at += size;
    return at < low ? low : at > high ? high : at;
  };
  const std::int64_t from = index.from_start ? (forward ? 0 : size - 1) : inside(index.begin);
  const std::int64_t to = index.to_end ? (forward ? size : -1) : inside(index.end);
  const std::int64_t length = forward ? to - from : from - to, step = forward ? index.stride : -index.stride;
  const std::int64_t taken = length <= 0 ? 0 : (length - 1) / step + 1;
  index.begin = taken == 0 ? 0 : from;
  if (taken <= 1) index.stride = 1;  // steps are not taken, however long
  return taken;
}

/// Resolves the indices of StridedSlice to a box of x. `dims` are the sizes of x.
constexpr strided_box strided_box_of(const inference& call, const shape& dims) {
  const auto list = [&](attr_place at) { return call.attr(at).as_list(); };
  const auto mask = [&](attr_place at) { return call.attr(at).as_integer(); };
  constexpr std::span<const attr_spec> of = attributes::strided_slice;
  const auto begin = list(place_in(of, "begin")), end = list(place_in(of, "end")),
             strides = list(place_in(of, "strides"));
  const std::size_t count = begin.size();
  if (end.size() != count || (strides.size() != count && !strides.empty()))
    call.refuse(std::to_string(count) + " begins, " + std::to_string(end.size()) + " ends and " +
                    std::to_string(strides.size()) + " strides",
                "as many of each, or no strides");
  if (count > 32) call.refuse(std::to_string(count) + " indices", "at most 32");
  const std::int64_t begin_mask = mask(place_in(of, "beginMask")), end_mask = mask(place_in(of, "endMask")),
                     ellipsis_mask = mask(place_in(of, "ellipsisMask")), new_mask = mask(place_in(of, "newAxisMask")),
                     shrink_mask = mask(place_in(of, "shrinkAxisMask"));
  const auto bit = [](std::int64_t bits, std::size_t i) { return ((bits >> i) & 1) != 0; };
  int named = 0, ellipses = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (bit(ellipsis_mask, i)) ++ellipses;
    else if (!bit(new_mask, i)) ++named;
  }
  if (ellipses > 1) call.refuse("an ellipsisMask of " + std::to_string(ellipses) + " bits", "at most one");
  if (named > dims.rank())
    call.refuse(std::to_string(named) + " indices",
                "at most one for each of the " + std::to_string(dims.rank()) + " axes of " + to_string(dims));
  strided_box box;
  int axis = 0;
  const auto give = [&](std::int64_t size) {
    if (box.result_rank == static_cast<std::size_t>(max_rank)) call.refuse("a result of more than 8 axes", "at most 8");
    box.result[box.result_rank++] = size;
  };
  const auto take = [&](std::int64_t from, std::int64_t stride, std::int64_t size) {
    box.begin[axis] = from, box.stride[axis] = stride, box.size[axis] = size;
    ++axis;
  };
  const auto take_whole = [&] {
    give(dims[axis]);
    take(0, 1, dims[axis]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (bit(ellipsis_mask, i)) {
      for (int rest = dims.rank() - named; rest > 0; --rest) take_whole();
      continue;
    }
    if (bit(new_mask, i)) {
      give(1);
      continue;
    }
    strided_index index{begin[i], end[i], strides.empty() ? 1 : strides[i], bit(begin_mask, i), bit(end_mask, i)};
    if (index.stride == 0) call.refuse("stride 0 on axis " + std::to_string(axis), "a stride that is not 0");
    if (bit(shrink_mask, i)) {
      const std::int64_t at = index.begin < 0 ? index.begin + dims[axis] : index.begin;
      if (at < 0 || at >= dims[axis] || index.stride < 0)
        call.refuse("index " + std::to_string(index.begin) + " with stride " + std::to_string(index.stride) +
                        " on axis " + std::to_string(axis) + " of size " + std::to_string(dims[axis]),
                    "an index of the axis, with a stride above 0, where the axis goes");
      take(at, 1, 1);
      continue;
    }
    const std::int64_t taken = taken_of_axis(index, dims[axis]);
    give(taken);
    take(index.begin, index.stride, taken);
  }
  while (axis < dims.rank()) take_whole();
  return box;
}

/// StridedSlice: the shape of the elements that the indices take.
export constexpr void strided_slice(inference& call) {
  const strided_box box = strided_box_of(call, call.in[0].dims);
  call.give(shape(std::span<const std::int64_t>(box.result, box.result_rank)));
}

/// StridedSliceGrad: the shape of x in the attribute `inputShape`. dy has the shape of its slice.
export constexpr void strided_slice_grad(inference& call) {
  const shape x = shape_attr(call, place_in(attributes::strided_slice_grad, "inputShape"));
  const strided_box box = strided_box_of(call, x);
  const shape taken(std::span<const std::int64_t>(box.result, box.result_rank));
  if (!(taken == call.in[0].dims))
    call.refuse("dy of shape " + to_string(call.in[0].dims), "the shape of the result, " + to_string(taken));
  call.give(x);
}

/// MirrorPad: each axis with its pair (before, after) of mirrored elements added.
export constexpr void mirror_pad(inference& call) {
  pad_axes(call);
  const shape& dims = call.in[0].dims;
  const bool repeats = call.attr(place_in(attributes::mirror_pad, "mode")).as_text() == "symmetric";
  const std::span<const std::int64_t> pairs = call.attr(place_in(attributes::mirror_pad, "paddings")).as_list();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const int axis = static_cast<int>(i / 2);
    const std::int64_t most = repeats || dims[axis] == 0 ? dims[axis] : dims[axis] - 1;
    if (pairs[i] > most)
      call.refuse("a padding of " + std::to_string(pairs[i]) + " on axis " + std::to_string(axis),
                  "at most the elements that there are to mirror, " + std::to_string(most));
  }
}

/// RepeatPad: each axis with its pair (before, after) added. Elements of the axis fill the border, so an axis of size 0
/// takes no padding.
export constexpr void repeat_pad(inference& call) {
  pad_axes(call);
  const shape& dims = call.in[0].dims;
  const std::span<const std::int64_t> pairs = call.attr(place_in(attributes::repeat_pad, "paddings")).as_list();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i] > 0 && dims[static_cast<int>(i / 2)] == 0)
      call.refuse("a padding of " + std::to_string(pairs[i]) + " on axis " + std::to_string(i / 2) + " of size 0",
                  "elements to repeat", "use the padding 0, or a constant border");
}

/// Blocks on the axes after the first one, and the paddings or crops around them.
struct blocks_of_call {
  std::span<const std::int64_t> sizes, around;
  std::int64_t count = 1;  ///< elements of a block
};
/// Positions of the paddings and crops in the attributes of SpaceToBatchND and BatchToSpaceND.
inline constexpr attr_place paddings_of_blocks = place_in(attributes::space_to_batch, "paddings"),
                            crops_of_blocks = place_in(attributes::batch_to_space, "crops");
/// The blocks of a call, checked against its shape.
constexpr blocks_of_call blocks_of(const inference& call, attr_place around) {
  blocks_of_call blocks{call.attr(place_in(attributes::space_to_batch, "blockShape")).as_list(),
                        call.attr(around).as_list()};
  const shape& dims = call.in[0].dims;
  if (blocks.sizes.empty() || blocks.sizes.size() >= static_cast<std::size_t>(dims.rank()))
    call.refuse("a block of " + std::to_string(blocks.sizes.size()) + " axes and shape " + to_string(dims),
                "rank " + std::to_string(blocks.sizes.empty() ? 2 : blocks.sizes.size() + 1) +
                    " or more: a batch and the axes of the block");
  if (blocks.around.size() != 2 * blocks.sizes.size())
    call.refuse(
        std::to_string(blocks.around.size()) + " values around " + std::to_string(blocks.sizes.size()) + " axes",
        "a pair for each axis of the block");
  for (std::int64_t size : blocks.sizes) {
    if (size < 1 || blocks.count > most_elements / size)
      call.refuse("a block size of " + std::to_string(size), "sizes of 1 or more whose product fits in memory");
    blocks.count *= size;
  }
  for (std::int64_t value : blocks.around)
    if (value < 0) call.refuse("a negative size around the whole, " + std::to_string(value), "0 or more");
  return blocks;
}

/// SpaceToBatchND: each padded axis divided by its block size, and the first axis multiplied by the elements of a
/// block.
export constexpr void space_to_batch(inference& call) {
  const blocks_of_call blocks = blocks_of(call, paddings_of_blocks);
  const shape& dims = call.in[0].dims;
  if (dims[0] > 0 && blocks.count > most_elements / dims[0])
    call.refuse("a block of " + std::to_string(blocks.count) + " elements", "a result that fits in memory");
  shape result = with_axis(dims, 0, dims[0] * blocks.count);
  for (std::size_t i = 0; i < blocks.sizes.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    const std::int64_t padded =
        sum_of_sizes(call, sum_of_sizes(call, dims[axis], blocks.around[2 * i]), blocks.around[2 * i + 1]);
    if (padded % blocks.sizes[i] != 0)
      call.refuse("a padded size of " + std::to_string(padded) + " on axis " + std::to_string(axis),
                  "a multiple of the block size " + std::to_string(blocks.sizes[i]));
    result = with_axis(result, axis, padded / blocks.sizes[i]);
  }
  call.give(result);
}

/// BatchToSpaceND: the first axis divided by the elements of a block, and each axis of a block multiplied by its size,
/// less the crops.
export constexpr void batch_to_space(inference& call) {
  const blocks_of_call blocks = blocks_of(call, crops_of_blocks);
  const shape& dims = call.in[0].dims;
  if (dims[0] % blocks.count != 0)
    call.refuse("a batch of " + std::to_string(dims[0]),
                "a multiple of the elements of a block, " + std::to_string(blocks.count));
  shape result = with_axis(dims, 0, dims[0] / blocks.count);
  for (std::size_t i = 0; i < blocks.sizes.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    const std::int64_t cropped = sum_of_sizes(call, blocks.around[2 * i], blocks.around[2 * i + 1]);
    if (dims[axis] > most_elements / blocks.sizes[i] || cropped > dims[axis] * blocks.sizes[i])
      call.refuse("crops of " + std::to_string(cropped) + " on axis " + std::to_string(axis),
                  "at most what the blocks make of the axis");
    result = with_axis(result, axis, dims[axis] * blocks.sizes[i] - cropped);
  }
  call.give(result);
}

/// DepthToSpace: height and width multiplied by the block size, and the channels divided by its square.
export constexpr void depth_to_space(inference& call) {
  const shape& dims = call.in[0].dims;
  const std::int64_t block = call.attr(place_in(attributes::depth_to_space, "blockSize")).as_integer();
  const bool first = call.attr(place_in(attributes::depth_to_space, "dataFormat")).as_text() == "NCHW";
  if (dims.rank() != 4) call.refuse("shape " + to_string(dims), "4 axes: batch, height, width and channels");
  const int channels = first ? 1 : 3, height = first ? 2 : 1;
  if (dims[channels] % (block * block) != 0)
    call.refuse(std::to_string(dims[channels]) + " channels",
                "a multiple of blockSize^2, " + std::to_string(block * block));
  for (int axis : {height, height + 1})
    if (dims[axis] > most_elements / block) call.refuse("shape " + to_string(dims), "a result that fits in memory");
  shape result = with_axis(dims, channels, dims[channels] / (block * block));
  result = with_axis(result, height, dims[height] * block);
  call.give(with_axis(result, height + 1, dims[height + 1] * block));
}

/// Diag: the shape of x twice.
export constexpr void diag(inference& call) {
  const shape& dims = call.in[0].dims;
  if (2 * dims.rank() > max_rank) call.refuse("rank " + std::to_string(dims.rank()), "a rank of at most 4");
  if (dims.size() > 0 && dims.size() > most_elements / dims.size())
    call.refuse("shape " + to_string(dims), "a result that fits in memory");
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < 2 * dims.rank(); ++i) sizes[i] = dims[i % dims.rank()];
  call.give(shape(std::span<const std::int64_t>(sizes, 2 * static_cast<std::size_t>(dims.rank()))));
}

}  // namespace kerngrad::shapes
