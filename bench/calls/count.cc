// SPDX-License-Identifier: Apache-2.0
// Counts of n elements in few and in many bins; distinct elements, where there are at most a thousand and where nearly
// all are distinct.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

kg::tensor drawn_below(std::int64_t bound, const kg::shape& dims) {
  kg::testkit::stream draw(5);
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < dims.size(); ++i)
    values.push_back(static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(bound))));
  return kg::tensor(values, dims);
}

geometries counted(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t bins : {std::int64_t{100}, std::int64_t{100000}}) {
    const kg::shape x = row.attr_index("binaryOutput") < 0 ? kg::shape{n} : matrix(n).dims();
    kg::testkit::sample call = call_of(row, {x, x}, {{"size", bins}});
    call.operands[0].values = drawn_below(bins, x);
    all.push_back({"bins:" + std::to_string(bins), call, static_cast<double>(x.size()), {}});
  }
  return all;
}

geometries distinct(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  geometries all;
  for (const std::int64_t values : {std::int64_t{1000}, std::int64_t{1} << 30}) {
    kg::testkit::sample call = call_of(row, {{n}});
    const kg::tensor drawn = drawn_below(values, {n});
    call.operands[0].values =
        type == kg::dtype::text ? kg::testkit::from_doubles(drawn.to_doubles(), {n}, type) : kg::cast(drawn, type);
    all.push_back({values > 1000 ? "many" : "few", call, static_cast<double>(n), {}});
  }
  return all;
}

}  // namespace

geometries calls::count(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.attr_index("size") >= 0 ? counted(row, type, n) : distinct(row, type, n);
}

}  // namespace kgbench
