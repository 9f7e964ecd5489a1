// SPDX-License-Identifier: Apache-2.0
// Text as an element of a tensor: eight bytes that say where its bytes are, so that what moves elements of eight bytes
// moves texts. Without the standard library, as in abi.h.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kerngrad {

/// One element of a text tensor: any bytes, UTF-8 where they come from a program. It refers to them: those of a tensor
/// live as long as a tensor that holds them. Zeros are the empty text.
struct text {
  /// Address of its length, an unaligned std::uint64_t, with the bytes after it; null for the empty text.
  alignas(8) const std::byte* place = nullptr;

  std::size_t size() const {
    std::uint64_t length = 0;
    if (place) __builtin_memcpy(&length, place, sizeof length);
    return static_cast<std::size_t>(length);
  }
  /// Its bytes; no zero follows them.
  const char* data() const { return place ? reinterpret_cast<const char*>(place + sizeof(std::uint64_t)) : ""; }
  /// As a std::string_view, or what else refers to characters.
  template <class View>
    requires requires(const char* at, std::size_t count) {
      typename View::traits_type;
      View(at, count);
    } && (!requires { typename View::allocator_type; })
  operator View() const {
    return View(data(), size());
  }

  /// Less than 0, 0 or more: as the bytes of a come before those of b, are the same or come after them.
  friend int compare(text a, text b) {
    const std::size_t both = a.size() < b.size() ? a.size() : b.size();
    const int order = both ? __builtin_memcmp(a.data(), b.data(), both) : 0;
    return order ? order : static_cast<int>(a.size() > b.size()) - static_cast<int>(a.size() < b.size());
  }
  friend bool operator==(text a, text b) { return compare(a, b) == 0; }
};
static_assert(sizeof(text) == 8);

namespace kernels {
/// Takes the texts that a kernel makes: kernels/text/text.h.
class text_writer;
}  // namespace kernels

}  // namespace kerngrad
