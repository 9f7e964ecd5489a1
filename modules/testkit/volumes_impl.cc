// SPDX-License-Identifier: Apache-2.0
// Samples of the convolutions and poolings of volumes: strides, paddings of every kind, dilations, both layouts,
// roundings.
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

struct volume_call {
  shape x, filter;
  attributes attrs;
};

std::vector<volume_call> volume_convolutions(bool long_ones) {
  std::vector<volume_call> all = {
      {{2, 3, 4, 3, 2}, {2, 2, 2, 2, 2}, {{"pad", "valid"}}},
      {{1, 3, 4, 3, 1}, {3, 3, 2, 1, 2}, {{"strides", integers{2, 1, 2}}, {"pad", "same"}}},
      {{1, 4, 3, 5, 1}, {2, 2, 2, 1, 1}, {{"pad", 1}, {"dilations", integers{2, 1, 2}}}},
      {{1, 3, 3, 4, 2}, {2, 1, 3, 2, 1}, {{"strides", 2}, {"pad", integers{1, 0, 0, 2, 1, 1}}}},
      {{1, 3, 3, 3, 1}, {2, 2, 2, 1, 1}, {{"pad", integers{0, 0, 1, 0, 0, 1, 1, 1, 0, 0}}}},
      {{1, 2, 3, 3, 2}, {2, 2, 2, 2, 2}, {{"pad", "same"}, {"dataFormat", "NCDHW"}}},
      {{1, 1, 3, 2, 3}, {2, 2, 1, 1, 2}, {{"pad", integers{0, 0, 0, 0, 1, 0, 0, 1, 0, 0}}, {"dataFormat", "NCDHW"}}},
      {{1, 4, 4, 4, 1}, {3, 3, 3, 1, 1}, {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "ceil"}}},
      {{1, 2, 2, 3, 3}, {1, 1, 1, 3, 2}, {{"pad", "valid"}}},
      {{1, 5, 3, 3, 1}, {2, 1, 1, 1, 1}, {{"strides", 3}, {"pad", "same"}}},
      {{0, 3, 3, 3, 2}, {2, 2, 2, 2, 2}, {{"pad", "valid"}}}};
  if (long_ones) all.push_back({{2, 4, 5, 9, 19}, {3, 3, 3, 19, 37}, {{"pad", "same"}}});
  return all;
}

std::vector<sample> volume_convolution_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (const volume_call& c : volume_convolutions(long_ones)) all.push_back(make_sample(row, {c.x, c.filter}, c.attrs));
  return all;
}

std::vector<sample> volume_pool_samples(const op_row& row, bool long_ones) {
  std::vector<volume_call> calls = {
      {{1, 4, 2, 4, 2}, {}, {{"filterSize", 2}, {"strides", 2}, {"pad", "valid"}}},
      {{1, 3, 4, 3, 1}, {}, {{"filterSize", integers{2, 3, 2}}, {"strides", 1}, {"pad", "same"}}},
      {{2, 3, 3, 3, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}},
      {{1, 3, 3, 3, 1}, {}, {{"filterSize", 2}, {"strides", 2}, {"pad", 1}}},
      {{1, 3, 3, 4, 1}, {}, {{"filterSize", integers{2, 1, 3}}, {"pad", integers{1, 0, 0, 0, 1, 2}}}},
      {{1, 3, 3, 2, 1}, {}, {{"filterSize", 2}, {"pad", integers{0, 0, 1, 0, 0, 1, 1, 0, 0, 0}}}},
      {{1, 2, 3, 2, 3}, {}, {{"filterSize", 2}, {"pad", "valid"}, {"dataFormat", "NCDHW"}}},
      {{1, 4, 4, 4, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", 1}, {"dimRoundingMode", "round"}}},
      {{1, 3, 3, 3, 1}, {}, {{"filterSize", 1}, {"strides", 2}, {"pad", "valid"}}},
      {{0, 3, 3, 3, 2}, {}, {{"filterSize", 2}, {"pad", "valid"}}}};
  if (long_ones) calls.push_back({{2, 4, 5, 9, 37}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}});
  std::vector<sample> all;
  for (const volume_call& c : calls) all.push_back(make_sample(row, {c.x}, c.attrs));
  return all;
}

}  // namespace

std::vector<sample> volume_samples(const op_row& row, bool long_ones) {
  return row.attr_index("filterSize") >= 0 ? volume_pool_samples(row, long_ones)
                                           : volume_convolution_samples(row, long_ones);
}

}  // namespace kerngrad::testkit::detail
