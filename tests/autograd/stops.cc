// SPDX-License-Identifier: Apache-2.0
// Long calls end when a stop_scope of their thread says so, with `stopped`, and leave all as it was.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using namespace std::chrono_literals;
using kg::tensor;

/// Text of the error of a call that is stopped; `accepted` if it is not.
template <class F>
std::string stop_of(F call) {
  try {
    static_cast<void>(call());
  } catch (const kg::stopped& e) {
    return e.what();
  }
  return kgtest::accepted;
}

bool is_checked() {
  return stop_of([] { return kg::check_stop(), 0; }) == kgtest::accepted;
}

TEST(stop_scopes, stop_for_deadlines_flags_tokens_and_conditions) {
  EXPECT_TRUE(is_checked());
  EXPECT_FALSE(kg::stop_requested());
  {
    const kg::stop_scope stop(1h);
    EXPECT_TRUE(is_checked());
  }
  {
    const kg::stop_scope stop(0s);
    EXPECT_TRUE(kg::stop_requested());
    EXPECT_EQ(stop_of([] { return kg::check_stop("f"), 0; }),
              "[f] got no result within the 0 s of a stop_scope; wanted a result by then; allow it more time");
  }
  {
    const kg::stop_scope stop(20ms);
    EXPECT_TRUE(is_checked());
    std::this_thread::sleep_for(30ms);
    EXPECT_FALSE(is_checked());
  }
  {
    const kg::stop_scope stop(std::chrono::system_clock::now() + 1h);
    EXPECT_TRUE(is_checked());
  }
  {
    const kg::stop_scope stop(std::chrono::steady_clock::now());
    EXPECT_FALSE(is_checked());
  }
  std::atomic<bool> flag(false);
  {
    const kg::stop_scope stop(flag);
    EXPECT_TRUE(is_checked());
    std::thread([&] { flag = true; }).join();
    EXPECT_EQ(stop_of([] { return kg::check_stop("f"), 0; }),
              "[f] got a request to stop; wanted none before the result");
  }
  std::stop_source source;
  {
    const kg::stop_scope stop(source.get_token());
    EXPECT_TRUE(is_checked());
    source.request_stop();
    EXPECT_FALSE(is_checked());
  }
  int asked = 0;
  {
    const kg::stop_scope stop([&] { return ++asked == 3; });
    EXPECT_TRUE(is_checked() && is_checked() && !is_checked() && is_checked());
  }
  EXPECT_TRUE(is_checked());
  EXPECT_EQ(asked, 4);
}

