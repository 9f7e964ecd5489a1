// SPDX-License-Identifier: Apache-2.0
#include "safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "failure.h"
#include "files.h"
#include "tools/strict_json.h"

namespace demo {
namespace {

static_assert(std::endian::native == std::endian::little, "the elements are written as they lie in memory");

using json = nlohmann::json;
constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t header_limit = 100'000'000;  // the format's own limit
constexpr std::uint64_t file_limit = std::uint64_t{1} << 32;

// Names and values of the file may be as long as the file: a sentence quotes their beginnings.
[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  constexpr std::size_t longest = 300;
  throw bad_input(path + ": " + (what.size() > longest ? what.substr(0, longest) + "..." : what));
}

std::vector<char> read_whole(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse(path, "is a folder, not a file of weights");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened");
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) refuse(path, error.message());
  if (size > file_limit) refuse(path, fmt::format("{} bytes are too many for a file of weights", size));
  std::vector<char> bytes(size);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) refuse(path, "cannot be read to its end");
  return bytes;
}

// An object of names, each an object that holds lists.
constexpr int header_depth = 3;

json parse_header(const std::string& path, std::span<const char> text) {
  try {
    json header = kgtools::parse_strictly(text.begin(), text.end(), header_depth);
    if (!header.is_object()) refuse(path, "the header is no JSON object");
    return header;
  } catch (const kgtools::malformed_json& e) {
    refuse(path, fmt::format("no safetensors file: its header is {}", e.what()));
  }
}

// A list of integers of 0 or more, all below the file's limit.
std::vector<std::int64_t> sizes_in(const std::string& path, const std::string& name, const json& entry,
                                   const char* field) {
  const auto list = entry.find(field);
  if (list == entry.end() || !list->is_array()) refuse(path, fmt::format("{} has no list \"{}\"", name, field));
  std::vector<std::int64_t> sizes;
  for (const json& item : *list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > file_limit)
      refuse(path, fmt::format("\"{}\" of {} has {}", field, name, item.dump()));
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

struct placed {
  std::uint64_t begin, end;
  std::string name;
};

weight read_entry(const std::string& path, const std::string& name, const json& entry, std::span<const char> data,
                  placed& at) {
  if (!entry.is_object()) refuse(path, fmt::format("{} is described by no JSON object", name));
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) refuse(path, fmt::format("{} has no dtype", name));
  if (*dtype != "F32") refuse(path, fmt::format("{} has dtype {}; F32 is expected", name, dtype->get<std::string>()));
  weight w{sizes_in(path, name, entry, "shape"), {}};
  const std::vector<std::int64_t> offsets = sizes_in(path, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) refuse(path, fmt::format("{} has no legal data_offsets", name));
  at = {static_cast<std::uint64_t>(offsets[0]), static_cast<std::uint64_t>(offsets[1]), name};
  if (at.end > data.size())
    refuse(path, fmt::format("truncated: {} ends at byte {} of the data, which have {}", name, at.end, data.size()));
  std::uint64_t count = 1;
  for (const std::int64_t size : w.dims) {
    if (size != 0 && count > file_limit / static_cast<std::uint64_t>(size))
      refuse(path, fmt::format("{} is too large", name));
    count *= static_cast<std::uint64_t>(size);
  }
  if (at.end - at.begin != count * sizeof(float))
    refuse(path, fmt::format("{} takes {} bytes; its shape needs {}", name, at.end - at.begin, count * sizeof(float)));
  w.values.resize(count);
  if (count) std::memcpy(w.values.data(), data.data() + at.begin, count * sizeof(float));
  return w;
}

// The elements lie one after the other, without gaps, overlaps or anything behind them.
void check_layout(const std::string& path, std::vector<placed> places, std::uint64_t data_size) {
  std::sort(places.begin(), places.end(),
            [](const placed& a, const placed& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (const placed& at : places) {
    if (at.begin != next)
      refuse(path, fmt::format("{} begins at byte {} of the data instead of {}", at.name, at.begin, next));
    next = at.end;
  }
  if (next != data_size) refuse(path, fmt::format("{} bytes of data that no name refers to", data_size - next));
}

}  // namespace

void save_safetensors(const std::string& path, const weight_map& weights) {
  json header{{"__metadata__", {{"format", "kerngrad"}}}};
  std::uint64_t offset = 0;
  for (const auto& [name, w] : weights) {
    const std::uint64_t end = offset + w.values.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", w.dims}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');  // the elements start aligned
  const std::uint64_t length = text.size();
  std::vector<std::string_view> pieces{{reinterpret_cast<const char*>(&length), length_bytes}, text};
  for (const auto& [name, w] : weights)
    pieces.emplace_back(reinterpret_cast<const char*>(w.values.data()), w.values.size() * sizeof(float));
  replace_file(path, pieces);
}

weight_map load_safetensors(const std::string& path) {
  const std::vector<char> bytes = read_whole(path);
  if (bytes.size() < length_bytes) refuse(path, "no safetensors file: shorter than its header's length");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (length > header_limit) refuse(path, fmt::format("no safetensors file: a header of {} bytes", length));
  if (length > bytes.size() - length_bytes)
    refuse(path, fmt::format("truncated: a header of {} bytes in a file of {}", length, bytes.size()));
  const std::span<const char> all(bytes);
  const json header = parse_header(path, all.subspan(length_bytes, length));
  const std::span<const char> data = all.subspan(length_bytes + length);
  weight_map weights;
  std::vector<placed> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    places.emplace_back();
    weights.emplace(name, read_entry(path, name, entry, data, places.back()));
  }
  check_layout(path, std::move(places), data.size());
  return weights;
}

}  // namespace demo
