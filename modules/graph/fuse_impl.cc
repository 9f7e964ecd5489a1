// SPDX-License-Identifier: Apache-2.0
// Several calls as one: a convolution or a product takes the border before it, the constants that are added to it or
// that it is multiplied by (a batch norm is both, and goes into the weights), and the activation after it. Values are
// read by one step each where that is done; nothing else would see what is left out.
module;
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
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

// Constants and attributes are taken by value here: setting an attribute or adding a constant makes room for more.
attr_value attr_of(const step& s, std::string_view name) {
  for (const named_attribute& a : s.attrs)
    if (a.name == name) return a.value;
  return {};
}
void set_attr(step& s, std::string_view name, const attr_value& value) {
  for (named_attribute& a : s.attrs)
    if (a.name == name) {
      a.value = value;
      return;
    }
  s.attrs.push_back({std::string(name), value});
}
std::string text_attr(const step& s, std::string_view name, std::string_view fallback) {
  const attr_value a = attr_of(s, name);
  return std::string(a.given() ? a.as_text() : fallback);
}
bool is_finite_everywhere(const tensor& x) { return all(is_finite(x)).item() != 0; }

// Parts of a fused row.
struct product {
  std::string_view plain, fused, weights;
};
constexpr product products[] = {{"Conv2D", "FusedConv2D", "filter"},
                                {"DepthwiseConv2dNative", "FusedDepthwiseConv2D", "filter"},
                                {"BatchMatMul", "_FusedMatMul", "b"}};
const product* product_of(const step& s) {
  if (s.kind != plan_step_kind::call) return nullptr;
  for (const product& p : products)
    if (s.kernel == p.plain || s.kernel == p.fused) return &p;
  return nullptr;
}

class fuser {
 public:
  explicit fuser(sequence& s) : s_(s) {}
  void run();

 private:
  // The tensor that a value always is, or an undefined one.
  tensor constant_at(std::optional<std::int32_t> v) const { return v && *v < 0 ? s_.constants[*v].x : tensor(); }
  std::int32_t constant(tensor x) { return s_.constants.add({std::move(x), {}}); }
  void count();
  // The one step that reads the first result of a step, and nothing else does; null: there is none.
  step* only_reader(const step& of);
  tensor constant_beside(const step& s, std::int32_t v, bool left = true) const;
  bool keeps_rank(const step& p, const tensor& c) const;
  tensor per_channel(const step& p, const tensor& c) const;
  std::optional<std::int64_t> channels(const step& p) const;
  void set_operand(step& s, std::string_view name, std::int32_t v);
  tensor bias_of(const step& p, bool& other) const;

  void take_border(step& p);
  bool take_next(step& p, step& next);
  bool shift(step& p, const tensor& by);
  bool scale(step& p, const tensor& by);
  bool normalize(step& p, const step& next);
  bool activate(step& p, const step& next);
  bool clamp(step& p, step& next);
  void replace_result(step& p, step& next);

  sequence& s_;
  std::vector<int> reads_;                       // how often a value is read
  std::vector<std::int32_t> maker_, last_read_;  // steps
};

void fuser::count() {
  reads_.assign(static_cast<std::size_t>(s_.values), 0);
  maker_.assign(reads_.size(), -1);
  last_read_.assign(reads_.size(), -1);
  for (std::size_t i = 0; i < s_.steps.size(); ++i) {
    for (const std::int32_t v : s_.steps[i].in)
      if (v >= 0)
        ++reads_[static_cast<std::size_t>(v)], last_read_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
    for (const std::int32_t v : s_.steps[i].out)
      if (v >= 0) maker_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
  }
  for (const std::int32_t v : s_.results)
    if (v >= 0) reads_[static_cast<std::size_t>(v)] += 2;
}

step* fuser::only_reader(const step& of) {
  const std::int32_t v = of.out.empty() ? -1 : of.out[0];
  if (v < 0 || reads_[static_cast<std::size_t>(v)] != 1) return nullptr;
  step& reader = s_.steps[static_cast<std::size_t>(last_read_[static_cast<std::size_t>(v)])];
  return reader.kind == plan_step_kind::call ? &reader : nullptr;
}

// The constant that a step of two operands has next to a value.
tensor fuser::constant_beside(const step& s, std::int32_t v, bool left) const {
  if (s.operands.size() != 2 || s.operands[0].in.size() != 1 || s.operands[1].in.size() != 1) return {};
  if (s.operands[0].in[0] == v) return constant_at(s.operands[1].in[0]);
  return left && s.operands[1].in[0] == v ? constant_at(s.operands[0].in[0]) : tensor();
}

