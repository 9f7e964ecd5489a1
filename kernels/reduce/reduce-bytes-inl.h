// SPDX-License-Identifier: Apache-2.0
// Sums of bytes over the middle axis of [outer, count, inner] in 64 bits, once per target. Integers: any order of
// additions gives the same.
//   inner == 1: eight bytes at once into a lane of 64 bits.
//   inner > 1:  16 bits for each column hold the sums of 256 rows, and are then added to 64.
//   narrow:     for inner < 16 several rows are taken as one wide row, whose parts are added up at the end.
#if defined(KERNGRAD_KERNELS_REDUCE_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_REDUCE_BYTES_INL_H_
#undef KERNGRAD_KERNELS_REDUCE_BYTES_INL_H_
#else
#define KERNGRAD_KERNELS_REDUCE_BYTES_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/reduce/reduce-split-inl.h"
#include "kernels/reduce/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t bytes_strip = 512;  // columns that are added up side by side
constexpr std::size_t bytes_chunks = 16;  // of a strip's rows at the same time: their sums are on the stack

inline std::uint64_t bytes_of_row(const std::uint8_t* HWY_RESTRICT x, std::size_t n) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  const std::size_t L = hn::Lanes(d);
  const auto sums = [&](std::size_t i) HWY_ATTR { return hn::SumsOf8(hn::LoadU(d, x + i)); };
  auto v0 = hn::Zero(wide), v1 = v0;
  std::size_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    v0 = hn::Add(v0, hn::Add(sums(i), sums(i + L)));
    v1 = hn::Add(v1, hn::Add(sums(i + 2 * L), sums(i + 3 * L)));
  }
  for (; i + L <= n; i += L) v0 = hn::Add(v0, sums(i));
  if (i < n) v1 = hn::Add(v1, hn::SumsOf8(load_tail(d, x + i, n - i, std::uint8_t{0})));
  return hn::GetLane(hn::SumOfLanes(wide, hn::Add(v0, v1)));
}

// The same of a long row by several threads.
inline std::uint64_t split_bytes_of_row(const std::uint8_t* x, std::size_t n) {
  if (!has_chunks(n)) return bytes_of_row(x, n);
  const std::size_t chunk = std::max(8 * chunk_least, quotient_up(n, most_chunks));
  const std::size_t chunks = quotient_up(n, chunk);
  std::uint64_t part[most_chunks];
  parallel_chunks(chunks,
                  [&](std::size_t i) { part[i] = bytes_of_row(x + i * chunk, std::min(chunk, n - i * chunk)); });
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < chunks; ++i) sum += part[i];
  return sum;
}

// y[j] = the sum of x[r * stride + j] for all r < rows; width <= bytes_strip. The compiler vectorises the inner loops.
inline void bytes_of_strip(std::uint64_t* HWY_RESTRICT y, const std::uint8_t* HWY_RESTRICT x, std::size_t rows,
                           std::size_t stride, std::size_t width) {
  constexpr std::size_t block = 256;  // 256 * 255 < 2^16
  HWY_ALIGN std::uint16_t some[bytes_strip];
  std::fill_n(y, width, 0);
  for (std::size_t r = 0; r < rows; r += block) {
    const std::size_t end = std::min(rows, r + block);
    std::fill_n(some, width, std::uint16_t{0});
    std::size_t k = r;
    for (; k + 4 <= end; k += 4) {
      const std::uint8_t *a = x + k * stride, *b = a + stride, *c = b + stride, *e = c + stride;
      for (std::size_t j = 0; j < width; ++j) some[j] = static_cast<std::uint16_t>(some[j] + a[j] + b[j] + c[j] + e[j]);
    }
    for (; k < end; ++k)
      for (std::size_t j = 0; j < width; ++j) some[j] = static_cast<std::uint16_t>(some[j] + x[k * stride + j]);
    for (std::size_t j = 0; j < width; ++j) y[j] += some[j];
  }
}

// The same of a tall strip by several threads, in chunks of rows.
inline void split_bytes_of_strip(std::uint64_t* y, const std::uint8_t* x, std::size_t rows, std::size_t stride,
                                 std::size_t width) {
  if (!has_chunks(rows * width)) return bytes_of_strip(y, x, rows, stride, width);
  const std::size_t chunk = std::max(quotient_up(chunk_least, width), quotient_up(rows, bytes_chunks));
  const std::size_t chunks = quotient_up(rows, chunk);
  HWY_ALIGN std::uint64_t part[bytes_chunks][bytes_strip];
  parallel_chunks(chunks, [&](std::size_t i) {
    bytes_of_strip(part[i], x + i * chunk * stride, std::min(chunk, rows - i * chunk), stride, width);
  });
  std::fill_n(y, width, 0);
  for (std::size_t i = 0; i < chunks; ++i)
    for (std::size_t j = 0; j < width; ++j) y[j] += part[i][j];
}

// Several threads share out strips, or the rows of each: whatever there is more of.
inline void bytes_of_columns(std::uint64_t* y, const std::uint8_t* x, std::size_t count, std::size_t width) {
  const auto strip = [&](std::size_t j, std::size_t now) { bytes_of_strip(y + j, x + j, count, width, now); };
  if (has_chunks(count * width) && width >= 8 * bytes_strip) return each_strip_split(count, width, bytes_strip, strip);
  for (std::size_t j = 0; j < width; j += bytes_strip)
    split_bytes_of_strip(y + j, x + j, count, width, std::min(bytes_strip, width - j));
}

// inner < 16: `k` rows side by side are one row of up to 512 columns.
inline void bytes_of_narrow(std::uint64_t* y, const std::uint8_t* x, std::size_t count, std::size_t inner) {
  const std::size_t k = bytes_strip / inner, whole = count / k * k;
  if (count < 2 * k) return bytes_of_columns(y, x, count, inner);
  HWY_ALIGN std::uint64_t wide[bytes_strip];
  bytes_of_columns(wide, x, whole / k, k * inner);
  std::fill_n(y, inner, 0);
  for (std::size_t i = 0; i < k * inner; ++i) y[i % inner] += wide[i];
  for (std::size_t i = whole * inner; i < count * inner; ++i) y[i % inner] += x[i];
}

inline void sum_bytes(const std::uint8_t* x, std::uint64_t* y, const reduce_geometry& g) {
  const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner);
  if (inner == 0) return;
  for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += inner) {
    if (inner == 1) *y = split_bytes_of_row(x, count);
    else if (inner < 16) bytes_of_narrow(y, x, count, inner);
    else bytes_of_columns(y, x, count, inner);
  }
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
