// SPDX-License-Identifier: Apache-2.0
// Counting memory: tensors, buffers, the peak, and what a piece of a program leaves behind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/support/refusal.h"

namespace {

using kg::memory_growth;
using kg::memory_scope;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;

tensor of_bytes(std::int64_t bytes) { return tensor(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes))); }

// Runs on a thread of its own and waits for it, so that two threads take turns.
class other_thread {
 public:
  other_thread() : thread_([this] { run(); }) {}
  ~other_thread() {
    done_ = true;
    next_.test_and_set();
    next_.notify_one();
    thread_.join();
  }
  void operator()(std::function<void()> f) {
    work_ = std::move(f);
    next_.test_and_set();
    next_.notify_one();
    next_.wait(true);
  }

 private:
  void run() {
    for (;;) {
      next_.wait(false);
      if (done_) return;
      work_();
      next_.clear();
      next_.notify_one();
    }
  }
  std::function<void()> work_;
  std::atomic_flag next_;
  bool done_ = false;
  std::thread thread_;
};

TEST(a_memory_scope, reports_a_planted_leak_and_nothing_else) {
  const tensor before = of_bytes(10);
  const memory_scope scope, mine(memory_scope::of::thread);
  std::vector<tensor> leak;
  for (int i = 0; i < 3; ++i) {
    const tensor x = of_bytes(100);
    kg::grad([](const tensor& t) { return kg::sum(kg::sin(t)); })(kg::cast(x, kg::dtype::float32));
    if (i == 1) leak.push_back(x);
  }
  EXPECT_EQ(scope.leaked(), (memory_growth{1, 1, 100}));
  EXPECT_EQ(mine.leaked(), (memory_growth{1, 1, 100}));
  leak.clear();
  EXPECT_EQ(scope.leaked().buffers, 0);
  EXPECT_EQ(scope.leaked(), memory_growth{});
  EXPECT_EQ(mine.leaked(), memory_growth{});
}

TEST(a_memory_scope, counts_a_view_as_a_tensor_and_a_copy_of_a_handle_as_none) {
  const tensor x = of_bytes(12);
  const memory_scope scope;
  {
    const tensor view = kg::reshape(x, {3, 4}), copy = view;
    EXPECT_EQ(scope.leaked(), (memory_growth{1, 0, 0}));
    EXPECT_EQ(kg::memory().live_tensors, kg::memory().live_buffers + 1);
  }
  EXPECT_EQ(scope.leaked(), memory_growth{});
}

TEST(a_memory_scope, is_negative_when_more_was_given_back) {
  tensor x = of_bytes(12);
  const memory_scope scope;
  x = tensor();
  EXPECT_EQ(scope.leaked(), (memory_growth{-1, -1, -12}));
}

TEST(a_memory_scope, counts_all_threads_or_its_own) {
  const memory_scope all, mine(memory_scope::of::thread);
  tensor theirs, view;
  std::thread([&] {
    theirs = of_bytes(64);
    view = kg::reshape(theirs, {8, 8});
  }).join();
  EXPECT_EQ(all.leaked(), (memory_growth{2, 1, 64}));
  EXPECT_EQ(mine.leaked(), memory_growth{});
  theirs = view = tensor();
  EXPECT_EQ(all.leaked(), memory_growth{});
  EXPECT_EQ(mine.leaked(), (memory_growth{-2, -1, -64})) << "given back here";
}

TEST(a_memory_scope, of_one_thread_refuses_to_answer_another) {
  const memory_scope mine(memory_scope::of::thread), all;
  std::string text, of_all;
  std::thread([&] {
    text = refusal([&] { return mine.leaked(); });
    of_all = refusal([&] { return all.leaked(); });
  }).join();
  EXPECT_NE(text.find("another thread"), std::string::npos) << text;
  EXPECT_EQ(of_all, accepted);
}

TEST(memory_growth, is_shown_with_units) {
  EXPECT_EQ(to_string(memory_growth{2, 1, 64}), "2 tensors, 1 buffer, 64 bytes");
  EXPECT_EQ(to_string(memory_growth{}), "0 tensors, 0 buffers, 0 bytes");
  EXPECT_EQ(to_string(memory_growth{-1, -1, 1}), "-1 tensors, -1 buffers, 1 byte");
  EXPECT_EQ(to_string(kg::memory_info{2, 64, 7, 3, 128}),
            "3 tensors, 2 buffers, 64 bytes, peak 128 bytes, cached 7 bytes");
}

TEST(the_peak, is_the_most_that_was_live_since_it_was_reset) {
  kg::reset_peak_memory();
  const std::int64_t base = kg::memory().live_bytes;
  EXPECT_EQ(kg::memory().peak_bytes, base);
  {
    const tensor a = of_bytes(1000);
    {
      const tensor b = of_bytes(500);
    }
    const tensor c = of_bytes(300);
    EXPECT_EQ(kg::memory().peak_bytes, base + 1500);
    const tensor d = of_bytes(201);
    EXPECT_EQ(kg::memory().peak_bytes, base + 1501);
  }
  EXPECT_EQ(kg::memory().peak_bytes, base + 1501);
  kg::reset_peak_memory();
  EXPECT_EQ(kg::memory().peak_bytes, kg::memory().live_bytes);
}

