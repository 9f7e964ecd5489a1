// SPDX-License-Identifier: Apache-2.0
// Transposes are moved after what works in any order of the axes, until two undo each other. Converters from other
// frameworks put one before and one behind each convolution, which here wants its channels last; without them what
// follows a convolution becomes a part of it.
module;
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph::detail {

namespace {

using axes_order = std::vector<std::int64_t>;

bool is_unchanged(const axes_order& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}
axes_order inverse(const axes_order& order) {
  axes_order back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

named_attribute* attr_of(step& s, std::string_view name) {
  const auto found = std::ranges::find(s.attrs, name, &named_attribute::name);
  return found == s.attrs.end() ? nullptr : &*found;
}

bool is_transpose(const step& s) { return s.kind == plan_step_kind::call && s.kernel == "Transpose"; }
std::ptrdiff_t transposes_of(const sequence& s) { return std::ranges::count_if(s.steps, is_transpose); }

void drop_unread_transposes(sequence& s) {
  std::vector<int> reads = reads_of(s);
  std::vector<step> kept;
  for (auto now = s.steps.rbegin(); now != s.steps.rend(); ++now) {
    const bool unread = is_transpose(*now) && reads[static_cast<std::size_t>(now->out[0])] == 0;
    if (!unread) kept.push_back(std::move(*now));
    else if (now->in[0] >= 0) --reads[static_cast<std::size_t>(now->in[0])];
  }
  std::ranges::reverse(kept);
  s.steps = std::move(kept);
}

bool is_permutation(axes_order order) {
  std::ranges::sort(order);
  return is_unchanged(order);
}

// The order of the axes that a step gives. Empty if the step is no transpose, or if the order is unknown or no
// permutation: such a transpose throws when it runs.
axes_order order_of_axes(step& s) {
  if (!is_transpose(s) || s.operands[0].in[0] < 0) return {};
  const named_attribute* perm = attr_of(s, "perm");
  if (!perm) return {};
  axes_order order(perm->value.as_list().begin(), perm->value.as_list().end());
  for (std::int64_t& axis : order) axis += axis < 0 ? static_cast<std::int64_t>(order.size()) : 0;
  return is_permutation(order) ? order : axes_order();
}

class turner {
 public:
  turner(sequence& s, bool eager)
      : s_(s),
        eager_(eager),
        stands_for_(static_cast<std::size_t>(s.values)),
        turned_(stands_for_.size()),
        reads_(reads_of(s)) {
    for (std::size_t v = 0; v < stands_for_.size(); ++v) stands_for_[v] = static_cast<std::int32_t>(v);
  }
  void run() {
    for (step& now : s_.steps) take(std::move(now));
    s_.steps = std::move(made_);
    for (std::int32_t& v : s_.results) look_up(v);
    drop_unread_transposes(s_);
  }

 private:
  // A value that is another one with its axes in that order; `maker` is a step that transposes so.
  struct turn {
    std::int32_t of = -1;
    axes_order order;
    std::size_t maker = 0;
  };
  void look_up(std::int32_t& v) const {
    if (v >= 0) v = stands_for_[static_cast<std::size_t>(v)];
  }
  const turn* turn_of(std::int32_t v) const {
    return v >= 0 && turned_[static_cast<std::size_t>(v)].of >= 0 ? &turned_[static_cast<std::size_t>(v)] : nullptr;
  }
  std::int32_t new_value() {
    stands_for_.push_back(s_.values), turned_.emplace_back(), reads_.push_back(1);
    return s_.values++;
  }
  static void set_input(step& s, std::int32_t v) { s.in = {v}, s.operands[0].in = {v}; }

  void take(step s);
  void take_transpose(step s, axes_order order);
  const turn* shared_turn(const step& s) const;
  bool turns_back(step& s, const turn& by);
  std::optional<std::int32_t> before(std::int32_t v, const axes_order& order);

  sequence& s_;
  bool eager_;  // also where others read what a transpose gives
  std::vector<step> made_;
  std::vector<std::int32_t> stands_for_;  // the value that has its elements
  std::vector<turn> turned_;
  std::vector<int> reads_;
};

void turner::take_transpose(step s, axes_order order) {
  const std::int32_t from = s.operands[0].in[0], to = s.out[0];
  set_input(s, from);
  if (const turn* first = turn_of(from); first && first->order.size() == order.size()) {
    for (std::int64_t& axis : order) axis = first->order[static_cast<std::size_t>(axis)];
    if (is_unchanged(order)) {
      --reads_[static_cast<std::size_t>(from)];
      reads_[static_cast<std::size_t>(first->of)] += reads_[static_cast<std::size_t>(to)];
      stands_for_[static_cast<std::size_t>(to)] = first->of;
      return;
    }
    --reads_[static_cast<std::size_t>(from)], ++reads_[static_cast<std::size_t>(first->of)];
    set_input(s, first->of);
    attr_of(s, "perm")->value = attr_value(std::span<const std::int64_t>(order));
  }
  turned_[static_cast<std::size_t>(to)] = {s.in[0], std::move(order), made_.size()};
  made_.push_back(std::move(s));
}

// The transpose that all operands of a step went through which are no constants. If others read their results, too,
// they may have to run all the same.
const turner::turn* turner::shared_turn(const step& s) const {
  const op_row* row = s.kind == plan_step_kind::call && s.out.size() == 1 ? row_named(s.kernel) : nullptr;
  if (!row || (!row->is_unary() && !row->is_binary() && s.kernel != "PadV2" && s.kernel != "Concat")) return nullptr;
  const turn* shared = nullptr;
  std::vector<std::int32_t> read = s.in;
  if (!eager_) std::ranges::sort(read);
  for (const step::operand& operand : s.operands)
    for (const std::int32_t v : operand.in) {
      if (v < 0) continue;
      const turn* mine = turn_of(v);
      if (!mine) return nullptr;
      if (!eager_ && reads_[static_cast<std::size_t>(v)] != std::ssize(std::ranges::equal_range(read, v)))
        return nullptr;
      if (shared && shared->order != mine->order) return nullptr;
      shared = mine;
    }
  return shared;
}

// An operand as it was before its axes were put into that order; a constant is turned back.
std::optional<std::int32_t> turner::before(std::int32_t v, const axes_order& order) {
  if (v >= 0) return turn_of(v)->of;
  const tensor c = s_.constants[v].x;
  if (!c.defined() || c.rank() > static_cast<int>(order.size())) return {};
  if (c.size() == 1) return v;
  std::vector<std::int64_t> dims(order.size() - static_cast<std::size_t>(c.rank()), 1);
  dims.insert(dims.end(), c.dims().begin(), c.dims().end());
  const axes_order back = inverse(order);
  return s_.constants.add({transpose(reshape(c, shape(dims)), back), {}});
}

// Lets a step work on what its operands were before their transpose; false: that is not possible.
bool turner::turns_back(step& s, const turn& by) {
  step made = s;
  if (s.kernel == "PadV2") {
    named_attribute* paddings = attr_of(made, "paddings");
    if (!paddings || paddings->value.as_list().size() != 2 * by.order.size()) return false;
    const std::span<const std::int64_t> pairs = paddings->value.as_list();
    std::vector<std::int64_t> moved(pairs.begin(), pairs.end());
    for (std::size_t i = 0; i < by.order.size(); ++i)
      std::ranges::copy(pairs.subspan(2 * i, 2), moved.begin() + 2 * by.order[i]);
    paddings->value = attr_value(std::span<const std::int64_t>(moved));
  }
  if (s.kernel == "Concat") {
    named_attribute* axis = attr_of(made, "axis");
    if (!axis) return false;
    const std::int64_t at = axis->value.as_integer(), rank = static_cast<std::int64_t>(by.order.size());
    if (at < -rank || at >= rank) return false;
    axis->value = attr_value(by.order[static_cast<std::size_t>(at < 0 ? at + rank : at)]);
    // A constant is joined as it is, so it needs all of its axes.
    for (const std::int32_t v : s.operands[0].in)
      if (v < 0 && s_.constants[v].x.rank() != static_cast<int>(rank)) return false;
  }
  made.in.clear();
  for (step::operand& operand : made.operands)
    for (std::int32_t& v : operand.in) {
      const std::optional<std::int32_t> found = before(v, by.order);
      if (!found) return false;
      v = *found;
      made.in.push_back(v);
    }
  s = std::move(made);
  return true;
}

void turner::take(step s) {
  std::ranges::for_each(s.in, [&](std::int32_t& v) { look_up(v); });
  for (step::operand& operand : s.operands) std::ranges::for_each(operand.in, [&](std::int32_t& v) { look_up(v); });
  if (axes_order order = order_of_axes(s); !order.empty()) return take_transpose(std::move(s), std::move(order));
  const turn* shared = shared_turn(s);
  if (!shared) return made_.push_back(std::move(s));
  const turn by = *shared;
  const std::vector<std::int32_t> read = s.in;
  if (!turns_back(s, by)) return made_.push_back(std::move(s));
  for (const std::int32_t v : read)
    if (v >= 0) --reads_[static_cast<std::size_t>(v)], ++reads_[static_cast<std::size_t>(turn_of(v)->of)];
  step after = made_[by.maker];
  after.at = s.at;
  after.out = std::exchange(s.out, {new_value()});
  set_input(after, s.out[0]);
  made_.push_back(std::move(s));
  take_transpose(std::move(after), by.order);
}

}  // namespace

std::vector<int> reads_of(const sequence& s) {
  std::vector<int> reads(static_cast<std::size_t>(s.values), 0);
  for (const step& now : s.steps)
    for (const std::int32_t v : now.in)
      if (v >= 0) ++reads[static_cast<std::size_t>(v)];
  for (const std::int32_t v : s.results)
    if (v >= 0) ++reads[static_cast<std::size_t>(v)];
  return reads;
}

void cancel_transposes(sequence& s) {
  if (transposes_of(s) == 0) return;
  sequence eager = s;
  turner(eager, true).run();
  turner(s, false).run();
  if (transposes_of(eager) < transposes_of(s)) s = std::move(eager);
}

}  // namespace kerngrad::graph::detail
