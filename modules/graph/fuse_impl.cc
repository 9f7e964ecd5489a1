// SPDX-License-Identifier: Apache-2.0
// Several calls as one: a convolution or a product takes the border before it, the constants that are added to it or
// that it is multiplied by (a batch norm is both, and goes into the weights), and the activation behind it. Values are
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

const attr_value* attr_of(const step& s, std::string_view name) {
  for (const named_attribute& a : s.attrs)
    if (a.name == name) return &a.value;
  return nullptr;
}
void set_attr(step& s, std::string_view name, const attr_value& value) {
  for (named_attribute& a : s.attrs)
    if (a.name == name) {
      a.value = value;
      return;
    }
  s.attrs.push_back({std::string(name), value});
}
std::string_view text_attr(const step& s, std::string_view name, std::string_view fallback) {
  const attr_value* a = attr_of(s, name);
  return a ? a->as_text() : fallback;
}

// What a fused row is made of, and of which.
struct product {
  std::string_view plain, fused, weights;
};
constexpr product products[] = {{"Conv2D", "FusedConv2D", "filter"},
                                {"DepthwiseConv2dNative", "FusedDepthwiseConv2D", "filter"},
                                {"BatchMatMul", "_FusedMatMul", "b"}};
const product* product_of(const step& s) {
  if (s.kind != step_kind::call) return nullptr;
  for (const product& p : products)
    if (s.kernel == p.plain || s.kernel == p.fused) return &p;
  return nullptr;
}

class fuser {
 public:
  explicit fuser(sequence& s) : s_(s) {}
  void run();

 private:
  const tensor* constant_at(std::int32_t v) const {
    return v < 0 && s_.constants[static_cast<std::size_t>(~v)].x.defined()
               ? &s_.constants[static_cast<std::size_t>(~v)].x
               : nullptr;
  }
  std::int32_t constant(tensor x) {
    s_.constants.push_back({std::move(x), {}});
    return ~static_cast<std::int32_t>(s_.constants.size() - 1);
  }
  void count();
  // The one step that reads the first result of a step, and nothing else does; null: there is none.
  step* only_reader(const step& of);
  const tensor* constant_beside(const step& s, std::int32_t v, bool left = true) const;
  std::optional<tensor> per_channel(const step& p, const tensor& c) const;
  std::optional<std::int64_t> channels(const step& p) const;
  void set_operand(step& s, std::string_view name, std::int32_t v);
  const tensor* bias_of(const step& p, bool& other) const;

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
  return reader.kind == step_kind::call ? &reader : nullptr;
}

// The constant that a step of two operands has beside a value.
const tensor* fuser::constant_beside(const step& s, std::int32_t v, bool left) const {
  if (s.operands.size() != 2 || s.operands[0].in.size() != 1 || s.operands[1].in.size() != 1) return nullptr;
  if (s.operands[0].in[0] == v) return constant_at(s.operands[1].in[0]);
  return left && s.operands[1].in[0] == v ? constant_at(s.operands[0].in[0]) : nullptr;
}

std::optional<std::int64_t> fuser::channels(const step& p) const {
  const product& kind = *product_of(p);
  const step::operand* w = operand_of(p, kind.weights);
  const tensor* x = w ? constant_at(w->in[0]) : nullptr;
  if (!x || x->type() != dtype::float32 || text_attr(p, "dataFormat", "NHWC") != "NHWC") return {};
  if (kind.plain == "BatchMatMul") {
    const attr_value* turned = attr_of(p, "transposeB");
    if (x->rank() != 2) return {};
    return x->dims()[turned && turned->as_bool() ? 0 : 1];
  }
  if (x->rank() != 4) return {};
  return kind.plain == "Conv2D" ? x->dims()[3] : x->dims()[2] * x->dims()[3];
}

