// SPDX-License-Identifier: Apache-2.0
// Running out of memory. Each piece of work below is done again and again while its n-th allocation fails, once alone
// and once with all after it, for every n that it reaches: the work is done, or everything is as it was before. What is
// allocated is counted here, so that nothing is lost on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/packs/packs.h"
#include "tests/support/refusal.h"
#include "tests/support/under_asan.h"

namespace {

// Which allocations of a thread fail.
struct failing {
  std::int64_t nth = 0;  // counted from 1; 0: none
  bool all_after = false;
  std::int64_t asked = 0;
};
constinit thread_local failing* watched = nullptr;
constinit std::atomic<std::int64_t> live{0};  // objects on the heap

bool is_refused() {
  if (!watched) return false;
  const std::int64_t at = ++watched->asked;
  return watched->nth != 0 && (watched->all_after ? at >= watched->nth : at == watched->nth);
}

void* taken(std::size_t bytes, std::size_t alignment) {
  void* block = nullptr;
  if (is_refused() || posix_memalign(&block, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
  ++live;
  return block;
}
void given_back(void* block) {
  if (block) --live;
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return taken(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t at) { return taken(bytes, static_cast<std::size_t>(at)); }
void operator delete(void* block) noexcept { given_back(block); }
void operator delete(void* block, std::size_t) noexcept { given_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { given_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { given_back(block); }

#if !KG_UNDER_ASAN
// What the library takes blocks of tensors with.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* block = nullptr;
  return is_refused() || posix_memalign(&block, alignment, bytes) != 0 ? nullptr : block;
}
#endif

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
using kg::variable;
using kgtest::refusal;
using kgtest::test_pack;

kg::kernel_config plus(std::string name, double by) {
  return {.name = std::move(name),
          .run = [by](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") + by}; }};
}
kg::gradient_config times(std::string name, double by) {
  return {.name = std::move(name),
          .run = [by](const kg::gradient_call& c) { return std::vector<kg::named_operand>{{"x", c.dy() * by}}; }};
}

// What is held when nothing is going on.
struct holdings {
  std::int64_t objects, blocks, tensors, bytes;
  friend bool operator==(const holdings&, const holdings&) = default;
  friend void PrintTo(const holdings& h, std::ostream* out) {
    *out << h.objects << " objects, " << h.blocks << " blocks, " << h.tensors << " tensors, " << h.bytes << " bytes";
  }
};
holdings held() {
  // A change of the registry frees the states before it that no thread looks at: after two there is one old state.
  kg::has_gradient("Add");
  kg::register_kernel(plus("Marker", 0));
  kg::has_gradient("Add");
  kg::unregister_kernel("Marker");
  kg::has_gradient("Add");
  kg::release_cached_memory();
  const kg::memory_info now = kg::memory();
  return {live, kg::allocations().system_blocks, now.live_tensors, now.live_bytes};
}

std::string registered() {
  std::string text = std::to_string(kg::loaded_packs().size()) + " packs, " + kg::active_backend();
  for (const std::string& name : kg::op_names()) text += " " + name + (kg::has_gradient(name) ? "'" : "");
  for (const kg::backend_info& b : kg::backends()) {
    text += "\n" + b.name + ":";
    for (const kg::kernel_info& k : kg::kernels_for_backend(b.name)) text += " " + k.name + k.where;
  }
  return text;
}

struct work {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = [] {}, undo = [] {};  // memory never fails in these
  std::function<std::string()> state = registered;
};

// Does it once while allocations fail; gives how many there were, 0 where something is wrong.
std::int64_t attempt(const work& w, failing now) {
  w.prepare();
  const std::string before = w.state();
  bool done = false;
  watched = &now;
  try {
    w.run();
    done = true;
  } catch (const std::bad_alloc&) {
  } catch (const kg::error&) {
  }
  watched = nullptr;
  const bool kept = done || w.state() == before;
  EXPECT_TRUE(kept) << w.name << " failed at allocation " << now.nth << " and left\n"
                    << w.state() << "\nin place of\n"
                    << before;
  EXPECT_TRUE(done || now.asked >= now.nth) << w.name << " failed without a reason";
  w.undo();
  return kept ? now.asked : 0;
}

// Calls attempt(n), which gives how many allocations there were, for every n that is reached, and once more.
template <class F>
void for_each_allocation(F attempt) {
  for (std::int64_t n = 1; attempt(n) >= n; ++n) {
  }
}

void sweep(const work& w) {
  for (int i = 0; i < 2; ++i) w.prepare(), w.run(), w.undo();  // what is kept from call to call is there now
  const holdings at_rest = held();
  for (const bool all_after : {false, true}) {
    std::int64_t most = 0;
    for_each_allocation([&](std::int64_t n) {
      const std::int64_t asked = attempt(w, {n, all_after});
      const holdings now = held();  // nothing of this program's own is held here
      EXPECT_EQ(now, at_rest) << w.name << " while allocation " << n << (all_after ? " and all after it" : "")
                              << " fails";
      most = std::max(most, asked);
      return now == at_rest ? asked : 0;
    });
    EXPECT_GE(most, KG_UNDER_ASAN ? 0 : 1) << w.name << " allocates nothing";
  }
}
void sweep(const std::vector<work>& all) {
  for (const work& w : all) sweep(w);
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

// ------------------------------------------------------------------------------------------ optimizers

template <class Optimizer, class... Args>
void check_steps(const std::string& name, Args... args) {
  const tensor ones = kg::ones({5}), slope({1.f, 2.f, 3.f, 4.f, 5.f});
  const std::vector<variable> all = {variable(ones), variable(ones), variable(ones)};
  const std::vector<kg::variable_gradient> grads = {{all[0], slope}, {all[1], slope}, {all[2], slope}, {all[0], slope}};
  std::unique_ptr<Optimizer> optimizer;
  tensor elsewhere;
  sweep({name, [&] { optimizer->apply(grads); },
         [&] {  // one variable is known to the optimizer, and the value of one is held elsewhere, too
           for (const variable& v : all) v.assign(ones * 1);
           elsewhere = all[1].value();
           optimizer = std::make_unique<Optimizer>(args...);
           optimizer->apply(std::vector{kg::variable_gradient{all[2], slope}});
         },
         [&] { optimizer.reset(), elsewhere = tensor(); },
         [&] {
           std::string text;
           for (const variable& v : all) text += to_string(v.value()) + "\n";
           return text + std::to_string(kg::memory().live_bytes);
         }});
}

TEST(out_of_memory, ends_a_step_of_an_optimizer_before_any_variable_has_changed) {
  check_steps<kg::sgd>("sgd", 0.5);
  check_steps<kg::momentum>("momentum", 0.5, 0.9);
  check_steps<kg::adam>("adam", 0.5);
  check_steps<kg::adagrad>("adagrad", 0.5);
  check_steps<kg::rms_prop>("centered rms_prop", 0.5, 0.9, 0.5, 1e-7, true);
}

// Steps that failed leave no trace in what the optimizer remembers either.
TEST(out_of_memory, again_and_again_in_a_training_leaves_it_where_an_untroubled_one_ends) {
  struct model {
    variable w{kg::random_normal({3, 4}, 0, 1, 1)}, b{kg::zeros({4})};
    kg::adam optimizer{0.1};
    const tensor x = kg::random_normal({8, 3}, 0, 1, 2);
    void step() {
      optimizer.minimize([&] { return kg::mean(kg::square(kg::tanh(kg::matmul(x, w) + b) - 0.5)); });
    }
    std::vector<double> values() const {
      std::vector<double> all = w.value().to_doubles();
      for (double v : b.value().to_doubles()) all.push_back(v);
      return all;
    }
  } troubled, untroubled;
  int refused = 0;
  for_each_allocation([&](std::int64_t n) {
    kg::release_cached_memory();
    failing now{n};
    bool done = false;
    watched = &now;
    try {
      troubled.step();
      done = true;
    } catch (const std::exception&) {
    }
    watched = nullptr;
    if (done) untroubled.step();
    else ++refused;
    EXPECT_EQ(troubled.values(), untroubled.values()) << "allocation " << n;
    return now.asked;
  });
  EXPECT_GT(refused, 0);
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
