// SPDX-License-Identifier: Apache-2.0
// N-grams. A row is joined once, with all of its pads: then each n-gram is a part of that, and one copy.
#include "kernels/text/ngrams.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels {
namespace {

std::int64_t pads_of(std::int64_t width, const ngrams_rule& rule) {
  return rule.pad < 0 ? width - 1 : std::min(rule.pad, width - 1);
}
std::int64_t count_of_width(std::int64_t length, std::int64_t width, const ngrams_rule& rule) {
  const std::int64_t padded = sum_of(length, product_of(2, pads_of(width, rule)));
  return padded < width ? 0 : padded - width + 1;
}
bool kept_whole(std::int64_t length, std::int64_t count, const ngrams_rule& rule) {
  return rule.keeps_short && length > 0 && count == 0;
}

// A row between pads: left x pads, the texts, right x pads, each but the first after a separator.
class joined_row {
 public:
  void join(const text* row, std::int64_t length, std::int64_t pads, const ngrams_rule& rule) {
    pads_ = pads;
    separator_ = static_cast<std::int64_t>(rule.separator.size());
    const std::int64_t units = sum_of(length, product_of(2, pads));
    const auto unit = [&](std::int64_t i) {
      return i < pads ? rule.left : i < pads + length ? std::string_view(row[i - pads]) : rule.right;
    };
    std::int64_t size = product_of(sum_of(rule.left.size(), rule.right.size()), pads);
    size = sum_of(size, product_of(units, separator_));
    for (std::int64_t i = 0; i < length; ++i) size = sum_of(size, row[i].size());
    begins_ = begins_room_.reach(sum_of(units, 1));
    char* to = bytes_ = bytes_room_.reach(size);
    for (std::int64_t i = 0; i < units; ++i) {
      begins_[i] = to - bytes_;
      to = appended(to, unit(i));
      to = appended(to, rule.separator);
    }
    begins_[units] = to - bytes_;
  }
  // N-gram i of those of a row with fewer pads.
  std::string_view part(std::int64_t i, std::int64_t width, std::int64_t pads) const {
    const std::int64_t first = pads_ - pads + i, begin = begins_[first];
    return {bytes_ + begin, static_cast<std::size_t>(begins_[first + width] - separator_ - begin)};
  }

 private:
  static char* appended(char* to, std::string_view from) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    return to + from.size();
  }

  scratch<char> bytes_room_;
  scratch<std::int64_t> begins_room_;
  char* bytes_ = nullptr;
  std::int64_t* begins_ = nullptr;  // of each unit; the last is where one more would begin
  std::int64_t pads_ = 0, separator_ = 0;
};

// Writes the n-grams of a row and says where those of the next one go.
text* fill_row(const text* row, std::int64_t length, const ngrams_rule& rule, joined_row& joined, text_writer& made,
               text* to) {
  std::int64_t pads = 0, all = 0;
  for (std::int64_t w = 0; w < rule.width_count; ++w) {
    const std::int64_t count = count_of_width(length, rule.widths[w], rule);
    if (count > 0) pads = std::max(pads, pads_of(rule.widths[w], rule));
    all += count;
  }
  if (kept_whole(length, all, rule)) {  // then `pad` is not below 0, with which every row has n-grams
    joined.join(row, length, rule.pad, rule);
    *to++ = made.put(joined.part(0, sum_of(length, product_of(2, rule.pad)), rule.pad));
  } else if (all > 0) {
    joined.join(row, length, pads, rule);
    for (std::int64_t w = 0; w < rule.width_count; ++w) {
      const std::int64_t width = rule.widths[w], count = count_of_width(length, width, rule);
      for (std::int64_t i = 0; i < count; ++i) *to++ = made.put(joined.part(i, width, pads_of(width, rule)));
    }
  }
  return to;
}

template <class Split>
void fill_rows(const text* x, const Split* splits, text* y, Split* y_splits, const ngrams_geometry& g) {
  if (g.count == 0) {
    std::fill_n(y_splits, g.splits, Split{0});
    return;
  }
  joined_row joined;
  text* to = y;
  for (std::int64_t r = 0; r < g.splits; ++r) {
    y_splits[r] = static_cast<Split>(to - y);
    if (r + 1 < g.splits) to = fill_row(x + splits[r], splits[r + 1] - splits[r], g.rule, joined, *g.made, to);
  }
}

}  // namespace

std::int64_t count_ngrams(std::int64_t length, const ngrams_rule& rule) {
  std::int64_t all = 0;
  for (std::int64_t w = 0; w < rule.width_count; ++w) all = sum_of(all, count_of_width(length, rule.widths[w], rule));
  return kept_whole(length, all, rule) ? 1 : all;
}

namespace {

/// StringNGrams. Exact. Reference: kernels/text/reference_ngrams.cc.
template <dtype>
void StringNGrams(const ngrams_geometry& g, const text* x, const void* splits, text* y, void* to) {
  if (g.wide) fill_rows(x, static_cast<const std::int64_t*>(splits), y, static_cast<std::int64_t*>(to), g);
  else fill_rows(x, static_cast<const std::int32_t*>(splits), y, static_cast<std::int32_t*>(to), g);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_NGRAMS_KERNELS)

}  // namespace kerngrad::kernels
