// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

TEST(wraps, run_a_test) { EXPECT_EQ(6 * 7, 42); }
