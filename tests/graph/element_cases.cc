// SPDX-License-Identifier: Apache-2.0
#include "tests/graph/op_cases.h"

namespace kgtest {

namespace {

using kg::tensor;

const tensor m({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}), yes_no({true, false}), yes_yes({true, true});
const tensor row({1.f, 2.f, 3.f});

void add_reductions(std::vector<op_case>& all) {
  const json keep{{"keep_dims", flag(true)}};
  all.insert(
      all.end(),
      {{"Sum", none, {m, ints({1})}, {tensor({6.f, 15.f})}},
       {"Sum", keep, {m, whole_number(-1)}, {tensor({6.f, 15.f}, {2, 1})}},
       {"Sum", none, {m, ints({0, 1})}, {tensor(21.f)}},
       {"Sum", none, {m, kg::cast(kg::zeros({0}), kg::dtype::int32)}, {m}},
       {"Mean", keep, {m, ints({0})}, {tensor({2.5f, 3.5f, 4.5f}, {1, 3})}},
       {"Prod", none, {m, ints({1})}, {tensor({6.f, 120.f})}},
       {"Max", none, {m, ints({0})}, {tensor({4.f, 5.f, 6.f})}},
       {"Min", none, {m, ints({0})}, {tensor({1.f, 2.f, 3.f})}},
       {"All", none, {yes_no, ints({0})}, {tensor(false)}},
       {"Any", none, {yes_no, ints({0})}, {tensor(true)}},
       {"ArgMax", none, {m, whole_number(1)}, {ints({2, 2})}},
       {"ArgMin", none, {m, whole_number(0)}, {ints({0, 0, 0})}},
       {"Cumsum", {{"exclusive", flag(true)}}, {row, whole_number(0)}, {tensor({0.f, 1.f, 3.f})}},
       {"Cumprod", {{"reverse", flag(true)}}, {row, whole_number(0)}, {tensor({6.f, 6.f, 3.f})}},
       {"Bincount", none, {ints({0, 2, 2}), whole_number(4), tensor({1.f, 2.f, 3.f})}, {tensor({1.f, 0.f, 5.f, 0.f})}},
       {"DenseBincount",
        {{"binary_output", flag(true)}},
        {ints({0, 2, 2}), whole_number(3), tensor({1.f, 2.f, 3.f})},
        {tensor({1.f, 0.f, 1.f})}},
       {"AddN", none, {m, m, m}, {m * 3}},
       {"TopKV2", {{"sorted", flag(true)}}, {m, whole_number(1)}, {tensor({3.f, 6.f}, {2, 1}), ints({2, 2}, {2, 1})}},
       {"LowerBound", none, {tensor({1.f, 3.f, 5.f}, {1, 3}), tensor({3.f, 4.f}, {1, 2})}, {ints({1, 2}, {1, 2})}},
       {"UpperBound", none, {tensor({1.f, 3.f, 5.f}, {1, 3}), tensor({3.f, 4.f}, {1, 2})}, {ints({2, 2}, {1, 2})}},
       {"Unique", none, {ints({4, 4, 7})}, {ints({4, 7}), ints({0, 0, 1})}},
       {"UniqueV2", none, {ints({4, 4, 7}), ints({0})}, {ints({4, 7}), ints({0, 0, 1})}},
       {"ListDiff", none, {ints({1, 2, 3}), ints({2})}, {ints({1, 3}), ints({0, 2})}}});
}

void add_moves(std::vector<op_case>& all) {
  const tensor t = kg::transpose(m), column({2.f, 5.f}, {2, 1});
  const json strided{{"begin_mask", whole(1)}, {"end_mask", whole(1)}, {"shrink_axis_mask", whole(2)}};
  all.insert(
      all.end(),
      {{"Reshape", none, {m, ints({3, -1})}, {tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2})}},
       {"ExpandDims", none, {row, whole_number(-1)}, {tensor({1.f, 2.f, 3.f}, {3, 1})}},
       {"Squeeze", {{"squeeze_dims", wholes({0})}}, {tensor({1.f, 2.f}, {1, 2, 1})}, {tensor({1.f, 2.f}, {2, 1})}},
       {"Squeeze", {{"axis", wholes({-1})}}, {tensor({1.f, 2.f}, {1, 2, 1})}, {tensor({1.f, 2.f}, {1, 2})}},
       {"Squeeze", none, {tensor({1.f, 2.f}, {1, 2, 1})}, {tensor({1.f, 2.f})}},
       {"Transpose", none, {m, ints({1, 0})}, {t}},
       {"EnsureShape", none, {m, ints({2, -1})}, {m}},
       {"BroadcastTo", none, {row, ints({2, 3})}, {tensor({1.f, 2.f, 3.f, 1.f, 2.f, 3.f}, {2, 3})}},
       {"BroadcastArgs", none, {ints({2, 1}), ints({3})}, {ints({2, 3})}},
       {"Cast", {{"DstT", type("DT_INT32")}}, {tensor({1.7f, -1.7f})}, {ints({1, -1})}},
       {"Cast", {{"DstT", type("DT_INT64")}}, {tensor({1.7f, -1.7f})}, {ints({1, -1})}},
       {"MirrorPad", {{"mode", text("REFLECT")}}, {row, ints({1, 0}, {1, 2})}, {tensor({2.f, 1.f, 2.f, 3.f})}},
       {"Pad", none, {row, ints({1, 1}, {1, 2})}, {tensor({0.f, 1.f, 2.f, 3.f, 0.f})}},
       {"PadV2", none, {row, ints({1, 0}, {1, 2}), tensor(9.f)}, {tensor({9.f, 1.f, 2.f, 3.f})}},
       {"Slice", none, {m, ints({0, 1}), ints({-1, 1})}, {column}},
       {"StridedSlice", strided, {m, ints({0, 1}), ints({0, 2}), ints({1, 1})}, {tensor({2.f, 5.f})}},
       {"StridedSlice",
        {{"new_axis_mask", whole(1)}},
        {row, ints({0, 2}), ints({0, 0}), ints({1, -1})},
        {tensor({3.f, 2.f}, {1, 2})}},
       {"StridedSlice", {{"ellipsis_mask", whole(1)}}, {m, ints({0, 1}), ints({0, 2}), ints({1, 1})}, {column}},
       {"ConcatV2", {{"N", whole(2)}}, {row, row, whole_number(0)}, {tensor({1.f, 2.f, 3.f, 1.f, 2.f, 3.f})}},
       {"Concat", {{"N", whole(2)}}, {whole_number(-1), row, row}, {tensor({1.f, 2.f, 3.f, 1.f, 2.f, 3.f})}},
       {"Pack", {{"axis", whole(1)}, {"N", whole(2)}}, {row, row}, {tensor({1.f, 1.f, 2.f, 2.f, 3.f, 3.f}, {3, 2})}},
       {"Unpack",
        {{"axis", whole(1)}, {"num", whole(3)}},
        {m},
        {tensor({1.f, 4.f}), tensor({2.f, 5.f}), tensor({3.f, 6.f})}},
       {"Split",
        {{"num_split", whole(2)}},
        {whole_number(0), tensor({1.f, 2.f, 3.f, 4.f})},
        {tensor({1.f, 2.f}), tensor({3.f, 4.f})}},
       {"SplitV", none, {row, ints({1, 2}), whole_number(0)}, {tensor({1.f}), tensor({2.f, 3.f})}},
       {"Tile", none, {row, ints({2})}, {tensor({1.f, 2.f, 3.f, 1.f, 2.f, 3.f})}},
       {"Reverse", none, {m, tensor({false, true})}, {tensor({3.f, 2.f, 1.f, 6.f, 5.f, 4.f}, {2, 3})}},
       {"ReverseV2", none, {m, ints({0})}, {tensor({4.f, 5.f, 6.f, 1.f, 2.f, 3.f}, {2, 3})}},
       {"GatherV2", {{"batch_dims", whole(0)}}, {m, ints({2}), whole_number(1)}, {tensor({3.f, 6.f}, {2, 1})}},
       {"Gather", none, {m, ints({1})}, {tensor({4.f, 5.f, 6.f}, {1, 3})}},
       {"GatherNd", none, {m, ints({0, 1, 1, 2}, {2, 2})}, {tensor({2.f, 6.f})}},
       {"ScatterNd", none, {ints({1, 3}, {2, 1}), tensor({5.f, 6.f}), ints({4})}, {tensor({0.f, 5.f, 0.f, 6.f})}},
       {"TensorScatterUpdate", none, {row, ints({1}, {1, 1}), tensor({9.f})}, {tensor({1.f, 9.f, 3.f})}},
       {"SparseToDense",
        none,
        {ints({1, 2}, {2, 1}), ints({4}), tensor({5.f, 6.f}), tensor(-1.f)},
        {tensor({-1.f, 5.f, 6.f, -1.f})}},
       {"MatrixBandPart",
        none,
        {kg::ones({2, 2}), whole_number(0), whole_number(-1)},
        {tensor({1.f, 1.f, 0.f, 1.f}, {2, 2})}}});
}

