// SPDX-License-Identifier: Apache-2.0
// The attributes of the built-in ops, a list for each kind of row. Shape rules and launchers read them by their indices
// in these lists, which the compiler finds.
module;
#include "kernels/common/abi.h"
#include "kernels/fused/fused.h"
export module kerngrad:attributes;

import :std;
import :core;
import :op;

namespace kerngrad::attributes {

/// An attribute for an axis, counted from the front or from the back.
consteval attr_spec axis_attr(std::string_view name, std::string_view doc, double fallback = 0) {
  return {.name = name, .kind = attr_kind::integer, .doc = doc, .fallback = fallback, .least = -8, .most = 7};
}
/// An attribute for axes: one, a list, or all if the attribute is omitted.
consteval attr_spec axes_attr(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::list, .doc = doc, .least = -8, .most = 7, .scalar_or_list = true};
}
/// An attribute for pixels: one number for height and width, or both.
consteval attr_spec pixels_attr(std::string_view name, std::string_view doc) {
  return {.name = name,
          .kind = attr_kind::list,
          .doc = doc,
          .fallback = 1,
          .least = 1,
          .most = 1e9,
          .scalar_or_list = true};
}
consteval attr_spec boolean_attr(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::boolean, .doc = doc};
}
consteval attr_spec number_attr(std::string_view name, std::string_view doc, double fallback) {
  return {.name = name, .kind = attr_kind::number, .doc = doc, .fallback = fallback};
}
consteval attr_spec required(attr_spec spec) {
  spec.required = true;
  return spec;
}
consteval attr_spec required_number(std::string_view name, std::string_view doc) {
  return required(number_attr(name, doc, 0));
}
consteval attr_spec required_list(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::list, .doc = doc, .required = true};
}
consteval attr_spec dtype_attr(dtype fallback = dtype::float32) {
  return {.name = "dtype",
          .kind = attr_kind::dtype,
          .doc = "dtype of the result",
          .fallback = static_cast<double>(fallback)};
}
consteval attr_spec choice_attr(std::string_view name, std::string_view doc, std::string_view choices) {
  return {.name = name, .kind = attr_kind::text, .doc = doc, .choices = choices};
}

/// True if the longer list begins with the shorter one, so that code that reads the shorter reads the longer.
consteval bool begins_with(std::span<const attr_spec> all, std::span<const attr_spec> first) {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (all.size() <= i || all[i].name != first[i].name) return false;
  return true;
}

// ------------------------------------------------------------------------------------------ elementwise

inline constexpr attr_spec leaky[] = {number_attr("alpha", "factor for x < 0", 0.2)};
inline constexpr attr_spec step[] = {number_attr("alpha", "value for x <= 0", 0)};
inline constexpr attr_spec clip[] = {required_number("clipValueMin", "lower bound, kept in double precision"),
                                     required_number("clipValueMax", "upper bound, at least the lower one")};
inline constexpr attr_spec cast[] = {
    {.name = "dtype", .kind = attr_kind::dtype, .doc = "the dtype of the result", .required = true}};

// ------------------------------------------------------------------------------------------ reductions, products

inline constexpr attr_spec keep_dims = boolean_attr("keepDims", "keep the reduced axes with size 1");
inline constexpr attr_spec reduce[] = {axes_attr("axis", "axes to reduce, all when omitted"), keep_dims};
inline constexpr attr_spec reduce_max[] = {axes_attr("reductionIndices", "axes to reduce, all when omitted"),
                                           keep_dims};
inline constexpr attr_spec arg_reduce[] = {axis_attr("axis", "axis to reduce")};
inline constexpr attr_spec along_axis[] = {axis_attr("axis", "axis of the classes", -1)};
inline constexpr attr_spec along_dim[] = {axis_attr("dim", "axis of the classes", -1)};
inline constexpr attr_spec scan[] = {axis_attr("axis", "axis to walk along"),
                                     boolean_attr("exclusive", "exclude the element itself"),
                                     boolean_attr("reverse", "walk from the end")};
inline constexpr attr_spec matmul[] = {boolean_attr("transposeA", "swap the last two axes of a"),
                                       boolean_attr("transposeB", "swap the last two axes of b")};
