// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops on images. Their kernels split the work themselves: what is worked out of an axis serves all
// rows.
module;
#include <algorithm>
#include <cmath>
#include "kernels/common/abi.h"
#include "kernels/image/crop.h"
#include "kernels/image/resize.h"
#include "kernels/image/warp.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

namespace {

// From images of shape x to those of shape y, or back.
void run_resize(const launch_call& c, const shape& x, const shape& y) {
  if (c.out[0].dims.size() == 0) return;
  const auto is_set = [&](attr_place at) { return c.call.attr(at).as_bool(); };
  run_kernel_of(
      c, kernels::resize_geometry{.batch = x[0],
                                  .in_h = x[1],
                                  .in_w = x[2],
                                  .channels = x[3],
                                  .out_h = y[1],
                                  .out_w = y[2],
                                  .align_corners = is_set(place_in(attributes::resize, "alignCorners")),
                                  .half_pixel_centers = is_set(place_in(attributes::resize, "halfPixelCenters"))});
}

// The numbers of an operand, none of them NaN or infinite.
std::vector<double> finite_numbers(const launch_call& c, const view& x) {
  return visit(x.type, [&]<dtype Type>(dtype_constant<Type> is) {
    std::vector<double> all;
    if constexpr (kind_of(Type) == dtype_kind::half || kind_of(Type) == dtype_kind::real) {
      using T = typename decltype(is)::element;
      const std::span from(static_cast<const T*>(x.data), static_cast<std::size_t>(x.dims.size()));
      for (const T number : from) all.push_back(static_cast<double>(number));
    }
    for (double number : all)
      if (!std::isfinite(number))
        c.call.refuse(std::string(c.call.row.operands[1].name) + " with " + std::to_string(number), "finite numbers");
    return all;
  });
}

// The image of each box, one of `count`.
std::vector<std::int64_t> images_of(const launch_call& c, const view& numbers, std::int64_t count) {
  const auto size = static_cast<std::size_t>(numbers.dims.size());
  std::vector<std::int64_t> all(size);
  if (numbers.type == dtype::int64) std::copy_n(static_cast<const std::int64_t*>(numbers.data), size, all.begin());
  else std::copy_n(static_cast<const std::int32_t*>(numbers.data), size, all.begin());
  for (const std::int64_t image : all)
    if (image < 0 || image >= count)
      c.call.refuse("boxInd " + std::to_string(image), "numbers of images, from 0 to " + std::to_string(count - 1));
  return all;
}

// The sides that the attribute `slopes` names.
struct sides {
  bool height, width;
  sides(const launch_call& c, attr_place at) {
    const std::string_view text = c.call.attr(at).as_text();
    height = text == "height" || text == "both";
    width = text == "width" || text == "both";
  }
};

// Between images of shape x and their crops of shape y; the attributes are where both rows have them.
void run_crop(const launch_call& c, const shape& x, const shape& y, attr_place method, attr_place slopes,
              double outside) {
  const std::vector<double> boxes = finite_numbers(c, c.in[1]);
  const std::vector<std::int64_t> images = images_of(c, c.in[2], x[0]);
  if (c.out[0].dims.size() == 0) return;
  const sides along(c, slopes);
  run_kernel_of(c, kernels::crop_geometry{.batch = x[0],
                                          .in_h = x[1],
                                          .in_w = x[2],
                                          .channels = x[3],
                                          .crops = y[0],
                                          .out_h = y[1],
                                          .out_w = y[2],
                                          .boxes = boxes.data(),
                                          .images = images.data(),
                                          .outside = outside,
                                          .nearest = c.call.attr(method).as_text() == "nearest",
                                          .slope_down = along.height,
                                          .slope_across = along.width});
}

// Between images of shape x and results of shape y; the attributes are where both rows have them.
struct transform_attrs {
  attr_place interpolation, mode, slopes;
};
void run_transform(const launch_call& c, const shape& x, const shape& y, const transform_attrs& at, double fill) {
  const std::vector<double> transforms = finite_numbers(c, c.in[1]);
  if (c.out[0].dims.size() == 0) return;
  const std::string_view mode = c.call.attr(at.mode).as_text();
  const sides along(c, at.slopes);
  run_kernel_of(c, kernels::warp_geometry{.batch = x[0],
                                          .in_h = x[1],
                                          .in_w = x[2],
                                          .channels = x[3],
                                          .out_h = y[1],
                                          .out_w = y[2],
                                          .transforms = transforms.data(),
                                          .stride = c.in[1].dims[0] == 1 ? 0 : 8,
                                          .fill = fill,
                                          .mode = mode == "reflect"   ? kernels::fill_mode::reflect
                                                  : mode == "wrap"    ? kernels::fill_mode::wrap
                                                  : mode == "nearest" ? kernels::fill_mode::nearest
                                                                      : kernels::fill_mode::constant,
                                          .nearest = c.call.attr(at.interpolation).as_text() == "nearest",
                                          .slope_down = along.height,
                                          .slope_across = along.width});
}

}  // namespace

void resize(const launch_call& c) { run_resize(c, c.in[0].dims, c.out[0].dims); }
void resize_grad(const launch_call& c) { run_resize(c, c.out[0].dims, c.in[0].dims); }

void crop(const launch_call& c) {
  run_crop(c, c.in[0].dims, c.out[0].dims, place_in(attributes::crop, "method"), place_in(attributes::crop, "slopes"),
           c.call.attr(place_in(attributes::crop, "extrapolationValue")).as_number());
}
void crop_grad(const launch_call& c) {
  run_crop(c, c.out[0].dims, c.in[0].dims, place_in(attributes::crop_grad, "method"),
           place_in(attributes::crop_grad, "slopes"), 0);
}

void transform(const launch_call& c) {
  constexpr transform_attrs at{place_in(attributes::transform, "interpolation"),
                               place_in(attributes::transform, "fillMode"), place_in(attributes::transform, "slopes")};
  run_transform(c, c.in[0].dims, c.out[0].dims, at,
                c.call.attr(place_in(attributes::transform, "fillValue")).as_number());
}
void transform_grad(const launch_call& c) {
  constexpr transform_attrs at{place_in(attributes::transform_grad, "interpolation"),
                               place_in(attributes::transform_grad, "fillMode"),
                               place_in(attributes::transform_grad, "slopes")};
  run_transform(c, c.out[0].dims, c.in[0].dims, at, 0);
}

}  // namespace kerngrad::launch
