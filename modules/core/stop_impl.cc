// SPDX-License-Identifier: Apache-2.0
// The stop_scopes of each thread.
module;
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include "kernels/common/abi.h"
#include "kernels/common/per_thread.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :scopes;

namespace kerngrad::detail {

KG_INITIAL_EXEC constinit thread_local bool may_stop = false;

namespace {

using steady = std::chrono::steady_clock;

// A condition, or without one a deadline.
struct stop_rule {
  std::function<bool()> asked;
  double seconds = 0;
  steady::time_point deadline;
};

// Null while the thread has had no scope, and once it ends: a scope may outlive its thread.
KG_INITIAL_EXEC constinit thread_local scope_list<stop_rule>* scopes = nullptr;
KG_INITIAL_EXEC constinit thread_local bool asking = false;

scope_list<stop_rule>& first_scopes() {
  auto made = std::make_unique<scope_list<stop_rule>>();
  kernels::at_thread_end([](void*) {
    may_stop = false;
    delete std::exchange(scopes, nullptr);
  });
  return *(scopes = made.release());
}

steady::time_point after(double seconds) {
  const steady::time_point now = steady::now();
  if (!(seconds > 0)) return now;
  const double most = std::chrono::duration<double>(steady::time_point::max() - now).count() / 2;
  if (seconds >= most) return steady::time_point::max();
  return now + std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(seconds));
}

// Asks a condition, which may make a long call itself: that one is not stopped by the scopes that are being asked.
bool says_stop(const stop_rule& rule) {
  if (!rule.asked) return steady::now() >= rule.deadline;
  struct under_way {
    under_way() { asking = true; }
    ~under_way() { asking = false; }
  } now;
  return rule.asked();
}

// The first scope, from the innermost outwards, that asks to stop. It is held while its condition runs.
scope_list<stop_rule> scope_that_stops() {
  if (asking || !scopes) return {};
  drop_ended(*scopes);
  may_stop = *scopes != nullptr;
  for (scope_list<stop_rule> scope = *scopes; scope; scope = scope_list<stop_rule>(scope->outer))
    if (!scope->ended && says_stop(scope->what)) return scope;
  return {};
}

std::shared_ptr<void> begin(stop_rule rule) {
  std::shared_ptr<void> scope = enter_scope(scopes ? *scopes : first_scopes(), std::move(rule));
  may_stop = true;
  return scope;
}

}  // namespace

std::shared_ptr<void> begin_stop_scope(double seconds) { return begin({{}, seconds, after(seconds)}); }
std::shared_ptr<void> begin_stop_scope(std::function<bool()> asked) {
  if (!asked) fail("stop_scope", "an empty function", "a function that returns whether to stop");
  return begin({std::move(asked), 0, {}});
}
void end_stop_scope(const std::shared_ptr<void>& scope) noexcept {
  scope_list<stop_rule> none;
  end_scope(scopes ? *scopes : none, scope);
  may_stop = scopes && *scopes;
}

}  // namespace kerngrad::detail

namespace kerngrad {

bool stop_requested() { return detail::may_stop && detail::scope_that_stops() != nullptr; }

void check_stop(std::string_view function) {
  if (!detail::may_stop) return;
  const detail::scope_list<detail::stop_rule> scope = detail::scope_that_stops();
  if (!scope) return;
  if (scope->what.asked) throw stopped(function, "a request to stop", "none before the result");
  throw stopped(function, "no result within the " + to_string(attr_value(scope->what.seconds)) + " s of a stop_scope",
                "a result by then", "allow it more time");
}

}  // namespace kerngrad