std::optional<std::int64_t> fuser::channels(const step& p) const {
  const product& kind = *product_of(p);
  const tensor w = constant_at(operand_of(p, kind.weights));
  if (!w.defined() || w.type() != dtype::float32 || text_attr(p, "dataFormat", "NHWC") != "NHWC") return {};
  if (kind.plain == "BatchMatMul") {
    if (w.rank() != 2) return {};
    return w.dims()[attr_of(p, "transposeB").as_bool() ? 0 : 1];
  }
  if (w.rank() != 4) return {};
  return kind.plain == "Conv2D" ? w.dims()[3] : w.dims()[2] * w.dims()[3];
}

// The result next to such a constant has no more axes than before. Images have four, products two or more.
bool fuser::keeps_rank(const step& p, const tensor& c) const {
  const auto index = static_cast<std::size_t>(p.out[0]);
  if (index < s_.seen.size() && s_.seen[index]) return c.rank() <= s_.seen[index]->dims.rank();
  return c.rank() <= (product_of(p)->plain == "BatchMatMul" ? 2 : 4);
}

// A constant as one value for each channel; an undefined tensor where it is none.
tensor fuser::per_channel(const step& p, const tensor& c) const {
  const std::optional<std::int64_t> count = channels(p);
  if (!count || !c.defined() || c.type() != dtype::float32 || !keeps_rank(p, c)) return {};
  if (c.size() == 1) return broadcast_to(reshape(c, {1}), {*count});
  if (c.size() != *count || c.dims()[c.rank() - 1] != *count) return {};
  return reshape(c, {*count});
}

void fuser::set_operand(step& s, std::string_view name, std::int32_t v) {
  const auto found = std::ranges::find(s.operands, name, &step::operand::name);
  if (found != s.operands.end()) found->in = {v};
  else s.operands.push_back({std::string(name), {v}, false});
  s.in.clear();
  for (const step::operand& o : s.operands) s.in.insert(s.in.end(), o.in.begin(), o.in.end());
}

// The bias as one value for each channel. `other`: there is one that is no constant, or none for each channel.
tensor fuser::bias_of(const step& p, bool& other) const {
  const std::optional<std::int32_t> bias = operand_of(p, "bias");
  tensor each = per_channel(p, constant_at(bias));
  other = bias && !each.defined();
  return each;
}

// A border of zeros in height and width.
void fuser::take_border(step& p) {
  const std::optional<std::int32_t> x = operand_of(p, "x");
  if (!x || product_of(p)->weights != "filter" || text_attr(p, "pad", "") != "valid") return;
  if (*x < 0 || reads_[static_cast<std::size_t>(*x)] != 1) return;
  if (text_attr(p, "dataFormat", "NHWC") != "NHWC") return;
  const std::int32_t from = maker_[static_cast<std::size_t>(*x)];
  if (from < 0) return;
  const step& border = s_.steps[static_cast<std::size_t>(from)];
  if (border.kind != plan_step_kind::call || border.kernel != "PadV2" || border.operands.size() != 1) return;
  const attr_value sizes = attr_of(border, "paddings"), filled = attr_of(border, "constantValue");
  const std::span<const std::int64_t> at = sizes.as_list();
  if (at.size() != 8 || (filled.given() && filled.as_number() != 0)) return;
  if (at[0] || at[1] || at[6] || at[7]) return;
  set_attr(p, "pad", {at[2], at[3], at[4], at[5]});
  set_operand(p, "x", border.operands[0].in[0]);
}

bool fuser::shift(step& p, const tensor& by) {
  bool other = false;
  const tensor bias = bias_of(p, other), c = per_channel(p, by);
  if (!c.defined() || other) return false;
  set_operand(p, "bias", constant(bias.defined() ? bias + c : c));
  return true;
}

// Weights that are beyond float32 times a factor stay as they are: the product with them may not be.
bool fuser::scale(step& p, const tensor& by) {
  bool other = false;
  const tensor bias = bias_of(p, other), c = per_channel(p, by);
  if (!c.defined() || other) return false;
  const product& kind = *product_of(p);
  tensor each = c;
  const tensor w = constant_at(operand_of(p, kind.weights));
  if (kind.plain == "DepthwiseConv2dNative") each = reshape(each, {w.dims()[2], w.dims()[3]});
  if (kind.plain == "BatchMatMul" && attr_of(p, "transposeB").as_bool()) each = reshape(each, {c.size(), 1});
  const tensor scaled = w * each, moved = bias.defined() ? bias * c : c;
  if (!is_finite_everywhere(scaled) || !is_finite_everywhere(moved)) return false;
  if (bias.defined()) set_operand(p, "bias", constant(moved));
  set_operand(p, kind.weights, constant(scaled));
  return true;
}

