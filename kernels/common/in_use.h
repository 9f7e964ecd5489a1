// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel keeps for later calls, such as tables. It comes from operator new, so that it may outlive an
// allocator of the caller's. While a call makes or reads it, it counts under the memory limit like scratch memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/common/sizes.h"

namespace kerngrad::kernels {

/// Adds to the bytes in use; throws kg::error where the memory limit does not allow it. Both are defined in
/// modules/tensor/scratch_impl.cc.
void count_in_use(std::int64_t bytes);
void uncount_in_use(std::int64_t bytes) noexcept;

/// Counts that many bytes as in use while the object lives.
class bytes_in_use {
 public:
  explicit bytes_in_use(std::size_t bytes) : bytes_(sum_of(bytes, 0)) { count_in_use(bytes_); }
  bytes_in_use(bytes_in_use&& from) noexcept : bytes_(std::exchange(from.bytes_, 0)) {}
  bytes_in_use& operator=(bytes_in_use&&) = delete;
  ~bytes_in_use() {
    if (bytes_ > 0) uncount_in_use(bytes_);
  }

 private:
  std::int64_t bytes_;
};

}  // namespace kerngrad::kernels
