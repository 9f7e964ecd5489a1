// SPDX-License-Identifier: Apache-2.0
// Rows of the reductions, the scans, the softmax family and the matrix product.
module;
#include "kernels/abi.h"
export module kerngrad:rows_reduce;

import :std;
import :core;
import :op;
import :shapes;
import :shapes_move;
import :rows_unary;
import :rows_binary;

export namespace kerngrad {

inline constexpr operand logits_floating[] = {{"logits", numeric | boolean_only}};
inline constexpr operand logits_labels[] = {{"logits", numeric}, {"labels", numeric}};
inline constexpr dtype_set of_matrices = floating | only(dtype::int32) | only(dtype::uint8) | boolean_only;
inline constexpr operand ab_matrices[] = {{"a", of_matrices}, {"b", of_matrices}};

inline constexpr attr_spec axis_keep[] = {
    {"axis", attr_kind::list, "axes to reduce, all when left out", false, 0, {}, -8, 7, true},
    {"keepDims", attr_kind::boolean, "keep the reduced axes with size 1"}};
inline constexpr attr_spec reduction_indices_keep[] = {
    {"reductionIndices", attr_kind::list, "axes to reduce, all when left out", false, 0, {}, -8, 7, true},
    {"keepDims", attr_kind::boolean, "keep the reduced axes with size 1"}};
inline constexpr attr_spec axis_only[] = {{"axis", attr_kind::integer, "axis to reduce", false, 0, {}, -8, 7}};
inline constexpr attr_spec last_axis[] = {{"axis", attr_kind::integer, "axis of the classes", false, -1, {}, -8, 7}};
inline constexpr attr_spec last_dim[] = {{"dim", attr_kind::integer, "axis of the classes", false, -1, {}, -8, 7}};
inline constexpr attr_spec scan_attrs[] = {{"axis", attr_kind::integer, "axis to walk along", false, 0, {}, -8, 7},
                                           {"exclusive", attr_kind::boolean, "leave the element itself out"},
                                           {"reverse", attr_kind::boolean, "walk from the end"}};
inline constexpr attr_spec transposes[] = {{"transposeA", attr_kind::boolean, "swap the last two axes of a"},
                                           {"transposeB", attr_kind::boolean, "swap the last two axes of b"}};

consteval op_row reduce_row(std::string_view name, std::string_view doc, type_rule types,
                            std::span<const operand> operands = x_numeric,
                            std::span<const attr_spec> attrs = axis_keep) {
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
  op_row row = reduce_row(name, doc, {lift::none, result::int32}, x_numeric, axis_only);
  row.infer = shapes::arg_reduce;
  row.no_gradient = "the result is an index";
  return row;
}
consteval op_row softmax_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs) {
  return {.name = name,
          .doc = doc,
          .group = family::softmax,
          .operands = logits_floating,
          .attrs = attrs,
          .types = floats,
          .infer = shapes::along_axis,
          .convention = convention::along_axis,
          .in_place = true,
          .cost = 16};
}

consteval op_row scan_row(std::string_view name, std::string_view doc) {
  op_row row = reduce_row(name, doc, signed_numbers, x_numeric, scan_attrs);
  row.infer = shapes::along_axis;
  row.convention = convention::scan;
  return row;
}

inline constexpr op_row reduce_rows[] = {
    reduce_row("Sum", "The sum over axes; 0 of nothing; bool and uint8 count as int32.", signed_numbers,
               x_numeric_or_complex),
    reduce_row("Mean", "The mean over axes, as float32 for integers; NaN of nothing.", floats),
    reduce_row("Prod", "The product over axes; 1 of nothing.", signed_numbers),
    reduce_row("Max", "The largest element; NaN when there is one. Gradient: dy to every largest element.", unchanged,
               x_numeric, reduction_indices_keep),
    reduce_row("Min", "The smallest element; NaN when there is one. Gradient: dy to every smallest element.", unchanged,
               x_numeric),
    without_gradient(reduce_row("All", "Whether all are true; true of nothing.", unchanged, x_boolean),
                     "the result is boolean"),
    without_gradient(reduce_row("Any", "Whether one is true; false of nothing.", unchanged, x_boolean),
                     "the result is boolean"),
    arg_row("ArgMax", "The index of the first largest element; NaN is passed over unless it is the first."),
    arg_row("ArgMin", "The index of the first smallest element; NaN is passed over unless it is the first."),
    scan_row("Cumsum", "The running sum along an axis."),
    scan_row("Cumprod", "The running product along an axis."),
};

inline constexpr op_row softmax_rows[] = {
    softmax_row("Softmax", "exp(x) over its sum along an axis, shifted by the maximum.", last_dim),
    softmax_row("LogSoftmax", "The logarithm of softmax, without its underflow.", last_axis),
    {.name = "LogSumExp",
     .doc = "log(sum(exp(x))) along an axis, without overflow.",
     .group = family::softmax,
     .operands = logits_floating,
     .attrs = last_axis,
     .types = floats,
     .infer =
         [](inference& call) {
           const shape& dims = call.in[0].dims;
           if (dims.rank() == 0) return call.give(dims);
           const int axis = shapes::normalized_axis(call, "axis", call.attr("axis").as_integer(), dims.rank());
           call.give(shapes::without_axes(dims, shapes::axis_set{1} << axis, false));
         },
     .convention = convention::along_axis,
     .cost = 16},
    {.name = "SoftmaxCrossEntropy",
     .doc = "-sum(labels * log_softmax(logits)) over the last axis.",
     .group = family::softmax,
     .operands = logits_labels,
     .types = floats,
     .infer = shapes::cross_entropy,
     .convention = convention::cross_entropy,
     .cost = 20},
};

inline constexpr op_row matmul_rows[] = {
    {.name = "BatchMatMul",
     .doc = "The matrix product over the last two axes; the others are batches and broadcast.",
     .group = family::matmul,
     .operands = ab_matrices,
     .attrs = transposes,
     .types = signed_numbers,
     .infer = shapes::matmul,
     .convention = convention::matmul,
     .cost = 2},
};

}  // namespace kerngrad
