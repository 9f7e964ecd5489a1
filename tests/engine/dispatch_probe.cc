// SPDX-License-Identifier: Apache-2.0
// The same call three times: the kernel dispatched by hand (by_hand.cc), its entry point, and the span API; and a typed
// call before a hook was ever added, and after it was removed; the same by name; calls with a number and with a shape;
// a slice and a join of 4x8 floats; a fused function that the compiler read and one that was put together; and
// gradients of two chains of products. dispatch_check.py compares them.
#include <cstddef>
#include <span>
#include "kernels/elementwise/binary.h"
import kerngrad;

extern "C" void choose_by_hand(const float* a, const float* b, float* y, std::size_t n);
extern "C" void by_hand(const float* a, const float* b, float* y, std::size_t n);

extern "C" [[gnu::noinline]] void entry_point(const float* a, const float* b, float* y, std::size_t n) {
  kerngrad::kernels::Add_float32(a, b, y, n);
}

extern "C" [[gnu::noinline]] void raw_door(const float* a, const float* b, float* y, std::size_t n) {
  kg::kernel<"Add">(std::span<const float>(a, n), std::span<const float>(b, n), std::span<float>(y, n));
}

extern "C" [[gnu::noinline]] const void* before_hooks(const kg::tensor& a, const kg::tensor& b) {
  return kg::add(a, b).address();
}

extern "C" [[gnu::noinline]] const void* after_hooks(const kg::tensor& a, const kg::tensor& b) {
  return kg::add(a, b).address();
}

extern "C" [[gnu::noinline]] const void* by_name(const kg::tensor& a, const kg::tensor& b) {
  return kg::run_kernel("Add", {{"a", a}, {"b", b}}).address();
}

extern "C" [[gnu::noinline]] const void* with_shape(const kg::tensor& x) { return kg::reshape(x, {1, 1}).address(); }

extern "C" [[gnu::noinline]] const void* with_number(const kg::tensor& x) { return kg::leaky_relu(x, 0.1).address(); }

extern "C" [[gnu::noinline]] const void* sliced(const kg::tensor& x) { return kg::slice(x, {1, 1}, {2, 3}).address(); }

extern "C" [[gnu::noinline]] const void* joined(const kg::tensor& x) { return kg::concat({x, x}, 0).address(); }
static bool moving_calls(const kg::tensor& x) {
  kg::slice(x, {1, 1}, {2, 3});
  kg::concat({x, x}, 0);
  return sliced(x) != nullptr && joined(x) != nullptr;
}

constexpr auto sum_of_product = [](auto a, auto b, auto c) { return a * b + c; };
extern "C" [[gnu::noinline]] const void* fused(const kg::tensor& x) {
  return kg::fuse(sum_of_product)(x, x, x).address();
}
extern "C" [[gnu::noinline]] const void* fused_at_run_time(const kg::fused_expression& f, const kg::tensor& x) {
  return f(x, x, x).address();
}
static bool fused_calls(const kg::tensor& x) {
  const kg::fused_expression f =
      kg::fuse(3, [](std::span<const kg::symbol> s) { return sum_of_product(s[0], s[1], s[2]); });
  f(x, x, x);
  return fused(x) == fused_at_run_time(f, x);
}

static float chain(const kg::tensor& x, int ops) {
  auto f = kg::value_and_grad([ops](const kg::tensor& t) {
    kg::tensor y = t;
    for (int i = 0; i < ops; ++i) y = y * t;
    return y;
  });
  return f(x).grad.item<float>();
}
extern "C" [[gnu::noinline]] float chain_of_100(const kg::tensor& x) { return chain(x, 100); }
extern "C" [[gnu::noinline]] float chain_of_200(const kg::tensor& x) { return chain(x, 200); }

// The first calls fill what later ones find: the thread's caches, the tape's chunks, the registry's pin.
static bool other_calls() {
  const kg::tensor a({1.f}), b({2.f}), one({1.f});
  kg::run_kernel("Add", {{"a", a}, {"b", b}});
  kg::reshape(a, {1, 1});
  kg::leaky_relu(a, 0.1);
  chain(one, 200);
  return by_name(a, b) != nullptr && with_shape(a) == a.address() && with_number(a) != nullptr &&
         chain_of_100(one) == 101 && chain_of_200(one) == 201 && fused_calls(one) && moving_calls(kg::ones({4, 8}));
}

// True if both ran on the same block, so that neither count holds a fresh one.
static bool typed_calls() {
  const kg::tensor a({1.f}), b({2.f});
  const void* warm = kg::add(a, b).address();
  const void* before = before_hooks(a, b);
  int seen = 0;
  {
    kg::hooks wanted;
    wanted.begin = wanted.end = [&](const kg::kernel_event&) { ++seen; };
    wanted.allocate = [&](const kg::allocation_event&) { ++seen; };
    const kg::hook_handle added = kg::add_hooks(wanted);
    kg::add(a, b);
  }
  return seen == 4 && before == warm && after_hooks(a, b) == warm;
}

int main() {
  float a[64], b[64], y[64];
  for (int i = 0; i < 64; ++i) a[i] = static_cast<float>(i), b[i] = 1;
  // The first call of any kernel chooses the target, of the library and of Highway: it is not among those counted.
  kerngrad::kernels::Sub_float32(a, b, y, 64);
  choose_by_hand(a, b, y, 64);
  for (std::size_t n : {1, 8, 64}) {
    by_hand(a, b, y, n);
    entry_point(a, b, y, n);
    raw_door(a, b, y, n);
  }
  return y[63] == 64 && typed_calls() && other_calls() ? 0 : 1;
}
