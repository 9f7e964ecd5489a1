// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops on images. Resizing is linear and its backward kernel is its adjoint, so each is the
// other's rule. A crop is linear in its image, and in the position of its samples between two pixels: the slopes that
// boxes need are crops of another kind, whose own rules are these again. Rotations are like resizing.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_image;

import :std;
import :core;
import :rule;
import :like;
import :call;
import :ops;
import :grads_window;

namespace kerngrad::rules {

// ------------------------------------------------------------------------------------------ crops

/// The crops of an image at the boxes of `c`, with slopes along more sides than `c` has.
template <class C, class V>
auto crops_of(const C& c, const V& image, const shape& crops, std::string_view slopes) {
  return call<"CropAndResize">(image, c.in(1), c.in(2), attr<"cropSize">(attr_value{crops[1], crops[2]}),
                               attr<"method">(c.template attr<"method">()), attr<"slopes">(slopes));
}
/// The image's gradient for that of the crops.
template <class C, class V>
auto crops_given_back(const C& c, const V& dy, const shape& image) {
  return call_like<"CropAndResizeGrad">(c, dy, c.in(1), c.in(2), attr<"inputShape">(image));
}

/// [samples, 2]: how far the positions of the samples of a side of `pixels` pixels follow both ends of a box.
inline tensor ends_of_box(std::int64_t samples, std::int64_t pixels, dtype type) {
  const tensor end = samples > 1 ? linspace(0, 1, samples, dtype::float64) : full({1}, 0.5, dtype::float64);
  return cast(stack({1 - end, end}, 1) * static_cast<double>(pixels - 1), type);
}

/// The slopes that an op with these takes for a second one along a side; empty where that is 0.
inline std::string_view slopes_with(std::string_view slopes, std::string_view side) {
  if (slopes == "none") return side;
  return slopes == side || slopes == "both" ? std::string_view() : std::string_view("both");
}

/// The gradient of the boxes, for a gradient `dy` of the crops of an image at them.
template <class C>
tensor boxes_gradient(const C& c, const tensor& image, const tensor& dy) {
  const shape &x = image.dims(), &y = dy.dims();
  if (c.template attr<"method">().as_text() == "nearest" || y.size() == 0) return c.zeros(1);
  const auto side = [&](std::string_view name, std::int64_t other_axis, int axis) {
    const std::string_view slopes = slopes_with(c.template attr<"slopes">().as_text(), name);
    if (slopes.empty()) return zeros({y[0], 2}, dy.type());
    const tensor moved = sum(dy * crops_of(c, image, y, slopes), {other_axis, 3});
    return matmul(moved, ends_of_box(y[axis], x[axis], moved.type()));
  };
  return cast(reshape(stack({side("height", 2, 1), side("width", 1, 2)}, 2), c.dims(1)), c.type(1));
}

// ------------------------------------------------------------------------------------------ transforms

/// The result of an image under the maps of `c`.
template <class C>
tensor transformed(const C& c, const tensor& image, const shape& result, std::string_view slopes, double fill) {
  return call<"Transform">(image, c.in(1), attr<"interpolation">(c.template attr<"interpolation">()),
                           attr<"fillMode">(c.template attr<"fillMode">()), attr<"fillValue">(fill),
                           attr<"outputShape">(attr_value{result[1], result[2]}), attr<"slopes">(slopes));
}
/// The image's gradient for that of the result.
template <class C>
tensor transformed_back(const C& c, const tensor& dy, const shape& image) {
  return call_like<"TransformGrad">(c, dy, c.in(1), attr<"inputShape">(image));
}

/// [3, height * width]: column, row and 1 of each pixel.
inline tensor pixel_positions(std::int64_t height, std::int64_t width, dtype type) {
  const auto line = [](std::int64_t n) { return arange(0, static_cast<double>(n), 1, dtype::float64); };
  const tensor columns = broadcast_to(line(width), {height, width});
  const tensor rows = broadcast_to(reshape(line(height), {height, 1}), {height, width});
  return cast(reshape(stack({columns, rows, ones_like(rows)}), {3, height * width}), type);
}

/// The gradient of the maps, for a gradient `dy` of the result of an image under them: with (u, v) / p the position of
/// a pixel at (x, y, 1), u is t0 x + t1 y + t2 and so on, and p has no third number.
template <class C>
tensor maps_gradient(const C& c, const tensor& image, const tensor& dy, double fill) {
  const shape& y = dy.dims();
  const std::int64_t maps = c.dims(1)[0], pixels = y[1] * y[2];
  if (c.template attr<"interpolation">().as_text() == "nearest" || y.size() == 0) return c.zeros(1);
  const auto side = [&](std::string_view name) {
    const std::string_view slopes = slopes_with(c.template attr<"slopes">().as_text(), name);
    if (slopes.empty()) return zeros({maps, pixels}, dy.type());
    const tensor moved = reshape(sum(dy * transformed(c, image, y, slopes, fill), 3), {y[0], pixels});
    return maps == y[0] ? moved : sum(moved, 0, true);
  };
  const tensor down = side("height"), across = side("width");
  const tensor at = pixel_positions(y[1], y[2], down.type()), at_2 = slice(at, {0, 0}, {2, pixels});
  const tensor t = cast(c.in(1), down.type());
  const tensor p = matmul(slice(t, {0, 6}, {maps, 2}), at_2) + 1;
  // A pixel with p = 0 takes no derivative.
  const tensor divisor = where(not_equal(p, zeros_like(p)), p, ones_like(p));
  const tensor of_u = across / divisor, of_v = down / divisor;
  const tensor u = matmul(slice(t, {0, 0}, {maps, 3}), at), v = matmul(slice(t, {0, 3}, {maps, 3}), at);
  const tensor of_p = -(of_u * u + of_v * v) / divisor;
  return cast(
      concat({matmul(of_u, at, false, true), matmul(of_v, at, false, true), matmul(of_p, at_2, false, true)}, 1),
      c.type(1));
}

// ------------------------------------------------------------------------------------------ rotations

/// A gradient of the result brought back to the pixels that it was taken from.
template <class C, class V>
auto turned_back(const C& c, const V& dy) {
  return call_like<"RotateWithOffsetGrad">(c, dy);
}

inline constexpr auto image_rules = family_rules(rule_list{
    rule<"ResizeBilinear">(
        wrt(keep::in0, [](const auto& c) { return call_like<"ResizeBilinearGrad">(c, c.dy(), c.in(0)); })),
    rule<"ResizeBilinearGrad">(wrt(keep::nothing, [](const auto& c) { return call_like<"ResizeBilinear">(c, c.dy()); }),
                               wrt(keep::nothing, zero_gradient_1)),
    // For complex128 the walk passes one part of dy at a time, and the whole images.
    rule<"ResizeNearestNeighbor">(
        wrt(keep::in0,
            [](const auto& c) {
              const auto is_complex = [](const auto& x) { return kind_of(x.type()) == dtype_kind::complex; };
              const auto like = is_complex(c.in(0)) ? real(c.in(0)) : c.in(0);
              const auto added = [&](const auto& dy) { return call_like<"ResizeNearestNeighborGrad">(c, dy, like); };
              return is_complex(c.dy()) ? complex(added(real(c.dy())), added(imag(c.dy()))) : added(c.dy());
            })),
    rule<"ResizeNearestNeighborGrad">(
        wrt(keep::nothing, [](const auto& c) { return call_like<"ResizeNearestNeighbor">(c, c.dy()); }),
        wrt(keep::nothing, zero_gradient_1)),

    rule<"FlipLeftRight">(wrt(keep::nothing, [](const auto& c) { return flip_left_right(c.dy()); })),

    rule<"CropAndResize">(
        wrt(keep::in1 | keep::in2, [](const auto& c) { return crops_given_back(c, c.dy(), c.dims(0)); }),
        wrt(keep::in0 | keep::in1 | keep::in2, [](const auto& c) { return boxes_gradient(c, c.in(0), c.dy()); }),
        constant_operand()),
    rule<"CropAndResizeGrad">(
        wrt(keep::in1 | keep::in2,
            [](const auto& c) { return crops_of(c, c.dy(), c.dims(0), c.template attr<"slopes">().as_text()); }),
        wrt(keep::in0 | keep::in1 | keep::in2, [](const auto& c) { return boxes_gradient(c, c.dy(), c.in(0)); }),
        constant_operand()),

    rule<"Transform">(wrt(keep::in1, [](const auto& c) { return transformed_back(c, c.dy(), c.dims(0)); }),
                      wrt(keep::in0 | keep::in1,
                          [](const auto& c) {
                            return maps_gradient(c, c.in(0), c.dy(), c.template attr<"fillValue">().as_number());
                          })),
    rule<"TransformGrad">(
        wrt(keep::in1,
            [](const auto& c) { return transformed(c, c.dy(), c.dims(0), c.template attr<"slopes">().as_text(), 0); }),
        wrt(keep::in0 | keep::in1, [](const auto& c) { return maps_gradient(c, c.dy(), c.in(0), 0); })),

    rule<"RotateWithOffset">(wrt(keep::nothing,
                                 [](const auto& c) {
                                   if (c.type(0) != dtype::complex64) return turned_back(c, c.dy());
                                   return complex(turned_back(c, real(c.dy())), turned_back(c, imag(c.dy())));
                                 })),
    rule<"RotateWithOffsetGrad">(
        wrt(keep::nothing, [](const auto& c) { return call_like<"RotateWithOffset">(c, c.dy()); })),
});

}  // namespace kerngrad::rules
