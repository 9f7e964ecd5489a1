// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the bytes of a .npz.
#include <cstring>

#include "tests/fuzz/checksums.h"
#include "tests/fuzz/files.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](auto input) { fuzz::read_and_save(input, "x.npz"); });
}

// The checksum of a stored member is in its own header, before the member, and in the one of the directory
// (PKWARE's APPNOTE, 4.3.7 and 4.3.12).
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned) {
  size = LLVMFuzzerMutate(data, size, most);
  for (std::size_t at = 0; size >= 46 && at <= size - 46; ++at) {
    if (std::memcmp(data + at, "PK\x01\x02", 4) != 0) continue;
    const std::uint64_t bytes = fuzz::little_at(data + at + 20, 4), local = fuzz::little_at(data + at + 42, 4);
    if (size < 30 || local > size - 30) continue;
    const std::uint64_t begin =
        local + 30 + fuzz::little_at(data + local + 26, 2) + fuzz::little_at(data + local + 28, 2);
    if (begin > size || bytes > size - begin || fuzz::little_at(data + at + 10, 2) != 0) continue;
    const std::uint32_t sum = fuzz::crc32({data + begin, bytes});
    fuzz::put_little(data + at + 16, sum);
    fuzz::put_little(data + local + 14, sum);
  }
  return size;
}