inline constexpr attr_spec einsum[] = {
    {.name = "equation",
     .kind = attr_kind::text,
     .doc = "a letter for each axis of each operand, as in \"bij,bjk->bik\"; \"...\" for axes that broadcast",
     .required = true}};

// ------------------------------------------------------------------------------------------ windows

// Attributes of every window op, in the order of the options structs.
inline constexpr attr_spec strides = pixels_attr("strides", "steps of the window in pixels, height and width");
inline constexpr attr_spec pad_pixels{.name = "pad",
                                      .kind = attr_kind::list,
                                      .doc = "\"valid\", \"same\", pixels on every side, or a pair for each axis",
                                      .required = true,
                                      .choices = "valid|same",
                                      .least = 0,
                                      .most = 1e9,
                                      .scalar_or_list = true};
inline constexpr attr_spec format = choice_attr("dataFormat", "order of the image's axes", "NHWC|NCHW");
inline constexpr attr_spec dilations = pixels_attr("dilations", "distances of the filter's elements in pixels");
inline constexpr attr_spec rounding =
    choice_attr("dimRoundingMode", "rounding of output sizes under explicit padding", "floor|round|ceil");

inline constexpr attr_spec conv[] = {strides, pad_pixels, format, dilations, rounding};
inline constexpr attr_spec conv_input[] = {strides,   pad_pixels, format,
                                           dilations, rounding,   required_list("inputShape", "shape of the image")};
inline constexpr attr_spec conv_filter[] = {strides,   pad_pixels, format,
                                            dilations, rounding,   required_list("filterShape", "shape of the filter")};
inline constexpr attr_spec pool[] = {required(pixels_attr("filterSize", "size of the window in pixels")), strides,
                                     pad_pixels, rounding};
inline constexpr attr_spec pool_argmax[] = {
    pool[0], strides, pad_pixels, rounding,
    boolean_attr("includeBatchInIndex", "positions count the elements of all images, not of each")};
static_assert(begins_with(pool_argmax, pool));
inline constexpr attr_spec dilation[] = {strides, pad_pixels, dilations, rounding};

// ------------------------------------------------------------------------------------------ volumes

inline constexpr attr_spec volume_strides = pixels_attr("strides", "steps of the window in depth, height and width");
inline constexpr attr_spec volume_format = choice_attr("dataFormat", "order of the volume's axes", "NDHWC|NCDHW");

inline constexpr attr_spec volume_conv[] = {volume_strides, pad_pixels, volume_format, dilations, rounding};
inline constexpr attr_spec volume_conv_input[] = {
    volume_strides, pad_pixels, volume_format, dilations, rounding, required_list("inputShape", "shape of the volume")};
inline constexpr attr_spec volume_conv_filter[] = {volume_strides, pad_pixels,
                                                   volume_format,  dilations,
                                                   rounding,       required_list("filterShape", "shape of the filter")};
inline constexpr attr_spec volume_pool[] = {required(pixels_attr("filterSize", "size of the window on each axis")),
                                            volume_strides, pad_pixels, volume_format, rounding};
static_assert(begins_with(volume_conv_input, volume_conv) && begins_with(volume_conv_filter, volume_conv));

// ------------------------------------------------------------------------------------------ fused layers

inline constexpr attr_spec activation = choice_attr("activation", "what is done to the sum of product and bias",
                                                    std::string_view(kernels::activation_texts).substr(1));
inline constexpr attr_spec leaky_slope = number_attr("leakyreluAlpha", "factor of leakyrelu below 0", 0.2);
inline constexpr attr_spec fused_matmul[] = {matmul[0], matmul[1], activation, leaky_slope};
inline constexpr attr_spec fused_conv[] = {strides, pad_pixels, format, dilations, rounding, activation, leaky_slope};

static_assert(begins_with(conv_input, conv) && begins_with(conv_filter, conv) && begins_with(fused_conv, conv) &&
              begins_with(fused_matmul, matmul));

// ------------------------------------------------------------------------------------------ normalization

