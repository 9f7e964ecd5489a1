// SPDX-License-Identifier: Apache-2.0
// Every op that the library knows, through all checks of the test kit, on calls that its row gives.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/support/full.h"

import kerngrad;
import kerngrad.testkit;

namespace {

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
  const bool elementwise = row.group == kg::family::unary || row.group == kg::family::binary;
  const bool of_floats = row.operands.size() > 0 && row.operands[0].types.has(kg::dtype::float64);
  if (elementwise && of_floats) EXPECT_GE(found.count(check::special_values), 2);
  // One tensor as both operands, where the op has no jump there.
  const bool jumps = row.name == "Mod" || row.name == "FloorDiv" || row.name == "Maximum" || row.name == "Minimum";
  if (row.group == kg::family::binary && row.no_gradient.empty() && !jumps)
    EXPECT_GT(found.count(check::gradient), found.count(check::forward));
  for (check by : {check::gradient, check::second_order, check::forward})
    EXPECT_EQ(found.count(by) > 0, row.no_gradient.empty()) << name_of(by);
}

INSTANTIATE_TEST_SUITE_P(known_ops, every_op, ::testing::ValuesIn(kg::op_names()),
                         [](const auto& info) { return info.param; });

TEST(the_backends, have_kernels_for_the_same_dtypes) {
  for (int id = 0; id < kg::op_count; ++id)
    EXPECT_EQ(to_string(kg::kernel_dtypes(kg::backend::simd, id)),
              to_string(kg::kernel_dtypes(kg::backend::reference, id)))
        << kg::op_table[static_cast<std::size_t>(id)].name;
}

}  // namespace