TEST(the_peak, of_two_threads_is_that_of_their_sum) {
  other_thread there;
  tensor here, theirs;
  there([&] { theirs = of_bytes(1); });
  theirs = tensor();
  kg::reset_peak_memory();
  const std::int64_t base = kg::memory().live_bytes;
  here = of_bytes(1000);
  here = tensor();
  here = of_bytes(500);
  there([&] { theirs = of_bytes(600); });
  EXPECT_EQ(kg::memory().peak_bytes, base + 1100);
  here = tensor();
  here = of_bytes(1000);  // no more than it has had itself, but more than ever together
  EXPECT_EQ(kg::memory().peak_bytes, base + 1600);
  here = tensor();
  there([&] { theirs = tensor(); });
  there([&] { theirs = of_bytes(1500); });
  EXPECT_EQ(kg::memory().peak_bytes, base + 1600);
  there([&] { theirs = tensor(); });
  there([&] { theirs = of_bytes(1700); });
  EXPECT_EQ(kg::memory().peak_bytes, base + 1700);
  there([&] { theirs = tensor(); });
}

TEST(the_peak, is_seen_when_each_of_two_threads_stays_below_it) {
  other_thread there;
  tensor here, theirs;
  there([&] { theirs = of_bytes(1); });
  theirs = tensor();
  kg::reset_peak_memory();
  const std::int64_t base = kg::memory().live_bytes;
  here = of_bytes(1000);
  here = tensor();
  there([&] { theirs = of_bytes(1); });
  here = of_bytes(700);
  there([&] { theirs = of_bytes(700); });
  EXPECT_EQ(kg::memory().peak_bytes, base + 1401) << "the old buffer goes when the new one is there";
  there([&] { theirs = tensor(); });
}

TEST(the_peak, follows_buffers_that_change_hands_and_threads_that_end) {
  kg::reset_peak_memory();
  const std::int64_t base = kg::memory().live_bytes;
  std::vector<tensor> all;
  for (int i = 0; i < 4; ++i) std::thread([&] { all.push_back(of_bytes(1000)); }).join();
  EXPECT_EQ(kg::memory().peak_bytes, base + 4000);
  all.clear();
  for (int i = 0; i < 4; ++i) std::thread([&] { of_bytes(1000); }).join();
  EXPECT_EQ(kg::memory().peak_bytes, base + 4000);
  EXPECT_EQ(kg::memory().live_bytes, base);
}

// ------------------------------------------------------------------------------------------ scratch of kernels

// A convolution that frames its image with zeros, so that its kernel needs memory besides the result's.
tensor framed_convolution() {
  static const tensor x = kg::ones({8, 40, 40, 16}), w = kg::ones({3, 3, 16, 32});
  return kg::conv2d(x, w, {.pad = kg::same});
}
// A product that packs its operands.
tensor packed_product() {
  static const tensor a = kg::ones({300, 300});
  return kg::matmul(a, a, false, true);
}

TEST(scratch_of_a_kernel, counts_while_the_kernel_runs_and_is_given_back) {
  for (tensor (*run)() : {framed_convolution, packed_product}) {
    const std::int64_t result = run().size() * 4;
    const memory_scope scope;
    kg::reset_peak_memory();
    const std::int64_t base = kg::memory().live_bytes;
    const tensor y = run();
    EXPECT_EQ(scope.leaked(), (memory_growth{1, 1, result}));
    EXPECT_GT(kg::memory().peak_bytes, base + result);
    EXPECT_LT(kg::memory().peak_bytes, base + result + (2 << 20));
  }
}

TEST(scratch_of_a_kernel, that_would_pass_the_limit_is_refused_on_any_number_of_threads) {
  tensor (*const runs[])() = {framed_convolution, packed_product};
  constexpr int counts[] = {1, 3};
  for (const auto& [run, threads] : ranges::views::cartesian_product(runs, counts)) {
    const std::int64_t result = run().size() * 4;
    kg::set_num_threads(threads);
    const memory_scope scope;
    kg::set_memory_limit(kg::memory().live_bytes + result + 4096);
    const std::string text = refusal(run);
    kg::set_memory_limit(kg::unlimited);
    EXPECT_NE(text.find("limit"), std::string::npos) << text;
    EXPECT_EQ(scope.leaked(), memory_growth{});
    EXPECT_EQ(refusal(run), accepted);
    kg::set_num_threads(1);
  }
}

// A storage on the host, so that elements are outside the library's memory.
struct host_storage : kg::storage {
  void* allocate(std::size_t bytes) override { return std::malloc(bytes + 1); }
  void release(void* block) noexcept override { std::free(block); }
  void write(void* block, const void* from, std::size_t bytes) override { std::memcpy(block, from, bytes); }
  void read(const void* block, void* to, std::size_t bytes) override { std::memcpy(to, block, bytes); }
};

