// SPDX-License-Identifier: Apache-2.0
// Poolings whose windows reach beyond the padding, or whose means count it. The op takes windows inside explicit
// padding and counts the elements inside of the image; other counts are a factor for each window.
module;
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;

namespace kerngrad::detail {
namespace {

using sizes_of = std::vector<std::int64_t>;

// Windows along one axis.
struct pooled_axis {
  std::int64_t size, window, stride, before, after, extra;  // extra: elements beyond the padding
  std::int64_t count;
};

pooled_axis pooled_axis_of(const composed& call, std::int64_t size, std::int64_t window, std::int64_t stride,
                           std::int64_t before, std::int64_t after, bool ceil_mode) {
  if (window < 1 || stride < 1)
    call.refuse("a window of " + std::to_string(window) + " with stride " + std::to_string(stride), "1 or more");
  if (before < 0 || after < 0) call.refuse("a negative padding", "0 pixels or more");
  const std::int64_t padded = kernels::sum_of(kernels::sum_of(size, before), after), room = padded - window;
  if (room < 0)
    call.refuse("a window of " + std::to_string(window) + " over " + std::to_string(padded) + " pixels",
                "a window inside of the padded image");
  std::int64_t count = room / stride + 1;
  if (ceil_mode && room % stride != 0 && count * stride < size + before) ++count;
  return {size, window, stride, before, after, std::max<std::int64_t>(0, (count - 1) * stride + window - padded),
          count};
}

// For each window, the elements inside of the image by those inside of the padding.
std::vector<double> inside_by_counted(const pooled_axis& axis) {
  std::vector<double> shares;
  for (std::int64_t i = 0; i < axis.count; ++i) {
    const std::int64_t begin = i * axis.stride - axis.before, end = begin + axis.window;
    const std::int64_t inside = std::min(end, axis.size) - std::max<std::int64_t>(begin, 0);
    const std::int64_t counted = std::min(end, axis.size + axis.after) - begin;
    shares.push_back(static_cast<double>(std::max<std::int64_t>(inside, 0)) / static_cast<double>(counted));
  }
  return shares;
}

// The padding as the op has it, before and after each axis.
sizes_of padding_of(const attr_value& pad, const sizes_of& sizes, const sizes_of& window, const sizes_of& strides) {
  sizes_of around(2 * sizes.size());
  if (pad.kind() == attr_kind::text && pad.as_text() == "same") {
    // As many as the op adds: windows cover all pixels, so there is nothing beyond them.
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (strides[i] < 1) continue;
      const std::int64_t last = ((sizes[i] + strides[i] - 1) / strides[i] - 1) * strides[i];
      const std::int64_t whole = std::max<std::int64_t>(0, last + window[i] - sizes[i]);
      around[2 * i] = whole / 2, around[2 * i + 1] = whole - whole / 2;
    }
  } else if (pad.kind() == attr_kind::integer) {
    std::ranges::fill(around, pad.as_integer());
  } else if (pad.kind() == attr_kind::list) {
    std::ranges::copy_n(pad.as_list().begin(), std::ssize(around), around.begin());
  }
  return around;
}

// Windows along each of the axes from `first` on.
struct windows {
  std::vector<pooled_axis> axes;
  sizes_of padding;  // what the op takes: windows beyond the padding are inside of it

  windows(const composed& call, const shape& dims, int first, const sizes_of& window, const sizes_of& strides,
          const attr_value& pad, bool ceil_mode) {
    const sizes_of sizes(dims.begin() + first, dims.begin() + first + std::ssize(window));
    const sizes_of around = padding_of(pad, sizes, window, strides);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const pooled_axis axis =
          pooled_axis_of(call, sizes[i], window[i], strides[i], around[2 * i], around[2 * i + 1], ceil_mode);
      axes.push_back(axis);
      padding.insert(padding.end(), {axis.before, axis.after + axis.extra});
    }
  }

  // Means of elements inside of the image as means that count the padding. `after` axes follow those of the windows.
  tensor counted(const tensor& means, int after) const {
    const tensor wide = widened(means);
    tensor shares;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      sizes_of dims(axes.size() - i + static_cast<std::size_t>(after), 1);
      dims[0] = axes[i].count;
      const tensor along = cast(tensor(inside_by_counted(axes[i]), shape(dims)), wide.type());
      shares = shares.defined() ? shares * along : along;
    }
    // A window in the padding alone, whose mean is NaN there, has a mean of zeros.
    return narrowed(where(shares == 0, zeros_like(wide), wide * shares), means.type());
  }
};

}  // namespace

tensor pooled_beyond(std::string_view name, const tensor& x, extent window, const pool_options& options, bool mean) {
  const composed call{name};
  call.rank("x", x, 4, 4);
  const extent strides = options.strides.value_or(window);
  const windows of(call, x.dims(), 1, {window.height, window.width}, {strides.height, strides.width},
                   options.pad.value(), options.ceil_mode);
  const sizes_of& pad = of.padding;
  const pool_options inside{.strides = strides, .pad = {pad[0], pad[1], pad[2], pad[3]}};
  if (!mean) return max_pool(x, window, inside);
  const tensor means = avg_pool(x, window, inside);
  return options.count_include_pad ? of.counted(means, 1) : means;
}

tensor pooled_beyond(std::string_view name, const tensor& x, extent3d window, const pool3d_options& options,
                     bool mean) {
  const composed call{name};
  call.rank("x", x, 5, 5);
  const extent3d strides = options.strides.value_or(window);
  const windows of(call, x.dims(), options.channels_first ? 2 : 1, {window.depth, window.height, window.width},
                   {strides.depth, strides.height, strides.width}, options.pad.value(), options.ceil_mode);
  const sizes_of& pad = of.padding;
  const pool3d_options inside{.strides = strides,
                              .pad = {{pad[0], pad[1]}, {pad[2], pad[3]}, {pad[4], pad[5]}},
                              .channels_first = options.channels_first};
  if (!mean) return max_pool3d(x, window, inside);
  const tensor means = avg_pool3d(x, window, inside);
  return options.count_include_pad ? of.counted(means, options.channels_first ? 0 : 1) : means;
}

}  // namespace kerngrad::detail
