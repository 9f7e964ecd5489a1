// SPDX-License-Identifier: Apache-2.0
// Backends and kernels that a program brings along: which one is chosen, when hooks run, what a schema or a built-in
// op's row does for a kernel, what duplicates, replacements and removals do.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/arena.h"
#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::existing;
using kg::tensor;
using kgtest::accepted;
using kgtest::forget;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;
using texts = std::vector<std::string>;

// Removes what a test has registered, also when it fails. To be made after what the hooks refer to.
struct cleared {
  std::vector<std::string> backends;
  ~cleared() {
    for (const std::string& name : backends) forget(name);
  }
};

kg::backend_factory plain() {
  return [] { return nullptr; };
}
kg::backend_factory failing() {
  return []() -> std::shared_ptr<kg::storage> { throw std::runtime_error("no device"); };
}

// A kernel that says where it ran: `value` for every element.
kg::kernel_config constant(std::string name, std::string backend, float value) {
  kg::kernel_config config;
  config.name = std::move(name);
  config.backend = std::move(backend);
  config.run = [value](const kg::kernel_call& call) -> kg::tensor_list {
    return {kg::tensor::build<float>(call.operands()[0].tensors[0].dims(),
                                     [&](std::span<float> y) { std::fill(y.begin(), y.end(), value); })};
  };
  return config;
}
double run(const std::string& name, const tensor& x = tensor(1.f)) { return kg::run_kernel(name, {{"x", x}}).item(); }

// ------------------------------------------------------------------------------------------ choosing a backend

TEST(backends, are_listed_by_priority_and_made_at_their_first_use) {
  int made = 0;
  const cleared after{{"low", "high", "equal"}};
  kg::register_backend("low", plain(), -3);
  kg::register_backend("high", [&]() -> std::shared_ptr<kg::storage> { return ++made, nullptr; }, 9);
  kg::register_backend("equal", plain(), 9);
  texts names;
  for (const kg::backend_info& b : kg::backends())
    if (b.name != "onednn") names.push_back(b.name + (b.alive ? "+" : "-"));  // there if the build asked for it
  EXPECT_EQ(names, (texts{"high-", "equal-", "simd+", "reference+", "low-"}));
  kg::set_backend("high"), kg::set_backend("simd"), kg::set_backend("high");
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(kg::backends()[0].alive);
  EXPECT_FALSE(kg::backends()[0].own_storage);
  EXPECT_EQ(kg::active_backend(), "high");
}

TEST(backends, of_a_name_that_is_taken_empty_or_unknown_are_refused) {
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  for (const char* name : {"mine", "simd", "reference", ""})
    EXPECT_NE(refusal([&] { return kg::register_backend(name, plain()); }), accepted) << name;
  EXPECT_TRUE(says(refusal([] { return kg::set_backend("yours"); }), {"yours", "simd", "reference", "mine"}));
  EXPECT_NE(refusal([] { return kg::backend_scope("yours"), 0; }), accepted);
  EXPECT_NE(refusal([] { return kg::remove_backend("yours"); }), accepted);
  EXPECT_NE(refusal([] { return kg::remove_backend("simd"); }), accepted);
  EXPECT_NE(refusal([] { return kg::remove_backend("reference"); }), accepted);
  EXPECT_EQ(kg::active_backend(), "simd");
}

TEST(backends, that_cannot_be_made_leave_the_active_one_and_are_tried_again) {
  bool there = false;
  const cleared after{{"late"}};
  kg::register_backend("late", [&]() -> std::shared_ptr<kg::storage> {
    if (!there) throw std::runtime_error("no device");
    return nullptr;
  });
  EXPECT_THROW(kg::set_backend("late"), std::runtime_error);
  EXPECT_THROW(kg::backend_scope("late"), std::runtime_error);
  EXPECT_EQ(kg::active_backend(), "simd");
  EXPECT_EQ(kg::exp(tensor(0.f)).item(), 1);
  there = true;
  kg::set_backend("late");
  EXPECT_EQ(kg::active_backend(), "late");
}

