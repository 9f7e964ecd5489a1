// SPDX-License-Identifier: Apache-2.0
// Fingerprint64 from its description in https://github.com/google/farmhash (farmhashna), whose licence is in
// kernels/text/hash.cc: on a list of bytes, with words that are put together of them, products of 128 bits and
// rotations as sums.
#include "kernels/text/hash.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kerngrad::kernels::reference {
namespace {

__extension__ using wide = unsigned __int128;
using word = std::uint64_t;

constexpr std::array<word, 3> k = {0xc3a5c85c97cb3127u, 0xb492b66fbe98f273u, 0x9ae16a3b2f90404fu};

word times(word a, word b) { return static_cast<word>(wide{a} * b); }
word turned(word x, int by) { return static_cast<word>((wide{x} << 64 | x) >> by); }
word mixed(word x) { return x ^ x >> 47; }
word of_two(word u, word v, word by) {
  const word a = mixed(times(u ^ v, by));
  return times(mixed(times(v ^ a, by)), by);
}

// Bytes, of which words are read; negative offsets count from the end.
struct byte_list {
  std::vector<unsigned char> bytes;
  word size() const { return bytes.size(); }
  word at(std::int64_t offset, int count = 8) const {
    if (offset < 0) offset += static_cast<std::int64_t>(bytes.size());
    word sum = 0;
    for (int i = 0; i < count; ++i) sum += word{bytes.at(static_cast<std::size_t>(offset + i))} << (8 * i);
    return sum;
  }
};

word of_short(const byte_list& s) {
  const word size = s.size(), by = k[2] + 2 * size;
  if (size == 0) return k[2];
  if (size < 4) {
    const word y = s.at(0, 1) + (s.at(static_cast<std::int64_t>(size / 2), 1) << 8), z = size + (s.at(-1, 1) << 2);
    return times(mixed(times(y, k[2]) ^ times(z, k[0])), k[2]);
  }
  if (size < 8) return of_two(size + (s.at(0, 4) << 3), s.at(-4, 4), by);
  const word a = s.at(0) + k[2], b = s.at(-8);
  return of_two(times(turned(b, 37), by) + a, times(turned(a, 25) + b, by), by);
}

word of_middle(const byte_list& s) {
  const word by = k[2] + 2 * s.size(), first = s.size() <= 32 ? k[1] : k[2];
  const word a = times(s.at(0), first), b = s.at(8), c = times(s.at(-8), by), d = times(s.at(-16), k[2]);
  const word y = turned(a + b, 43) + turned(c, 30) + d, z = of_two(y, a + turned(b + k[2], 18) + c, by);
  if (s.size() <= 32) return z;
  const word e = times(s.at(16), by), f = s.at(24), g = times(y + s.at(-32), by), h = times(z + s.at(-24), by);
  return of_two(turned(e + f, 43) + turned(g, 30) + h, e + turned(f + a, 18) + g, by);
}

// State of the hash of a long text: x, y, z and the pairs v and w.
struct hash_state {
  word x, y, z, v[2] = {}, w[2] = {};
};
void add_half(const byte_list& s, std::int64_t at, word a, word b, word (&pair)[2]) {
  const word sum = a + s.at(at) + s.at(at + 8) + s.at(at + 16);
  pair[0] = sum + s.at(at + 24);
  pair[1] = turned(b + a + s.at(at) + s.at(at + 24), 21) + turned(sum, 44) + a + s.at(at);
}
void add_block(hash_state& h, const byte_list& s, std::int64_t at, word by, word weight) {
  const word x = times(turned(h.x + h.y + h.v[0] + s.at(at + 8), 37), by) ^ times(h.w[1], weight);
  const word y = times(turned(h.y + h.v[1] + s.at(at + 48), 42), by) + times(h.v[0], weight) + s.at(at + 40);
  const word z = times(turned(h.z + h.w[0], 33), by);
  add_half(s, at, times(h.v[1], by), x + h.w[0], h.v);
  add_half(s, at + 32, z + h.w[1], y + s.at(at + 16), h.w);
  h.x = z, h.y = y, h.z = x;
}

word of_long(const byte_list& s) {
  const word y = times(81, k[1]) + 113;
  hash_state h{times(81, k[2]) + s.at(0), y, times(mixed(times(y, k[2]) + 113), k[2])};
  const auto size = static_cast<std::int64_t>(s.size());
  std::int64_t at = 0;
  for (; size - at > 64; at += 64) add_block(h, s, at, k[1], 1);
  const word by = k[1] + 2 * (h.z % 256);
  h.w[0] += static_cast<word>(size - at - 1);
  h.v[0] += h.w[0];
  h.w[0] += h.v[0];
  add_block(h, s, size - 64, by, 9);
  return of_two(of_two(h.v[0], h.w[0], by) + times(mixed(h.y), k[0]) + h.z, of_two(h.v[1], h.w[1], by) + h.x, by);
}

word fingerprint(std::string_view from) {
  const byte_list s{{from.begin(), from.end()}};
  return from.size() <= 16 ? of_short(s) : from.size() <= 64 ? of_middle(s) : of_long(s);
}

template <dtype>
void StringToHashBucketFast(const hash_bucket_geometry& g, const text* x, std::int32_t* y) {
  for (std::int64_t i = 0; i < g.count; ++i)
    y[i] = static_cast<std::int32_t>(fingerprint(x[i]) % static_cast<word>(g.buckets));
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_HASH_KERNELS)

}  // namespace kerngrad::kernels::reference
