// SPDX-License-Identifier: Apache-2.0
// Each n-gram by itself, of the texts that a row has at its positions; what lies outside of the row is a pad.
#include "kernels/text/ngrams.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kerngrad::kernels::reference {
namespace {

// The n-gram of a row whose first index is `first`, below 0 when it begins with pads.
std::string ngram_at(const std::vector<std::string_view>& row, std::int64_t first, std::int64_t width,
                     const ngrams_rule& rule) {
  std::string one;
  for (std::int64_t i = first; i < first + width; ++i) {
    if (i > first) one += rule.separator;
    if (i < 0) one += rule.left;
    else if (i < static_cast<std::int64_t>(row.size())) one += row[static_cast<std::size_t>(i)];
    else one += rule.right;
  }
  return one;
}

std::vector<std::string> ngrams_of(const std::vector<std::string_view>& row, const ngrams_rule& rule) {
  std::vector<std::string> all;
  const auto length = static_cast<std::int64_t>(row.size());
  for (std::int64_t w = 0; w < rule.width_count; ++w) {
    const std::int64_t width = rule.widths[w], most = width - 1, pads = rule.pad < 0 ? most : std::min(rule.pad, most);
    for (std::int64_t first = -pads; first + width <= length + pads; ++first)
      all.push_back(ngram_at(row, first, width, rule));
  }
  if (all.empty() && rule.keeps_short && length > 0)
    all.push_back(ngram_at(row, -rule.pad, length + 2 * rule.pad, rule));
  return all;
}

template <class Split>
void ngrams_of_rows(const text* x, const Split* splits, text* y, Split* y_splits, const ngrams_geometry& g) {
  std::int64_t found = 0;
  for (std::int64_t r = 0; r < g.splits; ++r) {
    y_splits[r] = static_cast<Split>(found);
    if (r + 1 == g.splits || g.count == 0) continue;
    std::vector<std::string_view> row;
    for (std::int64_t i = splits[r]; i < splits[r + 1]; ++i) row.push_back(x[i]);
    for (const std::string& one : ngrams_of(row, g.rule)) y[found++] = g.made->put(one);
  }
}

template <dtype>
void StringNGrams(const ngrams_geometry& g, const text* x, const void* splits, text* y, void* to) {
  if (g.wide) ngrams_of_rows(x, static_cast<const std::int64_t*>(splits), y, static_cast<std::int64_t*>(to), g);
  else ngrams_of_rows(x, static_cast<const std::int32_t*>(splits), y, static_cast<std::int32_t*>(to), g);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_NGRAMS_KERNELS)

}  // namespace kerngrad::kernels::reference
