// SPDX-License-Identifier: Apache-2.0
// Entry points of the hash of texts.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/text/text.h"

namespace kerngrad::kernels {

/// Fingerprint64 of FarmHash, which never changes: what is written down today is found tomorrow, by other programs too.
/// Not for bytes that an opponent chooses.
std::uint64_t fingerprint64(std::string_view bytes);

struct hash_bucket_geometry {
  std::int64_t count;
  std::int64_t buckets;  ///< from 1 to 2^31
};

// in = {texts}, out = {int32: fingerprint64 of each modulo the buckets}. The geometry is a hash_bucket_geometry.
#define KG_TEXT_HASH_KERNELS(X) X(StringToHashBucketFast, text)

#define KG_DECLARE_TEXT_HASH(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_TEXT_HASH_KERNELS(KG_DECLARE_TEXT_HASH)
#undef KG_DECLARE_TEXT_HASH

inline constexpr entry text_hash_simd[] = {
#define KG_ENTRY_TEXT_HASH(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TEXT_HASH_KERNELS(KG_ENTRY_TEXT_HASH)
#undef KG_ENTRY_TEXT_HASH
};

}  // namespace kerngrad::kernels
