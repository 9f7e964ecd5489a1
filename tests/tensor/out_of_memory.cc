// SPDX-License-Identifier: Apache-2.0
// Calls, the registry, hooks, backends and packs that run out of memory.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/packs/packs.h"
#include "tests/support/failing_memory.h"
#include "tests/support/refusal.h"

namespace my {

struct Cube {
  static constexpr kg::operand operands[] = {{"x", kg::floating}};
  static constexpr kg::op_row row{.name = "Cube",
                                  .doc = "x * x * x.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return x * x * x; }),
                                                  kg::per_element<double>([](double x) { return x * x * x; }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) { return c.dy() * kg::square(c.in(0)) * 3; }));
};

}  // namespace my

namespace {

using kg::existing;
using kg::tensor;
using kgtest::failing;
using kgtest::for_each_allocation;
using kgtest::refusal;
using kgtest::registered;
using kgtest::sweep;
using kgtest::test_pack;
using kgtest::watched;

kg::kernel_config plus(std::string name, double by) {
  return {.name = std::move(name),
          .run = [by](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") + by}; }};
}
kg::gradient_config times(std::string name, double by) {
  return {.name = std::move(name),
          .run = [by](const kg::gradient_call& c) { return std::vector<kg::named_operand>{{"x", c.dy() * by}}; }};
}

// ------------------------------------------------------------------------------------------ calls and gradients

TEST(out_of_memory, ends_calls_and_gradients_without_a_trace) {
  const tensor x({0.5f, 1.f, 2.f}), w({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2}), whole({1, 2, 3});
  const auto fused = kg::fuse([](auto a, auto b) { return kg::sigmoid(a) * b + kg::tanh(a * 2); });
  const auto loss = [&](const tensor& t) { return kg::sum(kg::square(kg::matmul(kg::reshape(t, {1, 3}), w))); };
  sweep({
      {"an op", [&] { kg::exp(x); }},
      {"promotion and broadcasting", [&] { static_cast<void>(kg::reshape(x, {3, 1}) + whole); }},
      {"a list of more operands than have room of their own",
       [&] { kg::add_n(std::vector{x, kg::cast(x, kg::dtype::float64), x, x, x, kg::cast(x, kg::dtype::float64)}); }},
      {"a call by name", [&] { kg::run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}}); }},
      {"a gradient", [&] { kg::grad(loss)(x); }},
      {"a second derivative", [&] { kg::grad([&](const tensor& t) { return kg::sum(kg::grad(loss)(t)); })(x); }},
      {"a list of gradients",
       [&] {
         kg::value_and_grads_of([](std::span<const tensor> all) { return kg::sum(kg::add_n(all)); },
                                std::vector<tensor>(10, x));
       }},
      {"a checkpoint", [&] { kg::grad(kg::checkpoint(loss))(x); }},
      {"a directional derivative", [&] { kg::jvp(loss)(x, x); }},
      {"a fused call", [&] { fused(x, x); }},
      {"a fused call with broadcasting", [&] { fused(x, kg::reshape(x, {3, 1})); }},
      {"a fused gradient", [&] { kg::grad([&](const tensor& t) { return kg::sum(fused(t, t)); })(x); }},
      {"indices", [&] { static_cast<void>(w(1) + w(0, 1) + w(kg::all, 1)(whole - 1)(x > 1)); }},
      {"updates", [&] { static_cast<void>(w.at(kg::all, 1).set(x).at(whole - 1).add(1).at(0).multiply(2)); }},
      {"a gradient of indices",
       [&] { kg::grad([&](const tensor& t) { return kg::sum(t(1) * t.at(0).set(t(2))); })(w); }},
      {"a profile", [&] { kg::profile([&] { static_cast<void>(x + x); }); }},
      {"an error", [&] { static_cast<void>(refusal([&] { return x + w; })); }},
  });
}

// A recording goes on after an op in it that failed.
TEST(out_of_memory, inside_of_a_recording_leaves_the_rest_of_it_right) {
  const tensor x({1.0, 2.0});
  for_each_allocation([&](std::int64_t n) {
    failing now{n};
    const tensor slope = kg::grad([&](const tensor& t) {
      watched = &now;
      try {
        const tensor square = kg::matmul(kg::reshape(t, {1, 2}), kg::reshape(t, {2, 1}));
        static_cast<void>(kg::run_kernel("LeakyRelu", {{"x", square}}));
      } catch (const std::exception&) {
      }
      watched = nullptr;
      return kg::sum(t * t);
    })(x);
    EXPECT_EQ(slope.to_doubles(), (std::vector<double>{2, 4})) << "allocation " << n;
    return now.asked;
  });
}

