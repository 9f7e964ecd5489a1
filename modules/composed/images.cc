// SPDX-License-Identifier: Apache-2.0
// Composed functions of images, [..., height, width, channels].
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_images;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The one channel three times. Rank 2 or more, any dtype; throws where the last axis is not of size 1. Gradient: dy
/// added up over the channels.
tensor grayscale_to_rgb(const tensor& image);
/// 0.2989 red + 0.587 green + 0.114 blue (Rec. ITU-R BT.601), in the dtype of the image. The weights add up to
/// 0.9999, and integers are cut off: white, 255, becomes 254. Rank 2 or more; throws for complex numbers and where the
/// last axis is not of size 3. Differentiable.
tensor rgb_to_grayscale(const tensor& image);

/// Options of threshold: `value` is a part of 255, `otsu` finds one in its place. `inverted` sets the pixels that are
/// not above it.
struct threshold_options {
  bool otsu = false;
  bool inverted = false;
  double value = 0.5;
};
/// 255 for the pixels above a threshold, 0 for the others: int32 of the image's shape. The image, [height, width,
/// channels], is int32 or float32 with values from 0 to 255; one of 3 channels becomes grayscale, [height, width, 1].
/// Otsu's threshold (1979) is the brightness, rounded, that splits the pixels so that the means of the two parts lie
/// furthest apart, weighted with their sizes; values outside of 0 to 255 have no part in it. No gradient.
tensor threshold(const tensor& image, const threshold_options& options = {});

}  // namespace kerngrad
