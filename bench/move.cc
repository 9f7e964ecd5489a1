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
#include "bench/geometry.h"

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

}  // namespace

geometries transposed(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {n > 1024 ? matrix(n).dims() : kg::shape{n / 16, 16}}));
}

geometries sliced(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {m.dims()}, {{"begin", list{0, 1}}, {"size", list{m.rows, m.columns - 2}}}));
}

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

geometries gathered_back(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {dims, {dims[0]}}, {{"inputShape", dims}}), 1, scattered(dims[0], dims[0])));
}

geometries segments(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  const std::int64_t count = dims[0] / 4 + 1;
  return of(with_values(call_of(row, {dims, {dims[0]}}, {{"numSegments", count}}), 1, scattered(dims[0], count)));
}

geometries one_hot(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {{dims[0]}}, {{"depth", dims[1]}}), 0, scattered(dims[0], dims[1])));
}

geometries strided(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(
      row, {matrix(n).dims()},
      {{"begin", list{0, -1}}, {"end", list{0, 0}}, {"strides", list{1, -2}}, {"beginMask", 1}, {"endMask", 3}}));
}

geometries strided_back(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return of(call_of(row, {{m.rows, (m.columns + 1) / 2}},
                    {{"begin", list{0, -1}},
                     {"end", list{0, 0}},
                     {"strides", list{1, -2}},
                     {"beginMask", 1},
                     {"endMask", 3},
                     {"inputShape", sizes_of(m.dims())}}));
}

geometries mirrored(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {matrix(n).dims()}, {{"paddings", list{1, 1, 1, 1}}, {"mode", "symmetric"}}));
}

geometries repeated(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {matrix(n).dims()}, {{"paddings", list{1, 1, 1, 1}}, {"mode", "edge"}}));
}

geometries to_batch(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {images(n)}, {{"blockShape", list{2, 2}}, {"paddings", list{0, 0, 0, 0}}}));
}

geometries from_batch(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape whole = images(n);
  return of(call_of(row, {{4, whole[1] / 2, 8, 16}}, {{"blockShape", list{2, 2}}, {"crops", list{0, 0, 0, 0}}}));
}

geometries from_depth(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {images(n)}, {{"blockSize", 2}}));
}

geometries diagonal(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return of(call_of(row, {{static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)))}}));
}

geometries band(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const auto scalar = [](std::int32_t value) { return kg::tensor(std::vector<std::int32_t>{value}, kg::shape{}); };
  return of(with_values(with_values(call_of(row, {squares(n), {}, {}}), 1, scalar(-1)), 2, scalar(0)));
}

geometries gathered_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {dims, {dims[0], 1}}), 1, rows_of(dims[0])));
}

geometries scattered_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {{dims[0], 1}, dims}, {{"shape", sizes_of(dims)}}), 0, rows_of(dims[0])));
}

geometries updated_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {dims, {dims[0], 1}, dims}), 1, rows_of(dims[0])));
}

geometries added_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  return of(with_values(call_of(row, {dims, {dims[0], 1}, dims}, {{"reduction", "add"}}), 1, rows_of(dims[0])));
}

geometries greatest_of_segments(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = short_rows(n);
  const std::int64_t count = dims[0] / 4 + 1;
  return of(with_values(call_of(row, {dims, {dims[0]}}, {{"numSegments", count}, {"reduction", "max"}}), 1,
                        scattered(dims[0], count)));
}

namespace {

geometries along_axes(const kg::op_row& row, std::int64_t n, const std::vector<kg::named_attribute>& attrs) {
  const kg::shape dims = short_rows(n);
  const auto with = [&](const char* name, std::int64_t axis, const kg::shape& at) {
    std::vector<kg::named_attribute> all = attrs;
    all.push_back({"axis", axis});
    std::vector<kg::shape> operands = {dims, at, dims};
    operands.resize(row.operands.size());
    const kg::tensor indices = kg::reshape(scattered(at.size(), dims[axis]), at);
    return geometry{name, with_values(call_of(row, operands, all), 1, indices), 0, {}};
  };
  return {with("last", 1, dims), with("first", 0, dims), with("rows", 0, {dims[0], 1})};
}

}  // namespace

geometries taken_along_axes(const kg::op_row& row, kg::dtype, std::int64_t n) { return along_axes(row, n, {}); }

geometries put_along_axes(const kg::op_row& row, kg::dtype, std::int64_t n) {
  if (row.attrs.size() == 1) return along_axes(row, n, {});
  return along_axes(row, n, {{"reduction", "add"}});
}

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

}  // namespace kgbench