/// An attribute that is added to a variance, so that nothing is divided by 0.
consteval attr_spec epsilon_attr(std::string_view name) {
  return {.name = name,
          .kind = attr_kind::number,
          .doc = "added to the variance, not negative",
          .fallback = 0.001,
          .least = 0};
}
inline constexpr attr_spec batch_norm[] = {epsilon_attr("varianceEpsilon")};
inline constexpr attr_spec layer_norm[] = {epsilon_attr("epsilon")};
inline constexpr attr_spec response_norm[] = {{.name = "depthRadius",
                                               .kind = attr_kind::integer,
                                               .doc = "channels on either side whose squares are added up",
                                               .fallback = 5,
                                               .least = 0,
                                               .most = 1e9},
                                              number_attr("bias", "added to the weighted sum of squares", 1),
                                              number_attr("alpha", "weight of the sum of squares", 1),
                                              number_attr("beta", "exponent that the sum divides by", 0.5)};

// ------------------------------------------------------------------------------------------ movement

inline constexpr attr_spec shape_of_result[] = {required_list("shape", "sizes of the axes")};
inline constexpr attr_spec reshape[] = {required_list("shape", "sizes of the axes; one may be -1")};
inline constexpr attr_spec expand_dims[] = {axis_attr("dim", "where the new axis goes")};
inline constexpr attr_spec transpose[] = {
    {.name = "perm", .kind = attr_kind::list, .doc = "the old axis of each new one; reversed when omitted"}};
inline constexpr attr_spec slice[] = {{.name = "begin",
                                       .kind = attr_kind::list,
                                       .doc = "first index on each axis",
                                       .required = true,
                                       .least = 0,
                                       .most = 1e18,
                                       .scalar_or_list = true},
                                      {.name = "size",
                                       .kind = attr_kind::list,
                                       .doc = "number of indices, -1 to the end",
                                       .fallback = -1,
                                       .least = -1,
                                       .most = 1e18,
                                       .scalar_or_list = true}};
inline constexpr attr_spec join[] = {axis_attr("axis", "axis")};
inline constexpr attr_spec split[] = {{.name = "numOrSizeSplits",
                                       .kind = attr_kind::list,
                                       .doc = "number of equal parts, or their sizes",
                                       .required = true,
                                       .least = -1,
                                       .most = 1e18,
                                       .scalar_or_list = true},
                                      axis_attr("axis", "axis")};
inline constexpr attr_spec pad[] = {required_list("paddings", "a pair (before, after) for each axis"),
                                    {.name = "constantValue",
                                     .kind = attr_kind::number,
                                     .doc = "value of the new elements, a text around texts",
                                     .or_text = true}};
/// An attribute for indices, which may be far outside of an axis. mask_attr has a bit for each of them.
consteval attr_spec indices_attr(std::string_view name, std::string_view doc, bool is_required) {
  return {.name = name, .kind = attr_kind::list, .doc = doc, .required = is_required, .least = -1e18, .most = 1e18};
}
consteval attr_spec mask_attr(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::integer, .doc = doc, .least = 0, .most = 4294967295};
}
inline constexpr attr_spec strided_slice[] = {
    indices_attr("begin", "first index on each axis, counted from the back where it is negative", true),
    indices_attr("end", "index before which each axis ends", true),
    indices_attr("strides", "step on each axis, not 0; 1 when omitted", false),
    mask_attr("beginMask", "bits of the indices whose axis begins at its start"),
    mask_attr("endMask", "bits of the indices whose axis goes to its end"),
    mask_attr("ellipsisMask", "bit of the index that stands for all axes that no other one names"),
    mask_attr("newAxisMask", "bits of the indices that stand for a new axis of size 1"),
    mask_attr("shrinkAxisMask", "bits of the indices whose axis goes, being of the one index `begin`")};
inline constexpr attr_spec strided_slice_grad[] = {
    strided_slice[0], strided_slice[1], strided_slice[2],
    strided_slice[3], strided_slice[4], strided_slice[5],
    strided_slice[6], strided_slice[7], required_list("inputShape", "shape of x")};
static_assert(begins_with(strided_slice_grad, strided_slice));
inline constexpr attr_spec mirror_pad[] = {
    pad[0], required(choice_attr("mode", "whether the border repeats the outermost elements", "reflect|symmetric"))};
inline constexpr attr_spec repeat_pad[] = {
    pad[0],
    required(choice_attr("mode", "whether the border repeats the outermost elements or the axis", "edge|wrap"))};
inline constexpr attr_spec space_to_batch[] = {
    required_list("blockShape", "sizes of a block on the axes after the batch"),
    required_list("paddings", "a pair (before, after) for each of these axes")};
