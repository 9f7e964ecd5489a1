// SPDX-License-Identifier: Apache-2.0
// Names, sizes and operands of the cases, for the measured programs of the library and of its peers. This header
// compiles in the dialect of each peer. PyTorch's headers are C++17.
//
// A case is named `name/n:size`. One that a program measures in another way, next to the plain one, is
// `name@way/n:size`. tools/bench/peers.py compares equal names of different programs.
#pragma once
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace cases {

inline constexpr std::size_t small_sizes[] = {1, 8, 64};
inline constexpr std::size_t element_sizes[] = {1000, 64000, 1000000, 16000000};
struct matrix_size {
  std::size_t rows, columns;
};
inline constexpr matrix_size row_sizes[] = {{64, 1000}, {1024, 1024}};
struct product_size {
  std::size_t m, k, n;
};
inline constexpr product_size small_products[] = {{16, 16, 16}, {32, 32, 32}, {64, 64, 64}};
inline constexpr product_size products[] = {{16, 16, 16},       {32, 32, 32},    {64, 64, 64},
                                            {128, 128, 128},    {256, 256, 256}, {512, 512, 512},
                                            {1024, 1024, 1024}, {64, 784, 128},  {1, 1024, 1024}};
inline constexpr std::size_t side = 1024;           // of the square matrices
inline constexpr std::size_t image = 56 * 56 * 64;  // elements of the NHWC image of the convolutions
inline constexpr std::size_t table_rows = 10000, table_columns = 128, gathered = 4096;

/// "64x1000".
inline std::string size_of(std::initializer_list<std::size_t> sizes) {
  std::string text;
  for (std::size_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}
inline std::string size_of(std::size_t n) { return std::to_string(n); }
inline std::string size_of(matrix_size s) { return size_of({s.rows, s.columns}); }
inline std::string size_of(product_size s) { return size_of({s.m, s.k, s.n}); }

// The values of a 32 bit linear congruential generator, the same in every program.
template <class T, class F>
T* drawn(int operand_index, std::size_t n, F value) {
  static std::map<std::pair<int, std::size_t>, T*> blocks;
  T*& block = blocks[{operand_index, n}];
  if (!block) {
    // As the library keeps its own large blocks: in huge pages where the system gives them on demand.
    constexpr std::size_t small_page = 4096, huge_page = std::size_t{2} << 20;
    const std::size_t page = n * sizeof(T) < huge_page ? small_page : huge_page;
    const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
    block = static_cast<T*>(std::aligned_alloc(page, bytes));
    if (page == huge_page) madvise(block, bytes, MADV_HUGEPAGE);
    std::uint32_t state = 12345u + 77u * static_cast<std::uint32_t>(operand_index);
    for (std::size_t i = 0; i < n; ++i) block[i] = value(state = state * 1664525u + 1013904223u);
  }
  return block;
}
/// n floats in [low, high), on a page of their own, the same at every call; operand_index says for which operand.
inline float* floats(int operand_index, std::size_t n, float low = -2, float high = 2) {
  return drawn<float>(operand_index, n, [=](std::uint32_t bits) {
    return low + (high - low) * (static_cast<float>(bits >> 8) / 16777216.f);
  });
}
/// Positive operands, for logarithms and variances.
inline float* positive(std::size_t n) { return floats(20, n, 0.1f, 4.f); }
/// Memory for results that are not fresh.
inline float* result(std::size_t n) { return floats(30, n); }
/// n indices in [0, below).
inline std::int32_t* indices(std::size_t n, std::uint32_t below) {
  return drawn<std::int32_t>(static_cast<int>(below), n, [=](std::uint32_t bits) {
    return static_cast<std::int32_t>((std::uint64_t{bits} * below) >> 32);
  });
}

/// How many times each body runs after the first, where something else than time is measured; 0: as long as it takes.
inline benchmark::IterationCount iterations = 0;

/// Registers a case. `make` prepares it, untimed, and gives the callable that is timed.
template <class Size, class Make>
void add(const std::string& name, const Size& size, Make make) {
  std::string text;
  if constexpr (std::is_convertible_v<Size, std::string>) text = size;
  else text = size_of(size);
  auto* added = benchmark::RegisterBenchmark((name + "/n:" + text).c_str(), [make](benchmark::State& state) {
    auto body = make();
    body();  // pages, plans and caches are warm
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
  });
  if (iterations > 0) added->Iterations(iterations);
}

/// The main of every program: Google Benchmark's options, and `--iterations=N`, the last.
inline int run(int argc, char** argv, void (*add_cases)()) {
  benchmark::Initialize(&argc, argv);
  constexpr std::string_view option = "--iterations=";
  if (const std::string_view last = argv[argc - 1]; argc > 1 && last.substr(0, option.size()) == option) {
    const char* end = last.data() + last.size();
    const auto [read, wrong] = std::from_chars(last.data() + option.size(), end, iterations);
    if (wrong == std::errc() && read == end && iterations > 0) --argc;
  }
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_cases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace cases
