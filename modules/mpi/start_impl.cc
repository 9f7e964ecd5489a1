// SPDX-License-Identifier: Apache-2.0
// Start and end of MPI, communicators, and what ranks that end tell the others.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/mpi/cpus.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi {

namespace detail {
namespace {

constexpr std::int64_t most_links = 4096;  // the attribute `comm` of the ops has the same bound
constexpr int ended_tag = 1;

// Communicators live until the process ends: ops name them by their index, and a recorded op may outlive all values.
std::atomic<link*> links[most_links];
std::atomic<std::int64_t> link_count{0};
std::atomic<bool> has_left{false};  // MPI has ended, or is about to

// All that there is one of.
struct process {
  MPI_Comm control = MPI_COMM_NULL;  // for ranks that end, and for the start
  bool threads = false, started_here = false;
  std::vector<cpu_mask> cpus{};  // of the ranks on this machine
  std::size_t place = 0;         // of this rank among them
  std::unique_ptr<std::atomic<bool>[]> others_ended{};
};
process& here() {
  static process one;
  return one;
}

std::atomic<double> seconds_to_wait{300};

constexpr std::string_view version = "kerngrad " KG_VERSION;

// Tells the other ranks that this one ends, and waits for theirs to end: they may still be in an op, which then throws.
// MPI calls it at the start of MPI_Finalize, by us or by the program.
int leave(MPI_Comm, int, void*, void*) {
  process& p = here();
  if (has_left.exchange(true)) return MPI_SUCCESS;
  int rank = 0, size = 1;
  MPI_Comm_rank(p.control, &rank);
  MPI_Comm_size(p.control, &size);
  std::vector<MPI_Request> sent;
  for (int other = 0; other < size; ++other)
    if (other != rank) MPI_Isend(nullptr, 0, MPI_BYTE, other, ended_tag, p.control, &sent.emplace_back());
  for (int other = 0; other < size; ++other)
    if (other != rank && !p.others_ended[static_cast<std::size_t>(other)])
      MPI_Recv(nullptr, 0, MPI_BYTE, other, ended_tag, p.control, MPI_STATUS_IGNORE);
  MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
  return MPI_SUCCESS;
}

void end_of_program() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
}

double number_in(const char* name, double fallback) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return fallback;
  double value = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [stop, code] = std::from_chars(text, end, value); code != std::errc{} || stop != end || !(value >= 0))
    fail("kg::mpi::communicator", std::string(name) + "=" + text, "a number that is not negative");
  return value;
}

// Each rank tells the others its version and its mode. All of them see all, so that all throw, or none. Every version
// has to understand the greeting, and the message of a rank that ends.
struct greeting {
  char version[64] = {};
  std::int32_t checked = 0;
};
static_assert(version.size() < sizeof greeting::version);
void greet(const process& p, int rank, int size) {
  std::vector<greeting> all(static_cast<std::size_t>(size));
  greeting& own = all[static_cast<std::size_t>(rank)];
  std::memcpy(own.version, version.data(), version.size());
  own.checked = is_checked;
  require(MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(), sizeof(greeting), MPI_BYTE, p.control),
          "kg::mpi::communicator");
  for (int r = 1; r < size; ++r) {
    const greeting &one = all[static_cast<std::size_t>(r)], &first = all[0];
    const auto mode = [](const greeting& g) {
      return std::string(g.version) + (g.checked ? " in the checked mode" : " without the checked mode");
    };
    if (std::strcmp(one.version, first.version) == 0 && one.checked == first.checked) continue;
    fail("kg::mpi::communicator", "rank " + std::to_string(r) + " with " + mode(one), mode(first) + ", as rank 0 has",
         "start the same program with the same environment on every rank");
  }
}

// The ranks of a communicator that are on this machine.
MPI_Comm neighbors_in(MPI_Comm comm) {
  MPI_Comm near = MPI_COMM_NULL;
  require(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near), "kg::mpi::communicator");
  return near;
}

// Asks the ranks on this machine for their CPUs.
void share_cpus(process& p) {
  MPI_Comm near = neighbors_in(p.control);
  int rank = 0, size = 1;
  MPI_Comm_rank(near, &rank);
  MPI_Comm_size(near, &size);
  p.place = static_cast<std::size_t>(rank);
  p.cpus.resize(static_cast<std::size_t>(size));
  p.cpus[p.place] = own_cpus();
  const int code = MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, p.cpus.data(), sizeof(cpu_mask), MPI_BYTE, near);
  MPI_Comm_free(&near);
  require(code, "kg::mpi::communicator");
}

// Starts MPI once. The first link is that of all ranks.
bool start() {
  process& p = here();
  int started = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Finalized(&ended);
  if (ended) fail("kg::mpi::communicator", "a call after the end of MPI", "calls before it");
  is_checked = number_in("KERNGRAD_MPI_CHECKED", 0) != 0;
  if (const double seconds = number_in("KERNGRAD_MPI_TIMEOUT", seconds_to_wait); seconds > 0) seconds_to_wait = seconds;
  MPI_Initialized(&started);
  if (!started) {
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "kg::mpi::communicator");
    p.started_here = true;
    std::atexit(end_of_program);
  } else {
    MPI_Query_thread(&level);
  }
  p.threads = level == MPI_THREAD_MULTIPLE;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &p.control), "kg::mpi::communicator");
  MPI_Comm_set_errhandler(p.control, MPI_ERRORS_RETURN);
  int rank = 0, size = 1, key = 0;
  MPI_Comm_rank(p.control, &rank);
  MPI_Comm_size(p.control, &size);
  p.others_ended = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(size));
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  // The greeting comes first: ranks of other versions may call other functions of MPI after it.
  greet(p, rank, size);
  share_cpus(p);
  MPI_Comm all = MPI_COMM_NULL;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &all), "kg::mpi::communicator");
  add_link(all);
  return true;
}

}  // namespace