TEST(backends, the_best_is_the_first_by_priority_that_can_be_made) {
  const cleared after{{"broken", "fussy", "good", "better"}};
  kg::register_backend("broken", failing(), 100);
  kg::register_backend("fussy", plain(), 50);
  kg::kernel_config fussy = constant("Fussy", "fussy", 1);
  fussy.setup = [] { throw std::runtime_error("no"); };
  kg::register_kernel(fussy);
  EXPECT_EQ(kg::set_best_backend(), "simd");
  kg::register_backend("good", plain(), 10);
  EXPECT_EQ(kg::set_best_backend(), "good");
  kg::register_backend("better", plain(), 20);
  EXPECT_EQ(kg::active_backend(), "good") << "a new one is not chosen unasked";
  EXPECT_EQ(kg::set_best_backend(), "better");
  kg::remove_backend("better");
  EXPECT_EQ(kg::active_backend(), "good") << "the best that is left";
  kg::remove_backend("good");
  EXPECT_EQ(kg::active_backend(), "simd");
}

TEST(backends, a_factory_may_not_remove_its_own_backend) {
  kg::register_backend("suicidal", []() -> std::shared_ptr<kg::storage> {
    kg::remove_backend("suicidal");
    return nullptr;
  });
  EXPECT_TRUE(says(refusal([] { return kg::set_backend("suicidal"); }), {"suicidal"}));
  EXPECT_EQ(kg::active_backend(), "simd");
}

TEST(backends, a_factory_that_asks_for_its_own_backend_is_refused) {
  const cleared after{{"eager", "first", "second"}};
  kg::register_backend("eager", []() -> std::shared_ptr<kg::storage> {
    kg::set_backend("eager");
    return nullptr;
  });
  EXPECT_TRUE(says(refusal([] { return kg::set_backend("eager"); }), {"eager", "its own factory"}));
  const auto asks_for = [](std::string other) -> kg::backend_factory {
    return [other]() -> std::shared_ptr<kg::storage> {
      const kg::backend_scope there(other);
      return nullptr;
    };
  };
  kg::register_backend("first", asks_for("second"));
  kg::register_backend("second", asks_for("first"));
  EXPECT_TRUE(says(refusal([] { return kg::set_backend("first"); }), {"first", "its own factory"}));
  EXPECT_EQ(kg::active_backend(), "simd");
  for (const kg::backend_info& b : kg::backends())
    EXPECT_EQ(b.alive, b.name == "simd" || b.name == "reference") << b.name;
}

TEST(backends, a_factory_may_use_the_others_and_choose_the_best) {
  const cleared after{{"curious"}};
  double there = 0;
  kg::register_backend("curious", [&]() -> std::shared_ptr<kg::storage> {
    there = kg::exp(tensor(0.f)).item();
    kg::set_best_backend();
    return nullptr;
  });
  kg::set_backend("curious");
  EXPECT_EQ(there, 1);
  EXPECT_EQ(kg::active_backend(), "curious");
}

