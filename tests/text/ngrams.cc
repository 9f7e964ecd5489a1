// SPDX-License-Identifier: Apache-2.0
// N-grams against the definition: the row is written down with its pads, and windows slide over it.
#include "kernels/text/ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/text/placed.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using strings = std::vector<std::string>;

constexpr run_fn kernels[] = {StringNGrams_text, reference::StringNGrams_text};

struct ngrams_case {
  strings data;
  std::vector<std::int64_t> splits;
  std::vector<std::int64_t> widths;
  std::string left = "", right = "";
  std::int64_t pad = 0;
  bool keeps_short = false;
  std::string separator = "|";
  ngrams_rule rule() const {
    return {widths.data(), static_cast<std::int64_t>(widths.size()), pad, separator, left, right, keeps_short};
  }
};
struct ngrams_result {
  strings ngrams;
  std::vector<std::int64_t> splits;
  bool operator==(const ngrams_result&) const = default;
};

template <class Split>
ngrams_result run(run_fn kernel, const ngrams_case& c) {
  const kgtest::placed_texts x(c.data);
  std::int64_t count = 0;
  for (std::size_t r = 0; r + 1 < c.splits.size() && !c.data.empty(); ++r)
    count += count_ngrams(c.splits[r + 1] - c.splits[r], c.rule());
  kgtest::guarded<Split> splits(c.splits.size()), y_splits(c.splits.size());
  std::transform(c.splits.begin(), c.splits.end(), splits.begin(),
                 [](std::int64_t s) { return static_cast<Split>(s); });
  kgtest::guarded<text> y(static_cast<std::size_t>(count));
  text_writer made;
  const ngrams_geometry g{x.size(), static_cast<std::int64_t>(c.splits.size()), sizeof(Split) == 8, c.rule(), &made};
  const void* in[] = {x.data(), splits.data()};
  void* out[] = {y.data(), y_splits.data()};
  kernel(in, out, &g);
  return {kgtest::strings_of(y.data(), count), {y_splits.begin(), y_splits.end()}};
}

void windows_of(const strings& padded, std::size_t width, const std::string& separator, strings& into) {
  for (std::size_t first = 0; first + width <= padded.size(); ++first) {
    std::string joined = padded[first];
    for (std::size_t i = 1; i < width; ++i) joined += separator + padded[first + i];
    into.push_back(joined);
  }
}

ngrams_result defined(const ngrams_case& c) {
  ngrams_result all;
  for (std::size_t r = 0; r < c.splits.size(); ++r) {
    all.splits.push_back(static_cast<std::int64_t>(all.ngrams.size()));
    if (r + 1 == c.splits.size() || c.data.empty()) continue;
    const strings row(c.data.begin() + c.splits[r], c.data.begin() + c.splits[r + 1]);
    const auto padded = [&](std::int64_t pads) {
      strings whole(static_cast<std::size_t>(pads), c.left);
      whole.insert(whole.end(), row.begin(), row.end());
      whole.insert(whole.end(), static_cast<std::size_t>(pads), c.right);
      return whole;
    };
    strings found;
    for (const std::int64_t width : c.widths) {
      const std::int64_t pads = c.pad < 0 || c.pad >= width ? width - 1 : c.pad;
      windows_of(padded(pads), static_cast<std::size_t>(width), c.separator, found);
    }
    if (found.empty() && !row.empty() && c.keeps_short) {
      const strings whole = padded(c.pad);
      windows_of(whole, whole.size(), c.separator, found);
    }
    all.ngrams.insert(all.ngrams.end(), found.begin(), found.end());
  }
  return all;
}

// Cases of TensorFlow.js.
TEST(text_ngrams, gives_what_tensorflow_gives) {
  const strings six = {"a", "b", "c", "d", "e", "f"};
  const struct {
    ngrams_case given;
    ngrams_result wanted;
  } cases[] = {
      {{six, {0, 4, 6}, {3}, "LP", "RP", -1},
       {{"LP|LP|a", "LP|a|b", "a|b|c", "b|c|d", "c|d|RP", "d|RP|RP", "LP|LP|e", "LP|e|f", "e|f|RP", "f|RP|RP"},
        {0, 6, 10}}},
      {{six, {0, 4, 6}, {1, 2}, "LP", "RP", -1},
       {{"a", "b", "c", "d", "LP|a", "a|b", "b|c", "c|d", "d|RP", "e", "f", "LP|e", "e|f", "f|RP"}, {0, 9, 14}}},
      {{six, {0, 4, 6}, {3, 2}, "", "", 0, true}, {{"a|b|c", "b|c|d", "a|b", "b|c", "c|d", "e|f"}, {0, 5, 6}}},
      {{six, {0, 1, 4, 6}, {5}}, {{}, {0, 0, 0, 0}}},
      {{six, {0, 4, 6}, {5}, "LP", "RP", 1, true}, {{"LP|a|b|c|d", "a|b|c|d|RP", "LP|e|f|RP"}, {0, 2, 3}}},
      {{six, {0, 4, 6}, {1}, "LP", "RP", 1}, {six, {0, 4, 6}}},
      {{{"a"}, {0, 0, 1}, {3}, "L", "R", -1}, {{"L|L|R", "L|R|R", "L|L|a", "L|a|R", "a|R|R"}, {0, 2, 5}}},
      {{{}, {}, {1}, "LP", "RP", 3}, {{}, {}}},
      {{{}, {0, 0}, {2}, "L", "R", -1}, {{}, {0, 0}}},
  };
  for (const auto& one : cases) {
    EXPECT_TRUE(defined(one.given) == one.wanted);
    for (const run_fn kernel : kernels) {
      EXPECT_EQ(run<std::int32_t>(kernel, one.given).ngrams, one.wanted.ngrams);
      EXPECT_EQ(run<std::int64_t>(kernel, one.given).splits, one.wanted.splits);
    }
  }
}

TEST(text_ngrams, are_the_windows_of_padded_rows) {
  std::mt19937_64 draw(6);
  for (int i = 0; i < 400; ++i) {
    ngrams_case c;
    for (std::uint64_t rows = draw() % 6; rows > 0; --rows) {
      if (c.splits.empty()) c.splits.push_back(0);
      c.splits.push_back(c.splits.back() + static_cast<std::int64_t>(draw() % 7));
    }
    if (!c.splits.empty())
      for (std::int64_t k = 0; k < c.splits.back(); ++k) c.data.emplace_back(draw() % 5, static_cast<char>('a' + k));
    for (std::uint64_t widths = 1 + draw() % 3; widths > 0; --widths)
      c.widths.push_back(1 + static_cast<std::int64_t>(draw() % 9));
    c.pad = static_cast<std::int64_t>(draw() % 5) - 1;
    c.keeps_short = draw() % 2 == 0;
    c.separator = std::string(draw() % 3, ' ');
    c.left = std::string(draw() % 3, '<');
    c.right = std::string(draw() % 3, '>');
    const ngrams_result wanted = defined(c);
    for (const run_fn kernel : kernels) {
      EXPECT_TRUE(run<std::int32_t>(kernel, c) == wanted) << i;
      EXPECT_TRUE(run<std::int64_t>(kernel, c) == wanted) << i;
    }
  }
}

}  // namespace
