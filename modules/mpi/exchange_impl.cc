// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, waited for with a limit, and the comparison of calls in the checked mode.
module;
#include <mpi.h>
#include <sched.h>
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
#include <thread>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/engine/operands.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi::detail {
namespace {

using clock = std::chrono::steady_clock;

// Tags of ops count calls, so that messages of different calls never meet. MPI promises tags to 32767.
constexpr int tags_of_calls = 16384, header_tag = 16384, header_kinds = 2;
// How long a wait spins, how long it yields its CPU before it sleeps, and how long it sleeps at a time. On a crowded
// machine the first two are shorter by a factor.
constexpr std::chrono::microseconds spinning{1000}, yielding{10'000}, sleeping{50};
constexpr int crowding = 16;

std::string text_of(const call_header& h) {
  std::string text = h.op;
  if (h.type >= 0) {
    std::vector<std::int64_t> dims;
    for (const std::int64_t d : h.dims)
      if (d >= 0) dims.push_back(d);
    text += " of " + std::string(name_of(static_cast<dtype>(h.type))) + " " + to_string(shape(dims));
  }
  if (h.detail != 0) text += " with " + std::to_string(h.detail) + " as root or reduction";
  return text;
}

bool same_call(const call_header& a, const call_header& b) {
  return a.number == b.number && std::strcmp(a.op, b.op) == 0 && a.type == b.type && a.detail == b.detail &&
         std::equal(std::begin(a.dims), std::end(a.dims), std::begin(b.dims));
}

// Memory that stays until the process ends.
struct staying {
  std::unique_ptr<std::byte[]> bytes;
  staying* next;
};
std::atomic<staying*> all_staying{nullptr};

}  // namespace

// ------------------------------------------------------------------------------------------ calls

collective::collective(link& on, const function_name& function, const view* x, int detail, int to, int from)
    : on_(on), function_(function), x_(x), detail_(detail), to_(to), from_(from), number_(on.begin_call()) {
  if (on.broken)
    fail(function, "communicator " + std::to_string(on.number) + " after an op on it failed", "one without failures",
         "end the program on every rank");
  kernels::arrays_stay = false;
}

int collective::tag() const { return static_cast<int>(number_ % (tags_of_calls / 16)) * 16 + function_.kind(); }

void collective::refuse(const std::string& got, const std::string& wanted, std::string_view advice) const {
  on_.broken = true;
  fail(function_, got, wanted, advice);
}

call_header collective::header() const {
  call_header all{.number = number_, .rank = on_.rank, .detail = detail_, .to = to_, .from = from_};
  std::ranges::copy(function_.op(), all.op);
  std::fill(std::begin(all.dims), std::end(all.dims), -1);
  if (x_) {
    all.type = static_cast<std::int32_t>(x_->type);
    std::copy(x_->dims.begin(), x_->dims.end(), all.dims);
  }
  return all;
}

void collective::compare_calls() const {
  const message_memory memory(on_, sizeof(call_header));
  const call_header& own = *new (memory.get()) call_header(header());
  std::vector<call_header> all(static_cast<std::size_t>(on_.size));
  all[static_cast<std::size_t>(on_.rank)] = own;
  {
    messages exchange(*this, header_tag + static_cast<int>(number_ % header_kinds));
    for (int other = 0; other < on_.size; ++other) {
      if (other == on_.rank) continue;
      exchange.receive(other, &all[static_cast<std::size_t>(other)], sizeof(call_header));
      exchange.send(other, &own, sizeof(call_header));
    }
    exchange.finish();
  }
  constexpr std::string_view advice = "make the same calls in the same order on every rank";
  for (const call_header& one : all) {
    if (same_call(one, all[0])) continue;
    refuse("call " + std::to_string(one.number) + " of rank " + std::to_string(one.rank) + ", " + text_of(one),
           "call " + std::to_string(all[0].number) + " of rank 0, " + text_of(all[0]), advice);
  }
  const auto partner = [&](int rank) -> const call_header& { return all[static_cast<std::size_t>(rank)]; };
  for (const call_header& one : all) {
    if (one.to >= 0 && partner(one.to).from != one.rank)
      refuse("rank " + std::to_string(one.rank) + " that sends to rank " + std::to_string(one.to),
             "a rank " + std::to_string(one.to) + " that receives from it", advice);
    if (one.from >= 0 && partner(one.from).to != one.rank)
      refuse("rank " + std::to_string(one.rank) + " that receives from rank " + std::to_string(one.from),
             "a rank " + std::to_string(one.from) + " that sends to it", advice);
  }
}

// ------------------------------------------------------------------------------------------ waiting

bool waiting::yield() {
  const clock::time_point now = clock::now();
  if (since_ == clock::time_point{}) since_ = arrived_ = looked_ = now;
  const auto waited = (now - since_) * (of_.on().crowded ? crowding : 1);
  const bool spins = waited < spinning;
  next_ = turns_ + (spins ? turns_between_looks_ : 1);
  if (spins) return false;
  if (waited < yielding) sched_yield();
  else std::this_thread::sleep_for(sleeping);
  hear_of_ended_ranks();
  if (now - looked_ < std::chrono::milliseconds(20)) return false;
  looked_ = now;
  return true;
}

void waiting::look(std::vector<int> missing) const {
  const link& on = of_.on();
  const auto waited = looked_ - arrived_;
  const std::string call = "call " + std::to_string(of_.number()) + " on communicator " + std::to_string(on.number);
  // A rank sends all that it owes before it ends, so its messages are here soon.
  std::vector<int> ended;
  if (waited > std::chrono::milliseconds(200))
    for (const int rank : missing)
      if (has_ended(on.world_ranks[static_cast<std::size_t>(rank)])) ended.push_back(rank);
  if (!ended.empty())
    of_.refuse("no message from " + ranks_text(std::move(ended)) + " that ended before " + call,
               "ranks that make the same calls");
  if (std::chrono::duration<double>(waited).count() > timeout())
    of_.refuse("no message from " + ranks_text(std::move(missing)) + " within " + to_string(attr_value(timeout())) +
                   " seconds of " + call,
               "every rank in the same call", "look for a rank that hangs, or call set_timeout for slower ranks");
}

// ------------------------------------------------------------------------------------------ messages

message_memory::message_memory(const link& on, std::size_t bytes) : on_(on), bytes_(new std::byte[bytes]) {}

message_memory::~message_memory() {
  if (!on_.abandoned) return;
  // Memory in a list is no leak.
  auto* const more = new (std::nothrow) staying{std::move(bytes_), all_staying.load()};
  if (!more) {
    static_cast<void>(bytes_.release());
    return;
  }
  while (!all_staying.compare_exchange_weak(more->next, more)) continue;
}

messages::messages(const collective& of, int tag) : of_(of), tag_(tag) {
  under_way_.reserve(static_cast<std::size_t>(kernels::product_of(2, of.on().size)));
}

// An array is messages of most_bytes, and a shorter one, which may be empty. So an array of another size never passes
// for the one that is wanted.
template <class Start>
void messages::start(int rank, std::byte* data, std::int64_t bytes, bool arrives, const Start& start_part) {
  const std::int64_t most = of_.on().most_bytes;
  for (std::int64_t part = most; part == most; data += part, bytes -= part) {
    part = std::min(bytes, most);
    MPI_Request request;
    require(start_part(data, static_cast<int>(part), MPI_BYTE, rank, tag_, of_.on().comm, &request), of_.function());
    under_way_.push_back({request, rank, arrives ? part : -1});
  }
}

void messages::send(int to, const void* data, std::int64_t bytes) {
  start(to, static_cast<std::byte*>(const_cast<void*>(data)), bytes, false, MPI_Isend);
}

void messages::receive(int from, void* data, std::int64_t bytes) {
  start(from, static_cast<std::byte*>(data), bytes, true, MPI_Irecv);
}

// Lets MPI make progress with all messages.
bool messages::is_over(message& one) {
  if (one.request == MPI_REQUEST_NULL) return true;
  int over = 0;
  MPI_Status status;
  require(MPI_Test(&one.request, &over, &status), of_.function());
  if (!over || one.bytes < 0) return over;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes != one.bytes)
    fail(of_.function(), std::to_string(bytes) + " bytes from rank " + std::to_string(one.rank),
         std::to_string(one.bytes), "give equal shapes and dtypes on every rank");
  return true;
}

