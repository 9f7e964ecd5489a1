// SPDX-License-Identifier: Apache-2.0
// kerngrad.mpi next to plain MPI calls, in turns, and training on several ranks. Run it with mpirun; rank 0 prints.
// tools/bench/mpi.py runs all parts, over shared memory and over slow networks.
//   mpirun -n 2 build/bench/bench_mpi [--brief] PART...
// The parts:
//   calls      collective operations next to plain MPI calls
//   overlap    a training step that sends gradients during the backward pass, next to one that sends them afterwards
//   trace=FILE one such step as a trace for chrome://tracing or Perfetto
//   step=T     the time of a step on a batch of a fixed size, which the ranks share, with T threads on each rank
//   model      times of messages and sums by size
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi_spans.h"
import kerngrad;
import kerngrad.mpi;

namespace {

namespace mpi = kg::mpi;
using clock = std::chrono::steady_clock;

bool brief = false;

bool shows() { return mpi::communicator().rank() == 0; }

// The time of a call on the slowest rank.
double seconds_of(const std::function<void()>& f, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const clock::time_point begin = clock::now();
  for (int i = 0; i < times; ++i) f();
  double seconds = std::chrono::duration<double>(clock::now() - begin).count() / times;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

struct samples {
  std::vector<double> all{};
  double median() {
    std::ranges::sort(all);
    return all[all.size() / 2];
  }
  double least() const { return *std::ranges::min_element(all); }
};

// Both in turns, so that other programs on the machine meet both.
void in_turns(const char* name, std::int64_t bytes, const std::function<void()>& first,
              const std::function<void()>& second, int rounds, int times) {
  samples a, b;
  for (int i = 0; i <= rounds; ++i) {
    const double of_first = seconds_of(first, times), of_second = seconds_of(second, times);
    if (i == 0) continue;  // the first round warms caches up
    a.all.push_back(of_first);
    b.all.push_back(of_second);
  }
  if (!shows()) return;
  std::printf("%-16s %10lld bytes %12.2f us %12.2f us   ratio of medians %.3f, of least %.3f\n", name,
              static_cast<long long>(bytes), a.median() * 1e6, b.median() * 1e6, a.median() / b.median(),
              a.least() / b.least());
  std::fflush(stdout);
}

// So many calls that a sample takes about a millisecond, less than a turn of the scheduler.
int times_of(std::int64_t bytes) {
  return static_cast<int>(std::clamp<std::int64_t>(4'000'000 / (bytes + 8000), 1, 500));
}

void calls_of(std::int64_t count, int rounds) {
  const mpi::communicator all;
  const kg::tensor x = kg::ones({count * all.size()});
  const int n = static_cast<int>(x.size()), part = static_cast<int>(count);
  std::vector<float> y(static_cast<std::size_t>(x.size()) * static_cast<std::size_t>(all.size()));
  const float* const from = x.data<float>().data();
  const auto compare = [&](const char* name, const std::function<void()>& ours, const std::function<void()>& plain) {
    in_turns(name, 4 * x.size(), ours, plain, rounds, times_of(4 * x.size()));
  };
  compare(
      "all_reduce", [&] { mpi::all_reduce(x); },
      [&] { MPI_Allreduce(from, y.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  compare(
      "reduce", [&] { mpi::reduce(x); }, [&] { MPI_Reduce(from, y.data(), n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); });
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
  const int right = (all.rank() + 1) % all.size(), left = (all.rank() + all.size() - 1) % all.size();
  compare(
      "send_recv", [&] { mpi::send_recv(x, right, left); },
      [&] {
        MPI_Sendrecv(from, n, MPI_FLOAT, right, 0, y.data(), n, MPI_FLOAT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
}

void calls() {
  const int rounds = brief ? 1 : 101;
  for (const std::int64_t count :
       brief ? std::vector<std::int64_t>{16, 5000} : std::vector<std::int64_t>{16, 1000, 4000, 50'000, 1'000'000})
    calls_of(count, count > 100'000 ? std::min(rounds, 15) : rounds);
  const mpi::communicator all;
  in_turns("barrier", 0, [&] { mpi::barrier(); }, [] { MPI_Barrier(MPI_COMM_WORLD); }, rounds, times_of(0));
}

// ------------------------------------------------------------------------------------------ training

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

// A network whose gradients have 6.3 MB, in buckets of 2 MB.
struct training {
  std::int64_t width = brief ? 32 : 512, batch = brief ? 8 : 512;
  network net{width};
  kg::sgd optimizer{1e-3};
  mpi::data_parallel parallel;
  kg::tensor x = kg::random_normal({batch, width}, 0, 1, 9);
  explicit training(bool overlap)
      : parallel(optimizer, {}, net.weights, {.bucket = std::int64_t{2} << 20, .overlap = overlap}) {}
  void step() {
    parallel.minimize([&] { return net.loss(x); }, batch);
  }
  std::int64_t bytes() const { return 6 * 4 * width * width; }
};

void overlap() {
  training during(true), after(false);
  in_turns("overlapped step", during.bytes(), [&] { during.step(); }, [&] { after.step(); }, brief ? 1 : 31, 1);
}

void trace(const std::string& path) {
  training during(true);
  for (int i = 0; i < 3; ++i) during.step();
  kg::hooks kernels;
  kernels.end = [](const kg::kernel_event& e) {
    if (e.backward && spans::backward_begin == 0) spans::backward_begin = e.begin_ns;
    if (e.backward) spans::backward_end = e.end_ns;
    spans::kernels.push_back({std::string(e.op), e.begin_ns, e.end_ns, 1});
  };
  spans::active = true;
  const kg::hook_handle hooked = kg::add_hooks(std::move(kernels));
  during.step();
  const std::string summary = spans::write(path + "." + std::to_string(mpi::communicator().rank()) + ".json");
  if (shows()) std::printf("%s\n", summary.c_str());
}

// The same batch for any number of ranks: each has a part.
void step(int threads) {
  const mpi::communicator all;
  kg::set_num_threads(threads);
  const std::int64_t width = brief ? 32 : 512, batch = (brief ? 8 : 512) / all.size();
  const network net(width);
  kg::sgd optimizer(1e-3);
  mpi::data_parallel parallel(optimizer, all, net.weights);
  const kg::tensor x = kg::random_normal({batch, width}, 0, 1, 9);
  samples times;
  for (int i = 0; i <= (brief ? 1 : 21); ++i) {
    const double each = seconds_of([&] { parallel.minimize([&] { return net.loss(x); }, batch); }, 1);
    if (i > 0) times.all.push_back(each);
  }
  if (shows())
    std::printf("step of %lld examples on %d ranks with %d threads: median %.2f ms, least %.2f ms\n",
                static_cast<long long>(batch * all.size()), all.size(), threads, times.median() * 1e3,
                times.least() * 1e3);
  kg::set_num_threads(1);
}

// ------------------------------------------------------------------------------------------ cost model

void model() {
  const mpi::communicator all;
  const int right = (all.rank() + 1) % all.size(), left = (all.rank() + all.size() - 1) % all.size();
  for (std::int64_t count = 16; count <= (brief ? 16 : 1 << 20); count *= 4) {
    const kg::tensor x = kg::ones({count});
    const auto measure = [&](const char* name, const std::function<void()>& f) {
      samples times;
      for (int i = 0; i <= (brief ? 1 : 11); ++i) {
        const double each = seconds_of(f, std::max(1, times_of(4 * count) / 10));
        if (i > 0) times.all.push_back(each);
      }
      if (shows())
        std::printf("model %s %lld %.9f %.9f\n", name, static_cast<long long>(4 * count), times.median(),
                    times.least());
    };
    measure("send_recv", [&] { mpi::send_recv(x, right, left); });
    measure("all_reduce", [&] { mpi::all_reduce(x); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  kg::set_num_threads(1);
  for (int i = 1; i < argc; ++i) {
    const std::string_view part = argv[i];
    if (part == "--brief") brief = true;
    else if (part == "calls") calls();
    else if (part.starts_with("calls=")) calls_of(std::stoi(std::string(part.substr(6))), 101);
    else if (part == "overlap") overlap();
    else if (part.starts_with("trace=")) trace(std::string(part.substr(6)));
    else if (part.starts_with("step=")) step(std::stoi(std::string(part.substr(5))));
    else if (part == "model") model();
    else return std::fprintf(stderr, "unknown part: %s\n", argv[i]), 2;
  }
}
