// SPDX-License-Identifier: Apache-2.0
// Kernels that move, look up and scatter elements: matrices of n elements.
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

}  // namespace kgbench
