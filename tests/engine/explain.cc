// SPDX-License-Identifier: Apache-2.0
// An explanation says what the call then does: for all rows, dtypes and backends in one loop, and for what a program
// has registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "tests/support/full.h"
#include "tests/support/refusal.h"
import kerngrad.testkit;

namespace my {

struct Softshrink {
  static constexpr kg::operand operands[] = {{"x", kg::floating}};
  static constexpr kg::attr_spec attrs[] = {
      {"lambda", kg::attr_kind::number, "half width of the dead zone", false, 0.5}};
  static constexpr kg::op_row row{.name = "MySoftshrink",
                                  .doc = "x moved towards 0 by lambda.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .attrs = attrs,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  template <class T>
  static constexpr auto shrink = [](T x, double lambda) {
    return static_cast<T>(x > lambda ? x - lambda : x < -lambda ? x + lambda : 0);
  };
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>(shrink<float>), kg::per_element<double>(shrink<double>));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) {
    return kg::where(kg::abs(c.in(0)) > c.template attr<"lambda">().as_number(), c.dy(), kg::zeros_like(c.dy()));
  }));
};

}  // namespace my

namespace {

using namespace kgtest;
using kg::dtype;
using kg::tensor;
using kg::testkit::operands_for;
using kg::testkit::sample;
using kg::testkit::samples_of;

// The widest dtype that an op computes in.
kg::dtype precise_dtype(const kg::op_row& row) {
  for (const kg::operand& spec : row.operands)
    for (kg::dtype type : {dtype::float64, dtype::float32, dtype::complex64})
      if (spec.part == kg::role::value && spec.types.has(type)) return type;
  return dtype::float32;
}

// Calls of one name that the hooks saw, and the casts before and after it.
struct seen_runs {
  std::vector<std::string> casts;
  std::string op, backend, target;
  dtype compute = dtype::float32;
};
kg::hook_handle watch(seen_runs& seen, std::string_view name) {
  kg::hooks hooks;
  hooks.this_thread_only = true;
  hooks.end = [&seen, name](const kg::kernel_event& e) {
    if (e.op != name || name == "Cast") seen.casts.emplace_back(e.op);
    if (e.op != name) return;
    seen.op = e.op, seen.backend = e.backend, seen.target = e.target, seen.compute = e.compute;
  };
  return kg::add_hooks(std::move(hooks));
}

std::vector<kg::operand_ref> refs(const std::vector<kg::named_operand>& operands) {
  return {operands.begin(), operands.end()};
}
std::vector<kg::attribute_ref> refs(const std::vector<kg::named_attribute>& attrs) {
  return {attrs.begin(), attrs.end()};
}
kg::explanation explained(const std::string& name, const std::vector<kg::named_operand>& operands,
                          const std::vector<kg::named_attribute>& attrs) {
  return kg::explain(name, refs(operands), refs(attrs));
}
std::size_t casts_of(const kg::explanation& told) {
  std::size_t count = 0;
  for (const kg::explained_operand& o : told.operands)
    for (const kg::explained_tensor& x : o.given) count += x.cast.has_value();
  for (const kg::explained_result& y : told.results) count += y.cast_from.has_value();
  return count;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// True if a refusal is about elements, such as an index out of range or a box with NaN, which only the run sees: with
// other elements the call is not rejected, or for another reason.
bool is_about_elements(const std::string& text, const std::string& name, const std::vector<kg::named_operand>& operands,
                       const std::vector<kg::named_attribute>& attrs) {
  return std::ranges::any_of(std::array{0.0, 1.0}, [&](double value) {
    std::vector<kg::named_operand> others = operands;
    for (kg::named_operand& o : others)
      for (kg::tensor& x : o.tensors)
        if (x.defined()) x = kg::full(x.dims(), value, x.type());
    return refusal([&] { return kg::run_kernel_list(name, others, attrs); }) != text;
  });
}

// Runs the call, and compares it with what was told before.
void expect_told(const std::string& name, const std::vector<kg::named_operand>& operands,
                 const std::vector<kg::named_attribute>& attrs) {
  const kg::explanation told = explained(name, operands, attrs);
  seen_runs seen;
  kg::tensor_list out;
  std::string text;
  {
    const kg::hook_handle hook = watch(seen, name);
    text = refusal([&] { return out = kg::run_kernel_list(name, operands, attrs); });
  }
  if (told.refusal.empty() && text != accepted) {
    EXPECT_TRUE(is_about_elements(text, name, operands, attrs)) << text;
    return;
  }
  if (text != accepted || !told.refusal.empty()) {
    EXPECT_EQ(told.refusal, text);
    EXPECT_FALSE(told.runs);
    return;
  }
  ASSERT_EQ(told.results.size(), static_cast<std::size_t>(out.size()));
  for (int k = 0; k < out.size(); ++k) {
    const kg::explained_result& result = told.results[static_cast<std::size_t>(k)];
    EXPECT_EQ(result.made.type, out[k].type());
    if (result.at_most) EXPECT_TRUE(kg::is_within(out[k].dims(), result.made.dims)) << k;
    else EXPECT_EQ(result.made, out[k].signature());
  }
  EXPECT_EQ(told.shares_elements, seen.op != name) << seen.op;
  EXPECT_EQ(casts_of(told), name == "Cast" ? 0 : seen.casts.size());
  EXPECT_EQ(told.runs.has_value(), !told.shares_elements);
  if (told.shares_elements || !told.runs) return;
  EXPECT_EQ(told.compute, seen.compute);
  EXPECT_EQ(told.runs->backend, seen.backend);
  // A build with the option simd_dtypes says more of a reference kernel.
  if (seen.target.empty()) EXPECT_TRUE(told.runs->code.find("plain C++ (baseline)") != std::string::npos);
  else EXPECT_EQ(told.runs->code, seen.target);
}

struct on_backend {
  explicit on_backend(std::string_view name) { kg::set_backend(name); }
  ~on_backend() {
    kg::set_backend(kg::backend::simd);
    kg::set_fallback(kg::fallback::refuse);
  }
};
// A backend of this test alone.
struct backend_here {
  std::string name;
  explicit backend_here(const std::string& name, int priority = 2) : name(name) {
    kg::register_backend(name, [] { return std::shared_ptr<kg::storage>(); }, priority);
  }
  ~backend_here() {
    kg::set_fallback(kg::fallback::refuse);
    kg::remove_backend(name);
  }
};

const kg::explained_kernel& candidate(const kg::explanation& told, std::string_view backend, kg::kernel_origin origin) {
  for (const kg::explained_kernel& k : told.candidates)
    if (k.backend == backend && k.origin == origin) return k;
  throw std::runtime_error("no such candidate:\n" + to_string(told));
}

// ------------------------------------------------------------------------------------------ all rows

class every_explanation : public ::testing::TestWithParam<std::string> {};

TEST_P(every_explanation, says_what_the_call_then_does_on_both_backends) {
  const kg::op_row& row = *kg::row_named(GetParam());
  const std::vector<sample> samples = samples_of(row);
  for (const char* backend : {"simd", "reference"}) {
    const on_backend here(backend);
    for (const auto& [call, t] : ranges::views::cartesian_product(samples, ranges::views::iota(0, kg::dtype_count))) {
      SCOPED_TRACE(std::string(backend) + " " + std::string(kg::name_of(static_cast<dtype>(t))) + " " +
                   to_string(call));
      expect_told(GetParam(), operands_for(row, call, static_cast<dtype>(t)),
                  kg::testkit::attributes_for(row, call, static_cast<dtype>(t)));
      if (HasFailure()) return;
    }
  }
}

TEST_P(every_explanation, of_operands_of_mixed_dtypes_says_which_are_cast) {
  const kg::op_row& row = *kg::row_named(GetParam());
  for (const sample& call : samples_of(row)) {
    std::vector<kg::named_operand> operands = operands_for(row, call, dtype::float64);
    for (kg::named_operand& o : operands)
      for (std::size_t i = &o == &operands.front() ? 1 : 0; i < o.tensors.size(); ++i)
        if (o.tensors[i].type() == dtype::float64) o.tensors[i] = kg::cast(o.tensors[i], dtype::float32);
    SCOPED_TRACE(to_string(call));
    expect_told(GetParam(), operands, call.attrs);
  }
}

TEST_P(every_explanation, of_a_wrong_call_has_the_text_of_its_error) {
  const kg::op_row& row = *kg::row_named(GetParam());
  std::size_t refused = 0;
  for (const kg::testkit::wrong_call& call : kg::testkit::wrong_calls_of(row, full() ? 1 : 5)) {
    SCOPED_TRACE(call.label);
    const kg::explanation told = explained(GetParam(), call.operands, call.attrs);
    std::int64_t size = 0;  // what is legal and huge is not run
    for (const kg::explained_result& y : told.results) size += y.made.dims.size() >> 20;
    if (size == 0) expect_told(GetParam(), call.operands, call.attrs);
    refused += !told.refusal.empty();
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 0u);
}

TEST_P(every_explanation, from_shapes_alone_is_the_same_or_says_whose_elements_decide) {
  const kg::op_row& row = *kg::row_named(GetParam());
  const bool elements_decide =
      std::ranges::any_of(row.operands, [](const kg::operand& o) { return o.part == kg::role::read; });
  for (const sample& call : samples_of(row)) {
    const std::vector<kg::named_operand> operands = operands_for(row, call, precise_dtype(row));
    std::vector<kg::operand_signature> signatures;
    for (const kg::named_operand& o : operands) {
      signatures.push_back({o.name, {}});
      for (const tensor& x : o.tensors) signatures.back().tensors.push_back(x.signature());
    }
    const kg::memory_info before = kg::memory();
    const std::string told = to_string(kg::explain(GetParam(), signatures, refs(call.attrs)));
    if (elements_decide) EXPECT_NE(told.find("\ngives what the elements of "), std::string::npos) << told;
    else EXPECT_EQ(told, to_string(explained(GetParam(), operands, call.attrs)));
    EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
    EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
  }
}

// The same elements in a buffer with no other owner.
tensor copy_of(const tensor& x) { return kg::testkit::from_doubles(kg::testkit::doubles_of(x), x.dims(), x.type()); }

std::int64_t bytes_of(const kg::signature& s) { return s.dims.size() * static_cast<std::int64_t>(kg::size_of(s.type)); }

// Bytes in memory while only a pullback through -op(operands) is held; the negation saves nothing.
std::int64_t bytes_held(const std::string& name, std::vector<kg::named_operand> operands,
                        const std::vector<kg::named_attribute>& attrs) {
  std::int64_t before = kg::memory().live_bytes;
  std::vector<tensor> leaves;
  for (kg::named_operand& o : operands)
    for (tensor& x : o.tensors) {
      x = copy_of(x);
      if (kg::differentiable.has(x.type())) leaves.push_back(x);
    }
  kg::value_and_pullback_list made = kg::vjp_of(
      [&](std::span<const tensor> xs) {
        std::size_t at = 0;
        std::vector<kg::named_operand> with = operands;
        for (kg::named_operand& o : with)
          for (tensor& x : o.tensors)
            if (kg::differentiable.has(x.type())) x = xs[at++];
        return -kg::run_kernel_list(name, with, attrs).front();
      },
      leaves);
  made.value = {};
  leaves.clear();
  operands.clear();
  return kg::memory().live_bytes - before;
}

// A pullback holds what its recording saved, and the value.
TEST_P(every_explanation, counts_the_bytes_that_a_recording_holds) {
  const kg::op_row& row = *kg::row_named(GetParam());
  for (const sample& call : samples_of(row)) {
    const std::vector<kg::named_operand> operands = operands_for(row, call, precise_dtype(row));
    const kg::explanation told = explained(GetParam(), operands, call.attrs);
    std::int64_t saved = 0;
    bool any = false;
    for (const kg::explained_operand& o : told.operands) {
      any = any || o.has_gradient;
      for (const kg::explained_tensor& x : o.given) saved += x.kept == kg::keeping::whole ? bytes_of(x.given) : 0;
    }
    for (const kg::explained_result& y : told.results) saved += y.kept == kg::keeping::whole ? bytes_of(y.made) : 0;
    EXPECT_EQ(told.gradient.saved_bytes, saved) << to_string(call);
    // A result that shares its operand's elements, or one of several, is not counted by what the memory says.
    if (!any || told.shares_elements || told.results.size() != 1) continue;
    EXPECT_EQ(bytes_held(GetParam(), operands, call.attrs), saved + bytes_of(told.results[0].made)) << to_string(call);
  }
}

INSTANTIATE_TEST_SUITE_P(all, every_explanation, ::testing::ValuesIn(kg::op_names()));

TEST(an_explanation, without_arguments_tells_what_there_is) {
  for (const std::string& name : kg::op_names()) {
    const kg::op_row& row = *kg::row_named(name);
    const kg::explanation told = kg::explain(name);
    EXPECT_TRUE(told.found && told.known && !told.of_call && told.refusal.empty()) << name;
    EXPECT_EQ(told.operands.size(), row.operands.size()) << name;
    EXPECT_EQ(told.attributes.size(), row.attrs.size()) << name;
    EXPECT_EQ(told.gradient.origin == kg::gradient_origin::rule, row.no_gradient.empty()) << name;
    EXPECT_EQ(told.gradient.why_none, row.no_gradient) << name;
    for (int b = 0; b < kg::backend_count; ++b) {
      const kg::backend which = static_cast<kg::backend>(b);
      const kg::dtype_set types = kg::kernel_dtypes(which, kg::find_op(name));
      if (types.bits) EXPECT_EQ(candidate(told, kg::name_of(which), kg::kernel_origin::built_in).dtypes, types) << name;
    }
  }
}

TEST(an_explanation, of_an_unknown_name_has_similar_ones_and_the_error_of_a_call) {
  const kg::explanation told = kg::explain("Relo", {{"x", tensor({1.f})}});
  EXPECT_FALSE(told.found);
  EXPECT_EQ(std::ranges::count(told.similar, "Relu"), 1);
  EXPECT_EQ(told.refusal, refusal([] { return kg::run_kernel("Relo", {{"x", tensor({1.f})}}); }));
  EXPECT_EQ(kg::explain("Relo").similar, told.similar);
  EXPECT_TRUE(contains(to_string(kg::explain("")), "no op"));
}

TEST(an_explanation, is_written_to_a_stream_as_its_text) {
  const kg::explanation told = kg::explain("LeakyRelu", {{"x", tensor({1, 2})}}, {{"alpha", 0.3}});
  std::ostringstream out;
  out << told;
  EXPECT_EQ(out.str(), to_string(told));
  for (const char* part : {"LeakyRelu", "x = int32 [2] cast to float32", "alpha = 0.3", "gives float32 [2]", "> simd",
                           "backend simd is active", "rule in grads/"})
    EXPECT_TRUE(contains(out.str(), part)) << part << "\n" << out.str();
}

TEST(an_explanation, calls_an_integer_operand_constant_though_it_is_cast_to_a_float) {
  const kg::explanation told = kg::explain("Add", {{"a", tensor({1.f, 2.f})}, {"b", tensor({1, 2})}});
  EXPECT_TRUE(told.operands[0].has_gradient);
  EXPECT_FALSE(told.operands[1].has_gradient);
  EXPECT_TRUE(contains(told.operands[1].constant_because, "int32"));
}

TEST(an_explanation, names_every_compiled_target_and_the_active_one) {
  const std::vector<kg::simd_target> supported = kg::simd_targets();
  for (const kg::simd_target& pinned : supported) {
    kg::set_simd_target(pinned.name);
    const kg::explanation told = kg::explain("Exp", {{"x", tensor({1.f})}});
    EXPECT_EQ(told.runs->code, pinned.name);
    for (const kg::compiled_target& t : told.targets) {
      EXPECT_EQ(t.active, t.name == pinned.name);
      EXPECT_EQ(t.supported, std::ranges::count(supported, t.name, &kg::simd_target::name) == 1);
    }
  }
  kg::set_simd_target("");
}

// ------------------------------------------------------------------------------------------ what is registered

kg::kernel_config doubled(const std::string& name, const std::string& backend) {
  kg::kernel_config config;
  config.name = name;
  config.backend = backend;
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    return {call.operands()[0].tensors[0] + call.operands()[0].tensors[0]};
  };
  return config;
}

TEST(an_explanation, shows_a_registered_kernel_in_place_of_a_built_in_one) {
  const kg::registration mine = kg::scoped_kernel(doubled("Exp", "simd"), kg::existing::replace);
  const kg::explanation told = kg::explain("Exp", {{"x", tensor({1.f})}});
  ASSERT_TRUE(told.runs);
  EXPECT_EQ(told.runs->origin, kg::kernel_origin::registered);
  EXPECT_TRUE(contains(candidate(told, "simd", kg::kernel_origin::registered).where, "explain.cc"));
  EXPECT_TRUE(contains(candidate(told, "simd", kg::kernel_origin::built_in).why_not, "replaced by"));
  EXPECT_EQ(kg::run_kernel("Exp", {{"x", tensor({1.f})}}).item(), 2);
}

TEST(an_explanation, of_a_backend_without_the_kernel_says_why_and_what_falls_back) {
  const backend_here own("explained");
  EXPECT_FALSE(candidate(kg::explain("Exp"), "explained", kg::kernel_origin::none).alive);
  const on_backend active("explained");
  const std::vector<kg::named_operand> x = {{"x", tensor({1.f, 2.f})}};
  expect_told("Exp", x, {});
  EXPECT_TRUE(contains(explained("Exp", x, {}).refusal, "set_fallback"));
  EXPECT_TRUE(
      contains(candidate(explained("Exp", x, {}), "simd", kg::kernel_origin::built_in).why_not, "refused") ||
      contains(candidate(explained("Exp", x, {}), "simd", kg::kernel_origin::built_in).why_not, "set_fallback"));
  kg::set_fallback(kg::fallback::by_priority);
  expect_told("Exp", x, {});
  EXPECT_EQ(explained("Exp", x, {}).runs->backend, "simd");
  EXPECT_TRUE(contains(candidate(explained("Exp", x, {}), "reference", kg::kernel_origin::built_in).why_not, "simd"));
}

TEST(an_explanation, finds_the_kernels_of_a_backend_that_was_registered_with_a_table) {
  std::vector<kg::kernels::entry> table;
  for (const kg::kernels::entry& k : kg::simd_kernels)
    if (std::string_view(k.op) == "Exp" && k.type == dtype::float32) table.push_back(k);
  kg::register_kernel_table("tabled", table);
  EXPECT_EQ(candidate(kg::explain("Exp"), "tabled", kg::kernel_origin::built_in).dtypes, kg::only(dtype::float32));
  {
    const on_backend active("tabled");
    const kg::explanation told = kg::explain("Exp", {{"x", tensor({1.f})}});
    EXPECT_EQ(told.runs->backend, "tabled");
    EXPECT_EQ(told.runs->code, "table of the backend");
    expect_told("Exp", {{"x", tensor({1.0})}}, {});  // rejected: it has no kernel for float64
    kg::set_fallback(kg::fallback::by_priority);
    expect_told("Exp", {{"x", tensor({1.0})}}, {});
  }
  kg::remove_backend("tabled");
}

TEST(an_explanation, makes_no_backend_alive_and_says_that_the_call_would) {
  const backend_here own("explained"), other("higher", 5);
  const kg::registration there = kg::scoped_kernel(doubled("Exp", "higher"));
  const on_backend active("explained");
  kg::set_fallback(kg::fallback::by_priority);
  const kg::explanation told = kg::explain("Exp", {{"x", tensor({1.f})}});
  EXPECT_EQ(told.runs->backend, "higher");
  EXPECT_TRUE(contains(to_string(told), "first use"));
  for (const kg::backend_info& b : kg::backends()) EXPECT_FALSE(b.name == "higher" && b.alive);
  EXPECT_EQ(kg::run_kernel("Exp", {{"x", tensor({1.f})}}).item(), 2);
}

TEST(an_explanation, refuses_a_cast_that_the_backend_has_no_kernel_for) {
  const backend_here own("explained");
  const kg::registration add = kg::scoped_kernel(doubled("Add", "explained"));
  const on_backend active("explained");
  const std::vector<kg::named_operand> mixed = {{"a", tensor({1.f})}, {"b", tensor({1})}};
  EXPECT_TRUE(contains(explained("Add", mixed, {}).refusal, "[kg::cast]"));
  expect_told("Add", mixed, {});
}

TEST(an_explanation, of_a_kernel_without_a_row_checks_what_its_call_checks) {
  kg::kernel_config config = doubled("Twice", "simd");
  config.dtypes = kg::floating;
  const kg::registration free = kg::scoped_kernel(std::move(config));
  for (const tensor& x : {tensor({1.f}), tensor({1})}) {
    const kg::explanation told = kg::explain("Twice", {{"x", x}});
    const std::string text = refusal([&] { return kg::run_kernel("Twice", {{"x", x}}); });
    EXPECT_EQ(told.refusal.empty() ? accepted : told.refusal, text);
    EXPECT_EQ(told.runs.has_value(), text == accepted);
    EXPECT_TRUE(told.found && !told.known && told.results.empty());
    EXPECT_EQ(told.gradient.origin, kg::gradient_origin::none);
  }
}

TEST(an_explanation, of_a_kernel_with_a_schema_has_its_defaults_and_refusals) {
  kg::kernel_config config = doubled("Scaled", "simd");
  config.schema = kg::kernel_schema{
      "x twice.", {{"x", kg::floating}}, {{"by", kg::attr_kind::number, "a factor", false, 2, {}, 0, 10}}};
  const kg::registration free = kg::scoped_kernel(std::move(config));
  const kg::explanation told = kg::explain("Scaled", {{"x", tensor({1.f})}});
  EXPECT_EQ(told.doc, "x twice.");
  EXPECT_EQ(told.attributes.at(0).value.as_number(), 2);
  EXPECT_FALSE(told.attributes.at(0).given);
  const auto text = [](const std::vector<kg::named_operand>& x, const std::vector<kg::named_attribute>& attrs) {
    const std::string wanted = refusal([&] { return kg::run_kernel_list("Scaled", x, attrs); });
    EXPECT_EQ(explained("Scaled", x, attrs).refusal, wanted);
    return wanted;
  };
  EXPECT_NE(text({{"x", tensor({1})}}, {}), accepted);
  EXPECT_NE(text({{"y", tensor({1.f})}}, {}), accepted);
  EXPECT_NE(text({{"x", tensor({1.f})}}, {{"by", 11}}), accepted);
  EXPECT_NE(text({{"x", tensor({1.f})}}, {{"of", 1}}), accepted);
}

TEST(an_explanation, lists_a_kernel_whose_backend_there_is_not) {
  const kg::registration orphan = kg::scoped_kernel(doubled("Exp", "nowhere"));
  EXPECT_TRUE(
      contains(candidate(kg::explain("Exp"), "nowhere", kg::kernel_origin::registered).why_not, "register_backend"));
}

TEST(an_explanation, of_an_op_from_outside_says_that_its_code_is_plain) {
  const kg::registration op = kg::scoped_op<my::Softshrink>();
  const kg::explanation told = kg::explain("MySoftshrink", {{"x", tensor({1.f, -2.f})}});
  EXPECT_TRUE(told.found && !told.known);
  EXPECT_EQ(told.runs->code, "plain C++ (baseline)");
  EXPECT_EQ(told.runs->origin, kg::kernel_origin::user_defined);
  EXPECT_TRUE(contains(candidate(told, "simd", kg::kernel_origin::user_defined).where, "explain.cc"));
  EXPECT_EQ(told.gradient.origin, kg::gradient_origin::user_defined);
  EXPECT_EQ(told.gradient.saved_bytes, 8);
  EXPECT_EQ(told.results.at(0).made, kg::run_kernel("MySoftshrink", {{"x", tensor({1.f, -2.f})}}).signature());
  EXPECT_EQ(kg::explain("MySoftshrink", {{"x", tensor({1})}}).refusal,
            refusal([] { return kg::run_kernel("MySoftshrink", {{"x", tensor({1})}}); }));
}

TEST(an_explanation, knows_the_gradient_that_is_in_force) {
  EXPECT_EQ(kg::explain("Round").gradient.origin, kg::gradient_origin::rule);
  kg::gradient_config config;
  config.name = "Round";
  config.saves_inputs = {"x"};
  config.saves_outputs = true;
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> { return {{"x", call.dy()}}; };
  const kg::registration mine = kg::scoped_gradient(std::move(config), kg::existing::replace);
  const kg::explanation told = kg::explain("Round", {{"x", tensor({1.f, 2.f, 3.f})}});
  EXPECT_EQ(told.gradient.origin, kg::gradient_origin::registered);
  EXPECT_TRUE(contains(told.gradient.where, "explain.cc"));
  EXPECT_EQ(told.gradient.saved_bytes, 24);
  const kg::rule_scope straight(
      kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) -> tensor { return c.dy(); })));
  EXPECT_EQ(kg::explain("Round").gradient.origin, kg::gradient_origin::rule_scope) << "the nearer one";
}

}  // namespace
