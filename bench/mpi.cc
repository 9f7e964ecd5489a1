// SPDX-License-Identifier: Apache-2.0
// kerngrad.mpi next to plain MPI calls, in turns, and training with the reduction during and after the backward pass.
// Run it with mpirun; rank 0 prints medians and their ratios:
//   mpirun -n 2 build/bench/bench_mpi
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

import kerngrad;
import kerngrad.mpi;

namespace {

namespace mpi = kg::mpi;
using clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& f, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const clock::time_point begin = clock::now();
  for (int i = 0; i < times; ++i) f();
  return std::chrono::duration<double>(clock::now() - begin).count() / times;
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

struct medians {
  double first, second;
};
// Both in turns, so that what else the machine does meets both.
medians in_turns(const std::function<void()>& first, const std::function<void()>& second, int rounds, int times) {
  std::vector<double> of_first, of_second;
  for (int i = 0; i <= rounds; ++i) {
    const double a = seconds_of(first, times), b = seconds_of(second, times);
    if (i > 0) of_first.push_back(a), of_second.push_back(b);  // the first round warms caches up
  }
  return {median(of_first), median(of_second)};
}

void print(const char* name, std::int64_t bytes, const medians& m) {
  if (mpi::communicator().rank() == 0)
    std::printf("%-16s n:%-10lld %12.2f us %12.2f us   ratio %.3f\n", name, static_cast<long long>(bytes),
                m.first * 1e6, m.second * 1e6, m.first / m.second);
}

void collectives(std::int64_t count, int rounds) {
  const mpi::communicator all;
  const kg::tensor x = kg::ones({count * all.size()});
  const int n = static_cast<int>(x.size()), part = static_cast<int>(count);
  std::vector<float> y(static_cast<std::size_t>(x.size()) * static_cast<std::size_t>(all.size()));
  const float* const from = x.data<float>().data();
  const int times = static_cast<int>(std::clamp<std::int64_t>(4'000'000 / (count + 1000), 1, 500));
  const auto compare = [&](const char* name, const std::function<void()>& ours, const std::function<void()>& plain) {
    print(name, 4 * x.size(), in_turns(ours, plain, rounds, times));
  };
  compare(
      "all_reduce", [&] { mpi::all_reduce(x); },
      [&] { MPI_Allreduce(from, y.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  compare(
      "reduce_scatter", [&] { mpi::reduce_scatter(x); },
      [&] { MPI_Reduce_scatter_block(from, y.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  compare(
      "all_gather", [&] { mpi::all_gather(x); },
      [&] { MPI_Allgather(from, n, MPI_FLOAT, y.data(), n, MPI_FLOAT, MPI_COMM_WORLD); });
  compare(
      "all_to_all", [&] { mpi::all_to_all(x); },
      [&] { MPI_Alltoall(from, part, MPI_FLOAT, y.data(), part, MPI_FLOAT, MPI_COMM_WORLD); });
  compare("broadcast", [&] { mpi::broadcast(x); }, [&] { MPI_Bcast(y.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD); });
}

struct network {
  std::vector<kg::variable> weights{};
  explicit network(std::int64_t width) {
    for (int i = 0; i < 6; ++i)
      weights.emplace_back(kg::random_normal({width, width}, 0, 0.05, i + 1), "w" + std::to_string(i));
  }
  kg::tensor loss(kg::tensor x) const {
    for (const kg::variable& w : weights) x = kg::tanh(kg::matmul(x, w));
    return kg::mean(kg::square(x));
  }
};

// The time of a step that sends gradients during the backward pass, and of one that sends them afterwards.
void training(std::int64_t width, std::int64_t batch, int rounds) {
  const mpi::communicator all;
  const network one(width), other(width);
  kg::sgd for_one(1e-3), for_other(1e-3);
  mpi::data_parallel during(for_one, all, one.weights, {.bucket = std::int64_t{2} << 20}),
      after(for_other, all, other.weights, {.bucket = std::int64_t{2} << 20, .overlap = false});
  const kg::tensor x = kg::random_normal({batch, width}, 0, 1, 9);
  print("step overlapped", 6 * 4 * width * width,
        in_turns([&] { during.minimize([&] { return one.loss(x); }, batch); },
                 [&] { after.minimize([&] { return other.loss(x); }, batch); }, rounds, 3));
}

// A step on a batch of a fixed size: here on all ranks, each with a part.
void scaling(std::int64_t width, std::int64_t batch, int threads, int rounds) {
  const mpi::communicator all;
  kg::set_num_threads(threads);
  const network net(width);
  kg::sgd optimizer(1e-3);
  mpi::data_parallel training(optimizer, all, net.weights);
  const kg::tensor x = kg::random_normal({batch / all.size(), width}, 0, 1, 9);
  std::vector<double> times;
  for (int i = 0; i <= rounds; ++i) {
    const double each = seconds_of([&] { training.minimize([&] { return net.loss(x); }, batch / all.size()); }, 3);
    if (i > 0) times.push_back(each);
  }
  if (all.rank() == 0)
    std::printf("step of %lld examples, %d ranks with %d threads: %.2f ms\n", static_cast<long long>(batch), all.size(),
                threads, median(times) * 1e3);
  kg::set_num_threads(1);
}

}  // namespace

int main(int argc, char** argv) {
  const bool brief = argc > 1 && std::string_view(argv[1]) == "--brief";
  const int rounds = brief ? 1 : 15;
  kg::set_num_threads(1);
  if (mpi::communicator().rank() == 0)
    std::printf("%-16s %-12s %15s %15s\n", "", "bytes", "kerngrad", "plain or after");
  for (const std::int64_t count :
       brief ? std::vector<std::int64_t>{1000} : std::vector<std::int64_t>{16, 1000, 50'000, 2'000'000})
    collectives(count, rounds);
  training(brief ? 32 : 512, brief ? 8 : 128, rounds);
  scaling(brief ? 32 : 512, brief ? 8 : 512, 1, rounds);
  if (mpi::communicator().size() == 1) scaling(brief ? 32 : 512, brief ? 8 : 512, 2, rounds);
}
