// SPDX-License-Identifier: Apache-2.0
// Parts that gradients and transforms of functions share, known inside the library only: a recording, the backward pass
// over what it recorded, and the readings of variables.
module;
#include "kernels/common/abi.h"
module kerngrad:walk;

import :std;
import :core;
import :tensor;
import :grad;
import :tape;

namespace kerngrad::detail {

/// Puts a tape's lists aside for a scope: what is recorded meanwhile goes to lists of its own and is dropped with
/// them. Values keep counting on, so those from before the scope are told from those of the scope.
class lists_aside {
 public:
  explicit lists_aside(tape& t);
  ~lists_aside();
  lists_aside(const lists_aside&) = delete;
  lists_aside& operator=(const lists_aside&) = delete;

 private:
  tape& t_;
  tape_lists kept_;
  std::uint32_t outer_;
};
/// Which lists the thread's tape has now: another number while they are aside.
std::uint32_t lists_in_use();

/// When an exception ends the scope while an outer gradient is recorded, what the scope recorded becomes constants and
/// lets go of what it kept.
class rollback {
 public:
  explicit rollback(tape& t);
  ~rollback();
  rollback(const rollback&) = delete;
  rollback& operator=(const rollback&) = delete;

 private:
  tape& t_;
  std::uint32_t first_call_, first_result_, first_free_;
  int exceptions_;
};

/// One gradient being taken: opens the tape, remembers where it starts, and closes it whatever happens. One that is
/// opened by a rule, while the outermost walk is under way, has lists of its own.
class recording {
 public:
  recording();
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  /// The forward pass is over: what follows is recorded for outer gradients only.
  void end_forward();
  inline tape& on() { return t_; }
  /// True if nothing but this gradient was followed: whatever was recorded depends on one of its operands.
  inline bool alone() const { return t_.depth == 0 && !t_.nested && !aside_; }
  inline std::uint32_t first_call() const { return first_call_; }
  inline std::uint32_t first_value() const { return first_value_; }

 private:
  tape& t_;
  int paused_;
  std::optional<lists_aside> aside_;
  std::optional<rollback> undo_;
  std::uint32_t first_call_ = 0, first_value_ = 0;
  bool forward_ = true;
};

/// Detaches a result that leaves a recording. Outside of the outermost one it has no position; where tensors of another
/// thread's recording went in, it is untracked by that.
void leave(const tape& t, tensor& x);

/// A handle of x that gradients can be asked for. If an outer gradient follows x, it goes on through this one.
tensor leaf(tape& t, const tensor& x);

/// a + g; in a's own memory when it has no other owner and nothing is recorded.
void add_to(tensor& a, const tensor& g, bool recorded);
/// The same for an a that may be empty so far.
inline void accumulate(tensor& a, tensor g, bool recorded) {
  if (a.defined()) add_to(a, g, recorded);
  else a = std::move(g);
}

/// The part of a tape that a recording filled.
struct tape_range {
  std::uint32_t first_call = 0, end_call = 0, first_value = 0, end_value = 0;
};
/// From where a recording starts up to now.
tape_range range_of(recording& scope);

/// An operand whose shape is not known: what arrives there is taken as it is.
inline constexpr std::uint32_t any_dims = none - 1;

/// The walk: gradients by value id, filled in from the back.
class walk {
 public:
  /// `last` when there will be no other walk here: what a call saved can go.
  walk(tape& t, const tape_range& range, bool last);

  inline bool knows(std::uint32_t value) const { return value >= base_ && value - base_ < grads_.size(); }
  /// A wanted value is an end of the walk: its gradient stays, even if an outer gradient goes on from there.
  inline void want(std::uint32_t value) { relevant_[value - base_] = end; }
  inline tensor& grad(std::uint32_t value) { return grads_[value - base_]; }
  /// Values that depend on a wanted one: everything else is left alone.
  void mark();
  /// The same without looking, for a recording that was alone, with respect to all of its operands: every value that it
  /// has depends on one of them, and none of them is a result.
  inline void mark_all() { all_ = true; }
  inline bool reaches(std::uint32_t value) const { return knows(value) && (all_ || relevant_[value - base_]); }
  /// True if a gradient of x flows anywhere.
  bool reaches(const tensor& x) const;
  /// Calls f with each wanted value as soon as its gradient is complete, in `run`: after the first op that took it.
  inline void when_complete(std::function<void(std::uint32_t value)> f) { complete_ = std::move(f); }
  void run();

 private:
  // Wanted values by the first call that takes them, in the order of the calls.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first_uses() const;
  static constexpr std::uint8_t on = 1, end = 2;

  inline bool wanted(const recorded_operand& s) const { return s.value != 0 && reaches(s.value); }
  void step(const recorded_call& n, std::span<tensor> dys);
  void step_free(const recorded_call& n, std::span<tensor> dys);
  void forget(recorded_call& n);

  tape& t_;
  std::uint32_t first_call_, end_call_, base_;
  bool recorded_, last_, all_ = false;
  std::function<void(std::uint32_t)> complete_;
  work_array<tensor, 32> grads_;
  work_array<std::uint8_t, 32> relevant_;
};

/// Start of the backward pass: dy as given, or ones.
tensor seed_for(std::string_view name, const tensor& value, const tensor* dy);

// ------------------------------------------------------------------------------------------ variables

struct variable_state {
  std::string name;
  bool trainable;
  tensor value;
  std::uint64_t number;  ///< how many variables were made before it
};

/// Answers readings of variables on this thread. The innermost one answers, and asks the outer ones.
struct variable_readings {
  enum class kind : std::uint8_t {
    gradients,   ///< a variable_grads: gives the leaves that stand for the values
    collecting,  ///< the first run of a checkpointed function: notes the values
    replaying,   ///< its later runs: gives the leaves of the noted values
  };
  explicit variable_readings(kind what) : does(what) {}

  kind does;
  variable_readings* outer = nullptr;
  std::vector<std::pair<variable, tensor>> read;

  /// Result of reading v, whose value without history is `now`.
  tensor value_of(const variable& v, const tensor& now);

 private:
  tensor leaf_of(const variable& v, const tensor& now);
};
extern constinit thread_local variable_readings* innermost;

/// Makes these readings the innermost ones in a scope.
class readings_scope {
 public:
  inline explicit readings_scope(variable_readings& w) : outer_(std::exchange(innermost, &w)) { w.outer = outer_; }
  inline ~readings_scope() { innermost = outer_; }
  readings_scope(const readings_scope&) = delete;
  readings_scope& operator=(const readings_scope&) = delete;

 private:
  variable_readings* outer_;
};

}  // namespace kerngrad::detail
