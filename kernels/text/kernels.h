// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/text/hash.h"
#include "kernels/text/ngrams.h"
#include "kernels/text/split.h"

namespace kerngrad::kernels {

inline constexpr auto text_kernel_list = list_of(text_hash_simd, text_ngrams_simd, text_split_simd);
namespace reference {
inline constexpr auto text_kernel_list = list_of(text_hash_reference, text_ngrams_reference, text_split_reference);
}

}  // namespace kerngrad::kernels
