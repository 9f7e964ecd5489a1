// SPDX-License-Identifier: Apache-2.0
// Weights in files: the safetensors format, float32 only. Eight bytes of header length, a JSON header, the elements.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace demo {

struct weight {
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};
using weight_map = std::map<std::string, weight>;

/// Writes all weights; an existing file is replaced only when the new one is complete. Throws bad_input.
void save_safetensors(const std::string& path, const weight_map& weights);

/// Reads all weights. Sizes, offsets, dtypes and names are checked before any element is used: whatever does not
/// follow the format, or is cut short, throws bad_input naming the file and what is wrong with it.
weight_map load_safetensors(const std::string& path);

}  // namespace demo
