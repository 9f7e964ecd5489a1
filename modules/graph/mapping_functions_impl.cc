// SPDX-License-Identifier: Apache-2.0
// Rules that the table of graph ops cannot state: calls that depend on dtypes and shapes, and ops that take several
// calls.
module;
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph::detail {

namespace {

const tensor& input(const node& at, std::span<const tensor> in, std::size_t i) {
  if (i >= in.size()) fail(at.op, std::to_string(in.size()) + " inputs", "at least " + std::to_string(i + 1));
  return in[i];
}

}  // namespace

// ------------------------------------------------------------------------------------------ what nodes say

bool is_channels_first(const node& at) { return text_of(at, "data_format", "").starts_with("NC"); }

bool has_other_axis(const node& at) { return integer_of(at, "axis", -1) != -1; }

// Unless the node says that it has integers.
bool may_have_floats(const node& at) {
  const attribute* said = at.attr("T");
  return said == nullptr || said->holds != attribute::kind::type || !integral.has(said->type);
}

// ------------------------------------------------------------------------------------------ changes of one call

// TensorFlow.js divides two tensors of integers as FloorDiv does.
void divide_integers(bound_call& call, const node& at, std::span<const tensor> in) {
  if (input(at, in, 0).type() == dtype::int32 && input(at, in, 1).type() == dtype::int32) call.kernel = "FloorDiv";
}

// Without the axes of size 1 that `axis` names, or all of them.
void squeeze_shape(bound_call& call, const node& at, std::span<const tensor> in) {
  const shape& dims = input(at, in, 0).dims();
  std::span<const std::int64_t> axes = integers_of(at, "axis");
  if (axes.empty()) axes = integers_of(at, "squeeze_dims");
  std::vector<bool> goes(static_cast<std::size_t>(dims.rank()), false);
  for (const std::int64_t axis : axes) {
    const std::int64_t index = axis < 0 ? axis + dims.rank() : axis;
    if (index < 0 || index >= dims.rank() || dims[index] != 1)
      fail(at.op, "axis " + std::to_string(axis) + " of " + to_string(dims), "an axis of size 1");
    goes[static_cast<std::size_t>(index)] = true;
  }
  std::vector<std::int64_t> left;
  for (int i = 0; i < dims.rank(); ++i)
    if (axes.empty() ? dims[i] != 1 : !goes[static_cast<std::size_t>(i)]) left.push_back(dims[i]);
  call.attrs.push_back({"shape", left});
}

// A flag for each axis, as the first Reverse has it.
void reverse_flags(bound_call& call, const node& at, std::span<const tensor> in) {
  std::vector<std::int64_t> axes;
  const std::vector<std::int64_t> flags = elements_of(input(at, in, 1));
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) axes.push_back(static_cast<std::int64_t>(i));
  call.attrs.push_back({"dims", axes});
}

// Weights without elements are none.
void omit_empty_weights(bound_call& call, const node& at, std::span<const tensor> in) {
  if (input(at, in, 2).size() == 0) call.operands.pop_back();
}

void refuse_channels_first(bound_call&, const node& at, std::span<const tensor>) {
  if (is_channels_first(at)) fail(at.op, "data_format NCHW", "NHWC", "convert the model with channels last");
}

// ------------------------------------------------------------------------------------------ channels first

namespace {

// A value for each channel, as a shape that broadcasts to images with the channels in front.
tensor for_channels(const node& at, const tensor& values, const tensor& image) {
  if (values.rank() != 1 || image.rank() < 2)
    fail(at.op, "shapes " + to_string(image.dims()) + " and " + to_string(values.dims()),
         "batch, channels and more, and a value for each channel");
  std::vector<std::int64_t> dims(static_cast<std::size_t>(image.rank()) - 1, 1);
  dims[0] = values.size();
  return reshape(values, shape(dims));
}

}  // namespace

tensor_list run_bias_first(const node& at, std::span<const tensor> in) {
  return {input(at, in, 0) + for_channels(at, input(at, in, 1), in[0])};
}

tensor_list run_norm_first(const node& at, std::span<const tensor> in) {
  const tensor& x = input(at, in, 0);
  const auto values = [&](std::size_t i) { return for_channels(at, input(at, in, i), x); };
  return {call<"FusedBatchNorm">(x, values(3), values(4), values(2), values(1),
                                 attr<"varianceEpsilon">(number_of(at, "epsilon", 0.001)))};
}

// ------------------------------------------------------------------------------------------ sizes

namespace {

tensor sizes_of(const tensor& x) {
  std::vector<std::int32_t> sizes;
  for (const std::int64_t size : x.dims()) sizes.push_back(static_cast<std::int32_t>(size));
  return tensor(sizes);
}

}  // namespace

tensor_list run_shape(const node& at, std::span<const tensor> in) { return {sizes_of(input(at, in, 0))}; }

tensor_list run_shapes(const node&, std::span<const tensor> in) {
  tensor_list all;
  for (const tensor& x : in) all.push_back(sizes_of(x));
  return all;
}

tensor_list run_size(const node& at, std::span<const tensor> in) {
  return {tensor(static_cast<std::int32_t>(input(at, in, 0).size()))};
}

