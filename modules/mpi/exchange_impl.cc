// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, waited for with a limit, and the comparison of calls in the checked mode.
module;
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi::detail {
namespace {

using clock = std::chrono::steady_clock;

// Tags of ops count calls, so that messages of different calls never meet. MPI promises tags to 32767.
constexpr int tags_of_calls = 16384, header_tag = 16384, header_kinds = 2;
// An MPI count is an int.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

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

// A number in a tag for each function, so that the messages of different ones never meet either.
int kind_of_function(std::string_view name) {
  unsigned sum = 0;
  for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(c);
  return static_cast<int>(sum % 16);
}

}  // namespace

// ------------------------------------------------------------------------------------------ calls

collective::collective(link& on, std::string_view function, const view& x, int detail, int to, int from)
    : on_(on), function_(function) {
  if (on.broken)
    fail(function, "communicator " + std::to_string(on.number) + " after an op on it failed", "one without failures",
         "end the program on every rank");
  header_.number = ++on.calls;
  const std::string_view name = function.substr(function.rfind(':') + 1);
  std::memcpy(header_.op, name.data(), std::min(name.size(), sizeof header_.op - 1));
  std::fill(std::begin(header_.dims), std::end(header_.dims), -1);
  if (x.data) {
    header_.type = static_cast<std::int32_t>(x.type);
    std::copy(x.dims.begin(), x.dims.end(), header_.dims);
  }
  header_.rank = on.rank;
  header_.detail = detail;
  header_.to = to;
  header_.from = from;
  tag_ = static_cast<int>(header_.number % (tags_of_calls / 16)) * 16 + kind_of_function(name);
}

void collective::compare() {
  if (!checked() || on_.size == 1) return;
  std::vector<call_header> all(static_cast<std::size_t>(on_.size));
  all[static_cast<std::size_t>(on_.rank)] = header_;
  {
    messages exchange(*this, header_tag + static_cast<int>(header_.number % header_kinds));
    for (int other = 0; other < on_.size; ++other) {
      if (other == on_.rank) continue;
      exchange.receive(other, &all[static_cast<std::size_t>(other)], sizeof(call_header));
      exchange.send(other, &header_, sizeof(call_header));
    }
    exchange.finish();
  }
  const auto refuse = [&](const std::string& got, const std::string& wanted) {
    on_.broken = true;
    fail(function_, got, wanted, "make the same calls in the same order on every rank");
  };
  for (const call_header& one : all) {
    if (same_call(one, all[0])) continue;
    refuse("call " + std::to_string(one.number) + " of rank " + std::to_string(one.rank) + ", " + text_of(one),
           "call " + std::to_string(all[0].number) + " of rank 0, " + text_of(all[0]));
  }
  const auto partner = [&](int rank) -> const call_header& { return all[static_cast<std::size_t>(rank)]; };
  for (const call_header& one : all) {
    if (one.to >= 0 && partner(one.to).from != one.rank)
      refuse("rank " + std::to_string(one.rank) + " that sends to rank " + std::to_string(one.to),
             "a rank " + std::to_string(one.to) + " that receives from it");
    if (one.from >= 0 && partner(one.from).to != one.rank)
      refuse("rank " + std::to_string(one.rank) + " that receives from rank " + std::to_string(one.from),
             "a rank " + std::to_string(one.from) + " that sends to it");
  }
}

// ------------------------------------------------------------------------------------------ messages

void messages::send(int to, const void* data, std::int64_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  do {
    const std::int64_t part = std::min(bytes, most_bytes);
    MPI_Request request;
    require(MPI_Isend(from, static_cast<int>(part), MPI_BYTE, to, tag_, of_.on().comm, &request), of_.function());
    requests_.push_back(request);
    abouts_.push_back({to, -1});
    from += part, bytes -= part;
  } while (bytes > 0);
}

void messages::receive(int from, void* data, std::int64_t bytes) {
  auto* to = static_cast<std::byte*>(data);
  do {
    const std::int64_t part = std::min(bytes, most_bytes);
    MPI_Request request;
    require(MPI_Irecv(to, static_cast<int>(part), MPI_BYTE, from, tag_, of_.on().comm, &request), of_.function());
    requests_.push_back(request);
    abouts_.push_back({from, part});
    to += part, bytes -= part;
  } while (bytes > 0);
}

std::vector<int> messages::missing_ranks() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (requests_[i] != MPI_REQUEST_NULL) ranks.push_back(abouts_[i].rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void messages::finish() {
  std::vector<int> done(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  std::size_t left = requests_.size();
  std::int64_t idle = 0;
  clock::time_point since{}, looked{};
  while (left > 0) {
    int count = 0;
    const int code =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done.data(), statuses.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) require(code, of_.function());
    for (int i = 0; i < count; ++i) {
      const MPI_Status& status = statuses[static_cast<std::size_t>(i)];
      if (code == MPI_ERR_IN_STATUS) require(status.MPI_ERROR, of_.function());
      const about& one = abouts_[static_cast<std::size_t>(done[static_cast<std::size_t>(i)])];
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      if (one.bytes >= 0 && bytes != one.bytes)
        fail(of_.function(), std::to_string(bytes) + " bytes from rank " + std::to_string(one.rank),
             std::to_string(one.bytes), "give equal shapes and dtypes on every rank");
    }
    if (count > 0) {
      left -= static_cast<std::size_t>(count);
      idle = 0;
      continue;
    }
    // Spins at first: most messages are there within microseconds. Then it leaves the CPU to others.
    if (++idle < 1024) continue;
    const clock::time_point now = clock::now();
    if (idle == 1024) since = looked = now;
    if (idle < 8192) sched_yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (now - looked < std::chrono::milliseconds(20)) continue;
    looked = now;
    hear_of_ended_ranks();
    // A rank sends all that it owes before it ends, so its messages are here soon.
    const bool waited_a_moment = now - since > std::chrono::milliseconds(200);
    std::vector<int> ended;
    if (waited_a_moment)
      for (const int rank : missing_ranks())
        if (has_ended(of_.on().world_ranks[static_cast<std::size_t>(rank)])) ended.push_back(rank);
    if (!ended.empty()) refuse(ended, true);
    if (std::chrono::duration<double>(now - since).count() > timeout()) refuse(missing_ranks(), false);
  }
  requests_.clear();
  abouts_.clear();
}

void messages::refuse(const std::vector<int>& missing, bool ended) {
  const std::string call =
      "call " + std::to_string(of_.number()) + " on communicator " + std::to_string(of_.on().number);
  if (ended)
    fail(of_.function(), "no message from " + ranks_text(missing) + " that ended before " + call,
         "ranks that make the same calls");
  fail(of_.function(),
       "no message from " + ranks_text(missing) + " within " + to_string(attr_value(timeout())) + " seconds of " + call,
       "every rank in the same call", "look for a rank that hangs, or call set_timeout for slower ranks");
}

// Takes back what is under way, because the caller frees the memory. A message that is just arriving needs its sender;
// if that one has stopped, there is no state in which this process could go on.
void messages::give_up() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (abouts_[i].bytes < 0) {
      MPI_Request_free(&requests_[i]);
      continue;
    }
    MPI_Cancel(&requests_[i]);
    const clock::time_point since = clock::now();
    for (int done = 0; !done;) {
      MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE);
      if (!done && clock::now() - since > std::chrono::seconds(5)) MPI_Abort(of_.on().comm, 1);
      if (!done) sched_yield();
    }
  }
}

messages::~messages() {
  if (requests_.empty()) return;
  of_.on().broken = true;
  give_up();
}

}  // namespace kerngrad::mpi::detail
