// SPDX-License-Identifier: Apache-2.0
// A program whose rank 1 does what its argument says. faults.py looks at how the program ends.
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

import kerngrad;
import kerngrad.mpi;

namespace {

namespace mpi = kg::mpi;

bool has_other_version = false, is_busy = false;

// Rank 1 receives an array after rank 0 has given it up: its elements are still those that were sent.
void receive_late(bool faulty, const mpi::communicator& all) {
  constexpr std::int64_t count = 1 << 20;
  if (!faulty) {
    try {
      mpi::send_recv(kg::ones({count}), 1, -1, all);
    } catch (const kg::error&) {
      // Takes the memory of the array, if it was freed.
      const std::vector<kg::tensor> others{kg::full({count}, -1.f), kg::full({count}, -1.f), kg::full({count}, -1.f)};
      MPI_Barrier(MPI_COMM_WORLD);  // rank 1 has the array
      throw;
    }
    return;
  }
  sleep(4);
  const kg::tensor got = mpi::send_recv(kg::zeros({count}), -1, 0, all);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!std::ranges::all_of(got.data<float>(), [](float x) { return x == 1; }))
    kg::fail("test", "other elements", "ones");
}

void run(std::string_view fault) {
  const mpi::communicator all;
  const bool faulty = all.rank() == 1;
  const auto sum = [](std::int64_t n) { return mpi::all_reduce(kg::ones({n})); };
  for (int i = 0; i < 3; ++i) sum(4);
  if (fault == "killed") {
    if (faulty) std::raise(SIGKILL);
    for (;;) sum(4);
  }
  if (fault == "throws" && faulty) kg::fail("test", "a fault", "none");
  if (fault == "ends" && faulty) return;
  if (fault == "skips") {
    if (!faulty) sum(4);
    return mpi::finish();
  }
  if (fault == "late") return receive_late(faulty, all);
  if ((fault == "hangs" || fault == "busy") && faulty) sleep(4);
  if (fault == "busy") sum(100'000);
  if (fault == "order" && faulty) mpi::broadcast(kg::ones({4}));
  else sum(!faulty ? 2000 : fault == "larger" ? 3000 : fault == "smaller" ? 1000 : 2000);
  if (fault == "hangs") sum(4);
  if (fault == "network") {
    const kg::variable w(kg::ones({3}), "w"), b(kg::ones({all.rank() + 1}), "b");
    kg::sgd optimizer(0.1);
    mpi::data_parallel(optimizer, all, std::vector{w, b});
  }
}

}  // namespace

// MPI's profiling interface: a program may come between a library and MPI. Here rank 1 tells of another version. After
// the greeting, that version may call other functions of MPI than this one: so these have to come later.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  return has_other_version ? MPI_ERR_OTHER : PMPI_Comm_split_type(comm, type, key, info, part);
}
extern "C" int MPI_Allgather(const void* x, int count, MPI_Datatype type, void* y, int count_of_each,
                             MPI_Datatype type_of_y, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (has_other_version && rank == 1) std::strcpy(static_cast<char*>(y) + count_of_each, "kerngrad 9");
  return PMPI_Allgather(x, count, type, y, count_of_each, type_of_y, comm);
}

// A machine on which other programs want the CPU: MPI leaves it whenever it has nothing to do. The other faults leave
// the CPU as without this function: three ranks would spin on two CPUs.
extern "C" int sched_yield() noexcept { return is_busy ? usleep(5000) : static_cast<int>(syscall(SYS_sched_yield)); }

int main(int argc, char** argv) {
  const std::string_view fault = argc > 1 ? argv[1] : "";
  has_other_version = fault == "version";
  is_busy = fault == "busy";
  // MPI may be the program's own.
  if (fault == "foreign") MPI_Init(&argc, &argv);
  int code = 0;
  try {
    run(fault);
  } catch (const kg::error& e) {
    if (fault == "throws") throw;  // nobody catches it
    std::fprintf(stderr, "caught %s\n", e.what());
    code = 3;
  }
  if (fault == "foreign") MPI_Finalize();
  return code;
}
