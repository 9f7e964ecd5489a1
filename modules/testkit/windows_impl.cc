// SPDX-License-Identifier: Apache-2.0
// Samples of convolutions, poolings and dilations: strides, paddings of every kind, dilations, both layouts, roundings.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

struct window {
  shape x, filter;
  attributes attrs;
};

// Padding has no default.
void give_padding(window& w) {
  for (const named_attribute& a : w.attrs)
    if (a.name == "pad") return;
  w.attrs.push_back({"pad", "valid"});
}

std::vector<window> convolutions(bool depthwise, bool long_ones) {
  const auto filter = [&](std::int64_t h, std::int64_t w, std::int64_t in, std::int64_t out) {
    return shape{h, w, in, depthwise ? 2 : out};
  };
  std::vector<window> all = {
      {{2, 5, 4, 3}, filter(3, 2, 3, 2), {}},
      {{1, 5, 4, 2}, filter(3, 3, 2, 3), {{"strides", integers{2, 1}}, {"pad", "same"}}},
      {{1, 6, 5, 2}, filter(2, 3, 2, 2), {{"pad", 1}, {"dilations", integers{2, 1}}}},
      {{1, 5, 6, 1}, filter(3, 2, 1, 2), {{"strides", 2}, {"pad", integers{1, 0, 2, 1}}}},
      {{1, 5, 4, 2}, filter(2, 2, 2, 1), {{"pad", integers{0, 0, 1, 2, 0, 1, 0, 0}}}},
      {{1, 2, 5, 4}, filter(3, 2, 2, 2), {{"strides", 2}, {"pad", "same"}, {"dataFormat", "NCHW"}}},
      {{1, 2, 5, 4}, filter(2, 2, 2, 3), {{"pad", integers{0, 0, 0, 0, 1, 2, 0, 1}}, {"dataFormat", "NCHW"}}},
      {{1, 6, 6, 1}, filter(3, 3, 1, 2), {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "ceil"}}},
      {{1, 5, 7, 1}, filter(2, 2, 1, 2), {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "round"}}},
      {{1, 5, 4, 3}, filter(1, 1, 3, 2), {{"strides", 2}}},
      {{1, 7, 7, 1}, filter(2, 2, 1, 1), {{"strides", 3}, {"pad", "same"}}},
      {{1, 6, 6, 1}, filter(2, 2, 1, 1), {{"pad", "same"}, {"dilations", 2}}},
      {{0, 4, 4, 2}, filter(2, 2, 2, 2), {}}};
  if (!depthwise)  // groups of channels, and one channel in each
    all.insert(all.end(), {{{2, 4, 3, 4}, {2, 2, 2, 6}, {{"pad", "same"}}},
                           {{1, 6, 3, 4}, {3, 2, 3, 2}, {{"strides", 2}, {"pad", 1}, {"dataFormat", "NCHW"}}},
                           {{1, 4, 4, 3}, {2, 2, 1, 6}, {{"strides", 2}, {"pad", 1}}}});
  if (long_ones) all.push_back({{2, 9, 11, 19}, filter(3, 3, 19, 37), {{"pad", "same"}}});
  return all;
}

std::vector<sample> convolution_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (window& w : convolutions(row.depthwise, long_ones)) {
    give_padding(w);
    all.push_back(make_sample(row, {w.x, w.filter}, w.attrs));
  }
  return all;
}

std::vector<sample> pool_samples(const op_row& row, bool long_ones) {
  std::vector<window> windows = {
      {{1, 4, 4, 2}, {}, {{"filterSize", integers{2, 2}}, {"strides", integers{2, 2}}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", integers{3, 2}}, {"strides", 1}, {"pad", "same"}}},
      {{2, 5, 5, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}},
      {{1, 5, 5, 1}, {}, {{"filterSize", 2}, {"strides", 2}, {"pad", 1}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", integers{2, 3}}, {"pad", integers{1, 0, 0, 2}}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", 2}, {"pad", integers{0, 0, 1, 0, 0, 1, 0, 0}}}},
      {{1, 6, 6, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", 1}, {"dimRoundingMode", "round"}}},
      {{1, 4, 4, 1}, {}, {{"filterSize", 1}, {"strides", 2}}},
      {{0, 4, 4, 2}, {}, {{"filterSize", 2}}}};
  if (long_ones) windows.push_back({{2, 9, 11, 37}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}});
  std::vector<sample> all;
  for (window& w : windows) {
    give_padding(w);
    all.push_back(make_sample(row, {w.x}, w.attrs));
    if (row.attr_index("includeBatchInIndex") < 0) continue;
    all.push_back(all.back());
    all.back().attrs.push_back({"includeBatchInIndex", true});
  }
  return all;
}

// Numbers 0 to count - 1, shuffled: 13 is a prime that divides none of the counts.
tensor shuffled(const shape& dims, double distance) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < dims.size(); ++i) values.push_back(static_cast<double>(i * 13 % dims.size()) * distance);
  return tensor(values, dims);
}

// Sums of a pixel and an element of the filter that differ by more than differences move them: pixels are whole
// numbers, and no two elements have the same fraction.
std::vector<sample> dilation_samples(const op_row& row, bool long_ones) {
  std::vector<window> windows = {{{2, 5, 4, 3}, {3, 2, 3}, {}},
                                 {{1, 5, 4, 2}, {3, 3, 2}, {{"strides", integers{2, 1}}, {"pad", "same"}}},
                                 {{1, 6, 5, 2}, {2, 3, 2}, {{"pad", 1}, {"dilations", integers{2, 1}}}},
                                 {{1, 5, 6, 1}, {3, 2, 1}, {{"strides", 2}, {"pad", integers{1, 0, 1, 1}}}},
                                 {{1, 6, 6, 1}, {3, 3, 1}, {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "ceil"}}},
                                 {{1, 4, 4, 2}, {1, 1, 2}, {{"strides", 3}}},
                                 {{0, 4, 4, 2}, {2, 2, 2}, {}}};
  if (long_ones) windows.push_back({{2, 9, 11, 37}, {3, 3, 37}, {{"pad", "same"}}});
  std::vector<sample> all;
  for (window& w : windows) {
    give_padding(w);
    all.push_back(make_sample(row, {w.x, w.filter}, w.attrs));
    all.back().operands[0].values = shuffled(w.x, 1);
    all.back().operands[1].values = shuffled(w.filter, 1 + 1.0 / static_cast<double>(w.filter.size()));
  }
  return all;
}

}  // namespace

std::vector<sample> window_samples(const op_row& row, bool long_ones) {
  if (row.attr_index("pad") < 0) return {};
  if (row.attr_index("filterSize") >= 0) return pool_samples(row, long_ones);
  return row.kinks == kink::ties ? dilation_samples(row, long_ones) : convolution_samples(row, long_ones);
}

}  // namespace kerngrad::testkit::detail
