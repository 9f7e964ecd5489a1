// SPDX-License-Identifier: Apache-2.0
// Storage in which a backend keeps elements outside of the host's memory.
module;
#include "kernels/common/abi.h"
export module kerngrad:storage;

import :std;
import :core;

export namespace kerngrad {

/// The memory of a backend, if it has one of its own: a device, an arena, shared memory. A tensor that a kernel of the
/// backend reads is written there before the kernel runs, once; one that is read elsewhere is read back, once. Kernels
/// of a backend with a storage see its blocks only, all other kernels see host memory only. Any thread may call it;
/// what it throws reaches the caller of the op, and nothing has changed then. It must not call ops: moves wait for one
/// another.
class storage {
 public:
  storage() = default;
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  virtual ~storage();
  /// A block of that many bytes (0 is possible); the library only passes it on.
  virtual void* allocate(std::size_t bytes) = 0;
  /// The block is not used any more.
  virtual void release(void* block) noexcept = 0;
  /// Copies from the host into a block.
  virtual void write(void* block, const void* from, std::size_t bytes) = 0;
  /// Copies from a block to the host.
  virtual void read(const void* block, void* to, std::size_t bytes) = 0;
};

}  // namespace kerngrad
