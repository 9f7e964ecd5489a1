// SPDX-License-Identifier: Apache-2.0
// The examples of docs/threads.md: several threads for one call, the library's own or the program's, and a long call
// that is stopped.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

import kerngrad;

namespace {

// Any pool will do that runs every task once and returns after the last.
void run_on_my_threads(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < count;) task(i);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < kg::num_threads(); ++i) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

bool same_bits(const kg::tensor& a, const kg::tensor& b) {
  return std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * 4) == 0;
}

}  // namespace

int main() {
  const kg::tensor x = kg::random_normal({1 << 20}, 0, 1, 7);
  const kg::tensor alone = kg::softmax(kg::exp(x));

  kg::set_num_threads(4);  // 0: as many as there are CPUs
  const kg::tensor together = kg::softmax(kg::exp(x));
  if (!same_bits(alone, together)) return EXIT_FAILURE;

  kg::set_thread_pool(run_on_my_threads);
  const kg::tensor on_mine = kg::softmax(kg::exp(x));
  kg::set_thread_pool({});
  if (!same_bits(alone, on_mine)) return EXIT_FAILURE;

  const auto f = [](const kg::tensor& v) { return kg::sin(kg::exp(v)); };
  try {
    const kg::stop_scope stop(std::chrono::milliseconds(50));
    kg::jacobian(f)(kg::ones({30'000}));  // would take minutes
    return EXIT_FAILURE;
  } catch (const kg::stopped& e) {
    std::puts(e.what());
  }

  std::puts("the same bits from 1 thread, 4 threads and a pool of the program's");
}
