// SPDX-License-Identifier: Apache-2.0
// Calls before and after something that slows calls while it lasts: a hook, a backend, a limit and so on. Each cause
// lasts for a while, with calls in it, and is ended; then the calls are made again. Prints a line for each call that
// was counted; leftovers_check.py reads how many instructions each executed. All must be as many as at first.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

import kerngrad;

#include "tests/support/arena.h"

namespace {

using kg::tensor;

// ------------------------------------------------------------------------------------------ calls

struct counted_call {
  const char* name;
  void (*run)();
};

const tensor& a() {
  static const tensor x({1.f, 2.f, 3.f});
  return x;
}

constexpr auto product_and_sum = [](auto x, auto y) { return x * y + y; };
constexpr auto sum_of_squares = kg::fuse([](auto x) { return kg::sum(x * x); });

const counted_call calls[] = {
    {"add", [] { static_cast<void>(kg::add(a(), a())); }},
    {"leaky_relu", [] { static_cast<void>(kg::leaky_relu(a(), 0.1)); }},
    {"sum", [] { static_cast<void>(kg::sum(a())); }},
    {"reshape", [] { static_cast<void>(kg::reshape(a(), {3, 1})); }},
    {"greater", [] { static_cast<void>(kg::greater(a(), a())); }},
    {"run_kernel", [] { static_cast<void>(kg::run_kernel("Add", {{"a", a()}, {"b", a()}})); }},
    {"fuse", [] { static_cast<void>(kg::fuse(product_and_sum)(a(), a())); }},
    {"gradient of add", [] { static_cast<void>(kg::grad([](const tensor& x) { return kg::sum(x + x); })(a())); }},
    {"gradient of a fused sum", [] { static_cast<void>(kg::grad(sum_of_squares)(a())); }},
};

}  // namespace

// Counted from its first instruction to its last.
extern "C" [[gnu::noinline]] void counted(const counted_call& call) {
  call.run();
  asm volatile("");  // no tail call
}

namespace {

void count_all(const char* after) {
  for (const counted_call& call : calls) {
    for (int i = 0; i < 3; ++i) call.run();  // fills what later calls find: caches, the registry's pin
    std::printf("%s|%s\n", after, call.name);
    counted(call);
  }
}

// ------------------------------------------------------------------------------------------ causes

struct cause {
  const char* name;
  std::function<void()> happen;  // makes it, calls while it lasts, ends it
};

void call_all() {
  for (const counted_call& call : calls) call.run();
}

// A backend "device" with a storage, for as long as the object lives.
struct device {
  std::shared_ptr<kgtest::arena> memory = std::make_shared<kgtest::arena>();
  device() {
    kg::register_backend("device", [this]() -> std::shared_ptr<kg::storage> { return memory; });
    kg::register_kernel(kgtest::arena_kernel("Neg", "device", memory, [](float x) { return -x; }));
  }
  ~device() { kgtest::forget("device"); }
  tensor result() const {
    const kg::backend_scope here("device");
    return kg::neg(a());
  }
};

kg::kernel_config host_kernel(const char* name, const char* backend) {
  kg::kernel_config config;
  config.name = name;
  config.backend = backend;
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.inputs("x")[0]}; };
  return config;
}

kg::gradient_config gradient_of_add() {
  kg::gradient_config config;
  config.name = "Add";
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"a", call.dy()}, {"b", call.dy()}};
  };
  return config;
}

constexpr auto other_rule = [] {
  return kg::rule<"Add">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 2; }),
                         kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 2; }));
};

