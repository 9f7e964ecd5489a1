// SPDX-License-Identifier: Apache-2.0
// Wrong calls, hundreds an op: each is rejected with an error that names the op, or is legal after all; nothing else is
// thrown and nothing stays behind, while a gradient is recorded too.
module;
#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {

std::vector<attr_value> completed_attrs(const op_row& row, std::span<const named_attribute> given) {
  std::vector<attr_value> all;
  for (const attr_spec& spec : row.attrs) {
    attr_value value = default_of(spec);
    for (const named_attribute& a : given)
      if (a.name == spec.name) value = a.value;
    if (value.kind() == attr_kind::number && spec.kind != attr_kind::number) value = attr_value(value.as_integer());
    all.push_back(value);
  }
  return all;
}

namespace {

// The operands in the row's order, before promotion; empty where something is missing. A bit in `absent`
// for each optional operand that is.
std::vector<view> given_operands(const op_row& row, std::span<const named_operand> operands, std::uint32_t& absent) {
  const std::size_t single = row.operands.size() - (row.takes_list() ? 1 : 0);
  std::vector<view> all(single);
  std::uint32_t found = 0;
  for (const named_operand& o : operands)
    for (const tensor& x : o.tensors) {
      const int at = o.name.empty() && row.operands.size() == 1 ? 0 : row.operand_index(o.name);
      if (at < 0 || !x.defined()) return {};
      const operand& spec = row.operands[static_cast<std::size_t>(at)];
      const view seen{spec.part == role::read ? const_cast<void*>(x.address()) : nullptr, x.dims(), x.type()};
      if (spec.list) all.push_back(seen);
      else all[static_cast<std::size_t>(at)] = seen, found |= std::uint32_t{1} << at;
    }
  for (std::size_t i = 0; i < single; ++i) {
    if ((found >> i) & 1) continue;
    if (!row.operands[i].optional) return {};
    absent |= std::uint32_t{1} << i;
    all[i].type = all[0].type;
  }
  return all;
}

bool is_choice(const attr_spec& spec, const attr_value& value) {
  return spec.kind != attr_kind::text || spec.choices.empty() ||
         std::ranges::count(choices_of(spec), value.as_text()) > 0;
}

dtype computed_dtype(const op_row& row, const std::vector<view>& in, const std::vector<attr_value>& attrs) {
  dtype common = in.empty() ? dtype::float32 : in[0].type;
  bool any = false;
  for (const auto& [i, x] : ranges::views::enumerate(in)) {
    if (row.operand_at(i).part != role::value) continue;
    common = any ? promote(common, x.type) : x.type;
    any = true;
  }
  const int at = row.attr_index("dtype");
  if (!any && row.types.after == result::attribute && at >= 0) return attrs[static_cast<std::size_t>(at)].as_dtype();
  return lifted(common, row.types.before);
}

}  // namespace

std::vector<signature> results_by_rule(const op_row& row, std::span<const named_operand> operands,
                                       std::span<const named_attribute> given) {
  std::uint32_t absent = 0;
  std::vector<view> in = given_operands(row, operands, absent);
  if (in.empty() && !row.operands.empty()) return {};
  const std::vector<attr_value> attrs = completed_attrs(row, given);
  for (const auto& [spec, value] : ranges::views::zip(row.attrs, attrs))
    if (spec.required && !value.given()) return {};
    else if (value.given() && (is_foreign_kind(spec, value) || is_out_of_range(spec, value) || !is_choice(spec, value)))
      return {};
  const dtype compute = computed_dtype(row, in, attrs);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (row.operand_at(i).part == role::value) in[i].type = compute;
  inference call{row, in, attrs, compute, result_of(compute, row.types.after), {}, absent};
  try {
    row.infer(call);
  } catch (const error&) {
    return {};
  }
  return {call.out.begin(), call.out.end()};
}

namespace {

// Calls of an op with one mistake each and as many with two, the same ones at every run.
struct bad_calls {
  struct start {
    bad_call legal;
    std::vector<mutation> mutations;
  };
  struct mistake {
    std::size_t start;
    const mutation *first, *second;
  };
  std::vector<start> starts;
  std::vector<mistake> all;

