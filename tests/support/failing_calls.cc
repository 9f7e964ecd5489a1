// SPDX-License-Identifier: Apache-2.0
// Each function is the C library's under another name for the compiler, which so compares it with no declaration.
#include "failing_calls.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace kgtest {

namespace {

constinit std::atomic<int> left{0};  // calls until the one that fails; 0: none does
constinit int error_of_it = 0;
constinit std::atomic<const char*> name_of_it{nullptr};

bool fails(const char* name) {
  int now = left.load();
  if (now == 0 || !left.compare_exchange_strong(now, now - 1) || now != 1) return false;
  if (error_of_it == 0) _exit(failing_calls::ended);
  name_of_it = name;
  errno = error_of_it;
  return true;
}

// The C library's own function.
template <class Function>
Function next(const char* name, std::atomic<Function>& known) {
  if (!known) known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return known;
}

}  // namespace

failing_calls::failing_calls(int nth, int error) {
  error_of_it = error;
  name_of_it = nullptr;
  left = nth;
}
failing_calls::~failing_calls() { left = 0; }
std::string_view failing_calls::failed() { return name_of_it ? name_of_it.load() : std::string_view(); }

}  // namespace kgtest

// A function NAME of the C library that returns `failure` where it fails. `first` is done in both cases: a descriptor
// whose close fails is closed.
#define KG_FAILING(Result, NAME, failure, parameters, arguments)                  \
  extern "C" Result failing_##NAME parameters __asm__(#NAME);                     \
  extern "C" Result failing_##NAME parameters {                                   \
    using function = Result(*) parameters;                                        \
    static constinit std::atomic<function> known{nullptr};                        \
    return kgtest::fails(#NAME) ? failure : kgtest::next(#NAME, known) arguments; \
  }

KG_FAILING(ssize_t, write, -1, (int file, const void* bytes, std::size_t count), (file, bytes, count))
KG_FAILING(int, fsync, -1, (int file), (file))
KG_FAILING(int, fchmod, -1, (int file, mode_t mode), (file, mode))
KG_FAILING(int, flock, -1, (int file, int how), (file, how))
KG_FAILING(int, rename, -1, (const char* from, const char* to), (from, to))
KG_FAILING(int, unlink, -1, (const char* path), (path))
KG_FAILING(int, remove, -1, (const char* path), (path))
KG_FAILING(void*, fopen, nullptr, (const char* path, const char* how), (path, how))
KG_FAILING(void*, fopen64, nullptr, (const char* path, const char* how), (path, how))
KG_FAILING(void*, fdopen, nullptr, (int file, const char* how), (file, how))
KG_FAILING(std::size_t, fwrite, 0, (const void* from, std::size_t size, std::size_t count, void* to),
           (from, size, count, to))
KG_FAILING(int, fflush, -1, (void* file), (file))
KG_FAILING(int, mkstemp, -1, (char* path), (path))
KG_FAILING(int, mkstemp64, -1, (char* path), (path))

// A file whose close fails is closed all the same.
#define KG_FAILING_CLOSE(NAME, Handle)                                  \
  extern "C" int failing_##NAME(Handle file) __asm__(#NAME);            \
  extern "C" int failing_##NAME(Handle file) {                          \
    static constinit std::atomic<int (*)(Handle)> known{nullptr};       \
    const bool failed = kgtest::fails(#NAME);                           \
    const int error = errno, result = kgtest::next(#NAME, known)(file); \
    if (!failed) return result;                                         \
    errno = error;                                                      \
    return -1;                                                          \
  }

KG_FAILING_CLOSE(close, int)
KG_FAILING_CLOSE(fclose, void*)

#define KG_FAILING_OPEN(NAME)                                                       \
  extern "C" int failing_##NAME(const char* path, int how, ...) __asm__(#NAME);     \
  extern "C" int failing_##NAME(const char* path, int how, ...) {                   \
    static constinit std::atomic<int (*)(const char*, int, ...)> known{nullptr};    \
    std::va_list rest;                                                              \
    va_start(rest, how);                                                            \
    const auto mode = va_arg(rest, unsigned);                                       \
    va_end(rest);                                                                   \
    return kgtest::fails(#NAME) ? -1 : kgtest::next(#NAME, known)(path, how, mode); \
  }

KG_FAILING_OPEN(open)
KG_FAILING_OPEN(open64)
