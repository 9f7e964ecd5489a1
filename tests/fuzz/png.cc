// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the bytes of a .png, or of a .ppm or .pgm that begin as theirs.
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/files.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    const bool netpbm = input.size() > 1 && input[0] == 'P';
    fuzz::read_and_save(input, !netpbm ? "x.png" : input[1] == '6' ? "x.ppm" : "x.pgm");
  });
}

// Each chunk is its length, four letters, data and a checksum, after a signature of 8 bytes.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned) {
  size = LLVMFuzzerMutate(data, size, most);
  for (std::size_t at = 8; size >= 12 && at <= size - 12;) {
    const std::size_t length = fuzz::big_at(data + at);
    if (length > size - 12 - at) break;
    fuzz::put_big(data + at + 8 + length, fuzz::crc32({data + at + 4, length + 4}));
    at += length + 12;
  }
  return size;
}
