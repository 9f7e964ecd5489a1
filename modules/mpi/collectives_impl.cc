// SPDX-License-Identifier: Apache-2.0
// Collective operations. MPI's own fix neither the order of a sum nor which rank a wait is for; these do. Small arrays
// of ranks that share memory go through it, others through messages between pairs of ranks. Sums use the two steps of
// Rabenseifner (2004): each rank adds up one part, then all ranks exchange their parts, so that no rank sends more than
// twice its array.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi::detail {
namespace {

// Up to this many bytes each rank sends its whole array to all others: one step in place of two.
constexpr std::int64_t small_sum = 4096;
// Each rank adds up all elements of arrays in shared memory, if they have at most this many bytes together.
constexpr std::int64_t small_sums = 65536;
// Up to this many bytes the root of two ranks adds up all elements: one step in place of two.
constexpr std::int64_t small_sum_of_two = 1 << 20;
// From this many bytes on a broadcast scatters parts, which the ranks then exchange.
constexpr std::int64_t large_broadcast = 65536;

std::byte* bytes_at(void* p, std::int64_t offset) { return static_cast<std::byte*>(p) + offset; }
const std::byte* bytes_at(const void* p, std::int64_t offset) { return static_cast<const std::byte*>(p) + offset; }

void copy_bytes(const void* x, void* y, std::int64_t bytes) {
  if (x != y && bytes > 0) std::memcpy(y, x, static_cast<std::size_t>(bytes));
}

// The first element of part r of `count` elements, for r up to the number of ranks.
std::int64_t part_begin(const link& on, std::int64_t count, int r) {
  return count / on.size * r + std::min<std::int64_t>(count % on.size, r);
}

// The shared memory for arrays of so many bytes; null if they go by messages.
board* shared(const link& on, std::int64_t bytes) { return bytes <= board::most_bytes ? on.small.get() : nullptr; }
board* shared_sum(const link& on, std::int64_t bytes) {
  return bytes <= small_sums / on.size ? shared(on, bytes) : nullptr;
}

// Memory for the arrays of the other ranks. It counts under the memory limits as elements do.
struct arrivals {
  counted_memory counted;
  message_memory all;
  std::int64_t each;
  arrivals(const link& on, int arrays, std::int64_t bytes)
      : counted(kernels::product_of(arrays, bytes + 64)),
        all(on, static_cast<std::size_t>(counted.bytes())),
        each(bytes) {}
  // 64 bytes of room put each array at a multiple of 64.
  std::byte* operator[](int i) const {
    const auto at = reinterpret_cast<std::uintptr_t>(all.get() + i * (each + 64));
    return all.get() + i * (each + 64) + (64 - at % 64) % 64;
  }
};

// Receives an array from each other rank, given its part of x, and folds them with the rank's own in rank order.
// `begin` and `end` say which elements of x rank r adds up. With a root it alone adds, and the others call `meanwhile`
// after their messages have begun.
constexpr int every_rank = -1;
template <class Begin, class F>
void add_parts(const collective& of, reduction how, dtype type, const void* x, void* y, int root, Begin begin,
               F meanwhile) {
  const link& on = of.on();
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto bytes_of = [&](int r) { return (begin(r, true) - begin(r, false)) * size; };
  const auto adds = [&](int r) { return root == every_rank || r == root; };
  const std::int64_t own = bytes_of(on.rank);
  const arrivals there(on, adds(on.rank) ? on.size : 0, own);
  messages exchange(of);
  std::vector<const void*> parts(static_cast<std::size_t>(on.size));
  for (int step = 1; step < on.size; ++step) {
    // Each rank begins with its neighbor, so that not all ranks send to the same one.
    const int to = (on.rank + step) % on.size, from = (on.rank - step + on.size) % on.size;
    if (adds(on.rank)) exchange.receive(from, there[from], own), parts[static_cast<std::size_t>(from)] = there[from];
    if (adds(to)) exchange.send(to, bytes_at(x, begin(to, false) * size), bytes_of(to));
  }
  if (!adds(on.rank)) meanwhile();
  exchange.finish();
  if (!adds(on.rank)) return;
  parts[static_cast<std::size_t>(on.rank)] = bytes_at(x, begin(on.rank, false) * size);
  fold(how, type, parts, y, begin(on.rank, true) - begin(on.rank, false));
}
template <class Begin>
void add_parts(const collective& of, reduction how, dtype type, const void* x, void* y, Begin begin) {
  add_parts(of, how, type, x, y, every_rank, begin, [] {});
}

}  // namespace