inline constexpr attr_spec batch_to_space[] = {space_to_batch[0],
                                               required_list("crops", "a pair (before, after) for each of these axes")};
inline constexpr attr_spec depth_to_space[] = {{.name = "blockSize",
                                                .kind = attr_kind::integer,
                                                .doc = "height and width of a block",
                                                .required = true,
                                                .least = 2,
                                                .most = 1e9},
                                               format};
inline constexpr attr_spec scatter_nd[] = {required_list("shape", "shape of the result")};
inline constexpr attr_spec sparse_to_dense[] = {required_list("outputShape", "shape of the result")};
inline constexpr attr_spec tile[] = {required_list("reps", "how often each axis is repeated")};
inline constexpr attr_spec gather[] = {axis_attr("axis", "axis of x that is indexed"),
                                       axis_attr("batchDims", "leading axes walked together")};
inline constexpr attr_spec gather_grad[] = {gather[0], gather[1], required_list("inputShape", "shape of x")};
static_assert(begins_with(gather_grad, gather));
inline constexpr attr_spec segments[] = {{.name = "numSegments",
                                          .kind = attr_kind::integer,
                                          .doc = "size of the result's first axis",
                                          .required = true,
                                          .least = 0,
                                          .most = 1e9}};
inline constexpr attr_spec segment_reduce[] = {
    segments[0], required(choice_attr("reduction", "what becomes of the rows of a segment", "mean|prod|max|min"))};
static_assert(begins_with(segment_reduce, segments));
inline constexpr attr_spec indexed_axis[] = {axis_attr("axis", "axis of x that is indexed", -1)};
inline constexpr attr_spec scatter_reduction =
    required(choice_attr("reduction", "how an update is combined with what is there", "add|mul|max|min"));
inline constexpr attr_spec scatter_along_axis[] = {indexed_axis[0], scatter_reduction};
static_assert(begins_with(scatter_along_axis, indexed_axis));
inline constexpr attr_spec scatter_reduce[] = {scatter_reduction};
inline constexpr attr_spec one_hot[] = {{.name = "depth",
                                         .kind = attr_kind::integer,
                                         .doc = "number of classes",
                                         .required = true,
                                         .least = 0,
                                         .most = 1e9},
                                        number_attr("onValue", "value at the index", 1),
                                        number_attr("offValue", "value elsewhere", 0),
                                        dtype_attr(dtype::int32)};
inline constexpr attr_spec reverse[] = {axes_attr("dims", "axes to reverse, all when omitted")};

// ------------------------------------------------------------------------------------------ images

inline constexpr attr_spec resize[] = {
    required(pixels_attr("size", "height and width of the result in pixels")),
    boolean_attr("alignCorners", "the pixels in the corners of image and result lie on each other"),
    boolean_attr("halfPixelCenters", "a pixel lies at its middle, not at its corner; not with alignCorners")};

inline constexpr attr_spec crop_method = choice_attr("method", "how a crop is sampled", "bilinear|nearest");
inline constexpr attr_spec slopes =
    choice_attr("slopes", "sides along which the derivative per pixel replaces the value", "none|height|width|both");
inline constexpr attr_spec image_shape = required_list("inputShape", "shape of the image");
inline constexpr attr_spec crop[] = {required(pixels_attr("cropSize", "height and width of a crop in pixels")),
                                     crop_method, number_attr("extrapolationValue", "value outside of the image", 0),
                                     slopes};
inline constexpr attr_spec crop_grad[] = {image_shape, crop_method, slopes};

inline constexpr attr_spec interpolation = choice_attr("interpolation", "how the image is sampled", "nearest|bilinear");
inline constexpr attr_spec fill_mode =
    choice_attr("fillMode", "what lies outside: fillValue, the image mirrored or again, or its edge",
                "constant|reflect|wrap|nearest");
inline constexpr attr_spec transform[] = {
    interpolation,
    fill_mode,
    number_attr("fillValue", "value outside of the image, where the mode is constant", 0),
    {.name = "outputShape",
     .kind = attr_kind::list,
     .doc = "height and width of the result in pixels, those of the image when omitted",
     .least = 1,
     .most = 1e9,
     .scalar_or_list = true},
    slopes};
inline constexpr attr_spec transform_grad[] = {image_shape, interpolation, fill_mode, slopes};

