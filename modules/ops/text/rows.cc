// SPDX-License-Identifier: Apache-2.0
// Rows of the ops on texts.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_text;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes;
import :shapes_text;
import :rows;

namespace kerngrad::launch {
void string_split(const launch_call&);
void string_ngrams(const launch_call&);
void string_to_hash_bucket(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand texts_split[] = {{"input", text_only, role::read}, {"delimiter", text_only, role::read}};
inline constexpr operand rows_of_texts[] = {{"data", text_only},
                                            {"dataSplits", only(dtype::int32) | only(dtype::int64), role::read}};
inline constexpr operand texts_hashed[] = {{"input", text_only}};

inline constexpr result_spec pieces_of_texts[] = {
    {"indices", "for each piece the number of its text, and its own among those of the text", result::int32},
    {"values", "the pieces"},
    {"shape", "the number of texts, and the most pieces that one has", result::int32}};
inline constexpr result_spec ngrams_in_rows[] = {
    {"nGrams", "those of all rows, of each row first all of the first width"},
    {"nGramsSplits", "where the n-grams of each row begin and end, of the dtype of dataSplits", result::ruled}};

inline constexpr op_row text_rows[] = {
    {.name = "StringSplit",
     .doc = "The pieces of texts between bytes that are one of the delimiter's, or all bytes where that is empty: a "
            "sparse tensor. An empty text has no piece; pieces without bytes are left out unless skipEmpty is false. "
            "Throws if a piece is not UTF-8.",
     .group = family::text,
     .operands = texts_split,
     .attrs = attributes::string_split,
     .infer = shapes::string_split,
     .launch = launch::string_split,
     .no_gradient = "strings have no derivative",
     .cost = 64,
     .results = pieces_of_texts},
    {.name = "StringNGrams",
     .doc =
         "Each run of some width of neighbours in a row of texts with pads on both sides, joined by the separator: a "
         "ragged tensor. Without any text no row has n-grams.",
     .group = family::text,
     .operands = rows_of_texts,
     .attrs = attributes::string_ngrams,
     .infer = shapes::string_ngrams,
     .launch = launch::string_ngrams,
     .no_gradient = "strings have no derivative",
     .cost = 64,
     .results = ngrams_in_rows},
    {.name = "StringToHashBucketFast",
     .doc = "The hash of each text, FarmHash Fingerprint64 of its bytes, modulo the number of buckets.",
     .group = family::text,
     .operands = texts_hashed,
     .attrs = attributes::hash_buckets,
     .types = {.after = result::int32},
     .infer = shapes::same,
     .launch = launch::string_to_hash_bucket,
     .no_gradient = "strings have no derivative",
     .cost = 32},
};

}  // namespace kerngrad::rows
