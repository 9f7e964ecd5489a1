// SPDX-License-Identifier: Apache-2.0
// Mistakes that a call can be made with, from a row: in an operand, in an attribute. Each knows whether the call must
// be rejected then, or may be legal in another way.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

tensor zeros_of(const shape& dims, dtype type) {
  return from_doubles(std::vector<double>(kernels::extent(dims.size(), parts_of(type))), dims, type);
}

const std::vector<shape>& foreign_shapes() {
  static const std::vector<shape> all = {{},
                                         {0},
                                         {1},
                                         {2},
                                         {5},
                                         {7},
                                         {2, 3},
                                         {3, 2},
                                         {0, 3},
                                         {3, 0},
                                         {7, 7},
                                         {1, 1},
                                         {2, 3, 4},
                                         {7, 1, 7},
                                         {2, 0, 2},
                                         {1, 1, 1, 1},
                                         {2, 2, 2, 2},
                                         {3, 3, 5, 7},
                                         {0, 4, 4, 2},
                                         {1, 0, 4, 2},
                                         {1, 4, 4, 0},
                                         {2, 2, 2, 2, 2},
                                         {1, 1, 1, 1, 1, 1, 1, 1},
                                         {2, 1, 2, 1, 2, 1, 2, 1},
                                         {0, std::int64_t{1} << 40},
                                         {std::int64_t{1} << 40, 0},
                                         {0, std::int64_t{1} << 58},
                                         {1, std::int64_t{1} << 40, 0, 2},
                                         {0, std::int64_t{1} << 40, 3, 2}};
  return all;
}

std::vector<std::int64_t> foreign_integers() {
  using limits = std::numeric_limits<std::int64_t>;
  return {limits::min(),         -(std::int64_t{1} << 40), -9,           -8, -3, -2, -1, 0, 1, 2, 3, 5, 8, 9, 17,
          std::int64_t{1} << 45, std::int64_t{1} << 62,    limits::max()};
}

std::vector<attr_value> foreign_values() {
  std::vector<attr_value> all = {attr_value(true),
                                 attr_value("bogus"),
                                 attr_value(""),
                                 attr_value(std::string(127, 'x')),
                                 attr_value("SAME"),
                                 attr_value("NHCW"),
                                 attr_value(0.5),
                                 attr_value(-1e300),
                                 attr_value(HUGE_VAL),
                                 attr_value(-HUGE_VAL),
                                 attr_value(std::nan("")),
                                 attr_value(dtype::float16),
                                 attr_value(dtype::complex128),
                                 attr_value(dtype::complex64),
                                 attr_value(dtype::int32)};
  for (std::int64_t i : foreign_integers()) all.emplace_back(i);
  for (std::size_t length : {0, 1, 2, 9, 20}) all.emplace_back(std::vector<double>(length, 0.5));
  constexpr std::size_t lengths[] = {0, 1, 2, 3, 4, 8, 9, 16, 17, 100};
  constexpr std::int64_t items[] = {-1, 0, 1, std::int64_t{1} << 45, std::numeric_limits<std::int64_t>::max()};
  for (const auto& [length, item] : ranges::views::cartesian_product(lengths, items))
    all.emplace_back(std::vector<std::int64_t>(length, item));
  return all;
}

}  // namespace

bool is_foreign_kind(const attr_spec& spec, const attr_value& value) {
  const bool numeric = value.kind() == attr_kind::integer || value.kind() == attr_kind::number;
  switch (spec.kind) {
    case attr_kind::integer: return !numeric;
    case attr_kind::number: return !numeric && !(spec.or_text && value.kind() == attr_kind::text);
    case attr_kind::numbers:
      return value.kind() != attr_kind::numbers && value.kind() != attr_kind::list && !(spec.scalar_or_list && numeric);
    case attr_kind::list:
      return value.kind() != attr_kind::list && !(spec.scalar_or_list && numeric) &&
             !(!spec.choices.empty() && value.kind() == attr_kind::text);
    default: return value.kind() != spec.kind;
  }
}
bool is_out_of_range(const attr_spec& spec, const attr_value& value) {
  // Infinity is inside on a side without a bound.
  const auto outside = [&](double v) {
    return (v < spec.least && (spec.least > -1e308 || std::isfinite(v))) ||
           (v > spec.most && (spec.most < 1e308 || std::isfinite(v)));
  };
  if (value.kind() == attr_kind::integer || value.kind() == attr_kind::number) return outside(value.as_number());
  for (std::int64_t v : value.as_list())
    if (outside(static_cast<double>(v))) return true;
  for (double v : value.as_numbers())
    if (outside(v)) return true;
  return false;
}

