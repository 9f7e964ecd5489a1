// SPDX-License-Identifier: Apache-2.0
// The machine under the benchmarks: what it is, and its roofs, which are measured in the run that they are used in
// (kernels/common/roofline.h).
#pragma once
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/common/roofline.h"

namespace kgbench {

using kerngrad::kernels::duty;

/// Sets the counters of a benchmark that has run: items, bytes and operations a second, `floor_ns`, and `roof`, the
/// part of the roof that was reached. The label is "FAMILY LIMIT".
void report(benchmark::State& state, const duty& what, const std::string& family,
            const kerngrad::kernels::target& target);

/// Puts CPU, caches, targets and versions into the context of the results.
void describe_machine();
/// Measures the roofs of a target and puts them there too, as "roof/AVX3/read/L1" and the like.
void describe_roofs(const kerngrad::kernels::target& target);

}  // namespace kgbench
