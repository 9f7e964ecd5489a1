// SPDX-License-Identifier: Apache-2.0
// Sorting, searching and distinct values.
#include <cstdint>
#include <span>
#include <string>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

constexpr std::size_t million = 1000000;

kg::tensor drawn(const kg::shape& dims) {
  const auto n = static_cast<std::size_t>(dims.size());
  return kg::tensor(std::span<const float>(cases::floats(0, n), n), dims);
}

template <class F>
void on(const char* name, const std::string& size, F f, const kg::tensor& x) {
  cases::add(name, size, [=] { return [=] { benchmark::DoNotOptimize(f(x).address()); }; });
}

}  // namespace

void add_sort_cases() {
  using tensor = const kg::tensor&;
  for (const kg::shape& dims : {kg::shape{1000000}, kg::shape{64, 1000}}) {
    const std::string size = dims.rank() == 1 ? "1000000" : "64x1000";
    on("sort", size, [](tensor x) { return kg::sort(x); }, drawn(dims));
    on("argsort", size, [](tensor x) { return kg::argsort(x); }, drawn(dims));
  }
  on("topk10", "64x1000", [](tensor x) { return kg::top_k(x, 10)[0]; }, drawn({64, 1000}));
  for (const std::uint32_t below : {1000u, 1u << 31}) {
    const kg::tensor x(std::span<const std::int32_t>(cases::indices(million, below), million),
                       {static_cast<std::int64_t>(million)});
    on(below == 1000 ? "unique_few" : "unique", "1000000", [](tensor v) { return kg::unique(v)[0]; }, x);
  }
}
