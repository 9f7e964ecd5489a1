// SPDX-License-Identifier: Apache-2.0
// How long calls are stopped: by a deadline, a flag, a token or a condition; docs/threads.md.
module;
#include "kernels/common/abi.h"
export module kerngrad:stop;

import :std;
import :core;

namespace kerngrad::detail {

// Durations, time points and stop tokens of the standard library, known by their members: <chrono> and <stop_token>
// would be a burden to every importer.
template <class D>
concept duration_like = requires(const D& d) {
  D::period::num;
  D::period::den;
  static_cast<double>(d.count());
};
template <class T>
concept time_point_like = requires(const T& at) {
  { at - T::clock::now() } -> duration_like;
};
template <class T>
concept stop_token_like = requires(const T& token) {
  { token.stop_requested() } -> std::same_as<bool>;
  { token.stop_possible() } -> std::same_as<bool>;
};
template <duration_like D>
constexpr double seconds_in(const D& d) {
  return static_cast<double>(d.count()) * static_cast<double>(D::period::num) / static_cast<double>(D::period::den);
}

std::shared_ptr<void> begin_stop_scope(double seconds);
std::shared_ptr<void> begin_stop_scope(std::function<bool()> asked);
void end_stop_scope(const std::shared_ptr<void>& scope) noexcept;

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Thrown by a long call that a stop_scope ended. It is an `error`, so code that handles errors also handles it.
class stopped : public error {
 public:
  using error::error;
};

/// Lets long calls of this thread end early, by the exception `stopped`. Scopes nest: a call ends as soon as one of
/// them asks for it, so an inner scope cannot allow more time than an outer one. Other threads are not affected. Graph
/// models check the scope while they are loaded and planned, and when they run: at each node and each iteration of a
/// loop. Every backward pass checks it at each op. `jacobian`, `hessian` and their relatives check it at each row or
/// column, `qr` at each column. The linear solver of `implicit` checks it at each product, and your code with
/// `check_stop`. A single op is never interrupted, and ops that you call one by one do not check. A stopped call
/// changes nothing: variables, optimizers and models are as they were before the call.
class stop_scope {
 public:
  /// Stops after a duration: `stop_scope stop(std::chrono::seconds(5));`. Zero or less stops at once.
  template <detail::duration_like D>
  explicit stop_scope(const D& after) : here_(detail::begin_stop_scope(detail::seconds_in(after))) {}
  /// Stops at a time point of any clock. The remaining time is computed once, here.
  template <detail::time_point_like T>
  explicit stop_scope(const T& at) : stop_scope(at - T::clock::now()) {}
  /// Stops once any thread has set the flag. The flag must outlive the scope.
  explicit stop_scope(const std::atomic<bool>& flag)
      : here_(detail::begin_stop_scope([&flag] { return flag.load(std::memory_order_relaxed); })) {}
  /// Stops once a std::stop_source requests it.
  template <detail::stop_token_like T>
  explicit stop_scope(T token)
      : here_(detail::begin_stop_scope([token = std::move(token)] { return token.stop_requested(); })) {}
  /// Stops once your function returns true. It is called often, so it should be fast. If it throws, the exception ends
  /// the call as well.
  template <class F>
    requires std::is_invocable_r_v<bool, F&>
  explicit stop_scope(F asked) : here_(detail::begin_stop_scope(std::function<bool()>(std::move(asked)))) {}
  ~stop_scope() { detail::end_stop_scope(here_); }
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;

 private:
  std::shared_ptr<void> here_;
};

/// Returns true if a stop_scope of this thread asks to stop. Use it in loops that return the results so far.
bool stop_requested();
/// Throws `stopped`, in the name of `function`, if a stop_scope of this thread asks to stop. Call it in each iteration
/// of a long loop. Without a scope it costs a function call.
void check_stop(std::string_view function = "check_stop");

}  // namespace kerngrad
