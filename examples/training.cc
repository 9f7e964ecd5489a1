// SPDX-License-Identifier: Apache-2.0
// The examples of docs/training.md: a small classifier, trained, interrupted and resumed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

import kerngrad;

namespace {

// Points of the plane by the ring that they lie in.
struct data_set {
  kg::tensor points, rings;
};
data_set rings(kg::generator& rng) {
  const kg::tensor points = rng.uniform({600, 2}, -1, 1);
  const kg::tensor radius = kg::sqrt(kg::sum(points * points, 1));
  return {points, kg::cast(radius > 0.5, kg::dtype::int32) + kg::cast(radius > 0.9, kg::dtype::int32)};
}

struct network {
  kg::variable hidden, bias, last;
  explicit network(kg::generator& rng)
      : hidden(kg::he_normal(rng, {2, 32}), "hidden"),
        bias(kg::zeros({32}), "bias"),
        last(kg::glorot_uniform(rng, {32, 3}), "last") {}
  std::vector<kg::variable> variables() const { return {hidden, bias, last}; }
  kg::tensor logits(const kg::tensor& x) const { return kg::matmul(kg::relu(kg::matmul(x, hidden) + bias), last); }
};

kg::adam_w make_optimizer(const network& net) {
  kg::adam_w optimizer(kg::warm_up(10, kg::cosine_schedule(0.02, 200)), 0.9, 0.999, 1e-7, 0.01);
  optimizer.add_group({net.bias}, {.weight_decay = 0});
  return optimizer;
}

// One pass over the data; the mean loss of its batches.
double train(const network& net, kg::optimizer& optimizer, const data_set& data, kg::generator& rng) {
  double total = 0;
  const auto epoch = kg::batches({.size = 64, .shuffle = &rng}, data.points, data.rings);
  for (const auto& [x, y] : epoch) {
    const auto loss = [&] { return kg::softmax_cross_entropy_loss(y, net.logits(x), {.label_smoothing = 0.02}); };
    auto [value, grads] = kg::variable_grads(loss);
    kg::clip_by_global_norm(grads, 1);
    optimizer.apply(grads);
    total += value.item();
  }
  return total / static_cast<double>(epoch.size());
}

bool same_bits(const kg::tensor& a, const kg::tensor& b) {
  return std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * 4) == 0;
}

// Everything that training goes on with, as a program may write it to a file.
using checkpoint = std::map<std::string, kg::tensor>;

checkpoint saved(const network& net, const kg::optimizer& optimizer, const kg::generator& rng) {
  const kg::named_tensors state = optimizer.state();
  checkpoint all(state.begin(), state.end());
  for (const kg::variable& v : net.variables()) all["value/" + v.name()] = v;
  all["generator"] = rng.state();
  return all;
}

void restore(checkpoint all, const network& net, kg::optimizer& optimizer, kg::generator& rng) {
  rng.set_state(all.extract("generator").mapped());
  for (const kg::variable& v : net.variables()) v.assign(all.extract("value/" + v.name()).mapped());
  optimizer.set_state(all, net.variables());
}

bool resumes() {
  kg::generator rng(7), other(1);
  const data_set data = rings(rng);
  const network net(rng), resumed(other);
  kg::adam_w optimizer = make_optimizer(net), fresh = make_optimizer(resumed);
  train(net, optimizer, data, rng);
  restore(saved(net, optimizer, rng), resumed, fresh, other);
  train(net, optimizer, data, rng);
  train(resumed, fresh, data, other);
  return same_bits(net.hidden.value(), resumed.hidden.value()) && same_bits(net.last.value(), resumed.last.value());
}

// Parameters as a struct, in the style of JAX.
struct line {
  kg::tensor slope, intercept;
};

}  // namespace

template <>
struct kg::tree_members<line> {
  static auto of(auto& l) { return std::tie(l.slope, l.intercept); }
};

namespace {

line fitted(const kg::tensor& x, const kg::tensor& y) {
  const auto loss = [&](const line& l) { return kg::mean(kg::square(l.slope * x + l.intercept - y)); };
  line at{kg::tensor(0.f), kg::tensor(0.f)};
  for (int i = 0; i < 200; ++i) {
    const line slope = kg::grad(loss)(at);
    at = kg::tree_map([](const kg::tensor& p, const kg::tensor& g) { return p - g * 0.3; }, at, slope);
  }
  return at;
}

}  // namespace

int main() {
  kg::generator rng(7);
  const data_set data = rings(rng);
  const network net(rng);
  kg::adam_w optimizer = make_optimizer(net);
  double loss = 0;
  for (int epoch = 0; epoch < 20; ++epoch) loss = train(net, optimizer, data, rng);
  const kg::tensor right = kg::argmax(net.logits(data.points), 1) == data.rings;
  const double accuracy = kg::mean(kg::cast(right, kg::dtype::float32)).item();
  std::printf("loss %.3f, accuracy %.3f\n", loss, accuracy);
  if (!(accuracy > 0.85) || !resumes()) return EXIT_FAILURE;

  const kg::tensor x = kg::linspace(-1, 1, 50);
  const line found = fitted(x, x * 3 - 1);
  if (std::fabs(found.slope.item() - 3) > 1e-3 || std::fabs(found.intercept.item() + 1) > 1e-3) return EXIT_FAILURE;
}
