// SPDX-License-Identifier: Apache-2.0
// The demo's networks in libtorch 1.13: the same layers in the same order, the same initial distribution, Adam on
// shuffled batches, and the demo's line for each epoch. tools/bench/epochs.py runs both in turns.
//
//   peer_train_torch MODEL EPOCHS THREADS [LIMIT]    MODEL is cnn or mlp, LIMIT the number of images that are used
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "tools/demo/idx.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr const char* data_folder = "/usr/share/datasets/fashion-mnist";
constexpr std::int64_t batch = 64;

struct dataset {
  Tensor images;  // float32 [n, 784], from 0 to 1
  Tensor labels;  // int64 [n]

  explicit dataset(demo::image_set set) {
    const std::int64_t n = set.count();
    images = torch::from_blob(set.pixels.data(), {n, demo::image_pixels}, torch::kUInt8).to(torch::kFloat) / 255;
    labels = torch::from_blob(set.labels.data(), {n}, torch::kUInt8).to(torch::kLong);
  }
};

// max(x, 0)^2, on the dense layer of 128 units.
Tensor squared_relu(const Tensor& x) { return torch::relu(x).square(); }

struct network : nn::Module {
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear dense1{nullptr}, dense2{nullptr};
  bool convolves;

  explicit network(bool with_convolutions) : convolves(with_convolutions) {
    if (convolves) {
      conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)));
      conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)));
    }
    dense1 = register_module("dense1", nn::Linear(convolves ? 7 * 7 * 64 : demo::image_pixels, 128));
    dense2 = register_module("dense2", nn::Linear(128, demo::class_count));
    const torch::NoGradGuard no_tape;
    for (auto& named : named_parameters()) {
      if (named.key().find("bias") != std::string::npos) named.value().zero_();
      else nn::init::kaiming_normal_(named.value());
    }
  }

  static Tensor convolved(const Tensor& images, nn::Conv2d& with) {
    return torch::max_pool2d(torch::relu(with(images)), 2);
  }
  Tensor forward(Tensor x) {
    if (convolves) {
      x = convolved(x.view({-1, 1, demo::image_side, demo::image_side}), conv1);
      x = convolved(x, conv2).flatten(1);
    }
    return dense2(squared_relu(dense1(x)));
  }
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The mean loss of an epoch of whole batches.
double train(network& net, torch::optim::Adam& optimizer, const dataset& data) {
  const Tensor order = torch::randperm(data.images.size(0));
  const std::int64_t steps = data.images.size(0) / batch;
  double sum = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor rows = order.slice(0, step * batch, (step + 1) * batch);
    const Tensor images = data.images.index_select(0, rows), labels = data.labels.index_select(0, rows);
    optimizer.zero_grad();
    const Tensor loss = torch::cross_entropy_loss(net.forward(images), labels);
    loss.backward();
    optimizer.step();
    sum += loss.item<float>();
  }
  return sum / static_cast<double>(std::max<std::int64_t>(steps, 1));
}

double accuracy(network& net, const dataset& data) {
  const torch::NoGradGuard no_tape;
  constexpr std::int64_t at_once = 250;
  std::int64_t right = 0;
  for (std::int64_t first = 0; first < data.images.size(0); first += at_once) {
    const std::int64_t last = std::min(first + at_once, data.images.size(0));
    const Tensor best = net.forward(data.images.slice(0, first, last)).argmax(1);
    right += best.eq(data.labels.slice(0, first, last)).sum().item<std::int64_t>();
  }
  return static_cast<double>(right) / static_cast<double>(data.images.size(0));
}

void run(const std::string& model, int epochs, int threads, std::int64_t limit) {
  at::set_num_threads(threads);
  torch::manual_seed(1);
  const dataset train_data(demo::read_images(data_folder, "train", limit));
  const dataset test_data(demo::read_images(data_folder, "t10k", limit));
  network net(model == "cnn");
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    const double loss = train(net, optimizer, train_data);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double used = processor_seconds() - processor;
    std::printf("epoch %d/%d  loss %.4f  test accuracy %.4f  %.2f s (%.2f s of processors)\n", epoch, epochs, loss,
                accuracy(net, test_data), seconds, used);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "";
  if (argc < 4 || argc > 5 || (model != "cnn" && model != "mlp")) {
    std::fprintf(stderr, "usage: %s cnn|mlp EPOCHS THREADS [LIMIT]\n", argv[0]);
    return 2;
  }
  try {
    run(model, std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atoll(argv[4]) : 0);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
  return 0;
}
