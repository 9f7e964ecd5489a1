// SPDX-License-Identifier: Apache-2.0
// Fused layers next to their product alone and their parts one by one: what the bias and the activation cost.
#include <functional>
#include <string>

#include "bench/support.h"
import kerngrad;

namespace {

struct layer {
  std::string name;
  std::function<kg::tensor()> product, fused, parts;
};

layer matrices(std::int64_t m, std::int64_t k, std::int64_t n) {
  const kg::tensor a = kg::random_normal({m, k}, 0, 1, 1), b = kg::random_normal({k, n}, 0, 1, 2);
  const kg::tensor bias = kg::random_normal({n}, 0, 1, 3);
  return {"_FusedMatMul/" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
          [=] { return kg::matmul(a, b); },
          [=] { return kg::fused_matmul(a, b, {.bias = bias, .activation = kg::activation::relu}); },
          [=] { return kg::relu(kg::matmul(a, b) + bias); }};
}

layer images(std::int64_t size, std::int64_t channels, std::int64_t out, std::int64_t batch = 1) {
  const kg::tensor x = kg::random_normal({batch, size, size, channels}, 0, 1, 1);
  const kg::tensor w = kg::random_normal({3, 3, channels, out}, 0, 1, 2), bias = kg::random_normal({out}, 0, 1, 3);
  return {"FusedConv2D/" + std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
              std::to_string(channels) + "to" + std::to_string(out),
          [=] { return kg::conv2d(x, w, {.pad = kg::same}); },
          [=] { return kg::fused_conv2d(x, w, {.bias = bias, .activation = kg::activation::relu, .pad = kg::same}); },
          [=] { return kg::relu(kg::conv2d(x, w, {.pad = kg::same}) + bias); }};
}

layer depthwise(std::int64_t size, std::int64_t channels) {
  const kg::tensor x = kg::random_normal({1, size, size, channels}, 0, 1, 1);
  const kg::tensor w = kg::random_normal({3, 3, channels, 1}, 0, 1, 2), bias = kg::random_normal({channels}, 0, 1, 3);
  return {"FusedDepthwiseConv2D/" + std::to_string(size) + "x" + std::to_string(size) + "x" + std::to_string(channels),
          [=] { return kg::depthwise_conv2d(x, w, {.pad = kg::same}); },
          [=] {
            return kg::fused_depthwise_conv2d(x, w,
                                              {.bias = bias, .activation = kg::activation::relu6, .pad = kg::same});
          },
          [=] { return kg::relu6(kg::depthwise_conv2d(x, w, {.pad = kg::same}) + bias); }};
}

void measure(const std::string& name, const kerngrad::kernels::target& target, const std::function<kg::tensor()>& run) {
  benchmark::RegisterBenchmark(name.c_str(), [run, target](benchmark::State& state) {
    if (!kgbench::pin(state, target)) return;
    for (auto _ : state) benchmark::DoNotOptimize(run());
  });
}

}  // namespace

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const kgbench::selection& chosen) {
    for (const layer& l : {matrices(1, 8, 8), matrices(64, 784, 128), matrices(512, 512, 512), matrices(4096, 64, 256),
                           matrices(2048, 256, 1024), images(56, 64, 64), images(112, 16, 64), images(7, 64, 64, 64),
                           depthwise(56, 64), depthwise(14, 512)})
      for (const auto& target : chosen.targets) {
        const std::string of = "/target:" + std::string(target.name);
        measure(l.name + "/product" + of, target, l.product);
        measure(l.name + "/fused" + of, target, l.fused);
        measure(l.name + "/parts" + of, target, l.parts);
      }
  });
}
