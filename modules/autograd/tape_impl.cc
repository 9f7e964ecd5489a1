// SPDX-License-Identifier: Apache-2.0
module;
#include <atomic>
#include "kernels/common/abi.h"
#include "kernels/common/per_thread.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :run;
import :scopes;
import :snapshot;
import :tape;

namespace kerngrad::detail {

namespace {

struct rule_override {
  const op_entry* op;
  const op_gradient* rule;
};
thread_local scope_list<rule_override> overrides;
// True while there are any, so that a thread without a scope asks one word. The next look drops scopes that ended on
// another thread.
KG_INITIAL_EXEC constinit thread_local bool overridden = false;

}  // namespace

std::shared_ptr<void> begin_override(const op_entry& op, const op_gradient& rule) {
  std::shared_ptr<void> scope = enter_scope(overrides, {&op, &rule});
  overridden = true;
  return scope;
}
void end_override(const std::shared_ptr<void>& scope) noexcept {
  end_scope(overrides, scope);
  overridden = overrides != nullptr;
}

const op_gradient* rule_of_scope(const op_entry& op) {
  if (!overridden) return nullptr;
  drop_ended(overrides);
  overridden = overrides != nullptr;
  for (const scope_link<rule_override>* scope = overrides.get(); scope; scope = scope->outer.get())
    if (!scope->ended && scope->what.op->row == op.row) return scope->what.rule;
  return nullptr;
}

KG_INITIAL_EXEC constinit thread_local tape* current_tape = nullptr;

tape& first_tape() {
  std::unique_ptr<tape> made = std::make_unique<tape>();
  kernels::at_thread_end([](void*) { delete std::exchange(current_tape, nullptr); });
  return *(current_tape = made.release());
}

void tape::open() {
  if (depth++ > 0) {
    nested = true;
    return;
  }
  // Ids are unique over all threads and for good, so a tensor of an old recording is never taken for a tracked one.
  static std::atomic<std::uint64_t> next_block{1};
  constexpr std::uint64_t block = 1 << 16;
  if (id % block == 0) id = next_block.fetch_add(1) * block;
  ++id;
  foreign = 0;
}

void tape::reset() {
  calls.clear();
  operands.clear();
  results.clear();
  shapes.clear();
  made.clear();
  attrs.clear();
  free.clear();
  next_value = 1;
  nested = false;
}

namespace {

std::uint32_t add_shape(tape& t, const shape& dims) {
  const std::uint32_t at = t.shapes.size();
  t.shapes.add() = dims;
  return at;
}

[[noreturn]] void refuse_as_lost(std::string_view name) {
  fail(name, "a tensor that another thread computed from one whose gradient is being recorded",
       "tensors that the recording's own thread computed, and constants",
       "compute it on this thread, or say by stop_gradient that it is a constant");
}

// The value of a recording tape that an operand's gradient goes to; 0 when none is asked for.
inline std::uint32_t followed(const tape& t, const tensor& x) {
  const buffer* b = tensor_access::buffer(x);
  const tape_position& at = tensor_access::position(x);
  return b && at.tape == t.id && differentiable.has(b->type) ? at.value : 0;
}

// Adds a recorded_call with a recorded_operand per operand; `keeps(i)` says whether operand i is saved whole. The
// number of operands is the compiler's to know where the type of `in` says it.
template <class Operands, class Keeps>
inline recorded_call& begin_call(tape& t, const Operands& in, std::span<const tensor> out, bool all_dims, Keeps keeps) {
  const shape& made = tensor_access::buffer(out[0])->dims;
  recorded_call& n = t.calls.add();
  n.first_operand = t.operands.size();
  n.operands = static_cast<std::uint32_t>(in.size());
  n.first_value = t.next_value;
  n.results = static_cast<std::uint32_t>(out.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    recorded_operand& s = t.operands.add();
    const tensor& x = *in[i];
    const buffer* b = tensor_access::buffer(x);
    if (!b) continue;
    if (keeps(i)) s.saved = x;
    else if (all_dims || !(b->dims == made)) s.dims = add_shape(t, b->dims);
    s.type = b->type;
    s.value = followed(t, x);
  }
  if (out.size() > 1) {
    n.made = t.made.size();
    for (const tensor& y : out) t.made.add() = y.signature();
  }
  return n;
}

inline void give_position(tape& t, tensor& y) {
  const std::uint32_t value = t.next_value++;
  const bool tracked = differentiable.has(tensor_access::buffer(y)->type);
  tensor_access::position(y) = tracked ? tape_position{t.id, value} : tape_position{};
}

template <class Results>
inline bool any_differentiable(const Results& out) {
  bool any = false;
  for (const tensor& y : out) any = any || differentiable.has(tensor_access::buffer(y)->type);
  return any;
}

template <class Operands, class Results>
inline void record_op(const op_entry& op, const Operands& in, std::span<const attr_value> attrs, const Results& out) {
  if (!any_differentiable(out)) return;
  if (!recording_now()) return lose(in, out);
  tape& t = *current_tape;
  const op_gradient* scoped = overridden ? rule_of_scope(op) : nullptr;
  const op_gradient* rule = scoped ? scoped : gradient_of(op, *t.rules);
  // The operands whose gradient is wanted decide what to keep.
  kept keeps{};
  bool tracked = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t value = followed(t, *in[i]);
    if (value == 0) {
      if (const std::uint64_t id = tensor_access::position(*in[i]).tape; id != 0 && id != t.id) t.foreign = id;
      continue;
    }
    if (value == lost) refuse_as_lost(op.row->name);
    tracked = true;
    if (rule) keeps = keeps | rule->of[rule->place_of(i)].keeps;
  }
  if (!tracked) return lose(in, out);
  if (!scoped && replaced_gradients.load(std::memory_order_relaxed) != 0 && record_replaced(op, in, attrs, out)) return;
  recorded_call& n =
      begin_call(t, in, out, out.size() > 1, [&](std::size_t i) { return rule && keeps.operand(rule->place_of(i)); });
  n.rule = rule;
  if (!attrs.empty()) {
    n.attrs = t.attrs.size();
    for (const attr_value& value : attrs) t.attrs.add() = value;
  }
  for (tensor& y : out) give_position(t, y);
  if (const std::uint8_t kept_results = keeps.results()) {
    n.first_kept = t.results.size();
    n.kept_results = kept_results;
    for (std::size_t k = 0; k < out.size(); ++k)
      if (keeps.result(k)) t.results.add() = out[k];
  }
  n.op = &op;
}

}  // namespace

