// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops on texts.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_text;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Splits each string of `input` [count] at delimiters: `auto [indices, values, dims] = string_split(input,
/// delimiter)`. The pieces are a sparse tensor of shape [count, most pieces]. Each byte of the scalar `delimiter` is a
/// delimiter; if it is empty, each byte is a piece. Empty pieces are dropped unless `skip_empty` is false; an empty
/// string has no pieces in either case. `indices` [pieces, 2], int32, has the index of the string and that of the piece
/// in it. `values` [pieces] is text; `dims` [2] is int32. Throws for more than 2^31 - 1 pieces, and if a piece is not
/// UTF-8. No gradient.
inline auto string_split(const tensor& input, const tensor& delimiter, bool skip_empty = true) {
  return call<"StringSplit">(input, delimiter, attr<"skipEmpty">(skip_empty));
}

/// Options of string_ngrams. `separator` joins the strings of an n-gram. Each row gets `pad_width` pads on both sides,
/// at most one less than an n-gram has strings; -1 means that maximum. With `preserve_short_sequences` a row that is
/// too short for any n-gram becomes one n-gram, with its pads. Separator and pads have at most 127 bytes each.
struct ngrams_options {
  std::string_view separator = " ";
  std::string_view left_pad = "", right_pad = "";
  std::int64_t pad_width = 0;
  bool preserve_short_sequences = false;
};
/// The n-grams of rows of strings: `auto [ngrams, splits] = string_ngrams(data, data_splits, widths)`. For each of
/// `widths`, 1 or more, every run of that many neighbors in a padded row is joined to one string. Row r is
/// data[data_splits[r]] to before data[data_splits[r + 1]]. The splits, int32 or int64, begin with 0, never decrease
/// and end with the number of strings, or it throws. The splits of the result have their dtype. The n-grams of one row
/// are in the order of the widths. If there is no string at all, no row has n-grams, with or without pads. No gradient.
inline auto string_ngrams(const tensor& data, const tensor& data_splits, std::span<const std::int64_t> widths,
                          const ngrams_options& options = {}) {
  return call<"StringNGrams">(data, data_splits, attr<"separator">(options.separator), attr<"nGramWidths">(widths),
                              attr<"leftPad">(options.left_pad), attr<"rightPad">(options.right_pad),
                              attr<"padWidth">(options.pad_width),
                              attr<"preserveShortSequences">(options.preserve_short_sequences));
}
inline auto string_ngrams(const tensor& data, const tensor& data_splits, std::initializer_list<std::int64_t> widths,
                          const ngrams_options& options = {}) {
  return string_ngrams(data, data_splits, std::span<const std::int64_t>(widths.begin(), widths.size()), options);
}

/// The hash bucket of each string, int32 in the shape of `input`: FarmHash Fingerprint64 of its bytes modulo `buckets`,
/// from 1 to 2^31. The hash is the same on every platform and in TensorFlow. It is not secure: an attacker who chooses
/// strings can choose their bucket. No gradient.
inline tensor string_to_hash_bucket_fast(const tensor& input, std::int64_t buckets) {
  return call<"StringToHashBucketFast">(input, attr<"numBuckets">(buckets));
}

}  // namespace kerngrad
