// SPDX-License-Identifier: Apache-2.0
// A backend with a memory of its own: elements move when they must and once only, kernels see their own memory only,
// and what a storage throws leaves everything as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/arena.h"
#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::arena;
using kgtest::refusal;
using doubles = std::vector<double>;

// A backend "device" with kernels for a few built-in ops and one custom op, all of float32.
class device : public ::testing::Test {
 protected:
  void SetUp() override {
    kg::register_backend("device", [this]() -> std::shared_ptr<kg::storage> { return memory; }, 5);
    add("Neg", [](float x) { return -x; });
    add("Exp", [](float x) { return std::exp(x); });
    add("Square", [](float x) { return x * x; });
    add("Add", [](float a, float b) { return a + b; });
    add("Multiply", [](float a, float b) { return a * b; });
    add("Twice", [](float x) { return 2 * x; });
  }
  void TearDown() override {
    kgtest::forget("device");
    EXPECT_FALSE(memory->misused);
    EXPECT_EQ(memory->live(), 0u) << "blocks without a tensor";
  }
  template <class F>
  void add(const std::string& name, F f) {
    kg::register_kernel(kgtest::arena_kernel(name, "device", memory, f));
  }
  std::shared_ptr<arena> memory = std::make_shared<arena>();
};

tensor twice(const tensor& x) { return kg::run_kernel("Twice", {{"x", x}}); }

// ------------------------------------------------------------------------------------------ moving

TEST_F(device, elements_are_written_once_and_read_back_once) {
  const tensor x({1.f, -2.f});
  tensor y;
  {
    const kg::backend_scope here("device");
    y = kg::neg(x);
    EXPECT_EQ(memory->written, 1);
    const tensor again = kg::exp(x), later = kg::neg(y), by_name = twice(y);
    EXPECT_EQ(memory->written, 1) << "x was there, y was made there";
    EXPECT_EQ(memory->fetched, 0);
    EXPECT_EQ(later.to_doubles(), (doubles{1, -2}));
    EXPECT_EQ(by_name.to_doubles(), (doubles{-2, 4}));
    EXPECT_EQ(memory->fetched, 2);
  }
  EXPECT_EQ(y.to_doubles(), (doubles{-1, 2}));
  EXPECT_EQ(kg::add(y, x).to_doubles(), (doubles{0, 0})) << "on the host";
  EXPECT_EQ(memory->fetched, 3);
  const kg::backend_scope here("device");
  EXPECT_EQ(kg::neg(y).to_doubles(), (doubles{1, -2}));
  EXPECT_EQ(memory->written, 1) << "it still is there";
}

TEST_F(device, copies_and_views_of_a_tensor_share_what_was_moved) {
  const kg::backend_scope here("device");
  const tensor x({1.f, 2.f, 3.f, 4.f});
  const tensor square = kg::reshape(x, {2, 2}), row = kg::expand_dims(x, 0), copy = x;
  static_cast<void>(kg::neg(square)), static_cast<void>(kg::neg(row)), static_cast<void>(kg::neg(copy));
  EXPECT_EQ(memory->written, 1);
  const tensor y = kg::neg(x), view = kg::reshape(y, {2, 2}), view_of_view = kg::reshape(view, {4, 1});
  EXPECT_EQ(memory->fetched, 0) << "a reshape moves nothing";
  EXPECT_EQ(view_of_view.to_doubles(), (doubles{-1, -2, -3, -4}));
  EXPECT_EQ(view.to_doubles(), y.to_doubles());
  EXPECT_EQ(memory->fetched, 1);
  EXPECT_TRUE(view.shares_with(y));
  EXPECT_EQ(kg::neg(view_of_view).to_doubles(), (doubles{1, 2, 3, 4}));
  EXPECT_EQ(memory->written, 1);
}

TEST_F(device, a_slice_is_moved_by_itself) {
  const tensor x({1.f, 2.f, 3.f, 4.f}, {2, 2}), row = x(1), column = kg::reshape(row, {2, 1});
  const kg::backend_scope here("device");
  EXPECT_EQ(kg::neg(x).to_doubles(), (doubles{-1, -2, -3, -4}));
  EXPECT_EQ(kg::neg(row).to_doubles(), (doubles{-3, -4}));
  EXPECT_EQ(kg::neg(row).to_doubles(), (doubles{-3, -4}));
  EXPECT_EQ(memory->written, 2) << "the whole, and the row once";
  EXPECT_EQ(kg::neg(column).to_doubles(), (doubles{-3, -4}));
  EXPECT_TRUE(column.shares_with(x));
}

