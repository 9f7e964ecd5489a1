// SPDX-License-Identifier: Apache-2.0
// Fuzz target: JSON, as the header of a .safetensors and as a model. Text that is no JSON is never accepted.
#include <nlohmann/json.hpp>

#include "tests/fuzz/files.h"
#include "tests/fuzz/words.h"

import kerngrad.graph;

namespace {

std::string with_length(std::string_view text) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> 8 * i);
  return file.append(text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const std::string header = with_length(text), path = fuzz::folder() + "/x.json";
    std::ofstream(path, std::ios::binary) << text;
    const bool reads_header = fuzz::accepted(
        [&] { kg::io::decode(std::as_bytes(std::span(header.data(), header.size())), "x.safetensors"); });
    const bool reads_model = fuzz::accepted([&] { kg::graph::load(path); });
    if (reads_header || reads_model) fuzz::require(nlohmann::json::accept(text), "text is accepted that is no JSON");
    std::filesystem::remove(path);
  });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::changed_words(data, size, most, seed);
}
