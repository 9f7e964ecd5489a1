// SPDX-License-Identifier: Apache-2.0
// Fingerprint64 of FarmHash, by the algorithm of farmhashna in https://github.com/google/farmhash, of which the names
// of the constants and of the cases are. Its licence:
//
// Copyright (c) 2014 Google, Inc.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
// documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
// rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
// permit persons to whom the Software is furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
// Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
// WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
// COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
// OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
#include "kernels/text/hash.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace kerngrad::kernels {
namespace {

constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127u, k1 = 0xb492b66fbe98f273u, k2 = 0x9ae16a3b2f90404fu;

// Little-endian, wherever it lies.
inline std::uint64_t fetch64(const char* at) {
  std::uint64_t x;
  std::memcpy(&x, at, sizeof x);
  return std::endian::native == std::endian::little ? x : __builtin_bswap64(x);
}
inline std::uint64_t fetch32(const char* at) {
  std::uint32_t x;
  std::memcpy(&x, at, sizeof x);
  return std::endian::native == std::endian::little ? x : __builtin_bswap32(x);
}
inline std::uint64_t fetch8(const char* at) { return static_cast<unsigned char>(*at); }

inline std::uint64_t rotated(std::uint64_t x, int by) { return std::rotr(x, by); }
inline std::uint64_t shift_mix(std::uint64_t x) { return x ^ (x >> 47); }
inline std::uint64_t hash_16(std::uint64_t u, std::uint64_t v, std::uint64_t by) {
  const std::uint64_t a = shift_mix((u ^ v) * by);
  return shift_mix((v ^ a) * by) * by;
}

std::uint64_t hash_0_to_16(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  if (size >= 8) {
    const std::uint64_t a = fetch64(s) + k2, b = fetch64(s + size - 8);
    return hash_16(rotated(b, 37) * by + a, (rotated(a, 25) + b) * by, by);
  }
  if (size >= 4) return hash_16(size + (fetch32(s) << 3), fetch32(s + size - 4), by);
  if (size == 0) return k2;
  const std::uint64_t y = fetch8(s) + (fetch8(s + size / 2) << 8), z = size + (fetch8(s + size - 1) << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

std::uint64_t hash_17_to_32(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  const std::uint64_t a = fetch64(s) * k1, b = fetch64(s + 8), c = fetch64(s + size - 8) * by,
                      d = fetch64(s + size - 16) * k2;
  return hash_16(rotated(a + b, 43) + rotated(c, 30) + d, a + rotated(b + k2, 18) + c, by);
}

std::uint64_t hash_33_to_64(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  const std::uint64_t a = fetch64(s) * k2, b = fetch64(s + 8), c = fetch64(s + size - 8) * by,
                      d = fetch64(s + size - 16) * k2;
  const std::uint64_t y = rotated(a + b, 43) + rotated(c, 30) + d, z = hash_16(y, a + rotated(b + k2, 18) + c, by);
  const std::uint64_t e = fetch64(s + 16) * by, f = fetch64(s + 24), g = (y + fetch64(s + size - 32)) * by,
                      h = (z + fetch64(s + size - 24)) * by;
  return hash_16(rotated(e + f, 43) + rotated(g, 30) + h, e + rotated(f + a, 18) + g, by);
}

struct word_pair {
  std::uint64_t first = 0, second = 0;
};
// 32 bytes into the two words a and b.
inline word_pair weak_hash_32(const char* s, std::uint64_t a, std::uint64_t b) {
  a += fetch64(s);
  b = rotated(b + a + fetch64(s + 24), 21);
  const std::uint64_t c = a;
  a += fetch64(s + 8) + fetch64(s + 16);
  return {a + fetch64(s + 24), b + rotated(a, 44) + c};
}

// 56 bytes of state; 64 of the text go into it at a time.
class long_hash {
 public:
  explicit long_hash(const char* s) : x_(81 * k2 + fetch64(s)) {}

  void add(const char* s, std::uint64_t by, std::uint64_t weight) {
    x_ = rotated(x_ + y_ + v_.first + fetch64(s + 8), 37) * by;
    y_ = rotated(y_ + v_.second + fetch64(s + 48), 42) * by;
    x_ ^= w_.second * weight;
    y_ += v_.first * weight + fetch64(s + 40);
    z_ = rotated(z_ + w_.first, 33) * by;
    v_ = weak_hash_32(s, v_.second * by, x_ + w_.first);
    w_ = weak_hash_32(s + 32, z_ + w_.second, y_ + fetch64(s + 16));
    std::swap(z_, x_);
  }
  // The last 64 bytes, of which `fresh` were not there before.
  std::uint64_t end(const char* s, std::uint64_t fresh) {
    const std::uint64_t by = k1 + ((z_ & 0xff) << 1);
    w_.first += fresh - 1;
    v_.first += w_.first;
    w_.first += v_.first;
    add(s, by, 9);
    return hash_16(hash_16(v_.first, w_.first, by) + shift_mix(y_) * k0 + z_, hash_16(v_.second, w_.second, by) + x_,
                   by);
  }

 private:
  std::uint64_t x_, y_ = 81 * k1 + 113, z_ = shift_mix((81 * k1 + 113) * k2 + 113) * k2;
  word_pair v_, w_;
};

}  // namespace

std::uint64_t fingerprint64(std::string_view bytes) {
  const char* s = bytes.data();
  const std::size_t size = bytes.size();
  if (size <= 16) return hash_0_to_16(s, size);
  if (size <= 32) return hash_17_to_32(s, size);
  if (size <= 64) return hash_33_to_64(s, size);
  long_hash hash(s);
  const std::size_t before = (size - 1) / 64 * 64;
  for (std::size_t i = 0; i < before; i += 64) hash.add(s + i, k1, 1);
  return hash.end(s + size - 64, size - before);
}

namespace {

/// StringToHashBucketFast. Exact. Reference: kernels/text/reference_hash.cc.
template <dtype>
void StringToHashBucketFast(const hash_bucket_geometry& g, const text* x, std::int32_t* y) {
  const auto buckets = static_cast<std::uint64_t>(g.buckets);
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = static_cast<std::int32_t>(fingerprint64(x[i]) % buckets);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_HASH_KERNELS)

}  // namespace kerngrad::kernels
