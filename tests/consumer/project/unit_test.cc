// SPDX-License-Identifier: Apache-2.0
// GoogleTest and -pthread next to the import.
#include <gtest/gtest.h>

#include <thread>
#include <vector>
import kerngrad;

TEST(consumer, trains_in_every_thread) {
  std::vector<double> losses(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    threads.emplace_back([&losses, i] {
      const kg::tensor x = kg::random_normal({8, 3}, 0, 1, 11 + i);
      kg::variable w(kg::zeros({3, 1}), "w");
      kg::sgd optimizer(0.1);
      for (int step = 0; step < 50; ++step)
        losses[i] = optimizer.minimize([&] { return kg::mean(kg::square(kg::matmul(x, w) - 1)); }).item();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (double loss : losses) EXPECT_LT(loss, 1.0);
}

TEST(consumer, catches_the_one_exception_type) {
  const kg::tensor a = kg::ones({2, 3});
  EXPECT_THROW(kg::matmul(a, a), kg::error);
  EXPECT_THROW((void)a.data<double>(), std::runtime_error);
}
