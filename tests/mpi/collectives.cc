// SPDX-License-Identifier: Apache-2.0
// The ops on 1 to 4 ranks: every dtype, empty and odd sizes, other communicators, and wrong calls.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "tests/mpi/ranks.h"

namespace {

using namespace kgtest;

std::vector<kg::dtype> dtypes_in(kg::dtype_set set) {
  std::vector<kg::dtype> all;
  for (int t = 0; t < kg::dtype_count; ++t)
    if (const auto type = static_cast<kg::dtype>(t); set.has(type)) all.push_back(type);
  return all;
}
const std::vector<kg::dtype> sums = dtypes_in(kg::numeric | kg::complex_only), ordered = dtypes_in(kg::numeric);
// No element, one, fewer than ranks, an odd number, and so many that each rank adds up a part.
const kg::shape shapes[] = {{}, {0}, {1}, {3}, {2, 5}, {4, 0, 2}, {1031}, {50, 700}};

const auto plus = [](double a, double b) { return a + b; };

TEST(all_reduce, gives_sums_in_every_dtype_and_size) {
  for (kg::dtype type : sums)
    for (const kg::shape& dims : shapes)
      EXPECT_EQ(values(mpi::all_reduce(mine(dims, type))), folded(dims, type, plus))
          << name_of(type) << to_string(dims);
}

TEST(all_reduce, gives_means_of_floats) {
  for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64, kg::dtype::complex64})
    for (const kg::shape& dims : shapes) {
      const doubles got = values(mpi::all_reduce(mine(dims, type), mpi::reduction::mean));
      const doubles sum = folded(dims, type, plus);
      ASSERT_EQ(got.size(), sum.size());
      for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(got[i], sum[i] / ranks(), 1e-5 * (1 + sum[i]));
    }
}

TEST(all_reduce, gives_extremes) {
  for (kg::dtype type : ordered)
    for (const kg::shape& dims : shapes) {
      EXPECT_EQ(values(mpi::all_reduce(mine(dims, type), mpi::reduction::max)),
                folded(dims, type, [](double a, double b) { return std::max(a, b); }));
      EXPECT_EQ(values(mpi::all_reduce(mine(dims, type), mpi::reduction::min)),
                folded(dims, type, [](double a, double b) { return std::min(a, b); }));
    }
}

TEST(all_reduce, adds_halves_in_float32_and_rounds_once) {
  // 2048 + 1 is 2048 in float16: added one by one, the ones would be lost.
  const tensor x = kg::cast(tensor({rank() == 0 ? 2048.f : 1.f}), kg::dtype::float16);
  const double wanted = ranks() == 1 ? 2048 : ranks() == 2 ? 2048 : ranks() == 3 ? 2050 : 2052;
  EXPECT_EQ(values(mpi::all_reduce(x)), doubles{wanted});
}

TEST(all_reduce, adds_in_the_order_of_the_ranks_whatever_the_size) {
  // Numbers whose sum depends on the order: the oracle adds them one rank after the other.
  const auto of = [](int r, std::int64_t n) {
    return kg::random_normal({n}, 0, 1, 7 + r) * std::pow(10., 3 * (r % 2));
  };
  for (std::int64_t n : {5, 1000, 4096, 30011}) {
    tensor wanted = of(0, n);
    for (int r = 1; r < ranks(); ++r) wanted = wanted + of(r, n);
    const tensor got = mpi::all_reduce(of(rank(), n)), again = mpi::all_reduce(of(rank(), n));
    EXPECT_EQ(std::memcmp(got.address(), wanted.address(), static_cast<std::size_t>(n) * 4), 0) << n;
    EXPECT_EQ(std::memcmp(got.address(), again.address(), static_cast<std::size_t>(n) * 4), 0) << n;
  }
}

TEST(reduce, gives_the_sum_on_the_root_and_zeros_elsewhere) {
  for (int root = 0; root < ranks(); ++root)
    for (const kg::shape& dims : shapes) {
      doubles wanted = folded(dims, kg::dtype::float64, plus);
      if (rank() != root) std::ranges::fill(wanted, 0);
      EXPECT_EQ(values(mpi::reduce(mine(dims), root)), wanted) << root << to_string(dims);
    }
}

TEST(broadcast, gives_the_array_of_each_root) {
  for (kg::dtype type : sums)
    for (int root = 0; root < ranks(); ++root)
      for (const kg::shape& dims : shapes)
        EXPECT_EQ(values(mpi::broadcast(mine(dims, type), root)), values(x_of(root, dims, type)));
}