// ------------------------------------------------------------------------------------------ registry

void unregister_all() {
  if (kg::get_kernel("Mine")) kg::unregister_kernel("Mine");
  if (kg::get_kernel("Mine", "reference")) kg::unregister_kernel("Mine", "reference");
  if (kg::get_gradient("Mine")) kg::unregister_gradient("Mine");
  if (kg::row_named("Cube")) kg::unregister_op("Cube");
}

TEST(out_of_memory, leaves_the_registry_as_it_was) {
  const tensor x(2.0);
  const auto with_mine = [] { kg::register_kernel(plus("Mine", 1)), kg::register_gradient(times("Mine", 1)); };
  sweep({
      {"a kernel", [] { kg::register_kernel(plus("Mine", 1)); }, [] {}, unregister_all},
      {"a kernel in place of one", [] { kg::register_kernel(plus("Mine", 2), existing::replace); }, with_mine,
       unregister_all},
      {"a kernel that goes", [] { kg::unregister_kernel("Mine"); }, with_mine, unregister_all},
      {"a gradient", [] { kg::register_gradient(times("Mine", 1)); }, [] {}, unregister_all},
      {"a gradient that goes", [] { kg::unregister_gradient("Mine"); }, with_mine, unregister_all},
      {"an op", [] { kg::register_op<my::Cube>(); }, [] {}, unregister_all},
      {"an op that goes", [] { kg::unregister_op("Cube"); }, [] { kg::register_op<my::Cube>(); }, unregister_all},
      {"copies of kernels", [] { kg::copy_registered_kernels("simd", "reference"); }, with_mine, unregister_all},
      {"a kernel for a while",
       [&] {
         const kg::registration mine = kg::scoped_kernel(plus("Mine", 1));
         kg::run_kernel("Mine", {{"x", x}});
       }},
      {"a gradient for a while",
       [&] {
         const kg::registration mine = kg::scoped_gradient(times("Square", 1), existing::replace);
         kg::grad([](const tensor& t) { return kg::square(t); })(x);
       }},
      {"an op for a while",
       [&] {
         const kg::registration mine = kg::scoped_op<my::Cube>();
         kg::run_kernel("Cube", {{"x", x}});
       }},
  });
}

TEST(a_registration, ends_without_memory) {
  int disposed = 0;
  kg::kernel_config config = plus("Mine", 1);
  config.dispose = [&] { ++disposed; };
  const std::string before = registered();
  for (const bool by_hand : {false, true}) {
    std::optional<kg::registration> kernel = kg::scoped_kernel(config);
    kg::registration gradient = kg::scoped_gradient(times("Square", 50), existing::replace);
    failing now{1, true};
    watched = &now;
    if (by_hand) kernel->release();
    kernel.reset();
    gradient.release();
    watched = nullptr;
    EXPECT_EQ(registered(), before);
    EXPECT_NE(refusal([] { return kg::run_kernel("Mine", {{"x", tensor(1.f)}}); }), kgtest::accepted);
    EXPECT_EQ(kg::grad([](const tensor& t) { return kg::square(t); })(tensor(3.f)).item(), 6) << "its own rule again";
    const kg::registration next = kg::scoped_kernel(plus("Mine", 2));
    EXPECT_EQ(kg::run_kernel("Mine", {{"x", tensor(1.f)}}).item(), 3) << "the name is free";
    EXPECT_EQ(disposed, by_hand ? 2 : 1) << "by the next change at the latest";
  }
}

TEST(a_registration, that_a_dispose_hook_ends_with_an_exception_leaves_nothing_registered) {
  kg::kernel_config angry = plus("Mine", 1);
  angry.dispose = [] { throw std::runtime_error("angry"); };
  const std::string before = registered();
  kg::register_kernel(angry);
  EXPECT_THROW(static_cast<void>(kg::scoped_kernel(plus("Mine", 2), existing::replace)), std::runtime_error);
  EXPECT_EQ(registered(), before);
}

// ------------------------------------------------------------------------------------------ hooks, backends, packs

