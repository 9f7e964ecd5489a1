// SPDX-License-Identifier: Apache-2.0
// Every op that the library knows, through all checks of the test kit, on calls that its row gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "tests/support/full.h"
#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::tensor;
using kg::testkit::check;

class every_op : public ::testing::TestWithParam<std::string> {};

TEST_P(every_op, holds_what_the_test_kit_checks_on_samples_for_every_check_that_applies) {
  const kg::op_row& row = *kg::row_named(GetParam());
  kg::testkit::options how;
  how.thorough = kgtest::full();
  const kg::testkit::report found = kg::testkit::check_op(GetParam(), how);
  EXPECT_TRUE(found) << found;
  how.without.push_back({check::bad_calls, "they are the same calls with every seed"});
  for (how.seed = 2; how.thorough && how.seed < 6; ++how.seed) {
    const kg::testkit::report again = kg::testkit::check_op(GetParam(), how);
    EXPECT_TRUE(again) << "seed " << how.seed << "\n" << again;
  }
  EXPECT_GE(found.count(check::samples), 2);
  EXPECT_GE(found.count(check::results), 2);
  EXPECT_GE(found.count(check::targets), 2 * static_cast<std::int64_t>(kg::simd_targets().size()));
  EXPECT_GE(found.count(check::aliasing), 2);
  EXPECT_GE(found.count(check::determinism), 2);
  EXPECT_GE(found.count(check::bad_calls), 70);
  EXPECT_GE(found.count(check::memory), 2);
  const bool elementwise = row.is_unary() || row.is_binary();
  const bool of_floats = row.operands.size() > 0 && row.operands[0].types.has(kg::dtype::float64);
  if (elementwise && of_floats) EXPECT_GE(found.count(check::special_values), 2);
  // One tensor as both operands.
  if (row.is_binary() && row.no_gradient.empty()) EXPECT_GT(found.count(check::gradient), found.count(check::forward));
  for (check by : {check::gradient, check::second_order, check::forward})
    EXPECT_EQ(found.count(by) > 0, row.no_gradient.empty()) << name_of(by);
}