TEST(broadcast, keeps_calls_apart_where_the_root_is_ahead) {
  mpi::set_checked(false);  // its messages would hold the root back
  for (int call = 0; call < 300; ++call) {
    // Readers fall behind now and then. The root meets them only where an array is too large for the shared memory of
    // small ones.
    if (rank() != 0 && call % 25 == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::int64_t count = call % 25 == 24 ? 4000 : 7;
    const tensor got = mpi::broadcast(kg::full({count}, rank() == 0 ? call : -1.0));
    EXPECT_EQ(values(got), doubles(static_cast<std::size_t>(count), call));
  }
  mpi::set_checked(true);
}

TEST(all_gather, joins_the_arrays_along_the_first_axis) {
  for (const kg::shape& dims : shapes) {
    doubles wanted;
    for (int r = 0; r < ranks(); ++r)
      for (double each : values(x_of(r, dims))) wanted.push_back(each);
    const tensor got = mpi::all_gather(mine(dims));
    EXPECT_EQ(values(got), wanted);
    EXPECT_EQ(got.dims()[0], (dims.rank() == 0 ? 1 : dims[0]) * ranks());
  }
  const tensor flags = mpi::all_gather(tensor({rank() % 2 == 0}));
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(flags.data<bool>()[static_cast<std::size_t>(r)], r % 2 == 0);
}

TEST(reduce_scatter, gives_each_rank_its_part_of_the_sum) {
  for (std::int64_t rows : {1, 3, 700}) {
    const kg::shape dims{rows * ranks(), 5};
    const doubles sum = folded(dims, kg::dtype::float64, plus);
    const auto begin = sum.begin() + rank() * rows * 5;
    EXPECT_EQ(values(mpi::reduce_scatter(mine(dims))), doubles(begin, begin + rows * 5));
    const tensor mean = mpi::reduce_scatter(mine(dims), mpi::reduction::mean);
    EXPECT_EQ(values(mean * ranks()).size(), static_cast<std::size_t>(rows * 5));
    EXPECT_NEAR(values(mean)[0], *begin / ranks(), 1e-12);
  }
}

TEST(all_to_all, sends_part_r_to_rank_r) {
  const std::int64_t rows = 3;
  const kg::shape dims{rows * ranks(), 2};
  doubles wanted;
  for (int r = 0; r < ranks(); ++r) {
    const doubles theirs = values(x_of(r, dims));
    wanted.insert(wanted.end(), theirs.begin() + rank() * rows * 2, theirs.begin() + (rank() + 1) * rows * 2);
  }
  EXPECT_EQ(values(mpi::all_to_all(mine(dims))), wanted);
}

TEST(send_recv, moves_arrays_around_a_ring_and_along_a_line) {
  const int right = (rank() + 1) % ranks(), left = (rank() + ranks() - 1) % ranks();
  for (const kg::shape& dims : shapes)
    EXPECT_EQ(values(mpi::send_recv(mine(dims), right, left)), values(x_of(left, dims)));
  const tensor line = mpi::send_recv(mine({4}), rank() + 1 < ranks() ? rank() + 1 : -1, rank() - 1);
  EXPECT_EQ(values(line), rank() == 0 ? doubles(4, 0.0) : values(x_of(rank() - 1, {4})));
}

TEST(barrier, gives_its_operand) {
  mpi::barrier();
  EXPECT_EQ(values(mpi::barrier(mine({3}))), values(mine({3})));
}

TEST(communicators, are_split_and_duplicated) {
  const mpi::communicator all, even = all.split(rank() % 2), copy = all.duplicate();
  EXPECT_EQ(even.size(), (ranks() + (rank() % 2 == 0 ? 1 : 0)) / 2);
  EXPECT_EQ(copy.rank(), all.rank());
  EXPECT_FALSE(copy == all);
  double wanted = 0;
  for (int r = rank() % 2; r < ranks(); r += 2) wanted += r + 1;
  EXPECT_EQ(mpi::all_reduce(tensor({rank() + 1.0}), mpi::reduction::sum, even).item(), wanted);
  EXPECT_EQ(mpi::all_reduce(tensor({1.0}), mpi::reduction::sum, copy).item(), ranks());
  const mpi::communicator reversed = all.split(0, -rank());
  EXPECT_EQ(reversed.rank(), ranks() - 1 - rank());
}

TEST(ops, are_called_by_name_once_they_are_registered) {
  mpi::register_ops();
  EXPECT_EQ(kg::run_kernel("AllReduce", {{"x", tensor({1.0})}}).item(), ranks());
  EXPECT_EQ(kg::run_kernel("AllGather", {{"x", tensor({1.0})}}, {{"comm", 0}}).dims()[0], ranks());
  for (const char* name : {"AllReduce", "AllReduceMax", "AllReduceMin", "Reduce", "Broadcast", "AllGather",
                           "ReduceScatter", "AllToAll", "SendRecv", "Barrier"})
    kg::unregister_op(name);
}

struct wrong {
  const char* what;
  std::function<tensor()> call;
  std::vector<std::string> words;
};
TEST(wrong_calls, are_rejected_before_anything_is_sent) {
  const int beyond = ranks();
  const wrong all[] = {
      {"a root", [&] { return mpi::broadcast(tensor({1.f}), beyond); }, {"root = ", "a rank from 0 to"}},
      {"a partner", [&] { return mpi::send_recv(tensor({1.f}), beyond, -1); }, {"to = ", "a rank from -1 to"}},
      {"the rank itself as receiver alone",
       [] { return mpi::send_recv(tensor({1.f}), rank(), -1); },
       {"from = -1 on rank", "as both or as neither"}},
      {"the rank itself as sender alone",
       [] { return mpi::send_recv(tensor({1.f}), -1, rank()); },
       {"to = -1 and from = ", "as both or as neither"}},
      {"parts", [] { return mpi::reduce_scatter(tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f})(0)); }, {"multiple"}},
      {"a mean", [] { return mpi::all_reduce(tensor({1}), mpi::reduction::mean); }, {"a mean of int32"}},
      {"complex",
       [] { return mpi::all_reduce(kg::complex(tensor({1.f}), tensor({1.f})), mpi::reduction::max); },
       {"complex64"}},
      {"an extreme", [] { return mpi::reduce_scatter(tensor({1.f}), mpi::reduction::max); }, {"a sum or a mean"}},
      {"text", [] { return mpi::all_gather(tensor({"a"})); }, {"text"}},
      {"a communicator", [] { return mpi::all_gather(tensor({1.f}), mpi::communicator(77)); }, {"number 77"}},
  };
  for (const wrong& one : all) {
    const std::string said = refusal(one.call);
    EXPECT_TRUE(said.starts_with("[")) << one.what << ": " << said;
    for (const std::string& word : one.words) EXPECT_TRUE(says(said, {word})) << one.what << ": " << said;
  }
  EXPECT_EQ(mpi::all_reduce(tensor({1.0})).item(), ranks());
}

