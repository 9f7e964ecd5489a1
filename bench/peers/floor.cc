// SPDX-License-Identifier: Apache-2.0
// Limits that memory sets: the bytes that a case has to read and write, and nothing else done. Not a peer but a bound.
#include <cstring>

#include "bench/peers/case.h"

namespace {

// As wide as the registers that the compiler was told of; it splits what is wider.
using block = std::int32_t __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::size_t per_block = sizeof(block) / sizeof(float);

void read(const float* x, std::size_t n) {
  constexpr std::size_t in_flight = 8;
  block held[in_flight] = {};
  std::size_t i = 0;
  for (; i + in_flight * per_block <= n; i += in_flight * per_block)
    for (std::size_t k = 0; k < in_flight; ++k) held[k] ^= *reinterpret_cast<const block*>(x + i + k * per_block);
  for (; i + per_block <= n; i += per_block) held[0] ^= *reinterpret_cast<const block*>(x + i);
  for (block& value : held) benchmark::DoNotOptimize(value);
}

template <class Size>
void add_read(const char* name, const Size& size, std::size_t n) {
  cases::add(name, size, [n] { return [n, x = cases::floats(0, n)] { read(x, n); }; });
}

void add_copy(const char* name, const char* size, std::size_t n) {
  cases::add(name, size, [n] {
    return [n, x = cases::floats(0, n), y = cases::result(n)] { std::memcpy(y, x, n * sizeof(float)); };
  });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    for (std::size_t n : cases::element_sizes) {
      add_read("sum", n, n);
      add_read("max", n, n);
    }
    constexpr std::size_t square = cases::side * cases::side, million = 1000000;
    add_read("sum_last", "1024x1024", square);
    add_copy("pad", "1024x1024", square);
    add_copy("concat", "2x512x1024", square);
    add_copy("cast", "1000000", million);
    cases::add("strided_slice", "1024x1024", [] {  // every second row is read whole, half of it is written
      return [x = cases::floats(0, square), y = cases::result(square / 4)] {
        for (std::size_t row = 0; row < cases::side / 2; ++row) {
          const float* const from = x + 2 * row * cases::side;
          float* const to = y + row * cases::side / 2;
          for (std::size_t i = 0; i < cases::side / 2; i += per_block)
            *reinterpret_cast<block*>(to + i) = *reinterpret_cast<const block*>(from + 2 * i) ^
                                                *reinterpret_cast<const block*>(from + 2 * i + per_block);
        }
      };
    });
    cases::add("one_hot", "1024x1000",
               [] { return [y = cases::result(1024 * 1000)] { std::memset(y, 0, 1024 * 1000 * sizeof(float)); }; });
    cases::add("where", "1000000", [] {  // two operands read and a result written; without the condition's bytes
      return [a = cases::floats(0, million), b = cases::floats(1, million), y = cases::result(million)] {
        for (std::size_t i = 0; i + per_block <= million; i += per_block)
          *reinterpret_cast<block*>(y + i) =
              *reinterpret_cast<const block*>(a + i) ^ *reinterpret_cast<const block*>(b + i);
      };
    });
  });
}
