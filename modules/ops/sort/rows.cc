// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that order elements. Each of them has a calling convention of its own.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_sort;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :rows;
import :shapes;
import :shapes_sort;

namespace kerngrad::launch {
void sort(const launch_call&);
void top_k(const launch_call&);
void search_sorted(const launch_call&);
void lower_bound(const launch_call&);
void upper_bound(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand sequence_values[] = {{"sortedSequence", real_or_bool}, {"values", real_or_bool}};
inline constexpr result_spec top_results[] = {
    {"values", "the largest elements, in descending order"},
    {.name = "indices", .doc = "their indices along the last axis", .type = result::int32}};
inline constexpr type_rule sorted_indices{.after = result::int32};
inline constexpr type_rule indices_of_numbers{.before = lift::integers, .after = result::int32};

consteval op_row sorting_row(std::string_view name, std::string_view doc, type_rule types, infer_fn infer) {
  return {.name = name,
          .doc = doc,
          .group = family::sort,
          .operands = x_real,
          .attrs = attributes::sort,
          .types = types,
          .infer = infer,
          .launch = launch::sort,
          .kinks = kink::ties,
          .cost = 32};
}
consteval op_row search_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs,
                            launch_fn launch) {
  return {.name = name,
          .doc = doc,
          .group = family::sort,
          .operands = sequence_values,
          .attrs = attrs,
          .types = indices_of_numbers,
          .infer = shapes::search_sorted,
          .launch = launch,
          .kernel = "SearchSorted",
          .no_gradient = "indices are integers",
          .kinks = kink::ties,
          .cost = 16};
}

inline constexpr op_row sort_rows[] = {
    sorting_row("Sort",
                "The elements along an axis in ascending or descending order. NaN is the greatest and comes out as the "
                "quiet NaN, -0 is less than 0. Gradient: dy at the indices that ArgSort gives.",
                unchanged, shapes::along_axis),
    without_gradient(sorting_row("ArgSort",
                                 "The indices of the elements along an axis in ascending or descending order. Equal "
                                 "elements, -0 and 0, and all NaN keep their order; NaN is the greatest.",
                                 sorted_indices, shapes::arg_sort),
                     "indices are integers"),
    {.name = "TopK",
     .doc =
         "The k largest elements along the last axis in descending order, and their indices: of equal elements those "
         "with the smallest. NaN is the greatest; sorted = false allows every order and changes none. Gradient: dy "
         "at the indices.",
     .group = family::sort,
     .operands = x_real,
     .attrs = attributes::top_k,
     .infer = shapes::top_k,
     .launch = launch::top_k,
     .kinks = kink::ties,
     .cost = 32,
     .results = top_results},
    search_row(
        "SearchSorted",
        "The number of elements of an ascending sequence that are less than each value, or not greater with side "
        "right; NaN is the greatest. The order of the sequence is not checked.",
        attributes::search_sorted, launch::search_sorted),
    search_row("LowerBound", "SearchSorted with side left: the first index where a value can be inserted.", {},
               launch::lower_bound),
    search_row("UpperBound", "SearchSorted with side right: the last index where a value can be inserted.", {},
               launch::upper_bound),
};

}  // namespace kerngrad::rows
