// SPDX-License-Identifier: Apache-2.0
// Fuzz target: calls by name. The bytes choose an op, a legal call of it or none, and change operands and attributes.
// The call is explained before it is made: both must agree. Some calls are differentiated.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/support.h"

import kerngrad.testkit;

namespace {

using fuzz::choices;
using kg::attr_kind;
using kg::dtype;
using kg::tensor;

struct named_call {
  std::string op;
  std::vector<kg::named_operand> operands;
  std::vector<kg::named_attribute> attrs;
};

// ------------------------------------------------------------------------------------------ operands

kg::shape any_shape(choices& from) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 0, 4, 5, 8, 17};
  std::vector<std::int64_t> dims(from.below(6));
  std::int64_t count = 1;
  for (std::int64_t& size : dims) {
    size = sizes[from.below(std::size(sizes))];
    if (count * size > 4096) size = 1;
    count *= size;
  }
  return kg::shape(dims);
}

dtype any_dtype(choices& from, kg::dtype_set among) {
  const auto any = static_cast<dtype>(from.below(kg::dtype_count));
  if (from.below(16) == 1) return any;
  for (int i = 0; i < kg::dtype_count; ++i)
    if (const auto next = static_cast<dtype>((static_cast<int>(any) + i) % kg::dtype_count); among.has(next))
      return next;
  return any;
}

tensor any_tensor(choices& from, kg::dtype_set among) {
  const dtype type = any_dtype(from, among);
  const kg::shape dims = any_shape(from);
  const auto count = static_cast<std::size_t>(dims.size());
  if (type == dtype::text) {
    std::vector<std::string> texts(count);
    for (std::string& one : texts) one = from.text(6);
    return tensor(texts, dims);
  }
  std::vector<double> few(1 + from.below(8)), all(count * static_cast<std::size_t>(kg::parts_of(type)));
  for (double& one : few) one = from.number();
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = few[i % few.size()];
  return kg::testkit::from_doubles(all, dims, type);
}

// ------------------------------------------------------------------------------------------ attributes

std::string any_choice(choices& from, std::string_view all) {
  std::vector<std::string> each(1);
  for (const char c : all) {
    if (c == '|') each.emplace_back();
    else each.back() += c;
  }
  return each[from.below(each.size())];
}

kg::attr_value any_value(choices& from, attr_kind kind, std::string_view all_choices) {
  switch (kind) {
    case attr_kind::boolean: return from.flip();
    case attr_kind::integer: return from.integer();
    case attr_kind::number: return from.number();
    case attr_kind::dtype: return static_cast<dtype>(from.below(kg::dtype_count));
    case attr_kind::text:
      return all_choices.empty() || from.below(8) == 1
                 ? kg::attr_value(std::string_view(from.text(20)))
                 : kg::attr_value(std::string_view(any_choice(from, all_choices)));
    case attr_kind::numbers: {
      std::vector<double> list(from.below(from.flip() ? 5 : 20));
      for (double& one : list) one = from.number();
      return list;
    }
    default: {
      std::vector<std::int64_t> list(from.below(from.flip() ? 5 : 20));
      for (std::int64_t& one : list) one = from.integer();
      return list;
    }
  }
}

// ------------------------------------------------------------------------------------------ calls

const std::vector<kg::testkit::sample>& samples_of(const kg::op_row& row) {
  static std::map<std::string_view, std::vector<kg::testkit::sample>> known;
  const auto found = known.find(row.name);
  return found != known.end() ? found->second : known.emplace(row.name, kg::testkit::samples_of(row)).first->second;
}

named_call legal_call(choices& from, const kg::op_row& row) {
  const std::vector<kg::testkit::sample>& all = samples_of(row);
  const std::size_t which = from.below(256);
  const dtype type = any_dtype(from, row.operands.empty() ? kg::any_element : row.operands[0].types);
  if (all.empty()) return {std::string(row.name), {}, {}};
  const kg::testkit::sample& one = all[which % all.size()];
  return {std::string(row.name), kg::testkit::operands_for(row, one, type, 1 + from.bits(1)),
          kg::testkit::attributes_for(row, one, type)};
}