void add_creations(std::vector<op_case>& all) {
  const json float_type{{"T", type("DT_FLOAT")}};
  all.insert(
      all.end(),
      {{"Fill", none, {ints({2}), tensor(7.f)}, {tensor({7.f, 7.f})}},
       {"Fill", none, {ints({2}), whole_number(7)}, {ints({7, 7})}},
       {"Fill", none, {ints({2}), tensor(true)}, {yes_yes}},
       {"Fill", none, {ints({1}), tensor("a")}, {tensor({"a"})}},
       {"Zeros", float_type, {ints({2})}, {tensor({0.f, 0.f})}},
       {"Ones", float_type, {ints({2})}, {tensor({1.f, 1.f})}},
       {"Range", {{"Tidx", type("DT_INT32")}}, {whole_number(1), whole_number(7), whole_number(3)}, {ints({1, 4})}},
       {"Range", {{"Tidx", type("DT_FLOAT")}}, {tensor(0.f), tensor(1.f), tensor(0.5f)}, {tensor({0.f, 0.5f})}},
       {"LinSpace", none, {tensor(0.f), tensor(1.f), whole_number(3)}, {tensor({0.f, 0.5f, 1.f})}},
       {"OneHot",
        float_type,
        {ints({1, 0}), whole_number(2), tensor(5.f), tensor(-1.f)},
        {tensor({-1.f, 5.f, 5.f, -1.f}, {2, 2})}},
       {"OneHot",
        {{"T", type("DT_FLOAT")}, {"axis", whole(0)}},
        {ints({2, 0, 0}), whole_number(3), tensor(1.f), tensor(0.f)},
        {tensor({0.f, 1.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f}, {3, 3})}},
       {"Shape", {{"out_type", type("DT_INT32")}}, {m}, {ints({2, 3})}},
       {"ShapeN", none, {m, row}, {ints({2, 3}), ints({3})}},
       {"Size", none, {m}, {whole_number(6)}},
       {"Rank", none, {m}, {whole_number(2)}},
       {"Where", none, {tensor({true, false, true})}, {ints({0, 2}, {2, 1})}},
       {"Select", none, {yes_no, tensor({1.f, 2.f}), tensor({3.f, 4.f})}, {tensor({1.f, 4.f})}},
       {"SelectV2", none, {yes_no, tensor({1.f, 2.f}), tensor({3.f, 4.f})}, {tensor({1.f, 4.f})}},
       {"LogicalAnd", none, {yes_no, yes_yes}, {yes_no}},
       {"LogicalOr", none, {yes_no, yes_yes}, {yes_yes}},
       {"LogicalNot", none, {yes_no}, {tensor({false, true})}},
       {"BitwiseAnd", none, {ints({6}), ints({3})}, {ints({2})}},
       // Integers are divided as TensorFlow.js divides them, downwards.
       {"RealDiv", none, {ints({7, -7}), ints({2, 2})}, {ints({3, -4})}},
       {"DivNoNan", none, {row, tensor({0.f, 1.f, 2.f})}, {tensor({0.f, 2.f, 1.5f})}}});
}

