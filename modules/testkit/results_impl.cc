// SPDX-License-Identifier: Apache-2.0
// Results: that they exist for every dtype and shape, and that every target gives those of the reference and the
// oracle.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

namespace views = ranges::views;

// How far a result may be from another kernel's, in units of epsilon. Movement, comparisons and integers are exact;
// functions agree to a few units in the last place; sums may be taken in another order.
double family_tolerance(const op_row& row) {
  switch (row.group) {
    case family::move: return row.cost > 0 ? 16 : 0;  // some ops add elements
    case family::create: return row.convention == convention::random ? 8 : 1;
    case family::elementwise: return row.convention == convention::select ? 0 : 8;
    case family::convert: return 8;
    default: return 64;  // reductions, softmax, products, windows
  }
}

// Halves are mostly rounded from float32: kernels that differ little there differ by one unit at most.
double relative_tolerance(const session& s, dtype type) {
  if (kind_of(type) < dtype_kind::half || type == dtype::text) return 0;
  const double family = family_tolerance(s.row);
  const double units = s.how.tolerance >= 0 ? s.how.tolerance : halves.has(type) ? std::min(family, 1.0) : family;
  return range_of_floats(type).epsilon * units;
}

bool accumulates(const op_row& row) { return row.group != family::elementwise && row.group != family::convert; }

struct mismatch {
  std::string got, wanted;
};

std::string signature_text(const signature& is) {
  return std::string(kerngrad::name_of(is.type)) + " " + to_string(is.dims);
}

// The first element that is too far off.
std::optional<mismatch> difference(const session& s, const tensor& got, const tensor& wanted) {
  if (!(got.signature() == wanted.signature()))
    return mismatch{signature_text(got.signature()), signature_text(wanted.signature())};
  const std::vector<double> a = doubles_of(got), b = doubles_of(wanted);
  double largest = 1;
  for (double v : b)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  const bool pairs = parts_of(wanted.type()) == 2;
  const double relative = relative_tolerance(s, wanted.type());
  const double smallest = range_of_floats(wanted.type()).least;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    // The error of a complex number is relative to its magnitude, not to that of the part.
    const double magnitude = pairs ? std::hypot(b[i], b[i ^ 1]) : std::fabs(b[i]);
    const double scale = accumulates(s.row) ? largest : std::max(magnitude, smallest);
    if (!(std::fabs(a[i] - b[i]) <= relative * scale))
      return mismatch{text_of(a[i]) + " as element " + std::to_string(i),
                      text_of(b[i]) + (relative > 0 ? ", within " + text_of(relative) + " of it" : "")};
  }
  return {};
}

void compare(session& s, check by, const std::string& label, const std::string& of, const tensor_list& got,
             const tensor_list& wanted) {
  s.found.counted(by);
  if (got.size() != wanted.size())
    return s.found.add(by, label, std::to_string(got.size()) + " results", std::to_string(wanted.size()) + of);
  for (int k = 0; k < got.size(); ++k)
    if (const std::optional<mismatch> m = difference(s, got[k], wanted[k]))
      s.found.add(by, label, m->got + (got.size() > 1 ? " of result " + std::to_string(k) : ""), m->wanted + of);
}

// The results of a call, with what is wrong about an exception in the report.
std::optional<tensor_list> attempt(session& s, check by, const prepared& call, const std::string& label) {
  try {
    return s.run(call);
  } catch (const std::exception& e) {
    s.found.add(by, label, std::string("the exception ") + e.what(), "results");
  }
  return {};
}

// A row may take a dtype for which a backend has no kernel: the refusal then says which dtypes there are. The built-in
// backends have kernels for every floating dtype.
bool is_hole(const session& s, const prepared& call, const error& e) {
  const bool may_lack = !differentiable.has(call.type) || (s.how.backend != "simd" && s.how.backend != "reference");
  return may_lack && e.got().starts_with("no kernel for") && !e.wanted().empty();
}

// True if the call can be made. If it should be and cannot, one check says so.
bool has_kernel(session& s, const prepared& call, bool report_it = false) {
  const auto refused = [&](const std::string& what) {
    if (report_it) s.found.add(check::results, call.label, what, "results");
    return false;
  };
  try {
    s.run(call);
    return true;
  } catch (const error& e) {
    return is_hole(s, call, e) ? false : refused(std::string("the error ") + e.what());
  } catch (const std::exception& e) {
    return refused(std::string("the exception ") + e.what());
  }
}

// ------------------------------------------------------------------------------------------ results

