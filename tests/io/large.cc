// SPDX-License-Identifier: Apache-2.0
// Files of many tensors: the time to read them grows as their number.
#include <cstdint>
#include <span>
#include <string>

#include "files.h"
#include "tests/support/growth.h"
#include "tests/support/under_asan.h"

namespace {

constexpr int size = KG_UNDER_ASAN ? 2'000 : 16'000;  // the sanitizer is slow

// A .safetensors of that many tensors without elements, in no order.
std::string safetensors(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += "\"layer." + std::to_string(static_cast<std::int64_t>(i) * 7919 % count) +
            R"(.weight":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)";
  text.back() = '}';
  return kgtest::little(std::uint64_t{text.size()}) + text;
}

TEST(safetensors, take_twice_the_time_for_twice_the_tensors) {
  const std::string files[] = {safetensors(size), safetensors(2 * size)};
  const auto load = [&](int count) {
    EXPECT_EQ(kgtest::decoded(files[count / size - 1], "x.safetensors").size(), static_cast<std::size_t>(count));
  };
  EXPECT_LE(kgtest::growth(load, size, kgtest::linear), kgtest::linear);
}

}  // namespace