// ------------------------------------------------------------------------------------------ order

inline constexpr attr_spec sort[] = {axis_attr("axis", "axis to sort along", -1),
                                     boolean_attr("descending", "the greatest element comes first")};
inline constexpr attr_spec top_k[] = {{.name = "k",
                                       .kind = attr_kind::integer,
                                       .doc = "number of elements, at most the size of the last axis",
                                       .fallback = 1,
                                       .least = 0,
                                       .most = 2147483647},
                                      {.name = "sorted",
                                       .kind = attr_kind::boolean,
                                       .doc = "whether the elements must be in order; they are in both cases",
                                       .fallback = 1}};
inline constexpr attr_spec search_sorted[] = {
    choice_attr("side", "whether a value belongs before or after the elements that equal it", "left|right")};

// ------------------------------------------------------------------------------------------ Fourier transforms

inline constexpr attr_spec fft_norm =
    choice_attr("norm", "what is divided by the length: the inverse, both by its root, or the forward transform",
                "backward|ortho|forward");
inline constexpr attr_spec fft[] = {fft_norm};
/// An attribute for the number of points of real transforms.
consteval attr_spec fft_length_attr(std::string_view doc) {
  return {.name = "fftLength", .kind = attr_kind::integer, .doc = doc, .least = 0, .most = 1e9};
}
inline constexpr attr_spec rfft[] = {
    fft_length_attr("points of a transform, of the first ones or with zeros behind; 0 for the size of the last axis"),
    fft_norm};
inline constexpr attr_spec irfft[] = {
    fft_length_attr("points of a transform; 0 for twice the bins less 2, and 1 for one bin"), fft_norm};
/// An attribute for one number or several.
consteval attr_spec number_or_numbers_attr(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::numbers, .doc = doc, .scalar_or_list = true};
}
inline constexpr attr_spec rotate[] = {
    required_number("radians", "angle by which the image is turned counterclockwise, finite"),
    number_or_numbers_attr(
        "fillValue",
        "value outside of the image, or one for each channel; of three with four channels the last is 255; 0 "
        "when omitted"),
    number_or_numbers_attr(
        "center", "where the image is turned about, in widths and heights: one number or two; 0.5 when omitted")};
inline constexpr attr_spec rotate_grad[] = {rotate[0], rotate[2]};

inline constexpr attr_spec suppress[] = {
    {.name = "maxOutputSize",
     .kind = attr_kind::integer,
     .doc = "how many boxes are taken at most",
     .required = true,
     .least = 0,
     .most = 2147483647},
    {.name = "iouThreshold",
     .kind = attr_kind::number,
     .doc = "intersection by union with a box taken before from which on a box is dropped",
     .fallback = 0.5,
     .least = 0,
     .most = 1},
    {.name = "scoreThreshold",
     .kind = attr_kind::number,
     .doc = "scores up to this one are not taken",
     .fallback = -std::numeric_limits<double>::infinity(),
     .least = -std::numeric_limits<double>::infinity(),
     .most = std::numeric_limits<double>::infinity()}};
inline constexpr attr_spec suppress_padded[] = {
    suppress[0], suppress[1], suppress[2],
    boolean_attr("padToMaxOutputSize", "the result has maxOutputSize elements, 0 behind the boxes taken")};
inline constexpr attr_spec suppress_scored[] = {
    suppress[0],
    suppress[1],
    suppress[2],
    {.name = "softNmsSigma",
     .kind = attr_kind::number,
     .doc = "above 0, overlaps o below iouThreshold multiply scores with exp(-o^2 / (2 softNmsSigma))",
     .fallback = 0,
     .least = 0}};
static_assert(begins_with(suppress_padded, suppress) && begins_with(suppress_scored, suppress));

// ------------------------------------------------------------------------------------------ bags, ragged tensors

inline constexpr attr_spec embedding_bag[] = {
    choice_attr("mode", "what becomes of the rows of a bag: their mean, sum or greatest elements", "mean|sum|max")};

inline constexpr attr_spec ragged_gather[] = {{.name = "outputRaggedRank",
                                               .kind = attr_kind::integer,
                                               .doc = "how many splits the result has: those of the operand, and the "
                                                      "rank of indices less 1",
                                               .required = true,
                                               .least = 0,
                                               .most = 65535}};
