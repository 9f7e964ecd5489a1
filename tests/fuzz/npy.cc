// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the bytes of a .npy.
#include "tests/fuzz/files.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](auto input) { fuzz::read_and_save(input, "x.npy"); });
}
