// SPDX-License-Identifier: Apache-2.0
// Abilities of the CPU target that is being compiled. No other file knows a target by its name: each version of Highway
// brings new ones (SSE2, AVX3_ZEN4, AVX3_SPR and AVX10_2 came after 1.0.3). On x86 a better target has a smaller value.
// HWY_TARGET changes with each pass, and so do these conditions.
#pragma once
#include "hwy/highway.h"

// Vectors are arrays, and what is done to one is a loop: slow to compile, and each with a rounding of its own.
#define KG_EMULATED (HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR)

// AVX-512: its intrinsics, masks that are bit sets, look-ups in tables of two vectors.
#define KG_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)

// Masked loads and stores leave memory alone outside the mask for lanes of four and eight bytes, though Highway cannot
// promise it for shorter ones.
#define KG_MASKED_WORDS (HWY_TARGET == HWY_AVX2)

// 32 vector registers: AVX-512, 64-bit ARM and RISC-V; 16 elsewhere.
#define KG_MANY_REGISTERS (KG_AVX512 || HWY_ARCH_ARM_A64 || HWY_ARCH_RVV)

// SVE in any of its lengths, whose vectors are types of the compiler's own.
#define KG_SVE \
  (HWY_TARGET == HWY_SVE || HWY_TARGET == HWY_SVE2 || HWY_TARGET == HWY_SVE_256 || HWY_TARGET == HWY_SVE2_128)

// Multiply-adds take one lane of a vector as their factor: 64-bit ARM, with NEON and with SVE.
#define KG_MULTIPLIES_BY_LANES (HWY_ARCH_ARM_A64 && !KG_EMULATED)

// Max(a, b) and Min(a, b) are b where either is NaN or both are zeros: the instructions of x86.
#define KG_MAX_GIVES_SECOND (HWY_ARCH_X86 && !KG_EMULATED)

// There is an instruction for floor and ceil. If there is none, Highway puts them together, without the sign of zero.
#define KG_ROUNDS_AT_ONCE ((HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4) || (HWY_ARCH_ARM_A64 && !KG_EMULATED))
