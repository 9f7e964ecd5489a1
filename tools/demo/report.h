// SPDX-License-Identifier: Apache-2.0
// The page of a run: what the demo prints, and more, as one file of HTML that needs nothing else and runs no script.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scores.h"

namespace demo {

struct epoch_result {
  double loss, accuracy;
};

/// Weights by which the first layer multiplies pixels: squares, one after the other.
struct filter_set {
  int side;
  std::vector<float> values;
};

/// All that the page shows.
struct run_record {
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value
  std::vector<double> step_losses;
  std::vector<epoch_result> epochs;
  predictions test;
  filter_set filters;
};

/// The page. The same run gives the same bytes.
std::string report_page(const run_record& run, const image_set& truth);

}  // namespace demo
