// SPDX-License-Identifier: Apache-2.0
module;
#include <array>
#include <cmath>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

void check_channels(const composed& call, const tensor& image, std::int64_t wanted) {
  call.rank("image", image, 2);
  if (image.dims()[image.rank() - 1] != wanted)
    call.refuse(shaped("image", image), "a last axis of size " + std::to_string(wanted));
}

tensor grayscale_of(const tensor& image) {
  const dtype type = wide_floats.has(image.type()) ? image.type() : dtype::float32;
  const tensor weights = cast(tensor({0.2989, 0.587, 0.114}), type);
  return sum(cast(image, type) * weights, -1, true);
}

// The brightness, 0 to 254, after which the two parts of the pixels differ most; -1 where there is one part only.
// Counts and sums are whole numbers, so that equal splits give equal variances, of which the first is taken.
int otsu_split(const tensor& grayscale) {
  std::array<double, 256> counts{};
  double all = 0, weighted = 0;
  for (double value : round(grayscale).to_doubles()) {
    if (!(value >= 0 && value <= 255)) continue;
    counts[static_cast<std::size_t>(value)] += 1;
    all += 1, weighted += value;
  }
  int best = -1;
  double most = 0, below = 0, weighted_below = 0;
  for (int i = 0; i < 255; ++i) {
    const double count = counts[static_cast<std::size_t>(i)];
    below += count, weighted_below += count * i;
    if (below == 0 || below == all) continue;
    const double apart = weighted_below / below - (weighted - weighted_below) / (all - below);
    const double variance = below / all * ((all - below) / all) * apart * apart;
    if (variance > most) most = variance, best = i;
  }
  return best;
}

}  // namespace

tensor grayscale_to_rgb(const tensor& image) {
  constexpr composed call{"grayscale_to_rgb"};
  check_channels(call, image, 1);
  std::vector<std::int64_t> sizes(image.dims().begin(), image.dims().end());
  sizes.back() = 3;
  return broadcast_to(image, shape(sizes));
}

tensor rgb_to_grayscale(const tensor& image) {
  constexpr composed call{"rgb_to_grayscale"};
  check_channels(call, image, 3);
  call.real("image", image);
  return cast(grayscale_of(image), image.type());
}

tensor threshold(const tensor& image, const threshold_options& options) {
  constexpr composed call{"threshold"};
  call.rank("image", image, 3, 3);
  if (image.type() != dtype::int32 && image.type() != dtype::float32)
    call.refuse("operand image of dtype " + std::string(name_of(image.type())), "int32 or float32", "cast it");
  if (!options.otsu && !(options.value >= 0 && options.value <= 1))
    call.refuse("value " + to_string(attr_value(options.value)), "a number from 0 to 1");
  const tensor grayscale = image.dims()[2] == 3 ? grayscale_of(image) : image;
  const double limit = options.otsu ? otsu_split(grayscale) : options.value * 255;
  return cast(options.inverted ? grayscale <= limit : grayscale > limit, dtype::int32) * 255;
}

}  // namespace kerngrad
