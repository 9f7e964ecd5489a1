// SPDX-License-Identifier: Apache-2.0
// Integers and their bits, and what is of all elements where no axis is named.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

TEST(bits, of_bytes_are_those_of_bytes) {
  const tensor x({std::uint8_t{0b1100}, std::uint8_t{255}}), y({std::uint8_t{0b1010}, std::uint8_t{1}});
  for (const tensor& bits : {x & y, x | y, x ^ y, ~x, x & 15}) EXPECT_EQ(bits.type(), dtype::uint8);
  EXPECT_EQ((x & y).to_doubles(), (doubles{0b1000, 1}));
  EXPECT_EQ((x | y).to_doubles(), (doubles{0b1110, 255}));
  EXPECT_EQ((x ^ y).to_doubles(), (doubles{0b0110, 254}));
  EXPECT_EQ((~x).to_doubles(), (doubles{243, 0}));
  EXPECT_EQ((x & 15).to_doubles(), (doubles{12, 15}));
  EXPECT_EQ((x & tensor({7, 7})).type(), dtype::int32);
}

TEST(bits, of_truth_values_beside_integers_are_0_and_1) {
  const tensor mask({true, false, true}), x({6, 7, 5});
  EXPECT_EQ((mask & x).to_doubles(), (doubles{0, 0, 1}));
  EXPECT_EQ((x | mask).to_doubles(), (doubles{7, 7, 5}));
  EXPECT_EQ((x ^ mask).to_doubles(), (doubles{7, 7, 4}));
  EXPECT_EQ((mask & x).type(), dtype::int32);
  EXPECT_EQ((mask & mask).type(), dtype::boolean);
  EXPECT_TRUE(says(refusal([&] { return mask & tensor({1.f, 2.f, 3.f}); }), {"[kg::bitwise_and]", "bool"}));
}

TEST(filling, with_an_int64_that_no_double_is_keeps_all_of_it) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1, least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(kg::full({2}, odd, dtype::int64).item<std::int64_t>(1), odd);
  EXPECT_EQ(kg::full({2}, -odd, dtype::int64).item<std::int64_t>(1), -odd);
  EXPECT_EQ(kg::full({}, least, dtype::int64).item<std::int64_t>(), least);
  EXPECT_EQ(kg::full({}, std::uint64_t{odd}, dtype::int64).item<std::int64_t>(), odd);
  EXPECT_EQ(kg::full_like(tensor({std::int64_t{1}}), odd).item<std::int64_t>(), odd);
  EXPECT_EQ(kg::full({2}, odd).type(), dtype::float32);
  EXPECT_TRUE(says(refusal([] { return kg::full({}, ~std::uint64_t{0}, dtype::int64); }), {"int64 holds"}));
}

TEST(functions_along_an_axis, without_one_are_of_all_elements_in_their_order) {
  const tensor x{{1, 5, 2}, {4, 0, 3}};
  EXPECT_EQ(kg::argmax(x).item(), 1);
  EXPECT_EQ(kg::argmin(x).item(), 4);
  EXPECT_EQ(kg::argmax(x).rank(), 0);
  EXPECT_EQ(kg::cumsum(x).to_doubles(), (doubles{1, 6, 8, 12, 12, 15}));
  EXPECT_EQ(kg::cumprod(x).to_doubles(), (doubles{1, 5, 10, 40, 0, 0}));
  EXPECT_EQ(kg::cummax(x).to_doubles(), (doubles{1, 5, 5, 5, 5, 5}));
  EXPECT_EQ(kg::cummin(x).to_doubles(), (doubles{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(kg::cumsum(x).dims(), kg::shape{6});
  EXPECT_TRUE(says(refusal([] { return kg::argmax(tensor{}); }), {"[kg::argmax]", "no operand x"}));
}

TEST(places, of_more_elements_than_int32_can_number_are_refused) {
  const std::uint8_t nothing = 0;  // that is read: sizes are looked at first
  const std::uint8_t* const first = &nothing;
  const tensor x = kg::borrow(first, {2, std::int64_t{1} << 30});
  EXPECT_TRUE(says(refusal([&] { return kg::argmax(x); }), {"[kg::argmax]", "2147483648", "2^31 - 1"}));
  EXPECT_TRUE(says(refusal([&] { return kg::argmin(x); }), {"[kg::argmin]", "2147483648", "2^31 - 1"}));
}

}  // namespace
