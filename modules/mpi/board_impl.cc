// SPDX-License-Identifier: Apache-2.0
// Small arrays in memory that the ranks of one machine share.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi::detail {
namespace {

// A rank may be so many calls ahead of those that read its arrays.
constexpr int arrays_of_rank = 4;

std::string text_of(const char* op, std::int64_t bytes) {
  return std::string(op) + " of " + std::to_string(bytes) + " bytes";
}

}  // namespace

struct board::array {
  alignas(64) std::atomic<std::int64_t> number{0};  // of the call; written last
  std::int64_t bytes = 0;
  char op[function_name::op_size] = {};
  alignas(64) std::byte data[most_bytes];
};
// The arrays of one rank, in their places by turns.
struct board::page {
  alignas(64) std::atomic<std::int64_t> left{0};  // the last call whose arrays it no longer reads
  array arrays[arrays_of_rank];
};

board::board(page* pages, int rank, int size)
    : pages_(pages), rank_(rank), all_(static_cast<std::size_t>(size)), left_(static_cast<std::size_t>(size)) {}

// The memory lives as long as the communicator, which lives until the process ends.
std::unique_ptr<board> board::shared_by(MPI_Comm comm, int rank, int size, bool near) {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free, "processes share no lock");
  if (size == 1) return nullptr;
  MPI_Win window = MPI_WIN_NULL;
  void* base = nullptr;
  MPI_Aint bytes = 0;
  int unit = 0;
  int ok =
      near &&
      MPI_Win_allocate_shared(sizeof(page) + alignof(page), 1, MPI_INFO_NULL, comm, &base, &window) == MPI_SUCCESS &&
      MPI_Win_shared_query(window, 0, &bytes, &unit, &base) == MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
  if (!ok) return nullptr;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  // Systems map whole memory pages, so the gap is the same in every process.
  const auto gap = (alignof(page) - reinterpret_cast<std::uintptr_t>(base) % alignof(page)) % alignof(page);
  page* const pages = reinterpret_cast<page*>(static_cast<std::byte*>(base) + gap);
  new (pages + rank) page;
  MPI_Barrier(comm);
  return std::unique_ptr<board>(new board(pages, rank, size));
}

void board::write(const collective& of, const void* data, std::int64_t bytes) {
  array& own = pages_[rank_].arrays[of.number() % arrays_of_rank];
  const std::int64_t before = own.number.load(std::memory_order_relaxed);
  for (std::size_t r = 0; r < left_.size(); ++r) {
    if (left_[r] >= before || static_cast<int>(r) == rank_) continue;
    for (waiting wait(of, 64); (left_[r] = pages_[r].left.load(std::memory_order_acquire)) < before;)
      if (wait.pause()) wait.look({static_cast<int>(r)});
  }
  own.bytes = bytes;
  std::memcpy(own.op, of.function().op(), sizeof own.op);
  if (bytes > 0) std::memcpy(own.data, data, static_cast<std::size_t>(bytes));
  own.number.store(of.number(), std::memory_order_release);
}

// Waits for the arrays of ranks from `first` on, before `last`.
void board::await(const collective& of, int first, int last) const {
  const auto is_there = [&](int rank) {
    return pages_[rank].arrays[of.number() % arrays_of_rank].number.load(std::memory_order_acquire) >= of.number();
  };
  for (int rank = first; rank < last; ++rank)
    for (waiting wait(of, 64); !is_there(rank);) {
      if (!wait.pause()) continue;
      std::vector<int> missing;
      for (int other = rank; other < last; ++other)
        if (!is_there(other)) missing.push_back(other);
      wait.look(std::move(missing));
    }
}

// An array that is there.
const std::byte* board::checked(const collective& of, int rank, std::int64_t bytes) {
  const array& there = pages_[rank].arrays[of.number() % arrays_of_rank];
  const std::int64_t number = there.number.load(std::memory_order_relaxed);
  if (number != of.number() || there.bytes != bytes || std::memcmp(there.op, of.function().op(), sizeof there.op) != 0)
    of.refuse(
        "call " + std::to_string(number) + " of rank " + std::to_string(rank) + ", " + text_of(there.op, there.bytes),
        "call " + std::to_string(of.number()) + ", " + text_of(of.function().op(), bytes),
        "make the same calls with equal shapes and dtypes in the same order on every rank");
  left_[static_cast<std::size_t>(rank)] = number - 1;  // it is in this call
  return there.data;
}

const std::byte* board::read(const collective& of, int rank, std::int64_t bytes) {
  await(of, rank, rank + 1);
  return checked(of, rank, bytes);
}

std::span<const void* const> board::read_all(const collective& of, std::int64_t bytes) {
  const int size = static_cast<int>(all_.size());
  await(of, 0, size);
  for (int r = 0; r < size; ++r) all_[static_cast<std::size_t>(r)] = checked(of, r, bytes);
  return all_;
}

void board::leave(const collective& of) { pages_[rank_].left.store(of.number(), std::memory_order_release); }

}  // namespace kerngrad::mpi::detail
