// SPDX-License-Identifier: Apache-2.0
// Scores of predictions: the numbers that the demo prints and its page shows.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "idx.h"

namespace demo {

/// Predictions of a network for each image.
struct predictions {
  std::vector<std::uint8_t> classes;  ///< the likeliest one
  std::vector<float> logs;            ///< the logarithms of the probabilities of all classes, image by image
};

/// The share of predictions that are right.
double accuracy(const image_set& truth, std::span<const std::uint8_t> predicted);

/// How many images of a class, the row, were taken for a class, the column.
using confusion = std::array<std::array<int, class_count>, class_count>;
confusion confusion_of(const image_set& truth, std::span<const std::uint8_t> predicted);

/// The images of a class.
int images_of(const confusion& counts, std::size_t of);
/// The accuracy of a class with four digits, "-" when there is no image of it.
std::string recall_text(const confusion& counts, std::size_t of);

/// The images that were taken for another class, those to whose own class the network gave the least probability first:
/// `most` of them, or as many as there are.
std::vector<std::size_t> worst_mistakes(const image_set& truth, const predictions& by, std::size_t most);

}  // namespace demo
