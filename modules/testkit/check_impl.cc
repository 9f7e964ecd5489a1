// SPDX-License-Identifier: Apache-2.0
// check_op: the calls of a session, the checks in their order, and gradients of samples.
module;
#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit {
namespace detail {

bool session::wants(check which) const {
  return std::ranges::none_of(how.without, [&](const exclusion& e) { return e.which == which; });
}

std::vector<prepared> session::calls(bool long_ones) const {
  const std::vector<dtype> types = taken_dtypes(row, how.dtypes);
  std::vector<prepared> all;
  for (const auto& [type, call] : ranges::views::cartesian_product(types, long_ones ? long_samples : samples))
    all.push_back({std::string(kerngrad::name_of(type)) + " " + to_string(call), type,
                   operands_for(row, call, type, how.seed, how.ranges), attributes_for(row, call, type)});
  return all;
}

// ------------------------------------------------------------------------------------------ gradients of samples

differentiated::differentiated(const op_row& row, const prepared& call)
    : name(row.name), operands(call.operands), attrs(call.attrs) {
  for (const named_operand& o : operands)
    for (const tensor& x : o.tensors)
      if (differentiable.has(x.type())) leaves.push_back(x);
}

results_of differentiated::function() const {
  return [this](std::span<const tensor> xs) {
    std::vector<named_operand> with = operands;
    std::size_t at = 0;
    for (named_operand& o : with)
      for (tensor& x : o.tensors)
        if (differentiable.has(x.type())) x = xs[at++];
    return run_kernel_list(name, with, attrs);
  };
}

namespace {

// A remainder jumps where the quotient is whole.
bool near_a_jump(const op_row& row, const differentiated& call) {
  if (row.kinks != kink::whole_quotients || call.leaves.size() < 2) return false;
  if (call.leaves[0].size() * call.leaves[1].size() == 0) return false;
  const tensor quotient = call.leaves[0] / call.leaves[1];
  return min(abs(quotient - round(quotient))).item() < 0.02;
}

differentiated smooth_call(const session& s, const sample& call, dtype type) {
  constexpr std::uint64_t most = 100;  // fixed values stay the same
  for (std::uint64_t seed = s.how.seed;; ++seed) {
    const prepared drawn{"", type, operands_for(s.row, call, type, seed, s.how.ranges),
                         attributes_for(s.row, call, type)};
    differentiated smooth(s.row, drawn);
    if (!near_a_jump(s.row, smooth) || seed - s.how.seed == most) return smooth;
  }
}

bool is_precise(const differentiated& call, const tensor_list& results) {
  bool precise = true;
  constexpr dtype_set wide = only(dtype::float64) | only(dtype::complex128);
  for (const tensor& x : call.leaves) precise = precise && wide.has(x.type());
  for (int k = 0; k < results.size(); ++k) precise = precise && wide.has(results[k].type());
  return precise;
}

void judge_derivatives(session& s, const derivative_call& call) {
  const auto guarded = [&](check by, void (*judge)(report&, const derivative_call&)) {
    if (!s.wants(by)) return;
    try {
      judge(s.found, call);
    } catch (const std::exception& e) {
      s.found.add(by, call.label, std::string("the exception ") + e.what(), "derivatives");
    }
  };
  guarded(check::gradient, judge_gradient);
  guarded(check::second_order, judge_second_order);
  guarded(check::forward, judge_forward);
}

// Checks the gradient of a built-in op for one tensor as several operands. A custom op may have a pole there.
void judge_shared_operand(session& s, const differentiated& drawn, const std::string& label, const precision& at) {
  bool alike = is_known(s.row) && drawn.leaves.size() > 1;
  for (const tensor& x : drawn.leaves) alike = alike && x.signature() == drawn.leaves[0].signature();
  if (!alike) return;
  const results_of shared = [&](std::span<const tensor> xs) {
    return drawn.function()(std::vector<tensor>(drawn.leaves.size(), xs[0]));
  };
  // The operand with the higher least value, whose values are in the domain of the others.
  const bool is_first = s.row.domain.first.low >= s.row.domain.others.low;
  const std::vector<tensor> one = {is_first ? drawn.leaves[0] : drawn.leaves.back()};
  const derivative_call call{label + " with one tensor as all operands", shared, one, at, 0};
  if (s.wants(check::gradient)) judge_gradient(s.found, call);
  if (s.wants(check::second_order)) judge_second_order(s.found, call);
}

void judge_sample(session& s, const sample& call, dtype type) {
  const differentiated drawn = smooth_call(s, call, type);
  const std::string label = std::string(kerngrad::name_of(type)) + " " + to_string(call);
  const results_of f = drawn.function();
  tensor_list results;
  try {
    results = f(drawn.leaves);
  } catch (const std::exception&) {  // check::results has it
    return;
  }
  if (drawn.leaves.empty() || !first_differentiable(results)) return;
  const bool precise = is_precise(drawn, results);
  judge_derivatives(s, {label, f, drawn.leaves, precise ? fine : coarse, precise ? 1e-13 : 1e-5});
  if (type == precise_dtype(s.row, s.how.dtypes)) judge_shared_operand(s, drawn, label, precise ? fine : coarse);
}

// The same call on the same values, as float32.
void judge_halves(session& s, const sample& call, dtype type) {
  const differentiated drawn = smooth_call(s, call, type);
  differentiated wide = drawn;
  for (named_operand& o : wide.operands)
    for (tensor& x : o.tensors)
      if (differentiable.has(x.type())) x = cast(x, dtype::float32);
  const results_of f = drawn.function(), in_float32 = wide.function();
  try {
    if (drawn.leaves.empty() || !first_differentiable(f(drawn.leaves))) return;
  } catch (const std::exception&) {  // check::results has it
    return;
  }
  const std::string label = std::string(kerngrad::name_of(type)) + " " + to_string(call);
  judge_half_gradient(s.found, {label, f, drawn.leaves, coarse, 0}, in_float32);
}

}  // namespace

void check_derivatives(session& s) {
  if (!s.row.no_gradient.empty() || s.samples.empty()) return;
  const dtype precise = precise_dtype(s.row, s.how.dtypes);
  if (!s.how.dtypes.has(precise)) return;
  std::vector<dtype> types = {precise};
  const dtype_set taken = s.row.operands.empty() ? dtype_set{} : s.row.operands[0].types | s.row.operands.back().types;
  for (dtype pairs : {dtype::complex128, dtype::complex64}) {
    if (precise == pairs || !(taken & s.how.dtypes).has(pairs)) continue;
    types.push_back(pairs);
    break;  // the rules of both are one
  }
  for (const auto& [type, call] : ranges::views::cartesian_product(types, s.samples)) judge_sample(s, call, type);
  const std::vector<dtype> short_types = taken_dtypes(s.row, s.how.dtypes & halves);
  for (const auto& [type, call] : ranges::views::cartesian_product(short_types, s.samples))
    if (s.wants(check::gradient)) judge_halves(s, call, type);
  if (s.wants(check::gradient) && s.found.count(check::gradient) == 0)
    s.found.add(check::gradient, "all samples", "no differentiable result", "one, as the row gives no reason for none");
}

namespace {

// Reports attributes that all calls leave at their defaults: a fault for other values would not show.
void report_unset(session& s) {
  const std::vector<attr_value> defaults = completed_attrs(s.row, {});
  for (std::size_t i = 0; i < s.row.attrs.size(); ++i) {
    const auto sets = [&](const sample& call) {
      return std::ranges::any_of(call.attrs, [&](const named_attribute& a) {
        return a.name == s.row.attrs[i].name && to_string(a.value) != to_string(defaults[i]);
      });
    };
    if (std::ranges::none_of(s.samples, sets) && std::ranges::none_of(s.long_samples, sets))
      s.found.unset(s.row.attrs[i].name);
  }
}

void refuse_senseless(const options& how) {
  for (const exclusion& e : how.without)
    if (e.reason.empty())
      fail("check_op", "the check " + std::string(name_of(e.which)) + " skipped without a reason",
           "a text that says why");
}

// Runs one group of checks unless all of them are skipped. Objects that it leaves are a leak, found once.
void run_checks(session& s, std::vector<check> which, void (*run)(session&)) {
  if (std::ranges::none_of(which, [&](check c) { return s.wants(c); })) return;
  const std::int64_t before = memory().live_buffers;
  try {
    run(s);
  } catch (const std::exception& e) {
    s.found.add(which[0], "the check itself", std::string("the exception ") + e.what(), "none");
  }
  const std::int64_t more = memory().live_buffers - before;
  if (more != 0 && s.wants(check::memory) && s.found.failed(check::memory) == 0)
    s.found.add(check::memory, "all calls of the check " + std::string(name_of(which[0])),
                std::to_string(more) + " live tensors more", "as many as before");
}

void run_all(session& s) {
  run_checks(s, {check::memory}, check_memory);
  run_checks(s, {check::results}, check_results);
  run_checks(s, {check::targets, check::oracle}, check_values);
  run_checks(s, {check::special_values}, check_special_values);
  run_checks(s, {check::aliasing}, check_aliasing);
  run_checks(s, {check::determinism}, check_determinism);
  run_checks(s, {check::bad_calls}, check_bad_calls);
  run_checks(s, {check::gradient, check::second_order, check::forward}, check_derivatives);
}

}  // namespace
}  // namespace detail

report check_op(std::string_view name, const options& how) {
  const op_row* row = row_named(name);
  if (!row)
    fail("check_op", "the name " + std::string(name), "an op with a row: known, or registered with register_op",
         "give the kernel a row, or call check_op<Op>()");
  detail::refuse_senseless(how);
  detail::session s{*row, how, report(name), how.samples, how.samples};
  if (how.samples.empty()) {
    s.samples = samples_of(*row);
    s.long_samples = samples_of(*row, true);
  }
  for (const exclusion& e : how.without) s.found.exclude(e);
  s.found.counted(check::samples, static_cast<std::int64_t>(s.long_samples.size()));
  if (s.samples.empty())
    s.found.add(check::samples, "the row", "no legal call that follows from its family and attributes",
                "some in the option samples");
  detail::report_unset(s);
  // Without a scope, calls take the engine's fast path, as those of a program do.
  std::optional<backend_scope> on;
  if (how.backend != active_backend()) on.emplace(how.backend);
  detail::run_all(s);
  return std::move(s.found);
}

}  // namespace kerngrad::testkit
