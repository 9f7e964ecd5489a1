// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops on images. Resizing is linear and its backward kernel is its adjoint, so each is the
// other's rule. A crop is linear in its image, and in the position of its samples between two pixels: the slopes that
// boxes need are crops of another kind, whose own rules are these again.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_image;

import :std;
import :core;
import :rule;
import :call;
import :ops;
import :grads_window;

namespace kerngrad::rules {

/// One of the resizing ops with the attributes of `c`.
template <fixed_string Op, class C, class... V>
auto resized_like(const C& c, const V&... operands) {
  return call<Op>(operands..., attr<"size">(c.template attr<"size">()),
                  attr<"alignCorners">(c.template attr<"alignCorners">()),
                  attr<"halfPixelCenters">(c.template attr<"halfPixelCenters">()));
}

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
  return call<"CropAndResizeGrad">(dy, c.in(1), c.in(2), attr<"inputShape">(image),
                                   attr<"method">(c.template attr<"method">()),
                                   attr<"slopes">(c.template attr<"slopes">()));
}

/// [samples, 2]: how far the positions of the samples of a side of `pixels` pixels follow both ends of a box.
inline tensor ends_of_box(std::int64_t samples, std::int64_t pixels, dtype type) {
  const tensor end = samples > 1 ? linspace(0, 1, samples, dtype::float64) : full({1}, 0.5, dtype::float64);
  return cast(stack({1 - end, end}, 1) * static_cast<double>(pixels - 1), type);
}

/// The gradient of the boxes, for a gradient `dy` of the crops of an image at them.
template <class C>
tensor boxes_gradient(const C& c, const tensor& image, const tensor& dy) {
  const std::string_view slopes = c.template attr<"slopes">().as_text();
  const shape &x = image.dims(), &y = dy.dims();
  if (c.template attr<"method">().as_text() == "nearest" || y.size() == 0) return c.zeros(1);
  // The slope of a slope along the same side is 0.
  const auto side = [&](bool done, std::string_view more, std::int64_t other_axis, int axis) {
    if (done) return zeros({y[0], 2}, dy.type());
    const tensor moved = sum(dy * crops_of(c, image, y, more), {other_axis, 3});
    return matmul(moved, ends_of_box(y[axis], x[axis], moved.type()));
  };
  const bool height = slopes == "height" || slopes == "both", width = slopes == "width" || slopes == "both";
  const tensor down = side(height, width ? "both" : "height", 2, 1);
  const tensor across = side(width, height ? "both" : "width", 1, 2);
  return cast(reshape(stack({down, across}, 2), c.dims(1)), c.type(1));
}

inline constexpr auto image_rules = family_rules(std::tuple{
    rule<"ResizeBilinear">(
        wrt(keep::in0, [](const auto& c) { return resized_like<"ResizeBilinearGrad">(c, c.dy(), c.in(0)); })),
    rule<"ResizeBilinearGrad">(
        wrt(keep::nothing, [](const auto& c) { return resized_like<"ResizeBilinear">(c, c.dy()); }),
        wrt(keep::nothing, no_slope_1)),
    rule<"ResizeNearestNeighbor">(wrt(keep::in0,
                                      [](const auto& c) {
                                        const auto added = [&](const auto& dy, const auto& images) {
                                          return resized_like<"ResizeNearestNeighborGrad">(c, dy, images);
                                        };
                                        if (c.type(0) != dtype::complex64) return added(c.dy(), c.in(0));
                                        const auto like = real(c.in(0));
                                        return complex(added(real(c.dy()), like), added(imag(c.dy()), like));
                                      })),
    rule<"ResizeNearestNeighborGrad">(
        wrt(keep::nothing, [](const auto& c) { return resized_like<"ResizeNearestNeighbor">(c, c.dy()); }),
        wrt(keep::nothing, no_slope_1)),

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
});

}  // namespace kerngrad::rules
