// SPDX-License-Identifier: Apache-2.0
// Ranks that find no neighbor on their machine, as on a network: all arrays go by messages, and larger ones by several.
// This program also has the tests of collectives.cc.
#include <mpi.h>

#include "tests/mpi/ranks.h"

// MPI's profiling interface: this definition comes between the library and MPI.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int, int key, MPI_Info, MPI_Comm* own) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, rank, key, own);
}

namespace {

using namespace kgtest;

constexpr std::int64_t floats_of_message = 48 * 1024 / 4;

TEST(messages_between_machines, carry_arrays_around_every_number_of_messages) {
  for (const std::int64_t messages : {1, 2, 3})
    for (const std::int64_t more : {-1, 0, 1}) {
      const kg::shape dims{messages * floats_of_message + more};
      const doubles wanted = folded(dims, kg::dtype::float32, [](double a, double b) { return a + b; });
      EXPECT_EQ(values(mpi::all_reduce(mine(dims, kg::dtype::float32))), wanted) << to_string(dims);
      const int next = (rank() + 1) % ranks(), last = (rank() + ranks() - 1) % ranks();
      EXPECT_EQ(values(mpi::send_recv(mine(dims, kg::dtype::float32), next, last)),
                values(x_of(last, dims, kg::dtype::float32)))
          << to_string(dims);
    }
}

// Sizes that differ by whole messages: no rank takes a part of an array for all of it.
TEST(messages_between_machines, throw_on_every_rank_where_sizes_differ) {
  if (ranks() == 1) return;
  mpi::set_checked(false);
  for (const std::int64_t size : {floats_of_message - 1, floats_of_message, 2 * floats_of_message}) {
    const mpi::communicator own = mpi::communicator().duplicate();
    const kg::shape dims{rank() == 0 ? size : size + floats_of_message};
    EXPECT_THROW(mpi::all_gather(mine(dims, kg::dtype::float32), own), kg::error) << size;
  }
  mpi::set_checked(true);
}

}  // namespace