TEST(stop_scopes, take_any_duration) {
  for (const double seconds : {1e300, 1e18, std::numeric_limits<double>::infinity()}) {
    const kg::stop_scope stop{std::chrono::duration<double>(seconds)};
    EXPECT_TRUE(is_checked()) << seconds;
  }
  for (const double seconds : {-1e300, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const kg::stop_scope stop{std::chrono::duration<double>(seconds)};
    EXPECT_FALSE(is_checked()) << seconds;
  }
  const kg::stop_scope stop(std::chrono::hours::max());
  EXPECT_TRUE(is_checked());
}

TEST(stop_scopes, nest_and_end_in_any_order) {
  std::atomic<bool> outer_flag(false), inner_flag(false);
  auto outer = std::make_unique<kg::stop_scope>(outer_flag);
  auto inner = std::make_unique<kg::stop_scope>(inner_flag);
  outer_flag = true;
  EXPECT_FALSE(is_checked()) << "an inner scope cannot give more time";
  outer.reset();
  EXPECT_TRUE(is_checked());
  inner_flag = true;
  EXPECT_FALSE(is_checked());
  std::thread([&] { inner.reset(); }).join();
  EXPECT_TRUE(is_checked()) << "a scope that another thread ended";
}

TEST(stop_scopes, are_of_their_thread) {
  const kg::stop_scope stop(0s);
  bool there = false;
  std::thread([&] { there = is_checked(); }).join();
  EXPECT_TRUE(there);
  EXPECT_FALSE(is_checked());
}

TEST(stop_scopes, pass_on_what_a_condition_throws_and_let_it_make_long_calls) {
  {
    const kg::stop_scope stop([]() -> bool { throw std::runtime_error("no answer"); });
    EXPECT_THROW(kg::check_stop(), std::runtime_error);
    EXPECT_THROW(kg::check_stop(), std::runtime_error);
  }
  const kg::stop_scope stop([] { return kg::grad([](const tensor& x) { return x * x; })(tensor(2.f)).item() < 0; });
  EXPECT_TRUE(is_checked());
  EXPECT_TRUE(kgtest::says(kgtest::refusal([] { return kg::stop_scope(std::function<bool()>()), 0; }), {"stop_scope"}));
}

// A scope outlives the thread that it is of.
TEST(stop_scopes, may_end_after_their_thread) {
  std::unique_ptr<kg::stop_scope> scope;
  std::thread([&] { scope = std::make_unique<kg::stop_scope>(0s); }).join();
  EXPECT_TRUE(is_checked());
  scope.reset();
  EXPECT_TRUE(is_checked());
}

TEST(stopped, is_an_error) { EXPECT_TRUE((std::is_base_of_v<kg::error, kg::stopped>)); }

// ------------------------------------------------------------------------------------------ long calls

tensor square_sum(const tensor& x) { return kg::sum(x * x); }

// Each call, when it is stopped at the n-th time that it asks; 0: not at all.
struct long_call {
  const char* name;
  std::function<tensor()> run;
  const char* said;
};

const long_call all_calls[] = {
    {"grad", [] { return kg::grad(square_sum)(tensor({1.f, 2.f})); }, "[gradient]"},
    {"vjp", [] { return kg::vjp(square_sum)(tensor({1.f, 2.f})).back()[0]; }, "[gradient]"},
    {"jvp", [] { return kg::jvp(square_sum)(tensor({1.f, 2.f}), tensor({1.f, 0.f})).tangent; }, "[gradient]"},
    {"jacobian", [] { return kg::jacobian([](const tensor& x) { return x * x; })(tensor({1.f, 2.f})); },
     "[kg::jacobian]"},
    {"jacobian by columns",
     [] { return kg::jacobian([](const tensor& x) { return x * x; }, kg::jacobian_by::columns)(tensor({1.f, 2.f})); },
     "[gradient]"},
    {"hessian", [] { return kg::hessian(square_sum)(tensor({1.f, 2.f})); }, "[gradient]"},
    {"hvp", [] { return kg::hvp(square_sum)(tensor({1.f, 2.f}), tensor({1.f, 0.f})); }, "[gradient]"},
    {"checkpoint",
     [] { return kg::grad([](const tensor& x) { return kg::checkpoint(square_sum)(x); })(tensor({1.f, 2.f})); },
     "[gradient]"},
    {"implicit",
     [] {
       const auto root = kg::implicit([](const tensor& x, const tensor& a) { return x * x - a; },
                                      [](const tensor& a) { return kg::sqrt(a); });
       return kg::grad([&](const tensor& a) { return kg::sum(root(a)); })(tensor({4.f, 9.f}));
     },
     "[gradient]"},
};

TEST(long_calls, are_stopped_wherever_they_ask_and_run_again) {
  for (const long_call& call : all_calls) {
    const tensor wanted = call.run();
    int stops = 0;
    for (std::string said; said != kgtest::accepted; ++stops) {
      const std::int64_t before = kg::memory().live_tensors;
      int asked = 0;
      const kg::stop_scope stop([&] { return asked++ == stops; });
      tensor found;
      said = stop_of([&] { return found = call.run(), 0; });
      if (said == kgtest::accepted) {
        EXPECT_TRUE(kg::allclose(found, wanted)) << call.name;
      } else {
        EXPECT_TRUE(said.starts_with("[")) << call.name << ": " << said;
        EXPECT_EQ(kg::memory().live_tensors, before) << call.name << " stopped at " << stops;
        if (stops == 0) EXPECT_TRUE(said.starts_with(call.said)) << call.name << ": " << said;
      }
      ASSERT_LT(stops, 1000) << call.name;
    }
    EXPECT_GT(stops, 1) << call.name << " never asks";
    EXPECT_TRUE(kg::allclose(call.run(), wanted)) << call.name;
  }
}

TEST(long_calls, end_soon_after_their_time) {
  const auto slow = [](const tensor& x) {
    tensor y = x;
    for (int i = 0; i < 200; ++i) y = kg::sin(y);
    return y;
  };
  const tensor x = kg::ones({20'000});  // its Jacobian would take minutes, and 1.6 GB
  const kg::stop_scope stop(50ms);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(kgtest::says(stop_of([&] { return kg::jacobian(slow)(x); }), {"0.05 s"}));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 20s);
}

TEST(long_calls, leave_variables_as_they_were) {
  const kg::variable w(tensor({1.f, 2.f}), "w");
  kg::sgd by(0.1);
  by.minimize([&] { return square_sum(w.value()); });
  const tensor before = w.value();
  {
    const kg::stop_scope stop(0s);
    EXPECT_NE(stop_of([&] { return by.minimize([&] { return square_sum(w.value()); }), 0; }), kgtest::accepted);
  }
  EXPECT_TRUE(kg::allclose(w.value(), before));
  EXPECT_EQ(by.steps(), 1);
}

// A solver of the program's asks itself.
TEST(implicit_functions, stop_in_solvers_that_ask) {
  const auto root = kg::implicit([](const tensor& x, const tensor& a) { return x * x - a; },
                                 [](const tensor&) -> tensor {
                                   for (;;) kg::check_stop("newton");
                                 });
  const kg::stop_scope stop(10ms);
  EXPECT_TRUE(stop_of([&] { return root(tensor(2.f)); }).starts_with("[newton] got no result within the 0.01 s"));
}

}  // namespace