// ------------------------------------------------------------------------------------------ the checked mode

TEST(checked_mode, makes_calls_that_differ_errors_on_every_rank) {
  ASSERT_TRUE(mpi::checked());
  if (ranks() == 1) return;
  const bool last = rank() == ranks() - 1;
  const auto differ = [&](const std::function<tensor(const mpi::communicator&)>& one,
                          const std::function<tensor(const mpi::communicator&)>& other,
                          std::vector<std::string> words) {
    const mpi::communicator own = mpi::communicator().duplicate();
    const std::string said = refusal([&] { return last ? other(own) : one(own); });
    for (const std::string& word : words) EXPECT_TRUE(says(said, {word})) << said;
    // Another op on it throws as well.
    EXPECT_TRUE(says(refusal([&] { return mpi::all_gather(tensor({1.f}), own); }), {"after an op on it failed"}));
  };
  const auto sum = [](kg::shape dims, kg::dtype type) {
    return [=](const mpi::communicator& on) { return mpi::all_reduce(kg::ones(dims, type), mpi::reduction::sum, on); };
  };
  const std::string at = "rank " + std::to_string(ranks() - 1);
  differ(sum({2}, kg::dtype::float32), sum({3}, kg::dtype::float32), {at, "float32 [3]", "float32 [2]", "rank 0"});
  differ(sum({2}, kg::dtype::float32), sum({2}, kg::dtype::int32), {at, "int32 [2]", "float32 [2]"});
  differ(sum({2}, kg::dtype::float32), [](const auto& on) { return mpi::broadcast(kg::ones({2}), 0, on); },
         {at, "broadcast", "all_reduce"});
  differ([](const auto& on) { return mpi::broadcast(kg::ones({2}), 0, on); },
         [](const auto& on) { return mpi::broadcast(kg::ones({2}), 1, on); }, {at, "broadcast"});
  // Rank 0 sends to a rank that expects another one.
  differ([](const auto& on) { return mpi::send_recv(kg::ones({2}), rank() == 0 ? ranks() - 1 : -1, -1, on); },
         [](const auto& on) { return mpi::send_recv(kg::ones({2}), -1, -1, on); }, {"rank 0 that sends"});
}

TEST(checked_mode, finds_losses_that_are_not_replicated) {
  EXPECT_NEAR(mpi::replicated_loss(tensor(3.0)).item(), 3.0 / ranks(), 1e-12);
  if (ranks() == 1) return;
  EXPECT_TRUE(says(refusal([&] { return mpi::replicated_loss(tensor(rank() == 1 ? 2.0 : 1.0)); }), {"rank 1"}));
}

}  // namespace
