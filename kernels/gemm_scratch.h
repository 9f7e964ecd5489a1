// SPDX-License-Identifier: Apache-2.0
// Buffers that a thread keeps for packing, and cutting work into even parts. Private to kernels/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "hwy/aligned_allocator.h"
#include "kernels/per_thread.h"

namespace kerngrad::kernels {

enum class scratch { packed_a, packed_b, image, gradient, gathered, count };

struct scratch_bytes {
  hwy::AlignedFreeUniquePtr<std::uint8_t[]> data;
  std::size_t size = 0;

  void reach(std::size_t wanted) {
    if (size >= wanted) return;
    size = 0;
    data = nullptr;
    data = hwy::AllocateAligned<std::uint8_t>(wanted);
    if (data == nullptr) throw std::bad_alloc{};
    size = wanted;
  }
};

/// This thread's buffers, kept from call to call.
struct thread_scratch {
  scratch_bytes all[static_cast<int>(scratch::count)];
};
inline scratch_bytes& scratch_of_thread(scratch slot) {
  return thread_object<thread_scratch>::get().all[static_cast<int>(slot)];
}

/// A buffer of this thread for `count` elements, aligned for every vector; its content is lost at the next request.
template <class T>
T* scratch_buffer(scratch slot, std::size_t count) {
  scratch_bytes& bytes = scratch_of_thread(slot);
  bytes.reach(std::max<std::size_t>(count * sizeof(T), 1024));
  return reinterpret_cast<T*>(bytes.data.get());
}

/// A buffer that chunks on other threads read: taken out of this thread's slot as long as it lives, so that whatever
/// else this thread runs while it waits for them finds an empty slot.
template <class T>
class shared_scratch {
 public:
  shared_scratch(scratch slot, std::size_t count) : slot_(slot), bytes_(std::move(scratch_of_thread(slot))) {
    scratch_of_thread(slot).size = 0;
    bytes_.reach(std::max<std::size_t>(count * sizeof(T), 1024));
  }
  shared_scratch(const shared_scratch&) = delete;
  shared_scratch& operator=(const shared_scratch&) = delete;
  ~shared_scratch() { scratch_of_thread(slot_) = std::move(bytes_); }
  T* data() const { return reinterpret_cast<T*>(bytes_.data.get()); }

 private:
  scratch slot_;
  scratch_bytes bytes_;
};

/// Cuts `total` into the fewest parts of at most `most`, as even as possible.
struct even_parts {
  std::ptrdiff_t count, length, longer;  // the first `longer` parts are one longer than `length`
  even_parts(std::ptrdiff_t total, std::ptrdiff_t most) : count((total + most - 1) / most), length(total), longer(0) {
    if (count <= 1) return;  // saves two divisions, which small products feel
    length = total / count;
    longer = total % count;
  }
  std::ptrdiff_t begin(std::ptrdiff_t i) const { return i * length + std::min(i, longer); }
  std::ptrdiff_t size(std::ptrdiff_t i) const { return length + (i < longer ? 1 : 0); }
  std::ptrdiff_t longest() const { return size(0); }
};

/// Calls body(begin, length) for each of those parts.
template <class Body>
void for_even_parts(std::ptrdiff_t total, std::ptrdiff_t most, Body body) {
  const even_parts parts(total, most);
  for (std::ptrdiff_t i = 0; i < parts.count; ++i) body(parts.begin(i), parts.size(i));
}

}  // namespace kerngrad::kernels
