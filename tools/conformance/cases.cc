// SPDX-License-Identifier: Apache-2.0
// Forward, gradient and optimizer cases.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

outcome failed(std::string why) { return {verdict::failed, std::move(why)}; }

// Checks requirements of every case of a kernel before it runs.
void check_applicable(const json& line) {
  require_kernel(line.at("kernel").get_ref<const std::string&>());
  if (line.value("note", "") == "deviates") throw skip_case{"deviates"};
}

// dtype and shape, for results that are drawn at random.
std::string signature_difference(const kg::tensor& actual, const json& expected) {
  const kg::shape dims(expected.at("shape").get<std::vector<std::int64_t>>());
  const std::string wanted = fmt::format("{} {}", expected.at("dtype").get<std::string>(), kg::to_string(dims));
  return text_of(actual) == wanted ? std::string() : fmt::format("got {}, expected {}", text_of(actual), wanted);
}

}  // namespace

// ------------------------------------------------------------------------------------------ sums

namespace {

constexpr const char* cancelling = "terms that cancel below the resolution of float32";

// |x| in double precision.
kg::tensor magnitude(const kg::tensor& x) { return kg::abs(kg::cast(x, kg::dtype::float64)); }

bool has_gradient(const kg::tensor& x) { return kg::differentiable.has(x.type()); }

// True if the kernel's results and gradients are sums of products of elements, so that magnitudes in place of all
// elements give the sums of the terms' magnitudes. For a maximum, say, they give something else.
bool sums_products(const kg::op_row& row) {
  const bool linear = row.name == "Sum" || row.name == "Mean" || row.name == "Cumsum";
  const bool convolution = row.attr_index("dilations") >= 0 && !row.name.starts_with("Dilation");
  return linear || convolution || row.group == kg::family::matmul || row.group == kg::family::fused ||
         row.group == kg::family::move;
}

kernel_call magnitudes_of(kernel_call call) {
  for (kg::named_operand& operand : call.operands)
    for (kg::tensor& x : operand.tensors)
      if (has_gradient(x)) x = magnitude(x);
  return call;
}

// For each element of result k the sum of its terms' magnitudes; undefined where the kernel makes no such sums.
kg::tensor term_sums(const kernel_call& call, int k) {
  const kg::op_row* row = row_of(call.kernel);
  return row && sums_products(*row) ? kg::abs(magnitudes_of(call).run()[k]) : kg::tensor();
}

}  // namespace

// ------------------------------------------------------------------------------------------ forward

namespace {

// The reference's backward convolutions read whatever dy they get. A dy that no forward call gives says nothing about
// the gradient, and the rows reject it.
void check_dy_fits(const kernel_call& call) {
  const std::size_t at = call.kernel.find("Backprop");
  if (at == std::string::npos || !row_of(call.kernel.substr(0, at))) return;
  kernel_call forward{call.kernel.substr(0, at)};
  const auto zeros = [](const kg::attr_value& sizes) { return kg::zeros(kg::shape(sizes.as_list())); };
  for (const kg::named_attribute& item : call.attrs) {
    if (item.name == "inputShape") forward.operands.emplace_back("x", zeros(item.value));
    else if (item.name == "filterShape") forward.operands.emplace_back("filter", zeros(item.value));
    else forward.attrs.push_back(item);
  }
  const kg::tensor* dy = nullptr;
  for (const kg::named_operand& operand : call.operands) {
    if (operand.name == "dy") dy = &operand.tensors[0];
    else forward.operands.push_back(operand);
  }
  if (dy && !(forward.run().front().dims() == dy->dims())) throw skip_case{"dy is not of the result's shape"};
}

// Means of int32 are float64 here, which loses nothing, and float32 there: they are compared as the latter.
kg::tensor in_dtype_of(const kg::tensor& expected, const kernel_call& call, const kg::tensor& got) {
  const kg::op_row* row = row_of(call.kernel);
  const bool wider = row && row->types.before == kg::lift::quotients && got.type() == kg::dtype::float64;
  return wider && expected.type() == kg::dtype::float32 ? kg::cast(got, kg::dtype::float32) : got;
}

}  // namespace

outcome run_forward(const json& line) {
  check_applicable(line);
  const kernel_call call = call_of(line);
  check_dy_fits(call);
  const json& expected = line.at("outputs");
  const bool drawn = line.value("nondeterministic", false);
  std::vector<kg::tensor> wanted;
  if (!drawn)
    for (const json& output : expected) wanted.push_back(tensor_of(output));
  const kg::tensor_list got = call.run();
  if (static_cast<std::size_t>(got.size()) != expected.size())
    return failed(fmt::format("got {} results, expected {}", got.size(), expected.size()));
  bool cancelled = false;
  for (int k = 0; k < got.size(); ++k) {
    const std::size_t at = static_cast<std::size_t>(k);
    const std::string text =
        drawn ? signature_difference(got[k], expected[at])
              : difference(in_dtype_of(wanted[at], call, got[k]), wanted[at], tolerance_of(call.kernel));
    if (text.empty()) continue;
    const kg::tensor sums = drawn ? kg::tensor() : term_sums(call, k);
    if (!sums.defined() || !cancels(got[k], wanted[at], sums))
      return failed(expected.size() > 1 ? fmt::format("result {}: {}", k, text) : text);
    cancelled = true;
  }
  if (cancelled) throw skip_case{cancelling};
  return {verdict::passed, drawn ? "nondeterministic: only dtype and shape compared" : ""};
}

