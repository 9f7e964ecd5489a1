// SPDX-License-Identifier: Apache-2.0
// A string between two fixed ends, cut into parts, one a rank. Neighbors exchange their outermost points at each step.
// The gradient of the final state flows back through these messages to the initial state, which is found again from
// the final one. Prints the same on any number of ranks: mpirun -n 2 build/examples/guides_wave_equation
#include <cstdint>
#include <cstdio>
import kerngrad;
import kerngrad.mpi;

namespace mpi = kg::mpi;
using kg::tensor;

namespace {

constexpr std::int64_t points = 60;
constexpr int steps = 25;
constexpr double courant = 0.8;  // wave speed times time step by distance; the scheme is stable up to 1

// The points of this rank, with one of each neighbor. Beyond the ends there are zeros.
tensor with_halo(const tensor& u, const mpi::communicator& all) {
  const int left = all.rank() - 1, right = all.rank() + 1 < all.size() ? all.rank() + 1 : -1;
  const std::int64_t n = u.dims()[0];
  const tensor from_left = mpi::send_recv(kg::slice(u, {n - 1}, {1}), right, left, all);
  const tensor from_right = mpi::send_recv(kg::slice(u, {0}, {1}), left, right, all);
  return kg::concat({from_left, u, from_right}, 0);
}

// The state after all steps, from rest.
tensor waved(const tensor& start, const mpi::communicator& all) {
  tensor before = start, now = start;
  const std::int64_t n = start.dims()[0];
  for (int step = 0; step < steps; ++step) {
    const tensor wide = with_halo(now, all);
    const tensor bend = kg::slice(wide, {0}, {n}) - now * 2 + kg::slice(wide, {2}, {n});
    const tensor next = now * 2 - before + bend * (courant * courant);
    before = now;
    now = next;
  }
  return now;
}

}  // namespace

int main() {
  const mpi::communicator all;
  const std::int64_t begin = points * all.rank() / all.size(), end = points * (all.rank() + 1) / all.size();
  const tensor at = kg::cast(kg::arange(static_cast<double>(begin), static_cast<double>(end)), kg::dtype::float64);
  const tensor plucked = kg::exp(-kg::square((at - 20) / 4));
  const tensor seen = waved(plucked, all);

  // Each rank has the loss of its part; gradients are those of the sum of all parts.
  const auto loss = [&](const tensor& start) { return kg::sum(kg::square(waved(start, all) - seen)); };
  const auto of_all = [&](const tensor& part) { return mpi::all_reduce(part, mpi::reduction::sum, all).item(); };
  tensor start = kg::zeros_like(plucked);
  for (int step = 0; step <= 60; ++step) {
    const auto [value, gradient] = kg::value_and_grad(loss)(start);
    const double total = of_all(value);
    if (all.rank() == 0 && step % 20 == 0) std::printf("step %2d  loss %.5f\n", step, total);
    start = start - gradient * 0.05;
  }
  const double off = of_all(kg::sum(kg::square(start - plucked))) / of_all(kg::sum(kg::square(plucked)));
  if (all.rank() == 0) std::printf("squared error of the initial state: %.5f\n", off);
}
