// SPDX-License-Identifier: Apache-2.0
// The charts of the demo's page: SVG that takes its colours from the page. They are drawn for a width of 360 pixels,
// that of a telephone, and scale. Each has a title and a description for those who do not see it.
#pragma once
#include <span>
#include <string>

#include "scores.h"

namespace demo {

/// The losses of all steps, averaged over as many as make a line of it, and the mean of each epoch. There is an epoch.
std::string loss_chart(std::span<const double> steps, std::span<const double> epochs);
/// A bar for the accuracy of each class.
std::string class_chart(const confusion& counts);
/// The confusion matrix: the darker a cell, the larger its share of the row.
std::string heat_map(const confusion& counts);

}  // namespace demo
