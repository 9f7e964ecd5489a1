// SPDX-License-Identifier: Apache-2.0
// Composed functions of images, [..., height, width, channels].
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_images;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Repeats the one channel of images [..., 1] three times: [..., 3]. Rank 2 or more, any dtype. Throws if the last axis
/// has another size than 1. Gradient: dy summed over the channels.
tensor grayscale_to_rgb(const tensor& image);
/// Converts images [..., 3] to grayscale [..., 1]: 0.2989 red + 0.587 green + 0.114 blue (Rec. ITU-R BT.601), in the
/// dtype of the image. The weights add up to 0.9999, and integers are truncated: white, 255, becomes 254. Rank 2 or
/// more. Throws for complex numbers, and if the last axis has another size than 3. Differentiable.
tensor rgb_to_grayscale(const tensor& image);

/// Options of threshold. `value` from 0 to 1 is the threshold as a fraction of 255; with `otsu` it is computed from the
/// image. `inverted` sets the pixels that are not above the threshold.
struct threshold_options {
  bool otsu = false;
  bool inverted = false;
  double value = 0.5;
};
/// A binary image: 255 for pixels above a threshold, 0 for the others. The image [height, width, channels] is int32 or
/// float32 with values from 0 to 255. Three channels become grayscale first. The result is int32 with one channel for
/// three, else with those of the image. Otsu's threshold (1979) is the integer that splits the pixels into two parts
/// with the largest variance between them. It ignores values outside of 0 to 255. Throws for other dtypes and ranks. No
/// gradient.
tensor threshold(const tensor& image, const threshold_options& options = {});

}  // namespace kerngrad
