// SPDX-License-Identifier: Apache-2.0
// Data-parallel training: gradients in buckets, which a thread sums over the ranks while the backward pass runs.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/autograd/ready.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi {
namespace {

constexpr detail::function_name self = "kg::mpi::data_parallel";

// A hash that any changed bit changes: words, mixed as SplitMix64 does.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  std::uint64_t z = (hash ^ word) * 0xbf58476d1ce4e5b9 + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 29)) * 0x94d049bb133111eb;
  return z ^ (z >> 32);
}
std::uint64_t hash_of(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  for (; bytes > 0; at += 8) {
    std::uint64_t word = 0;
    const std::size_t part = std::min<std::size_t>(bytes, 8);
    std::memcpy(&word, at, part);
    hash = mixed(hash, word);
    bytes -= part;
  }
  return hash;
}

// Values of one dtype that are summed together.
struct bucket {
  dtype type;
  std::vector<std::size_t> members{};
  std::int64_t count = 0;
  int missing = 0;  // members without a gradient in this step so far
  std::unique_ptr<detail::message_memory> memory{};

  std::byte* values() const { return memory->get(); }
};
// A variable and its place in a bucket.
struct place {
  variable of;
  std::size_t bucket = 0;
  std::int64_t begin = 0, count = 0;
  bool filled = false;  // in this backward pass
  bool used = false;    // since the last step
};

// y = (first ? 0 : y) + weight * x.
template <class T>
void add_weighted(T* y, const T* x, std::int64_t count, T weight, bool first) {
  if (first)
    for (std::int64_t i = 0; i < count; ++i) y[i] = weight * x[i];
  else
    for (std::int64_t i = 0; i < count; ++i) y[i] += weight * x[i];
}

template <class T>
tensor quotient(const T* sum, const shape& dims, double by) {
  return tensor::build<T>(dims, [&](std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(static_cast<double>(sum[i]) / by);
  });
}

}  // namespace

struct data_parallel::state {
  optimizer& by;
  communicator on;
  detail::link& link;
  data_parallel_options options;
  std::vector<place> places{};
  std::vector<bucket> buckets{};
  counted_memory counted{};
  double examples = 0, loss = 0;  // of this rank since the last step
  double weight = 0;              // of the backward pass that is under way
  bool sends = false;             // it is the last one before the step
  std::size_t next = 0;           // the bucket that is sent next

  // Buckets that the thread may sum and those that it has summed. The counts wrap: they begin just before that, so that
  // the first step does it already.
  static constexpr std::uint32_t first_count = 0xfffffffe;
  std::atomic<std::uint32_t> submitted{first_count}, summed{first_count};
  std::atomic<bool> stops{false};
  std::exception_ptr failure{};  // written before `summed` says so
  std::atomic<bool> failed{false};
  std::thread thread{};

  state(optimizer& optimizer_of, const communicator& all, std::span<const variable> variables,
        const data_parallel_options& how);
  ~state();
  void check_settings(std::span<const variable> variables) const;
  void fill_buckets(std::span<const variable> variables);
  void compare_networks(const std::exception_ptr& own_error) const;
  void sum(bucket& b) const;
  void run_thread();
  void add(place& p, const tensor& gradient);
  void check_call(std::int64_t count) const;
  void pass(const std::function<tensor()>& f, std::int64_t count, bool last);
  void send_complete();
  void wait();
  static void hear(void* s, const void* of, const void* gradient);
  std::vector<double> totals() const;
  std::vector<variable_gradient> gradients(const std::vector<double>& totals) const;
};

