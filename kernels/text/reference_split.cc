// SPDX-License-Identifier: Apache-2.0
// All pieces of a text as a list, to which one byte after the other is added; those that are skipped are then taken out
// of it.
#include "kernels/text/split.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kerngrad::kernels::reference {
namespace {

std::vector<std::string> pieces_of(std::string_view from, const split_rule& rule) {
  std::vector<std::string> pieces;
  if (from.empty()) return pieces;
  if (rule.delimiters.empty()) {
    for (const char c : from) pieces.push_back(std::string(1, c));
    return pieces;
  }
  pieces.push_back({});
  for (const char c : from) {
    if (rule.delimiters.find(c) != std::string_view::npos) pieces.push_back({});
    else pieces.back() += c;
  }
  if (rule.skips_empty) std::erase(pieces, std::string());
  return pieces;
}

template <dtype>
void StringSplit(const split_geometry& g, const text* x, std::int32_t* indices, text* values, std::int32_t* dims) {
  std::size_t at = 0, most = 0;
  for (std::int64_t i = 0; i < g.count; ++i) {
    const std::vector<std::string> pieces = pieces_of(x[i], g.rule);
    for (std::size_t k = 0; k < pieces.size(); ++k, ++at) {
      indices[2 * at] = static_cast<std::int32_t>(i);
      indices[2 * at + 1] = static_cast<std::int32_t>(k);
      values[at] = g.made->put(pieces[k]);
    }
    most = std::max(most, pieces.size());
  }
  dims[0] = static_cast<std::int32_t>(g.count);
  dims[1] = static_cast<std::int32_t>(most);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_SPLIT_KERNELS)

}  // namespace kerngrad::kernels::reference
