// SPDX-License-Identifier: Apache-2.0
// Sixteen threads call, look up and differentiate while four change kernels, gradients, ops, backends and hooks: every
// result is one of those that are legal at some moment, and what was replaced does not pile up. Under ThreadSanitizer
// the same program says whether that was luck: `./dev test tsan`.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/arena.h"
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
using kgtest::accepted;
using kgtest::refusal;

constexpr int reader_count = 16;

// Failures of other threads, for the one that runs the tests: expectations are for it alone.
class complaints {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (texts_.size() < 10) texts_.push_back(std::move(text));
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Readers loop until every writer has done its rounds. How long that takes depends on the machine; how many calls
// the readers get in meanwhile is the library's: a writer that waits for readers would wait for ever.
class contest {
 public:
  explicit contest(complaints& wrong) : wrong_(wrong) {}

  void run(const std::vector<std::function<void()>>& readers, const std::vector<std::function<void()>>& writers,
           int rounds) {
    std::vector<std::thread> threads;
    writing_ = static_cast<int>(writers.size());
    for (int i = 0; i < reader_count; ++i)
      threads.emplace_back([this, &work = readers[static_cast<std::size_t>(i) % readers.size()]] {
        do tried(work), ++calls_;
        while (writing_ > 0 && !patience_is_over());
      });
    for (const auto& work : writers)
      threads.emplace_back([this, &work, rounds] {
        for (int i = 0; i < rounds && !patience_is_over(); ++i) tried(work);
        --writing_;
      });
    for (std::thread& t : threads) t.join();
    if (patience_is_over())
      wrong_.add("the readers made " + std::to_string(calls_) + " calls before the writers were done");
  }
  /// Gives readers the time for a few calls; for writers.
  void let_readers_pass() const {
    for (const std::int64_t before = calls_; calls_ < before + 2 * reader_count && !patience_is_over();)
      std::this_thread::yield();
  }

 private:
  void tried(const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& e) {
      wrong_.add(e.what());
    }
  }
  bool patience_is_over() const { return calls_ > 20'000'000; }

  complaints& wrong_;
  std::atomic<std::int64_t> calls_ = 0;
  std::atomic<int> writing_ = 0;
};

// Counts how many kernels live: a copy of it goes with every registered function.
struct counted {
  static inline std::atomic<int> alive{0}, most{0};
  counted() { count(); }
  counted(const counted&) { count(); }
  ~counted() { --alive; }
  static void count() {
    const int now = ++alive;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
  }
};

kg::kernel_config value_kernel(std::string name, float value) {
  return {.name = std::move(name), .run = [value, mark = counted()](const kg::kernel_call& c) -> kg::tensor_list {
            return {kg::full(c.input("x").dims(), value)};
          }};
}
kg::gradient_config scaled_gradient(std::string name, double by) {
  return {.name = std::move(name), .run = [by, mark = counted()](const kg::gradient_call& c) {
            return std::vector<kg::named_operand>{{"x", c.dy() * by}};
          }};
}

bool is_one_of(double value, std::initializer_list<double> legal) {
  return std::find(legal.begin(), legal.end(), value) != legal.end();
}