namespace {

void set_attr(bad_call& call, const std::string& name, const attr_value& value) {
  std::erase_if(call.attrs, [&](const named_attribute& a) { return a.name == name; });
  call.attrs.push_back({name, value});
}

}  // namespace

std::vector<mutation> operand_mutations(const op_row& row, const std::vector<named_operand>& operands) {
  std::vector<mutation> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const int named = row.operand_index(operands[i].name);  // optional ones before it may not be there
    const operand& spec = named < 0 ? row.operand_at(i) : row.operands[static_cast<std::size_t>(named)];
    const std::string name(spec.name);
    all.push_back({name, [=](bad_call& c) {
                     c.label += " without " + name;
                     if (!spec.optional) c.expected = verdict::refused;
                     std::erase_if(c.operands, [&](const auto& o) { return o.name == name; });
                   }});
    const auto change = [&](const std::string& label, verdict expected,
                            std::function<void(std::vector<tensor>&)> edit) {
      all.push_back({name, [=](bad_call& c) {
                       for (named_operand& o : c.operands)
                         if (o.name == name) edit(o.tensors);
                       c.label += " " + name + " " + label;
                       if (expected == verdict::refused) c.expected = expected;
                     }});
    };
    change("an undefined tensor", spec.optional ? verdict::either : verdict::refused,
           [](auto& list) { list.assign(1, tensor()); });
    change("an empty list", verdict::refused, [](auto& list) { list.clear(); });
    if (!spec.list)
      change("a list of two", verdict::refused, [](auto& list) { list.push_back(list.empty() ? tensor() : list[0]); });
    for (int t = 0; t < dtype_count; ++t) {
      const dtype type = static_cast<dtype>(t);
      change("of " + std::string(name_of(type)), spec.types.has(type) ? verdict::either : verdict::refused,
             [=](auto& list) {
               for (tensor& x : list)
                 if (x.defined()) x = zeros_of(x.dims(), type);
             });
    }
    for (const shape& dims : foreign_shapes())
      change(to_string(dims), verdict::either, [=](auto& list) {
        if (!list.empty() && list.back().defined()) list.back() = zeros_of(dims, list.back().type());
      });
  }
  for (const char* name : {"bogus", "X", "input ", "x\n", "attrs"})
    all.push_back({std::string("+") + name, [=](bad_call& c) {
                     c.label += " with operand " + std::string(name);
                     c.expected = verdict::refused;
                     c.operands.emplace_back(name, tensor({1.f}));
                   }});
  return all;
}

std::vector<mutation> attribute_mutations(const op_row& row) {
  std::vector<mutation> all;
  for (const attr_spec& spec : row.attrs) {
    const std::string name(spec.name);
    all.push_back({"." + name, [=](bad_call& c) {
                     c.label += " without " + name;
                     if (spec.required) c.expected = verdict::refused;
                     std::erase_if(c.attrs, [&](const auto& a) { return a.name == name; });
                   }});
    for (const attr_value& value : foreign_values())
      all.push_back({"." + name, [=](bad_call& c) {
                       c.label += " " + name + "=" + to_string(value);
                       if (is_foreign_kind(spec, value) || is_out_of_range(spec, value)) c.expected = verdict::refused;
                       set_attr(c, name, value);
                     }});
  }
  const std::string names[] = {"bogus",  "Axis", "axes",     "stride",          "padding",
                               "dtype_", "",     "keepdims", "attr with spaces"};
  const attr_value values[] = {attr_value(1), attr_value("valid"), attr_value(false), attr_value({1, 2}),
                               attr_value(0.5)};
  for (const auto& [name, value] : ranges::views::cartesian_product(names, values))
    all.push_back({"." + name, [name = name, value = value](bad_call& c) {
                     c.label += " with attribute " + name;
                     c.expected = verdict::refused;
                     set_attr(c, name, value);
                   }});
  return all;
}

}  // namespace kerngrad::testkit::detail
