// SPDX-License-Identifier: Apache-2.0
// Abilities of the CPU target that is being compiled. No other file knows a target by its name: each version of Highway
// brings new ones (SSE2, AVX3_ZEN4, AVX3_SPR and AVX10_2 came after 1.0.3). On x86 a better target has a smaller value.
#if defined(KERNGRAD_KERNELS_TARGET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_TARGET_INL_H_
#undef KERNGRAD_KERNELS_TARGET_INL_H_
#else
#define KERNGRAD_KERNELS_TARGET_INL_H_
#endif

#include "hwy/highway.h"

// Vectors are arrays, and what is done to one is a loop: slow to compile, and each with a rounding of its own.
#undef KG_EMULATED
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
#define KG_EMULATED 1
#else
#define KG_EMULATED 0
#endif

// AVX-512: its intrinsics, masks that are bit sets, look-ups in tables of two vectors.
#undef KG_AVX512
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define KG_AVX512 1
#else
#define KG_AVX512 0
#endif

// Masked loads and stores leave memory alone outside the mask for lanes of four and eight bytes, though Highway cannot
// promise it for shorter ones.
#undef KG_MASKED_WORDS
#if HWY_TARGET == HWY_AVX2
#define KG_MASKED_WORDS 1
#else
#define KG_MASKED_WORDS 0
#endif

// 32 vector registers: AVX-512, 64-bit ARM and RISC-V; 16 elsewhere.
#undef KG_MANY_REGISTERS
#if KG_AVX512 || HWY_ARCH_ARM_A64 || HWY_ARCH_RVV
#define KG_MANY_REGISTERS 1
#else
#define KG_MANY_REGISTERS 0
#endif

// SVE in any of its lengths, whose vectors are types of the compiler's own.
#undef KG_SVE
#if HWY_TARGET == HWY_SVE || HWY_TARGET == HWY_SVE2 || HWY_TARGET == HWY_SVE_256 || HWY_TARGET == HWY_SVE2_128
#define KG_SVE 1
#else
#define KG_SVE 0
#endif

// Multiply-adds take one lane of a vector as their factor: 64-bit ARM, with NEON and with SVE.
#undef KG_MULTIPLIES_BY_LANES
#if HWY_ARCH_ARM_A64 && !KG_EMULATED
#define KG_MULTIPLIES_BY_LANES 1
#else
#define KG_MULTIPLIES_BY_LANES 0
#endif

// Max(a, b) and Min(a, b) are b where either is NaN or both are zeros: the instructions of x86.
#undef KG_MAX_GIVES_SECOND
#if HWY_ARCH_X86 && !KG_EMULATED
#define KG_MAX_GIVES_SECOND 1
#else
#define KG_MAX_GIVES_SECOND 0
#endif

// There is an instruction for floor and ceil. If there is none, Highway puts them together, without the sign of zero.
#undef KG_ROUNDS_AT_ONCE
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4) || (HWY_ARCH_ARM_A64 && !KG_EMULATED)
#define KG_ROUNDS_AT_ONCE 1
#else
#define KG_ROUNDS_AT_ONCE 0
#endif

#endif  // KERNGRAD_KERNELS_TARGET_INL_H_
