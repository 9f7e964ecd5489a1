// SPDX-License-Identifier: Apache-2.0
// Every contiguous elementwise kernel of the table: dtype x target x size, derived from the rows.
#include <cstring>
#include <memory>

#include "bench/support.h"
#include "kernels/abi.h"
import kerngrad;

namespace {

constexpr std::int64_t sizes[] = {1000, 65536, 1 << 20};

// Values between 0.1 and 0.9, where every function is defined; for integers small numbers.
std::shared_ptr<std::byte[]> operand_of(kg::dtype type, std::int64_t n) {
  const kg::tensor ramp = kg::linspace(0.1, 0.9, n);
  const kg::tensor x = kg::cast(kg::floating.has(type) ? ramp : ramp * 100, type);
  auto bytes = std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(n) * kg::size_of(type)]);
  std::memcpy(bytes.get(), x.address(), static_cast<std::size_t>(n) * kg::size_of(type));
  return bytes;
}

void measure(benchmark::State& state, const kerngrad::kernels::entry& kernel, std::int64_t n) {
  const auto a = operand_of(kernel.type, n), b = operand_of(kernel.type, n);
  const std::size_t width = kg::size_of(kernel.type), count = static_cast<std::size_t>(n);
  auto y = std::shared_ptr<std::byte[]>(new std::byte[count * width]);
  for (auto _ : state) {
    if (kernel.flat1) kernel.flat1(a.get(), y.get(), count);
    else kernel.flat2(a.get(), b.get(), y.get(), count);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
  // Bytes read and written, a result of booleans counted with one byte an element.
  const auto& row = kg::op_table[static_cast<std::size_t>(kg::find_op(kernel.op))];
  const std::size_t out = row.types.after == kg::result::boolean ? 1 : width;
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(count * ((kernel.flat1 ? 1 : 2) * width + out)));
}

}  // namespace

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const auto& targets) {
    for (const auto& kernel : kg::simd_kernels) {
      if (!kernel.flat1 && !kernel.flat2) continue;
      if (kernel.type == kg::dtype::complex64) continue;
      for (const auto& target : targets)
        for (std::int64_t n : sizes) {
          const std::string name = std::string(kernel.op) + "<" + std::string(kg::name_of(kernel.type)) +
                                   ">/target:" + target.name + "/n:" + std::to_string(n);
          benchmark::RegisterBenchmark(name.c_str(), [&kernel, target, n](benchmark::State& state) {
            if (kgbench::pin(state, target)) measure(state, kernel, n);
          });
        }
    }
  });
}