TEST(out_of_memory, leaves_hooks_backends_and_pools_as_they_were) {
  const tensor x(2.0);
  int seen = 0;
  const auto watching = [&] {
    const int before = seen;
    static_cast<void>(x + x);
    return registered() + std::to_string(seen - before) + std::to_string(kg::num_threads());
  };
  sweep({
      {"hooks",
       [&] {
         const kg::hook_handle first = kg::add_hooks({.begin = [&](const kg::kernel_event&) { ++seen; }});
         kg::hook_handle second = kg::add_hooks({.end = [&](const kg::kernel_event&) { ++seen; }});
         static_cast<void>(x + x);
         second.remove();
         static_cast<void>(x + x);
       },
       [] {}, [] {}, watching},
      {"hooks that take themselves out",
       [&] {
         kg::hook_handle self;
         self = kg::add_hooks({.begin = [&](const kg::kernel_event&) { self.remove(); }});
         static_cast<void>(x + x);
       },
       [] {}, [] {}, watching},
      {"a backend", [&] { kg::register_backend("mine", [] { return std::shared_ptr<kg::storage>(); }); }, [] {},
       [] { static_cast<void>(refusal([] { return kg::remove_backend("mine"), 0; })); }},
      {"a backend that is used for a while",
       [&] {
         const kg::backend_scope here("mine");
         static_cast<void>(refusal([&] { return x + x; }));
       },
       [] { kg::register_backend("mine", [] { return std::shared_ptr<kg::storage>(); }); },
       [] { kg::remove_backend("mine"); }},
      {"a pool of the caller's",
       [] {
         kg::set_thread_pool([](std::size_t n, const auto& task) {
           while (n > 0) task(--n);
         });
       },
       [] {}, [] { kg::set_thread_pool({}); }, watching},
  });
}

TEST(a_backend, is_removed_without_memory) {
  const std::string before = registered();
  for (const bool is_active : {false, true}) {
    int disposed = 0;
    kg::register_backend("mine", [] { return std::shared_ptr<kg::storage>(); });
    kg::kernel_config mine = plus("Mine", 1);
    mine.backend = "mine";
    mine.dispose = [&] { ++disposed; };
    const kg::registration kernel = kg::scoped_kernel(mine);
    kg::set_backend("mine");
    if (!is_active) kg::set_backend("simd");
    failing now{1, true};
    EXPECT_TRUE(kgtest::is_done_despite(now, [] { kg::remove_backend("mine"); }));
    EXPECT_EQ(disposed, 1);
    EXPECT_EQ(kg::active_backend(), "simd");
    EXPECT_EQ((tensor(1.f) + tensor(2.f)).item(), 3);
    EXPECT_EQ(kg::run_kernel("Square", {{"x", tensor(3.f)}}).item(), 9);
    EXPECT_NE(refusal([] { return kg::set_backend("mine"), 0; }), kgtest::accepted);
    for (const kg::backend_info& b : kg::backends()) EXPECT_NE(b.name, "mine");
    kg::register_backend("mine", [] { return std::shared_ptr<kg::storage>(); });
    kg::remove_backend("mine");
  }
  EXPECT_EQ(registered(), before);
}

TEST(hooks, are_taken_out_without_memory) {
  int seen = 0;
  kg::hook_handle first = kg::add_hooks({.begin = [&](const kg::kernel_event&) { ++seen; }});
  kg::hook_handle second = kg::add_hooks({.begin = [&](const kg::kernel_event&) { first.remove(), ++seen; }});
  failing now{1, true};
  kg::hook_handle third = kg::add_hooks({.begin = [&](const kg::kernel_event&) {
    watched = &now;
    second.remove();
    watched = nullptr;
  }});
  static_cast<void>(tensor(1.f) + tensor(2.f));
  EXPECT_EQ(seen, 2);
  static_cast<void>(tensor(1.f) + tensor(2.f));
  EXPECT_EQ(seen, 2);
}

TEST(out_of_memory, loads_and_unloads_packs_wholly_or_not_at_all) {
  const std::string path = test_pack("complete");
  std::vector<kg::pack> packs;
  const auto unload = [&] {
    for (kg::pack& p : packs)
      if (p.loaded()) p.unload();
    packs.clear();
    for (kg::pack& p : kg::loaded_packs()) p.unload();
  };
  sweep({
      {"loading", [&] { kg::load_pack(path); }, [] {}, unload},
      {"unloading", [&] { packs[0].unload(); }, [&] { packs.push_back(kg::load_pack(path)); }, unload,
       [&] { return registered() + (packs.at(0).loaded() ? " loaded" : " unloaded"); }},
  });
}

}  // namespace
