// SPDX-License-Identifier: Apache-2.0
// Fashion-MNIST as its authors distribute it: gzipped IDX files of 28x28 grey images and of labels 0 to 9.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace demo {

inline constexpr int image_side = 28;
inline constexpr int image_pixels = image_side * image_side;
inline constexpr int class_count = 10;
inline constexpr const char* class_names[class_count] = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                         "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

/// Images, row by row, one byte per pixel, and the class of each.
struct image_set {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Reads `<stem>-images-idx3-ubyte.gz` and `<stem>-labels-idx1-ubyte.gz` in a directory. Both files are checked as a
/// whole; `limit` keeps the first images only (0: all). Throws bad_input naming the file and what is wrong with it.
image_set read_images(const std::string& directory, const std::string& stem, std::int64_t limit);

}  // namespace demo
