// SPDX-License-Identifier: Apache-2.0
// A rank of another version of the library: it exchanges with the others what kerngrad.mpi does at its start and its
// end (modules/mpi/start_impl.cc). Every version has to understand this exchange, so a change of it fails here.
#define OMPI_SKIP_MPICXX  // its C++ interface has warnings, and no use here
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace {

struct greeting {
  char version[64];
  std::int32_t checked;
};
constexpr int ended_tag = 1;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  int rank = 0, size = 0;
  MPI_Comm_rank(control, &rank);
  MPI_Comm_size(control, &size);
  std::vector<greeting> all(static_cast<std::size_t>(size));
  all[static_cast<std::size_t>(rank)] = {"kerngrad 9", 1};
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(), sizeof(greeting), MPI_BYTE, control);
  for (int other = 0; other < size; ++other)
    if (other != rank)
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, ended_tag, nullptr, 0, MPI_BYTE, other, ended_tag, control,
                   MPI_STATUS_IGNORE);
  MPI_Finalize();
}