  bad_call make(std::size_t i) const {
    bad_call call = starts[all[i].start].legal;
    all[i].first->make(call);
    if (all[i].second) all[i].second->make(call);
    return call;
  }
};

bad_calls bad_calls_of(const session& s) {
  const op_row& row = s.row;
  const dtype type = precise_dtype(row, s.how.dtypes);
  bad_calls made;
  for (const sample& legal : s.samples) {
    bad_call start{to_string(legal) + ":", operands_for(row, legal, type, s.how.seed, s.how.ranges), legal.attrs};
    if (row.takes_list() && start.operands[0].name.empty()) start.operands[0].name = row.operands[0].name;
    std::vector<mutation> mutations = operand_mutations(row, start.operands);
    for (mutation& m : attribute_mutations(row)) mutations.push_back(std::move(m));
    made.starts.push_back({std::move(start), std::move(mutations)});
  }
  for (const auto& [i, start] : ranges::views::enumerate(made.starts))
    for (const mutation& m : start.mutations) made.all.push_back({i, &m, nullptr});
  stream draw(7);
  constexpr std::size_t least = 500, pairs = 200;
  const std::size_t wanted = std::max(least, made.all.size() + pairs);
  while (made.all.size() < wanted) {
    const std::size_t i = draw.below(made.starts.size());
    const std::vector<mutation>& of = made.starts[i].mutations;
    const mutation &first = of[draw.below(of.size())], &second = of[draw.below(of.size())];
    if (first.target != second.target) made.all.push_back({i, &first, &second});
  }
  return made;
}

bool is_too_large(const session& s, const bad_call& call) {
  if (call.expected == verdict::refused) return false;
  double bytes = 0;
  for (const signature& y : results_by_rule(s.row, call.operands, call.attrs))
    bytes += static_cast<double>(y.dims.size()) * static_cast<double>(size_of(y.type));
  return bytes > static_cast<double>(s.how.largest_result);
}

// Fault of the answer to a wrong call, or nothing.
struct answer {
  bool refused = false;
  std::string complaint, wanted;
};
answer try_call(const session& s, const bad_call& call) {
  answer a;
  const std::string wanted = "kg::error that names the op and what was got";
  try {
    run_kernel_list(s.row.name, call.operands, call.attrs);
  } catch (const error& e) {
    a.refused = true;
    // Shapes and memory are rejected by the allocator and the shape rules.
    const bool named = e.op() == s.row.name || e.op() == "shape" || e.op() == "allocate" || e.op() == "attribute";
    if (!named || e.got().empty()) a.complaint = "the error \"" + std::string(e.what()) + "\"", a.wanted = wanted;
  } catch (const std::exception& e) {
    a = {.refused = true, .complaint = std::string("another exception: ") + e.what(), .wanted = wanted};
  } catch (...) {
    a = {.refused = true, .complaint = "an exception that is no std::exception", .wanted = wanted};
  }
  if (!a.refused && call.expected == verdict::refused) a = {.complaint = "a result", .wanted = "a refusal"};
  return a;
}

void judge(session& s, const bad_call& call) {
  if (is_too_large(s, call)) return;
  const memory_info before = memory();
  const answer a = try_call(s, call);
  const memory_info after = memory();
  s.found.counted(check::bad_calls);
  if (!a.complaint.empty()) s.found.add(check::bad_calls, call.label, a.complaint, a.wanted);
  if (after.live_buffers != before.live_buffers || after.live_bytes != before.live_bytes)
    s.found.add(check::bad_calls, call.label,
                std::to_string(after.live_buffers - before.live_buffers) + " live buffers more after the call",
                "as many as before");
}

// The same while a gradient is recorded: the tape is as usable afterwards as before.
void judge_recording(session& s, const bad_calls& made, std::size_t stride) {
  const auto all_bad_calls = [&](const tensor& x) {
    for (std::size_t i = 0; i < made.all.size(); i += stride) {
      bad_call call = made.make(i);
      for (named_operand& o : call.operands)
        for (tensor& t : o.tensors)
          if (t.defined() && t.dims() == x.dims() && t.type() == x.type()) t = x;
      if (is_too_large(s, call)) continue;
      call.expected = verdict::either;
      const answer a = try_call(s, call);
      s.found.counted(check::bad_calls);
      if (!a.complaint.empty()) s.found.add(check::bad_calls, "recorded " + call.label, a.complaint, a.wanted);
    }
    return sum(x * x);
  };
  const tensor x({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
  const std::vector<double> got = grad(all_bad_calls)(x).to_doubles(), expected = {2, 4, 6, 8, 10, 12};
  if (got != expected)
    s.found.add(check::bad_calls, "a recording of sum(x * x) with wrong calls in between", "another gradient", "2 x");
}

}  // namespace

void check_bad_calls(session& s) {
  if (s.samples.empty()) return;
  const bad_calls made = bad_calls_of(s);
  const std::size_t stride = s.how.thorough ? 1 : 7;
  for (std::size_t i = 0; i < made.all.size(); i += stride) judge(s, made.make(i));
  judge_recording(s, made, s.how.thorough ? 11 : 97);
  for (const sample& wrong : s.how.refused) {
    const dtype type = precise_dtype(s.row, s.how.dtypes);
    judge(s, {to_string(wrong), operands_for(s.row, wrong, type, s.how.seed, s.how.ranges), wrong.attrs,
              verdict::refused});
  }
}

}  // namespace kerngrad::testkit::detail

namespace kerngrad::testkit {

std::vector<wrong_call> wrong_calls_of(const op_row& row, std::size_t stride) {
  const options usual;
  const detail::session s{row, usual, report(row.name), samples_of(row), {}};
  const detail::bad_calls made = detail::bad_calls_of(s);
  std::vector<wrong_call> calls;
  for (std::size_t i = 0; i < made.all.size(); i += stride) {
    detail::bad_call call = made.make(i);
    calls.push_back({std::move(call.label), std::move(call.operands), std::move(call.attrs)});
  }
  return calls;
}

}  // namespace kerngrad::testkit
