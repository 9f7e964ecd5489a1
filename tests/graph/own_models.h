// SPDX-License-Identifier: Apache-2.0
// Five small networks, as functions that are recorded: what the files in tests/graph/models hold.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/io/files.h"

import kerngrad.graph;

namespace kgtest {

/// Numbers from -0.5 to 0.5 by a hash of their index, the same on every machine.
inline kg::tensor hashed(const kg::shape& dims, std::uint32_t seed) {
  return kg::tensor::build<float>(dims, [&](std::span<float> values) {
    std::uint32_t i = seed * 7919;
    for (float& value : values) value = static_cast<float>((++i * 2654435761u) >> 8) / 16777216.f - 0.5f;
  });
}

/// A function of one tensor, and what to record it with.
struct own_model {
  std::string name;
  kg::tensor example;
  std::function<kg::tensor(const kg::tensor&)> f;
  std::vector<kg::variable> weights;
  kg::graph::model recorded() const { return kg::graph::record(f, example, {.named = weights, .any_batch = true}); }
};

inline own_model dense_model() {
  const kg::variable w1(hashed({6, 8}, 1), "w1"), b1(hashed({8}, 2), "b1"), w2(hashed({8, 3}, 3), "w2");
  return {"dense",
          hashed({2, 6}, 4),
          [=](const kg::tensor& x) { return kg::softmax(kg::matmul(kg::relu(kg::matmul(x, w1) + b1), w2)); },
          {w1, b1, w2}};
}

inline own_model conv_model() {
  const kg::variable w(hashed({3, 3, 2, 4}, 5), "kernel"), b(hashed({4}, 6), "bias"), last(hashed({64, 3}, 7), "last");
  return {"conv",
          hashed({1, 8, 8, 2}, 8),
          [=](const kg::tensor& x) {
            const kg::tensor y = kg::max_pool(
                kg::fused_conv2d(x, w, {.bias = b, .activation = kg::activation::relu, .pad = kg::same}), 2);
            return kg::matmul(kg::reshape(y, {-1, 64}), last);
          },
          {w, b, last}};
}

inline own_model image_model() {
  const kg::variable w(hashed({3, 3, 2, 1}, 9), "depthwise");
  return {"image",
          hashed({1, 6, 6, 2}, 10),
          [=](const kg::tensor& x) {
            const kg::tensor y = kg::sigmoid(kg::depthwise_conv2d(x, w, {.pad = kg::same}));
            return kg::resize_bilinear(kg::concat({x, y}, 3), {3, 4}) * 2 - 1;
          },
          {w}};
}

inline own_model table_model() {
  const kg::variable table(hashed({10, 4}, 11), "table");
  return {"table",
          kg::tensor({3, 0, 9}),
          [=](const kg::tensor& x) { return kg::mean(kg::transpose(kg::gather(table, x), {1, 0}), 0, true); },
          {table}};
}

inline own_model attention_model() {
  const kg::variable q(hashed({4, 4}, 12), "query"), k(hashed({4, 4}, 13), "key"), v(hashed({4, 4}, 14), "value");
  return {"attention",
          hashed({2, 5, 4}, 15),
          [=](const kg::tensor& x) {
            // One call after the other: which operand of a call is computed first is the compiler's choice.
            const auto by = [&](const kg::variable& w) {
              const kg::tensor rows = kg::reshape(x, {-1, 4});
              return kg::reshape(kg::matmul(rows, w), {-1, 5, 4});
            };
            const kg::tensor queries = by(q), keys = by(k);
            const kg::tensor shares = kg::softmax(kg::matmul(queries, kg::transpose(keys, {0, 2, 1})) * 0.5);
            return kg::matmul(shares, by(v));
          },
          {q, k, v}};
}

/// The names of a saved model's weight files.
inline std::vector<std::string> parts_of(const std::string& path) {
  return nlohmann::json::parse(contents(path))["weightsManifest"][0]["paths"].get<std::vector<std::string>>();
}

inline std::vector<own_model> own_models() {
  return {dense_model(), conv_model(), image_model(), table_model(), attention_model()};
}

}  // namespace kgtest
