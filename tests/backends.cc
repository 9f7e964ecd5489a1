// SPDX-License-Identifier: Apache-2.0
// One program, two backends and every SIMD target: the same inputs give the same results, for all ops and dtypes, in
// one loop that the rows give.
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/samples.h"

namespace {

using namespace kgtest;

// How far a result may be from the reference's, relative to the largest magnitude in play. Movement, comparisons and
// integers are exact; functions agree to a few units in the last place; sums may be taken in another order.
double relative_tolerance(const kg::op_row& row, kg::dtype type) {
  if (!kg::differentiable.has(type)) return 0;
  const double unit = type == kg::dtype::float64 ? 0x1p-52 : 0x1p-23;
  switch (row.group) {
    case kg::family::move:
    case kg::family::select: return row.name == "GatherGrad" || row.name == "UnsortedSegmentSum" ? 16 * unit : 0;
    case kg::family::create: return unit;
    case kg::family::unary:
    case kg::family::binary:
    case kg::family::random:
    case kg::family::convert: return 8 * unit;
    default: return 64 * unit;  // reductions, softmax, products, windows
  }
}

bool sums_up(const kg::op_row& row) {
  return row.group != kg::family::unary && row.group != kg::family::binary && row.group != kg::family::convert;
}

// Empty when two results agree, else where they do not.
std::string difference(const kg::op_row& row, const kg::tensor& got, const kg::tensor& wanted) {
  if (!(got.signature() == wanted.signature())) return "shape or dtype";
  const std::vector<double> a = doubles_of(got), b = doubles_of(wanted);
  double largest = 1;
  for (double v : b)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  const bool pairs = wanted.type() == kg::dtype::complex64;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    // The error of a complex number is relative to its magnitude, not to that of the part.
    const double magnitude = pairs ? std::hypot(b[i], b[i ^ 1]) : std::fabs(b[i]);
    const double scale = sums_up(row) ? largest : std::max(magnitude, 1e-30);
    if (!(std::fabs(a[i] - b[i]) <= relative_tolerance(row, wanted.type()) * scale))
      return "element " + std::to_string(i) + ": " + std::to_string(a[i]) + " and " + std::to_string(b[i]);
  }
  return {};
}

// Restores what was active before, whatever a test does.
struct on_backend {
  explicit on_backend(kg::backend which) { kg::set_backend(which); }
  ~on_backend() {
    kg::set_backend(kg::backend::simd);
    kg::set_simd_target("");
  }
};

struct prepared {
  std::string label;
  std::vector<kg::named_operand> operands;
  std::vector<kg::named_attribute> attrs;
  kg::tensor_list expected;
};

// Dtypes that an operand of the row may have.
std::vector<kg::dtype> taken_dtypes(const kg::op_row& row) {
  std::vector<kg::dtype> all;
  for (int t = 0; t < kg::dtype_count; ++t) {
    const kg::dtype type = static_cast<kg::dtype>(t);
    bool taken = row.operands.empty() && type == kg::dtype::float32;
    for (const kg::operand& o : row.operands) taken = taken || o.types.has(type);
    if (taken) all.push_back(type);
  }
  return all;
}

// A row may take a dtype for which no backend has a kernel yet: the refusal then says which dtypes there are.
bool is_hole(const kg::error& e) { return e.got().starts_with("no kernel for") && !e.wanted().empty(); }

std::vector<prepared> reference_results(const kg::op_row& row) {
  const on_backend reference(kg::backend::reference);
  std::vector<prepared> all;
  for (kg::dtype type : taken_dtypes(row))
    for (const sample& call : samples_of(row, true)) {
      prepared p{std::string(kg::name_of(type)) + " " + call.label, operands_for(row, call, type), call.attrs, {}};
      try {
        p.expected = kg::run_kernel_list(row.name, p.operands, p.attrs);
      } catch (const kg::error& e) {
        EXPECT_TRUE(is_hole(e)) << p.label << ": " << e.what();
      }
      all.push_back(std::move(p));
    }
  return all;
}

class every_op : public ::testing::TestWithParam<std::string> {};