void add_boxes(std::vector<op_case>& all) {
  const tensor boxes({0.f, 0.f, 1.f, 1.f, 0.f, 0.f, 1.f, 0.9f, 2.f, 2.f, 3.f, 3.f}, {3, 4}), scores({0.8f, 0.9f, 0.3f});
  const tensor two = whole_number(2), half(0.5f), least(0.1f);
  all.insert(all.end(), {{"NonMaxSuppressionV2", none, {boxes, scores, two, half}, {ints({1, 2})}},
                         {"NonMaxSuppressionV3", none, {boxes, scores, two, half, tensor(0.5f)}, {ints({1})}},
                         {"NonMaxSuppressionV4",
                          {{"pad_to_max_output_size", flag(true)}},
                          {boxes, scores, two, half, tensor(0.5f)},
                          {ints({1, 0}), whole_number(1)}},
                         {"NonMaxSuppressionV5",
                          none,
                          {boxes, scores, two, half, least, tensor(0.f)},
                          {ints({1, 2}), tensor({0.9f, 0.3f})}}});
}

void add_complex(std::vector<op_case>& all) {
  const tensor re({1.f, 0.f, 0.f, 0.f}), im({0.f, 0.f, 0.f, 0.f}), z = kg::complex(re, im);
  const tensor flat = kg::complex(kg::ones({4}), im), quarter = kg::complex(kg::full({4}, 0.25f), im);
  all.insert(all.end(), {{"Real", none, {kg::complex(row, row * 2)}, {row}},
                         {"Imag", none, {kg::complex(row, row * 2)}, {row * 2}},
                         {"ComplexAbs", none, {kg::complex(tensor({3.f}), tensor({4.f}))}, {tensor({5.f})}},
                         {"FFT", none, {z}, {flat}},
                         {"IFFT", none, {z}, {quarter}},
                         {"RFFT", none, {re, ints({4})}, {kg::complex(kg::ones({3}), kg::zeros({3}))}},
                         {"IRFFT", none, {kg::complex(kg::ones({3}), kg::zeros({3})), ints({4})}, {re}}});
}

