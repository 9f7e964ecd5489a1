// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that count elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_count;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_count;
import :rows;

namespace kerngrad::launch {
void bincount(const launch_call&);
void unique(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand x_weights[] = {
    {"x", integral | boolean_only, role::own},
    {.name = "weights", .types = floating | only(dtype::int32) | only(dtype::int64), .optional = true}};
inline constexpr operand x_distinct[] = {{"x", real_or_bool | text_only}};
inline constexpr result_spec distinct_slices[] = {
    {"values", "the distinct slices, in the order in which they come first"},
    {"indices", "for each slice of x the index of its equal among the values", result::int32}};

inline constexpr op_row count_rows[] = {
    {.name = "Bincount",
     .doc =
         "How often x has each of 0, 1, ..., size - 1, or the sum of the weights there; larger elements are dropped, "
         "negative ones throw.",
     .group = family::count,
     .operands = x_weights,
     .attrs = attributes::bincount,
     .types = signed_numbers,
     .infer = shapes::bincount,
     .launch = launch::bincount,
     .kernel = "DenseBincount"},
    {.name = "DenseBincount",
     .doc = "Bincount of each row of the last axis; or 1 where a row has the element, 0 where it does not.",
     .group = family::count,
     .operands = x_weights,
     .attrs = attributes::dense_bincount,
     .types = signed_numbers,
     .infer = shapes::dense_bincount,
     .launch = launch::bincount},
    {.name = "Unique",
     .doc = "The distinct slices along an axis in the order in which they come first, or in ascending order, and for "
            "each slice which of them it is. NaN equals NaN and comes last, and -0 equals 0. Gradient: to the slice "
            "that came first.",
     .group = family::count,
     .operands = x_distinct,
     .attrs = attributes::unique,
     .infer = shapes::unique,
     .launch = launch::unique,
     .cost = 16,
     .results = distinct_slices,
     .bounded = true},
};

}  // namespace kerngrad::rows