TEST(elements_in_a_storage, are_taken_and_given_back_like_others) {
  struct stored_backend {
    stored_backend() {
      kg::register_backend("stored", [] { return std::make_shared<host_storage>(); });
    }
    ~stored_backend() { kg::remove_backend("stored"); }
  } registered;
  kg::kernel_config config;
  config.name = "StoredCopy";
  config.backend = "stored";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    const tensor& x = call.input("x");
    const auto made = call.make(x.type(), x.dims());
    std::memcpy(made.elements, call.elements(x), static_cast<std::size_t>(x.size()) * 4);
    return {made.result};
  };
  const kg::registration kernel = kg::scoped_kernel(std::move(config));
  const tensor x({1.f, 2.f, 3.f});
  const memory_scope scope;
  const kg::profile_result p = kg::profile([&] {
    const kg::backend_scope on("stored");
    const tensor y = kg::run_kernel("StoredCopy", {x});
    EXPECT_EQ(scope.leaked(), (memory_growth{1, 1, 12}));
  });
  EXPECT_EQ(p.peak_bytes, 12);
  EXPECT_EQ(p.net_bytes, 0);
  EXPECT_EQ(scope.leaked(), memory_growth{});
}

// Calls `last` when its thread ends, after the destructors of everything that was made on that thread after this.
struct outliving {
  std::function<void()> last;
  ~outliving() {
    if (last) last();
  }
};

// Runs both on a thread of their own: the second when all that the library keeps for the thread is gone.
void at_the_very_end(const std::function<void()>& first, const std::function<void()>& last) {
  std::thread([&] {
    thread_local outliving outer, inner;
    outer.last = last;
    inner.last = [] { kg::grad([](const tensor& t) { return t * t; })(tensor(2.f)); };
    first();
  }).join();
}

TEST(a_thread_local_object_that_outlives_the_caches_of_its_thread, counts_what_it_makes_and_lets_go_of) {
  kg::release_cached_memory();
  const kg::memory_info before = kg::memory();
  const std::int64_t blocks = kg::allocations().system_blocks;
  tensor passed, kept, view;
  kg::memory_info seen{};
  memory_growth of_thread{};
  at_the_very_end(
      [&] {
        const tensor x = of_bytes(100);
        passed = of_bytes(5000);
        kg::run_kernel("Add", {{"a", x}, {"b", x}});
      },
      [&] {
        const memory_scope mine(memory_scope::of::thread);
        passed = tensor();
        for (int i = 0; i < 3; ++i) of_bytes(64);
        kept = of_bytes(1000);
        view = kg::reshape(kept, {10, 100});
        of_thread = mine.leaked();
        seen = kg::memory();
      });
  EXPECT_EQ(of_thread, (memory_growth{1, 0, -4000})) << "two tensors in place of one";
  EXPECT_EQ(seen.live_tensors - before.live_tensors, 2);
  EXPECT_EQ(seen.live_buffers - before.live_buffers, 1);
  EXPECT_EQ(seen.live_bytes - before.live_bytes, 1000);
  EXPECT_EQ(kg::memory().live_bytes - before.live_bytes, 1000);
  kept = view = tensor();
  const kg::memory_info after = kg::memory();
  EXPECT_EQ(after.live_tensors, before.live_tensors);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  kg::release_cached_memory();
  EXPECT_EQ(kg::allocations().system_blocks, blocks) << "nothing is left of the thread";
}

TEST(a_thread_local_object_that_outlives_the_caches_of_its_thread, is_held_to_the_memory_limit) {
  const std::int64_t live = kg::memory().live_bytes;
  std::vector<tensor> all;
  std::string text;
  at_the_very_end([] { of_bytes(1); },
                  [&] {
                    kg::set_memory_limit(live + 10000);
                    for (int i = 0; i < 10; ++i) all.push_back(of_bytes(1000));
                    text = refusal([] { return of_bytes(1); });
                    kg::set_memory_limit(kg::unlimited);
                  });
  EXPECT_NE(text.find("at most 0 bytes"), std::string::npos) << text;
  EXPECT_EQ(kg::memory().live_bytes, live + 10000);
  all.clear();
  EXPECT_EQ(kg::memory().live_bytes, live);
}

TEST(a_thread_local_object_that_outlives_the_caches_of_its_thread, may_call_all_that_a_thread_keeps_something_for) {
  double slope = 0, product = 0, by_name = 0;
  at_the_very_end([] { kg::matmul(kg::ones({40, 40}), kg::ones({40, 40})); },
                  [&] {
                    slope = kg::grad([](const tensor& t) { return kg::exp(t) * t; })(tensor(0.f)).item();
                    product = kg::sum(kg::matmul(kg::ones({40, 40}), kg::ones({40, 40}))).item();
                    by_name = kg::run_kernel("Neg", {{"x", tensor(1.f)}}).item();
                  });
  EXPECT_EQ(slope, 1);
  EXPECT_EQ(product, 40 * 40 * 40);
  EXPECT_EQ(by_name, -1);
}

}  // namespace