void add_ragged(std::vector<op_case>& all) {
  const tensor i2 = ints({0, 0, 2, 0}, {2, 2});
  all.insert(all.end(),
             {{"SparseFillEmptyRows",
               none,
               {i2, tensor({5.f, 6.f}), ints({3, 1}), tensor(9.f)},
               {ints({0, 0, 1, 0, 2, 0}, {3, 2}), tensor({5.f, 9.f, 6.f}), tensor({false, true, false}), ints({0, 2})}},
              {"SparseReshape", none, {ints({1, 1}, {1, 2}), ints({2, 2}), ints({4})}, {ints({3}, {1, 1}), ints({4})}},
              {"SparseSegmentSum", none, {m, ints({0, 1}), ints({0, 0})}, {tensor({5.f, 7.f, 9.f}, {1, 3})}},
              {"SparseSegmentMean", none, {m, ints({0, 1}), ints({0, 0})}, {tensor({2.5f, 3.5f, 4.5f}, {1, 3})}},
              {"RaggedRange", none, {ints({0, 5}), ints({2, 6}), ints({1, 1})}, {ints({0, 2, 3}), ints({0, 1, 5})}},
              {"RaggedGather",
               {{"OUTPUT_RAGGED_RANK", whole(1)}, {"PARAMS_RAGGED_RANK", whole(1)}},
               {ints({0, 2, 3}), row, ints({1, 0})},
               {ints({0, 1, 3}), tensor({3.f, 1.f, 2.f})}},
              {"RaggedTensorToTensor",
               {{"row_partition_types", texts({"ROW_SPLITS"})}},
               {ints({2, 2}), row, tensor(0.f), ints({0, 2, 3})},
               {tensor({1.f, 2.f, 3.f, 0.f}, {2, 2})}},
              {"StringSplit",
               {{"skip_empty", flag(true)}},
               {tensor({"a b"}), tensor(" ")},
               {ints({0, 0, 0, 1}, {2, 2}), tensor({"a", "b"}), ints({1, 2})}},
              {"StringToHashBucketFast", {{"num_buckets", whole(1)}}, {tensor({"a", "b"})}, {ints({0, 0})}},
              {"StringNGrams",
               {{"separator", text("|")},
                {"ngram_widths", wholes({2})},
                {"left_pad", text("L")},
                {"right_pad", text("R")},
                {"pad_width", whole(0)},
                {"preserve_short_sequences", flag(false)}},
               {tensor({"a", "b", "c"}), ints({0, 3})},
               {tensor({"a|b", "b|c"}), ints({0, 2})}}});
}

}  // namespace

std::vector<op_case> element_cases() {
  std::vector<op_case> all;
  add_reductions(all);
  add_moves(all);
  add_creations(all);
  add_boxes(all);
  add_complex(all);
  add_ragged(all);
  return all;
}

}  // namespace kgtest
