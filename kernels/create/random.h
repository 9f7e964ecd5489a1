// SPDX-License-Identifier: Apache-2.0
// Entry points of the random numbers.
//
// Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011): block b of a stream is the
// function of the counter (low b, high b, 0, 0) and the key (low seed, high seed). Element e = offset + i of a 4-byte
// dtype uses word e % 4 of block e / 4, of an 8-byte dtype words 2 (e % 2) and 2 (e % 2) + 1 of block e / 2, the first
// of the two being the lower half. Normal elements 2k and 2k + 1 share the words of both. So a range can be drawn in
// any pieces, and all arithmetic is of the kind that gives bitwise identical results on every target.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// RandomUniform: y[i] in [low, high), all `low` when high <= low; for int32 both are whole numbers. RandomNormal: low
/// is the mean and high the standard deviation.
struct random_geometry {
  std::int64_t count;
  std::uint64_t seed, offset;
  double low, high;
};

// No kernel has operands.
#define KG_RANDOM_KERNELS(X) KG_FLOATS(X, RandomUniform) X(RandomUniform, int32) KG_FLOATS(X, RandomNormal)

KG_DECLARE_KERNELS(random, KG_RANDOM_KERNELS)

}  // namespace kerngrad::kernels
