// SPDX-License-Identifier: Apache-2.0
// Communicators, messages and sums that the units of kerngrad.mpi share. Included in the purview of the module, after
// its module line, with mpi.h and the headers of the standard library before that line.
#ifndef KERNGRAD_MODULES_MPI_LINK_H_
#define KERNGRAD_MODULES_MPI_LINK_H_

namespace kerngrad::mpi::detail {

// ------------------------------------------------------------------------------------------ communicators

class board;

// A communicator of MPI, as the values of a program name it.
struct link {
  MPI_Comm comm;
  std::int64_t number;
  int rank, size;
  std::int64_t most_bytes;             // of a message; longer arrays are several messages
  std::unique_ptr<board> small;        // for small arrays; null if the ranks share no memory
  std::vector<int> world_ranks{};      // of its ranks
  std::atomic<std::int64_t> calls{0};  // how many ops began
  bool crowded;                        // waits leave the CPU soon
  std::atomic<bool> broken{false};     // an op failed midway: its messages may still arrive
  std::atomic<bool> abandoned{false};  // MPI may still read memory of messages that this rank gave up

  // The number of the next call, from 1. One thread at a time calls ops of a communicator.
  inline std::int64_t begin_call() {
    const std::int64_t number = calls.load(std::memory_order_relaxed) + 1;
    calls.store(number, std::memory_order_relaxed);
    return number;
  }
  link(MPI_Comm of, std::int64_t number_of);
  ~link();
};

// Number of communicators. Starts MPI if that did not happen yet. Throws if it has ended.
std::int64_t links_made();
// Throws if there is none of that number.
link& link_of(std::int64_t number);
// Gives a communicator of the MPI library a number.
std::int64_t add_link(MPI_Comm comm);
// True if other threads than the one that started MPI may call it.
bool takes_threads();
// True if all ranks of a communicator are on one machine. All ranks call it.
bool is_on_one_machine(MPI_Comm comm);
// True if this rank has heard that a rank has ended.
bool has_ended(int world_rank);
// Takes the messages of ranks that have ended. It also lets MPI make progress with other messages.
void hear_of_ended_ranks();
// True if the ranks on the CPUs of this rank have more threads than CPUs, at so many threads a rank. Waits then leave
// their CPU soon.
bool is_crowded(int threads_of_rank);
// Compare calls before they send anything.
inline std::atomic<bool> is_checked{false};

// Throws for a code that is not MPI_SUCCESS, with MPI's text.
void require(int code, std::string_view function);
// "rank 2", "ranks 0, 2".
std::string ranks_text(std::vector<int> ranks);

// ------------------------------------------------------------------------------------------ calls

// The name of a function in errors, as ranks compare it, and a number for the tags of its messages.
class function_name {
 public:
  static constexpr std::size_t op_size = 24;

  consteval function_name(const char* text) : view_(text) {
    const std::string_view last = view_.substr(view_.rfind(':') + 1);
    unsigned sum = 0;
    for (const char c : last) sum = sum * 31 + static_cast<unsigned char>(c);
    kind_ = static_cast<int>(sum % 16);
    // A name that is too long is no constant expression here: it has no byte 0 at its end.
    for (std::size_t i = 0; i <= last.size(); ++i) op_[i] = i < last.size() ? last[i] : '\0';
  }
  constexpr operator std::string_view() const { return view_; }
  // Without the namespaces.
  constexpr const char (&op() const)[op_size] { return op_; }
  constexpr int kind() const { return kind_; }

 private:
  std::string_view view_;
  char op_[op_size] = {};
  int kind_ = 0;
};

// A call of an op as the ranks compare it in the checked mode.
struct call_header {
  std::int64_t number = 0;  // of the call on its communicator, from 1
  char op[function_name::op_size] = {};
  std::int32_t type = -1, rank = 0;
  std::int64_t dims[max_rank] = {};
  std::int32_t detail = 0;          // the root, or which reduction
  std::int32_t to = -1, from = -1;  // partners
};

// One op on one communicator: its name in errors, the tag of its messages, its check.
class collective {
 public:
  // `x` is null for a call without an array. Throws if an op on the communicator failed before.
  collective(link& on, const function_name& function, const view* x, int detail = 0, int to = -1, int from = -1);
  inline link& on() const { return on_; }
  inline const function_name& function() const { return function_; }
  int tag() const;
  inline std::int64_t number() const { return number_; }
  // In the checked mode, throws on every rank where the ranks' calls differ.
  inline void compare() const {
    if (is_checked && on_.size > 1) compare_calls();
  }
  // Throws an error of this call. Later ops of this rank on the communicator throw as well.
  [[noreturn]] void refuse(const std::string& got, const std::string& wanted, std::string_view advice = {}) const;

 private:
  call_header header() const;
  void compare_calls() const;

