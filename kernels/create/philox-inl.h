// SPDX-License-Identifier: Apache-2.0
// The words of Philox4x32-10, once per target; kernels/create/random.h says what they are.
#if defined(KERNGRAD_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_PHILOX_INL_H_
#undef KERNGRAD_KERNELS_PHILOX_INL_H_
#else
#define KERNGRAD_KERNELS_PHILOX_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Words of `blocks` blocks from `first` on, rounded up to whole vectors. A lane of 64 bits carries one word of a
// counter in its lower half; what is in the upper half is never looked at, because the products ignore it.
void philox(std::uint64_t seed, std::uint64_t first, std::size_t blocks, std::uint64_t* HWY_RESTRICT words) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint32_t, decltype(d)> half;
  const auto m0 = hn::Set(half, 0xD2511F53u), m1 = hn::Set(half, 0xCD9E8D57u);
  const auto low = hn::Set(d, 0xFFFFFFFFu);
  auto block = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
  for (std::size_t i = 0; i < blocks; i += hn::Lanes(d)) {
    auto c0 = block, c1 = hn::ShiftRight<32>(block), c2 = hn::Zero(d), c3 = c2;
    std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const auto p0 = hn::MulEven(hn::BitCast(half, c0), m0), p1 = hn::MulEven(hn::BitCast(half, c2), m1);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, k0));
      c1 = p1;
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, k1));
      c3 = p0;
    }
    const auto first_pair = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
    const auto second_pair = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(first_pair, second_pair, d, words + 2 * i);
    block = hn::Add(block, hn::Set(d, hn::Lanes(d)));
  }
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
