// SPDX-License-Identifier: Apache-2.0
// Work that runs out of memory. A sweep repeats a piece of work while its n-th allocation fails, once alone and once
// with all allocations after it, for every n. The work must be done, or everything must be as before. Programs link
// failing_memory.cc, which replaces operator new and, with glibc, the malloc of C libraries.
#pragma once
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "tests/support/under_asan.h"

import kerngrad;

namespace kgtest {

/// Selects the allocations of a thread that fail.
struct failing {
  std::int64_t nth = 0;  ///< counted from 1; 0: none fails
  bool all_after = false;
  bool of_cpp_only = false;  ///< malloc and calloc neither fail nor count
  std::int64_t asked = 0;    ///< allocations so far
};
/// The selection for this thread. Null: allocations neither fail nor are counted.
extern constinit thread_local failing* watched;

/// Runs f while the selected allocations fail. Returns whether f was done, and not ended by kg::error or bad_alloc.
template <class F>
bool is_done_despite(failing& selected, const F& f) {
  bool done = false;
  watched = &selected;
  try {
    f();
    done = true;
  } catch (const std::bad_alloc&) {
  } catch (const kg::error&) {
  }
  watched = nullptr;
  return done;
}

/// Calls attempt(n), which returns the number of allocations, for every n up to that number, and once more.
template <class F>
void for_each_allocation(F attempt) {
  for (std::int64_t n = 1; attempt(n) >= n; ++n) {
  }
}

/// The kernels, gradients, ops, backends and packs that are registered, as text.
std::string registered();

struct work {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = [] {}, undo = [] {};  // memory never fails in these
  std::function<std::string()> state = registered;
  std::int64_t stride = 1;  // 1: each allocation fails once; 2: every second one; and so on
};
/// Checks after each failure: the state is as before unless the work was done, no memory is lost, nothing else is
/// thrown. Before the first failure the work runs twice, so that caches are filled.
void sweep(const work& w);
void sweep(const std::vector<work>& all);

/// The same of what a process does for the first time: each attempt is a forked process, in which the work must be done
/// the second time. Only C++ allocations fail, because glibc ends a process that has no memory for the destructor of a
/// thread-local object. Checks nothing but that; call it before other tests have filled caches.
void sweep_first_use(const std::string& name, const std::function<void()>& run, std::int64_t stride = 1);

}  // namespace kgtest
