// SPDX-License-Identifier: Apache-2.0
// Collective operations, here on one rank.
#include <iostream>
#include <vector>

#include "example.h"

import kerngrad;
import kerngrad.mpi;

namespace {

const kg::tensor x({1.f, 2.f});

void sums() { std::cout << kg::mpi::all_reduce(x) << "\n" << kg::mpi::reduce(x, 0) << "\n"; }
const example for_sums{"kg::mpi::all_reduce kg::mpi::reduce", sums};

void extremes() {
  std::cout << kg::mpi::all_reduce(x, kg::mpi::reduction::max) << "\n"
            << kg::mpi::all_reduce(x, kg::mpi::reduction::min) << "\n";
}
const example for_extremes{"kg::mpi::reduction", extremes};

void moves() {
  const kg::mpi::communicator all;
  std::cout << kg::mpi::broadcast(x, 0, all) << "\n" << kg::mpi::all_gather(x) << "\n";
}
const example for_moves{"kg::mpi::broadcast kg::mpi::all_gather", moves};

void neighbours() { std::cout << kg::mpi::send_recv(x, -1, -1) << "\n" << kg::mpi::barrier(x) << "\n"; }
const example for_neighbours{"kg::mpi::send_recv kg::mpi::barrier", neighbours};

void parts() { std::cout << kg::mpi::reduce_scatter(x) << "\n" << kg::mpi::all_to_all(x) << "\n"; }
const example for_parts{"kg::mpi::reduce_scatter kg::mpi::all_to_all", parts};

void communicators() {
  const kg::mpi::communicator all, even = all.split(all.rank() % 2);
  std::cout << all.rank() << " of " << all.size() << ", " << even.size() << "\n";
}
const example for_communicators{"kg::mpi::communicator", communicators};

void settings() {
  kg::mpi::set_checked(true);
  kg::mpi::set_timeout(60);
  std::cout << kg::mpi::checked() << " " << kg::mpi::timeout() << "\n";
}
const example for_settings{"kg::mpi::set_checked kg::mpi::checked kg::mpi::set_timeout kg::mpi::timeout", settings};

void by_name() {
  kg::mpi::register_ops();
  std::cout << kg::run_kernel("AllReduce", {{"x", x}}, {{"comm", 0}}) << "\n";
}
const example for_by_name{"kg::mpi::register_ops", by_name};

void sums_by_name() {
  for (const kg::op_row& row : {kg::mpi::AllReduce::row, kg::mpi::Reduce::row, kg::mpi::ReduceScatter::row})
    std::cout << row.name << ": " << row.doc << "\n";
}
const example for_sums_by_name{"kg::mpi::AllReduce kg::mpi::Reduce kg::mpi::ReduceScatter", sums_by_name};

void extremes_by_name() {
  for (const kg::op_row& row : {kg::mpi::AllReduceMax::row, kg::mpi::AllReduceMin::row}) std::cout << row.name << "\n";
}
const example for_extremes_by_name{"kg::mpi::AllReduceMax kg::mpi::AllReduceMin", extremes_by_name};

void moves_by_name() {
  for (const kg::op_row& row : {kg::mpi::Broadcast::row, kg::mpi::AllGather::row, kg::mpi::AllToAll::row})
    std::cout << row.name << "\n";
}
const example for_moves_by_name{"kg::mpi::Broadcast kg::mpi::AllGather kg::mpi::AllToAll", moves_by_name};

void messages_by_name() {
  for (const kg::op_row& row : {kg::mpi::SendRecv::row, kg::mpi::Barrier::row}) std::cout << row.name << "\n";
}
const example for_messages_by_name{"kg::mpi::SendRecv kg::mpi::Barrier", messages_by_name};

void replicated() {
  const auto loss = [](const kg::tensor& t) { return kg::mpi::replicated_loss(kg::sum(kg::mpi::all_reduce(t))); };
  std::cout << kg::grad(loss)(x) << "\n";
}
const example for_replicated{"kg::mpi::replicated_loss", replicated};

void training() {
  const kg::variable w(x, "w");
  kg::sgd optimizer(0.5);
  const kg::mpi::data_parallel_options how{.overlap = false};
  kg::mpi::data_parallel parallel(optimizer, {}, std::vector{w}, how);
  std::cout << parallel.minimize([&] { return kg::sum(kg::square(w)); }, 8) << "\n" << w.value() << "\n";
}
const example for_training{"kg::mpi::data_parallel kg::mpi::data_parallel_options", training};

void the_end() {
  kg::mpi::finish();
  std::cout << "no op can follow\n";
}
const example for_the_end{"kg::mpi::finish", the_end};

}  // namespace
