// SPDX-License-Identifier: Apache-2.0
// Entry points of the n-grams of rows of texts.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/text/text.h"

namespace kerngrad::kernels {

/// A row of texts, with `pad` pads on both sides but at most width - 1, and each run of `width` neighbours in it: one
/// n-gram, joined by the separator. First come all of the first width.
struct ngrams_rule {
  const std::int64_t* widths;  ///< each 1 or more
  std::int64_t width_count;    ///< 1 or more
  std::int64_t pad;            ///< below 0: as many as may be
  std::string_view separator, left, right;
  bool keeps_short;  ///< a row with texts but without n-grams is one, with its pads
};
/// How many n-grams a row of `length` texts has; rejected where it is more than most_size.
std::int64_t count_ngrams(std::int64_t length, const ngrams_rule& rule);

struct ngrams_geometry {
  std::int64_t count;   ///< of texts; without any no row has n-grams, pads or not
  std::int64_t splits;  ///< where each row begins, and where the last one ends; 0: there are no rows
  bool wide;            ///< the splits, of the operand and of the result, are int64, else int32, which hold them
  ngrams_rule rule;
  text_writer* made;  ///< holds the n-grams
};

// in = {texts, splits}, which begin with 0, never decrease and end with the number of texts; out = {texts, splits}. The
// geometry is an ngrams_geometry.
#define KG_TEXT_NGRAMS_KERNELS(X) X(StringNGrams, text)

KG_DECLARE_PLAIN_KERNELS(text_ngrams, KG_TEXT_NGRAMS_KERNELS)

}  // namespace kerngrad::kernels
