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
    shares.push_back(static_cast<double>(inside) / static_cast<double>(counted));
  }
  return shares;
}

}  // namespace

tensor pooled_beyond(std::string_view name, const tensor& x, extent window, const pool_options& options, bool mean) {
  const composed call{name};
  call.rank("x", x, 4, 4);
  const extent strides = options.strides.value_or(window);
  const attr_value& pad = options.pad.value();
  std::int64_t around[4] = {};
  if (pad.kind() == attr_kind::text && pad.as_text() == "same") {
    // As many as the op adds: windows cover all pixels, so there is nothing beyond them.
    const auto sides = [](std::int64_t size, std::int64_t over, std::int64_t step, std::int64_t* to) {
      if (step < 1) return;
      const std::int64_t whole = std::max<std::int64_t>(0, ((size + step - 1) / step - 1) * step + over - size);
      to[0] = whole / 2, to[1] = whole - whole / 2;
    };
    sides(x.dims()[1], window.height, strides.height, around);
    sides(x.dims()[2], window.width, strides.width, around + 2);
  } else {
    for (std::size_t i = 0; i < 4; ++i)
      if (pad.kind() == attr_kind::integer) around[i] = pad.as_integer();
      else if (pad.kind() == attr_kind::list) around[i] = pad.as_list()[i];
  }
  const pooled_axis rows = pooled_axis_of(call, x.dims()[1], window.height, strides.height, around[0], around[1],
                                          options.ceil_mode),
                    columns = pooled_axis_of(call, x.dims()[2], window.width, strides.width, around[2], around[3],
                                             options.ceil_mode);
  const pool_options inside{
      .strides = strides, .pad = {rows.before, rows.after + rows.extra, columns.before, columns.after + columns.extra}};
  if (!mean) return max_pool(x, window, inside);
  const tensor means = avg_pool(x, window, inside);
  if (!options.count_include_pad) return means;
  const dtype wide = means.type() == dtype::float64 ? dtype::float64 : dtype::float32;
  const auto factors = [&](const pooled_axis& axis, const shape& dims) {
    return cast(tensor(inside_by_counted(axis), dims), wide);
  };
  const tensor shares = factors(rows, {rows.count, 1, 1}) * factors(columns, {columns.count, 1});
  return narrowed(widened(means) * shares, means.type());
}

}  // namespace kerngrad::detail