const std::vector<cause>& causes() {
  static const std::vector<cause> all = {
      {"a hook",
       [] {
         kg::hooks wanted;
         wanted.begin = wanted.end = [](const kg::kernel_event&) {};
         wanted.allocate = [](const kg::allocation_event&) {};
         const kg::hook_handle here = kg::add_hooks(wanted);
         call_all();
       }},
      {"a profile", [] { kg::profile(call_all); }},
      {"a search for NaN",
       [] {
         const kg::nan_check here;
         call_all();
       }},
      {"a backend with a storage, removed",
       [] {
         const device here;
         here.result();
       }},
      {"a backend with a storage that was the active one",
       [] {
         const device here;
         kg::set_fallback(kg::fallback::by_priority);
         kg::set_backend("device");
         call_all();
         kg::set_backend(kg::backend::simd);
       }},
      {"a tensor in a storage, let go after its backend",
       [] {
         std::optional<device> here(std::in_place);
         const tensor x = here->result();
         const tensor view = kg::reshape(x, {3, 1});
         here.reset();
         call_all();
       }},
      {"a tensor in a storage that was fetched and lives on",
       [] {
         static std::vector<tensor> kept;
         const device here;
         const tensor x = here.result(), view = kg::reshape(x, {3, 1});
         static_cast<void>(x.to_doubles()), static_cast<void>(view.to_doubles());
         kept = {x, view};
       }},
      {"a backend scope that another thread ended",
       [] {
         const device here;
         std::optional<kg::backend_scope> scope("device");
         std::thread([&] { scope.reset(); }).join();
       }},
      {"the backend reference",
       [] {
         kg::set_backend(kg::backend::reference);
         call_all();
         kg::set_backend(kg::backend::simd);
       }},
      {"a backend without kernels, as the active one",
       [] {
         kg::register_backend("bare", nullptr);
         kg::set_fallback(kg::fallback::by_priority);
         kg::set_backend("bare");
         call_all();
         kgtest::forget("bare");
       }},
      {"a kernel in place of a known one",
       [] {
         const kg::registration here = kg::scoped_kernel(host_kernel("Neg", "simd"), kg::existing::replace);
         call_all();
       }},
      {"many kernels of new names",
       [] {
         std::vector<kg::registration> all;
         for (int i = 0; i < 400; ++i)
           all.push_back(kg::scoped_kernel(host_kernel(("Mine" + std::to_string(i)).c_str(), "simd")));
         call_all();
       }},
      {"a gradient in place of a known one",
       [] {
         const kg::registration here = kg::scoped_gradient(gradient_of_add(), kg::existing::replace);
         call_all();
       }},
      {"a rule scope",
       [] {
         const kg::rule_scope here(other_rule());
         call_all();
       }},
      {"a rule scope that another thread ended",
       [] {
         std::optional<decltype(kg::rule_scope(other_rule()))> scope(other_rule());
         std::thread([&] { scope.reset(); }).join();
       }},
      {"a memory limit",
       [] {
         kg::set_memory_limit(1 << 28);
         call_all();
         kg::set_memory_limit(kg::unlimited);
       }},
      {"an allocator",
       [] {
         kg::allocator_hooks hooks;
         hooks.allocate = [](void*, std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); };
         hooks.release = [](void*, void* block, std::size_t) { std::free(block); };
         kg::set_allocator(hooks);
         call_all();
         kg::set_allocator({});
       }},
      {"no cache",
       [] {
         const std::int64_t before = kg::cache_limit();
         kg::set_cache_limit(0);
         kg::release_cached_memory();
         call_all();
         kg::set_cache_limit(before);
       }},
      {"a pool of the caller's",
       [] {
         kg::set_num_threads(2);
         kg::set_thread_pool([](std::size_t count, const std::function<void(std::size_t)>& task) {
           for (std::size_t i = 0; i < count; ++i) task(i);
         });
         kg::exp(kg::ones({1 << 20}));
         kg::set_thread_pool({});
         kg::set_num_threads(1);
       }},
      {"another SIMD target",
       [] {
         kg::set_simd_target(kg::simd_targets().back().name);
         call_all();
         kg::set_simd_target("");
       }},
      {"a recording of a recording",
       [] {
         const auto slope = [](const tensor& x) {
           return kg::sum(kg::grad([](const tensor& t) { return kg::sum(kg::exp(t)); })(x));
         };
         kg::grad(slope)(a());
       }},
  };
  return all;
}

}  // namespace

int main() {
  // From its second thread on, a process counts owners by atomic instructions; glibc never goes back.
  std::thread([] {}).join();
  for (int i = 0; i < 10; ++i) call_all();
  count_all("nothing");
  for (const cause& each : causes()) {
    each.happen();
    count_all(each.name);
  }
}