// Dtype of result k by the row.
std::optional<dtype> expected_dtype(const op_row& row, std::size_t k, const prepared& call) {
  const result after = k < row.results.size() ? row.results[k].type : row.types.after;
  if (after == result::attribute || after == result::ruled || call.operands.empty()) return {};
  std::optional<dtype> common;
  for (const named_operand& o : call.operands) {
    const operand& spec =
        row.operands[row.operands.size() == 1 ? 0 : static_cast<std::size_t>(row.operand_index(o.name))];
    for (const tensor& x : o.tensors)
      if (spec.part == role::value) common = common ? promote(*common, x.type()) : x.type();
  }
  if (!common) return {};
  const dtype lifts_to = lifted(*common, row.types.before);
  if (!integral.has(lifts_to) || computed_in(lifts_to, {}) == lifts_to || row.convention == convention::copy)
    return result_of(lifts_to, after);
  if (!is_known(row)) return {};  // up to its kernels
  return result_of(computed_in(lifts_to, kernel_dtypes(backend::simd, find_op(row.name))), after);
}

std::optional<shape> expected_shape(const op_row& row, const prepared& call) {
  if (!row.is_unary() && !row.is_binary()) return {};
  std::optional<shape> all = shape{};
  for (const named_operand& o : call.operands)
    for (const tensor& x : o.tensors)
      if (all) all = broadcast(*all, x.dims());
  return all;
}

void judge_results(session& s, const prepared& call, const tensor_list& got) {
  s.found.counted(check::results);
  if (got.empty()) return s.found.add(check::results, call.label, "no result", "at least one");
  if (const std::size_t named = s.row.results.size(); named && static_cast<std::size_t>(got.size()) != named)
    s.found.add(check::results, call.label, std::to_string(got.size()) + " results",
                std::to_string(named) + ", by the row");
  for (int k = 0; k < got.size(); ++k) {
    const std::optional<dtype> type = expected_dtype(s.row, static_cast<std::size_t>(k), call);
    if (type && got[k].type() != *type)
      s.found.add(check::results, call.label,
                  std::string(kerngrad::name_of(got[k].type())) + " as result " + std::to_string(k),
                  std::string(kerngrad::name_of(*type)) + ", by the row");
  }
  const std::optional<shape> dims = expected_shape(s.row, call);
  if (dims && !(got[0].dims() == *dims))
    s.found.add(check::results, call.label, "shape " + to_string(got[0].dims()),
                to_string(*dims) + ", as elementwise ops give");
}

// Value operands of different dtypes are promoted; text and numbers have no common dtype.
std::vector<prepared> mixed_calls(const session& s) {
  std::vector<prepared> all;
  if (s.row.operands.size() < 2 || s.samples.empty()) return all;
  const sample& call = s.samples.front();
  const std::vector<dtype> types = taken_dtypes(s.row, s.how.dtypes);
  for (const auto& [first, second] : views::cartesian_product(types, types)) {
    if (first == second || s.row.operands[0].part != role::value || s.row.operands[1].part != role::value) continue;
    if (!s.row.operands[0].types.has(first) || !s.row.operands[1].types.has(second)) continue;
    if (first == dtype::text || second == dtype::text) continue;
    prepared p{std::string(kerngrad::name_of(first)) + " and " + std::string(kerngrad::name_of(second)) + " " +
                   to_string(call),
               promote(first, second), operands_for(s.row, call, first, s.how.seed, s.how.ranges), call.attrs};
    const std::vector<named_operand> others = operands_for(s.row, call, second, s.how.seed, s.how.ranges);
    std::ranges::copy(others | views::drop(1), p.operands.begin() + 1);
    all.push_back(std::move(p));
  }
  return all;
}

// ------------------------------------------------------------------------------------------ targets and oracle

struct expected_results {
  prepared call;
  std::optional<tensor_list> reference, oracle;
};

std::optional<tensor_list> reference_results(session& s, check by, const prepared& call) {
  const backend_scope reference(backend::reference);
  try {
    tensor_list first = s.run(call);
    poison(first);
    return s.run(call);
  } catch (const error& e) {
    if (!e.got().starts_with("no kernel for"))
      s.found.add(by, "reference " + call.label, std::string("the error ") + e.what(), "results");
  }
  return {};
}

std::optional<tensor_list> oracle_results(session& s, check by, const prepared& call) {
  std::vector<operand_ref> operands(call.operands.begin(), call.operands.end());
  std::vector<attribute_ref> attrs;
  const std::vector<attr_value> values = completed_attrs(s.row, call.attrs);
  for (const auto& [spec, value] : views::zip(s.row.attrs, values))
    if (value.given()) attrs.emplace_back(spec.name, value);
  try {
    return s.how.oracle(kernel_call(s.row.name, "oracle", operands, attrs));
  } catch (const std::exception& e) {
    s.found.add(by, call.label, std::string("from the oracle the exception ") + e.what(), "results");
  }
  return {};
}