  link& on_;
  const function_name& function_;
  const view* x_;
  int detail_, to_, from_;
  std::int64_t number_;
};

// A wait for other ranks. It spins for a millisecond, because most arrays are there within microseconds, and a rank
// that left its CPU to other programs may get it back late. On a crowded machine it spins for a sixteenth of that.
// Then it leaves the CPU: another thread of this rank may compute.
class waiting {
 public:
  // A look at the clock takes as long as some turns of a loop that reads memory. A turn may itself leave the CPU, in
  // MPI, for any time: then look more often.
  inline waiting(const collective& of, std::int64_t turns_between_looks)
      : of_(of), turns_between_looks_(turns_between_looks), next_(turns_between_looks) {}
  // Call it when nothing has arrived. It returns true from time to time: then call `look`.
  inline bool pause() { return ++turns_ >= next_ && yield(); }
  // Call it when a part of the array has arrived. The time-out begins again. So does the spinning, but for a crowded
  // machine, on which each of many short messages would spin.
  inline void go_on() {
    arrived_ = looked_;
    if (!of_.on().crowded) since_ = {};
  }
  // Throws if one of these ranks, which are waited for, has ended, or after the time-out.
  void look(std::vector<int> missing) const;

 private:
  bool yield();

  const collective& of_;
  const std::int64_t turns_between_looks_;
  std::int64_t turns_ = 0, next_;
  std::chrono::steady_clock::time_point since_{}, arrived_{}, looked_{};
};

// ------------------------------------------------------------------------------------------ messages

// Memory that messages are sent from. It stays until the process ends if the communicator has abandoned messages.
class message_memory {
 public:
  message_memory(const link& on, std::size_t bytes);
  ~message_memory();
  message_memory(const message_memory&) = delete;
  message_memory& operator=(const message_memory&) = delete;
  inline std::byte* get() const { return bytes_.get(); }

 private:
  const link& on_;
  std::unique_ptr<std::byte[]> bytes_;
};

// Messages that are under way. They are over when `finish` has returned. If it throws, the destructor cancels those
// that arrive and abandons those that leave: the memory of these has to stay.
class messages {
 public:
  inline explicit messages(const collective& of) : messages(of, of.tag()) {}
  messages(const collective& of, int tag);
  ~messages();
  messages(const messages&) = delete;
  messages& operator=(const messages&) = delete;

  void send(int to, const void* data, std::int64_t bytes);
  void receive(int from, void* data, std::int64_t bytes);
  // Waits for all. Throws after the time-out, and if a rank that is waited for has ended.
  void finish();

 private:
  struct message {
    MPI_Request request;
    int rank;
    std::int64_t bytes;  // wanted; -1 for a message that is sent
  };
  template <class Start>
  void start(int rank, std::byte* data, std::int64_t bytes, bool arrives, const Start& start_part);
  bool is_over(message& one);
  void give_up();

  const collective& of_;
  int tag_;
  std::vector<message> under_way_{};
};

// ------------------------------------------------------------------------------------------ shared memory

// Memory that all ranks of a communicator share, where they are on one machine. In a call, a rank copies its array
// there once, and the others read it in place.
class board {
 public:
  static constexpr std::int64_t most_bytes = 8192;  // of an array

  // All ranks call it. Gives null for one rank, if `near` says that they are on several machines, and if there is no
  // memory.
  static std::unique_ptr<board> shared_by(MPI_Comm comm, int rank, int size, bool near);

  // Writes the array of this rank in this call, once no rank reads the array that was in its place.
  void write(const collective& of, const void* data, std::int64_t bytes);
  // Waits for the array of a rank. The array stays until this rank calls `leave`.
  const std::byte* read(const collective& of, int rank, std::int64_t bytes);
  // The arrays of all ranks.
  std::span<const void* const> read_all(const collective& of, std::int64_t bytes);
  // Ends the call of this rank.
  void leave(const collective& of);

 private:
  struct array;
  struct page;
  board(page* pages, int rank, int size);
  void await(const collective& of, int first, int last) const;
  const std::byte* checked(const collective& of, int rank, std::int64_t bytes);

  page* pages_;
  int rank_;
  std::vector<const void*> all_;    // the result of read_all
  std::vector<std::int64_t> left_;  // for each rank, a call that it has left; it may have left later ones
};

// ------------------------------------------------------------------------------------------ sums

// Folds the arrays of all ranks in their order. y may be one of them. `how` is not a mean for integers.
void fold(reduction how, dtype type, std::span<const void* const> parts, void* y, std::int64_t count);

// ------------------------------------------------------------------------------------------ algorithms

// All of them take elements on the host. x and y may be one array in all_reduce and broadcast alone.
void all_reduce(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count);
// Part `rank` of the sum, whose parts have `count` elements each.
void reduce_scatter(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count);
void reduce(const collective& of, int root, dtype type, const void* x, void* y, std::int64_t count);
void broadcast(const collective& of, int root, const void* x, void* y, std::int64_t bytes);
void all_gather(const collective& of, const void* x, void* y, std::int64_t bytes);
void all_to_all(const collective& of, const void* x, void* y, std::int64_t bytes_of_part);
// A partner of -1 is none: without a sender y is zeros.
void send_recv(const collective& of, int to, int from, const void* x, void* y, std::int64_t bytes);
void barrier(const collective& of);

}  // namespace kerngrad::mpi::detail

#endif  // KERNGRAD_MODULES_MPI_LINK_H_
