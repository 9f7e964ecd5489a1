// SPDX-License-Identifier: Apache-2.0
// Kernels that move, look up and scatter elements: matrices of n elements.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

using list = std::vector<std::int64_t>;

geometries of(kg::testkit::sample call) { return {{"", std::move(call), 0, {}}}; }

// Rows in an order that is none: a step that has no factor in common with 2^k walks over all of them.
kg::tensor scattered(std::int64_t count, std::int64_t limit) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int32_t>(i * 40503 % limit));
  return kg::tensor(values);
}

kg::testkit::sample with_values(kg::testkit::sample call, std::size_t operand, kg::tensor values) {
  call.operands[operand].values = std::move(values);
  return call;
}

// Few rows are short rows: n = 1000 is to be more than one.
kg::shape short_rows(std::int64_t n) { return n > 65536 ? matrix(n).dims() : kg::shape{n / 16, 16}; }

// Images of about n elements with an even height, 16 wide and of 16 channels.
kg::shape images(std::int64_t n) { return {1, std::max<std::int64_t>(n / 512, 1) * 2, 16, 16}; }

// As many square matrices as make n elements.
kg::shape squares(std::int64_t n) { return n > 4096 ? kg::shape{n / 4096, 64, 64} : kg::shape{n / 64 + 1, 8, 8}; }

list sizes_of(const kg::shape& dims) { return list(dims.begin(), dims.end()); }

// A column of scattered rows.
kg::tensor rows_of(std::int64_t count) { return kg::reshape(scattered(count, count), {count, 1}); }

geometries transposed(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {n > 1024 ? matrix(n).dims() : kg::shape{n / 16, 16}}));
}

geometries sliced(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {m.dims()}, {{"begin", list{0, 1}}, {"size", list{m.rows, m.columns - 2}}}));
}

// Two halves of rows.
geometries joined(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  kg::testkit::sample call;
  call.operands.emplace_back(row.operands[0].name, std::vector<kg::shape>(2, kg::shape{m.rows, m.columns / 2}));
  call.attrs = {{"axis", 1}};
  return of(call);
}

geometries unpacked(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {{m.rows, 2, m.columns / 2}}, {{"axis", 1}}));
}

geometries halved(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {{m.rows, m.columns / 2 * 2}}, {{"numOrSizeSplits", 2}, {"axis", 1}}));
}

geometries padded(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {matrix(n).dims()}, {{"paddings", list{1, 1, 1, 1}}}));
}

geometries tiled(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {{m.rows, m.columns / 2}}, {{"reps", list{1, 2}}}));
}

geometries broadcast(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(call_of(row, {{dims[1]}}, {{"shape", dims}}));
}

// With the axes of an image, of which an op may reverse the columns alone.
geometries reversed(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {{1, m.rows, m.columns, 1}}));
}

geometries gathered(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {dims, {dims[0]}}), 1, scattered(dims[0], dims[0])));
}

geometries one_hot(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {{dims[0]}}, {{"depth", dims[1]}}), 0, scattered(dims[0], dims[1])));
}

// Every second column, backwards.
geometries strided(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(
      row, {matrix(n).dims()},
      {{"begin", list{0, -1}}, {"end", list{0, 0}}, {"strides", list{1, -2}}, {"beginMask", 1}, {"endMask", 3}}));
}

geometries bordered(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const auto mode = static_cast<std::size_t>(row.attr_index("mode"));
  const char* with_outermost = row.attrs[mode].choices.starts_with("edge") ? "edge" : "symmetric";
  return of(call_of(row, {matrix(n).dims()}, {{"paddings", list{1, 1, 1, 1}}, {"mode", with_outermost}}));
}

// 2x2, 16 channels.
geometries to_batch(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {images(n)}, {{"blockShape", list{2, 2}}, {"paddings", list{0, 0, 0, 0}}}));
}

// 2x2, 16 channels.
geometries from_batch(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape whole = images(n);
  return of(call_of(row, {{4, whole[1] / 2, 8, 16}}, {{"blockShape", list{2, 2}}, {"crops", list{0, 0, 0, 0}}}));
}

// 2x2, 16 channels.
geometries from_depth(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {images(n)}, {{"blockSize", 2}}));
}

