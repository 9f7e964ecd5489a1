// SPDX-License-Identifier: Apache-2.0
// Several threads for one call: bitwise identical results for any number, small work by the caller alone, pools of the
// caller's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <string_view>
#include <vector>

#include "kernels/common/parallel.h"
#include "tests/support/refusal.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;

// Restores the settings at the end of a test.
struct threads_restored {
  ~threads_restored() {
    kg::set_thread_pool({});
    kg::set_num_threads(1);
  }
};

// A pool of plain threads that counts its tasks.
struct counting_pool {
  std::atomic<std::size_t> jobs{0}, tasks{0};
  void operator()(std::size_t count, const std::function<void(std::size_t)>& task) {
    ++jobs;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i; (i = next++) < count; ++tasks) task(i);
    };
    std::thread other(work);
    work();
    other.join();
  }
  kg::thread_pool reference() {
    return [this](std::size_t count, const std::function<void(std::size_t)>& task) { (*this)(count, task); };
  }
};

std::string bytes_of(const tensor& x) {
  return std::string(static_cast<const char*>(x.address()), static_cast<std::size_t>(x.size()) * size_of(x.type()));
}

struct large_work {
  const char* name;
  std::function<tensor()> run;
};

// One piece of work for each way in which launchers split, on sizes that no chunk divides.
std::vector<large_work> all_large_work() {
  const auto normal = [](const kg::shape& dims, int seed) { return kg::random_normal(dims, 0, 1, seed); };
  const auto bytes = [](const kg::shape& dims) {
    return kg::cast(kg::random_uniform(dims, 0, 256, 37), kg::dtype::uint8);
  };
  const tensor flat = normal({300007}, 1), other = normal({300007}, 2);
  const tensor matrix = normal({613, 517}, 3), row = normal({517}, 4), column = normal({613, 1}, 5);
  const tensor cube = normal({7, 301, 203}, 6), wide = normal({3, 150001}, 7);
  const tensor images = normal({1, 129, 131, 31}, 8), batch = normal({5, 75, 77, 32}, 9);
  const tensor filter = normal({3, 3, 31, 1}, 10);
  const tensor indices = kg::cast(kg::random_uniform({2003}, 0, 613, 11), kg::dtype::int32);
  const tensor many = kg::cast(kg::random_uniform({7, 401}, 0, 301, 30), kg::dtype::int32);
  const tensor picked = kg::gather(cube, many, 1, 1), some = indices - 5,
               numbers = kg::cast(normal({2003, 400}, 31) * 1e9, kg::dtype::int32);
  const tensor labels = kg::softmax(normal({613, 517}, 12));
  const tensor one = normal({1, 151, 149, 32}, 19), kernels = normal({3, 3, 32, 40}, 20);
  const tensor filters = normal({5, 5, 32, 1}, 23);
  const tensor digits = normal({64, 28, 28, 1}, 32), strokes = normal({3, 3, 1, 32}, 33), bias = normal({32}, 34);
  const tensor long_rows = normal({2053, 64}, 35), dense = normal({64, 517}, 36);
  const tensor tall = normal({60001, 7}, 26), many_columns = normal({5, 61103}, 27),
               long_row = normal({65536 * 65 + 3}, 24);
  const tensor more_rows = normal({128 * 16 * 65 + 5, 17}, 25), both = kg::complex(matrix, matrix + row);
  const tensor doubles = kg::cast(matrix, kg::dtype::float64), gathered = kg::gather(matrix, indices);
  const tensor transposed = kg::transpose(gathered);
  const tensor holes = kg::where(other > 1, kg::log(flat), flat), floors = kg::floor(flat);
  const auto gather_grad = [](const tensor& dy, const tensor& at, const kg::shape& dims, int axis, int batch) {
    return kg::call<"GatherGrad">(dy, at, kg::attr<"axis">(axis), kg::attr<"batchDims">(batch),
                                  kg::attr<"inputShape">(dims));
  };
  const auto gradient = [](auto f, const tensor& x) {
    return kg::grad([f](const tensor& t) { return kg::sum(f(t)); })(x);
  };
  const auto depthwise = [](const tensor& x, const tensor& w) { return kg::depthwise_conv2d(x, w, {.pad = kg::same}); };
  const auto convolution = [](const tensor& x, const tensor& w) { return kg::conv2d(x, w, {.pad = kg::same}); };
  const auto stepped = [=](auto by) {
    const kg::variable v(flat);
    const std::vector<kg::variable_gradient> gradients = {{v, other}};
    for (int i = 0; i < 2; ++i) by.apply(gradients);
    return v.value();
  };
  constexpr auto gated = kg::fuse([](auto x, auto y) { return x * kg::sigmoid(x) * y + y; });
  constexpr auto gated_sum = kg::fuse([](auto x, auto y) { return kg::sum(x * kg::sigmoid(x) * y + y); });
  constexpr auto gated_mean = kg::fuse([](auto x, auto y) { return kg::mean(x * kg::sigmoid(x) * y, -1); });
  constexpr auto gated_mean_of_one = kg::fuse([](auto x) { return kg::mean(x * kg::sigmoid(x), -1); });
  return {
      {"a fused function", [=] { return gated(flat, other); }},
      {"the gradient of a fused function", [=] { return gated.value_and_grads(flat, other).grads[0]; }},
      {"a fused function of a row", [=] { return gated(matrix, row); }},
      {"a fused function of a column", [=] { return gated(column, matrix); }},
      {"a fused function of long rows", [=] { return gated(wide, normal({3, 1}, 14)); }},
      {"a fused function of a plane", [=] { return gated(cube, normal({301, 1}, 13)); }},
      {"the gradient of a fused function of a row", [=] { return gated.value_and_grads(matrix, row).grads[1]; }},
      {"a fused sum", [=] { return gated_sum(flat, other); }},
      {"a fused sum with its gradient", [=] { return gated_sum.value_and_grads(flat, other).value; }},
      {"the gradient of a fused sum", [=] { return gated_sum.value_and_grads(flat, other).grads[0]; }},
      {"a fused mean of short rows", [=] { return gated_mean(matrix, matrix); }},
      {"the gradient of a fused mean of short rows", [=] { return kg::grad(gated_mean_of_one)(matrix); }},
      {"a fused mean of long rows", [=] { return gated_mean(wide, wide); }},
      {"the gradient of a fused mean of long rows", [=] { return kg::grad(gated_mean_of_one)(wide); }},
      {"add", [=] { return flat + other; }},
      {"add of doubles", [=] { return kg::cast(flat, kg::dtype::float64) + kg::cast(other, kg::dtype::float64); }},
      {"exp", [=] { return kg::exp(flat); }},
      {"less", [=] { return flat < other; }},
      {"clip", [=] { return kg::clip(flat, -1, 1); }},
      {"complex", [=] { return kg::complex(flat, other); }},
      {"add_n", [=] { return kg::add_n(std::vector{flat, other, flat}); }},
      {"a scalar", [=] { return flat * 3; }},
      {"a row", [=] { return matrix + row; }},
      {"a column", [=] { return column - matrix; }},
      {"a plane", [=] { return cube * normal({301, 1}, 13); }},
      {"long rows", [=] { return wide + normal({3, 1}, 14); }},
      {"where", [=] { return kg::where(matrix > 0, matrix, column); }},
      {"sum of all", [=] { return kg::sum(flat); }},
      {"sum of all of odd chunks", [=] { return kg::sum(normal({65536 * 7 + 4097}, 15)); }},
      {"sum of all of more chunks than fit at once", [=] { return kg::sum(normal({65536 * 67 + 1}, 16)); }},
      {"max of all", [=] { return kg::max(flat); }},
      {"mean of all", [=] { return kg::mean(flat); }},
      {"mean of all of more chunks than fit at once", [=] { return kg::mean(long_row); }},
      {"argmax of all", [=] { return kg::argmax(flat); }},
      {"argmin of all with many alike", [=] { return kg::argmin(floors); }},
      {"argmax of all with NaN", [=] { return kg::argmax(holes); }},
      {"sum of rows", [=] { return kg::sum(matrix, 1); }},
      {"sum of columns", [=] { return kg::sum(matrix, 0); }},
      {"sum of columns of doubles", [=] { return kg::sum(doubles, 0); }},
      {"sum of columns of complex numbers", [=] { return kg::sum(both, 0); }},
      {"sum of more rows than fit at once", [=] { return kg::sum(more_rows, 0); }},
      {"mean of narrow columns", [=] { return kg::mean(tall, 0); }},
      {"max of many columns", [=] { return kg::max(many_columns, 0); }},
      {"argmax of columns", [=] { return kg::argmax(matrix, 0); }},
      {"argmin of narrow columns", [=] { return kg::argmin(tall, 0); }},
      {"argmax of many columns", [=] { return kg::argmax(many_columns, 0); }},
      {"sum of bytes", [x = bytes({1000003})] { return kg::sum(x); }},
      {"sum of columns of bytes", [x = bytes({5003, 67})] { return kg::sum(x, 0); }},
      {"sum of narrow columns of bytes", [x = bytes({60001, 7})] { return kg::sum(x, 0); }},
      {"sum of many columns of bytes", [x = bytes({5, 61103})] { return kg::sum(x, 0); }},
      {"sum of the middle", [=] { return kg::sum(cube, 1); }},
      {"sum of first and last", [=] { return kg::sum(cube, {0, 2}); }},
      {"argmax", [=] { return kg::argmax(matrix, 1); }},
      {"softmax", [=] { return kg::softmax(matrix); }},
      {"softmax of the middle", [=] { return kg::softmax(cube, 1); }},
      {"cross entropy", [=] { return kg::softmax_cross_entropy(matrix, labels); }},
      {"cumsum", [=] { return kg::cumsum(cube, 1); }},
      {"max pool", [=] { return kg::max_pool(images, 3, {.strides = 2, .pad = kg::same}); }},
      {"average pool of a batch", [=] { return kg::avg_pool(batch, 3, {.strides = 1, .pad = kg::same}); }},
      {"gradient of max pool", [=] { return gradient([](const tensor& x) { return kg::max_pool(x, 2); }, batch); }},
      {"depthwise", [=] { return kg::depthwise_conv2d(batch, filters, {.strides = 2, .pad = kg::same}); }},
      {"depthwise of stride 1", [=] { return depthwise(images, filter); }},
      {"gradient of depthwise",
       [=] { return gradient([=](const tensor& x) { return depthwise(x, filter); }, images); }},
      {"filter gradient of depthwise",
       [=] { return gradient([=](const tensor& w) { return depthwise(images, w); }, filter); }},
      {"matmul", [=] { return kg::matmul(matrix, kg::transpose(labels)); }},
      {"matmul of one row", [=] { return kg::matmul(normal({1, 3001}, 21), normal({3001, 517}, 22)); }},
      {"matmul of a batch", [=] { return kg::matmul(cube, cube, false, true); }},
      {"convolution", [=] { return convolution(batch, kernels); }},
      {"convolution of one image", [=] { return convolution(one, kernels); }},
      {"gradient of convolution",
       [=] { return gradient([=](const tensor& x) { return convolution(x, kernels); }, batch); }},
      {"filter gradient of convolution",
       [=] { return gradient([=](const tensor& w) { return convolution(batch, w); }, kernels); }},
      {"convolution of small images", [=] { return convolution(digits, strokes); }},
      {"filter gradient of small images",
       [=] { return gradient([=](const tensor& w) { return convolution(digits, w); }, strokes); }},
      {"a fused convolution of small images",
       [=] {
         return kg::fused_conv2d(digits, strokes, {.bias = bias, .activation = kg::activation::relu, .pad = kg::same});
       }},
      {"a fused depthwise convolution",
       [=] { return kg::fused_depthwise_conv2d(images, filter, {.activation = kg::activation::relu}); }},
      {"a fused product",
       [=] { return kg::fused_matmul(long_rows, dense, {.bias = row, .activation = kg::activation::elu}); }},
      {"steps of Sgd", [=] { return stepped(kg::sgd(0.1)); }},
      {"steps of Momentum", [=] { return stepped(kg::momentum(0.1, 0.9)); }},
      {"steps of Adam", [=] { return stepped(kg::adam(0.1)); }},
      {"transpose", [=] { return kg::transpose(matrix); }},
      {"transpose of a cube", [=] { return kg::transpose(cube, {2, 0, 1}); }},
      {"concat", [=] { return kg::concat(std::vector{matrix, labels}, 1); }},
      {"pad", [=] { return kg::pad(cube, {0, 1, 2, 3, 4, 5}); }},
      {"pad of a matrix", [=] { return kg::pad(matrix, {100, 70, 1, 2}, 3); }},
      {"slice", [=] { return kg::slice(cube, {1, 2, 3}, {5, 295, 190}); }},
      {"tile", [=] { return kg::tile(matrix, {1, 3}); }},
      {"reverse", [=] { return kg::reverse(cube); }},
      {"broadcast_to", [=] { return kg::broadcast_to(row, {701, 517}); }},
      {"gather", [=] { return kg::gather(matrix, indices); }},
      {"gather of columns", [=] { return kg::gather(kg::transpose(matrix), indices, 1); }},
      {"gather of batches", [=] { return kg::gather(cube, many, 1, 1); }},
      {"gradient of gather", [=] { return gather_grad(gathered, indices, {613, 517}, 0, 0); }},
      {"gradient of gather of columns", [=] { return gather_grad(transposed, indices, {517, 613}, 1, 0); }},
      {"gradient of gather of batches", [=] { return gather_grad(picked, many, {7, 301, 203}, 1, 1); }},
      {"segments", [=] { return kg::segment_sum(gathered, indices, 599); }},
      {"segments of integers", [=] { return kg::segment_sum(numbers, some, 599); }},
      {"one_hot", [=] { return kg::one_hot(indices, 613); }},
      {"full", [=] { return kg::full({300007}, 2.5); }},
      {"random_normal", [=] { return normal({300007}, 17); }},
      {"random_uniform of doubles", [=] { return kg::random_uniform({300007}, 0, 1, 18, kg::dtype::float64); }},
  };
}