kg::named_operand any_operand(choices& from, const kg::operand& spec) {
  if (!spec.list) return {spec.name, any_tensor(from, spec.types)};
  std::vector<tensor> list(from.below(4));
  for (tensor& x : list) x = any_tensor(from, spec.types);
  return {spec.name, std::move(list)};
}

named_call any_call(choices& from, const kg::op_row& row) {
  named_call made{std::string(row.name), {}, {}};
  for (const kg::operand& spec : row.operands)
    if (!spec.optional || from.flip()) made.operands.push_back(any_operand(from, spec));
  for (const kg::attr_spec& spec : row.attrs)
    if (spec.required || from.flip())
      made.attrs.push_back({std::string(spec.name), any_value(from, spec.kind, spec.choices)});
  return made;
}

void change(choices& from, const kg::op_row& row, named_call& made) {
  switch (from.below(4)) {
    case 0:
      if (made.operands.empty() || row.operands.empty()) return;
      made.operands[from.below(made.operands.size())] =
          any_operand(from, row.operands[from.below(row.operands.size())]);
      return;
    case 1: {
      if (row.attrs.empty()) return;
      const kg::attr_spec& spec = row.attrs[from.below(row.attrs.size())];
      const auto kind = from.below(8) == 1 ? static_cast<attr_kind>(from.below(kg::attr_kind_count)) : spec.kind;
      std::erase_if(made.attrs, [&](const kg::named_attribute& a) { return a.name == spec.name; });
      made.attrs.push_back({std::string(spec.name), any_value(from, kind, spec.choices)});
      return;
    }
    case 2:
      if (from.below(8) == 1 && !made.operands.empty()) made.operands.pop_back();
      return;
    default:
      if (from.below(8) == 1) made.attrs.push_back({from.text(8), from.integer()});
  }
}

std::vector<kg::operand_ref> refs_of(const named_call& made) { return {made.operands.begin(), made.operands.end()}; }
std::vector<kg::attribute_ref> attrs_of(const named_call& made) { return {made.attrs.begin(), made.attrs.end()}; }

// Requires of a call the refusal or the results that `explain` told from shapes and dtypes.
void check_explained(const kg::explanation& told, const std::optional<std::vector<tensor>>& results) {
  if (!told.refusal.empty())
    return fuzz::require(!results, "a call runs that was explained as refused: " + told.refusal);
  if (!results || !told.decided_by.empty()) return;
  fuzz::require(told.results.size() == results->size(), "another number of results than explained");
  for (std::size_t i = 0; i < results->size(); ++i)
    fuzz::require(told.results[i].at_most || told.results[i].made == (*results)[i].signature(),
                  "another result than explained");
}

void differentiate(const named_call& made) {
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    if (made.operands[i].tensors.size() != 1 || !kg::differentiable.has(made.operands[i].tensors[0].type())) continue;
    const auto first_result = [&](const tensor& x) {
      named_call next = made;
      next.operands[i].tensors[0] = x;
      return kg::sum(kg::run_kernel_list(next.op, next.operands, next.attrs)[0]);
    };
    fuzz::accepted([&] {
      const tensor x = made.operands[i].tensors[0], dx = kg::grad(first_result)(x);
      fuzz::require(dx.dims() == x.dims(), "a gradient of another shape than its operand");
    });
    return;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> names = kg::op_names();
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    choices from(input);
    const kg::op_row* row = kg::row_named(names[from.bits(2) % names.size()]);
    if (!row) return;
    const std::size_t how = from.below(8);
    named_call made{std::string(row->name), {}, {}};
    if (!fuzz::accepted([&] {
          made = how == 0 ? any_call(from, *row) : legal_call(from, *row);
          for (std::size_t changes = from.below(4); changes > 0; --changes) change(from, *row, made);
        }))
      return;
    kg::explanation told;
    if (!fuzz::accepted([&] { told = kg::explain(made.op, refs_of(made), attrs_of(made)); }))
      fuzz::finding("explain throws");
    std::optional<std::vector<tensor>> results;
    fuzz::accepted([&] {
      const kg::tensor_list all = kg::run_kernel_list(made.op, made.operands, made.attrs);
      results.emplace(all.begin(), all.end());
    });
    check_explained(told, results);
    if (results && how % 2 == 1) differentiate(made);
  });
}
