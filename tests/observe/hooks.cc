// SPDX-License-Identifier: Apache-2.0
// Hooks see every run of a kernel, every allocation and every fall-back, in order; what they throw ends the call, what
// they run is not watched, and they leave while others run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::kernel_event;
using kg::tensor;
using doubles = std::vector<double>;
using texts = std::vector<std::string>;

// Notes "mark+op" at begin and "mark-op" at end.
kg::hooks noting(texts& log, std::string mark = "") {
  return {.begin = [&log, mark](const kernel_event& e) { log.push_back(mark + "+" + std::string(e.op)); },
          .end = [&log, mark](const kernel_event& e) { log.push_back(mark + "-" + std::string(e.op)); }};
}

// ------------------------------------------------------------------------------------------ what is seen

TEST(hooks, see_each_run_with_operands_results_and_times) {
  int runs = 0;
  const tensor a({1.f, 2.f}), b({3.f, 4.f});
  const auto same = [&](const kernel_event& e) {
    EXPECT_EQ(e.op, "Add");
    EXPECT_EQ(e.backend, "simd");
    EXPECT_EQ(e.target, kg::active_simd_target());
    EXPECT_EQ(e.compute, dtype::float32);
    ASSERT_EQ(e.in.size(), 2u);
    EXPECT_TRUE(e.in[0]->shares_with(a));
    EXPECT_TRUE(e.in[1]->shares_with(b));
    EXPECT_FALSE(e.backward);
    EXPECT_GT(e.begin_ns, 0);
  };
  const kg::hook_handle watch = kg::add_hooks({.begin =
                                                   [&](const kernel_event& e) {
                                                     same(e);
                                                     EXPECT_TRUE(e.out.empty());
                                                     EXPECT_EQ(e.end_ns, 0);
                                                   },
                                               .end =
                                                   [&](const kernel_event& e) {
                                                     same(e);
                                                     ASSERT_EQ(e.out.size(), 1u);
                                                     EXPECT_EQ(e.out[0].to_doubles(), (doubles{4, 6}));
                                                     EXPECT_GE(e.end_ns, e.begin_ns);
                                                     ++runs;
                                                   }});
  EXPECT_EQ(kg::add(a, b).to_doubles(), (doubles{4, 6}));
  static_cast<void>(kg::run_kernel("Add", {{"a", a}, {"b", b}}));
  static_cast<void>(kg::find_kernel("Add")({{"a", a}, {"b", b}}));
  EXPECT_EQ(runs, 3) << "through every door on tensors";
}

TEST(hooks, see_casts_and_kernels_of_the_registry_but_no_second_headers) {
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Own", .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {kg::exp(c.input("x"))}; }});
  texts log;
  const kg::hook_handle watch = kg::add_hooks(noting(log));
  static_cast<void>(kg::add(tensor({1}), tensor({1.f})));
  EXPECT_EQ(log, (texts{"+Cast", "-Cast", "+Add", "-Add"}));
  log.clear();
  static_cast<void>(kg::run_kernel("Own", {{"x", kg::reshape(tensor({1.f}), {1, 1})}}));
  EXPECT_EQ(log, (texts{"+Own", "+Exp", "-Exp", "-Own"}));
}

TEST(hooks, know_the_walk_back_from_the_way_forward) {
  texts forward, backward;
  const kg::hook_handle watch = kg::add_hooks(
      {.begin = [&](const kernel_event& e) { (e.backward ? backward : forward).push_back(std::string(e.op)); }});
  static_cast<void>(kg::grad([](const tensor& x) { return kg::sum(kg::exp(x)); })(tensor({1.0})));
  EXPECT_EQ(std::ranges::count(forward, "Exp"), 1);
  EXPECT_EQ(std::ranges::count(forward, "Multiply"), 0);
  EXPECT_EQ(std::ranges::count(backward, "Exp"), 0);
  EXPECT_EQ(std::ranges::count(backward, "Multiply"), 1);
}