TEST_F(device, a_view_outlives_the_tensor_it_was_made_of) {
  tensor view;
  {
    const kg::backend_scope here("device");
    view = kg::reshape(kg::neg(tensor({1.f, 2.f})), {2, 1});
  }
  EXPECT_EQ(memory->live(), 1u);
  EXPECT_EQ(view.to_doubles(), (doubles{-1, -2}));
}

TEST_F(device, tensors_without_elements_and_scalars_are_moved_as_well) {
  const kg::backend_scope here("device");
  EXPECT_TRUE(kg::neg(kg::reshape(tensor(std::vector<float>{}), {0, 3})).to_doubles().empty());
  EXPECT_EQ(kg::neg(tensor(2.f)).item(), -2);
}

TEST_F(device, one_of_two_storages_reads_what_the_other_has_through_the_host) {
  const auto second = std::make_shared<arena>();
  kg::register_backend("second", [&]() -> std::shared_ptr<kg::storage> { return second; });
  kg::register_kernel(kgtest::arena_kernel("Neg", "second", second, [](float x) { return -x; }));
  {
    tensor y;
    {
      const kg::backend_scope here("device");
      y = kg::neg(tensor({1.f}));
    }
    const kg::backend_scope here("second");
    EXPECT_EQ(kg::neg(kg::neg(y)).item(), -1);
    EXPECT_EQ(memory->fetched, 1);
    EXPECT_EQ(second->written, 1);
  }
  kgtest::forget("second");
  EXPECT_EQ(second->live(), 0u);
}

TEST_F(device, threads_that_want_the_same_elements_move_them_once) {
  const tensor x({1.f, 2.f});
  std::optional<kg::backend_scope> here("device");
  const tensor y = kg::neg(x);
  here.reset();
  const int written = memory->written;
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i)
    readers.emplace_back([&] {
      EXPECT_EQ(y.to_doubles(), (doubles{-1, -2}));
      const kg::backend_scope mine("device");
      EXPECT_EQ(kg::neg(y).to_doubles(), (doubles{1, 2}));
    });
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(memory->fetched, 1 + 8);
  EXPECT_EQ(memory->written, written);
}

TEST_F(device, elements_that_one_thread_fetched_are_seen_by_calls_of_others) {
  for (int i = 0; i < 50; ++i) {
    std::optional<kg::backend_scope> here("device");
    const tensor y = kg::neg(tensor({1.f, 2.f})), view = kg::reshape(y, {2, 1});
    here.reset();
    std::vector<std::thread> readers;
    for (const tensor* x : {&y, &view, &y, &view})
      readers.emplace_back([x] {
        for (int k = 0; k < 10; ++k) EXPECT_EQ(kg::add(*x, *x).to_doubles(), (doubles{-2, -4}));
      });
    for (std::thread& t : readers) t.join();
  }
}

TEST_F(device, an_optimizer_does_not_write_under_a_copy_that_a_storage_has) {
  const kg::variable w(tensor({1.f, 2.f}));
  {
    const kg::backend_scope here("device");
    EXPECT_EQ(kg::neg(w).to_doubles(), (doubles{-1, -2}));
  }
  kg::sgd optimizer(0.5);
  optimizer.minimize([&] { return kg::sum(w.value()); });
  EXPECT_EQ(w.value().to_doubles(), (doubles{0.5, 1.5}));
  const kg::backend_scope here("device");
  EXPECT_EQ(kg::neg(w).to_doubles(), (doubles{-0.5, -1.5}));
}

// ------------------------------------------------------------------------------------------ what kernels see

TEST_F(device, kernels_of_the_host_see_host_memory_only) {
  tensor y;
  {
    const kg::backend_scope here("device");
    y = kg::neg(tensor({1.f, 2.f}));
  }
  const void* seen = nullptr;
  const kg::registration look =
      kg::scoped_kernel({.name = "Look", .run = [&](const kg::kernel_call& call) -> kg::tensor_list {
                           seen = call.elements(call.input("x"));
                           const auto made = call.make(dtype::float32, {2});
                           std::memcpy(made.elements, seen, 8);
                           return {made.result};
                         }});
  EXPECT_EQ(kg::run_kernel("Look", {{"x", y}}).to_doubles(), (doubles{-1, -2}));
  EXPECT_EQ(seen, y.address());
  EXPECT_EQ(kg::concat(std::vector{y, y}).to_doubles(), (doubles{-1, -2, -1, -2}));
  EXPECT_EQ(to_string(y), to_string(tensor({-1.f, -2.f})));
  EXPECT_EQ(kg::gather(y, tensor({1})).item(), -2);
}