void all_reduce(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count) {
  const link& on = of.on();
  const auto size = static_cast<std::int64_t>(size_of(type));
  if (on.size == 1) return copy_bytes(x, y, count * size);
  if (board* const all = shared_sum(on, count * size)) {
    all->write(of, x, count * size);
    fold(how, type, all->read_all(of, count * size), y, count);
    return all->leave(of);
  }
  if (count * size <= small_sum || count < on.size)
    return add_parts(of, how, type, x, y, [&](int, bool end) { return end ? count : 0; });
  const auto begin = [&](int r, bool end) { return part_begin(on, count, r + (end ? 1 : 0)); };
  add_parts(of, how, type, x, bytes_at(y, begin(on.rank, false) * size), begin);
  messages exchange(of);
  for (int step = 1; step < on.size; ++step) {
    const int to = (on.rank + step) % on.size, from = (on.rank - step + on.size) % on.size;
    exchange.receive(from, bytes_at(y, begin(from, false) * size), (begin(from, true) - begin(from, false)) * size);
    exchange.send(to, bytes_at(y, begin(on.rank, false) * size), (begin(on.rank, true) - begin(on.rank, false)) * size);
  }
  exchange.finish();
}

void reduce_scatter(const collective& of, reduction how, dtype type, const void* x, void* y, std::int64_t count) {
  const link& on = of.on();
  const auto size = static_cast<std::int64_t>(size_of(type));
  if (board* const all = shared(on, count * size * on.size)) {
    all->write(of, x, count * size * on.size);
    std::vector<const void*> parts(static_cast<std::size_t>(on.size));
    std::ranges::transform(all->read_all(of, count * size * on.size), parts.begin(),
                           [&](const void* each) { return bytes_at(each, on.rank * count * size); });
    fold(how, type, parts, y, count);
    return all->leave(of);
  }
  add_parts(of, how, type, x, y, [&](int r, bool end) { return count * (r + (end ? 1 : 0)); });
}

void reduce(const collective& of, int root, dtype type, const void* x, void* y, std::int64_t count) {
  const link& on = of.on();
  const auto size = static_cast<std::int64_t>(size_of(type));
  // The others have zeros, which they write after their messages have begun.
  const auto clear = [&] {
    if (on.rank != root) std::memset(y, 0, static_cast<std::size_t>(count * size));
  };
  if (board* const all = shared_sum(on, count * size)) {
    all->write(of, x, count * size);
    if (on.rank == root) fold(reduction::sum, type, all->read_all(of, count * size), y, count);
    clear();
    return all->leave(of);
  }
  if (count * size <= (on.size == 2 ? small_sum_of_two : small_sum) || count < on.size)
    return add_parts(of, reduction::sum, type, x, y, root, [&](int, bool end) { return end ? count : 0; }, clear);
  const auto begin = [&](int r, bool end) { return part_begin(on, count, r + (end ? 1 : 0)); };
  const auto bytes_of = [&](int r) { return (begin(r, true) - begin(r, false)) * size; };
  const arrivals sum(on, 1, bytes_of(on.rank));
  std::byte* const own = on.rank == root ? bytes_at(y, begin(root, false) * size) : sum[0];
  add_parts(of, reduction::sum, type, x, own, begin);
  messages exchange(of);
  if (on.rank != root) exchange.send(root, own, bytes_of(on.rank));
  clear();
  for (int r = 0; on.rank == root && r < on.size; ++r)
    if (r != root) exchange.receive(r, bytes_at(y, begin(r, false) * size), bytes_of(r));
  exchange.finish();
}

