// SPDX-License-Identifier: Apache-2.0
// Graph ops and what runs them: the one table, by the topics of TensorFlow.js's converter, whose ops it has all. If
// several graph ops have one row, the first is the one that calls are recorded as. The audit at the end compares names,
// attributes and arities with the rows.
module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph::detail {

// Adjusts a call where the table is not enough: mapping_functions_impl.cc and mapping_fused_impl.cc.
using adjust_fn = void(bound_call&, const node&, std::span<const tensor>);
using run_fn = tensor_list(const node&, std::span<const tensor>);
using is_more_fn = bool(const node&);
adjust_fn divide_integers, squeeze_shape, reverse_flags, omit_empty_weights, refuse_channels_first, take_fused;
run_fn run_bias_first, run_norm_first, run_shape, run_shapes, run_size, run_rank, run_floor_div, run_div_no_nan,
    run_norm, run_conv1d, run_ensure_shape, run_list_diff, run_one_hot, run_uniform, run_uniform_int, run_normal,
    run_truncated_normal, run_multinomial, run_fused_conv, run_fused_depthwise, run_fused_matmul;
is_more_fn is_channels_first, has_other_axis, may_have_floats, has_more_than_one_call;

// No constant expression calls them: their names are what the compiler says of the mistake.
void the_mapping_names_no_row();
void the_row_has_no_operand_of_this_name();
void the_row_has_no_attribute_of_this_name();
void an_operand_that_the_row_requires_is_not_given();
void an_attribute_that_the_row_requires_is_not_given();
void a_graph_op_is_there_twice();
void the_mapping_lacks_its_function_or_its_reason();
void the_mapping_without_a_row_lacks_its_arity();
void the_arity_leaves_out_inputs_of_the_row();

namespace {

using enum made_of;
using attrs = mapped_attribute;
constexpr int any = op_arity::any, as_inputs = op_arity::as_inputs;

// ------------------------------------------------------------------------------------------ what several ops share

constexpr attrs conv_attrs[] = {{"strides", window, "strides"},
                                {"pad", padding, "padding"},
                                {"dataFormat", upper, "data_format"},
                                {"dilations", window, "dilations"}};
constexpr attrs pool_attrs[] = {
    {"filterSize", window, "ksize"}, {"strides", window, "strides"}, {"pad", padding, "padding"}};
constexpr attrs pool_argmax_attrs[] = {
    pool_attrs[0], pool_attrs[1], pool_attrs[2], {"includeBatchInIndex", attribute, "include_batch_in_index"}};
constexpr attrs volume_pool_attrs[] = {
    pool_attrs[0], pool_attrs[1], pool_attrs[2], {"dataFormat", upper, "data_format"}};
constexpr attrs transposed_attrs[] = {
    conv_attrs[0], conv_attrs[1], conv_attrs[2], conv_attrs[3], {"inputShape", integers, "", 0}};
constexpr attrs fused_conv_attrs[] = {
    conv_attrs[0], conv_attrs[1], conv_attrs[2], conv_attrs[3], {"leakyreluAlpha", attribute, "leakyrelu_alpha"}};
constexpr attrs dilation_attrs[] = {conv_attrs[0], conv_attrs[1], {"dilations", window, "rates"}};
constexpr attrs matmul_attrs[] = {{"transposeA", attribute, "transpose_a"}, {"transposeB", attribute, "transpose_b"}};
constexpr attrs adjoint_attrs[] = {{"transposeA", attribute, "adj_x"}, {"transposeB", attribute, "adj_y"}};
constexpr attrs fused_matmul_attrs[] = {
    matmul_attrs[0], matmul_attrs[1], {"leakyreluAlpha", attribute, "leakyrelu_alpha"}};
constexpr attrs reduce_attrs[] = {{"axis", integers, "", 1}, {"keepDims", attribute, "keep_dims"}};
constexpr attrs reduce_max_attrs[] = {{"reductionIndices", integers, "", 1}, reduce_attrs[1]};
constexpr attrs axis_of_input[] = {{"axis", integer, "", 1}};
constexpr attrs scan_attrs[] = {
    {"axis", integer, "", 1}, {"exclusive", attribute, "exclusive"}, {"reverse", attribute, "reverse"}};
constexpr attrs axis_attr[] = {{"axis", attribute, "axis"}};
constexpr attrs axis_in_front[] = {{"axis", integer, "", 0}};
constexpr attrs axis_behind[] = {{"axis", integer, "", -1}};
constexpr attrs epsilon_attr[] = {{"varianceEpsilon", attribute, "epsilon"}};
constexpr attrs resize_attrs[] = {{"size", integers, "", 1},
                                  {"alignCorners", attribute, "align_corners"},
                                  {"halfPixelCenters", attribute, "half_pixel_centers"}};
constexpr attrs suppress_attrs[] = {
    {"maxOutputSize", integer, "", 2}, {"iouThreshold", number, "", 3}, {"scoreThreshold", number, "", 4}};
constexpr attrs suppress_padded_attrs[] = {suppress_attrs[0],
                                           suppress_attrs[1],
                                           suppress_attrs[2],
                                           {"padToMaxOutputSize", attribute, "pad_to_max_output_size"}};
constexpr attrs suppress_scored_attrs[] = {
    suppress_attrs[0], suppress_attrs[1], suppress_attrs[2], {"softNmsSigma", number, "", 5}};
constexpr attrs shape_of_input[] = {{"shape", integers, "", 1}};
constexpr attrs zeros_attrs[] = {{"shape", integers, "", 0}, {"value", fixed, "", 0, 0}, {"dtype", attribute, "T"}};
constexpr attrs ones_attrs[] = {zeros_attrs[0], {"value", fixed, "", 0, 1}, zeros_attrs[2]};
constexpr attrs fft_attrs[] = {{"fftLength", integer, "", 1}};
constexpr attrs bincount_attrs[] = {{"size", integer, "", 1}};
constexpr attrs dense_bincount_attrs[] = {bincount_attrs[0], {"binaryOutput", attribute, "binary_output"}};

// ------------------------------------------------------------------------------------------ attributes of one op

constexpr attrs leaky_attrs[] = {{"alpha", attribute, "alpha"}};
constexpr attrs clip_attrs[] = {{"clipValueMin", number, "", 1}, {"clipValueMax", number, "", 2}};
constexpr attrs cast_attrs[] = {{"dtype", attribute, "DstT"}};
constexpr attrs einsum_attrs[] = {{"equation", attribute, "equation"}};
constexpr attrs transpose_attrs[] = {{"perm", integers, "", 1}};
constexpr attrs lrn_attrs[] = {{"depthRadius", attribute, "depth_radius"},
                               {"bias", attribute, "bias"},
                               {"alpha", attribute, "alpha"},
                               {"beta", attribute, "beta"}};
constexpr attrs crop_attrs[] = {{"cropSize", integers, "", 3},
                                {"method", lower, "method"},
                                {"extrapolationValue", attribute, "extrapolation_value"}};
constexpr attrs transform_attrs[] = {{"interpolation", lower, "interpolation"},
                                     {"fillMode", lower, "fill_mode"},
                                     {"fillValue", number, "", 3},
                                     {"outputShape", integers, "", 2}};
constexpr attrs fill_attrs[] = {{"shape", integers, "", 0}, {"value", value, "", 1}, {"dtype", type, "", 1}};
constexpr attrs range_attrs[] = {
    {"start", number, "", 0}, {"stop", number, "", 1}, {"step", number, "", 2}, {"dtype", type, "", 0}};
constexpr attrs linspace_attrs[] = {{"start", number, "", 0}, {"stop", number, "", 1}, {"num", integer, "", 2}};
constexpr attrs one_hot_attrs[] = {
    {"depth", integer, "", 1}, {"onValue", number, "", 2}, {"offValue", number, "", 3}, {"dtype", attribute, "T"}};
constexpr attrs top_k_attrs[] = {{"k", integer, "", 1}, {"sorted", attribute, "sorted"}};
constexpr attrs gather_attrs[] = {{"axis", integer, "", 2}, {"batchDims", attribute, "batch_dims"}};
constexpr attrs reverse_attrs[] = {{"dims", integers, "", 1}};
constexpr attrs slice_attrs[] = {{"begin", integers, "", 1}, {"size", integers, "", 2}};
constexpr attrs strided_attrs[] = {{"begin", integers, "", 1},
                                   {"end", integers, "", 2},
                                   {"strides", integers, "", 3},
                                   {"beginMask", attribute, "begin_mask"},
                                   {"endMask", attribute, "end_mask"},
                                   {"ellipsisMask", attribute, "ellipsis_mask"},
                                   {"newAxisMask", attribute, "new_axis_mask"},
                                   {"shrinkAxisMask", attribute, "shrink_axis_mask"}};
constexpr attrs tile_attrs[] = {{"reps", integers, "", 1}};
constexpr attrs split_attrs[] = {{"numOrSizeSplits", attribute, "num_split"}, {"axis", integer, "", 0}};
constexpr attrs split_v_attrs[] = {{"numOrSizeSplits", integers, "", 1}, {"axis", integer, "", 2}};
constexpr attrs scatter_attrs[] = {{"shape", integers, "", 2}};
constexpr attrs sparse_to_dense_attrs[] = {{"outputShape", integers, "", 1}};
constexpr attrs expand_attrs[] = {{"dim", integer, "", 1}};
constexpr attrs pad_attrs[] = {{"paddings", integers, "", 1}, {"constantValue", attribute, "constant_value"}};
constexpr attrs pad_value_attrs[] = {{"paddings", integers, "", 1}, {"constantValue", value, "", 2}};
constexpr attrs mirror_attrs[] = {{"paddings", integers, "", 1}, {"mode", lower, "mode"}};
constexpr attrs space_to_batch_attrs[] = {{"blockShape", integers, "", 1}, {"paddings", integers, "", 2}};
constexpr attrs batch_to_space_attrs[] = {{"blockShape", integers, "", 1}, {"crops", integers, "", 2}};
constexpr attrs depth_to_space_attrs[] = {{"blockSize", attribute, "block_size"}, {"dataFormat", upper, "data_format"}};
constexpr attrs ragged_gather_attrs[] = {{"outputRaggedRank", attribute, "OUTPUT_RAGGED_RANK"}};
constexpr attrs ragged_to_tensor_attrs[] = {{"rowPartitionTypes", joined, "row_partition_types"}};
constexpr attrs string_split_attrs[] = {{"skipEmpty", attribute, "skip_empty"}};
constexpr attrs ngrams_attrs[] = {
    {"separator", attribute, "separator"}, {"nGramWidths", attribute, "ngram_widths"},
    {"leftPad", attribute, "left_pad"},    {"rightPad", attribute, "right_pad"},
    {"padWidth", attribute, "pad_width"},  {"preserveShortSequences", attribute, "preserve_short_sequences"}};
constexpr attrs hash_attrs[] = {{"numBuckets", attribute, "num_buckets"}};
constexpr attrs regex_attrs[] = {{"pattern", attribute, "pattern"},
                                 {"rewrite", attribute, "rewrite"},
                                 {"replaceGlobal", attribute, "replace_global"}};

// ------------------------------------------------------------------------------------------ operands in another order

constexpr mapped_operand norm_operands[] = {{"x", 0}, {"mean", 3}, {"variance", 4}, {"offset", 2}, {"scale", 1}};
constexpr mapped_operand transposed_operands[] = {{"dy", 2}, {"filter", 1}};
constexpr mapped_operand counted_operands[] = {{"x", 0}, {"weights", 2}};
constexpr mapped_operand lists_in_front[] = {{"tensors", 0, -1}};
constexpr mapped_operand lists_behind[] = {{"tensors", 1, 0}};
constexpr mapped_operand second_input[] = {{"x", 1}};
constexpr mapped_operand sparse_operands[] = {{"sparseIndices", 0}, {"sparseValues", 2}, {"defaultValue", 3}};
constexpr mapped_operand ragged_operands[] = {
    {"paramsDenseValues", -2}, {"indices", -1}, {"paramsNestedSplits", 0, -2}};

// ------------------------------------------------------------------------------------------ the table

// A row of the same name, or another one, that takes the inputs in order.
consteval op_mapping same(std::string_view op, std::span<const attrs> given = {}) {
  return {.op = op, .row = op, .attrs = given};
}
consteval op_mapping row(std::string_view op, std::string_view row, std::span<const attrs> given = {}) {
  return {.op = op, .row = row, .attrs = given};
}
consteval op_mapping by_graph(std::string_view op, op_arity arity) {
  return {.op = op, .row = {}, .how = runs_by::graph, .arity = arity};
}
consteval op_mapping by_function(std::string_view op, op_arity arity, run_fn* run, std::uint32_t reads = 0) {
  return {.op = op, .row = {}, .how = runs_by::function, .run = run, .reads = reads, .arity = arity};
}
// Inputs of `adjust` or `run`, and results of the graph op that the row does not give.
consteval op_mapping of_arity(op_arity arity, op_mapping m) {
  m.arity = arity;
  return m;
}
consteval op_mapping of_shapes(op_mapping m) {
  m.of_shapes = true;
  return m;
}
consteval op_mapping drawn(std::string_view op, op_arity arity, run_fn* run, std::uint32_t reads) {
  op_mapping m = by_function(op, arity, run, reads);
  m.draws = true;
  return m;
}
consteval op_mapping ordered(op_mapping m, std::span<const mapped_operand> operands) {
  m.operands = operands;
  return m;
}
consteval op_mapping adjusted(op_mapping m, adjust_fn* adjust, std::uint32_t reads = 0) {
  m.adjust = adjust, m.reads = reads;
  return m;
}
// Some nodes take several calls.
consteval op_mapping or_function(op_mapping m, is_more_fn* is_more, run_fn* run) {
  m.is_more = is_more, m.run = run;
  return m;
}
consteval op_mapping not_run(std::string_view op, std::string_view reason) {
  return {.op = op, .row = {}, .how = runs_by::nothing, .reason = reason};
}
constexpr std::string_view tables = "a hash table keeps what a run put into it: look its keys up before the model";
constexpr std::string_view forests = "decision forests run in a library of TensorFlow.js's own";

#include "modules/graph/mapping_table.inc"

// ------------------------------------------------------------------------------------------ the audit

consteval void check_operands(const op_mapping& m, const op_row& row) {
  for (const mapped_operand& item : m.operands)
    if (row.operand_index(item.to) < 0) the_row_has_no_operand_of_this_name();
  for (const operand& item : row.operands) {
    bool given = item.optional || m.operands.empty();
    for (const mapped_operand& other : m.operands) given = given || other.to == item.name;
    if (!given) an_operand_that_the_row_requires_is_not_given();
  }
}
consteval void check_attributes(const op_mapping& m, const op_row& row) {
  for (const attrs& item : m.attrs)
    if (row.attr_index(item.to) < 0) the_row_has_no_attribute_of_this_name();
  for (const attr_spec& spec : row.attrs) {
    bool given = !spec.required || m.adjust != nullptr;
    for (const attrs& item : m.attrs) given = given || item.to == spec.name;
    if (!given) an_attribute_that_the_row_requires_is_not_given();
  }
}

// Inputs that a row needs, counted from the front and from the back, and the most that it takes.
struct counted_inputs {
  int front = 0, back = 0, most = 0;
  consteval void take(int input, bool required) {
    if (required && input >= 0) front = std::max(front, input + 1);
    if (required && input < 0) back = std::max(back, -input);
    if (most != any && input >= 0) most = std::max(most, input + 1);
  }
};
consteval op_arity arity_by_row(const op_mapping& m, const op_row& row) {
  counted_inputs all;
  int next = 0;
  for (const operand& item : row.operands) {
    if (!m.operands.empty() || item.optional) continue;
    all.take(next++, true);
    if (item.list) all.most = any;
  }
  for (const mapped_operand& item : m.operands) {
    const operand& of_row = row.operands[static_cast<std::size_t>(row.operand_index(item.to))];
    all.take(item.input, !of_row.optional);
    if (item.end != one_input && item.end <= 0) all.most = any, all.back = std::max(all.back, -item.end);
  }
  for (const attrs& item : m.attrs) {
    const bool of_input = item.by == integers || item.by == integer || item.by == number || item.by == value;
    if (of_input) all.take(item.input, row.attrs[static_cast<std::size_t>(row.attr_index(item.to))].required);
  }
  const bool cuts = row.convention == convention::unpack || row.convention == convention::split;
  const int results = row.results.empty() ? 1 : static_cast<int>(row.results.size());
  return {all.front + all.back, all.most, cuts ? any : results};
}
// The arity of a mapping, audited: one that is stated besides takes all that the row does.
consteval op_arity audited_arity(const op_mapping& m) {
  if (m.how == runs_by::nothing) return {};
  if (m.how != runs_by::row || m.registered) {
    if (!m.arity) the_mapping_without_a_row_lacks_its_arity();
    return *m.arity;
  }
  const op_arity by_row = arity_by_row(m, op_table[static_cast<std::size_t>(find_op(m.row))]);
  if (!m.arity) return by_row;
  const bool fits = m.arity->least >= by_row.least && (m.arity->most == any || m.arity->most >= by_row.most) &&
                    (m.arity->most == any || by_row.most != any);
  if (!fits) the_arity_leaves_out_inputs_of_the_row();
  return *m.arity;
}
consteval bool check(const op_mapping& m) {
  if (m.how == runs_by::function && m.run == nullptr) the_mapping_lacks_its_function_or_its_reason();
  if ((m.is_more == nullptr) != (m.run == nullptr) && m.how == runs_by::row)
    the_mapping_lacks_its_function_or_its_reason();
  if (m.how == runs_by::nothing && m.reason.empty()) the_mapping_lacks_its_function_or_its_reason();
  if (m.how != runs_by::row || m.registered) return true;
  const int id = find_op(m.row);
  if (id < 0) the_mapping_names_no_row();
  check_operands(m, op_table[static_cast<std::size_t>(id)]);
  check_attributes(m, op_table[static_cast<std::size_t>(id)]);
  return true;
}
static_assert([] {
  for (const op_mapping& m : mappings) check(m);
  return true;
}());

// Indices in the table in the order of the names: what a look-up searches.
constexpr auto by_name = []() consteval {
  std::array<std::uint16_t, std::size(mappings)> order{};
  for (std::uint16_t i = 0; i < order.size(); ++i) {
    std::size_t at = i;
    for (; at > 0 && mappings[i].op < mappings[order[at - 1]].op; --at) order[at] = order[at - 1];
    if (at > 0 && mappings[order[at - 1]].op == mappings[i].op) a_graph_op_is_there_twice();
    order[at] = i;
  }
  return order;
}();

constexpr auto arities = []() consteval {
  std::array<op_arity, std::size(mappings)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = audited_arity(mappings[i]);
  return all;
}();

}  // namespace

op_arity arity_of(std::string_view graph_op) {
  const op_mapping* m = mapping_of(graph_op);
  return m ? arities[static_cast<std::size_t>(m - mappings)] : op_arity{};
}

const op_mapping* mapping_of(std::string_view graph_op) {
  std::size_t low = 0, high = by_name.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = mappings[by_name[middle]].op.compare(graph_op);
    if (order == 0) return &mappings[by_name[middle]];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return nullptr;
}

std::span<const op_mapping> all_mappings() { return mappings; }

}  // namespace kerngrad::graph::detail
