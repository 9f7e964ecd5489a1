// SPDX-License-Identifier: Apache-2.0
// The library's own side of the cases, as its users call it. This file: what it costs to reach a kernel.
#include "bench/peers/kerngrad.h"

#include <functional>
#include <span>
#include <unordered_map>

#include "bench/peers/case.h"
#include "kernels/elementwise/binary.h"
import kerngrad;

namespace {

using add_function = void (*)(const void*, const void*, void*, std::size_t);

// f(a, b, y, n) on ready arrays whose size the compiler does not know.
template <class F>
void on_arrays(const char* name, F f) {
  for (std::size_t n : cases::small_sizes)
    cases::add(name, n, [=] {
      return [f, n, a = cases::floats(0, 64), b = cases::floats(1, 64), y = cases::result(64)]() mutable {
        benchmark::DoNotOptimize(n);
        f(a, b, y, n);
      };
    });
}

kg::tensor floats(int operand_index, std::size_t n) {
  return kg::tensor(std::span<const float>(cases::floats(operand_index, 64), n), {static_cast<std::int64_t>(n)});
}

void by_hand(float* a, float* b, float* y, std::size_t n) { kerngrad::kernels::Add_float32(a, b, y, n); }

void through_raw_door(float* a, float* b, float* y, std::size_t n) {
  kg::kernel<"Add">(std::span<const float>(a, n), std::span<const float>(b, n), std::span<float>(y, n));
}

void through_handle(const kg::kernel_handle& add, float* a, float* b, float* y, std::size_t n) {
  add(std::span<const float>(a, n), std::span<const float>(b, n), std::span<float>(y, n));
}

// As many names as the library has ops, each with the same function.
const std::unordered_map<std::string, add_function>& functions_by_name() {
  static const auto all = [] {
    std::unordered_map<std::string, add_function> map;
    for (const kg::op_row& row : kg::op_table) map[std::string(row.name)] = kerngrad::kernels::Add_float32;
    return map;
  }();
  return all;
}

}  // namespace

void add_call_cases() {
  on_arrays("add_into", through_raw_door);
  on_arrays("add_into@by_hand", by_hand);
  on_arrays("add_by_handle", [add = kg::find_kernel("Add")](float* a, float* b, float* y, std::size_t n) {
    through_handle(add, a, b, y, n);
  });
  on_arrays("add_by_handle@std_function",
            [add = std::function<void(const void*, const void*, void*, std::size_t)>(kerngrad::kernels::Add_float32)](
                float* a, float* b, float* y, std::size_t n) mutable {
              benchmark::DoNotOptimize(add);
              add(a, b, y, n);
            });
  on_arrays("add_by_name",
            [](float* a, float* b, float* y, std::size_t n) { through_handle(kg::find_kernel("Add"), a, b, y, n); });
  on_arrays("add_by_name@unordered_map", [name = std::string("Add")](float* a, float* b, float* y, std::size_t n) {
    functions_by_name().find(name)->second(a, b, y, n);
  });
  for (std::size_t n : cases::small_sizes) {
    cases::add("add_fresh", n, [n] {
      return [a = floats(0, n), b = floats(1, n)] { benchmark::DoNotOptimize(kg::add(a, b).address()); };
    });
    cases::add("reshape", n, [n] {
      return [a = floats(0, n), count = static_cast<std::int64_t>(n)] {
        benchmark::DoNotOptimize(kg::reshape(a, {1, count}).address());
      };
    });
  }
}

std::shared_ptr<void> two_threads() {
  kg::set_num_threads(2);
  return {nullptr, [](void*) { kg::set_num_threads(1); }};
}

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add_call_cases();
    add_elementwise_cases();
    add_reduce_cases();
    add_window_cases();
    add_gradient_cases();
    add_move_cases();
    add_sort_cases();
  });
}