inline constexpr attr_spec ragged_to_tensor[] = {
    {.name = "rowPartitionTypes",
     .kind = attr_kind::text,
     .doc =
         "what each partition is: ROW_SPLITS, VALUE_ROWIDS, for the first one FIRST_DIM_SIZE; joined by | or a comma",
     .required = true}};

// ------------------------------------------------------------------------------------------ counts

inline constexpr attr_spec bincount[] = {{.name = "size",
                                          .kind = attr_kind::integer,
                                          .doc = "number of bins; elements of x from there on are dropped",
                                          .required = true,
                                          .least = 0,
                                          .most = 1e9}};
inline constexpr attr_spec dense_bincount[] = {
    bincount[0], boolean_attr("binaryOutput", "1 where x has the bin's element and 0 elsewhere, whatever the weights")};
static_assert(begins_with(dense_bincount, bincount));
inline constexpr attr_spec unique[] = {
    axis_attr("axis", "axis whose slices are compared"),
    boolean_attr("sorted", "in ascending order, else in the order in which they come first")};

// ------------------------------------------------------------------------------------------ texts

consteval attr_spec required_text(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = attr_kind::text, .doc = doc, .required = true};
}
inline constexpr attr_spec string_split[] = {
    {.name = "skipEmpty", .kind = attr_kind::boolean, .doc = "pieces without bytes are left out", .fallback = 1}};
inline constexpr attr_spec string_ngrams[] = {
    required_text("separator", "what stands between the texts of an n-gram"),
    {.name = "nGramWidths",
     .kind = attr_kind::list,
     .doc = "how many texts, pads among them, an n-gram has",
     .required = true,
     .least = 1,
     .most = 2147483647},
    required_text("leftPad", "a pad before the row"),
    required_text("rightPad", "a pad behind the row"),
    {.name = "padWidth",
     .kind = attr_kind::integer,
     .doc = "pads on either side, at most one less than the width; -1 for that many",
     .least = -1,
     .most = 2147483647},
    boolean_attr("preserveShortSequences", "a row with texts but without n-grams is one, with its pads")};
inline constexpr attr_spec hash_buckets[] = {{.name = "numBuckets",
                                              .kind = attr_kind::integer,
                                              .doc = "number of buckets",
                                              .required = true,
                                              .least = 1,
                                              .most = 2147483648}};

// ------------------------------------------------------------------------------------------ creation

inline constexpr attr_spec fill[] = {shape_of_result[0],
                                     {.name = "value",
                                      .kind = attr_kind::number,
                                      .doc = "value of every element, a text where dtype is text",
                                      .required = true,
                                      .or_text = true},
                                     dtype_attr()};
inline constexpr attr_spec range[] = {
    required_number("start", "first element"), required_number("stop", "exclusive bound"),
    number_attr("step", "distance; 1 counts down when stop < start", 1), dtype_attr()};
inline constexpr attr_spec linspace[] = {required_number("start", "first element"),
                                         required_number("stop", "last element"),
                                         {.name = "num",
                                          .kind = attr_kind::integer,
                                          .doc = "number of elements",
                                          .required = true,
                                          .least = 0,
                                          .most = 1e15},
                                         dtype_attr()};
inline constexpr attr_spec seed{.name = "seed", .kind = attr_kind::integer, .doc = "chooses the stream"};
inline constexpr attr_spec uniform[] = {
    shape_of_result[0], number_attr("low", "lower bound, included, at most high", 0),
    number_attr("high", "exclusive upper bound, unless it is low", 1), seed, dtype_attr()};
inline constexpr attr_spec normal[] = {
    shape_of_result[0],
    number_attr("mean", "mean", 0),
    {.name = "stddev", .kind = attr_kind::number, .doc = "standard deviation, not negative", .fallback = 1, .least = 0},
    seed,
    dtype_attr()};
inline constexpr attr_spec multinomial[] = {{.name = "numSamples",
                                             .kind = attr_kind::integer,
                                             .doc = "samples of each distribution",
                                             .required = true,
                                             .least = 0,
                                             .most = 1e9},
                                            number_attr("seed", "chooses the stream; any number", 0),
                                            boolean_attr("normalized", "the operand is weights, not their logarithms")};

}  // namespace kerngrad::attributes