void lose(std::span<const tensor* const> in, std::span<tensor> out) {
  for (const tensor* x : in) {
    const buffer* b = tensor_access::buffer(*x);  // null where a result took the memory of an operand of its dtype
    const std::uint64_t id = tensor_access::position(*x).tape;
    if (id == 0 || (current_tape && current_tape->id == id) || (b && !differentiable.has(b->type))) continue;
    for (tensor& y : out)
      if (y.defined() && differentiable.has(y.type())) tensor_access::position(y) = {id, lost};
    return;
  }
}

void refuse_lost(std::string_view name, const tensor& x) {
  const tape_position& at = tensor_access::position(x);
  if (at.value == lost && current_tape && at.tape == current_tape->id) refuse_as_lost(name);
}

void record(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
            std::span<tensor> out) {
  record_op(op, in, attrs, out);
}
void record(const op_entry& op, const tensor& x, tensor& y) {
  record_op(op, std::array{&x}, {}, std::span<tensor, 1>(&y, 1));
}
void record(const op_entry& op, const tensor& a, const tensor& b, tensor& y) {
  record_op(op, std::array{&a, &b}, {}, std::span<tensor, 1>(&y, 1));
}

void record_free(std::string_view name, std::span<const tensor* const> in, std::span<tensor> out, free_rule rule) {
  tape& t = this_tape();
  bool tracked = false;
  for (const tensor* x : in) {
    if (!t.tracks(*x)) continue;
    tracked = true;
    refuse_lost(name, *x);
  }
  for (tensor& y : out) tensor_access::position(y) = {};  // a result that is an operand's handle is a value of its own
  if (!tracked || out.empty()) return lose(in, out);
  free_gradient kept{std::string(name), std::move(rule)};  // may throw: before the call is there
  recorded_call& n = begin_call(t, in, out, true, [](std::size_t) { return false; });
  const std::uint32_t at = t.free.size();
  t.free.add() = std::move(kept);
  for (tensor& y : out) give_position(t, y);
  n.free = at;
}

const tensor& completed(const rule_frame& at, int k) {
  tensor& dy = at.dys[static_cast<std::size_t>(k)];
  if (!dy.defined()) {
    const signature& made = at.on.made[at.at.made + static_cast<std::size_t>(k)];
    dy = zeros(made.dims, made.type);
  }
  return dy;
}

tensor summed_to(const shape& dims, const tensor& g) {
  const int extra = g.rank() - dims.rank();
  std::vector<std::int64_t> over;
  for (int i = 0; i < g.rank(); ++i)
    if (i < extra || (dims[i - extra] == 1 && g.dims()[i] != 1)) over.push_back(i);
  return reshape(sum(g, over), dims);
}

const tensor& frame_dy(const rule_frame& at, int k) { return completed(at, k); }
std::vector<tensor> frame_all_dy(const rule_frame& at) {
  std::vector<tensor> all;
  for (int k = 0; k < static_cast<int>(at.dys.size()); ++k) all.push_back(completed(at, k));
  return all;
}
const tensor& frame_operand(const rule_frame& at, int i) {
  static const tensor omitted;  // a call by name may leave out the last operands where they are optional
  return static_cast<std::uint32_t>(i) < at.at.operands ? at.operand_at(i).saved : omitted;
}
const tensor& frame_result(const rule_frame& at, int k) {
  std::uint32_t index = at.at.first_kept;
  for (int before = 0; before < k; ++before) index += (at.at.kept_results >> before) & 1;
  return at.on.results[index];
}
const shape& frame_dims(const rule_frame& at, int i) { return at.dims(i); }
dtype frame_type(const rule_frame& at, int i) {
  const dtype type = at.operand_at(i).type;
  return at.of_parts && type == dtype::complex128 ? dtype::float64 : type;
}
const attr_value& frame_attr(const rule_frame& at, int index) {
  return at.on.attrs[at.at.attrs + static_cast<std::uint32_t>(index)];
}
int frame_index(const rule_frame& at) { return at.operand; }
tensor& frame_shared(const rule_frame& at, int k) { return at.shared[static_cast<std::size_t>(k)]; }
tensor frame_zeros(const rule_frame& at, int i) { return zeros(at.dims(i), frame_type(at, i)); }
tensor frame_reduced(const rule_frame& at, int i, tensor g) { return reduced_to(at.dims(i), std::move(g)); }

}  // namespace kerngrad::detail
