// SPDX-License-Identifier: Apache-2.0
// Values with their gradients: what the tape costs, and a training step.
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

kg::tensor drawn(int operand_index, const kg::shape& dims, float low = -2, float high = 2) {
  const auto n = static_cast<std::size_t>(dims.size());
  return kg::tensor(std::span<const float>(cases::floats(operand_index, n, low, high), n), dims);
}

void add_chain(std::size_t length) {
  const auto chain = [length](const kg::tensor& x) {
    kg::tensor y = x;
    for (std::size_t i = 0; i < length; ++i) y = y * x;
    return y;
  };
  const kg::tensor x({0.99f});
  cases::add("chain_value_grad", length, [=] {
    return [x, f = kg::value_and_grad(chain)]() mutable { benchmark::DoNotOptimize(f(x).grad.address()); };
  });
}

void add_scalar() {
  constexpr auto f = [](const kg::tensor& x) { return kg::sin(x) * x + kg::exp(x); };
  const kg::tensor x({0.7f});
  cases::add("scalar_value", 1, [=] { return [=] { benchmark::DoNotOptimize(f(x).address()); }; });
  cases::add("scalar_value_grad", 1, [=] {
    return [x, g = kg::value_and_grad(f)]() mutable { benchmark::DoNotOptimize(g(x).grad.address()); };
  });
}

// The same expressions as fused functions; a number is computed by inlined scalar code.
void add_fused() {
  cases::add("scalar_value_grad@fused", 1, [] {
    constexpr auto f = kg::fuse([](auto x) { return kg::sin(x) * x + kg::exp(x); });
    return [f, x = 0.7f]() mutable {
      benchmark::DoNotOptimize(x);
      const auto both = f.value_and_grads(x);
      benchmark::DoNotOptimize(both.value);
      benchmark::DoNotOptimize(both.grads[0]);
    };
  });
  constexpr std::int64_t n = 64000;
  cases::add("gelu4_value_grad@fused", 64000, [] {
    constexpr auto f = kg::fuse([](auto x, auto w, auto z) { return kg::sum(x * kg::sigmoid(x) * w + z); });
    return [f, x = drawn(0, {n}), w = drawn(1, {n}), z = drawn(2, {n})] {
      const auto both = f.value_and_grads<0, 1>(x, w, z);
      benchmark::DoNotOptimize(both.value.address());
      benchmark::DoNotOptimize(both.grads[0].address());
    };
  });
}

// Value and gradient written by hand, as the compiler vectorizes them.
void add_scalar_by_hand() {
  cases::add("scalar_value_grad@by_hand", 1, [] {
    return [x = 0.7f]() mutable {
      benchmark::DoNotOptimize(x);
      const float sine = std::sin(x), cosine = std::cos(x), power = std::exp(x);
      benchmark::DoNotOptimize(sine * x + power);
      benchmark::DoNotOptimize(cosine * x + sine + power);
    };
  });
}

// The sum of x * sigmoid(x) * w + z with the gradients of x and w.
void add_gelu4() {
  constexpr std::int64_t n = 64000;
  cases::add("gelu4_value_grad", 64000, [] {
    const kg::tensor z = drawn(2, {n});
    auto f = kg::value_and_grads(
        [z](const kg::tensor& x, const kg::tensor& w) { return kg::sum(x * kg::sigmoid(x) * w + z); });
    return
        [f, x = drawn(0, {n}), w = drawn(1, {n})]() mutable { benchmark::DoNotOptimize(f(x, w).grads[0].address()); };
  });
}

// Attention of eight heads, and the gradients of its sum with weights.
void add_attention() {
  const kg::shape dims{8, 512, 64};
  cases::add("attention", "8x512x64", [=] {
    return [q = drawn(0, dims), k = drawn(1, dims), v = drawn(2, dims)] {
      benchmark::DoNotOptimize(kg::scaled_dot_product_attention(q, k, v).address());
    };
  });
  cases::add("attention_value_grad", "8x512x64", [=] {
    auto f = kg::value_and_grads([w = drawn(3, dims)](const kg::tensor& q, const kg::tensor& k, const kg::tensor& v) {
      return kg::sum(kg::scaled_dot_product_attention(q, k, v) * w);
    });
    return [f, q = drawn(0, dims), k = drawn(1, dims), v = drawn(2, dims)]() mutable {
      benchmark::DoNotOptimize(f(q, k, v).grads[0].address());
    };
  });
}

// Two layers on a batch of 64, cross entropy, plain gradient descent.
struct perceptron {
  kg::tensor images = drawn(0, {64, 784}, 0, 1);
  kg::tensor labels = kg::one_hot(kg::tensor(std::span<const std::int32_t>(cases::indices(64, 10), 64), {64}), 10);
  kg::variable w1{drawn(1, {784, 128}, -0.05f, 0.05f)}, b1{drawn(2, {128}, -0.01f, 0.01f)};
  kg::variable w2{drawn(3, {128, 10}, -0.1f, 0.1f)}, b2{drawn(4, {10}, -0.01f, 0.01f)};
  kg::sgd descent{0.001};

  kg::tensor loss() const {
    const kg::tensor hidden = kg::relu(kg::matmul(images, w1) + b1);
    return kg::mean(kg::softmax_cross_entropy(kg::matmul(hidden, w2) + b2, labels));
  }
};

void add_perceptron() {
  cases::add("mlp_step", "64x784-128-10", [] {
    return [net = std::make_shared<perceptron>()] {
      benchmark::DoNotOptimize(net->descent.minimize([&] { return net->loss(); }).address());
    };
  });
}

}  // namespace

void add_gradient_cases() {
  for (const std::size_t length : {10, 100}) add_chain(length);
  add_scalar();
  add_scalar_by_hand();
  add_fused();
  add_gelu4();
  add_attention();
  add_perceptron();
}
