// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "tests/graph/networks.h"
#include "tests/graph/own_models.h"

namespace kgtest {

namespace {

using kg::tensor;
using tensors = std::span<const tensor>;
using sizes = std::vector<std::int64_t>;

constexpr std::int64_t most_elements = 2000;
constexpr double most_value = 8;  // values beyond are brought back by Tanh

tensor ints_of(const sizes& all, const kg::shape& dims) {
  return kg::tensor(std::vector<std::int32_t>(all.begin(), all.end()), dims);
}

class builder {
 public:
  explicit builder(std::uint64_t seed) : random_(seed) {}
  network build();

 private:
  using rule = bool (builder::*)(std::size_t x);

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(items))))];
  }
  const kg::shape& dims(std::size_t i) const { return values_[i].dims(); }
  std::int64_t channels(std::size_t i) const { return dims(i)[dims(i).rank() - 1]; }
  bool is_image(std::size_t i) const { return dims(i).rank() == 4 && dims(i)[1] > 1 && dims(i)[2] > 1; }
  bool is_near(std::size_t i, double kink) const { return kg::min(kg::abs(values_[i] - kink)).item() < 1e-3; }

  std::size_t add_weight(const kg::shape& dims, double scale = 1, double offset = 0);
  std::string whole_numbers(const sizes& all, const kg::shape& dims);
  std::string whole_numbers(const sizes& all) { return whole_numbers(all, {static_cast<std::int64_t>(all.size())}); }
  // A node that reads items, then constants. False, and no node: its value would be large.
  bool add(std::string_view op, const std::vector<std::size_t>& in, std::function<tensor(tensors)> f,
           const json& attrs = json::object(), const std::vector<std::string>& constants = {});
  std::size_t other_of_shape(std::size_t x);
  std::size_t channel_constant(std::size_t x, double scale, double offset);

  bool convolve(std::size_t x);
  bool convolve_each(std::size_t x);
  bool convolve_channels_first(std::size_t x);
  bool multiply_matrices(std::size_t x);
  bool follow(std::size_t x);
  bool add_bias(std::size_t x);
  bool with_constant(std::size_t x);
  bool normalize(std::size_t x);
  bool activate(std::size_t x);
  bool activate_by_channel(std::size_t x);
  bool clamp(std::size_t x);
  bool smooth(std::size_t x);
  bool with_other(std::size_t x);
  bool sum_of_three(std::size_t x);
  bool put_border(std::size_t x);
  bool turn(std::size_t x);
  bool pool(std::size_t x);
  bool flatten(std::size_t x);
  bool reshape_back(std::size_t x);
  bool join(std::size_t x);
  bool reduce(std::size_t x);

  kg::testkit::stream random_;
  network made_;
  std::vector<tensor> values_;
  std::vector<std::size_t> computed_;  // items that are no weights
};

// ------------------------------------------------------------------------------------------ parts

std::size_t builder::add_weight(const kg::shape& dims, double scale, double offset) {
  const std::string name = "w" + std::to_string(made_.items.size());
  made_.weights.push_back({name, hashed(dims, static_cast<std::uint32_t>(below(1 << 20))) * scale + offset});
  made_.items.push_back({name, {}, {}});
  values_.push_back(made_.weights.back().value);
  return values_.size() - 1;
}

std::string builder::whole_numbers(const sizes& all, const kg::shape& dims) {
  const std::string name = "c" + std::to_string(made_.weights.size());
  made_.weights.push_back({name, ints_of(all, dims)});
  return name;
}

bool builder::add(std::string_view op, const std::vector<std::size_t>& in, std::function<tensor(tensors)> f,
                  const json& attrs, const std::vector<std::string>& constants) {
  std::vector<tensor> operands;
  for (const std::size_t i : in) operands.push_back(values_[i]);
  tensor y = f(operands);
  if (y.size() > most_elements || y.size() == 0) return false;
  const std::string name = std::string(op) + "_" + std::to_string(made_.items.size());
  json node = node_of(name, op, {}, attrs);
  node["attr"]["T"] = type("DT_FLOAT");
  for (const std::size_t i : in) node["input"].push_back(made_.items[i].name);
  for (const std::string& constant : constants) node["input"].push_back(constant);
  if (chance(10)) node["input"].push_back("^" + made_.items[one_of(computed_)].name);
  made_.nodes.push_back(node);
  made_.items.push_back({name, in, std::move(f)});
  values_.push_back(std::move(y));
  computed_.push_back(values_.size() - 1);
  if (kg::max(kg::abs(values_.back())).item() > most_value)
    return add("Tanh", {values_.size() - 1}, [](tensors x) { return kg::tanh(x[0]); });
  return true;
}

