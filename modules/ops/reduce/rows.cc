// SPDX-License-Identifier: Apache-2.0
// Rows of the reductions and the scans.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_reduce;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :rows;

namespace kerngrad::launch {
void scan(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

consteval op_row reduce_row(std::string_view name, std::string_view doc, type_rule types,
                            std::span<const operand> operands = x_real,
                            std::span<const attr_spec> attrs = attributes::reduce) {
  return {.name = name,
          .doc = doc,
          .group = family::reduce,
          .operands = operands,
          .attrs = attrs,
          .types = types,
          .infer = shapes::reduce,
          .convention = convention::reduce};
}
consteval op_row arg_row(std::string_view name, std::string_view doc) {
  op_row row = reduce_row(name, doc, {lift::none, result::int32}, x_real, attributes::arg_reduce);
  row.infer = shapes::arg_reduce;
  row.no_gradient = "the result is an index";
  row.kinks = kink::ties;
  return row;
}

consteval op_row scan_row(std::string_view name, std::string_view doc, type_rule types = totals,
                          std::span<const operand> operands = x_arithmetic) {
  op_row row = reduce_row(name, doc, types, operands, attributes::scan);
  row.infer = shapes::along_axis;
  row.convention = convention::custom;
  row.launch = launch::scan;
  return row;
}

inline constexpr operand x_floating[] = {{"x", floating}};

inline constexpr op_row reduce_rows[] = {
    reduce_row("Sum", "The sum over axes; 0 of nothing; bool counts as int32, integers other than int32 as int64.",
               {lift::sums, result::total}, x_arithmetic),
    reduce_row("Mean", "The mean over axes, in a float that holds the integers; NaN of nothing.", quotients,
               x_arithmetic),
    reduce_row("Prod", "The product over axes; 1 of nothing.", totals, x_arithmetic) | with{.domain = {{0.5, 2}}},
    reduce_row(
        "Max",
        "The largest element; NaN when there is one. Gradient: equal largest elements share dy equally; NaN gets 0.",
        unchanged, x_real, attributes::reduce_max) |
        with{.kinks = kink::ties},
    reduce_row(
        "Min",
        "The smallest element; NaN when there is one. Gradient: equal smallest elements share dy equally; NaN gets 0.",
        unchanged, x_real) |
        with{.kinks = kink::ties},
    reduce_row("NanMax",
               "The largest element that is not NaN; -infinity where there is none. Gradient: equal largest elements "
               "share dy equally; NaN gets 0.",
               unchanged, x_floating) |
        with{.kinks = kink::ties},
    reduce_row("NanMin",
               "The smallest element that is not NaN; infinity where there is none. Gradient: equal smallest elements "
               "share dy equally; NaN gets 0.",
               unchanged, x_floating) |
        with{.kinks = kink::ties},
    without_gradient(reduce_row("All", "True if all are true; true for no elements.", unchanged, x_boolean),
                     "the result is boolean"),
    without_gradient(reduce_row("Any", "True if at least one is true; false for no elements.", unchanged, x_boolean),
                     "the result is boolean"),
    arg_row("ArgMax", "The index of the first largest element; NaN is passed over unless it is the first."),
    arg_row("ArgMin", "The index of the first smallest element; NaN is passed over unless it is the first."),
    scan_row("Cumsum", "The running sum along an axis."),
    scan_row("Cumprod", "The running product along an axis.") | with{.domain = {{0.5, 2}}},
    scan_row("CumMax",
             "The largest element so far along an axis, NaN from the first one on; before the first element -infinity, "
             "the least integer. Gradient: dy to the first of the largest elements so far.",
             numbers, x_real) |
        with{.kinks = kink::ties},
    scan_row("CumMin",
             "The smallest element so far along an axis, NaN from the first one on; before the first element infinity, "
             "the greatest integer. Gradient: dy to the first of the smallest elements so far.",
             numbers, x_real) |
        with{.kinks = kink::ties},
};

}  // namespace kerngrad::rows
