// SPDX-License-Identifier: Apache-2.0
// Collective operations, their gradients, and data-parallel training. Runs on any number of ranks:
// mpirun -n 2 build/examples/guides_distributed
#include <iostream>
#include <vector>
import kerngrad;
import kerngrad.mpi;

namespace mpi = kg::mpi;

namespace {

void print_gradients(const mpi::communicator& all) {
  const kg::tensor x({1.0, 2.0});
  // Each rank has a loss of its own. The gradient is that of their sum.
  const auto own_loss = [&](const kg::tensor& t) { return kg::sum(mpi::all_reduce(t)) * (all.rank() + 1); };
  const kg::tensor of_sum = kg::grad(own_loss)(x);
  // All ranks have the same loss. It counts once.
  const auto same_loss = [](const kg::tensor& t) { return kg::sum(kg::square(mpi::all_reduce(t))); };
  const kg::tensor once = kg::grad([&](const kg::tensor& t) { return mpi::replicated_loss(same_loss(t)); })(x);
  if (all.rank() == 0) std::cout << of_sum << "\n" << once << "\n";
}

void train(const mpi::communicator& all) {
  const kg::variable slope(kg::zeros({1, 1}), "slope"), offset(kg::zeros({1}), "offset");
  kg::adam optimizer(0.1);
  mpi::data_parallel training(optimizer, all, std::vector{slope, offset}, {.clip_norm = 10});
  // 60 points, of which each rank has a part.
  const std::int64_t begin = 60 * all.rank() / all.size(), end = 60 * (all.rank() + 1) / all.size();
  const kg::tensor in = kg::reshape(kg::arange(static_cast<double>(begin), static_cast<double>(end)), {-1, 1}) / 60;
  const kg::tensor out = in * 3 - 1;
  double loss = 0;
  for (int step = 0; step < 300; ++step)
    loss = training.minimize([&] { return kg::mean_squared_error(out, kg::matmul(in, slope) + offset); }, end - begin);
  training.check_weights();
  if (all.rank() == 0) std::cout << "the loss is below 1e-4: " << (loss < 1e-4 ? "yes" : "no") << "\n";
}

}  // namespace

int main() {
  const mpi::communicator all;
  print_gradients(all);
  train(all);
}