std::size_t builder::other_of_shape(std::size_t x) {
  std::vector<std::size_t> all;
  for (const std::size_t i : computed_)
    if (dims(i) == dims(x)) all.push_back(i);
  return one_of(all);
}

// One number, or one for each channel, with as many axes in front as there may be.
std::size_t builder::channel_constant(std::size_t x, double scale, double offset) {
  const int rank = dims(x).rank();
  sizes all;
  if (!chance(20)) all.assign(static_cast<std::size_t>(1 + below(rank)), 1);
  if (!all.empty() && !chance(20)) all.back() = channels(x);
  if (chance(10)) all.assign(dims(x).begin(), dims(x).end());
  if (chance(5) && rank < 4) all.insert(all.begin(), static_cast<std::size_t>(rank + 1) - all.size(), 1);
  return add_weight(kg::shape(all), scale, offset);
}

// ------------------------------------------------------------------------------------------ products

json window_attrs(std::int64_t strides, std::int64_t dilations, bool is_same) {
  return {{"strides", wholes({1, strides, strides, 1})},
          {"dilations", wholes({1, dilations, dilations, 1})},
          {"padding", text(is_same ? "SAME" : "VALID")},
          {"data_format", text("NHWC")}};
}

bool builder::convolve(std::size_t x) {
  if (!is_image(x)) return false;
  const std::int64_t k = 1 + below(2), s = 1 + below(2), d = s == 1 && k == 2 && dims(x)[1] > 2 ? 1 + below(2) : 1;
  const bool is_same = chance(60) || std::min(dims(x)[1], dims(x)[2]) <= d * (k - 1);
  const kg::conv_options how{
      .strides = s, .pad = is_same ? kg::padding(kg::same) : kg::padding(kg::valid), .dilations = d};
  const std::size_t w = add_weight({k, k, channels(x), 1 + below(5)});
  return add("Conv2D", {x, w}, [=](tensors t) { return kg::conv2d(t[0], t[1], how); }, window_attrs(s, d, is_same));
}

bool builder::convolve_each(std::size_t x) {
  if (!is_image(x)) return false;
  const std::int64_t k = 1 + below(2), s = 1 + below(2);
  const bool is_same = chance(60);
  const kg::conv_options how{.strides = s, .pad = is_same ? kg::padding(kg::same) : kg::padding(kg::valid)};
  const std::size_t w = add_weight({k, k, channels(x), 1 + below(2)});
  return add(
      "DepthwiseConv2dNative", {x, w}, [=](tensors t) { return kg::depthwise_conv2d(t[0], t[1], how); },
      window_attrs(s, 1, is_same));
}

// As converters from frameworks with channels first write it: turned before and after.
bool builder::convolve_channels_first(std::size_t x) {
  if (dims(x).rank() != 4) return false;
  const auto turned = [&](std::size_t from, const sizes& order) {
    return add("Transpose", {from}, [=](tensors t) { return kg::transpose(t[0], order); }, json::object(),
               {whole_numbers(order)});
  };
  if (!turned(x, {0, 2, 3, 1}) || !(chance(70) ? convolve(computed_.back()) : convolve_each(computed_.back())))
    return true;
  if (chance(30)) activate(computed_.back());
  return turned(computed_.back(), {0, 3, 1, 2});
}

bool builder::multiply_matrices(std::size_t x) {
  const int rank = dims(x).rank();
  if (rank != 2 && rank != 3) return false;
  const bool is_turned = chance(50);
  const std::int64_t from = channels(x), to = chance(40) ? from : 1 + below(6);
  const std::size_t w = add_weight(is_turned ? kg::shape{to, from} : kg::shape{from, to});
  const bool is_plain = rank == 2 && chance(70);
  return add(is_plain ? "MatMul" : "BatchMatMulV2", {x, w},
             [=](tensors t) { return kg::matmul(t[0], t[1], false, is_turned); },
             {{is_plain ? "transpose_b" : "adj_y", flag(is_turned)}});
}

