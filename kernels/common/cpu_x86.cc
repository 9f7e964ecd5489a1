// SPDX-License-Identifier: Apache-2.0
// The targets of an x86 CPU by CPUID, without Highway's library: that of Highway 1.0.3 measures the resolution of the
// timer when it is loaded. Bits: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID; volume
// 1, 13.3, XCR0. Needs of each target: the groups of hwy/targets.cc.
#include <cpuid.h>

#include <cstddef>

#include "hwy/detect_targets.h"
#include "kernels/common/cpu.h"

namespace hwy {
// Highway's, where the program has Highway's library. Its own declaration is not weak.
[[gnu::weak, gnu::visibility("default")]] void SetSupportedTargetsForTest(std::int64_t targets);
}  // namespace hwy

namespace kerngrad::kernels {
namespace {

// Registers of CPUID's leaves that name features, and XCR0, which says what the system saves of a thread.
enum word : std::size_t { ecx_1, edx_1, ebx_7, ecx_7, edx_7, eax_7_1, ecx_extended, xcr0, words };

struct features {
  std::uint32_t of[words];
  bool has(const features& needed) const {
    for (std::size_t i = 0; i < words; ++i) {
      if ((of[i] & needed.of[i]) != needed.of[i]) return false;
    }
    return true;
  }
};

template <class... Bits>
constexpr std::uint32_t bits(Bits... at) {
  return ((std::uint32_t{1} << at) | ...);
}

constexpr std::uint32_t osxsave = bits(27);

features features_of_cpu() {
  features found{};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    found.of[ecx_1] = c;
    found.of[edx_1] = d;
  }
  unsigned subleaves = 0;
  if (__get_cpuid_count(7, 0, &subleaves, &b, &c, &d)) {
    found.of[ebx_7] = b;
    found.of[ecx_7] = c;
    found.of[edx_7] = d;
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) found.of[eax_7_1] = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) found.of[ecx_extended] = c;
  if ((found.of[ecx_1] & osxsave) != 0) {
    asm("xgetbv" : "=a"(found.of[xcr0]), "=d"(d) : "c"(0));
  }
  return found;
}

// A target needs its features and those of all before it.
struct step {
  std::int64_t target;
  features needs;
};

constexpr step steps[] = {
#ifdef HWY_SSE2
    {HWY_SSE2, {.of = {0, bits(25, 26)}}},  // SSE, SSE2
#endif
    {HWY_SSSE3, {.of = {bits(0, 9), bits(25, 26)}}},  // SSE3, SSSE3
    {HWY_SSE4, {.of = {bits(1, 19, 20, 25)}}},        // PCLMULQDQ, SSE4.1, SSE4.2, AES
    // FMA, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; registers of 128 and 256 bits.
    {HWY_AVX2, {.of = {bits(12, 28, 29), 0, bits(3, 5, 8), 0, 0, 0, bits(5), bits(1, 2)}}},
    // AVX512F, DQ, CD, BW, VL; masks and registers of 512 bits.
    {HWY_AVX3, {.of = {0, 0, bits(16, 17, 28, 30, 31), 0, 0, 0, 0, bits(5, 6, 7)}}},
    // VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ.
    {HWY_AVX3_DL, {.of = {0, 0, 0, bits(1, 6, 8, 9, 10, 11, 12, 14)}}},
#ifdef HWY_AVX3_ZEN4
    {HWY_AVX3_ZEN4, {.of = {0, 0, 0, 0, 0, bits(5)}}},  // BF16
#endif
#ifdef HWY_AVX3_SPR
    {HWY_AVX3_SPR, {.of = {0, 0, 0, 0, bits(23)}}},  // FP16
#endif
};

std::int64_t find_targets() {
  const features cpu = features_of_cpu();
  std::int64_t found = HWY_EMU128 | HWY_SCALAR;
  for (const auto& [target, needs] : steps) {
    if (!cpu.has(needs)) break;
    found |= target;
  }
  return found;
}

}  // namespace

std::int64_t targets_of_cpu() {
  static const std::int64_t found = find_targets();
  return found;
}

void pin_highway(std::int64_t bits) {
  if (hwy::SetSupportedTargetsForTest != nullptr) hwy::SetSupportedTargetsForTest(bits);
}

}  // namespace kerngrad::kernels
