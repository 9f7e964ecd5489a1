// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel needs while it runs. It comes from where tensors have theirs: it counts under the memory limit,
// its blocks are kept for reuse as theirs are, and there is none left when the kernel returns.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/common/sizes.h"

namespace kerngrad::kernels {

/// A block of memory, aligned to 64 bytes, and what gives it back.
struct scratch_block {
  void* data = nullptr;
  void* owner = nullptr;
};

/// A block of that many bytes; throws kg::error when there is none. Both are defined in modules/tensor/scratch_impl.cc.
scratch_block take_scratch(std::size_t bytes);
void give_scratch(void* owner) noexcept;

/// Room for elements of a trivial type, as long as the object lives; aligned for every vector.
template <class T>
class scratch {
 public:
  scratch() = default;
  explicit scratch(std::int64_t count) { reach(count); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { let_go(); }

  /// Room for at least `count` elements; what was there is lost.
  T* reach(std::int64_t count) {
    const std::size_t bytes = extent(count, sizeof(T));
    if (bytes > size_) {
      let_go();
      size_ = sizeof near_;
      block_ = {};
      block_ = take_scratch(bytes);
      size_ = bytes;
    }
    return data();
  }
  T* data() { return reinterpret_cast<T*>(block_.owner ? block_.data : near_); }

 private:
  void let_go() noexcept {
    if (block_.owner) give_scratch(block_.owner);
  }

  // Small products are done before a block could be asked for.
  alignas(64) std::byte near_[2048];
  scratch_block block_;
  std::size_t size_ = sizeof near_;
};

}  // namespace kerngrad::kernels
