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

/// The pieces of each text of `input` [count] between delimiters, as a sparse tensor of shape [count, most pieces]:
/// `auto [indices, values, dims] = string_split(input, delimiter)`. A delimiter is any one byte of the scalar
/// `delimiter`; where that is empty, each byte is a piece. Pieces without bytes are left out unless `skip_empty` is
/// false; an empty text has none in either case. `indices` [pieces, 2] is int32: the number of each piece's text, and
/// its own among those of the text; `values` [pieces] is text; `dims` [2] is int32. Throws for more than 2^31 - 1
/// pieces, and if a piece is not UTF-8. No gradient.
inline auto string_split(const tensor& input, const tensor& delimiter, bool skip_empty = true) {
  return call<"StringSplit">(input, delimiter, attr<"skipEmpty">(skip_empty));
}

/// Options of string_ngrams: what is between the texts of an n-gram; pads before and after each row, `pad_width`
/// of them but at most one less than an n-gram has texts, or just as many where it is -1; whether a row that has texts
/// but is too short for any n-gram becomes one, with its pads. Separator and pads have at most 127 bytes each.
struct ngrams_options {
  std::string_view separator = " ";
  std::string_view left_pad = "", right_pad = "";
  std::int64_t pad_width = 0;
  bool preserve_short_sequences = false;
};
/// The n-grams of rows of texts: each run of neighbours in a row between its pads, joined, for each of `widths`, which
/// are 1 or more: `auto [ngrams, splits] = string_ngrams(data, data_splits, widths)`. Row r is data[data_splits[r]] to
/// before data[data_splits[r + 1]]; the splits, int32 or int64, begin with 0, never decrease and end with the number of
/// texts, else it throws. Those of the result have their dtype, and n-grams of one row are in the order of the widths.
/// Without any text no row has n-grams, pads or not. No gradient.
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

/// The bucket of each text, int32 of the shape of `input`: FarmHash Fingerprint64 of its bytes modulo `buckets`, from 1
/// to 2^31. The hash is the same everywhere and always, also in TensorFlow; an opponent who chooses texts can choose
/// their bucket. No gradient.
inline tensor string_to_hash_bucket_fast(const tensor& input, std::int64_t buckets) {
  return call<"StringToHashBucketFast">(input, attr<"numBuckets">(buckets));
}

}  // namespace kerngrad