// A constant as one value for each channel.
std::optional<tensor> fuser::per_channel(const step& p, const tensor& c) const {
  const std::optional<std::int64_t> count = channels(p);
  if (!count || c.type() != dtype::float32 || c.rank() > 4) return {};
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

// `other`: there is one that is no constant, or not one for each channel.
const tensor* fuser::bias_of(const step& p, bool& other) const {
  const step::operand* bias = operand_of(p, "bias");
  const tensor* x = bias ? constant_at(bias->in[0]) : nullptr;
  other = bias && (!x || !per_channel(p, *x));
  return x;
}

// A border of zeros in height and width.
void fuser::take_border(step& p) {
  const step::operand* x = operand_of(p, "x");
  if (!x || product_of(p)->weights != "filter" || text_attr(p, "pad", "") != "valid") return;
  if (x->in[0] < 0 || reads_[static_cast<std::size_t>(x->in[0])] != 1) return;
  if (text_attr(p, "dataFormat", "NHWC") != "NHWC") return;
  const std::int32_t from = maker_[static_cast<std::size_t>(x->in[0])];
  if (from < 0) return;
  const step& border = s_.steps[static_cast<std::size_t>(from)];
  if (border.kind != step_kind::call || border.kernel != "PadV2" || border.operands.size() != 1) return;
  const attr_value *sizes = attr_of(border, "paddings"), *filled = attr_of(border, "constantValue");
  if (!sizes || sizes->as_list().size() != 8 || (filled && filled->as_number() != 0)) return;
  const std::span<const std::int64_t> at = sizes->as_list();
  if (at[0] || at[1] || at[6] || at[7]) return;
  set_attr(p, "pad", {at[2], at[3], at[4], at[5]});
  set_operand(p, "x", border.operands[0].in[0]);
}

bool fuser::shift(step& p, const tensor& by) {
  bool other = false;
  const tensor* bias = bias_of(p, other);
  const std::optional<tensor> c = per_channel(p, by);
  if (!c || other) return false;
  set_operand(p, "bias", constant(bias ? *per_channel(p, *bias) + *c : *c));
  return true;
}

bool fuser::scale(step& p, const tensor& by) {
  bool other = false;
  const tensor* bias = bias_of(p, other);
  const std::optional<tensor> c = per_channel(p, by);
  if (!c || other) return false;
  const product& kind = *product_of(p);
  const tensor& w = *constant_at(operand_of(p, kind.weights)->in[0]);
  tensor each = *c;
  if (kind.plain == "DepthwiseConv2dNative") each = reshape(each, {w.dims()[2], w.dims()[3]});
  if (kind.plain == "BatchMatMul" && w.dims()[1] != c->size()) each = reshape(each, {c->size(), 1});
  if (bias) set_operand(p, "bias", constant(*per_channel(p, *bias) * *c));
  set_operand(p, kind.weights, constant(w * each));
  return true;
}

bool fuser::normalize(step& p, const step& next) {
  std::vector<tensor> parts;
  for (const std::string_view name : {"mean", "variance", "offset", "scale"}) {
    const step::operand* o = operand_of(next, name);
    const tensor* x = o ? constant_at(o->in[0]) : nullptr;
    const std::optional<tensor> each = x ? per_channel(p, *x) : std::nullopt;
    if (o && !each) return false;
    parts.push_back(each ? *each : tensor());
  }
  if (!parts[0].defined() || !parts[1].defined()) return false;
  const attr_value* epsilon = attr_of(next, "varianceEpsilon");
  tensor factor = rsqrt(parts[1] + (epsilon ? epsilon->as_number() : 0.001));
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
      if (const attr_value* slope = attr_of(next, "alpha"); slope) set_attr(p, "leakyreluAlpha", *slope);
      set_attr(p, "activation", activation);
      return true;
    }
  const step::operand *x = operand_of(next, "x"), *alpha = operand_of(next, "alpha");
  if (next.kernel != "Prelu" || !x || !alpha || x->in[0] != p.out[0]) return false;
  const tensor* slopes = constant_at(alpha->in[0]);
  const std::optional<tensor> each = slopes ? per_channel(p, *slopes) : std::nullopt;
  if (!each) return false;
  set_operand(p, "preluActivationWeights", constant(*each));
  set_attr(p, "activation", "prelu");
  return true;
}

// min(max(x, 0), 6) in either order; max(x, 0).
bool fuser::clamp(step& p, step& next) {
  const bool least_first = next.kernel == "Maximum";
  const tensor* first = constant_beside(next, p.out[0]);
  if (!first || first->size() != 1 || first->item() != (least_first ? 0 : 6)) return false;
  step* second = only_reader(next);
  const bool is_pair = second && second->kernel == (least_first ? "Minimum" : "Maximum");
  const tensor* other = is_pair ? constant_beside(*second, next.out[0]) : nullptr;
  const bool both = other && other->size() == 1 && other->item() == (least_first ? 6 : 0);
  if (!both && !least_first) return false;
  set_attr(p, "activation", both ? "relu6" : "relu");
  if (both) replace_result(next, *second);
  return true;
}

bool fuser::take_next(step& p, step& next) {
  if (text_attr(p, "activation", "linear") != "linear") return false;
  if (!channels(p)) return false;
  if (next.kernel == "Add")
    if (const tensor* c = constant_beside(next, p.out[0])) return shift(p, *c);
  if (next.kernel == "Sub")
    if (const tensor* c = constant_beside(next, p.out[0], false)) return shift(p, -*c);
  if (next.kernel == "Multiply")
    if (const tensor* c = constant_beside(next, p.out[0])) return scale(p, *c);
  if (next.kernel == "RealDiv")
    if (const tensor* c = constant_beside(next, p.out[0], false)) return scale(p, reciprocal(*c));
  if (next.kernel == "FusedBatchNorm") return normalize(p, next);
  if (next.kernel == "Maximum" || next.kernel == "Minimum") return clamp(p, next);
  return activate(p, next);
}

// `next` is done by `p` from now on.
void fuser::replace_result(step& p, step& next) {
  reads_[static_cast<std::size_t>(p.out[0])] = 0;
  p.out = next.out;
  next.out.clear(), next.in.clear(), next.operands.clear();
  next.kind = step_kind::stop;  // nobody reads what it gave: it is dropped
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

const step::operand* operand_of(const step& s, std::string_view name) {
  for (const step::operand& o : s.operands)
    if (o.name == name && o.in.size() == 1 && !o.list) return &o;
  return nullptr;
}

void fuse_steps(sequence& s) { fuser(s).run(); }

}  // namespace kerngrad::graph::detail