void broadcast(const collective& of, int root, const void* x, void* y, std::int64_t bytes) {
  const link& on = of.on();
  if (board* const all = shared(on, bytes)) {
    if (on.rank == root) all->write(of, x, bytes), copy_bytes(x, y, bytes);
    else copy_bytes(all->read(of, root, bytes), y, bytes);
    return all->leave(of);
  }
  const int place = (on.rank - root + on.size) % on.size;  // of this rank in a tree whose root is 0
  const auto rank_at = [&](int other) { return (other + root) % on.size; };
  const void* const have = place == 0 ? x : y;
  // The root copies its array while messages are under way.
  const auto finish = [&](messages& sent) {
    if (place == 0) copy_bytes(x, y, bytes);
    sent.finish();
  };
  if (bytes < large_broadcast || on.size == 2) {
    // A binomial tree: a place gets the array from the place without its lowest bit.
    if (place != 0) {
      messages arriving(of);
      arriving.receive(rank_at(place & (place - 1)), y, bytes);
      arriving.finish();
    }
    messages leaving(of);
    for (int bit = 1; bit < on.size && (place & bit) == 0; bit <<= 1)
      if (place + bit < on.size) leaving.send(rank_at(place + bit), have, bytes);
    return finish(leaving);
  }
  const auto begin = [&](int at) { return part_begin(on, bytes, at); };
  const auto bytes_of = [&](int at) { return begin(at + 1) - begin(at); };
  messages parts(of);
  for (int at = 1; place == 0 && at < on.size; ++at) parts.send(rank_at(at), bytes_at(have, begin(at)), bytes_of(at));
  if (place != 0) parts.receive(root, bytes_at(y, begin(place)), bytes_of(place));
  parts.finish();
  messages exchange(of);
  for (int step = 1; step < on.size; ++step) {
    const int to = (place + step) % on.size, from = (place - step + on.size) % on.size;
    if (place != 0) exchange.receive(rank_at(from), bytes_at(y, begin(from)), bytes_of(from));
    if (to != 0) exchange.send(rank_at(to), bytes_at(have, begin(place)), bytes_of(place));
  }
  finish(exchange);
}

void all_gather(const collective& of, const void* x, void* y, std::int64_t bytes) {
  const link& on = of.on();
  if (board* const all = shared(on, bytes)) {
    all->write(of, x, bytes);
    std::int64_t at = 0;
    for (const void* const each : all->read_all(of, bytes)) copy_bytes(each, bytes_at(y, bytes * at++), bytes);
    return all->leave(of);
  }
  messages exchange(of);
  for (int step = 1; step < on.size; ++step) {
    const int to = (on.rank + step) % on.size, from = (on.rank - step + on.size) % on.size;
    exchange.receive(from, bytes_at(y, from * bytes), bytes);
    exchange.send(to, x, bytes);
  }
  copy_bytes(x, bytes_at(y, on.rank * bytes), bytes);
  exchange.finish();
}

void all_to_all(const collective& of, const void* x, void* y, std::int64_t bytes) {
  const link& on = of.on();
  if (board* const all = shared(on, bytes * on.size)) {
    all->write(of, x, bytes * on.size);
    std::int64_t at = 0;
    for (const void* const each : all->read_all(of, bytes * on.size))
      copy_bytes(bytes_at(each, on.rank * bytes), bytes_at(y, bytes * at++), bytes);
    return all->leave(of);
  }
  messages exchange(of);
  for (int step = 1; step < on.size; ++step) {
    const int to = (on.rank + step) % on.size, from = (on.rank - step + on.size) % on.size;
    exchange.receive(from, bytes_at(y, from * bytes), bytes);
    exchange.send(to, bytes_at(x, to * bytes), bytes);
  }
  copy_bytes(bytes_at(x, on.rank * bytes), bytes_at(y, on.rank * bytes), bytes);
  exchange.finish();
}

void send_recv(const collective& of, int to, int from, const void* x, void* y, std::int64_t bytes) {
  const link& on = of.on();
  if (from < 0) std::memset(y, 0, static_cast<std::size_t>(bytes));
  if (board* const all = shared(on, bytes)) {
    if (to >= 0) all->write(of, x, bytes);
    if (from >= 0) copy_bytes(all->read(of, from, bytes), y, bytes);
    return all->leave(of);
  }
  if (to == on.rank && from == on.rank) copy_bytes(x, y, bytes);
  messages exchange(of);
  if (from >= 0 && from != on.rank) exchange.receive(from, y, bytes);
  if (to >= 0 && to != on.rank) exchange.send(to, x, bytes);
  exchange.finish();
}

// Every rank hears of every other: a time-out then knows which one is missing.
void barrier(const collective& of) {
  const link& on = of.on();
  if (board* const all = shared(on, 0)) {
    all->write(of, nullptr, 0);
    all->read_all(of, 0);
    return all->leave(of);
  }
  messages exchange(of);
  for (int other = 0; other < on.size; ++other)
    if (other != on.rank) exchange.receive(other, nullptr, 0), exchange.send(other, nullptr, 0);
  exchange.finish();
}

}  // namespace kerngrad::mpi::detail