TEST(backends, calls_wait_for_no_factory_and_no_hook) {
  const cleared after{{"slow", "mine"}};
  kg::register_backend("mine", plain());
  kg::register_kernel(constant("Exp", "mine", 7));
  kg::set_backend("mine"), kg::set_backend("simd");
  std::vector<std::future<double>> calls;
  std::vector<bool> returned;
  const auto on_another_thread = [&] {
    calls.push_back(std::async(std::launch::async, [] {
      const kg::backend_scope here("mine");
      return kg::exp(tensor(0.f)).item() + static_cast<double>(kg::backends().size());
    }));
    returned.push_back(calls.back().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  };
  kg::register_backend("slow", [&] { return on_another_thread(), nullptr; });
  kg::kernel_config slow = constant("Slow", "slow", 1);
  slow.setup = slow.dispose = on_another_thread;
  kg::register_kernel(slow);
  kg::set_backend("slow");
  kg::remove_backend("slow");
  EXPECT_EQ(returned, std::vector<bool>(3, true)) << "while the factory, setup and dispose ran";
  const double all = static_cast<double>(kg::backends().size()) + 1;
  for (std::future<double>& call : calls) EXPECT_EQ(call.get(), 7 + all);
}

TEST(a_backend_scope, is_its_threads_own_and_nests) {
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  kg::register_kernel(constant("Exp", "mine", 7));
  const kg::backend_scope outer("mine");
  EXPECT_EQ(kg::exp(tensor(0.f)).item(), 7);
  {
    const kg::backend_scope inner(kg::backend::reference);
    EXPECT_EQ(kg::active_backend(), "reference");
    EXPECT_EQ(kg::exp(tensor(0.f)).item(), 1);
  }
  EXPECT_EQ(kg::active_backend(), "mine");
  std::string there;
  double value = 0;
  std::thread([&] { there = kg::active_backend(), value = kg::exp(tensor(0.f)).item(); }).join();
  EXPECT_EQ(there, "simd");
  EXPECT_EQ(value, 1);
  kg::set_backend("reference");
  EXPECT_EQ(kg::active_backend(), "mine") << "the scope goes on";
  kg::set_backend("simd");
}

TEST(a_backend_scope, may_end_in_any_order_and_on_any_thread) {
  using scope = std::optional<kg::backend_scope>;
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  scope outer("mine"), middle("reference"), inner("mine");
  middle.reset();
  EXPECT_EQ(kg::active_backend(), "mine");
  inner.reset();
  EXPECT_EQ(kg::active_backend(), "mine");
  inner.emplace("reference");
  outer.reset();
  EXPECT_EQ(kg::active_backend(), "reference") << "the youngest that lives";
  std::thread([&] { inner.reset(); }).join();
  EXPECT_EQ(kg::active_backend(), "simd");
  outer.emplace("reference"), inner.emplace("mine");
  std::thread([&] { outer.reset(); }).join();
  EXPECT_EQ(kg::active_backend(), "mine");
  inner.reset();
  EXPECT_EQ(kg::active_backend(), "simd");
}

TEST(a_backend_scope, goes_on_when_its_backend_is_removed) {
  kg::register_backend("mine", plain());
  kg::register_kernel(constant("Exp", "mine", 7));
  {
    const kg::backend_scope here("mine");
    kg::remove_backend("mine");
    EXPECT_EQ(kg::active_backend(), "mine");
    EXPECT_EQ(kg::exp(tensor(0.f)).item(), 7);
  }
  EXPECT_EQ(kg::active_backend(), "simd");
  forget("mine");
}

// ------------------------------------------------------------------------------------------ setup and dispose

// Counts the lives of a kernel: "s" for each setup, "d" for each dispose.
kg::kernel_config logged(texts& log, const std::string& mark, const std::string& name = "Logged") {
  kg::kernel_config config = constant(name, "mine", 1);
  config.setup = [&log, mark] { log.push_back("s" + mark); };
  config.dispose = [&log, mark] { log.push_back("d" + mark); };
  return config;
}

TEST(setup_and_dispose, wait_for_the_backend_and_end_with_it) {
  texts log;
  const cleared after{{"mine"}};
  kg::register_kernel(logged(log, "1"));
  kg::register_backend("mine", plain());
  EXPECT_TRUE(log.empty()) << "it was never used";
  kg::set_backend("mine"), kg::set_backend("simd"), kg::set_backend("mine");
  EXPECT_EQ(log, (texts{"s1"}));
  kg::register_kernel(logged(log, "2", "Second"));
  EXPECT_EQ(log, (texts{"s1", "s2"})) << "it joins a live backend";
  kg::remove_backend("mine");
  std::sort(log.begin() + 2, log.end());
  EXPECT_EQ(log, (texts{"s1", "s2", "d1", "d2"}));
  kg::register_backend("mine", plain());
  kg::set_backend("mine");
  std::sort(log.begin() + 4, log.end());
  EXPECT_EQ(log, (texts{"s1", "s2", "d1", "d2", "s1", "s2"})) << "its kernels stayed registered";
  kg::unregister_kernel("Logged", "mine");
  kg::remove_backend("mine");
  EXPECT_EQ(log, (texts{"s1", "s2", "d1", "d2", "s1", "s2", "d1", "d2"}));
}

TEST(setup_and_dispose, of_a_kernel_that_is_replaced_or_leaves_before_its_backend_lives_do_not_run) {
  texts log;
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  kg::register_kernel(logged(log, "1"));
  kg::register_kernel(logged(log, "2"), existing::replace);
  kg::unregister_kernel("Logged", "mine");
  EXPECT_TRUE(log.empty());
  kg::register_kernel(logged(log, "3"));
  kg::set_backend("mine");
  kg::register_kernel(logged(log, "4"), existing::replace);
  EXPECT_EQ(log, (texts{"s3", "s4", "d3"})) << "the new one is ready before the old one goes";
  kg::remove_backend("mine");
  kg::unregister_kernel("Logged", "mine");
  EXPECT_EQ(log, (texts{"s3", "s4", "d3", "d4"}));
}

TEST(a_setup_that_throws, leaves_no_kernel_set_up_and_the_backend_unmade) {
  texts log;
  bool fails = true;
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  kg::register_kernel(logged(log, "1", "A"));
  kg::kernel_config bad = constant("B", "mine", 1);
  bad.setup = [&] {
    if (fails) throw std::runtime_error("no");
  };
  bad.dispose = [&] { log.push_back("dB"); };
  kg::register_kernel(bad);
  kg::register_kernel(logged(log, "3", "C"));
  EXPECT_THROW(kg::set_backend("mine"), std::runtime_error);
  EXPECT_FALSE(kg::backends()[0].alive);
  EXPECT_EQ(std::count(log.begin(), log.end(), "s1"), std::count(log.begin(), log.end(), "d1"));
  EXPECT_EQ(std::count(log.begin(), log.end(), "s3"), std::count(log.begin(), log.end(), "d3"));
  EXPECT_EQ(std::count(log.begin(), log.end(), "dB"), 0) << "it never was set up";
  fails = false;
  log.clear();
  kg::set_backend("mine");
  std::sort(log.begin(), log.end());
  EXPECT_EQ(log, (texts{"s1", "s3"}));
}

TEST(a_setup_that_throws, for_a_kernel_that_joins_or_replaces_changes_nothing) {
  texts log;
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  kg::set_backend("mine");
  kg::register_kernel(logged(log, "1"));
  kg::kernel_config bad = constant("Logged", "mine", 2);
  bad.setup = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(kg::register_kernel(bad, existing::replace), std::runtime_error);
  EXPECT_EQ(run("Logged"), 1);
  EXPECT_EQ(log, (texts{"s1"}));
}

TEST(a_dispose_that_throws, ends_the_kernel_or_the_backend_all_the_same) {
  texts log;
  const cleared after{{"mine"}};
  const std::size_t before = kg::backends().size();
  kg::register_backend("mine", plain(), 4);
  kg::kernel_config bad = constant("A", "mine", 1);
  bad.dispose = [] { throw std::runtime_error("stuck"); };
  kg::set_backend("mine");
  kg::register_kernel(bad);
  EXPECT_THROW(kg::unregister_kernel("A", "mine"), std::runtime_error);
  EXPECT_FALSE(kg::get_kernel("A", "mine"));
  kg::register_kernel(bad);
  kg::register_kernel(logged(log, "2"));
  EXPECT_THROW(kg::remove_backend("mine"), std::runtime_error);
  EXPECT_EQ(log, (texts{"s2", "d2"})) << "the others are disposed of";
  EXPECT_EQ(kg::active_backend(), "simd");
  EXPECT_EQ(kg::backends().size(), before) << "the backend is gone";
  kg::register_backend("mine", plain(), 4);
  kg::set_backend("mine");
  EXPECT_EQ(log, (texts{"s2", "d2", "s2"}));
  kg::unregister_kernel("Logged", "mine");
  EXPECT_THROW(kg::unregister_kernel("A", "mine"), std::runtime_error);
}

TEST(hooks_of_a_kernel, may_change_the_registry_themselves) {
  const cleared after{{"mine"}};
  kg::register_backend("mine", plain());
  kg::set_backend("mine");
  kg::kernel_config config = constant("Outer", "mine", 1);
  config.setup = [] { kg::register_kernel(constant("Inner", "mine", 2)); };
  config.dispose = [] { kg::unregister_kernel("Inner", "mine"); };
  {
    const kg::registration outer = kg::scoped_kernel(config);
    EXPECT_EQ(run("Outer"), 1);
    EXPECT_EQ(run("Inner"), 2);
  }
  EXPECT_FALSE(kg::get_kernel("Inner", "mine"));
  EXPECT_FALSE(kg::get_kernel("Outer", "mine"));
}

TEST(a_kernel_function, may_own_the_registration_of_another_kernel) {
  {
    const auto helper = std::make_shared<kg::registration>(kg::scoped_kernel(constant("Helper", "simd", 2)));
    kg::kernel_config owner = constant("Owner", "simd", 1);
    owner.dispose = [helper] {};
    kg::register_kernel(std::move(owner));
  }
  EXPECT_EQ(run("Helper"), 2);
  kg::unregister_kernel("Owner");
  // A thread keeps the state of the registry that it saw last until it looks again.
  for (int i = 0; i < 3; ++i) {
    const kg::registration other = kg::scoped_kernel(constant("Other", "simd", 3));
    EXPECT_EQ(run("Other"), 3);
  }
  EXPECT_FALSE(kg::get_kernel("Helper"));
}

// ------------------------------------------------------------------------------------------ duplicates, replacements

TEST(a_duplicate, is_refused_with_both_places) {
  const kg::registration first = kg::scoped_kernel(constant("Twin", "simd", 1));
  const std::string text = refusal([] { return kg::register_kernel(constant("Twin", "simd", 2)); });
  const std::size_t at = text.find("backend_registry.cc:");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.find("backend_registry.cc:", at + 1), std::string::npos) << text;
  EXPECT_NE(text.find("replace"), std::string::npos) << text;
  EXPECT_TRUE(says(refusal([] { return kg::register_kernel(constant("Exp", "simd", 2)); }), {"built in", "replace"}));
  const auto rule = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> { return {{"x", c.dy()}}; };
  const kg::registration gradient = kg::scoped_gradient({.name = "Twin", .run = rule});
  const std::string other = refusal([&] { return kg::register_gradient({.name = "Twin", .run = rule}); });
  const std::size_t there = other.find("backend_registry.cc:");
  ASSERT_NE(there, std::string::npos) << other;
  EXPECT_NE(other.find("backend_registry.cc:", there + 1), std::string::npos) << other;
}

