// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the bytes of a .wav. The samples, saved as float32, come back bitwise.
#include "tests/fuzz/files.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    kg::io::audio read;
    if (!fuzz::accepted([&] { read = kg::io::decode_wav(fuzz::bytes_of(input), "x.wav"); })) return;
    const std::string path = fuzz::folder() + "/x.wav";
    // The bytes of a second may be more than the format counts.
    if (!fuzz::accepted([&] { kg::io::save_wav(path, read, kg::io::wav_samples::float32); })) return;
    const kg::io::audio again = kg::io::load_wav(path);
    fuzz::require(again.rate == read.rate && fuzz::same(again.samples, read.samples),
                  "samples are others when they were saved");
    std::filesystem::remove(path);
  });
}