// ------------------------------------------------------------------------------------------ gradient

namespace {

// An operand that a gradient is asked for, and its place in the call.
struct place {
  std::size_t operand, index;
  std::string key;  // in "grads"
};

std::vector<place> differentiable_places(const kernel_call& call, const json& grads, bool& others) {
  std::vector<place> places;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const kg::named_operand& operand = call.operands[i];
    for (std::size_t j = 0; j < operand.tensors.size(); ++j) {
      const std::string key = operand.name.empty() ? std::to_string(j) : operand.name;
      if (!grads.contains(key)) continue;
      if (has_gradient(operand.tensors[j])) places.push_back({i, j, key});
      else others = true;
    }
  }
  return places;
}

// The results against the dy of each, as one number: its gradient is the one that was recorded. Results of other
// dtypes are cast, so that one which does not depend smoothly on its operands gives zeros.
kg::tensor weighted(const kg::tensor_list& results, std::span<const kg::tensor> dy) {
  kg::tensor total;
  for (int k = 0; k < results.size(); ++k) {
    const kg::tensor& weight = dy[static_cast<std::size_t>(k)];
    const kg::tensor part = kg::sum(kg::cast(results[k], weight.type()) * weight);
    total = total.defined() ? total + part : part;
  }
  return total;
}

std::string dy_difference(const kg::tensor_list& results, std::span<const kg::tensor> dy) {
  if (static_cast<std::size_t>(results.size()) != dy.size())
    return fmt::format("got {} results, expected {}", results.size(), dy.size());
  for (int k = 0; k < results.size(); ++k) {
    const kg::tensor& weight = dy[static_cast<std::size_t>(k)];
    if (!(results[k].dims() == weight.dims()))
      return fmt::format("result {} is {}, its dy {}", k, text_of(results[k]), text_of(weight));
  }
  return {};
}

std::vector<kg::tensor> gradients(const kernel_call& call, std::span<const place> places,
                                  std::span<const kg::tensor> dy, bool direct) {
  std::vector<kg::tensor> xs;
  for (const place& at : places) xs.push_back(call.operands[at.operand].tensors[at.index]);
  const auto f = [&](std::span<const kg::tensor> leaves) {
    kernel_call traced = call;
    for (std::size_t i = 0; i < places.size(); ++i)
      traced.operands[places[i].operand].tensors[places[i].index] = leaves[i];
    kg::tensor_list results = traced.run();
    return direct ? results.front() : weighted(results, dy);
  };
  return kg::value_and_grads_of(f, xs, direct ? dy[0] : kg::tensor()).grads;
}

// The elements of a tensor of a result's shape summed up as an operand is broadcast to it.
kg::tensor collected(const kg::tensor& terms, const kg::shape& dims) {
  std::vector<std::int64_t> over;
  const int missing = terms.rank() - dims.rank();
  for (int axis = 0; axis < terms.rank(); ++axis)
    if (axis < missing || dims[axis - missing] != terms.dims()[axis]) over.push_back(axis);
  return over.empty() ? terms : kg::reshape(kg::sum(terms, over), dims);
}

// For each element of a gradient the sum of its terms' magnitudes; undefined where it is no such sum. An operand of an
// elementwise kernel that is broadcast has one term for each element that it meets: those of the operand in full.
kg::tensor gradient_term_sums(const kernel_call& call, std::span<const place> places, std::size_t i,
                              std::span<const kg::tensor> dy, bool direct) {
  const kg::op_row* row = row_of(call.kernel);
  std::vector<kg::tensor> wide_dy;
  const auto widened = [&](const auto& change) {
    for (const kg::tensor& item : dy) wide_dy.push_back(change(item));
  };
  if (row && sums_products(*row)) {
    widened(magnitude);
    return kg::abs(gradients(magnitudes_of(call), places, wide_dy, direct)[i]);
  }
  const kg::shape own = call.operands[places[i].operand].tensors[places[i].index].dims();
  if (!row || !row->is_binary() || dy.size() != 1 || own == dy[0].dims()) return {};
  const auto in_double = [](const kg::tensor& x) { return kg::cast(x, kg::dtype::float64); };
  widened(in_double);
  kernel_call full = call;
  for (kg::named_operand& operand : full.operands)
    for (kg::tensor& x : operand.tensors)
      if (has_gradient(x)) x = in_double(x);
  kg::tensor& spread = full.operands[places[i].operand].tensors[places[i].index];
  spread = kg::broadcast_to(spread, dy[0].dims());
  return collected(kg::abs(gradients(full, places, wide_dy, direct)[i]), own);
}

}  // namespace

