// SPDX-License-Identifier: Apache-2.0
// One thread against several, in turns: `ratio` is what several take of the time of one. KERNGRAD_NUM_THREADS says how
// many; all CPUs by default. `free` is measured as the machine is; `busy` with every other CPU kept at work, where
// several threads must not be slower than one.
#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "bench/paired.h"
#include "kernels/common/parallel.h"
import kerngrad;

namespace {

using kg::tensor;

struct work {
  const char* name;
  std::int64_t n;
  std::function<tensor()> run;
};

std::vector<work> all_work() {
  std::vector<work> all;
  for (std::int64_t n : {std::int64_t{1000}, std::int64_t{1} << 16, std::int64_t{1} << 17, std::int64_t{1} << 18,
                         std::int64_t{1000000}, std::int64_t{16000000}}) {
    const tensor x = kg::random_uniform({n}, 0.1, 0.9, 1), y = kg::random_uniform({n}, 0.1, 0.9, 2);
    all.push_back({"add", n, [=] { return x + y; }});
    all.push_back({"exp", n, [=] { return kg::exp(x); }});
    all.push_back({"tanh", n, [=] { return kg::tanh(x); }});
    all.push_back({"scalar", n, [=] { return x * 2; }});
    all.push_back({"sum", n, [=] { return kg::sum(x); }});
    all.push_back({"mean", n, [=] { return kg::mean(x); }});
    all.push_back({"argmax", n, [=] { return kg::argmax(x); }});
    all.push_back({"random_normal", n, [=] { return kg::random_normal({n}, 0, 1, 3); }});
    if (n % 1000) continue;
    const tensor rows = kg::reshape(x, {n / 1000, 1000});
    all.push_back({"softmax", n, [=] { return kg::softmax(rows); }});
    all.push_back({"transpose", n, [=] { return kg::transpose(rows); }});
    all.push_back({"sum_columns", n, [=] { return kg::sum(rows, 0); }});
    all.push_back({"argmax_columns", n, [=] { return kg::argmax(rows, 0); }});
  }
  for (std::int64_t width : {std::int64_t{32}, std::int64_t{256}, std::int64_t{1024}}) {
    const std::int64_t count = 1000000 / width;
    const tensor rows = kg::random_uniform({count, width}, 0, 1, 6);
    const tensor ids = kg::cast(kg::random_uniform({count}, 0, 5000, 7), kg::dtype::int32);
    all.push_back({"segment_sum", width, [=] { return kg::segment_sum(rows, ids, 5000); }});
    all.push_back({"tall_sum_columns", width, [=] { return kg::sum(rows, 0); }});
  }
  const tensor image = kg::random_uniform({1, 112, 112, 64}, 0, 1, 4),
               filter = kg::random_uniform({3, 3, 64, 1}, 0, 1, 5);
  all.push_back({"depthwise", image.size(), [=] { return kg::depthwise_conv2d(image, filter, {.pad = kg::same}); }});
  all.push_back({"max_pool", image.size(), [=] { return kg::max_pool(image, 2); }});
  // Cut by pixels and, where there are fewer of these, by channels; n is the result's.
  for (const auto& [side, from, to] : {std::array{56, 64, 128}, std::array{8, 272, 1632}, std::array{8, 1632, 272}}) {
    const tensor pixels = kg::random_uniform({1, side, side, from}, 0, 1, 8);
    const tensor weights = kg::random_uniform({1, 1, from, to}, 0, 1, 9), bias = kg::random_uniform({to}, 0, 1, 10);
    const kg::fused_conv_options relu{.bias = bias, .activation = kg::activation::relu};
    all.push_back(
        {"fused_conv2d", std::int64_t{side} * side * to, [=] { return kg::fused_conv2d(pixels, weights, relu); }});
  }
  return all;
}

// Threads that do nothing but run.
class load {
 public:
  explicit load(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        while (!done_.load(std::memory_order_relaxed)) benchmark::DoNotOptimize(this);
      });
  }
  ~load() {
    done_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const int many = kg::num_threads() > 1 ? kg::num_threads() : static_cast<int>(kerngrad::kernels::cpus_available());
  benchmark::AddCustomContext("threads", std::to_string(many));
  for (const work& w : all_work())
    for (const bool busy : {false, true}) {
      const std::string name = std::string(w.name) + (busy ? "/busy" : "/free") + "/n:" + std::to_string(w.n);
      benchmark::RegisterBenchmark(name.c_str(), [w, busy, many](benchmark::State& state) {
        const load others(busy ? kerngrad::kernels::cpus_available() - 1 : 0);
        kgbench::paired(
            state, [&] { kg::set_num_threads(1), benchmark::DoNotOptimize(w.run()); },
            [&] { kg::set_num_threads(many), benchmark::DoNotOptimize(w.run()); });
        kg::set_num_threads(1);
      });
    }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
