// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops on texts: how many come out is in the elements, which are counted before anything is made.
module;
#include <limits>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "kernels/text/ngrams.h"
#include "kernels/text/split.h"
module kerngrad;

namespace kerngrad::shapes {

namespace {

constexpr std::int64_t most_counted_in_int32 = std::numeric_limits<std::int32_t>::max();

void check_rank_of_texts(const inference& call, std::size_t i, int rank) {
  if (call.in[i].dims.rank() != rank)
    call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                "rank " + std::to_string(rank));
}

// The splits of `count` texts into rows: from 0 to the count, none smaller than the one before.
template <class Split>
void check_rows_of_texts(const inference& call, const Split* splits, std::int64_t size, std::int64_t count) {
  const std::string wanted =
      "row splits that never decrease, from 0 to " + std::to_string(count) + ", as data has texts";
  if (size == 0 && count > 0) call.refuse("dataSplits without elements", wanted);
  std::int64_t before = 0;
  for (std::int64_t r = 0; r < size; before = splits[r++]) {
    const bool is_first = r == 0, is_last = r + 1 == size;
    if (splits[r] < before || splits[r] > count || (is_first && splits[r] != 0) || (is_last && splits[r] != count))
      call.refuse("dataSplits with " + std::to_string(splits[r]) + " at " + std::to_string(r), wanted);
  }
}

}  // namespace

kernels::split_rule split_rule_of(const inference& call) {
  constexpr attr_place skips = place_in(attributes::string_split, "skipEmpty");
  return {call.elements<text>(1)[0], call.attr(skips).as_bool()};
}

void string_split(inference& call) {
  check_rank_of_texts(call, 0, 1);
  check_rank_of_texts(call, 1, 0);
  const std::int64_t count = call.in[0].dims[0];
  const kernels::piece_counts pieces = kernels::count_pieces(call.elements<text>(0).data(), count, split_rule_of(call));
  if (pieces.all > most_counted_in_int32 || count > most_counted_in_int32)
    call.refuse(std::to_string(count) + " texts of " + std::to_string(pieces.all) + " pieces",
                "at most 2^31 - 1 of both, which have numbers in int32", "split fewer at a time");
  call.give({pieces.all, 2});
  call.give({pieces.all});
  call.give({2});
}

kernels::ngrams_rule ngrams_rule_of(const inference& call) {
  constexpr attr_place separator = place_in(attributes::string_ngrams, "separator"),
                       widths = place_in(attributes::string_ngrams, "nGramWidths"),
                       left = place_in(attributes::string_ngrams, "leftPad"),
                       right = place_in(attributes::string_ngrams, "rightPad"),
                       pad = place_in(attributes::string_ngrams, "padWidth"),
                       keeps = place_in(attributes::string_ngrams, "preserveShortSequences");
  const std::span<const std::int64_t> all = call.attr(widths).as_list();
  return {.widths = all.data(),
          .width_count = static_cast<std::int64_t>(all.size()),
          .pad = call.attr(pad).as_integer(),
          .separator = call.attr(separator).as_text(),
          .left = call.attr(left).as_text(),
          .right = call.attr(right).as_text(),
          .keeps_short = call.attr(keeps).as_bool()};
}

void string_ngrams(inference& call) {
  check_rank_of_texts(call, 0, 1);
  check_rank_of_texts(call, 1, 1);
  const kernels::ngrams_rule rule = ngrams_rule_of(call);
  if (rule.width_count == 0) call.refuse("nGramWidths without elements", "one width or more");
  const view& splits = call.in[1];
  const std::int64_t count = call.in[0].dims[0], size = splits.dims[0];
  std::int64_t ngrams = 0;
  with_listed_integers(splits, [&](const auto* split) {
    check_rows_of_texts(call, split, size, count);
    if (count == 0) return;
    for (std::int64_t r = 0; r + 1 < size; ++r)
      ngrams = kernels::sum_of(ngrams, kernels::count_ngrams(split[r + 1] - split[r], rule));
  });
  if (splits.type == dtype::int32 && ngrams > most_counted_in_int32)
    call.refuse(std::to_string(ngrams) + " n-grams, counted in int32", "at most 2^31 - 1", "pass dataSplits of int64");
  call.give({ngrams});
  call.give(splits.dims, splits.type);
}

}  // namespace kerngrad::shapes