void require(int code, std::string_view function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int size = 0;
  MPI_Error_string(code, text, &size);
  fail(function, "an error of MPI: " + std::string(text, static_cast<std::size_t>(size)), "a call that MPI accepts");
}

std::int64_t links_made() {
  [[maybe_unused]] static const bool started = start();
  if (has_left) fail("kg::mpi::communicator", "a call after the end of MPI", "calls before it");
  return link_count;
}

bool is_crowded(int threads_of_rank) { return is_crowded(here().cpus, here().place, threads_of_rank); }

bool is_on_one_machine(MPI_Comm comm) {
  MPI_Comm near = neighbors_in(comm);
  int count = 0, all = 0;
  MPI_Comm_size(near, &count);
  MPI_Comm_size(comm, &all);
  MPI_Comm_free(&near);
  // If the ranks are on several machines, all of them have fewer neighbors than ranks.
  return count == all;
}

link& link_of(std::int64_t number) {
  if (number >= 0 && number < most_links && !has_left) [[likely]]
    if (link* const made = links[number]) return *made;
  const std::int64_t count = links_made();
  if (number < 0 || number >= count)
    fail("kg::mpi::communicator", "number " + std::to_string(number), "a number from 0 to " + std::to_string(count - 1),
         "pass communicator::number()");
  return *links[number];
}

// Sizes of messages between ranks of one machine and of several. An MPI count is an int. Messages between machines are
// so short that Open MPI sends them at once (64 KiB over TCP). A longer one waits for an answer of its receiver. The
// answer queues after the data that the receiver sends itself, so that both directions take turns.
constexpr std::int64_t most_near = std::int64_t{1} << 30, most_far = std::int64_t{48} << 10;

link::link(MPI_Comm of, std::int64_t number_of) : comm(of), number(number_of), crowded(is_crowded(1)) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const bool near = is_on_one_machine(comm);
  most_bytes = near ? most_near : most_far;
  small = board::shared_by(comm, rank, size, near);
  MPI_Group own, all;
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(here().control, &all);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  world_ranks.resize(ranks.size());
  MPI_Group_translate_ranks(own, size, ranks.data(), all, world_ranks.data());
  MPI_Group_free(&own);
  MPI_Group_free(&all);
}
link::~link() = default;

std::int64_t add_link(MPI_Comm comm) {
  const std::int64_t number = link_count;
  if (number == most_links)
    fail("kg::mpi::communicator", "one more communicator", std::to_string(most_links) + " at most",
         "make them once, outside of loops");
  links[number] = new link(comm, number);
  link_count = number + 1;
  return number;
}

bool takes_threads() { return here().threads; }

bool has_ended(int world_rank) { return here().others_ended[static_cast<std::size_t>(world_rank)]; }

void hear_of_ended_ranks() {
  process& p = here();
  for (;;) {
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    // One thread takes the message that it found.
    if (MPI_Improbe(MPI_ANY_SOURCE, ended_tag, p.control, &there, &message, &status) != MPI_SUCCESS || !there) return;
    MPI_Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    p.others_ended[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
  }
}

std::string ranks_text(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

}  // namespace detail

communicator::communicator() { detail::link_of(0); }
communicator::communicator(std::int64_t number) : number_(number) { detail::link_of(number); }
int communicator::rank() const { return detail::link_of(number_).rank; }
int communicator::size() const { return detail::link_of(number_).size; }

communicator communicator::split(int color, int key) const {
  static constexpr detail::function_name name = "kg::mpi::communicator::split";
  if (color < 0) fail(name, "color " + std::to_string(color), "a color that is not negative");
  detail::link& all = detail::link_of(number_);
  detail::collective(all, name, nullptr).compare();
  MPI_Comm part = MPI_COMM_NULL;
  detail::require(MPI_Comm_split(all.comm, color, key, &part), name);
  return communicator(detail::add_link(part));
}

communicator communicator::duplicate() const {
  static constexpr detail::function_name name = "kg::mpi::communicator::duplicate";
  detail::link& all = detail::link_of(number_);
  detail::collective(all, name, nullptr).compare();
  MPI_Comm copy = MPI_COMM_NULL;
  detail::require(MPI_Comm_dup(all.comm, &copy), name);
  return communicator(detail::add_link(copy));
}

void set_checked(bool on) {
  detail::link_of(0);
  detail::is_checked = on;
}
bool checked() { return detail::is_checked; }

void set_timeout(double seconds) {
  if (!(seconds > 0)) fail("kg::mpi::set_timeout", to_string(attr_value(seconds)) + " seconds", "a number above 0");
  detail::link_of(0);
  detail::seconds_to_wait = seconds;
}
double timeout() { return detail::seconds_to_wait; }

void finish() {
  static constexpr detail::function_name name = "kg::mpi::finish";
  detail::collective(detail::link_of(0), name, nullptr).compare();
  if (detail::here().started_here) detail::end_of_program();
}

}  // namespace kerngrad::mpi
