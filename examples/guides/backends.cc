// SPDX-License-Identifier: Apache-2.0
// The program of docs/backends.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>
#include <string_view>

#include "kernels/elementwise/unary.h"

import kerngrad;

// A kernel that the registry calls with tensors.
kg::tensor_list square(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  return {kg::tensor::build<float>(x.dims(), [&](std::span<float> y) {
    std::ranges::transform(x.data<float>(), y.begin(), [](float v) { return v * v; });
  })};
}

void the_least_backend() {
  kg::register_backend("mine", [] { return nullptr; });  // null: its kernels work on host memory
  kg::register_kernel({.name = "Square", .backend = "mine", .run = square, .dtypes = kg::only(kg::dtype::float32)});
  kg::set_backend("mine");
  std::cout << kg::square(kg::tensor({1.f, 2.f, 3.f})) << "\n";
}

void with_fallback() {
  const kg::tensor x({1.f, 2.f, 3.f});
  try {
    kg::sum(x);
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
  kg::set_fallback(kg::fallback::by_priority);
  kg::hooks hooks;
  hooks.fallback = [](const kg::fallback_event& e) { std::cout << e.op << ": " << e.from << " -> " << e.to << "\n"; };
  const kg::hook_handle watching = kg::add_hooks(hooks);
  std::cout << kg::grad([](const kg::tensor& t) { return kg::sum(kg::square(t)); })(x) << "\n";
}

void with_priorities() {
  for (const kg::backend_info& b : kg::backends())
    if (b.priority >= 0)
      std::cout << b.name << " has the priority " << b.priority << (b.alive ? " and is in use" : "") << "\n";
  std::cout << kg::set_best_backend() << " is the best\n";
  const kg::backend_scope here(kg::backend::reference);  // this thread, until the end of the scope
  std::cout << kg::active_backend() << " is active\n";
}

// Kernels of a table take pointers and the geometry struct of their op's family.
void negate(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const kg::kernels::unary_geometry*>(geometry);
  const float* x = static_cast<const float*>(in[0]);
  std::transform(x, x + g.count, static_cast<float*>(out[0]), [](float v) { return -v; });
}
void negate_flat(const void* x, void* y, std::size_t n) {
  const kg::kernels::unary_geometry g{static_cast<std::int64_t>(n), {}};
  negate(&x, &y, &g);
}
constexpr kg::kernels::entry table[] = {{"Neg", kg::dtype::float32, negate, negate_flat, nullptr}};

void with_a_table() {
  kg::register_kernel_table("table", table);
  const kg::backend_scope here("table");
  std::cout << -kg::tensor({1.f, -2.f}) << "\n";
}

// A memory that the host does not see: kernels of the backend get its blocks.
class device : public kg::storage {
 public:
  void* allocate(std::size_t bytes) override { return std::malloc(std::max<std::size_t>(bytes, 1)); }
  void release(void* block) noexcept override { std::free(block); }
  void write(void* block, const void* from, std::size_t bytes) override {
    std::cout << "write " << bytes << " bytes\n";
    std::memcpy(block, from, bytes);
  }
  void read(const void* block, void* to, std::size_t bytes) override {
    std::cout << "read " << bytes << " bytes\n";
    std::memcpy(to, block, bytes);
  }
};

kg::tensor_list square_on_device(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  const kg::kernel_call::writable y = call.make(x.type(), x.dims());
  const float* from = static_cast<const float*>(call.elements(x));
  std::transform(from, from + x.size(), static_cast<float*>(y.elements), [](float v) { return v * v; });
  return {y.result};
}

void with_a_storage() {
  kg::register_backend("device", [] { return std::make_shared<device>(); });
  kg::register_kernel({.name = "Square", .backend = "device", .run = square_on_device});
  const kg::backend_scope here("device");
  const kg::tensor y = kg::square(kg::square(kg::tensor({1.f, 2.f, 3.f})));
  std::cout << "both squares ran\n" << y << "\n";
}

int main() {
  the_least_backend();
  with_fallback();
  with_priorities();
  with_a_table();
  with_a_storage();
}