void messages::finish() {
  waiting wait(of_, 4);
  for (message& one : under_way_) {
    while (!is_over(one)) {
      if (!wait.pause()) continue;
      std::vector<int> missing;
      for (message& other : under_way_)
        if (!is_over(other)) missing.push_back(other.rank);
      if (!missing.empty()) wait.look(std::move(missing));
    }
    wait.go_on();
  }
  under_way_.clear();
}

// Cancels messages that arrive, because the caller frees their memory. One that is just arriving needs its sender; if
// that one has stopped, there is no state in which this process could go on. MPI cannot take back a message that
// leaves: another rank may ask for it at any time, so its memory stays.
void messages::give_up() {
  for (message& one : under_way_) {
    if (one.request == MPI_REQUEST_NULL) continue;
    if (one.bytes < 0) {
      of_.on().abandoned = kernels::arrays_stay = true;
      MPI_Request_free(&one.request);
      continue;
    }
    MPI_Cancel(&one.request);
    const clock::time_point since = clock::now();
    for (int done = 0; !done;) {
      MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
      if (!done && clock::now() - since > std::chrono::seconds(5)) MPI_Abort(of_.on().comm, 1);
      if (!done) sched_yield();
    }
  }
}

messages::~messages() {
  if (under_way_.empty()) return;
  of_.on().broken = true;
  give_up();
}

}  // namespace kerngrad::mpi::detail
