// SPDX-License-Identifier: Apache-2.0
// Elementwise steps as one: a step and those before it that only it and its like read. They run as a fused expression,
// in blocks, and what lies between them is never stored. All arrays in it have one shape; broadcasting ones are left to
// the ops, whose walks are made for them.
module;
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <queue>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph::detail {

namespace {

// Limits of one expression. Each operand takes room in every block, and each step a pass over it.
constexpr std::size_t most_steps = 24, most_operands = 8;

class element_fuser {
 public:
  explicit element_fuser(sequence& s)
      : s_(s), reads_(reads_of(s)), read_(reads_.size(), 0), maker_(static_cast<std::size_t>(s.values), -1) {
    for (std::size_t i = 0; i < s_.steps.size(); ++i)
      for (const std::int32_t v : s_.steps[i].out)
        if (v >= 0) maker_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
  }
  // From the end, so that an expression ends with the last step that can be in it.
  void run() {
    std::vector<bool> taken(s_.steps.size(), false);
    for (std::size_t i = s_.steps.size(); i-- > 0;) {
      if (taken[i] || !is_elementwise(i)) continue;
      const std::vector<std::size_t> members = members_behind(i, taken);
      if (members.size() < 2) continue;
      for (const std::size_t m : members) taken[m] = true;
      join(members);
    }
  }

 private:
  step& at(std::size_t i) { return s_.steps[i]; }
  // The shape of an array of floats as it was while the graph was planned. Transposes have moved since; what is read
  // next to each other has moved alike.
  const shape* shape_of(std::int32_t v) const {
    if (v < 0) {
      const tensor& x = s_.constants[v].x;
      return x.defined() && x.type() == dtype::float32 ? &x.dims() : nullptr;
    }
    const auto index = static_cast<std::size_t>(v);
    if (index >= s_.seen.size() || !s_.seen[index] || s_.seen[index]->type != dtype::float32) return nullptr;
    return &s_.seen[index]->dims;
  }
  bool is_number(std::int32_t v) const {
    if (v >= 0) return false;
    const tensor& x = s_.constants[v].x;
    return x.defined() && x.size() == 1 && x.type() == dtype::float32;
  }
  bool is_elementwise(std::size_t i);
  std::vector<std::size_t> members_behind(std::size_t last, const std::vector<bool>& taken);
  std::vector<std::int32_t> operands_of(std::span<const std::size_t> members) const;
  void join(std::span<const std::size_t> members);

  sequence& s_;
  const std::vector<int> reads_;
  std::vector<int> read_;  // how often members of an expression read each value; zeros between two expressions
  std::vector<std::int32_t> maker_;
};

// A sum of two is an addition, which has a row of its own.
std::string_view row_of(const step& s) {
  return s.kernel == "AddN" && s.in.size() == 2 ? std::string_view("Add") : s.kernel;
}

// The operands of a step in the order of the row; none where there are not as many.
std::vector<std::int32_t> operands_in_order(const step& s) {
  if (row_of(s) != s.kernel) return s.in;
  std::vector<std::int32_t> all;
  for (const operand& wanted : row_named(s.kernel)->operands) {
    const std::optional<std::int32_t> found = operand_of(s, wanted.name);
    if (!found) return {};
    all.push_back(*found);
  }
  return all;
}

// All that it reads are numbers, or arrays of the shape that it gives.
bool element_fuser::is_elementwise(std::size_t i) {
  const step& s = at(i);
  if (s.kind != plan_step_kind::call || s.out.size() != 1 || s.out[0] < 0 || !can_be_fused(row_of(s))) return false;
  const shape* dims = shape_of(s.out[0]);
  const std::vector<std::int32_t> in = operands_in_order(s);
  return dims && !in.empty() && std::ranges::all_of(in, [&](std::int32_t v) {
           const shape* of = shape_of(v);
           return of && (is_number(v) || *of == *dims);
         });
}

// The steps of an expression that ends with one, from it backwards. A step joins once all who read it are there.
std::vector<std::size_t> element_fuser::members_behind(std::size_t last, const std::vector<bool>& taken) {
  std::vector<std::size_t> members;
  std::vector<std::int32_t> counted;
  std::priority_queue<std::size_t> next;
  next.push(last);
  while (!next.empty() && members.size() < most_steps) {
    const std::size_t i = next.top();
    while (!next.empty() && next.top() == i) next.pop();
    const auto out = static_cast<std::size_t>(at(i).out[0]);
    if (i != last && read_[out] != reads_[out]) continue;
    members.push_back(i);
    if (operands_of(members).size() > most_operands) {
      members.pop_back();
      continue;
    }
    for (const std::int32_t v : at(i).in) {
      if (v < 0) continue;
      ++read_[static_cast<std::size_t>(v)];
      counted.push_back(v);
      if (maker_[static_cast<std::size_t>(v)] < 0) continue;
      const auto from = static_cast<std::size_t>(maker_[static_cast<std::size_t>(v)]);
      if (!taken[from] && is_elementwise(from)) next.push(from);
    }
  }
  for (const std::int32_t v : counted) read_[static_cast<std::size_t>(v)] = 0;
  return members;
}

// Values that the members read and none of them computes, numbers aside.
std::vector<std::int32_t> element_fuser::operands_of(std::span<const std::size_t> members) const {
  std::vector<std::int32_t> all;
  for (const std::size_t m : members)
    for (const std::int32_t v : s_.steps[m].in) {
      const auto gives = [&](std::size_t other) { return s_.steps[other].out[0] == v; };
      if (!is_number(v) && std::ranges::none_of(members, gives) && std::ranges::find(all, v) == all.end())
        all.push_back(v);
    }
  return all;
}

// The last member does it all; the others give what nobody reads and are dropped.
void element_fuser::join(std::span<const std::size_t> members) {
  std::vector<std::int32_t> operands = operands_of(members);
  std::string names;
  const auto expression = [&](std::span<const symbol> xs) {
    std::vector<std::pair<std::int32_t, symbol>> known;
    for (std::size_t k = 0; k < operands.size(); ++k) known.emplace_back(operands[k], xs[k]);
    for (auto m = members.rbegin(); m != members.rend(); ++m) {
      const step& s = at(*m);
      std::vector<fuse_operand> in;
      for (const std::int32_t v : operands_in_order(s)) {
        if (is_number(v)) in.emplace_back(s_.constants[v].x.item());
        else in.emplace_back(std::ranges::find(known, v, &std::pair<std::int32_t, symbol>::first)->second);
      }
      const std::vector<attribute_ref> attrs(s.attrs.begin(), s.attrs.end());
      known.emplace_back(s.out[0], kerngrad::call(row_of(s), in, attrs));
      names += (names.empty() ? "" : ", ") + s.kernel;
    }
    return known.back().second;
  };
  step& last = at(members.front());
  last.together = fuse(static_cast<int>(operands.size()), expression);
  last.kind = plan_step_kind::fused;
  last.kernel = names;
  last.in = std::move(operands);
  last.operands.clear(), last.attrs.clear();
}

}  // namespace

void fuse_elements(sequence& s) { element_fuser(s).run(); }

}  // namespace kerngrad::graph::detail
