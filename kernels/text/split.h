// SPDX-License-Identifier: Apache-2.0
// Entry points of the search for the pieces of texts.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/text/text.h"

namespace kerngrad::kernels {

/// How texts are split: before and after each byte that is one of the delimiters', which go; without delimiters into
/// bytes. An empty text has no piece, every other one has a piece more than delimiters: those without bytes count
/// unless they are skipped.
struct split_rule {
  std::string_view delimiters;
  bool skips_empty = false;
};

/// How many pieces there are: of all texts, and of the one that has most.
struct piece_counts {
  std::int64_t all = 0, most = 0;
};
piece_counts count_pieces(const text* x, std::int64_t count, const split_rule& rule);

struct split_geometry {
  std::int64_t count;  ///< of texts; it and what count_pieces gives are below 2^31
  split_rule rule;
  text_writer* made;  ///< holds the pieces
};

// in = {texts}; out = {int32 [pieces, 2]: the number of each piece's text, and its own among those of its text; texts
// [pieces]; int32 [2]: the number of texts, and the most pieces that one has}. The geometry is a split_geometry.
#define KG_TEXT_SPLIT_KERNELS(X) X(StringSplit, text)

KG_DECLARE_PLAIN_KERNELS(text_split, KG_TEXT_SPLIT_KERNELS)

}  // namespace kerngrad::kernels