TEST(hooks, name_the_backend_and_the_target_that_ran) {
  std::string backend, target;
  const kg::hook_handle watch =
      kg::add_hooks({.end = [&](const kernel_event& e) { backend = e.backend, target = e.target; }});
  {
    const kg::backend_scope reference(kg::backend::reference);
    static_cast<void>(kg::exp(tensor(1.f)));
    EXPECT_EQ(backend, "reference");
    EXPECT_EQ(target, "");
  }
  kg::set_simd_target(kg::simd_targets().back().name);
  static_cast<void>(kg::exp(tensor(1.f)));
  kg::set_simd_target("");
  EXPECT_EQ(backend, "simd");
  EXPECT_EQ(target, kg::simd_targets().back().name);
}

TEST(hooks, see_the_memory_of_results_come_and_go) {
  std::vector<std::int64_t> bytes;
  const kg::hook_handle watch =
      kg::add_hooks({.allocate = [&](const kg::allocation_event& e) { bytes.push_back(e.bytes); }});
  {
    const tensor x = kg::zeros({3, 5});
    const tensor view = kg::reshape(x, {15});
  }
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{60, -60}));
}

TEST(hooks, hear_of_no_fallback_where_there_is_none) {
  int count = 0;
  const kg::hook_handle watch = kg::add_hooks({.fallback = [&](const kg::fallback_event&) { ++count; }});
  kg::set_fallback(kg::fallback::by_priority);
  static_cast<void>(kg::exp(tensor(1.f)));
  kg::set_fallback(kg::fallback::refuse);
  EXPECT_EQ(count, 0);
}

// ------------------------------------------------------------------------------------------ order and lives

TEST(hooks, run_in_the_order_in_which_they_were_added_until_they_leave) {
  texts log;
  kg::hook_handle first = kg::add_hooks(noting(log, "1")), second = kg::add_hooks(noting(log, "2")),
                  third = kg::add_hooks(noting(log, "3"));
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(log, (texts{"1+Exp", "2+Exp", "3+Exp", "1-Exp", "2-Exp", "3-Exp"}));
  log.clear();
  second.remove();
  second.remove();
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(log, (texts{"1+Exp", "3+Exp", "1-Exp", "3-Exp"}));
  log.clear();
  {
    const kg::hook_handle moved = std::move(first);
    static_cast<void>(kg::exp(tensor(1.f)));
    EXPECT_EQ(log.size(), 4u);
  }
  log.clear();
  third = kg::hook_handle();
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_TRUE(log.empty());
}

TEST(hooks, may_add_and_remove_hooks_while_they_run) {
  texts log;
  std::optional<kg::hook_handle> inner;
  kg::hook_handle self;
  self = kg::add_hooks({.begin = [&](const kernel_event&) {
    if (!inner) inner = kg::add_hooks(noting(log, "inner"));
    else self.remove();
  }});
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(log, (texts{"inner-Exp"})) << "it was added between begin and end";
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(log.size(), 3u);
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(log.size(), 5u);
}

TEST(hooks, of_one_thread_see_its_calls_only) {
  std::atomic<int> mine = 0, all = 0;
  const auto count = [](std::atomic<int>& n) { return [&n](const kernel_event&) { ++n; }; };
  const kg::hook_handle here = kg::add_hooks({.begin = count(mine), .this_thread_only = true}),
                        everywhere = kg::add_hooks({.begin = count(all)});
  std::thread([] { static_cast<void>(kg::exp(tensor(1.f))); }).join();
  EXPECT_EQ(mine, 0);
  EXPECT_EQ(all, 1);
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(mine, 1);
  EXPECT_EQ(all, 2);
}

TEST(hooks, leave_while_other_threads_run) {
  std::atomic<bool> stop = false;
  // The hooks write to an object that outlives them: a running call may still call them once.
  const auto seen = std::make_shared<std::atomic<std::int64_t>>(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const tensor x({1.f, 2.f});
      while (!stop) EXPECT_EQ(kg::add(x, x).to_doubles(), (doubles{2, 4}));
    });
  for (int i = 0; i < 300; ++i) {
    kg::hook_handle watch = kg::add_hooks({.begin = [seen](const kernel_event&) { ++*seen; },
                                           .end = [seen](const kernel_event&) { ++*seen; },
                                           .allocate = [seen](const kg::allocation_event&) { ++*seen; }});
    if (i % 2) watch.remove();
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  const std::int64_t after = *seen;
  static_cast<void>(kg::exp(tensor(1.f)));
  EXPECT_EQ(*seen, after);
}