TEST_F(device, kernels_may_give_tensors_of_the_host_or_their_operands) {
  const auto config = [](std::string name, auto run) { return kg::kernel_config{std::move(name), "device", run}; };
  const kg::registration host =
      kg::scoped_kernel(config("Host", [](const kg::kernel_call&) -> kg::tensor_list { return {tensor({7.f})}; }));
  const kg::registration same =
      kg::scoped_kernel(config("Same", [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x")}; }));
  const kg::backend_scope here("device");
  EXPECT_EQ(kg::neg(kg::run_kernel("Host", {})).item(), -7);
  EXPECT_EQ(kg::neg(kg::run_kernel("Same", {{"x", kg::neg(tensor({1.f}))}})).item(), 1);
}

TEST_F(device, a_cast_for_promotion_runs_before_the_kernel_sees_its_operands) {
  kg::set_fallback(kg::fallback::by_priority);
  const kg::backend_scope here("device");
  const tensor y = kg::add(tensor({1.f}), tensor({2}));
  EXPECT_EQ(y.type(), dtype::float32);
  EXPECT_EQ(y.item(), 3);
}

// ------------------------------------------------------------------------------------------ gradients

TEST_F(device, gradients_flow_through_its_kernels) {
  kg::set_fallback(kg::fallback::by_priority);
  const auto f = [](const tensor& x) { return kg::sum(kg::exp(x) * kg::square(x)); };
  const tensor x({0.5f, -1.f, 2.f});
  const doubles on_host = kg::grad(f)(x).to_doubles();
  const auto second = [&](const tensor& at) {
    return kg::grad([&](const tensor& v) { return kg::sum(kg::grad(f)(v)); })(at).to_doubles();
  };
  const doubles second_on_host = second(x);
  const kg::backend_scope here("device");
  const int before = memory->allocated;
  const doubles there = kg::grad(f)(x).to_doubles(), second_there = second(x);
  EXPECT_GT(memory->allocated, before + 3) << "exp, square and the products ran there";
  for (std::size_t i = 0; i < 3; ++i) {
    const double v = x.to_doubles()[i];
    EXPECT_NEAR(there[i], std::exp(v) * (v * v + 2 * v), 1e-4);
    EXPECT_NEAR(there[i], on_host[i], 1e-4);
    EXPECT_NEAR(second_there[i], second_on_host[i], 1e-3);
  }
}

TEST_F(device, gradients_of_its_own_ops_come_from_the_registry) {
  const kg::registration gradient =
      kg::scoped_gradient({.name = "Twice", .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> {
                             return {{"x", c.dy() + c.dy()}};
                           }});
  kg::set_fallback(kg::fallback::by_priority);
  const kg::backend_scope here("device");
  EXPECT_EQ(kg::grad([](const tensor& x) { return twice(x); })(tensor(3.f)).item(), 2);
}

// ------------------------------------------------------------------------------------------ falling back

TEST_F(device, a_kernel_that_is_missing_is_refused_with_the_backends_that_have_it) {
  const kg::backend_scope here("device");
  for (const auto& [spelt, text] :
       {std::pair("[kg::tanh]", refusal([] { return kg::tanh(tensor({1.f})); })),
        std::pair("[Tanh]", refusal([] { return kg::run_kernel("Tanh", {{"x", tensor({1.f})}}); }))}) {
    for (const char* part : {spelt, "device", "simd", "reference", "set_fallback"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  for (const std::string& text : {refusal([] { return kg::neg(tensor({1.0})); }),
                                  refusal([] { return kg::run_kernel("Neg", {{"x", tensor({1.0})}}); })})
    EXPECT_NE(text.find("no kernel for float64 on backend device"), std::string::npos) << text;
}

TEST_F(device, a_fallback_runs_the_next_backend_and_the_hooks_see_it) {
  std::vector<std::string> seen;
  const kg::hook_handle watch = kg::add_hooks(
      {.begin = [&](const kg::kernel_event& e) { seen.push_back(std::string(e.op) + "@" + std::string(e.backend)); },
       .fallback =
           [&](const kg::fallback_event& e) {
             seen.push_back(std::string(e.op) + ":" + std::string(e.from) + ">" + std::string(e.to));
           }});
  kg::set_fallback(kg::fallback::by_priority);
  const kg::backend_scope here("device");
  const tensor y = kg::neg(tensor({1.f}));
  EXPECT_NEAR(kg::tanh(y).item(), -0.76159415595576489, 1e-6);
  EXPECT_EQ(kg::neg(tensor({1.0})).item(), -1);
  EXPECT_EQ(kg::run_kernel("Neg", {{"x", tensor({1.0})}}).item(), -1);
  EXPECT_EQ(seen, (std::vector<std::string>{"Neg@device", "Tanh:device>simd", "Tanh@simd", "Neg:device>simd",
                                            "Neg@simd", "Neg:device>simd", "Neg@simd"}));
}

TEST_F(device, a_fallback_leads_to_a_registered_backend_and_its_storage_too) {
  kg::set_fallback(kg::fallback::by_priority);
  kg::register_backend("bare", nullptr, 7);
  std::optional<kg::backend_scope> here("bare");
  EXPECT_EQ(twice(tensor({4.f})).item(), 8);
  EXPECT_EQ(kg::neg(tensor({4.f})).item(), -4);
  EXPECT_EQ(memory->written, 2);
  EXPECT_NE(refusal([] { return kg::run_kernel("Thrice", {{"x", tensor({4.f})}}); }), accepted);
  kg::set_fallback(kg::fallback::refuse);
  EXPECT_NE(refusal([] { return twice(tensor({4.f})); }), accepted);
  here.reset();
  kgtest::forget("bare");
}

// ------------------------------------------------------------------------------------------ failures

TEST_F(device, what_the_storage_throws_leaves_everything_as_it_was) {
  const tensor x({1.f, 2.f});
  const kg::backend_scope here("device");
  const tensor y = kg::neg(x);
  for (const char* where : {"allocate", "write"}) {
    const tensor fresh({5.f});
    const std::size_t blocks = memory->live();
    memory->fails_in = where;
    EXPECT_THROW(kg::neg(fresh), std::runtime_error) << where;
    EXPECT_THROW(twice(fresh), std::runtime_error) << where;
    EXPECT_EQ(memory->live(), blocks) << where;
    memory->fails_in.clear();
    EXPECT_EQ(kg::neg(fresh).item(), -5) << where;
  }
  memory->fails_in = "allocate";
  EXPECT_THROW(kg::neg(x), std::runtime_error) << "the operand is there, the result finds no place";
  memory->fails_in = "read";
  EXPECT_THROW(y.to_doubles(), std::runtime_error);
  const tensor view = kg::reshape(y, {2, 1});
  EXPECT_THROW(view.to_doubles(), std::runtime_error);
  memory->fails_in.clear();
  EXPECT_EQ(view.to_doubles(), (doubles{-1, -2}));
  EXPECT_EQ(y.to_doubles(), (doubles{-1, -2}));
}

TEST_F(device, what_the_storage_throws_while_recording_leaves_the_recording_usable) {
  kg::set_fallback(kg::fallback::by_priority);
  const kg::backend_scope here("device");
  const auto f = [&](const tensor& x) {
    memory->fails_in = "allocate";
    EXPECT_THROW(kg::exp(x), std::runtime_error);
    memory->fails_in.clear();
    return kg::sum(kg::square(x));
  };
  EXPECT_EQ(kg::grad(f)(tensor({3.f})).item(), 6);
}

TEST_F(device, an_allocation_hook_sees_as_much_given_back_as_was_taken) {
  std::int64_t held = 0, most = 0;
  const kg::hook_handle watch =
      kg::add_hooks({.allocate = [&](const kg::allocation_event& e) { most = std::max(most, held += e.bytes); }});
  {
    const kg::backend_scope here("device");
    const tensor y = kg::neg(tensor({1.f, 2.f, 3.f, 4.f}));
    EXPECT_EQ(y.to_doubles()[3], -4);
  }
  EXPECT_EQ(held, 0);
  EXPECT_GE(most, 32);
}

// ------------------------------------------------------------------------------------------ the end

TEST_F(device, tensors_stay_readable_after_their_backend_was_removed) {
  const std::weak_ptr<arena> watched = memory;
  tensor y, untouched;
  {
    kg::set_backend("device");
    y = kg::neg(tensor({1.f, 2.f}));
    untouched = kg::neg(y);
  }
  kg::remove_backend("device");
  EXPECT_EQ(kg::active_backend(), "simd");
  EXPECT_EQ(y.to_doubles(), (doubles{-1, -2}));
  EXPECT_EQ(kg::exp(kg::neg(y)).to_doubles().size(), 2u);
  EXPECT_EQ(kg::grad([&](const tensor& x) { return kg::sum(x * untouched); })(y).to_doubles(), (doubles{1, 2}));
}

TEST_F(device, a_tensor_that_a_setup_made_is_readable_when_the_setup_has_thrown) {
  tensor kept;
  kg::kernel_config config = kgtest::arena_kernel("Last", "device", memory, [](float x) { return x; });
  config.setup = [&] {
    const kg::backend_scope here("device");
    kept = kg::neg(tensor({1.f, 2.f}));
    throw std::runtime_error("not today");
  };
  kg::register_kernel(config);
  EXPECT_THROW(kg::set_backend("device"), std::runtime_error);
  ASSERT_TRUE(kept.defined());
  EXPECT_EQ(kg::exp(kg::neg(kept)).to_doubles().size(), 2u);
  EXPECT_EQ(kept.to_doubles(), (doubles{-1, -2}));
  kept = {};
}

}  // namespace
