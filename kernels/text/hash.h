// SPDX-License-Identifier: Apache-2.0
// Entry points of the hash of texts.
#pragma once
#include "kernels/common/lists.h"
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

KG_DECLARE_PLAIN_KERNELS(text_hash, KG_TEXT_HASH_KERNELS)

}  // namespace kerngrad::kernels