// ------------------------------------------------------------------------------------------ what hooks do

TEST(hooks, may_run_ops_which_are_neither_watched_nor_recorded) {
  int runs = 0;
  double checked = 0;
  const kg::hook_handle watch = kg::add_hooks({.end = [&](const kernel_event& e) {
    ++runs;
    if (kg::differentiable.has(e.out[0].type())) checked += kg::sum(kg::abs(e.out[0])).item();
  }});
  const auto f = [](const tensor& x) { return kg::sum(kg::square(x)); };
  EXPECT_EQ(kg::grad(f)(tensor({1.0, -3.0})).to_doubles(), (doubles{2, -6}));
  EXPECT_GT(runs, 2);
  EXPECT_GE(checked, 20);
}

TEST(hooks, that_throw_at_begin_or_end_end_the_call_and_leave_nothing_recorded) {
  std::string fails_at;
  const kg::hook_handle watch = kg::add_hooks({.begin =
                                                   [&](const kernel_event& e) {
                                                     if (fails_at == "begin " + std::string(e.op))
                                                       throw std::runtime_error("begin");
                                                   },
                                               .end =
                                                   [&](const kernel_event& e) {
                                                     if (fails_at == "end " + std::string(e.op))
                                                       throw std::runtime_error("end");
                                                   }});
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Own", .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") * 2}; }});
  const kg::memory_info before = kg::memory();
  const auto f = [&](const tensor& x) {
    for (const char* where : {"begin Exp", "end Exp", "begin Own", "end Own", "begin Concat", "end Concat"}) {
      fails_at = where;
      const auto call = [&] {
        if (fails_at.ends_with("Exp")) return kg::exp(x);
        return fails_at.ends_with("Own") ? kg::run_kernel("Own", {{"x", x}}) : kg::concat(std::vector{x, x});
      };
      EXPECT_THROW(call(), std::runtime_error) << where;
    }
    fails_at.clear();
    return kg::sum(kg::square(x));
  };
  EXPECT_EQ(kg::grad(f)(tensor({3.0})).item(), 6) << "Own has no gradient: had it been recorded, it would be refused";
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(hooks, that_throw_end_the_hooks_behind_them_too) {
  texts log;
  const kg::hook_handle first = kg::add_hooks(noting(log, "1")),
                        thrower = kg::add_hooks({.begin = [](const kernel_event&) { throw std::runtime_error("no"); }}),
                        last = kg::add_hooks(noting(log, "3"));
  EXPECT_THROW(kg::exp(tensor(1.f)), std::runtime_error);
  EXPECT_EQ(log, (texts{"1+Exp"})) << "no end without a run";
}

TEST(hooks, of_a_kernel_that_throws_see_its_begin_only) {
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Own", .run = [](const kg::kernel_call&) -> kg::tensor_list { throw std::runtime_error("no"); }});
  texts log;
  const kg::hook_handle watch = kg::add_hooks(noting(log));
  EXPECT_THROW(kg::run_kernel("Own", {}), std::runtime_error);
  EXPECT_EQ(log, (texts{"+Own"}));
  EXPECT_NE(kgtest::refusal([] { return kg::add(tensor({1.f, 2.f}), tensor({1.f, 2.f, 3.f})); }), kgtest::accepted);
  EXPECT_EQ(log, (texts{"+Own"})) << "what the row refuses never runs";
}

TEST(hooks, that_throw_while_the_walk_goes_back_leave_the_tape_usable) {
  bool armed = true;
  const kg::hook_handle watch = kg::add_hooks({.begin = [&](const kernel_event& e) {
    if (armed && e.backward) throw std::runtime_error("on the way back");
  }});
  const auto f = [](const tensor& x) { return kg::sum(kg::exp(x) * x); };
  EXPECT_THROW(kg::grad(f)(tensor({0.0})), std::runtime_error);
  armed = false;
  EXPECT_EQ(kg::grad(f)(tensor({0.0})).item(), 1);
}

}  // namespace
