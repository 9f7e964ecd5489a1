// SPDX-License-Identifier: Apache-2.0
// What operands and attributes to call an op with: derived from its row, and from a table for the ops whose operands
// depend on each other. Tests that loop over all ops fail for an op without samples, so the table cannot drift.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

import kerngrad;

namespace kgtest {

/// One operand of a call that is still to be filled with values; several shapes for a list.
struct slot {
  std::string name;
  std::vector<kg::shape> dims;
  kg::tensor fixed = {};  ///< indices and conditions: values that have to be these
};

/// A legal call of an op.
struct sample {
  std::string label;
  std::vector<slot> slots;
  std::vector<kg::named_attribute> attrs;
};

inline bool run_everything() { return std::getenv("KERNGRAD_FULL") != nullptr; }

inline std::string text_of(const std::vector<kg::named_attribute>& attrs) {
  std::string text;
  for (const kg::named_attribute& a : attrs) text += " " + a.name + "=" + to_string(a.value);
  return text;
}

/// A stream of numbers in [0, 1) that is the same everywhere.
class stream {
 public:
  explicit stream(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }

 private:
  std::uint64_t state_;
};

/// A tensor of any real or complex dtype from doubles; complex ones take them in pairs.
inline kg::tensor from_doubles(const std::vector<double>& values, const kg::shape& dims, kg::dtype type) {
  const auto as = [&]<class T>(T) {
    std::vector<T> converted;
    for (double v : values) {
      // Through int64, so that what uint8 cannot hold wraps.
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        converted.push_back(static_cast<T>(static_cast<std::int64_t>(v)));
      else converted.push_back(static_cast<T>(v));
    }
    return kg::tensor(converted, dims);
  };
  switch (type) {
    case kg::dtype::float32: return as(float{});
    case kg::dtype::float64: return as(double{});
    case kg::dtype::int32: return as(std::int32_t{});
    case kg::dtype::int64: return as(std::int64_t{});
    case kg::dtype::uint8: return as(std::uint8_t{});
    case kg::dtype::boolean: return as(bool{});
    default: break;
  }
  std::vector<kg::complex64> pairs;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    pairs.push_back({static_cast<float>(values[i]), static_cast<float>(values[i + 1])});
  return kg::tensor(pairs, dims);
}

/// The elements as doubles; complex ones as pairs.
inline std::vector<double> doubles_of(const kg::tensor& x) {
  if (x.type() != kg::dtype::complex64) return x.to_doubles();
  std::vector<double> values;
  for (const kg::complex64& z : x.data<kg::complex64>()) values.insert(values.end(), {z.real, z.imag});
  return values;
}

// ------------------------------------------------------------------------------------------ values

struct domain {
  double low = -2, high = 2;
};

/// Where an operand's values lie: inside the op's domain.
inline domain domain_of(const kg::op_row& row, std::size_t operand) {
  static const std::map<std::string_view, std::vector<domain>> narrow = {
      {"Sqrt", {{0.2, 3}}},           {"Rsqrt", {{0.5, 3}}},
      {"Reciprocal", {{0.5, 3}}},     {"Log", {{0.5, 3}}},
      {"Log1p", {{-0.5, 2}}},         {"Asin", {{-0.5, 0.5}}},
      {"Acos", {{-0.5, 0.5}}},        {"Atanh", {{-0.5, 0.5}}},
      {"Acosh", {{1.5, 4}}},          {"Tan", {{-1, 1}}},
      {"Relu6", {{-2, 8}}},           {"ClipByValue", {{-3, 3}}},
      {"RealDiv", {{-2, 2}, {1, 3}}}, {"FloorDiv", {{-4, 4}, {1, 3}}},
      {"Mod", {{-4, 4}, {1, 3}}},     {"Pow", {{0.5, 2}, {-2, 2}}},
      {"Atan2", {{0.5, 2}, {-2, 2}}}, {"EluGrad", {{-2, 2}, {-0.5, 1}}},
      {"Prod", {{0.5, 2}}},           {"Cumprod", {{0.5, 2}}}};
  const auto at = narrow.find(row.name);
  if (at == narrow.end()) return {};
  return at->second[std::min(operand, at->second.size() - 1)];
}

/// `count` values in a domain that keep away from the places where ops have kinks: the multiples of a half, the values
/// of other operands, and, where the order of elements matters, each other.
inline std::vector<double> smooth_values(domain in, std::size_t count, std::size_t operand, bool distinct,
                                         stream& draw) {
  std::vector<double> values;
  if (distinct) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(in.low + (in.high - in.low) * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    for (std::size_t i = count; i > 1; --i) std::swap(values[i - 1], values[draw.below(i)]);
    return values;
  }
  const auto cells = static_cast<std::uint64_t>(std::lround((in.high - in.low) * 2));
  const double band = 0.07 + 0.18 * static_cast<double>(operand % 2);  // 0.07 to 0.19 or 0.25 to 0.37 of a half
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(in.low + 0.5 * static_cast<double>(draw.below(cells)) + band + 0.12 * draw.unit());
  return values;
}

inline bool orders_elements(const kg::op_row& row) {
  return row.group == kg::family::pool || row.name == "Max" || row.name == "Min" || row.name.starts_with("Arg");
}

inline kg::tensor values_for(const kg::op_row& row, std::size_t operand, const kg::shape& dims, kg::dtype type,
                             stream& draw) {
  const bool pairs = type == kg::dtype::complex64;
  const auto count = static_cast<std::size_t>(dims.size()) * (pairs ? 2 : 1);
  std::vector<double> values = smooth_values(domain_of(row, operand), count, operand, orders_elements(row), draw);
  for (double& v : values) {
    if (kg::integral.has(type)) v = std::nearbyint(v * 4);
    if (type == kg::dtype::uint8) v = std::fabs(v) * 9;
    if (type == kg::dtype::boolean) v = v > 0.6;
  }
  return from_doubles(values, dims, type);
}

/// The operands of a sample with values of a dtype; operands that do not take it get the first one that they take.
inline std::vector<kg::named_operand> operands_for(const kg::op_row& row, const sample& call, kg::dtype type,
                                                   std::uint64_t seed = 1) {
  stream draw(seed);
  std::vector<kg::named_operand> operands;
  for (std::size_t i = 0; i < call.slots.size(); ++i) {
    const slot& s = call.slots[i];
    const kg::operand& spec = row.operands[row.takes_list() ? 0 : static_cast<std::size_t>(row.operand_index(s.name))];
    kg::dtype taken = type;
    for (int t = 0; !spec.types.has(taken) && t < kg::dtype_count; ++t) taken = static_cast<kg::dtype>(t);
    if (s.fixed.defined()) {
      operands.emplace_back(s.name, s.fixed);
    } else if (row.name == "MaxPoolGrad" && s.name == "output") {
      const std::vector<kg::named_operand> image = {{"x", operands[1].tensors[0]}};
      operands.emplace_back(s.name, kg::run_kernel_list("MaxPool", image, call.attrs).front());
    } else {
      std::vector<kg::tensor> list;
      for (const kg::shape& dims : s.dims) list.push_back(values_for(row, i, dims, taken, draw));
      if (row.takes_list()) operands.emplace_back(s.name, list);
      else operands.emplace_back(s.name, list[0]);
    }
  }
  return operands;
}

/// The dtype that samples of a row are differentiated in: float64, or complex64 where there is nothing else.
inline kg::dtype precise_dtype(const kg::op_row& row) {
  for (const kg::operand& spec : row.operands)
    for (kg::dtype type : {kg::dtype::float64, kg::dtype::float32, kg::dtype::complex64})
      if (spec.part == kg::role::value && spec.types.has(type)) return type;
  return kg::dtype::float32;
}

/// Legal calls of an op: at least one, or the op has no samples and the tests fail. `large` ones are longer than the
/// widest vector.
std::vector<sample> samples_of(const kg::op_row& row, bool large = false);

/// Names of all ops, and of those with a gradient rule, for parameterised tests.
inline std::vector<std::string> op_names(bool with_rule) {
  std::vector<std::string> names;
  for (const kg::op_row& row : kg::op_table)
    if (!with_rule || row.no_gradient.empty()) names.emplace_back(row.name);
  return names;
}
inline const kg::op_row& row_named(std::string_view name) {
  return kg::op_table[static_cast<std::size_t>(kg::find_op(name))];
}

}  // namespace kgtest

#include "tests/support/sample_table.h"