data_parallel::state::state(optimizer& optimizer_of, const communicator& all, std::span<const variable> variables,
                            const data_parallel_options& how)
    : by(optimizer_of), on(all.duplicate()), link(detail::link_of(on.number())), options(how) {
  // An error may be this rank's alone. The others learn of it, because they would wait for this rank otherwise.
  std::exception_ptr own_error;
  try {
    check_settings(variables);
    fill_buckets(variables);
  } catch (...) {
    own_error = std::current_exception();
  }
  compare_networks(own_error);
  for (const place& p : places) p.of.assign(broadcast(p.of.value(), 0, on));
  if (!options.overlap || !detail::takes_threads() || on.size() == 1) return;
  link.crowded = detail::is_crowded(2);
  thread = std::thread([this] { run_thread(); });
}

data_parallel::state::~state() {
  if (!thread.joinable()) return;
  stops = true;
  ++submitted;
  submitted.notify_all();
  thread.join();
}

void data_parallel::state::check_settings(std::span<const variable> variables) const {
  if (variables.empty()) fail(self, "no variables", "those of the network");
  if (options.first_bucket <= 0 || options.bucket <= 0) fail(self, "buckets without bytes", "sizes above 0");
  if (!(options.clip_norm >= 0))
    fail(self, "a largest norm " + to_string(attr_value(options.clip_norm)), "0 or a larger number");
  for (const variable& v : variables)
    if (!wide_floats.has(v.value().type()))
      fail(self, "variable " + v.name() + " of " + std::string(name_of(v.value().type())), "float32 or float64");
}

// The last variables come first: their gradients are the first that the backward pass completes.
void data_parallel::state::fill_buckets(std::span<const variable> variables) {
  places.reserve(variables.size());
  std::int64_t bytes = 0;
  for (const variable& v : variables) {
    for (const place& p : places)
      if (p.of == v) fail(self, "variable " + v.name() + " twice", "each variable once");
    places.push_back({v});
  }
  for (std::size_t i = places.size(); i-- > 0;) {
    place& p = places[i];
    const dtype type = p.of.value().type();
    const std::int64_t limit = buckets.size() <= 1 ? options.first_bucket : options.bucket;
    p.count = p.of.value().size();
    const std::int64_t more = p.count * static_cast<std::int64_t>(size_of(type));
    if (buckets.empty() || buckets.back().type != type || (bytes > 0 && bytes + more > limit))
      buckets.push_back({.type = type}), bytes = 0;
    bucket& b = buckets.back();
    p.bucket = buckets.size() - 1;
    p.begin = b.count;
    b.members.push_back(i);
    b.count += p.count;
    bytes += more;
  }
  std::int64_t total = 0;
  for (const bucket& b : buckets) total += b.count * static_cast<std::int64_t>(size_of(b.type));
  counted.resize(total);
  for (bucket& b : buckets)
    b.memory = std::make_unique<detail::message_memory>(
        link, static_cast<std::size_t>(kernels::product_of(b.count, static_cast<std::int64_t>(size_of(b.type)))));
}

// Throws on every rank if a rank has an error, and if the ranks differ.
void data_parallel::state::compare_networks(const std::exception_ptr& own_error) const {
  // One word after the other: `mixed` of both sizes is the same for any two equal sizes.
  std::uint64_t hash = mixed(0, static_cast<std::uint64_t>(options.first_bucket));
  hash = mixed(hash, static_cast<std::uint64_t>(options.bucket));
  hash = mixed(hash, std::bit_cast<std::uint64_t>(options.clip_norm));
  for (const place& p : places) {
    const std::string text =
        p.of.name() + ":" + std::string(name_of(p.of.value().type())) + to_string(p.of.value().dims());
    hash = hash_of(mixed(hash, text.size()), text.data(), text.size());
  }
  const tensor own(
      {static_cast<std::int64_t>(hash), static_cast<std::int64_t>(places.size()), std::int64_t{own_error ? 1 : 0}});
  const tensor all = all_gather(own, on);
  const auto seen = [&](int rank, int what) {
    return all.data<std::int64_t>()[static_cast<std::size_t>(3 * rank + what)];
  };
  if (own_error) std::rethrow_exception(own_error);
  std::vector<int> others, failed_there;
  for (int r = 0; r < on.size(); ++r) {
    if (seen(r, 2) != 0) failed_there.push_back(r);
    if (seen(r, 0) != seen(0, 0)) others.push_back(r);
  }
  if (!failed_there.empty())
    fail(self, "an error on " + detail::ranks_text(failed_there), "variables and options that all ranks accept",
         "read the error there");
  if (!others.empty())
    fail(self,
         "another network or other options on " + detail::ranks_text(others) + " (" +
             std::to_string(seen(others[0], 1)) + " variables)",
         "those of rank 0 (" + std::to_string(seen(0, 1)) + " variables)",
         "give all ranks the same names, shapes and dtypes in the same order");
}