outcome run_gradient(const json& line) {
  check_applicable(line);
  const kernel_call call = call_of(line);
  std::vector<kg::tensor> dy;
  for (const json& item : line.at("dy")) dy.push_back(tensor_of(item));
  const json& grads = line.at("grads");
  bool others = false;
  const std::vector<place> places = differentiable_places(call, grads, others);
  const bool noted = line.value("note", "") == "integer-operand";
  if (places.empty()) throw skip_case{noted ? "integer-operand" : "no floating operand: nothing has a gradient"};

  const kg::tensor_list results = call.run();
  if (std::string text = dy_difference(results, dy); !text.empty()) return failed(std::move(text));
  const bool direct = dy.size() == 1 && results.front().type() == dy[0].type();
  const std::vector<kg::tensor> got = gradients(call, places, dy, direct);
  std::int64_t dy_size = 0;
  for (const kg::tensor& item : dy) dy_size += item.size();
  bool cancelled = false;
  const std::optional<kg::tensor> departing = departing_gradient(line);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const kg::tensor wanted = departing ? *departing : tensor_of(grads.at(places[i].key));
    // An operand with fewer elements than the results collects several of their gradients in one sum.
    const tolerance within = wanted.size() < dy_size ? by_sum : tolerance_of(call.kernel);
    const std::string text = difference(got[i], wanted, within);
    if (text.empty()) continue;
    const kg::tensor sums = gradient_term_sums(call, places, i, dy, direct);
    if (!sums.defined() || !cancels(got[i], wanted, sums))
      return failed(fmt::format("gradient of {}: {}", places[i].key, text));
    cancelled = true;
  }
  if (cancelled) throw skip_case{cancelling};
  if (departing) return {verdict::passed, "another convention at a kink: compared with kerngrad's gradient"};
  return {verdict::passed, others ? "integer and bool operands: no gradient compared" : ""};
}

// ------------------------------------------------------------------------------------------ optimizers

namespace {

std::unique_ptr<kg::optimizer> optimizer_of(const std::string& name, const json& config) {
  const auto number = [&](const char* key) { return number_of(config.at(key)); };
  const auto truth = [&](const char* key) { return config.at(key).get<bool>(); };
  const double rate = number("learningRate");
  if (name == "SGD") return std::make_unique<kg::sgd>(rate);
  if (name == "Momentum") return std::make_unique<kg::momentum>(rate, number("momentum"), truth("useNesterov"));
  if (name == "Adagrad") return std::make_unique<kg::adagrad>(rate, number("initialAccumulatorValue"));
  if (name == "Adadelta") return std::make_unique<kg::adadelta>(rate, number("rho"), number("epsilon"));
  if (name == "Adam") return std::make_unique<kg::adam>(rate, number("beta1"), number("beta2"), number("epsilon"));
  if (name == "Adamax")
    return std::make_unique<kg::adamax>(rate, number("beta1"), number("beta2"), number("epsilon"), number("decay"));
  if (name == "RMSProp")
    return std::make_unique<kg::rms_prop>(rate, number("decay"), number("momentum"), number("epsilon"),
                                          truth("centered"));
  throw skip_case{"optimizer absent"};
}

}  // namespace

outcome run_optimizer(const json& line) {
  const auto stepper = optimizer_of(line.at("optimizer"), line.at("config"));
  const json& constants = line.at("objective");
  const auto constant = [&](const char* key) { return number_of(constants.at(key)); };
  const double ax = constant("ax"), tx = constant("tx"), ay = constant("ay"), ty = constant("ty"), k = constant("k");
  const kg::variable x(tensor_of(line.at("init").at("x")), "x"), y(tensor_of(line.at("init").at("y")), "y");
  const auto loss = [&] {
    const kg::tensor vx = x, vy = y;
    return kg::sum(kg::square(vx - tx)) * ax + kg::sum(kg::square(vy - ty)) * ay + kg::sum(vy * vx) * k;
  };
  int number = 0;
  for (const json& step : line.at("steps")) {
    const auto at = [&](const std::string& what) { return fmt::format("step {}, {}: ", number, what); };
    ++number;
    const kg::variable_gradients walked = kg::variable_grads(loss);
    const kg::tensor wanted_loss({static_cast<float>(number_of(step.at("loss")))}, kg::shape{});
    if (std::string text = difference(walked.value, wanted_loss, by_sum); !text.empty())
      return failed(at("loss") + text);
    for (const kg::variable_gradient& item : walked.grads) {
      const kg::tensor wanted = tensor_of(step.at("grads").at(item.of.name()));
      if (std::string text = difference(item.grad, wanted, by_sum); !text.empty())
        return failed(at("gradient of " + item.of.name()) + text);
    }
    if (walked.grads.size() != 2) return failed(at("gradients") + "not one for each of the 2 variables");
    stepper->apply(walked.grads);
    for (const kg::variable& v : {x, y})
      if (std::string text = difference(v.value(), tensor_of(step.at("after").at(v.name())), by_sum); !text.empty())
        return failed(at(v.name() + " after") + text);
  }
  return {};
}

}  // namespace conformance
