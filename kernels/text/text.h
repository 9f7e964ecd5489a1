// SPDX-License-Identifier: Apache-2.0
// Destination of strings that kernels make. Plain C++, for kernels and launchers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/common/text.h"

namespace kerngrad::kernels {

/// Its bytes.
inline std::string_view view(text t) { return t; }

/// Bytes that a text takes where it is kept: none when it is empty.
constexpr std::int64_t bytes_kept(std::int64_t length) {
  return length == 0 ? 0 : sum_of(length, sizeof(std::uint64_t));
}

/// Destination of the strings that a kernel makes; they live until the writer goes. Memory comes in chunks from where
/// kernels have theirs, each twice as large as the one before up to 16 MiB, or as large as its text; where there is not
/// enough of it kg::error is thrown. One thread writes at a time.
class text_writer {
 public:
  text_writer() = default;
  text_writer(const text_writer&) = delete;
  text_writer& operator=(const text_writer&) = delete;
  ~text_writer() {
    while (last_) {
      void* const owner = last_->owner;
      last_ = last_->before;
      give_scratch(owner);
    }
  }

  /// A copy.
  text put(std::string_view from) {
    const blank to = leave(static_cast<std::int64_t>(from.size()));
    if (!from.empty()) __builtin_memcpy(to.bytes, from.data(), from.size());
    return to.made;
  }

  /// A text of that length, whose bytes the caller writes.
  struct blank {
    text made;
    char* bytes = nullptr;
  };
  blank leave(std::int64_t length) {
    if (length == 0) return {};
    const std::int64_t size = bytes_kept(length);
    if (size > end_ - next_) grow(size);
    const auto before = static_cast<std::uint64_t>(length);
    __builtin_memcpy(next_, &before, sizeof before);
    const blank to{{next_}, reinterpret_cast<char*>(next_ + sizeof before)};
    next_ += size;
    kept_ = sum_of(kept_, size);
    return to;
  }

  /// bytes_kept of all texts so far: what a block that is to hold them needs.
  std::int64_t kept() const { return kept_; }

 private:
  struct chunk {  // at the beginning of its memory
    chunk* before;
    void* owner;
  };
  static constexpr std::int64_t most_in_chunk = std::int64_t{1} << 24;

  void grow(std::int64_t size) {
    const std::int64_t least = sum_of(size, sizeof(chunk)), wanted = least > chunk_size_ ? least : chunk_size_;
    const scratch_block block = take_scratch(static_cast<std::size_t>(wanted));
    last_ = ::new (block.data) chunk{last_, block.owner};
    next_ = static_cast<std::byte*>(block.data) + sizeof(chunk);
    end_ = static_cast<std::byte*>(block.data) + wanted;
    if (chunk_size_ < most_in_chunk) chunk_size_ *= 2;
  }

  chunk* last_ = nullptr;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::int64_t chunk_size_ = 4096, kept_ = 0;
};

}  // namespace kerngrad::kernels
