// SPDX-License-Identifier: Apache-2.0
// Requests of kernels to the library while they run: memory, and the refusal of sizes that overflow and of CPUs that
// they cannot run on.
module;
#include <cstddef>
#include <cstdint>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/in_use.h"
#include "kernels/common/scratch.h"
#include "kernels/common/targets.h"
module kerngrad;

import :blocks;
import :tensor;

namespace kerngrad::detail {
namespace {

kernels::scratch_block scratch_from_tensors(std::size_t bytes) {
  buffer* block = allocate(dtype::uint8, shape{static_cast<std::int64_t>(bytes)});
  return {block->data, block};
}
void scratch_to_tensors(void* owner) noexcept { release(static_cast<buffer*>(owner)); }

}  // namespace
}  // namespace kerngrad::detail

extern "C++" {
namespace kerngrad::kernels {

void refuse_size() {
  kerngrad::fail("size", "a product or sum of sizes of more than 2^63 - 1", "less", "split the work");
}
void refuse_cpu() {
  target all[64];
  const int count = compiled_targets(all, 64);
  const auto name = [](const target& t) { return std::string(t.name); };
  const std::string wanted = all | ranges::views::take(count) | ranges::views::transform(name) |
                             ranges::views::join(std::string_view(" or ")) | ranges::to<std::string>();
  kerngrad::fail("kernel", "a CPU without any of the SIMD targets of this build", "a CPU with " + wanted,
                 "build kerngrad with more of its option `targets`");
}
scratch_block take_scratch(std::size_t bytes) { return kerngrad::detail::scratch_from_tensors(bytes); }
void give_scratch(void* owner) noexcept { kerngrad::detail::scratch_to_tensors(owner); }
void count_in_use(std::int64_t bytes) { kerngrad::detail::count_bytes(bytes); }
void uncount_in_use(std::int64_t bytes) noexcept { kerngrad::detail::uncount_bytes(bytes); }

}  // namespace kerngrad::kernels
}  // extern "C++"
