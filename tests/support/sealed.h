// SPDX-License-Identifier: Apache-2.0
// Memory that ends the program when it is written: elements that are borrowed, on pages that can only be read.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace kgtest {

/// A copy of some values on pages of its own that cannot be written.
template <class T>
class sealed {
 public:
  explicit sealed(const std::vector<T>& values) : count_(values.size()) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (count_ * sizeof(T) / page + 1) * page;
    pages_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    if (count_) std::memcpy(pages_, values.data(), count_ * sizeof(T));
    if (::mprotect(pages_, bytes_, PROT_READ) != 0) throw std::bad_alloc();
  }
  sealed(const sealed&) = delete;
  sealed& operator=(const sealed&) = delete;
  ~sealed() { ::munmap(pages_, bytes_); }

  const T* data() const { return static_cast<const T*>(pages_); }
  std::size_t size() const { return count_; }

 private:
  void* pages_ = nullptr;
  std::size_t count_ = 0, bytes_ = 0;
};

template <class T>
std::shared_ptr<const sealed<T>> seal(const std::vector<T>& values) {
  return std::make_shared<const sealed<T>>(values);
}

}  // namespace kgtest