void data_parallel::state::sum(bucket& b) const {
  view all;
  all.data = b.values();
  all.dims = shape({b.count});
  all.type = b.type;
  const detail::collective of(link, self, &all);
  of.compare();
  detail::all_reduce(of, reduction::sum, b.type, b.values(), b.values(), b.count);
}

void data_parallel::state::run_thread() {
  std::size_t at = 0;
  for (std::uint32_t done = first_count;; ++done, at = (at + 1) % buckets.size()) {
    submitted.wait(done);
    if (stops) return;
    try {
      if (!failed) sum(buckets[at]);
    } catch (...) {
      failure = std::current_exception();
      failed = true;
    }
    ++summed;
    summed.notify_all();
  }
}

// Hands over the buckets that are complete, in their order, which all ranks share.
void data_parallel::state::send_complete() {
  for (; next < buckets.size() && buckets[next].missing == 0; ++next) {
    ++submitted;
    if (thread.joinable()) submitted.notify_all();
  }
}

void data_parallel::state::wait() {
  if (!thread.joinable()) {
    for (bucket& b : buckets) sum(b);
    summed = submitted.load();
    return;
  }
  const std::uint32_t all = submitted;
  for (std::uint32_t done = summed; done != all; done = summed) summed.wait(done);
  if (failed) std::rethrow_exception(failure);
}

void data_parallel::state::add(place& p, const tensor& gradient) {
  if (std::exchange(p.filled, true))
    fail(self, "two values of variable " + p.of.name() + " in one loss", "one", "assign to it after the step");
  bucket& b = buckets[p.bucket];
  const bool first = !std::exchange(p.used, true);
  if (b.type == dtype::float32)
    add_weighted(reinterpret_cast<float*>(b.values()) + p.begin, gradient.data<float>().data(), p.count,
                 static_cast<float>(weight), first);
  else
    add_weighted(reinterpret_cast<double*>(b.values()) + p.begin, gradient.data<double>().data(), p.count, weight,
                 first);
  --b.missing;
  if (sends) send_complete();
}

void data_parallel::state::hear(void* s, const void* of, const void* gradient) {
  state& here = *static_cast<state*>(s);
  for (place& p : here.places)
    if (p.of == *static_cast<const variable*>(of)) return here.add(p, *static_cast<const tensor*>(gradient));
  // It is another part's variable, such as one that is not trained here.
}

void data_parallel::state::check_call(std::int64_t count) const {
  if (count < 0) fail(self, std::to_string(count) + " examples", "0 or more");
  if (link.broken)
    fail(self, "a call after one that threw", "no further step", "end the program on every rank, and resume");
}

// One backward pass. The last one before a step sends its gradients.
void data_parallel::state::pass(const std::function<tensor()>& f, std::int64_t count, bool last) {
  weight = static_cast<double>(count);
  sends = last;
  next = 0;
  for (bucket& b : buckets) b.missing = static_cast<int>(b.members.size());
  for (place& p : places) p.filled = false;
  if (count > 0) {
    std::vector<variable> all;
    for (const place& p : places) all.push_back(p.of);
    const kernels::gradient_listener listener{this, hear};
    kernels::next_listener = &listener;
    loss += weight * variable_grads(f, all).value.item();
    examples += weight;
  }
  if (!last) return;
  for (place& p : places) {
    bucket& b = buckets[p.bucket];
    const std::size_t size = size_of(b.type);
    if (!p.used)
      std::memset(b.values() + static_cast<std::size_t>(p.begin) * size, 0, static_cast<std::size_t>(p.count) * size);
    if (!p.filled) --b.missing;
  }
  send_complete();
}