TEST(the_registry_among_threads, gives_every_reader_one_of_the_legal_answers) {
  complaints wrong;
  const tensor one(1.f), two(2.0);
  const auto check = [&](const char* what, double value, std::initializer_list<double> legal) {
    if (!is_one_of(value, legal)) wrong.add(std::string(what) + " gave " + std::to_string(value));
  };
  const std::vector<std::function<void()>> readers = {
      [&] {  // a kernel that is replaced all the time
        check("Value", kg::run_kernel("Value", {{"x", one}}).item(), {1, 2, 3});
      },
      [&] {  // a handle keeps the kernel that it found
        const kg::kernel_handle found = kg::find_kernel("Value");
        const double first = found({{"x", one}}).item();
        check("a handle", first, {1, 2, 3});
        check("a handle again", found({{"x", one}}).item(), {first});
      },
      [&] {  // a kernel that comes and goes: it runs, or the name is unknown
        const std::string text =
            refusal([&] { check("Fleeting", kg::run_kernel("Fleeting", {{"x", one}}).item(), {4}); });
        if (text != accepted && text.find("Fleeting") == std::string::npos) wrong.add(text);
      },
      [&] {  // typed calls and a gradient that is replaced and given back
        const double slope = kg::grad([](const tensor& x) { return kg::square(x); })(two).item();
        check("the slope of Square", slope, {4, 50, 60});
        check("Add", kg::add(two, two).item(), {4});
      },
      [&] {  // a user-defined op: typed always, by name or not
        check("Cube", kg::call<my::Cube>(two).item(), {8});
        check("the slope of Cube", kg::grad([](const tensor& x) { return kg::call<my::Cube>(x); })(two).item(), {12});
        static_cast<void>(refusal([&] { check("Cube", kg::run_kernel("Cube", {{"x", two}}).item(), {8}); }));
      },
      [&] {  // listings are whole
        const auto info = kg::get_kernel("Value");
        if (!info || info->where.empty()) wrong.add("Value was not listed");
        const std::vector<std::string> names = kg::op_names();
        if (!std::is_sorted(names.begin(), names.end())) wrong.add("names out of order");
        if (kg::kernels_for_backend("simd").size() < 90) wrong.add("a listing without the known kernels");
      },
      [&] {  // a built-in op whose kernel for calls by name is replaced and given back
        check("Neg", kg::run_kernel("Neg", {{"x", one}}).item(), {-1, 7});
        check("Neg, typed", kg::neg(one).item(), {-1});
      },
      [&] {  // short threads: their places are taken over by later ones
        std::thread([&] { check("Value", kg::run_kernel("Value", {{"x", one}}).item(), {1, 2, 3}); }).join();
      }};
  std::atomic<std::int64_t> watched = 0;
  const std::vector<std::function<void()>> writers = {
      [&] {
        for (float v : {1.f, 2.f, 3.f}) kg::register_kernel(value_kernel("Value", v), existing::replace);
      },
      [&] {
        const kg::registration fleeting = kg::scoped_kernel(value_kernel("Fleeting", 4));
        const kg::registration neg = kg::scoped_kernel(value_kernel("Neg", 7), existing::replace);
      },
      [&] {
        kg::register_gradient(scaled_gradient("Square", 50), existing::replace);
        kg::register_gradient(scaled_gradient("Square", 60), existing::replace);
        kg::unregister_gradient("Square");
        const kg::registration cube = kg::scoped_op<my::Cube>();
      },
      [&] {
        const kg::hook_handle hooks = kg::add_hooks({.end = [&](const kg::kernel_event&) { ++watched; }});
        const kg::backend_scope here(kg::backend::reference);
        check("Add on the reference", kg::add(two, two).item(), {4});
      }};
  kg::register_kernel(value_kernel("Value", 1));
  contest(wrong).run(readers, writers, 100);
  kg::unregister_kernel("Value");
  EXPECT_EQ(wrong.all(), std::vector<std::string>());
  EXPECT_GE(watched, 100);
}

TEST(the_registry_among_threads, lets_go_of_what_was_replaced) {
  // Now that the readers of the test before have ended, no thread reads an old state.
  const tensor one(1.f);
  for (int i = 0; i < 4; ++i) {
    const kg::registration last = kg::scoped_kernel(
        {.name = "Last", .run = [](const kg::kernel_call& c) { return kg::tensor_list{c.input("x")}; }});
    EXPECT_EQ(kg::run_kernel("Last", {{"x", one}}).item(), 1);
  }
  EXPECT_EQ(counted::alive, 0);
  // While they ran: a state a thread, and no more than a handful of kernels in each.
  EXPECT_LT(counted::most, 30 * (reader_count + 8));
}

TEST(backends_among_threads, come_and_go_under_scopes_of_others) {
  complaints wrong;
  tensor x({1.f, 2.f});
  const auto memory = std::make_shared<kgtest::arena>();
  kg::register_kernel(kgtest::arena_kernel("Neg", "device", memory, [](float v) { return -v; }));
  std::mutex newest_mutex;
  tensor newest = x;
  const auto value_of = [&](const tensor& y) {
    const std::vector<double> v = y.to_doubles();
    if (v.size() != 2 || std::fabs(v[0]) != 1 || v[1] != 2 * v[0]) wrong.add("other elements: " + to_string(y));
  };
  const std::vector<std::function<void()>> readers = {[&] {  // runs there if it can
                                                        static_cast<void>(refusal([&] {
                                                          const kg::backend_scope here("device");
                                                          const tensor y = kg::neg(x);
                                                          value_of(y);
                                                          const std::lock_guard lock(newest_mutex);
                                                          newest = y;
                                                        }));
                                                      },
                                                      [&] {  // reads what others have made there
                                                        tensor y;
                                                        {
                                                          const std::lock_guard lock(newest_mutex);
                                                          y = newest;
                                                        }
                                                        value_of(y), value_of(kg::neg(y));
                                                      },
                                                      [&] {
                                                        if (kg::backends().size() < 2)
                                                          wrong.add("the built-in backends were not listed");
                                                        value_of(kg::run_kernel("Neg", {{"x", x}}));
                                                      }};
  contest between(wrong);
  const std::vector<std::function<void()>> writers = {[&] {
    kg::register_backend("device", [memory]() -> std::shared_ptr<kg::storage> { return memory; });
    static_cast<void>(refusal([] { return kg::backend_scope("device"), 0; }));
    between.let_readers_pass();
    kg::remove_backend("device");
  }};
  between.run(readers, writers, 30);
  newest = {}, x = {};
  kgtest::forget("device");
  EXPECT_EQ(wrong.all(), std::vector<std::string>());
  EXPECT_FALSE(memory->misused);
  EXPECT_EQ(memory->live(), 0u);
}

}  // namespace