// A product and what it may be joined with.
bool builder::follow(std::size_t x) {
  static constexpr rule products[] = {&builder::convolve, &builder::convolve_each, &builder::multiply_matrices};
  static constexpr rule followers[] = {&builder::add_bias,      &builder::with_constant, &builder::with_constant,
                                       &builder::with_constant, &builder::normalize,     &builder::clamp,
                                       &builder::activate};
  if (!(this->*one_of(products))(x)) return false;
  for (std::int64_t more = 1 + below(4); more > 0; --more) (this->*one_of(followers))(computed_.back());
  return true;
}

// ------------------------------------------------------------------------------------------ what follows products

bool builder::add_bias(std::size_t x) {
  if (dims(x).rank() < 2) return false;
  const std::size_t b = add_weight({channels(x)});
  return add("BiasAdd", {x, b}, [](tensors t) { return t[0] + t[1]; }, {{"data_format", text("NHWC")}});
}

bool builder::with_constant(std::size_t x) {
  static constexpr std::string_view ops[] = {"AddV2", "Sub", "Mul", "RealDiv"};
  const std::string_view op = one_of(ops);
  const std::size_t c = channel_constant(x, op == "RealDiv" ? 0.5 : 1, op == "RealDiv" ? 1 : 0.25);
  std::vector<std::size_t> in{x, c};
  if (op != "RealDiv" && chance(30)) std::swap(in[0], in[1]);
  if (op == "AddV2") return add(op, in, [](tensors t) { return t[0] + t[1]; });
  if (op == "Sub") return add(op, in, [](tensors t) { return t[0] - t[1]; });
  if (op == "Mul") return add(op, in, [](tensors t) { return t[0] * t[1]; });
  return add(op, in, [](tensors t) { return t[0] / t[1]; });
}

bool builder::normalize(std::size_t x) {
  if (dims(x).rank() != 4) return false;
  const kg::shape each{channels(x)};
  const std::size_t scale = add_weight(each, 1, 1), offset = add_weight(each), mean = add_weight(each),
                    variance = add_weight(each, 1, 1);
  return add("FusedBatchNormV3", {x, scale, offset, mean, variance},
             [](tensors t) {
               return kg::call<"FusedBatchNorm">(t[0], t[3], t[4], t[2], t[1], kg::attr<"varianceEpsilon">(0.01));
             },
             {{"epsilon", number(0.01)}, {"is_training", flag(false)}, {"data_format", text("NHWC")}});
}

bool builder::activate(std::size_t x) {
  switch (below(7)) {
    case 0: return !is_near(x, 0) && add("Relu", {x}, [](tensors t) { return kg::relu(t[0]); });
    case 1: return !is_near(x, 0) && !is_near(x, 6) && add("Relu6", {x}, [](tensors t) { return kg::relu6(t[0]); });
    case 2: return add("Elu", {x}, [](tensors t) { return kg::elu(t[0]); });
    case 3: return add("Sigmoid", {x}, [](tensors t) { return kg::sigmoid(t[0]); });
    case 4:
      return !is_near(x, 0) &&
             add("LeakyRelu", {x}, [](tensors t) { return kg::leaky_relu(t[0], 0.3); }, {{"alpha", number(0.3)}});
    case 5: return !is_near(x, 0) && activate_by_channel(x);
    default: return add("Tanh", {x}, [](tensors t) { return kg::tanh(t[0]); });
  }
}

bool builder::activate_by_channel(std::size_t x) {
  const std::size_t alpha = add_weight({channels(x)});
  return add("Prelu", {x, alpha}, [](tensors t) { return kg::prelu(t[0], t[1]); });
}

// Maximum with 0 and Minimum with 6, both or one, in either order.
bool builder::clamp(std::size_t x) {
  if (is_near(x, 0) || is_near(x, 6)) return false;
  const bool least_first = chance(60);
  for (const bool is_least : {least_first, !least_first}) {
    const std::size_t bound = add_weight(chance(80) ? kg::shape{} : kg::shape{1, 1}, 0, is_least ? 0 : 6);
    const std::size_t from = is_least == least_first ? x : computed_.back();
    const bool is_first = chance(70);
    const std::vector<std::size_t> in = is_first ? std::vector{from, bound} : std::vector{bound, from};
    if (is_least ? !add("Maximum", in, [](tensors t) { return kg::maximum(t[0], t[1]); })
                 : !add("Minimum", in, [](tensors t) { return kg::minimum(t[0], t[1]); }))
      return false;
    if (chance(20)) break;
  }
  return true;
}