TEST(large_work, has_the_same_bits_for_any_number_of_threads) {
  const threads_restored restored;
  // Without this a chunk that is never computed would have the bits of the run before, whose memory the result takes.
  struct cache_restored {
    std::int64_t before = kg::cache_limit();
    ~cache_restored() { kg::set_cache_limit(before); }
  } const cache;
  kg::set_cache_limit(0);
  for (const large_work& work : all_large_work()) {
    kg::set_num_threads(1);
    const std::string expected = bytes_of(work.run());
    for (int threads : {2, 3, 8}) {
      kg::set_num_threads(threads);
      EXPECT_TRUE(bytes_of(work.run()) == expected) << work.name << " with " << threads << " threads";
    }
  }
}

TEST(large_work, is_split) {
  const threads_restored restored;
  const std::vector<large_work> all = all_large_work();
  counting_pool pool;
  kg::set_thread_pool(pool.reference());
  kg::set_num_threads(2);
  for (const large_work& work : all) {
    const std::size_t before = pool.tasks;
    work.run();
    // A pool of the program's may throw midway; a step happens to all of a variable or to none.
    if (std::string_view(work.name) == "steps of Sgd") EXPECT_EQ(pool.tasks, before);
    else if (!std::string_view(work.name).starts_with("steps of")) EXPECT_GE(pool.tasks - before, 3u) << work.name;
  }
}

