// SPDX-License-Identifier: Apache-2.0
// The failing allocators, and sweeps.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ostream>

#include "tests/support/failing_memory.h"

// Another name of the C library's own functions, which glibc alone has.
#if !KG_UNDER_ASAN && defined(__GLIBC__)
#define KG_FAILING_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t bytes) noexcept;                     // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, std::size_t bytes) noexcept;       // NOLINT(bugprone-reserved-identifier)
}
#else
#define KG_FAILING_MALLOC 0
#endif

namespace kgtest {

constinit thread_local failing* watched = nullptr;

namespace {

// Blocks of operator new. Those of C libraries are not counted: libzip loses some when it runs out of memory.
constinit std::atomic<std::int64_t> live{0};

bool is_refused(bool is_cpp) {
  if (!watched || (watched->of_cpp_only && !is_cpp)) return false;
  const std::int64_t at = ++watched->asked;
  return watched->nth != 0 && (watched->all_after ? at >= watched->nth : at == watched->nth);
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  void* block = nullptr;
  return is_refused(true) || posix_memalign(&block, alignment, bytes) != 0 ? nullptr : block;
}

void* taken(std::size_t bytes, std::size_t alignment) {
  void* const block = aligned(std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1));
  if (!block) throw std::bad_alloc();
  ++live;
  return block;
}

void given_back(void* block) {
  if (block) --live;
  std::free(block);
}

#if KG_FAILING_MALLOC
void* c_block(void* block) {
  if (!block) errno = ENOMEM;
  return block;
}
#endif

}  // namespace

}  // namespace kgtest

void* operator new(std::size_t bytes) { return kgtest::taken(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t at) {
  return kgtest::taken(bytes, static_cast<std::size_t>(at));
}
void operator delete(void* block) noexcept { kgtest::given_back(block); }
void operator delete(void* block, std::size_t) noexcept { kgtest::given_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { kgtest::given_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { kgtest::given_back(block); }

extern "C" {
#if !KG_UNDER_ASAN
// The library takes blocks of tensors with this function.
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return kgtest::aligned(alignment, bytes); }
#endif
#if KG_FAILING_MALLOC
void* malloc(std::size_t bytes) noexcept {
  return kgtest::c_block(kgtest::is_refused(false) ? nullptr : __libc_malloc(bytes));
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return kgtest::c_block(kgtest::is_refused(false) ? nullptr : __libc_calloc(count, bytes));
}
void* realloc(void* block, std::size_t bytes) noexcept {
  return kgtest::is_refused(false) ? kgtest::c_block(nullptr) : __libc_realloc(block, bytes);
}
#endif
}

namespace kgtest {

namespace {

// Holdings while nothing runs.
struct holdings {
  std::int64_t objects, blocks, tensors, bytes;
  friend bool operator==(const holdings&, const holdings&) = default;
  friend void PrintTo(const holdings& h, std::ostream* out) {
    *out << h.objects << " objects, " << h.blocks << " blocks, " << h.tensors << " tensors, " << h.bytes << " bytes";
  }
};
holdings held() {
  const auto change_registry = [] {
    const kg::registration marker = kg::scoped_kernel(
        {.name = "Marker", .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x")}; }});
    kg::has_gradient("Add");
  };
  kg::set_fallback(kg::active_fallback());  // takes out backends that were removed without memory
  // A change of the registry frees the states before it that no thread looks at: after two there is one old state.
  kg::has_gradient("Add");
  change_registry();
  kg::has_gradient("Add");
  kg::release_cached_memory();
  const kg::memory_info now = kg::memory();
  return {live, kg::allocations().system_blocks, now.live_tensors, now.live_bytes};
}

// Runs the work once while allocations fail. Returns the number of allocations, 0 where something is wrong.
std::int64_t attempt(const work& w, failing selected) {
  w.prepare();
  const std::string before = w.state();
  const bool done = is_done_despite(selected, w.run);
  const bool kept = done || w.state() == before;
  EXPECT_TRUE(kept) << w.name << " failed at allocation " << selected.nth << " and left\n"
                    << w.state() << "\nin place of\n"
                    << before;
  EXPECT_TRUE(done || selected.asked >= selected.nth) << w.name << " failed without a reason";
  w.undo();
  return kept ? selected.asked : 0;
}

}  // namespace

std::string registered() {
  std::string text = std::to_string(kg::loaded_packs().size()) + " packs, " + kg::active_backend();
  for (const std::string& name : kg::op_names()) text += " " + name + (kg::has_gradient(name) ? "'" : "");
  for (const kg::backend_info& b : kg::backends()) {
    text += "\n" + b.name + ":";
    for (const kg::kernel_info& k : kg::kernels_for_backend(b.name)) text += " " + k.name + k.where;
  }
  return text;
}

void sweep(const work& w) {
  for (int i = 0; i < 2; ++i) w.prepare(), w.state(), w.run(), w.undo();  // fills what is kept from call to call
  holdings at_rest = held();
  // A thread of the pool keeps blocks from the first work that it shares, which may be any. A leak comes each time.
  int first_shares = 4 * (kg::num_threads() - 1);
  for (const bool all_after : {false, true}) {
    std::int64_t most = 0;
    for (std::int64_t n = 1;; n += w.stride) {
      std::int64_t asked = attempt(w, {n, all_after});
      holdings now = held();  // nothing of this program's own is held here
      for (; now != at_rest && first_shares > 0; --first_shares) {
        at_rest = now;
        asked = attempt(w, {n, all_after});
        now = held();
      }
      EXPECT_EQ(now, at_rest) << w.name << " while allocation " << n << (all_after ? " and all after it" : "")
                              << " fails";
      most = std::max(most, asked);
      if (asked < n || now != at_rest) break;
    }
    EXPECT_GE(most, KG_UNDER_ASAN ? 0 : 1) << w.name << " allocates nothing";
  }
}

void sweep_first_use(const std::string& name, const std::function<void()>& run, std::int64_t stride) {
  constexpr int was_reached = 10, was_not = 11;
  for (const bool all_after : {false, true})
    for (std::int64_t n = 1, code = was_reached; code == was_reached; n += stride) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        failing selected{.nth = n, .all_after = all_after, .of_cpp_only = true};
        is_done_despite(selected, run);
        run();
        _exit(selected.asked >= n ? was_reached : was_not);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      EXPECT_TRUE(code == was_reached || code == was_not)
          << name << " for the first time, while allocation " << n << (all_after ? " and all after it" : "")
          << " fails, ended with status " << status;
    }
}

void sweep(const std::vector<work>& all) {
  for (const work& w : all) sweep(w);
}

}  // namespace kgtest