bool fuser::normalize(step& p, const step& next) {
  std::vector<tensor> parts;
  for (const std::string_view name : {"mean", "variance", "offset", "scale"}) {
    const std::optional<std::int32_t> at = operand_of(next, name);
    parts.push_back(per_channel(p, constant_at(at)));
    if (at && !parts.back().defined()) return false;
  }
  if (!parts[0].defined() || !parts[1].defined()) return false;
  const attr_value epsilon = attr_of(next, "varianceEpsilon");
  tensor factor = rsqrt(parts[1] + (epsilon.given() ? epsilon.as_number() : 0.001));
  if (parts[3].defined()) factor = factor * parts[3];
  tensor offset = -(parts[0] * factor);
  if (parts[2].defined()) offset = offset + parts[2];
  return scale(p, factor) && shift(p, offset);
}

bool fuser::activate(step& p, const step& next) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"Relu", "relu"}, {"Relu6", "relu6"}, {"Elu", "elu"}, {"Sigmoid", "sigmoid"}, {"LeakyRelu", "leakyrelu"}};
  for (const auto& [op, activation] : names)
    if (next.kernel == op) {
      if (const attr_value slope = attr_of(next, "alpha"); slope.given()) set_attr(p, "leakyreluAlpha", slope);
      set_attr(p, "activation", activation);
      return true;
    }
  if (next.kernel != "Prelu" || operand_of(next, "x") != p.out[0]) return false;
  const tensor each = per_channel(p, constant_at(operand_of(next, "alpha")));
  if (!each.defined()) return false;
  set_operand(p, "preluActivationWeights", constant(each));
  set_attr(p, "activation", "prelu");
  return true;
}

// min(max(x, 0), 6) in either order; max(x, 0).
bool fuser::clamp(step& p, step& next) {
  const bool least_first = next.kernel == "Maximum";
  const auto is_bound = [&](const tensor& c, double bound) {
    return c.defined() && c.size() == 1 && keeps_rank(p, c) && c.item() == bound;
  };
  if (!is_bound(constant_beside(next, p.out[0]), least_first ? 0 : 6)) return false;
  step* second = only_reader(next);
  const bool both = second && second->kernel == (least_first ? "Minimum" : "Maximum") &&
                    is_bound(constant_beside(*second, next.out[0]), least_first ? 6 : 0);
  if (!both && !least_first) return false;
  set_attr(p, "activation", both ? "relu6" : "relu");
  if (both) replace_result(next, *second);
  return true;
}

bool fuser::take_next(step& p, step& next) {
  if (text_attr(p, "activation", "linear") != "linear") return false;
  if (!channels(p)) return false;
  const tensor any = constant_beside(next, p.out[0]), right = constant_beside(next, p.out[0], false);
  if (next.kernel == "Add") return any.defined() && shift(p, any);
  if (next.kernel == "Sub") return right.defined() && shift(p, -right);
  if (next.kernel == "Multiply") return any.defined() && scale(p, any);
  if (next.kernel == "RealDiv") return right.defined() && scale(p, reciprocal(right));
  if (next.kernel == "FusedBatchNorm") return normalize(p, next);
  if (next.kernel == "Maximum" || next.kernel == "Minimum") return clamp(p, next);
  return activate(p, next);
}

// `next` is done by `p` from now on.
void fuser::replace_result(step& p, step& next) {
  reads_[static_cast<std::size_t>(p.out[0])] = 0;
  p.out = next.out;
  next.out.clear(), next.in.clear(), next.operands.clear();
  next.kind = plan_step_kind::stop;  // nobody reads what it gave: it is dropped
}

void fuser::run() {
  count();
  for (step& p : s_.steps) {
    const product* kind = product_of(p);
    if (!kind || p.out.size() != 1) continue;
    take_border(p);
    for (step* next = only_reader(p); next && take_next(p, *next); next = only_reader(p)) {
      p.kernel = kind->fused;
      replace_result(p, *next);
    }
  }
}

}  // namespace

std::optional<std::int32_t> operand_of(const step& s, std::string_view name) {
  for (const step::operand& o : s.operands)
    if (o.name == name && o.in.size() == 1 && !o.list) return o.in[0];
  return {};
}

void fuse_steps(sequence& s) { fuser(s).run(); }

}  // namespace kerngrad::graph::detail
