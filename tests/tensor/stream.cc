// SPDX-License-Identifier: Apache-2.0
// Results that are written past the caches: bitwise identical results as through them, and nothing next to the result.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/elementwise/binary.h"
#include "kernels/create/create.h"
#include "kernels/elementwise/select.h"
#include "kernels/common/stream.h"
#include "kernels/elementwise/unary.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
using kerngrad::dtype;

constexpr std::size_t most = stream_question + 200, margin = 256;

std::size_t size_of(dtype type) { return kerngrad::trait_of(type).size; }

// The threshold is what it was when the test ends.
struct threshold_restored {
  std::size_t before = stream_least;
  ~threshold_restored() { stream_least = before; }
};

std::vector<std::byte> operand_of(dtype type, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(most * size_of(type) + margin);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = random();
    if (type == dtype::boolean) word &= 0x01010101u;
    // No NaN: which of two comes through is up to the order in which a compiler puts the operands.
    if (type == dtype::float64 && i % 8 == 4 && (word & 0x7ff00000u) == 0x7ff00000u) word ^= 0x00100000u;
    if ((type == dtype::float32 || type == dtype::complex64) && (word & 0x7f800000u) == 0x7f800000u)
      word ^= 0x00800000u;
    std::memcpy(bytes.data() + i, &word, 4);
  }
  return bytes;
}

// Runs kernel(y) with plain stores and with streaming ones, at some distance from a cache line; `size` of an element.
void expect_same(const std::string& name, std::size_t n, std::size_t size, std::size_t shift,
                 const std::function<void(std::byte*)>& kernel) {
  const auto run = [&](std::size_t threshold) {
    stream_least = threshold;
    std::vector<std::byte> y(n * size + 2 * margin, std::byte{0x5a});
    const std::size_t line = (64 - reinterpret_cast<std::uintptr_t>(y.data()) % 64) % 64;
    kernel(y.data() + line + shift);
    const auto begin = y.begin() + static_cast<std::ptrdiff_t>(line);  // as many bytes wherever that is
    return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(y.size() - 128));
  };
  EXPECT_TRUE(run(std::numeric_limits<std::size_t>::max()) == run(1)) << name << ", n " << n << ", shift " << shift;
}

template <class Call>
void sweep(dtype type, Call call) {
  // Every distance from a cache line that an element may have; that of a complex one is a multiple of its parts' size.
  const bool pairs = kerngrad::trait_of(type).kind == kerngrad::dtype_kind::complex;
  const std::size_t step = size_of(type) / (pairs ? 2 : 1), more[] = {0, 1, 15, 77};
  for (const std::size_t n : more) call(stream_question + n, std::size_t{0});
  for (std::size_t i = 1; i < 64 / step; ++i) call(stream_question + more[i % 4], i * step);
}

TEST(streamed_results, have_the_same_bits_for_each_kernel_of_one_operand) {
  const threshold_restored restored;
  kgtest::on_every_target([](const char*) {
    for (const entry& kernel : unary_simd) {
      const std::vector<std::byte> x = operand_of(kernel.type, 1);
      sweep(kernel.type, [&](std::size_t n, std::size_t shift) {
        expect_same(kernel.op, n, size_of(kernel.type), shift,
                    [&](std::byte* y) { kernel.flat1(x.data() + shift, y, n); });
      });
    }
  });
}

TEST(streamed_results, have_the_same_bits_for_each_kernel_of_two_operands) {
  const threshold_restored restored;
  kgtest::on_every_target([](const char*) {
    for (const entry& kernel : binary_simd) {
      const std::vector<std::byte> a = operand_of(kernel.type, 1), b = operand_of(kernel.type, 2);
      sweep(kernel.type, [&](std::size_t n, std::size_t shift) {
        expect_same(kernel.op, n, size_of(kernel.type), shift,
                    [&](std::byte* y) { kernel.flat2(a.data() + shift, b.data(), y, n); });
      });
    }
  });
}

TEST(streamed_results, have_the_same_bits_for_rows_and_values) {
  const threshold_restored restored;
  kgtest::on_every_target([](const char*) {
    for (const entry& kernel : binary_simd) {
      if (kernel.type != dtype::float32) continue;
      const std::vector<std::byte> a = operand_of(kernel.type, 1), b = operand_of(kernel.type, 2);
      broadcast_geometry g{1, {}, {}};
      g.dims[0] = stream_question + 5;
      g.strides[0][0] = 1;
      expect_same(kernel.op, stream_question + 5, 4, 4, [&](std::byte* y) {
        const void* in[] = {a.data(), b.data()};
        void* out[] = {y};
        kernel.run(in, out, &g);
      });
    }
  });
}

TEST(streamed_results, have_the_same_bits_for_select_and_fill) {
  const threshold_restored restored;
  kgtest::on_every_target([](const char*) {
    for (const entry& kernel : select_simd) {
      const std::vector<std::byte> flags = operand_of(dtype::boolean, 1), t = operand_of(kernel.type, 2),
                                   e = operand_of(kernel.type, 3);
      sweep(kernel.type, [&](std::size_t n, std::size_t shift) {
        broadcast_geometry g{1, {}, {}};
        g.dims[0] = static_cast<std::int64_t>(n);
        for (auto& strides : g.strides) strides[0] = 1;
        expect_same(kernel.op, n, size_of(kernel.type), shift, [&](std::byte* y) {
          const void* in[] = {flags.data(), t.data() + shift, e.data()};
          void* out[] = {y};
          kernel.run(in, out, &g);
        });
      });
    }
    for (const entry& kernel : create_simd) {
      if (std::string(kernel.op) != "Fill") continue;
      const std::vector<std::byte> value = operand_of(kernel.type, 1);
      sweep(kernel.type, [&](std::size_t n, std::size_t shift) {
        const fill_geometry g{static_cast<std::int64_t>(n), value.data()};
        expect_same(kernel.op, n, size_of(kernel.type), shift, [&](std::byte* y) {
          void* out[] = {y};
          kernel.run(nullptr, out, &g);
        });
      });
    }
  });
}

TEST(streamed_results, may_be_over_an_operand) {
  const threshold_restored restored;
  kgtest::on_every_target([](const char*) {
    for (const entry& kernel : binary_simd) {
      if (kernel.type != dtype::float32) continue;
      const std::vector<std::byte> a = operand_of(kernel.type, 1), b = operand_of(kernel.type, 2);
      const std::size_t n = stream_question + 77, bytes = n * 4;
      // Comparisons give bytes, which lie closer than what is still to be read.
      expect_same(kernel.op, n, 4, 4, [&](std::byte* y) {
        std::memcpy(y, a.data(), bytes);
        kernel.flat2(y, b.data(), y, n);
      });
    }
  });
}

TEST(a_result, is_streamed_from_the_threshold_on_also_when_it_is_computed_in_parts) {
  const threshold_restored restored;
  EXPECT_EQ(stream_least, half_of_last_cache());
  EXPECT_GE(half_of_last_cache(), std::size_t{1} << 16);
  EXPECT_LE(half_of_last_cache(), std::size_t{1} << 29) << "no core has a cache of more than a GiB";
  stream_least = 1000;
  EXPECT_TRUE(is_streamed(1000));
  EXPECT_FALSE(is_streamed(999));
  {
    const part_of_result whole(5000);
    EXPECT_TRUE(is_streamed(10));
    {
      const part_of_result part(20);
      EXPECT_FALSE(is_streamed(10));
    }
    EXPECT_TRUE(is_streamed(10));
  }
  EXPECT_FALSE(is_streamed(10));
}

}  // namespace