tensor_list run_rank(const node& at, std::span<const tensor> in) {
  return {tensor(static_cast<std::int32_t>(input(at, in, 0).rank()))};
}

tensor_list run_ensure_shape(const node& at, std::span<const tensor> in) {
  const tensor& x = input(at, in, 0);
  const attribute* said = at.attr("shape");
  std::vector<std::int64_t> wanted;
  if (in.size() > 1) wanted = elements_of(in[1]);
  else if (said != nullptr && said->dims.known_rank) wanted = said->dims.dims;
  else return {x};
  bool fits = static_cast<int>(wanted.size()) == x.rank();
  for (std::size_t i = 0; fits && i < wanted.size(); ++i)
    fits = wanted[i] < 0 || wanted[i] == x.dims()[static_cast<std::int64_t>(i)];
  if (!fits) fail(at.op, "shape " + to_string(x.dims()), "one that fits to " + to_string(attr_value(wanted)));
  return {x};
}

// ------------------------------------------------------------------------------------------ composed functions

// TensorFlow floors the rounded quotient of floats; the row floors the exact one.
tensor_list run_floor_div(const node& at, std::span<const tensor> in) {
  const tensor &a = input(at, in, 0), &b = input(at, in, 1);
  return {floating.has(promote(a.type(), b.type())) ? floor(a / b) : floor_div(a, b)};
}

tensor_list run_div_no_nan(const node& at, std::span<const tensor> in) {
  return {div_no_nan(input(at, in, 0), input(at, in, 1))};
}

tensor_list run_norm(const node& at, std::span<const tensor> in) {
  const axes over = in.size() > 1 ? axes(elements_of(in[1])) : all_axes;
  return {euclidean_norm(input(at, in, 0), over, flag_of(at, "keep_dims", false))};
}

tensor_list run_list_diff(const node& at, std::span<const tensor> in) {
  difference_parts parts = list_difference(input(at, in, 0), input(at, in, 1));
  return {std::move(parts.values), std::move(parts.indices)};
}

tensor_list run_conv1d(const node& at, std::span<const tensor> in) {
  const bool is_same = text_of(at, "padding", "VALID") == "SAME";
  return {conv1d(input(at, in, 0), input(at, in, 1),
                 {.stride = integer_of(at, "stride", 1),
                  .pad = is_same ? padding(same) : padding(valid),
                  .dilation = integer_of(at, "dilation", 1)})};
}

// The classes go to another axis than the last one.
tensor_list run_one_hot(const node& at, std::span<const tensor> in) {
  const tensor last = run_bound(bind(*mapping_of(at.op), at, in), in)[0];
  return {moveaxis(last, -1, integer_of(at, "axis", -1))};
}

// ------------------------------------------------------------------------------------------ random numbers

namespace {

// The graph's seed, or a new one for each call where it has none, as TensorFlow says.
std::int64_t seed_of(const node& at) {
  static std::atomic<std::int64_t> calls{0};
  const std::int64_t seed = integer_of(at, "seed", 0), second = integer_of(at, "seed2", 0);
  if (seed == 0 && second == 0) return ++calls;
  return (seed & 0x7fffffff) ^ (second & 0x7fffffff) << 31;
}

dtype dtype_of_draws(const node& at) {
  const attribute* said = at.attr("dtype");
  return said != nullptr && said->holds == attribute::kind::type ? said->type : dtype::float32;
}

shape drawn_shape(const node& at, std::span<const tensor> in) { return shape(elements_of(input(at, in, 0))); }

// The first element of an input.
std::int64_t first_integer(const node& at, std::span<const tensor> in, std::size_t i) {
  const std::vector<std::int64_t> all = elements_of(input(at, in, i));
  if (all.empty()) fail(at.op, "input " + std::to_string(i) + " without elements", "an integer");
  return all[0];
}

}  // namespace

tensor_list run_uniform(const node& at, std::span<const tensor> in) {
  return {random_uniform(drawn_shape(at, in), number_of(at, "minval", 0), number_of(at, "maxval", 1), seed_of(at),
                         dtype_of_draws(at))};
}

tensor_list run_uniform_int(const node& at, std::span<const tensor> in) {
  const auto bound = [&](std::size_t i, std::string_view name) {
    return i < in.size() ? first_integer(at, in, i) : integer_of(at, name, 0);
  };
  return {random_uniform_int(drawn_shape(at, in), bound(1, "minval"), bound(2, "maxval"), seed_of(at))};
}

tensor_list run_normal(const node& at, std::span<const tensor> in) {
  return {random_normal(drawn_shape(at, in), 0, 1, seed_of(at), dtype_of_draws(at))};
}

tensor_list run_truncated_normal(const node& at, std::span<const tensor> in) {
  return {truncated_normal(drawn_shape(at, in), number_of(at, "means", 0), number_of(at, "stddev", 1), seed_of(at),
                           dtype_of_draws(at))};
}

tensor_list run_multinomial(const node& at, std::span<const tensor> in) {
  return {
      call<"Multinomial">(input(at, in, 0), attr<"numSamples">(first_integer(at, in, 1)), attr<"seed">(seed_of(at)))};
}

}  // namespace kerngrad::graph::detail
