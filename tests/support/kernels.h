// SPDX-License-Identifier: Apache-2.0
// For tests of kernels below the module: running a check on every target, and buffers between guard pages.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "kernels/common/targets.h"

namespace kgtest {

/// Runs `check(name)` once per target that is compiled in and that the CPU supports, and fails when one was missed
/// or when a kernel reports another target than the pinned one.
template <class Check>
void on_every_target(Check check) {
  using namespace kerngrad::kernels;
  target all[64];
  const int count = supported_targets(all, 64);
  ASSERT_GT(count, 0);
  int ran = 0;
  for (int i = 0; i < count; ++i) {
    pin_target(all[i].bits);
    SCOPED_TRACE(all[i].name);
    EXPECT_STREQ(running_target(), all[i].name);
    check(all[i].name);
    ++ran;
    if (::testing::Test::HasFatalFailure()) break;
  }
  unpin_target();
  EXPECT_EQ(ran, count) << "a target of this build was skipped";
}

/// Side on which a guarded buffer touches its guard page.
enum class edge { begin, end };
inline constexpr edge edges[] = {edge::begin, edge::end};

/// `count` elements that end (or begin) exactly at an inaccessible page: one element too far is a crash.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count, edge side = edge::end) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count * sizeof(T);
    const std::size_t body = (bytes + page - 1) / page * page;
    total_ = body + 2 * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) throw std::bad_alloc{};
    mprotect(base_, page, PROT_NONE);
    mprotect(base_ + page + body, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(side == edge::end ? base_ + page + body - bytes : base_ + page);
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() { munmap(base_, total_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::byte* base_ = nullptr;
  T* data_ = nullptr;
  std::size_t total_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kgtest
