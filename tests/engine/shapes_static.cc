// SPDX-License-Identifier: Apache-2.0
// Facts that the compiler knows: shapes, dtypes, rows and look-ups as static assertions. Building is passing; the test
// below only says so.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

import kerngrad;

namespace {

using kg::dtype;
using kg::shape;

// ------------------------------------------------------------------------------------------ shapes and dtypes

static_assert(shape{}.size() == 1 && shape{}.rank() == 0);
static_assert(shape{2, 3, 4}.size() == 24 && shape{2, 0, 4}.size() == 0 && shape{2, 3}[1] == 3);
static_assert(shape{2, 3} == shape{2, 3} && !(shape{2, 3} == shape{3, 2}) && !(shape{2} == shape{2, 1}));
static_assert(kg::broadcast(shape{2, 1, 3}, shape{4, 1}) == shape{2, 4, 3});
static_assert(kg::broadcast(shape{}, shape{5}) == shape{5} && kg::broadcast(shape{0, 3}, shape{1}) == shape{0, 3});
static_assert(!kg::broadcast(shape{2, 3}, shape{2}) && !kg::broadcast(shape{0}, shape{2}));

static_assert(kg::promote(dtype::int32, dtype::float32) == dtype::float32);
static_assert(kg::promote(dtype::int64, dtype::float32) == dtype::float32);
static_assert(kg::promote(dtype::uint8, dtype::boolean) == dtype::uint8);
static_assert(kg::promote(dtype::float64, dtype::complex64) == dtype::complex128);
static_assert(kg::promote(dtype::complex64, dtype::complex128) == dtype::complex128);
static_assert(kg::promote(dtype::int64, dtype::float16) == dtype::float16);
static_assert(kg::promote(dtype::float16, dtype::bfloat16) == dtype::float32);
static_assert(kg::promote(dtype::uint8, dtype::int8) == dtype::int16 &&
              kg::promote(dtype::uint16, dtype::int8) == dtype::int32 &&
              kg::promote(dtype::uint32, dtype::int32) == dtype::int64 &&
              kg::promote(dtype::uint8, dtype::uint32) == dtype::uint32 &&
              kg::promote(dtype::int16, dtype::bfloat16) == dtype::bfloat16);
// The least upper bound: one of the two, but for the halves, which meet in float32, float64 with complex64, which meet
// in complex128, and integers with and without a sign, which meet in a wider one.
constexpr bool promotion_is_a_supremum() {
  for (int a = 0; a < kg::dtype_count; ++a)
    for (int b = 0; b < kg::dtype_count; ++b) {
      const dtype x = static_cast<dtype>(a), y = static_cast<dtype>(b);
      const bool both_halves = kg::halves.has(x) && kg::halves.has(y);
      const bool wide = kg::promote(x, y) == dtype::complex128;
      if (kg::promote(x, y) != kg::promote(y, x) || kg::promote(x, x) != x) return false;
      const bool both_whole = kg::integral.has(x) && kg::integral.has(y);
      const bool signs_differ = both_whole && kg::is_signed_integer(x) != kg::is_signed_integer(y);
      if (!both_halves && !wide && !signs_differ && kg::promote(x, y) != x && kg::promote(x, y) != y) return false;
      for (int c = 0; c < kg::dtype_count; ++c)
        if (kg::promote(kg::promote(x, y), static_cast<dtype>(c)) !=
            kg::promote(x, kg::promote(y, static_cast<dtype>(c))))
          return false;
    }
  return true;
}
static_assert(promotion_is_a_supremum());

constexpr bool names_of_dtypes_are_their_own_inverse() {
  for (int t = 0; t < kg::dtype_count; ++t)
    if (kg::dtype_named(kg::name_of(static_cast<dtype>(t))) != static_cast<dtype>(t)) return false;
  return !kg::dtype_named("float") && !kg::dtype_named("");
}
static_assert(names_of_dtypes_are_their_own_inverse());
static_assert(kg::size_of(dtype::complex64) == 8 && kg::size_of(dtype::boolean) == 1 &&
              kg::size_of(dtype::bfloat16) == 2);
static_assert(kg::floating.has(dtype::float64) && !kg::floating.has(dtype::complex64) &&
              kg::differentiable.has(dtype::complex64));
static_assert(kg::floating.has(dtype::float16) && kg::differentiable.has(dtype::bfloat16) &&
              kg::any_dtype.has(dtype::complex128) && kg::differentiable.has(dtype::complex128) &&
              !kg::differentiable.has(dtype::int32) && !kg::differentiable.has(dtype::text));
static_assert(kg::computed_in(dtype::float16, kg::wide_floats) == dtype::float32 &&
              kg::computed_in(dtype::float16, kg::halves) == dtype::float16 &&
              kg::computed_in(dtype::float64, kg::halves) == dtype::float64 &&
              kg::computed_in(dtype::uint16, kg::floating) == dtype::int32 &&
              kg::computed_in(dtype::uint32, kg::floating) == dtype::int64 &&
              kg::computed_in(dtype::uint32, kg::integral) == dtype::uint32);

// ------------------------------------------------------------------------------------------ halves

static_assert(kg::float16(1.0f).bits == 0x3c00 && kg::float16(-2).bits == 0xc000 && kg::bfloat16(1.0).bits == 0x3f80);
static_assert(kg::float16(0x1.002p0).bits == 0x3c00 && kg::float16(0x1.006p0).bits == 0x3c02, "ties go to the even");
static_assert(kg::float16(0x1.0020000000001p0).bits == 0x3c01, "one rounding, of the double");
static_assert(kg::float16(65519.999).bits == 0x7bff && kg::float16(65520).bits == 0x7c00);
static_assert(kg::float16(0x1p-24).bits == 1 && kg::float16(0x1p-25).bits == 0 &&
              kg::float16(-0x1.8p-25).bits == 0x8001);
static_assert(static_cast<double>(kg::float16(0.1)) == 0x1.998p-4 && static_cast<int>(kg::bfloat16(3.5)) == 3);
static_assert(kg::bfloat16((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1) == kg::bfloat16(0x1.02p62),
              "one rounding, of the integer");
static_assert(kg::float16(0.0) == kg::float16(-0.0) && !(kg::float16(1e9) == kg::float16(-1e9)));
static_assert(kg::visit(dtype::float16, [](auto is) { return sizeof(typename decltype(is)::element); }) == 2);
static_assert(kg::element<float> && kg::element<const bool> && !kg::element<char*> && !kg::element<long double>);

// ------------------------------------------------------------------------------------------ attributes

static_assert(kg::attr_value(3).kind() == kg::attr_kind::integer && kg::attr_value(3).as_number() == 3.0);
static_assert(kg::attr_value(2.5f).as_number() == 2.5 && kg::attr_value(true).as_bool());
static_assert(kg::attr_value("same").as_text() == "same" && kg::attr_value({1, 2, 3}).as_list().size() == 3);
static_assert(kg::attr_value(dtype::int64).as_dtype() == dtype::int64 && !kg::attr_value().given());

// ------------------------------------------------------------------------------------------ rows

constexpr const kg::op_row& row(std::string_view name) {
  return kg::op_table[static_cast<std::size_t>(kg::find_op(name))];
}

// The result's shape of an op on float32 operands, by the rule that run time uses.
template <std::size_t N, std::size_t A = 8>
constexpr shape inferred(std::string_view name, const shape (&dims)[N], std::array<kg::attr_value, A> attrs = {}) {
  const kg::op_row& r = row(name);
  std::array<kg::view, N> in{};
  for (std::size_t i = 0; i < N; ++i) in[i] = {nullptr, dims[i], dtype::float32};
  for (std::size_t i = 0; i < r.attrs.size(); ++i)
    if (!attrs[i].given()) attrs[i] = kg::default_of(r.attrs[i]);
  kg::inference call{
      r, in, {attrs.data(), r.attrs.size()}, dtype::float32, kg::result_of(dtype::float32, r.types.after)};
  r.infer(call);
  return call.out[0].dims;
}
static_assert(inferred("Add", {shape{2, 1}, shape{3}}) == shape{2, 3});
static_assert(inferred("Sum", {shape{2, 3, 4}}) == shape{});
static_assert(inferred("Sum", {shape{2, 3, 4}}, {kg::attr_value({0, -1})}) == shape{3});
static_assert(inferred("Sum", {shape{2, 3, 4}}, {kg::attr_value(1), kg::attr_value(true)}) == shape{2, 1, 4});
static_assert(inferred("BatchMatMul", {shape{5, 1, 2, 3}, shape{4, 3, 7}}) == shape{5, 4, 2, 7});
static_assert(inferred("Einsum", {shape{5, 2, 3}, shape{3, 7}}, {kg::attr_value("b i j , jk->kbi")}) == shape{7, 5, 2});
static_assert(inferred("Einsum", {shape{5, 1, 2, 3}, shape{4, 3, 2}}, {kg::attr_value("...ij,...jk")}) ==
              shape{5, 4, 2, 2});
static_assert(inferred("Einsum", {shape{3, 3}}, {kg::attr_value("ii")}) == shape{});
static_assert(inferred("Conv2D", {shape{1, 28, 28, 1}, shape{3, 3, 1, 32}},
                       {kg::attr_value(1), kg::attr_value("same")}) == shape{1, 28, 28, 32});
static_assert(inferred("Conv2D", {shape{1, 28, 28, 1}, shape{3, 3, 1, 32}},
                       {kg::attr_value(2), kg::attr_value("valid")}) == shape{1, 13, 13, 32});
static_assert(inferred("MaxPool", {shape{1, 5, 5, 2}},
                       {kg::attr_value(2), kg::attr_value(2), kg::attr_value("same")}) == shape{1, 3, 3, 2});
static_assert(inferred("Transpose", {shape{2, 3, 4}}) == shape{4, 3, 2});
static_assert(inferred("Reshape", {shape{2, 6}}, {kg::attr_value({3, -1})}) == shape{3, 4});
static_assert(inferred("Concat", {shape{2, 3}, shape{5, 3}}) == shape{7, 3});
static_assert(inferred("GatherV2", {shape{4, 5}, shape{2, 2}}, {kg::attr_value(1)}) == shape{4, 2, 2});

// A call of an op by its rule; attributes that are not given have their defaults.
struct called {
  std::string_view name;
  std::vector<shape> operands{};
  std::vector<kg::attr_value> attrs{};
};
// True if the rule runs: while the compiler runs it, an attribute is compared with the row's at its place.
constexpr bool reads_its_attributes(const called& c) {
  const kg::op_row& r = row(c.name);
  std::vector<kg::view> in;
  for (const shape& dims : c.operands) in.push_back({nullptr, dims, dtype::float32});
  std::vector<kg::attr_value> attrs = c.attrs;
  for (std::size_t i = attrs.size(); i < r.attrs.size(); ++i) attrs.push_back(kg::default_of(r.attrs[i]));
  kg::inference call{r, in, attrs, dtype::float32, dtype::float32};
  r.infer(call);
  return call.out.size() > 0;
}
// Every op that has attributes, but elementwise ones with numbers, which are read in their order, and those whose rules
// read elements, of which the compiler has none.
constexpr bool every_rule_reads_the_attributes_of_its_row() {
  const shape m{4, 6}, image{1, 5, 5, 2}, filter{2, 2, 2, 3}, result{1, 4, 4, 3}, each{2, 2, 2, 1}, pooled{1, 4, 4, 2},
      flat{2, 2, 2}, volume{1, 4, 4, 4, 2}, kernel{2, 2, 2, 2, 2};
  const kg::attr_value valid("valid"), f32(dtype::float32);
  const called all[] = {
      {"ClipByValue", {m}, {0.0, 1.0}},
      {"Cast", {m}, {f32}},
      {"Sum", {m}},
      {"Mean", {m}},
      {"Prod", {m}},
      {"Max", {m}},
      {"Min", {m}},
      {"NanMax", {m}},
      {"NanMin", {m}},
      {"All", {m}},
      {"Any", {m}},
      {"ArgMax", {m}},
      {"ArgMin", {m}},
      {"Cumsum", {m}},
      {"Cumprod", {m}},
      {"CumMax", {m}},
      {"CumMin", {m}},
      {"Softmax", {m}},
      {"LogSoftmax", {m}},
      {"LogSumExp", {m}},
      {"BatchMatMul", {m, {6, 2}}},
      {"Einsum", {m, {6, 2}}, {"ij,jk->ki"}},
      {"_FusedMatMul", {m, {6, 2}}},
      {"Conv2D", {image, filter}, {1, valid}},
      {"Conv2DBackpropInput", {result, filter}, {1, valid, "NHWC", 1, "floor", {1, 5, 5, 2}}},
      {"Conv2DBackpropFilter", {image, result}, {1, valid, "NHWC", 1, "floor", {2, 2, 2, 3}}},
      {"DepthwiseConv2dNative", {image, each}, {1, valid}},
      {"DepthwiseConv2dNativeBackpropInput", {pooled, each}, {1, valid, "NHWC", 1, "floor", {1, 5, 5, 2}}},
      {"DepthwiseConv2dNativeBackpropFilter", {image, pooled}, {1, valid, "NHWC", 1, "floor", {2, 2, 2, 1}}},
      {"FusedConv2D", {image, filter}, {1, valid}},
      {"FusedDepthwiseConv2D", {image, each}, {1, valid}},
      {"MaxPool", {image}, {2, 1, valid}},
      {"AvgPool", {image}, {2, 1, valid}},
      {"MaxPoolGrad", {pooled, image, pooled}, {2, 1, valid}},
      {"AvgPoolGrad", {pooled, image}, {2, 1, valid}},
      {"MaxPoolGather", {image, image}, {2, 1, valid}},
      {"MaxPoolWithArgmax", {image}, {2, 1, valid}},
      {"Conv3D", {volume, kernel}, {1, valid}},
      {"Conv3DBackpropInputV2", {volume, kernel}, {1, "same", "NDHWC", 1, "floor", {1, 4, 4, 4, 2}}},
      {"Conv3DBackpropFilterV2", {volume, volume}, {1, "same", "NDHWC", 1, "floor", {2, 2, 2, 2, 2}}},
      {"MaxPool3D", {volume}, {2, 1, valid}},
      {"AvgPool3D", {volume}, {2, 1, valid}},
      {"MaxPool3DGrad", {volume, volume, volume}, {2, 1, "same"}},
      {"AvgPool3DGrad", {volume, volume}, {2, 1, "same"}},
      {"MaxPool3DGather", {volume, volume}, {2, 1, valid}},
      {"Dilation2D", {image, flat}, {1, valid}},
      {"Dilation2DBackpropInput", {image, flat, pooled}, {1, valid}},
      {"Dilation2DBackpropFilter", {image, flat, pooled}, {1, valid}},
      {"Dilation2DGatherInput", {image, image, flat}, {1, valid}},
      {"Dilation2DGatherFilter", {flat, image, flat}, {1, valid}},
      {"Reshape", {m}, {{8, 3}}},
      {"ExpandDims", {m}},
      {"Transpose", {m}},
      {"Slice", {m}, {{1, 2}}},
      {"Concat", {m, m}},
      {"Pack", {m, m}},
      {"Unpack", {m}},
      {"SplitV", {m}, {2}},
      {"PadV2", {m}, {{1, 1, 0, 2}}},
      {"Tile", {m}, {{2, 1}}},
      {"BroadcastTo", {m}, {{3, 4, 6}}},
      {"GatherV2", {m, {2}}},
      {"GatherGrad", {{2, 6}, {2}}, {0, 0, {4, 6}}},
      {"UnsortedSegmentSum", {m, {4}}, {3}},
      {"UnsortedSegmentReduce", {m, {4}}, {3, "max"}},
      {"TakeAlongAxis", {m, {1, 3}}},
      {"PutAlongAxis", {m, {4, 2}, {2}}},
      {"ScatterAlongAxis", {m, {2, 6}, {2, 6}}, {0, "add"}},
      {"TensorScatterReduce", {m, {2, 1}, {2, 6}}, {"add"}},
      {"OneHot", {m}, {3}},
      {"Reverse", {m}},
      {"Fill", {}, {{2, 3}, 1.0, f32}},
      {"Range", {}, {0, 5, 1, f32}},
      {"LinSpace", {}, {0, 1, 5, f32}},
      {"RandomUniform", {}, {{2, 3}, 0, 1, 7, f32}},
      {"RandomNormal", {}, {{2, 3}, 0, 1, 7, f32}},
      {"Multinomial", {m}, {5, 3.5, true}},
      {"StridedSlice", {m}, {{0, 1}, {4, 5}, {1, 2}}},
      {"StridedSliceGrad", {{4, 2}}, {{0, 1}, {4, 5}, {1, 2}, 0, 0, 0, 0, 0, {4, 6}}},
      {"MirrorPad", {m}, {{1, 1, 0, 2}, "reflect"}},
      {"RepeatPad", {m}, {{9, 1, 0, 2}, "wrap"}},
      {"SpaceToBatchND", {image}, {{5, 1}, {0, 0, 0, 0}}},
      {"BatchToSpaceND", {{4, 2, 2}}, {{2}, {0, 1}}},
      {"DepthToSpace", {{1, 2, 2, 4}}, {2}},
      {"ScatterNd", {{2, 1}, {2, 6}}, {{4, 6}}},
      {"SparseToDense", {{2}, {2}, {}}, {{5}}},
      {"FusedBatchNorm", {m, {6}, {6}}},
      {"LayerNorm", {m}},
      {"LRN", {image}},
      {"LRNGrad", {image, image, image}},
      {"ResizeBilinear", {image}, {{4, 4}}},
      {"ResizeNearestNeighbor", {image}, {{4, 4}}},
      {"ResizeBilinearGrad", {pooled, image}, {{4, 4}}},
      {"ResizeNearestNeighborGrad", {pooled, image}, {{4, 4}}},
      {"CropAndResize", {image, {3, 4}, {3}}, {{2, 2}}},
      {"CropAndResizeGrad", {pooled, {1, 4}, {1}}, {{1, 5, 5, 2}}},
      {"Transform", {image, {1, 8}}},
      {"TransformGrad", {pooled, {1, 8}}, {{1, 5, 5, 2}}},
      {"Sort", {m}},
      {"ArgSort", {m}},
      {"TopK", {m}},
      {"SearchSorted", {{5}, m}},
      {"FFT", {m}, {"ortho"}},
      {"IFFT", {m}, {"forward"}},
      {"RFFT", {m}, {8, "ortho"}},
      {"IRFFT", {m}, {8, "forward"}},
      {"RotateWithOffset", {image}, {0.5}},
      {"RotateWithOffsetGrad", {image}, {0.5}},
      {"NonMaxSuppressionV3", {{3, 4}, {3}}, {2}},
      {"NonMaxSuppressionV4", {{3, 4}, {3}}, {2}},
      {"NonMaxSuppressionV5", {{3, 4}, {3}}, {2}},
      {"Bincount", {m, m}, {3}},
      {"DenseBincount", {m, m}, {3}},
      {"Unique", {m}},
      {"ScaledDotProductAttention", {m, {5, 6}, {5, 3}}, {false, 1.0}},
      {"ScaledDotProductAttentionGrad", {m, {5, 6}, {5, 3}, {4}, {4}, {4, 3}}, {false, 1.0}},
  };
  for (const kg::op_row& r : kg::op_table) {
    bool found = r.attrs.empty() || r.infer == kg::shapes::same;
    for (const kg::operand& o : r.operands) found = found || o.part == kg::role::read;
    for (const called& c : all) found = found || c.name == r.name;
    if (!found) return false;
  }
  for (const called& c : all)
    if (!reads_its_attributes(c)) return false;
  return true;
}
static_assert(every_rule_reads_the_attributes_of_its_row());

constexpr bool every_row_says_what_it_must() {
  for (const kg::op_row& r : kg::op_table) {
    if (r.name.empty() || r.doc.empty() || !r.infer || !r.has_launcher() || r.attrs.size() > 16 || r.version < 1)
      return false;
    if (!r.doc.ends_with(".") && !r.doc.ends_with(")")) return false;
    for (const kg::attr_spec& a : r.attrs)
      if (a.name.empty() || a.doc.empty() || r.attr_index(a.name) < 0) return false;
    for (const kg::operand& o : r.operands)
      if (o.name.empty() || o.types.bits == 0) return false;
  }
  return true;
}
static_assert(every_row_says_what_it_must());

constexpr bool names_of_ops_are_distinct_and_found() {
  for (int i = 0; i < kg::op_count; ++i)
    if (kg::find_op(kg::op_table[static_cast<std::size_t>(i)].name) != i) return false;
  return true;
}
static_assert(names_of_ops_are_distinct_and_found());
static_assert(kg::find_op("Conv2d") == -1 && kg::find_op("") == -1 && kg::find_op("zzz") == -1);
static_assert(kg::known_op<"Relu"> && !kg::known_op<"Relo">);

constexpr bool every_op_has_a_kernel_on_both_backends() {
  for (int id = 0; id < kg::op_count; ++id) {
    const kg::op_row& r = kg::op_table[static_cast<std::size_t>(id)];
    if (r.convention == kg::convention::copy) continue;  // another shape for the same memory: nothing runs
    if (kg::kernel_dtypes(kg::backend::simd, id).bits == 0 || kg::kernel_dtypes(kg::backend::reference, id).bits == 0)
      return false;
  }
  return true;
}
static_assert(every_op_has_a_kernel_on_both_backends());
static_assert(kg::has_kernel<"Add", kg::backend::simd, dtype::float32> &&
              !kg::has_kernel<"Exp", kg::backend::simd, dtype::int32>);

// ------------------------------------------------------------------------------------------ the typed API

static_assert(kg::known_op<"Exp"> && !kg::known_op<"Exq">);
static_assert(kg::has_these_operands<kg::known<"Add">, kg::tensor, kg::tensor> &&
              !kg::has_these_operands<kg::known<"Add">, kg::tensor>);
static_assert(std::is_nothrow_move_constructible_v<kg::tensor> && std::is_nothrow_copy_constructible_v<kg::tensor>);
static_assert(!std::is_convertible_v<float, kg::tensor>, "a number does not become a tensor in silence");
static_assert(std::is_same_v<decltype(std::declval<const kg::tensor&>().data<float>()), std::span<const float>>);

TEST(shapes, rows_and_look_ups_hold_at_compile_time) { SUCCEED(); }

TEST(shapes, every_op_has_a_rule_or_a_reason_for_having_none) {
  for (const kg::op_row& r : kg::op_table) {
    bool found = false;
    for (std::string_view name : kg::rule_names) found = found || name == r.name;
    EXPECT_EQ(found, r.no_gradient.empty()) << r.name;
  }
}

}  // namespace
