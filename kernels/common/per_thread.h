// SPDX-License-Identifier: Apache-2.0
// State of a thread; plain C++, no Highway. Objects live on the heap and only their addresses in
// thread-local storage: a library that is loaded while the program runs gets some of the 1664 bytes that glibc keeps
// for all such libraries together, and cannot be loaded when it wants more. If object files are not ELF, the C++ ABI
// may not know a library by its handle, an object of the thread's keeps what is to be called.
#pragma once
#if defined(__ELF__)
#include <cxxabi.h>
#else
#include <vector>
#endif

#include <memory>
#include <new>
#include <utility>

#include "kernels/common/tls_model.h"

namespace kerngrad::kernels {

#if defined(__ELF__)
/// The handle of this library in the C++ ABI. It has a name of its own, because GCC declares it too.
extern void* this_library [[gnu::visibility("hidden")]] __asm__("__dso_handle");

/// Calls end(nullptr) when this thread ends, in the order of destructors: the last first. Also what is said while the
/// thread ends holds, so that a thread_local object of the program's may use the library in its destructor. Throws
/// std::bad_alloc.
inline void at_thread_end(void (*end)(void*)) {
  if (abi::__cxa_thread_atexit(end, nullptr, &this_library) != 0) throw std::bad_alloc{};
}
#else
/// The same; what is said after the thread's last call, by a destructor that comes later still, is not called.
inline void at_thread_end(void (*end)(void*)) {
  static constinit thread_local bool over = false;
  struct calls_at_end {
    std::vector<void (*)(void*)> calls{};
    ~calls_at_end() {
      while (!calls.empty()) {  // what one of them says is called, too
        void (*const last)(void*) = calls.back();
        calls.pop_back();
        last(nullptr);
      }
      over = true;
    }
  };
  static thread_local calls_at_end mine;
  if (!over) mine.calls.push_back(end);
}
#endif

/// A T of each thread: made at its first use, deleted when the thread ends; a use after that makes another one.
template <class T>
class thread_object {
 public:
  /// This thread's, null while it has none.
  static T* peek() noexcept { return mine_; }
  /// This thread's; may throw std::bad_alloc while it has none.
  static T& get() { return mine_ ? *mine_ : made(); }

 private:
  [[gnu::noinline, gnu::cold]] static T& made() {
    std::unique_ptr<T> object = std::make_unique<T>();
    at_thread_end([](void*) { delete std::exchange(mine_, nullptr); });
    return *(mine_ = object.release());
  }
  // Initial-exec: one load instead of a call, on the path of every allocation.
  KG_INITIAL_EXEC static inline constinit thread_local T* mine_ = nullptr;
};

}  // namespace kerngrad::kernels
