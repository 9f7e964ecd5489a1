// SPDX-License-Identifier: Apache-2.0
// Storage in which a backend keeps elements outside of the host's memory.
module;
#include "kernels/common/abi.h"
export module kerngrad:storage;

import :std;
import :core;

export namespace kerngrad {

/// The memory of a backend, if it has its own: a device, an arena, shared memory. The library copies a tensor there
/// once, before a kernel of the backend reads it, and back once, before other code reads it. Kernels of this backend
/// only get its blocks; all other kernels only get host memory. Any thread may call these functions. If one throws, the
/// exception reaches the caller of the op, and nothing has changed. They must not call ops: the library makes one copy
/// at a time.
class storage {
 public:
  storage() = default;
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  virtual ~storage();
  /// Allocates a block of that many bytes, possibly 0. The library only passes the pointer on.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Releases a block.
  virtual void release(void* block) noexcept = 0;
  /// Copies from the host into a block.
  virtual void write(void* block, const void* from, std::size_t bytes) = 0;
  /// Copies from a block to the host.
  virtual void read(const void* block, void* to, std::size_t bytes) = 0;
};

}  // namespace kerngrad