TEST(a_registration, ends_with_its_object_and_leaves_what_replaced_it) {
  std::optional<kg::registration> first = kg::scoped_kernel(constant("Twin", "simd", 1));
  kg::registration second = kg::scoped_kernel(constant("Twin", "simd", 2), existing::replace);
  EXPECT_EQ(run("Twin"), 2);
  first.reset();
  EXPECT_EQ(run("Twin"), 2) << "the second one is not the first one's to remove";
  kg::registration moved = std::move(second);
  second.release();
  EXPECT_EQ(run("Twin"), 2) << "it was moved from";
  moved.release();
  moved.release();
  EXPECT_FALSE(kg::get_kernel("Twin"));
}

TEST(a_registration, that_was_unregistered_by_name_ends_in_silence_or_with_what_its_dispose_throws) {
  {
    const kg::registration gone = kg::scoped_kernel(constant("Twin", "simd", 1));
    kg::unregister_kernel("Twin");
  }
  kg::kernel_config bad = constant("Twin", "simd", 1);
  bad.dispose = [] { throw std::runtime_error("stuck"); };
  {
    const kg::registration quiet = kg::scoped_kernel(bad);
  }
  EXPECT_FALSE(kg::get_kernel("Twin"));
  kg::registration loud = kg::scoped_kernel(bad);
  EXPECT_THROW(loud.release(), std::runtime_error);
  EXPECT_FALSE(kg::get_kernel("Twin"));
}

