// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops on texts. The texts that kernels make are in the call's writer until the engine has them in the
// results' own memory.
module;
#include "kernels/common/abi.h"
#include "kernels/text/hash.h"
#include "kernels/text/ngrams.h"
#include "kernels/text/split.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

void string_split(const launch_call& c) {
  run_kernel_of(
      c, kernels::split_geometry{.count = c.in[0].dims[0], .rule = shapes::split_rule_of(c.call), .made = c.texts});
}

void string_ngrams(const launch_call& c) {
  run_kernel_of(c, kernels::ngrams_geometry{.count = c.in[0].dims[0],
                                            .splits = c.in[1].dims[0],
                                            .wide = c.in[1].type == dtype::int64,
                                            .rule = shapes::ngrams_rule_of(c.call),
                                            .made = c.texts});
}

void string_to_hash_bucket(const launch_call& c) {
  constexpr attr_place buckets = place_in(attributes::hash_buckets, "numBuckets");
  run_counted(
      c, kernels::hash_bucket_geometry{.count = c.in[0].dims.size(), .buckets = c.call.attr(buckets).as_integer()});
}

}  // namespace kerngrad::launch