INSTANTIATE_TEST_SUITE_P(known_ops, every_op, ::testing::ValuesIn(kg::op_names()),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------ windows

using attributes = std::vector<kg::named_attribute>;

std::vector<std::string> window_ops() {
  std::vector<std::string> found;
  for (const std::string& name : kg::op_names())
    if (kg::row_named(name)->attr_index("pad") >= 0 && kg::row_named(name)->attr_index("strides") >= 0)
      found.push_back(name);
  return found;
}

// Positive values, so that no sum is NaN; the first one infinite where that is wanted.
kg::tensor positive(const kg::shape& dims, bool infinite = false) {
  std::vector<float> values(static_cast<std::size_t>(dims.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(1 + i * 7 % 11) / 4;
  if (infinite && !values.empty()) values[0] = std::numeric_limits<float>::infinity();
  return kg::tensor(values, dims);
}

struct outcome {
  std::string refused;
  kg::shape dims;
  std::vector<double> values;
};

outcome run_on(kg::backend which, const std::string& op, const std::vector<kg::named_operand>& operands,
               const attributes& attrs) {
  kg::set_backend(which);
  outcome found;
  try {
    const kg::tensor y = kg::run_kernel_list(op, operands, attrs).front();
    found.dims = y.dims();
    found.values = y.to_doubles();
  } catch (const kg::error& e) {
    found.refused = e.what();
  }
  kg::set_backend(kg::backend::simd);
  return found;
}

// Attributes with each value that an attribute of windows can take, up to its bound, in every combination.
std::vector<attributes> extreme_windows(const kg::op_row& row) {
  std::vector<attributes> all = {{{"pad", "same"}}, {{"pad", "valid"}}};
  const double most_pad = row.attrs[static_cast<std::size_t>(row.attr_index("pad"))].most;
  for (const std::int64_t pad : {std::int64_t{6}, static_cast<std::int64_t>(most_pad)}) all.push_back({{"pad", pad}});
  for (const char* name : {"strides", "dilations", "filterSize"}) {
    if (row.attr_index(name) < 0) continue;
    const double most = row.attrs[static_cast<std::size_t>(row.attr_index(name))].most;
    std::vector<attributes> more;
    const std::int64_t values[] = {1, 3, 536870911, static_cast<std::int64_t>(most)};
    for (const auto& [a, value] : ranges::views::cartesian_product(all, values)) {
      more.push_back(a);
      more.back().push_back({name, value});
    }
    all = more;
  }
  return all;
}

class window_op : public ::testing::TestWithParam<std::string> {
 protected:
  window_op() { kg::set_memory_limit(kg::memory().live_bytes + (1 << 20)); }
  ~window_op() override { kg::set_memory_limit(kg::unlimited); }

  // The operands of a call on an image, the attributes completed; none where the forward op rejects them. The operand
  // number `infinite` has an infinite element.
  std::vector<kg::named_operand> operands(const kg::op_row& row, attributes& attrs, std::size_t infinite) const {
    const kg::op_row& forward = row.forward.empty() ? row : *kg::row_named(row.forward);
    const bool of_volumes = row.group == kg::family::volume, dilates = forward.kinks == kg::kink::ties;
    kg::testkit::sample call{{{"x", of_volumes ? kg::shape{1, 4, 4, 4, 4} : kg::shape{1, 7, 7, 4}}}, attrs};
    if (forward.operand_index("filter") >= 0)
      call.operands.emplace_back("filter", of_volumes ? kg::shape{2, 2, 2, 4, 3}
                                           : dilates  ? kg::shape{2, 2, 4}
                                                      : kg::shape{2, 2, 4, forward.depthwise ? 2 : 3});
    std::vector<kg::named_operand> in;
    for (const auto& o : call.operands) in.push_back({o.name, positive(o.dims[0])});
    const outcome y = run_on(kg::backend::simd, std::string(forward.name), in, attrs);
    if (!y.refused.empty()) return {};
    if (&forward != &row) call = kg::testkit::backward_sample(row, call);
    if (row.operand_index("bias") >= 0) call.operands.emplace_back("bias", kg::shape{y.dims[3]});
    attrs = call.attrs;
    in.clear();
    for (const auto& o : call.operands) in.push_back({o.name, positive(o.dims[0], in.size() == infinite)});
    return in;
  }
};

TEST_P(window_op, takes_the_bounds_of_its_attributes_in_little_memory_and_alike_on_both_backends) {
  const kg::op_row& row = *kg::row_named(GetParam());
  int results = 0;
  const std::vector<attributes> extremes = extreme_windows(row);
  constexpr std::size_t infinite_ones[] = {0, 1, 2};  // operand 2, or none
  for (const auto& [extreme, infinite] : ranges::views::cartesian_product(extremes, infinite_ones)) {
    attributes attrs = extreme;
    std::string text;
    for (const kg::named_attribute& a : attrs) text += std::string(a.name) + " " + to_string(a.value) + " ";
    SCOPED_TRACE(text + "infinite: " + std::to_string(infinite));
    const std::vector<kg::named_operand> in = operands(row, attrs, infinite);
    if (in.empty()) continue;
    const outcome fast = run_on(kg::backend::simd, GetParam(), in, attrs);
    const outcome plain = run_on(kg::backend::reference, GetParam(), in, attrs);
    ASSERT_EQ(fast.refused, "");
    ASSERT_EQ(plain.refused, "");
    ASSERT_EQ(fast.dims, plain.dims);
    for (std::size_t i = 0; i < plain.values.size(); ++i) {
      const double a = fast.values[i], b = plain.values[i];
      const bool close = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-5 * std::fabs(b);
      ASSERT_TRUE(close) << i << ": " << a << " and " << b;
    }
    ++results;
  }
  EXPECT_GE(results, 20);
}

INSTANTIATE_TEST_SUITE_P(known_ops, window_op, ::testing::ValuesIn(window_ops()),
                         [](const auto& info) { return info.param; });
// ------------------------------------------------------------------------------------------ dtypes of operands

using kg::dtype;
using kg::operand;

// A call of a sample in which value operand `which` has a dtype, and the others have it too where they may.
std::string refused_with(const kg::op_row& row, const kg::testkit::sample& call, std::size_t which, dtype type) {
  std::vector<kg::named_operand> operands;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const kg::testkit::sample_operand& given = call.operands[i];
    const operand& spec = row.operands[i];
    dtype own = type;
    for (int t = 0; t < kg::dtype_count && i != which && !spec.types.has(own); ++t) own = static_cast<dtype>(t);
    std::vector<tensor> tensors;
    if (given.values.defined()) tensors = kg::testkit::fixed_tensors(given);
    else
      for (const kg::shape& dims : given.dims) tensors.push_back(kg::zeros(dims, own));
    if (given.values.defined() && spec.part == kg::role::value)
      for (tensor& x : tensors)
        x = own == dtype::text || x.type() == dtype::text ? kg::zeros(x.dims(), own) : kg::cast(x, own);
    if (spec.list) operands.emplace_back(given.name, tensors);
    else operands.emplace_back(given.name, tensors[0]);
  }
  return kgtest::refusal(
      [&] { return kg::run_kernel_list(row.name, operands, kg::testkit::attributes_for(row, call, type)); });
}

TEST_P(every_op, accepts_the_dtypes_that_its_row_and_the_documents_name_and_no_others) {
  const kg::op_row& row = *kg::row_named(GetParam());
  const std::vector<kg::testkit::sample> samples = kg::testkit::samples_of(row);
  ASSERT_FALSE(samples.empty());
  const auto places = ranges::views::iota(std::size_t{0}, samples[0].operands.size());
  const auto types = ranges::views::iota(0, kg::dtype_count);
  for (const auto& [i, t] : ranges::views::cartesian_product(places, types)) {
    const dtype type = static_cast<dtype>(t);
    if (row.operands[i].part != kg::role::value) continue;
    const std::string refused = refused_with(row, samples[0], i, type);
    EXPECT_EQ(refused == kgtest::accepted, row.operands[i].types.has(type))
        << row.operands[i].name << " of " << kg::name_of(type) << ": " << refused;
  }
}

TEST_P(every_op, makes_every_dtype_that_it_computes_in_where_an_attribute_says_which) {
  const kg::op_row& row = *kg::row_named(GetParam());
  if (row.attr_index("dtype") < 0) return;
  const kg::dtype_set kernels = kg::kernel_dtypes(kg::backend::simd, kg::find_op(row.name));
  for (int t = 0; t < kg::dtype_count; ++t) {
    const dtype type = static_cast<dtype>(t);
    bool any = false;
    for (kg::testkit::sample call : kg::testkit::samples_of(row)) {
      std::erase_if(call.attrs, [](const kg::named_attribute& a) { return a.name == "dtype"; });
      call.attrs.push_back({"dtype", type});
      any = any || refused_with(row, call, row.operands.size(), dtype::float32) == kgtest::accepted;
    }
    EXPECT_EQ(any, kernels.has(kg::computed_in(type, kernels))) << kg::name_of(type);
  }
}

TEST(a_window, whose_extent_no_integer_holds_is_refused) {
  const kg::tensor x(std::vector<float>{}, kg::shape{1, 4, 1, 0});
  const kg::tensor filter(std::vector<float>{}, kg::shape{std::int64_t{1} << 57, 1, 0, 1});
  for (const char* op : {"Conv2D", "FusedConv2D"})
    EXPECT_THROW(kg::run_kernel(op, {{"x", x}, {"filter", filter}},
                                {{"pad", "valid"}, {"dilations", std::vector<std::int64_t>{128, 1}}}),
                 kg::error)
        << op;
}

TEST(the_backends, have_kernels_for_the_same_dtypes) {
  for (int id = 0; id < kg::op_count; ++id)
    EXPECT_EQ(to_string(kg::kernel_dtypes(kg::backend::simd, id)),
              to_string(kg::kernel_dtypes(kg::backend::reference, id)))
        << kg::op_table[static_cast<std::size_t>(id)].name;
}

}  // namespace
