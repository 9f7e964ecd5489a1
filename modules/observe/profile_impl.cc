// SPDX-License-Identifier: Apache-2.0
// Profiles: collecting the runs of kernels, summing them up, showing them as a table.
module;
#include <algorithm>
#include <atomic>
#include <charconv>
#include <string>
#include <vector>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
module kerngrad;

import :watch;

namespace kerngrad {
namespace detail {
namespace {

std::int64_t bytes_of(const signature& s) { return s.dims.size() * static_cast<std::int64_t>(size_of(s.type)); }

int number_of_this_thread() {
  static std::atomic<int> last{0};
  thread_local const int mine = ++last;
  return mine;
}

// Fills a result in while hooks call it.
class recorder {
 public:
  recorder() : begin_ns_(now_ns()) {
    result_.begin_bytes = memory().live_bytes;
    result_.thread = number_of_this_thread();
  }
  void kernel(const kernel_event& e) {
    kernel_run run{std::string(e.op), std::string(e.backend), std::string(e.target), e.compute, {}, {}};
    for (const tensor* x : e.in)
      if (x->defined()) run.in.push_back(x->signature());
    for (const tensor& y : e.out) run.out.push_back(y.signature());
    for (const signature& s : run.in) run.bytes += bytes_of(s);
    for (const signature& s : run.out) run.bytes += bytes_of(s);
    run.begin_ns = e.begin_ns - begin_ns_;
    run.ns = e.end_ns - e.begin_ns;
    run.backward = e.backward;
    result_.runs.push_back(std::move(run));
  }
  void fell_back(const fallback_event& e) {
    result_.fallbacks.push_back(
        {std::string(e.op), std::string(e.from), std::string(e.to), e.compute, now_ns() - begin_ns_});
  }
  void allocated(const allocation_event& e) {
    result_.net_bytes += e.bytes;
    result_.peak_bytes = std::max(result_.peak_bytes, result_.net_bytes);
    result_.memory.push_back({now_ns() - begin_ns_, result_.net_bytes});
  }
  profile_result finish() {
    result_.wall_ns = now_ns() - begin_ns_;
    order();
    return std::move(result_);
  }

 private:
  // Kernels are noted when they end; one that ran others then comes after them.
  void order() {
    std::vector<kernel_run>& runs = result_.runs;
    std::sort(runs.begin(), runs.end(), [](const kernel_run& a, const kernel_run& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.ns > b.ns;
    });
    std::vector<std::int64_t> ends;  // of the runs that are open
    for (kernel_run& run : runs) {
      while (!ends.empty() && ends.back() <= run.begin_ns) ends.pop_back();
      run.depth = static_cast<int>(ends.size());
      ends.push_back(run.begin_ns + run.ns);
    }
  }

