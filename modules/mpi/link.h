// SPDX-License-Identifier: Apache-2.0
// Communicators, messages and sums that the units of kerngrad.mpi share. Included in the purview of the module, after
// its module line, with mpi.h and the headers of the standard library before that line.
#ifndef KERNGRAD_MODULES_MPI_LINK_H_
#define KERNGRAD_MODULES_MPI_LINK_H_

namespace kerngrad::mpi::detail {

// ------------------------------------------------------------------------------------------ communicators

// An MPI communicator as a program's values name it.
struct link {
  MPI_Comm comm;
  std::int64_t number;
  int rank, size;
  std::vector<int> world_ranks{};      // of its ranks
  std::atomic<std::int64_t> calls{0};  // how many ops began
  std::atomic<bool> broken{false};     // an op failed midway: its messages may still arrive
};

// Number of communicators. Starts MPI if that did not happen yet. Throws if it has ended.
std::int64_t links_made();
// Throws if there is none of that number.
link& link_of(std::int64_t number);
// Gives a communicator of the MPI library a number.
std::int64_t add_link(MPI_Comm comm);
// True if other threads than the one that started MPI may call it.
bool takes_threads();
// World ranks that have ended, as far as this rank has heard.
bool has_ended(int world_rank);
void hear_of_ended_ranks();

// Throws for a code that is not MPI_SUCCESS, with MPI's text.
void require(int code, std::string_view function);
// "rank 2", "ranks 0, 2".
std::string ranks_text(const std::vector<int>& ranks);

// ------------------------------------------------------------------------------------------ calls

// A call of an op as the ranks compare it in the checked mode.
struct call_header {
  std::int64_t number = 0;  // of the call on its communicator, from 1
  char op[24] = {};
  std::int32_t type = -1, rank = 0;
  std::int64_t dims[max_rank] = {};
  std::int32_t detail = 0;          // the root, or which reduction
  std::int32_t to = -1, from = -1;  // partners
};

// One op on one communicator: its name in errors, the tag of its messages, its check.
class collective {
 public:
  collective(link& on, std::string_view function, const view& x, int detail = 0, int to = -1, int from = -1);
  inline link& on() const { return on_; }
  inline std::string_view function() const { return function_; }
  inline int tag() const { return tag_; }
  inline std::int64_t number() const { return header_.number; }
  // In the checked mode, throws on every rank where the ranks' calls differ.
  void compare();

 private:
  link& on_;
  std::string_view function_;
  call_header header_;
  int tag_;
};

// Messages that are under way. They are over when `finish` has returned or thrown.
class messages {
 public:
  inline explicit messages(const collective& of) : of_(of), tag_(of.tag()) {}
  inline messages(const collective& of, int tag) : of_(of), tag_(tag) {}
  ~messages();
  messages(const messages&) = delete;
  messages& operator=(const messages&) = delete;

  void send(int to, const void* data, std::int64_t bytes);
  void receive(int from, void* data, std::int64_t bytes);
  // Waits for all. Throws after the time-out, and if a rank that is waited for has ended.
  void finish();

 private:
  struct about {
    int rank;
    std::int64_t bytes;  // wanted; -1 for a message that is sent
  };
  void give_up();
  [[noreturn]] void refuse(const std::vector<int>& missing, bool ended);
  std::vector<int> missing_ranks() const;

  const collective& of_;
  int tag_;
  std::vector<MPI_Request> requests_{};
  std::vector<about> abouts_{};
};

// ------------------------------------------------------------------------------------------ sums

// Folds the arrays of all ranks in their order. y may be one of them. `how` is not a mean for integers.
void fold(reduction how, dtype type, std::span<const void* const> parts, void* y, std::int64_t count);

// ------------------------------------------------------------------------------------------ algorithms

// All of them take elements on the host, in place where x and y are one array.
void all_reduce(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count);
// Part `rank` of the sum, whose parts have `count` elements each.
void reduce_scatter(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count);
void reduce(const collective& of, int root, dtype type, const void* x, void* y, std::int64_t count);
void broadcast(const collective& of, int root, const void* x, void* y, std::int64_t bytes);
void all_gather(const collective& of, const void* x, void* y, std::int64_t bytes);
void all_to_all(const collective& of, const void* x, void* y, std::int64_t bytes_of_part);
void barrier(const collective& of);

}  // namespace kerngrad::mpi::detail

#endif  // KERNGRAD_MODULES_MPI_LINK_H_