TEST_P(every_op, gives_the_reference_results_on_every_target) {
  const kg::op_row& row = row_named(GetParam());
  const std::vector<prepared> calls = reference_results(row);
  ASSERT_FALSE(calls.empty()) << "no samples: add some to tests/support/sample_table.h";
  const on_backend simd(kg::backend::simd);
  const std::vector<kg::simd_target> targets = kg::simd_targets();
  ASSERT_FALSE(targets.empty());
  std::size_t ran = 0, compared = 0;
  for (const kg::simd_target& target : targets) {
    kg::set_simd_target(target.name);
    ASSERT_EQ(kg::active_simd_target(), target.name);
    for (const prepared& call : calls) {
      if (call.expected.empty()) {
        EXPECT_THROW(kg::run_kernel_list(row.name, call.operands, call.attrs), kg::error) << call.label;
        continue;
      }
      ++compared;
      const kg::tensor_list got = kg::run_kernel_list(row.name, call.operands, call.attrs);
      ASSERT_EQ(got.size(), call.expected.size());
      for (int k = 0; k < got.size(); ++k)
        EXPECT_EQ(difference(row, got[k], call.expected[k]), "") << target.name << " " << call.label;
    }
    ++ran;
  }
  EXPECT_EQ(ran, targets.size()) << "a target of this build was skipped";
  EXPECT_GT(compared, 0u);
}

TEST_P(every_op, has_kernels_for_the_same_dtypes_on_both_backends) {
  const int id = kg::find_op(GetParam());
  EXPECT_EQ(to_string(kg::kernel_dtypes(kg::backend::simd, id)),
            to_string(kg::kernel_dtypes(kg::backend::reference, id)));
}

// The main dtypes have no holes.
TEST_P(every_op, runs_in_the_floating_dtypes_that_its_row_takes) {
  const kg::op_row& row = row_named(GetParam());
  for (kg::dtype type : taken_dtypes(row)) {
    if (!kg::differentiable.has(type)) continue;
    for (const sample& call : samples_of(row)) {
      SCOPED_TRACE(std::string(kg::name_of(type)) + " " + call.label);
      EXPECT_NO_THROW(kg::run_kernel_list(row.name, operands_for(row, call, type), call.attrs));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(backends, every_op, ::testing::ValuesIn(op_names(false)),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------ choosing

TEST(backends, the_simd_backend_is_active_by_default_and_the_other_can_be_chosen) {
  EXPECT_EQ(kg::active_backend(), "simd");
  const on_backend reference(kg::backend::reference);
  EXPECT_EQ(kg::active_backend(), "reference");
  EXPECT_EQ(kg::sum(kg::tensor({1.f, 2.f, 3.f})).item(), 6);
}

TEST(backends, gradients_flow_on_the_reference_backend_too) {
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::exp(x) * x); };
  const kg::tensor x({0.5, -1.0, 2.0});
  const kg::tensor fast = kg::grad(f)(x);
  const on_backend reference(kg::backend::reference);
  const kg::tensor slow = kg::grad(f)(x);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(fast.data<double>()[i], slow.data<double>()[i], 1e-13);
}

TEST(backends, an_unknown_target_is_refused_with_the_known_ones_named) {
  try {
    kg::set_simd_target("AVX1024");
    FAIL() << "accepted";
  } catch (const kg::error& e) {
    EXPECT_NE(std::string(e.what()).find(kg::simd_targets().back().name), std::string::npos) << e.what();
  }
  EXPECT_EQ(kg::active_simd_target(), kg::simd_targets().front().name);
}

void no_kernel(const void* const*, void* const*, const void*) {}

TEST(backends, a_table_whose_kernels_lack_a_form_that_their_op_is_run_by_is_refused) {
  const kg::kernels::entry without_flat[] = {{"Add", kg::dtype::float32, no_kernel, nullptr, nullptr}};
  const kg::kernels::entry without_run[] = {{"Exp", kg::dtype::float32, nullptr, nullptr, nullptr}};
  const kg::kernels::entry whole[] = {{"Exp", kg::dtype::float32, no_kernel, nullptr, nullptr}};
  EXPECT_THROW(kg::register_kernel_table("table", without_flat), kg::error);
  EXPECT_THROW(kg::register_kernel_table("table", without_run), kg::error);
  EXPECT_NO_THROW(kg::register_kernel_table("table", whole)) << "the name is free";
  kg::remove_backend("table");
}

TEST(backends, random_draws_are_the_same_bits_on_every_target) {
  std::optional<std::vector<double>> uniform, normal;
  const on_backend simd(kg::backend::simd);
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    const std::vector<double> u = kg::random_uniform({5, 41}, -1, 3, 7).to_doubles(),
                              n = kg::random_normal({5, 41}, 0, 2, 7).to_doubles();
    if (!uniform) uniform = u, normal = n;
    EXPECT_EQ(u, *uniform) << target.name;
    EXPECT_EQ(n, *normal) << target.name;
  }
}

}  // namespace