TEST(small_work, is_not_split) {
  const threads_restored restored;
  counting_pool pool;
  kg::set_thread_pool(pool.reference());
  kg::set_num_threads(8);
  const tensor x = kg::ones({64, 64});
  kg::exp(x) + x * 2;
  kg::sum(kg::softmax(kg::transpose(x)));
  EXPECT_EQ(pool.jobs, 0u);
}

TEST(one_thread, is_the_default_and_asks_no_pool) {
  const threads_restored restored;
  if (!std::getenv("KERNGRAD_NUM_THREADS")) EXPECT_EQ(kg::num_threads(), 1);
  counting_pool pool;
  kg::set_thread_pool(pool.reference());
  kg::set_num_threads(1);
  kg::exp(kg::ones({1 << 20}));
  EXPECT_EQ(pool.jobs, 0u);
}

TEST(the_number_of_threads, is_checked) {
  const threads_restored restored;
  kg::set_num_threads(3);
  EXPECT_NE(refusal([] { return kg::set_num_threads(-1), 0; }).find("-1 threads"), std::string::npos);
  EXPECT_NE(refusal([] { return kg::set_num_threads(1025), 0; }).find("1024"), std::string::npos);
  EXPECT_EQ(kg::num_threads(), 3) << "a refused number changes nothing";
  kg::set_num_threads(0);
  EXPECT_EQ(kg::num_threads(), static_cast<int>(kerngrad::kernels::cpus_available()));
}