std::vector<expected_results> expectations(session& s, check compared, check judged, std::vector<prepared> calls) {
  std::vector<expected_results> all;
  for (prepared& call : calls) {
    if (!has_kernel(s, call)) continue;
    expected_results e{std::move(call), {}, {}};
    if (s.wants(compared)) e.reference = reference_results(s, compared, e.call);
    if (s.how.oracle && s.wants(judged)) e.oracle = oracle_results(s, judged, e.call);
    all.push_back(std::move(e));
  }
  return all;
}

// Restores the target, whatever an op throws.
struct simd_target_scope {
  std::string before = active_simd_target();
  simd_target_scope() = default;
  simd_target_scope(const simd_target_scope&) = delete;
  simd_target_scope& operator=(const simd_target_scope&) = delete;
  ~simd_target_scope() { set_simd_target(before); }
};

void judge_targets(session& s, check compared, check judged, std::vector<prepared> calls) {
  const std::vector<expected_results> all = expectations(s, compared, judged, std::move(calls));
  std::vector<std::string> targets;
  for (const simd_target& t : simd_targets()) targets.push_back(t.name);
  const simd_target_scope restored;
  if (s.how.backend != "simd") targets.resize(1);
  for (const std::string& target : targets) {
    if (s.how.backend == "simd") set_simd_target(target);
    for (const expected_results& e : all) {
      const std::string label = (s.how.backend == "simd" ? target : s.how.backend) + " " + e.call.label;
      if (e.reference || e.oracle) poison(e.reference ? *e.reference : *e.oracle);
      const std::optional<tensor_list> got = attempt(s, compared, e.call, label);
      if (!got) continue;
      if (e.reference) compare(s, compared, label, " as the reference gives", *got, *e.reference);
      if (e.oracle) compare(s, judged, label, " as the oracle gives", *got, *e.oracle);
    }
  }
}

// ------------------------------------------------------------------------------------------ special values

std::vector<double> special_values(dtype type) {
  using limits = std::numeric_limits<double>;
  const auto [epsilon, least, most] = range_of_floats(type);
  return {limits::quiet_NaN(),
          limits::infinity(),
          -limits::infinity(),
          0.0,
          -0.0,
          1,
          -1,
          0.5,
          -2.5,
          3,
          1e4,
          -1e4,
          most,
          -most,
          least,
          -least};
}

// All pairs of special values, or all of them, in one call of each dtype and choice of attributes.
std::vector<prepared> special_calls(const session& s) {
  const std::size_t count = s.row.operands.size();
  std::vector<prepared> all;
  if (!(s.row.is_unary() || s.row.is_binary()) || count > 2 || s.samples.empty()) return all;
  std::vector<attributes> choices;
  for (const sample& call : s.samples) {
    bool known = false;
    for (const attributes& attrs : choices)
      known = known || to_string(sample{{}, attrs}) == to_string(sample{{}, call.attrs});
    if (!known) choices.push_back(call.attrs);
  }
  for (dtype type : taken_dtypes(s.row, s.how.dtypes & floating)) {
    const std::vector<double> values = special_values(type);
    std::vector<double> sides[2];
    for (const auto& [a, b] : views::cartesian_product(values, values)) {
      sides[0].push_back(a);
      sides[1].push_back(b);
    }
    for (const attributes& attrs : choices) {
      prepared p{std::string(kerngrad::name_of(type)) + " special values" + (attrs.empty() ? "" : " ") +
                     (attrs.empty() ? "" : to_string(sample{{}, attrs})),
                 type,
                 {},
                 attrs};
      for (std::size_t i = 0; i < count; ++i)
        p.operands.emplace_back(s.row.operands[i].name,
                                from_doubles(sides[i], {static_cast<std::int64_t>(sides[i].size())}, type));
      if (!results_by_rule(s.row, p.operands, p.attrs).empty()) all.push_back(std::move(p));
    }
  }
  return all;
}

}  // namespace

void check_results(session& s) {
  std::vector<prepared> calls = s.calls(true);
  for (prepared& p : mixed_calls(s)) calls.push_back(std::move(p));
  for (const prepared& call : calls)
    if (has_kernel(s, call, true)) judge_results(s, call, s.run(call));
  if (!s.samples.empty() && s.found.count(check::results) == 0 && s.found.failed(check::results) == 0)
    s.found.add(check::results, "all samples", "no call that can be made",
                "a dtype that the row, the options and the backend " + s.how.backend + " have");
}

void check_values(session& s) { judge_targets(s, check::targets, check::oracle, s.calls(true)); }

void check_special_values(session& s) {
  judge_targets(s, check::special_values, check::special_values, special_calls(s));
}

}  // namespace kerngrad::testkit::detail
