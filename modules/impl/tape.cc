// SPDX-License-Identifier: Apache-2.0
module;
#include <atomic>
#include "kernels/abi.h"
#include "kernels/per_thread.h"
module kerngrad;

import :dispatch;
import :tape;

namespace kerngrad::detail {

namespace {
constinit thread_local const rule_override* innermost_override [[gnu::tls_model("initial-exec")]] = nullptr;
}  // namespace

void push_override(rule_override& scope) noexcept { scope.outer = std::exchange(innermost_override, &scope); }
void pop_override(const rule_override& scope) noexcept { innermost_override = scope.outer; }

const op_gradient* rule_of_scope(const op_entry& op) {
  for (const rule_override* scope = innermost_override; scope; scope = scope->outer)
    if (scope->op->row == op.row) return scope->rule;
  return nullptr;
}

constinit thread_local tape* current_tape [[gnu::tls_model("initial-exec")]] = nullptr;

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
}

void tape::reset() {
  nodes.clear();
  slots.clear();
  results.clear();
  shapes.clear();
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

// The value of a recording tape that an operand's gradient goes to; 0 when none is asked for.
inline std::uint32_t followed(const tape& t, const tensor& x) {
  const buffer* b = tensor_access::buffer(x);
  const place& at = tensor_access::place(x);
  return b && at.tape == t.id && differentiable.has(b->type) ? at.value : 0;
}

// Adds a node with a slot per operand; `keeps(i)` says whether operand i is saved whole. The number of operands is the
// compiler's to know where the type of `in` says it.
template <class Operands, class Keeps>
inline node& begin_node(tape& t, const Operands& in, std::span<const tensor> out, bool all_dims, Keeps keeps) {
  const shape& made = tensor_access::buffer(out[0])->dims;
  node& n = t.nodes.add();
  n.first_slot = t.slots.size();
  n.slots = static_cast<std::uint32_t>(in.size());
  n.first_value = t.next_value;
  n.results = static_cast<std::uint32_t>(out.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    slot& s = t.slots.add();
    const tensor& x = *in[i];
    const buffer* b = tensor_access::buffer(x);
    if (!b) continue;
    if (keeps(static_cast<int>(i))) s.saved = x;
    else if (all_dims || !(b->dims == made)) s.dims = add_shape(t, b->dims);
    s.type = b->type;
    s.value = followed(t, x);
  }
  if (out.size() > 1) {
    n.result_dims = t.shapes.size();
    for (const tensor& y : out) add_shape(t, y.dims());
  }
  return n;
}

inline void give_place(tape& t, tensor& y) {
  const std::uint32_t value = t.next_value++;
  tensor_access::place(y) = differentiable.has(tensor_access::buffer(y)->type) ? place{t.id, value} : place{};
}

template <class Operands>
inline void record_op(const op_entry& op, const Operands& in, std::span<const attr_value> attrs,
                      std::span<tensor> out) {
  tape& t = this_tape();
  if (!t.records() || out.empty() || !differentiable.has(tensor_access::buffer(out[0])->type)) return;
  const op_gradient* scoped = innermost_override ? rule_of_scope(op) : nullptr;
  const op_gradient* rule = scoped ? scoped : op.gradient;
  const std::size_t list = rule && rule->list ? 0 : ~std::size_t{0};  // one part serves all operands of a list
  // What to keep follows from the operands whose gradient will be wanted.
  kept keeps{};
  bool tracked = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!followed(t, *in[i])) continue;
    tracked = true;
    if (rule) keeps = keeps | rule->of[i & list].keeps;
  }
  if (!tracked) return;
  if (!scoped && replaced_gradients.load(std::memory_order_relaxed) != 0 && record_replaced(op, in, attrs, out)) return;
  node& n = begin_node(t, in, out, out.size() > 1,
                       [&](int i) { return keeps.operand(static_cast<int>(static_cast<std::size_t>(i) & list)); });
  n.rule = rule;
  if (!attrs.empty()) {
    n.attrs = t.attrs.size();
    for (const attr_value& value : attrs) t.attrs.add() = value;
  }
  for (tensor& y : out) give_place(t, y);
  if (keeps.result(0)) {
    n.kept_result = t.results.size();
    t.results.add() = out[0];
  }
  n.op = &op;
}

}  // namespace

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
  for (const tensor* x : in) tracked = tracked || t.tracks(*x);
  for (tensor& y : out) tensor_access::place(y) = {};  // a result that is an operand's handle is a value of its own
  if (!tracked || out.empty()) return;
  free_gradient kept{std::string(name), std::move(rule)};  // may throw: before the node is there
  node& n = begin_node(t, in, out, true, [](int) { return false; });
  const std::uint32_t at = t.free.size();
  t.free.add() = std::move(kept);
  for (tensor& y : out) give_place(t, y);
  n.free = at;
}

std::vector<tensor> completed(const frame& at) {
  std::vector<tensor> dys(at.dys.begin(), at.dys.end());
  dtype type = dtype::float32;
  for (const tensor& dy : dys)
    if (dy.defined()) type = dy.type();
  for (std::size_t k = 0; k < dys.size(); ++k)
    if (!dys[k].defined()) dys[k] = zeros(at.on.shapes[at.at.result_dims + k], type);
  return dys;
}

namespace {
tensor reduced_to(const shape& dims, tensor g) {
  if (g.dims() == dims) return g;
  const int extra = g.rank() - dims.rank();
  std::vector<std::int64_t> over;
  for (int i = 0; i < g.rank(); ++i)
    if (i < extra || (dims[i - extra] == 1 && g.dims()[i] != 1)) over.push_back(i);
  return reshape(sum(g, over), dims);
}
}  // namespace

const tensor& frame_dy(const frame& at, int k) { return at.dys[static_cast<std::size_t>(k)]; }
std::vector<tensor> frame_all_dy(const frame& at) { return completed(at); }
const tensor& frame_operand(const frame& at, int i) { return at.operand_slot(i).saved; }
const tensor& frame_result(const frame& at) { return at.on.results[at.at.kept_result]; }
const shape& frame_dims(const frame& at, int i) { return at.dims(i); }
dtype frame_type(const frame& at, int i) { return at.operand_slot(i).type; }
const attr_value& frame_attr(const frame& at, int index) {
  return at.on.attrs[at.at.attrs + static_cast<std::uint32_t>(index)];
}
int frame_index(const frame& at) { return at.operand; }
tensor& frame_shared(const frame& at, int k) { return at.shared[static_cast<std::size_t>(k)]; }
tensor frame_zeros(const frame& at, int i) { return zeros(at.dims(i), frame_type(at, i)); }
tensor frame_reduced(const frame& at, int i, tensor g) { return reduced_to(at.dims(i), std::move(g)); }

}  // namespace kerngrad::detail