TEST(chunks, are_run_once_each_also_within_chunks_and_from_many_threads) {
  const threads_restored restored;
  kg::set_num_threads(4);
  constexpr std::size_t outer = 23, inner = 17;
  const auto check = [] {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> runs(outer * inner);
      kerngrad::kernels::parallel_chunks(outer, [&](std::size_t i) {
        kerngrad::kernels::parallel_chunks(inner, [&](std::size_t j) { ++runs[i * inner + j]; });
      });
      for (const auto& count : runs) ASSERT_EQ(count, 1);
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) callers.emplace_back(check);
  for (std::thread& caller : callers) caller.join();
}

// True if some job is run by two threads: not every one has to be.
bool two_threads_run() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    std::atomic<int> others{0};
    const std::thread::id here = std::this_thread::get_id();
    kerngrad::kernels::parallel_chunks(20, [&](std::size_t) {
      if (std::this_thread::get_id() != here) ++others;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
    if (others > 0) return true;
  }
  return false;
}

TEST(chunks, are_run_by_several_threads_and_in_order_by_one) {
  const threads_restored restored;
  std::vector<std::size_t> order;
  kerngrad::kernels::parallel_chunks(5, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  kg::set_num_threads(2);
  EXPECT_TRUE(two_threads_run());
}

TEST(threads, round_as_the_caller_does) {
  const threads_restored restored;
  const tensor x = kg::ones({1 << 20});
  const auto raised = [&] {
    std::fesetround(FE_UPWARD);
    const std::string bytes = bytes_of(x + 1e-9);
    std::fesetround(FE_TONEAREST);
    return bytes;
  };
  const std::string expected = raised();
  EXPECT_FALSE(expected == bytes_of(x + 1e-9));
  counting_pool pool;
  for (const kg::thread_pool& run : {kg::thread_pool(), pool.reference()}) {
    kg::set_thread_pool(run);
    kg::set_num_threads(4);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(raised() == expected);
    EXPECT_FALSE(expected == bytes_of(x + 1e-9)) << "and as the next caller";
  }
}

TEST(threads, are_there_again_in_a_forked_process) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer allows a forked process no threads";
#endif
#endif
  const threads_restored restored;
  kg::set_num_threads(2);
  EXPECT_TRUE(two_threads_run());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    _exit(two_threads_run() ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_TRUE(two_threads_run());
}

TEST(a_pool_of_the_callers, that_leaves_tasks_out_is_refused) {
  const threads_restored restored;
  const tensor x = kg::ones({1 << 20});
  kg::set_num_threads(2);
  kg::set_thread_pool([](std::size_t, const std::function<void(std::size_t)>& task) { task(0); });
  EXPECT_NE(refusal([&] { return kg::exp(x); }).find("ran 1 of"), std::string::npos);
  kg::set_thread_pool({});
  EXPECT_EQ(refusal([&] { return kg::exp(x); }), accepted);
}

TEST(a_pool_of_the_callers, that_invents_tasks_or_runs_one_twice_is_refused) {
  const threads_restored restored;
  const tensor x = kg::ones({1 << 20});
  kg::set_num_threads(2);
  const auto all = [](std::size_t count, const std::function<void(std::size_t)>& task) {
    for (std::size_t i = 0; i < count; ++i) task(i);
  };
  kg::set_thread_pool([&](std::size_t count, const std::function<void(std::size_t)>& task) {
    all(count, task);
    task(count), task(~std::size_t{0});
  });
  EXPECT_NE(refusal([&] { return kg::exp(x); }).find("asked 2 times for one that there is not"), std::string::npos);
  kg::set_thread_pool(
      [&](std::size_t count, const std::function<void(std::size_t)>& task) { all(count, task), task(0); });
  EXPECT_NE(refusal([&] { return kg::exp(x); }).find("1 of them again"), std::string::npos);
  kg::set_thread_pool([&](std::size_t count, const std::function<void(std::size_t)>& task) {
    for (std::size_t i = 0; i < count; ++i) task(0);
  });
  EXPECT_NE(refusal([&] { return kg::exp(x); }).find("ran 1 of"), std::string::npos)
      << "as many as there are, but not all";
  kg::set_thread_pool(all);
  EXPECT_EQ(kg::sum(x).item(), 1 << 20);
}

TEST(a_pool_of_the_callers, is_not_asked_by_its_own_tasks) {
  const threads_restored restored;
  static thread_local bool in_task = false;
  int jobs = 0, within = 0;
  kg::set_thread_pool([&](std::size_t count, const std::function<void(std::size_t)>& task) {
    ++(in_task ? within : jobs);
    const bool before = std::exchange(in_task, true);
    for (std::size_t i = 0; i < count; ++i) task(i);
    in_task = before;
  });
  kg::set_num_threads(2);
  const tensor images = kg::ones({16, 28, 28, 32}), filter = kg::ones({3, 3, 32, 64});
  kg::fused_conv2d(images, filter, {.activation = kg::activation::relu, .pad = kg::same});
  EXPECT_GT(jobs, 0);
  EXPECT_EQ(within, 0);
}

TEST(a_pool_of_the_callers, may_throw_to_the_caller_of_the_op) {
  const threads_restored restored;
  kg::set_num_threads(2);
  kg::set_thread_pool(
      [](std::size_t, const std::function<void(std::size_t)>&) { throw std::runtime_error("no pool"); });
  const tensor x = kg::ones({1000});
  const kg::memory_scope scope;
  EXPECT_THROW(kg::ones({1 << 20}), std::runtime_error);
  EXPECT_EQ(scope.leaked().buffers, 0);
  EXPECT_EQ(kg::sum(x).item(), 1000) << "small work does not need it";
}

TEST(a_pool_of_the_callers, is_kept_by_the_calls_that_began_with_it) {
  const threads_restored restored;
  kg::set_num_threads(2);
  const auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> seen = alive;
  kg::set_thread_pool([held = alive, &seen](std::size_t count, const std::function<void(std::size_t)>& task) {
    kg::set_thread_pool({});
    EXPECT_GE(seen.use_count(), 2);
    for (std::size_t i = 0; i < count; ++i) task(i);
  });
  const long before = alive.use_count();
  kg::exp(kg::ones({1 << 20}));
  EXPECT_LT(alive.use_count(), before) << "and let go after them";
}

}  // namespace