geometries diagonal(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {{static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)))}}));
}

// The lower triangle.
geometries band(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const auto scalar = [](std::int32_t value) { return kg::tensor(std::vector<std::int32_t>{value}, kg::shape{}); };
  return of(with_values(with_values(call_of(row, {squares(n), {}, {}}), 1, scalar(-1)), 2, scalar(0)));
}

// Slices at rows of indices, or updates for them.
geometries indexed_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  kg::testkit::sample call;
  for (const kg::operand& o : row.operands) {
    if (o.name == "indices") call.operands.emplace_back(o.name, rows_of(dims[0]));
    else call.operands.emplace_back(o.name, dims);
  }
  if (row.attr_index("shape") >= 0) call.attrs.push_back({"shape", sizes_of(dims)});
  if (row.attr_index("reduction") >= 0) call.attrs.push_back({"reduction", "add"});
  return of(call);
}

// Four rows each.
geometries segments(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  const std::int64_t count = dims[0] / 4 + 1;
  kg::testkit::sample call = call_of(row, {dims, {dims[0]}}, {{"numSegments", count}});
  if (row.attr_index("reduction") >= 0) call.attrs.push_back({"reduction", "max"});
  return of(with_values(std::move(call), 1, scattered(dims[0], count)));
}

// Along the last axis, the first one, and with indices of whole rows.
geometries along_axes(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  const auto with = [&](const char* name, std::int64_t axis, const kg::shape& at) {
    std::vector<kg::named_attribute> attrs = {{"axis", axis}};
    if (row.attr_index("reduction") >= 0) attrs.push_back({"reduction", "add"});
    std::vector<kg::shape> operands = {dims, at, dims};
    operands.resize(row.operands.size());
    const kg::tensor indices = kg::reshape(scattered(at.size(), dims[axis]), at);
    return geometry{name, with_values(call_of(row, operands, attrs), 1, indices), 0, {}};
  };
  return {with("last", 1, dims), with("first", 0, dims), with("rows", 0, {dims[0], 1})};
}

geometries indexed(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.operand_index("x") >= 0 ? along_axes(row, type, n) : indexed_rows(row, type, n);
}

// A quarter of the places.
geometries densified(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t count = n / 4 + 1;
  return of(with_values(call_of(row, {{count}, {count}, {}}, {{"outputShape", list{n}}}), 0, scattered(count, n)));
}

geometries two_shapes(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const auto all = [&](std::int32_t size) {
    return kg::tensor(std::vector<std::int32_t>(static_cast<std::size_t>(n), size));
  };
  return of(with_values(with_values(call_of(row, {{n}, {n}}), 0, all(1)), 1, all(3)));
}

// Half of the elements.
geometries found_places(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(i * 2654435761 % 4294967296 < 2147483648 ? 1 : 0);
  const auto with = [&](const kg::shape& dims) {
    std::vector<double> all = values;
    all.resize(static_cast<std::size_t>(dims.size()));
    return with_values(call_of(row, {dims}), 0, kg::testkit::from_doubles(all, dims, type));
  };
  return {{"list", with({n}), 0, {}}, {"matrix", with(matrix(n).dims()), 0, {}}};
}

}  // namespace

geometries calls::move(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  if (row.convention == kg::convention::copy) return {};
  if (row.bounded) return found_places(row, type, n);
  static constexpr maker makers[] = {{"batchDims", gathered},
                                     {"depth", one_hot},
                                     {"numSegments", segments},
                                     {"sparseIndices", densified},
                                     {"indices", indexed},
                                     {"numLower", band},
                                     {"s0", two_shapes},
                                     {"perm", transposed},
                                     {"size", sliced},
                                     {"tensors", joined},
                                     {"numOrSizeSplits", halved},
                                     {"axis", unpacked},
                                     {"constantValue", padded},
                                     {"mode", bordered},
                                     {"reps", tiled},
                                     {"shape", broadcast},
                                     {"dims", reversed},
                                     {"beginMask", strided},
                                     {"crops", from_batch},
                                     {"blockShape", to_batch},
                                     {"blockSize", from_depth},
                                     {"x", diagonal}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