  std::int64_t begin_ns_;
  profile_result result_;
};

// Independent of the locale, which the functions of stdio are not.
std::string fixed(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
  return std::string(text, end);
}

bool same_kernel(const kernel_total& t, const kernel_run& r) {
  return t.op == r.op && t.compute == r.compute && t.backend == r.backend && t.target == r.target;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace
}  // namespace detail

using namespace detail;

profile_result profile(const std::function<void()>& f) {
  recorder seen;
  hooks wanted;
  wanted.end = [&seen](const kernel_event& e) { seen.kernel(e); };
  wanted.fallback = [&seen](const fallback_event& e) { seen.fell_back(e); };
  wanted.allocate = [&seen](const allocation_event& e) { seen.allocated(e); };
  wanted.this_thread_only = true;
  hook_handle added = add_hooks(std::move(wanted));
  f();
  added.remove();
  return seen.finish();
}

double kernel_total::gigabytes_per_second() const {
  return total_ns > 0 ? static_cast<double>(bytes) / static_cast<double>(total_ns) : 0;
}

std::vector<kernel_total> profile_result::totals() const {
  std::vector<kernel_total> all;
  std::vector<std::vector<std::int64_t>> times;
  for (const kernel_run& run : runs) {
    std::size_t at = 0;
    while (at < all.size() && !same_kernel(all[at], run)) ++at;
    if (at == all.size()) {
      all.push_back({run.op, run.backend, run.target, run.compute});
      times.emplace_back();
    }
    all[at].calls += 1;
    all[at].total_ns += run.ns;
    all[at].bytes += run.bytes;
    times[at].push_back(run.ns);
  }
  for (auto&& [kernel, t] : ranges::views::zip(all, times)) {
    std::sort(t.begin(), t.end());
    kernel.min_ns = t.front();
    kernel.median_ns = (t[(t.size() - 1) / 2] + t[t.size() / 2]) / 2;
  }
  std::sort(all.begin(), all.end(), [](const kernel_total& a, const kernel_total& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.op < b.op;
  });
  return all;
}

std::string to_string(const profile_result& result) {
  using line = std::vector<std::string>;
  std::vector<line> lines = {{"kernel", "calls", "total us", "min us", "median us", "bytes", "GB/s"}};
  const auto us = [](std::int64_t ns) { return fixed(static_cast<double>(ns) / 1000, 3); };
  for (const kernel_total& t : result.totals())
    lines.push_back(
        {t.op + " " + std::string(name_of(t.compute)) + " " + t.backend + (t.target.empty() ? "" : " " + t.target),
         std::to_string(t.calls), us(t.total_ns), us(t.min_ns), us(t.median_ns), std::to_string(t.bytes),
         fixed(t.gigabytes_per_second(), 2)});
  std::vector<std::size_t> widths(lines[0].size());
  for (const line& l : lines)
    for (auto&& [width, cell] : ranges::views::zip(widths, l)) width = std::max(width, cell.size());
  std::string text = std::to_string(result.runs.size()) + " kernels in " + us(result.wall_ns) + " us, peak " +
                     std::to_string(result.peak_bytes) + " bytes, net " + std::to_string(result.net_bytes) + " bytes\n";
  for (const line& l : lines)
    for (std::size_t i = 0; i < l.size(); ++i)
      text += padded(l[i], widths[i], i > 0) + (i + 1 < l.size() ? "  " : "\n");
  for (const fallback_run& f : result.fallbacks)
    text += "fallback: " + f.op + " " + std::string(name_of(f.compute)) + " from " + f.from + " to " + f.to + "\n";
  return text;
}

// ------------------------------------------------------------------------------------------ memory

namespace {

std::string counted(std::int64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

memory_growth live_now(memory_scope::of counted) {
  if (counted == memory_scope::of::thread) return held_by_thread();
  const memory_info all = memory();
  return {all.live_tensors, all.live_buffers, all.live_bytes};
}

// The address of something that each thread has its own of.
const void* mark_of_this_thread() {
  thread_local char mark;
  return &mark;
}

}  // namespace

std::string to_string(const memory_info& info) {
  return counted(info.live_tensors, "tensor") + ", " + counted(info.live_buffers, "buffer") + ", " +
         counted(info.live_bytes, "byte") + ", peak " + counted(info.peak_bytes, "byte") + ", cached " +
         counted(info.cached_bytes, "byte");
}

std::string to_string(const memory_growth& growth) {
  return counted(growth.tensors, "tensor") + ", " + counted(growth.buffers, "buffer") + ", " +
         counted(growth.bytes, "byte");
}

memory_scope::memory_scope(of counted) : counted_(counted), thread_(mark_of_this_thread()), begin_(live_now(counted)) {}

memory_growth memory_scope::leaked() const {
  if (counted_ == of::thread && thread_ != mark_of_this_thread())
    fail("memory_scope", "a call of leaked() from another thread than the one counted", "the thread that began it",
         "count the process");
  const memory_growth now = live_now(counted_);
  return {now.tensors - begin_.tensors, now.buffers - begin_.buffers, now.bytes - begin_.bytes};
}

}  // namespace kerngrad