// ------------------------------------------------------------------------------------------ all else

bool builder::smooth(std::size_t x) {
  switch (below(7)) {
    case 0: return add("Softplus", {x}, [](tensors t) { return kg::softplus(t[0]); });
    case 1: return add("Square", {x}, [](tensors t) { return kg::square(t[0]); });
    case 2: return add("Neg", {x}, [](tensors t) { return -t[0]; });
    case 3: return add("Sin", {x}, [](tensors t) { return kg::sin(t[0]); });
    case 4: return add("Identity", {x}, [](tensors t) { return t[0]; });
    case 5: return add("StopGradient", {x}, [](tensors t) { return kg::stop_gradient(t[0]); });
    default: return dims(x).rank() > 0 && add("Softmax", {x}, [](tensors t) { return kg::softmax(t[0]); });
  }
}

bool builder::with_other(std::size_t x) {
  const std::size_t y = other_of_shape(x);
  switch (below(4)) {
    case 0: return add("AddV2", {x, y}, [](tensors t) { return t[0] + t[1]; });
    case 1: return add("Sub", {x, y}, [](tensors t) { return t[0] - t[1]; });
    case 2: return add("SquaredDifference", {x, y}, [](tensors t) { return kg::square(t[0] - t[1]); });
    default: return add("Mul", {x, y}, [](tensors t) { return t[0] * t[1]; });
  }
}

bool builder::sum_of_three(std::size_t x) {
  const std::vector<std::size_t> in{x, other_of_shape(x), other_of_shape(x)};
  return add("AddN", in, [](tensors t) { return t[0] + t[1] + t[2]; }, {{"N", whole(3)}});
}

bool builder::put_border(std::size_t x) {
  if (dims(x).rank() != 4) return false;
  const bool is_inside = chance(80);  // of height and width alone
  sizes pairs;
  for (int i = 0; i < 8; ++i) pairs.push_back((i >= 2 && i < 6) || !is_inside ? below(2) : 0);
  const double value = chance(70) ? 0 : 0.5;
  const std::string paddings = whole_numbers(pairs, {4, 2});
  const auto f = [=](tensors t) { return kg::pad(t[0], pairs, value); };
  if (value == 0) return add("Pad", {x}, f, json::object(), {paddings});
  const std::string name = "v" + std::to_string(made_.items.size());
  const json element{{"dtype", "DT_FLOAT"}, {"tensorShape", json::object()}, {"floatVal", std::vector{value}}};
  made_.nodes.push_back(node_of(name, "Const", {}, {{"dtype", type("DT_FLOAT")}, {"value", {{"tensor", element}}}}));
  return add("PadV2", {x}, f, json::object(), {paddings, name});
}

bool builder::turn(std::size_t x) {
  const int rank = dims(x).rank();
  if (rank < 2) return false;
  static const std::vector<sizes> of_images{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}};
  sizes order = one_of(of_images);
  if (rank == 2) order = {1, 0};
  if (rank == 3) order = {0, 2, 1};
  return rank <= 4 && add("Transpose", {x}, [=](tensors t) { return kg::transpose(t[0], order); }, json::object(),
                          {whole_numbers(order)});
}

bool builder::pool(std::size_t x) {
  if (!is_image(x)) return false;
  const json attrs{{"ksize", wholes({1, 2, 2, 1})}, {"strides", wholes({1, 2, 2, 1})}, {"padding", text("VALID")}};
  if (chance(60)) return add("AvgPool", {x}, [](tensors t) { return kg::avg_pool(t[0], 2); }, attrs);
  made_.has_kinks = true;
  return add("MaxPool", {x}, [](tensors t) { return kg::max_pool(t[0], 2); }, attrs);
}