TEST(copying_the_kernels_of_a_backend, leaves_what_the_other_has_and_runs_hooks) {
  texts log;
  const cleared after{{"from_here", "mine"}};
  kg::register_backend("mine", plain());
  kg::set_backend("mine");
  kg::register_kernel(constant("A", "from_here", 1));
  kg::register_kernel(constant("A_from", "from_here", 2));
  kg::register_kernel(constant("B", "mine", 3));
  kg::register_kernel(constant("B", "from_here", 4));
  kg::kernel_config with_schema = logged(log, "1");
  with_schema.backend = "from_here";
  with_schema.schema = {.operands = {{"x", kg::floating}}, .attrs = {{"n", kg::attr_kind::integer, "a count", true}}};
  kg::register_kernel(with_schema);
  EXPECT_EQ(kg::copy_registered_kernels("from_here", "mine"), 3);
  EXPECT_EQ(log, (texts{"s1"}));
  EXPECT_EQ(run("A"), 1);
  EXPECT_EQ(run("A_from"), 2);
  EXPECT_EQ(run("B"), 3);
  EXPECT_TRUE(says(refusal([] { return run("Logged"); }), {"[Logged]", "attribute n", "a count"}));
  EXPECT_EQ(kg::copy_registered_kernels("from_here", "mine"), 0);
  EXPECT_EQ(kg::copy_registered_kernels("nowhere", "mine"), 0);
}

TEST(copied_kernels, leave_the_built_in_ones_of_the_other_backend_alone) {
  const kg::registration exp = kg::scoped_kernel(constant("Exp", "from_here", 7));
  EXPECT_EQ(kg::copy_registered_kernels("from_here", "simd"), 0);
  EXPECT_EQ(run("Exp", tensor(0.f)), 1);
}
}  // namespace
