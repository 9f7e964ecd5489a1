// SPDX-License-Identifier: Apache-2.0
// Calls that are wrong in one or two places, made from the legal samples of a row. Each mutation knows whether the call
// must be refused, or may be legal in another way.
#pragma once
#include <limits>
#include <utility>

#include "tests/support/samples.h"

namespace kgtest {

enum class verdict { refused, either };

struct bad_call {
  std::string label;
  std::vector<kg::named_operand> operands;
  std::vector<kg::named_attribute> attrs;
  verdict expected = verdict::either;
};

/// A mistake, and the operand or attribute that it is made in: a second one in the same place could undo the first.
struct mutation {
  std::string place;
  std::function<void(bad_call&)> make;
};

inline kg::tensor zeros_of(const kg::shape& dims, kg::dtype type) {
  const auto count = static_cast<std::size_t>(dims.size()) * (type == kg::dtype::complex64 ? 2 : 1);
  return from_doubles(std::vector<double>(count), dims, type);
}

inline const std::vector<kg::shape>& foreign_shapes() {
  static const std::vector<kg::shape> all = {{},
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

inline std::vector<std::int64_t> foreign_integers() {
  using limits = std::numeric_limits<std::int64_t>;
  return {limits::min(),         -(std::int64_t{1} << 40), -9,           -8, -3, -2, -1, 0, 1, 2, 3, 5, 8, 9, 17,
          std::int64_t{1} << 45, std::int64_t{1} << 62,    limits::max()};
}

inline std::vector<kg::attr_value> foreign_values() {
  std::vector<kg::attr_value> all = {kg::attr_value(true),
                                     kg::attr_value("bogus"),
                                     kg::attr_value(""),
                                     kg::attr_value(std::string(127, 'x')),
                                     kg::attr_value("SAME"),
                                     kg::attr_value("NHCW"),
                                     kg::attr_value(0.5),
                                     kg::attr_value(-1e300),
                                     kg::attr_value(HUGE_VAL),
                                     kg::attr_value(-HUGE_VAL),
                                     kg::attr_value(std::nan("")),
                                     kg::attr_value(kg::dtype::float16),
                                     kg::attr_value(kg::dtype::complex64),
                                     kg::attr_value(kg::dtype::int32)};
  for (std::int64_t i : foreign_integers()) all.emplace_back(i);
  for (std::size_t length : {0, 1, 2, 3, 4, 8, 9, 16})
    for (std::int64_t i : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 45,
                           std::numeric_limits<std::int64_t>::max()})
      all.emplace_back(std::vector<std::int64_t>(length, i));
  return all;
}

// A kind that the attribute never takes, whatever its value.
inline bool is_foreign_kind(const kg::attr_spec& spec, const kg::attr_value& value) {
  using kg::attr_kind;
  const bool numeric = value.kind() == attr_kind::integer || value.kind() == attr_kind::number;
  switch (spec.kind) {
    case attr_kind::integer:
    case attr_kind::number: return !numeric;
    case attr_kind::list:
      return value.kind() != attr_kind::list && !(spec.scalar_or_list && numeric) &&
             !(!spec.choices.empty() && value.kind() == attr_kind::text);
    default: return value.kind() != spec.kind;
  }
}
inline bool is_out_of_range(const kg::attr_spec& spec, const kg::attr_value& value) {
  // Where there is no bound on a side, infinity is inside.
  const auto outside = [&](double v) {
    return (v < spec.least && (spec.least > -1e308 || std::isfinite(v))) ||
           (v > spec.most && (spec.most < 1e308 || std::isfinite(v)));
  };
  if (value.kind() == kg::attr_kind::integer || value.kind() == kg::attr_kind::number)
    return outside(value.as_number());
  for (std::int64_t v : value.as_list())
    if (outside(static_cast<double>(v))) return true;
  return false;
}

inline void set_attr(bad_call& call, const std::string& name, const kg::attr_value& value) {
  std::erase_if(call.attrs, [&](const kg::named_attribute& a) { return a.name == name; });
  call.attrs.push_back({name, value});
}

inline std::vector<mutation> operand_mutations(const kg::op_row& row, const std::vector<kg::named_operand>& operands) {
  std::vector<mutation> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const kg::operand& spec = row.operands[row.takes_list() ? 0 : i];
    const std::string name(spec.name);
    all.push_back({name, [=](bad_call& c) {
                     c.label += " without " + name;
                     c.expected = verdict::refused;
                     std::erase_if(c.operands, [&](const auto& o) { return o.name == name; });
                   }});
    const auto change = [&](const std::string& label, verdict expected,
                            std::function<void(std::vector<kg::tensor>&)> edit) {
      all.push_back({name, [=](bad_call& c) {
                       for (kg::named_operand& o : c.operands)
                         if (o.name == name) edit(o.tensors);
                       c.label += " " + name + " " + label;
                       if (expected == verdict::refused) c.expected = expected;
                     }});
    };
    change("an empty handle", verdict::refused, [](auto& list) { list.assign(1, kg::tensor()); });
    change("an empty list", verdict::refused, [](auto& list) { list.clear(); });
    if (!row.takes_list())
      change("a list of two", verdict::refused,
             [](auto& list) { list.push_back(list.empty() ? kg::tensor() : list[0]); });
    for (int t = 0; t < kg::dtype_count - 2; ++t) {
      const kg::dtype type = static_cast<kg::dtype>(t);
      change("of " + std::string(kg::name_of(type)), spec.types.has(type) ? verdict::either : verdict::refused,
             [=](auto& list) {
               for (kg::tensor& x : list)
                 if (x.defined()) x = zeros_of(x.dims(), type);
             });
    }
    for (const kg::shape& dims : foreign_shapes())
      change(to_string(dims), verdict::either, [=](auto& list) {
        if (!list.empty() && list.back().defined()) list.back() = zeros_of(dims, list.back().type());
      });
  }
  for (const char* name : {"bogus", "X", "input ", "x\n", "attrs"})
    all.push_back({std::string("+") + name, [=](bad_call& c) {
                     c.label += " with operand " + std::string(name);
                     c.expected = verdict::refused;
                     c.operands.emplace_back(name, kg::tensor({1.f}));
                   }});
  return all;
}

inline std::vector<mutation> attribute_mutations(const kg::op_row& row) {
  std::vector<mutation> all;
  for (const kg::attr_spec& spec : row.attrs) {
    const std::string name(spec.name);
    all.push_back({"." + name, [=](bad_call& c) {
                     c.label += " without " + name;
                     if (spec.required) c.expected = verdict::refused;
                     std::erase_if(c.attrs, [&](const auto& a) { return a.name == name; });
                   }});
    for (const kg::attr_value& value : foreign_values())
      all.push_back({"." + name, [=](bad_call& c) {
                       c.label += " " + name + "=" + to_string(value);
                       if (is_foreign_kind(spec, value) || is_out_of_range(spec, value)) c.expected = verdict::refused;
                       set_attr(c, name, value);
                     }});
  }
  for (const char* name : {"bogus", "Axis", "axes", "stride", "padding", "dtype_", "", "keepdims", "attr with spaces"})
    for (const kg::attr_value& value : {kg::attr_value(1), kg::attr_value("valid"), kg::attr_value(false),
                                        kg::attr_value({1, 2}), kg::attr_value(0.5)})
      all.push_back({std::string(".") + name, [=](bad_call& c) {
                       c.label += " with attribute " + std::string(name);
                       c.expected = verdict::refused;
                       set_attr(c, name, value);
                     }});
  return all;
}

/// At least `least` calls of an op with one or two mistakes each, the same ones at every run.
inline std::vector<std::function<bad_call()>> bad_calls_of(const kg::op_row& row, std::size_t least) {
  std::vector<std::function<bad_call()>> all;
  std::vector<std::pair<bad_call, std::vector<mutation>>> starts;
  for (const sample& s : samples_of(row)) {
    bad_call start{s.label + ":", operands_for(row, s, precise_dtype(row)), s.attrs, verdict::either};
    if (row.takes_list() && start.operands[0].name.empty()) start.operands[0].name = row.operands[0].name;
    std::vector<mutation> mutations = operand_mutations(row, start.operands);
    for (mutation& m : attribute_mutations(row)) mutations.push_back(std::move(m));
    starts.emplace_back(std::move(start), std::move(mutations));
  }
  for (const auto& [start, mutations] : starts)
    for (const mutation& m : mutations)
      all.push_back([start = start, m] {
        bad_call call = start;
        m.make(call);
        return call;
      });
  stream draw(7);
  const std::size_t single = all.size(), wanted = std::max(least, single + 200);
  while (all.size() < wanted && !starts.empty()) {
    const auto& [start, mutations] = starts[draw.below(starts.size())];
    const mutation &first = mutations[draw.below(mutations.size())], &second = mutations[draw.below(mutations.size())];
    if (first.place == second.place) continue;
    all.push_back([start = start, first = first, second = second] {
      bad_call call = start;
      first.make(call);
      second.make(call);
      return call;
    });
  }
  return all;
}

}  // namespace kgtest