// Examples, weighted loss and how many ranks have a gradient of each variable, of all ranks.
std::vector<double> data_parallel::state::totals() const {
  std::vector<double> all{examples, loss};
  for (const place& p : places) all.push_back(p.used ? 1 : 0);
  const tensor sums = all_reduce(tensor(all), reduction::sum, on);
  return {sums.data<double>().begin(), sums.data<double>().end()};
}

std::vector<variable_gradient> data_parallel::state::gradients(const std::vector<double>& totals) const {
  std::vector<variable_gradient> all;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const place& p = places[i];
    if (totals[i + 2] == 0) continue;  // no loss depends on it
    const bucket& b = buckets[p.bucket];
    const shape dims = p.of.value().dims();
    const void* const from = b.values() + static_cast<std::size_t>(p.begin) * size_of(b.type);
    all.push_back({p.of, b.type == dtype::float32 ? quotient(static_cast<const float*>(from), dims, totals[0])
                                                  : quotient(static_cast<const double*>(from), dims, totals[0])});
  }
  return all;
}

data_parallel::data_parallel(optimizer& by, const communicator& on, std::span<const variable> variables,
                             const data_parallel_options& options)
    : state_(std::make_unique<state>(by, on, variables, options)) {
  check_weights();
}
data_parallel::~data_parallel() = default;

void data_parallel::accumulate(const std::function<tensor()>& loss, std::int64_t examples) {
  state& s = *state_;
  s.check_call(examples);
  try {
    s.pass(loss, examples, false);
  } catch (...) {
    s.link.broken = true;  // a part of the gradients may have been added
    throw;
  }
}

double data_parallel::minimize(const std::function<tensor()>& loss, std::int64_t examples) {
  state& s = *state_;
  s.check_call(examples);
  try {
    s.pass(loss, examples, true);
    s.wait();
    const std::vector<double> totals = s.totals();
    if (!(totals[0] > 0)) fail(self, "a step without examples on any rank", "examples");
    std::vector<variable_gradient> grads = s.gradients(totals);
    s.examples = s.loss = 0;
    for (place& p : s.places) p.used = false;
    if (s.options.clip_norm > 0) clip_by_global_norm(grads, s.options.clip_norm);
    s.by.apply(grads);
    return totals[1] / totals[0];
  } catch (...) {
    s.link.broken =
        true;  // the other ranks wait for buckets that do not come, or have taken a step that this one lacks
    throw;
  }
}

void data_parallel::check_weights() const {
  std::uint64_t hash = 0;
  for (const place& p : state_->places) {
    const tensor value = p.of.value();
    hash = hash_of(hash, value.address(), static_cast<std::size_t>(value.size()) * size_of(value.type()));
  }
  const tensor all = all_gather(tensor({static_cast<std::int64_t>(hash)}), state_->on);
  std::vector<int> others;
  for (int r = 1; r < state_->on.size(); ++r)
    if (all.data<std::int64_t>()[static_cast<std::size_t>(r)] != all.data<std::int64_t>()[0]) others.push_back(r);
  if (!others.empty())
    fail("kg::mpi::data_parallel::check_weights", "other weights on " + detail::ranks_text(others) + " than on rank 0",
         "the same bits on all ranks", "change variables on all ranks alike");
}

std::int64_t data_parallel::buckets() const { return static_cast<std::int64_t>(state_->buckets.size()); }

}  // namespace kerngrad::mpi
