// SPDX-License-Identifier: Apache-2.0
// Checksums of changed files are computed again, so that changes get past their check. libFuzzer calls
// LLVMFuzzerCustomMutator in place of its own changes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
// Changes an input as libFuzzer does. Null in the replay program.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace fuzz {

/// The checksum of PNG and zip (ISO 3309).
inline std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

/// Bytes of a number from the lowest to the highest, at its first byte.
inline std::uint64_t little_at(const std::uint8_t* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i > 0; --i) value = value << 8 | at[i - 1];
  return value;
}
inline void put_little(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> 8 * i);
}
inline std::uint32_t big_at(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 24 | static_cast<std::uint32_t>(at[1]) << 16 |
         static_cast<std::uint32_t>(at[2]) << 8 | at[3];
}
inline void put_big(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

}  // namespace fuzz