bool builder::flatten(std::size_t x) {
  if (dims(x).rank() < 3) return false;
  const sizes to = chance(60) ? sizes{dims(x)[0], -1} : sizes{dims(x)[0], -1, channels(x)};
  return add("Reshape", {x},
             [=](tensors t) {
               return kg::call<"Reshape">(t[0], kg::attr<"shape">(kg::attr_value(std::span<const std::int64_t>(to))));
             },
             json::object(), {whole_numbers(to)});
}

bool builder::reshape_back(std::size_t x) {
  if (dims(x).rank() == 4) return false;
  const sizes to{1, -1, 2, 2};
  if (dims(x).size() % 4 != 0) return false;
  return add("Reshape", {x},
             [=](tensors t) {
               return kg::call<"Reshape">(t[0], kg::attr<"shape">(kg::attr_value(std::span<const std::int64_t>(to))));
             },
             json::object(), {whole_numbers(to)});
}

bool builder::join(std::size_t x) {
  const int rank = dims(x).rank();
  if (rank == 0) return false;
  std::vector<std::size_t> in{x, chance(70) ? other_of_shape(x) : add_weight(dims(x))};
  if (chance(30)) std::swap(in[0], in[1]);
  const std::int64_t axis = below(2 * rank) - rank;
  return add("ConcatV2", in, [=](tensors t) { return kg::concat({t[0], t[1]}, axis); }, {{"N", whole(2)}},
             {whole_numbers({axis}, {})});
}

bool builder::reduce(std::size_t x) {
  const int rank = dims(x).rank();
  if (rank < 2) return false;
  const std::int64_t axis = below(rank);
  const bool keep = chance(60);
  const json attrs{{"keep_dims", flag(keep)}};
  const std::string axes = whole_numbers({axis});
  if (chance(50)) return add("Mean", {x}, [=](tensors t) { return kg::mean(t[0], axis, keep); }, attrs, {axes});
  if (chance(60)) return add("Sum", {x}, [=](tensors t) { return kg::sum(t[0], axis, keep); }, attrs, {axes});
  made_.has_kinks = true;
  return add("Max", {x}, [=](tensors t) { return kg::max(t[0], axis, keep); }, attrs, {axes});
}

network builder::build() {
  static constexpr rule rules[] = {
      &builder::follow,       &builder::follow,       &builder::follow,        &builder::follow,
      &builder::follow,       &builder::convolve,     &builder::convolve_each, &builder::convolve_channels_first,
      &builder::add_bias,     &builder::activate,     &builder::with_constant, &builder::multiply_matrices,
      &builder::normalize,    &builder::clamp,        &builder::smooth,        &builder::with_other,
      &builder::sum_of_three, &builder::put_border,   &builder::turn,          &builder::pool,
      &builder::flatten,      &builder::reshape_back, &builder::join,          &builder::reduce};
  const kg::shape dims = chance(75) ? kg::shape{1 + below(2), 3 + below(4), 3 + below(4), 1 + below(4)}
                                    : kg::shape{1 + below(4), 1 + below(8)};
  made_.nodes.push_back(input_of("x"));
  made_.items.push_back({"x", {}, {}});
  made_.example = hashed(dims, static_cast<std::uint32_t>(below(1 << 20))) * 2;
  values_.push_back(made_.example);
  computed_.push_back(0);
  const std::size_t wanted = 2 + static_cast<std::size_t>(below(16));
  for (int tries = 0; tries < 200 && computed_.size() < wanted + 1; ++tries) {
    const std::size_t x = chance(75) ? computed_.back() : one_of(computed_);
    (this->*one_of(rules))(x);
  }
  if (computed_.size() == 1) smooth(0);
  return std::move(made_);
}

}  // namespace

std::vector<std::string> network::computed() const {
  std::vector<std::string> all;
  for (const item& i : items)
    if (i.f) all.push_back(i.name);
  return all;
}

std::vector<tensor> network::values(const tensor& x, std::span<const tensor> given) const {
  std::vector<tensor> all;
  std::size_t next = 0;
  for (const item& i : items) {
    if (all.empty()) {
      all.push_back(x);
    } else if (!i.f) {
      all.push_back(given[next++]);
    } else {
      std::vector<tensor> operands;
      for (const std::size_t k : i.in) operands.push_back(all[k]);
      all.push_back(i.f(operands));
    }
  }
  return all;
}

network random_network(std::uint64_t seed) { return builder(seed).build(); }

}  // namespace kgtest
