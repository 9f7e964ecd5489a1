// SPDX-License-Identifier: Apache-2.0
// Load, save and decode: the format that a name means, and the tensors that it can hold.
module;
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.io;

namespace kerngrad::io {

using detail::asked_names;
using detail::format;
using detail::origin;

namespace {

// Extensions of the formats.
struct ending {
  std::string_view text;
  format of;
};
constexpr ending endings[] = {{".npy", format::npy},    {".npz", format::npz}, {".safetensors", format::safetensors},
                              {".csv", format::csv},    {".png", format::png}, {".ppm", format::netpbm},
                              {".pgm", format::netpbm}, {".wav", format::wav}};

constexpr std::string_view for_one = "one of .npy, .csv, .png, .ppm and .pgm for a tensor without a name";
constexpr std::string_view for_several = "one of .npz and .safetensors for tensors with names";

bool ends_alike(std::string_view name, std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return name.size() >= text.size() && std::equal(text.begin(), text.end(), name.end() - std::ssize(text),
                                                  [&](char a, char b) { return a == lower(b); });
}

named_tensors unnamed(tensor x) { return {{"", std::move(x)}}; }

named_tensors read(const origin& file, std::span<const std::byte> bytes, const asked_names& asked = {}) {
  const format of = detail::format_of(file);
  if (asked.is_list() && of != format::npz && of != format::safetensors)
    file.refuse("holds one tensor that has no name", "a .npz or a .safetensors", "load it without names");
  switch (of) {
    case format::npy: {
      detail::memory_source from(file, bytes);
      return unnamed(detail::read_npy(file, from, "the array"));
    }
    case format::npz: return detail::read_npz(file, bytes, asked);
    case format::safetensors: return detail::read_safetensors(file, bytes, asked);
    case format::csv: return unnamed(detail::read_csv(file, bytes, {}, false).values);
    case format::png: return unnamed(detail::read_png(file, bytes));
    case format::netpbm: return unnamed(detail::read_netpbm(file, bytes));
    case format::wav: return unnamed(detail::read_wav_samples(file, bytes));
  }
  __builtin_unreachable();
}

void write_npy(const origin& file, const tensor& x) {
  const std::string header = detail::npy_header(file, "the tensor", x);
  const std::span<const std::byte> elements = detail::elements_of(x);
  detail::new_file to(file);
  to.write(header);
  to.write(elements);
  to.keep();
}

}  // namespace

format detail::format_of(const origin& file) {
  for (const ending& e : endings)
    if (ends_alike(file.name, e.text)) return e.of;
  file.refuse("has a name that tells no format",
              "one that ends in .npy, .npz, .safetensors, .csv, .png, .ppm, .pgm or .wav");
}

namespace {

named_tensors load_file(const std::string& path, const asked_names& asked) {
  const origin file{path, "load"};
  detail::format_of(file);
  const detail::mapped_file mapped(file);
  return read(file, mapped.bytes(), asked);
}

named_tensors map_tensors(const std::string& path, const asked_names& asked) {
  const origin file{path, "map"};
  if (!ends_alike(path, ".safetensors")) file.refuse("is no .safetensors by its name", "one", "use load");
  const mapped_bytes mapped = map_file(path, "map");
  return detail::read_safetensors(file, mapped.bytes, asked, mapped.owner);
}

}  // namespace

named_tensors load(const std::string& path) { return load_file(path, {}); }
named_tensors load(const std::string& path, std::span<const std::string> names) {
  return load_file(path, asked_names(names));
}

named_tensors map(const std::string& path) { return map_tensors(path, {}); }
named_tensors map(const std::string& path, std::span<const std::string> names) {
  return map_tensors(path, asked_names(names));
}

named_tensors decode(std::span<const std::byte> bytes, const std::string& name) {
  return read({name, "decode"}, bytes);
}
named_tensors decode(std::span<const std::byte> bytes, const std::string& name, std::span<const std::string> names) {
  return read({name, "decode"}, bytes, asked_names(names));
}

void save(const std::string& path, const tensor& x, const save_options&) {
  const origin file{path, "save"};
  const format wanted = detail::format_of(file);
  if (!x.defined()) file.refuse("would be an undefined tensor", "a tensor", "give it a value before saving it");
  switch (wanted) {
    case format::npy: return write_npy(file, x);
    case format::csv: return detail::write_csv(file, {{}, x}, ',');
    case format::png: return detail::write_png(file, x);
    case format::netpbm: return detail::write_netpbm(file, x);
    case format::wav: file.refuse("would have no sampling rate", "one", "call save_wav(path, {x, rate})");
    default: file.refuse("holds tensors by name", for_one, "name it: save(path, {{\"x\", x}})");
  }
}

void save(const std::string& path, const named_tensors& all, const save_options& how) {
  const origin file{path, "save"};
  const format wanted = detail::format_of(file);
  if (wanted != format::npz && wanted != format::safetensors) {
    if (all.size() == 1 && all.contains("")) return save(path, all.at(""), how);
    file.refuse("holds one tensor that has no name", for_several);
  }
  for (const named_tensor& one : all)
    if (!detail::is_name(one.name))
      file.refuse("would have a tensor named " + detail::in_quotes(one.name), "names in UTF-8 that are not empty");
  if (wanted == format::npz) detail::write_npz(file, all, how.compressed);
  else detail::write_safetensors(file, all);
}

table load_csv(const std::string& path, const csv_options& how) {
  const origin file{path, "load_csv"};
  const detail::mapped_file mapped(file);
  return detail::read_csv(file, mapped.bytes(), how, true);
}

table decode_csv(std::span<const std::byte> bytes, const std::string& name, const csv_options& how) {
  return detail::read_csv({name, "decode_csv"}, bytes, how, true);
}

void save_csv(const std::string& path, const table& all, char delimiter) {
  const origin file{path, "save_csv"};
  if (!all.values.defined())
    file.refuse("would be an undefined tensor", "a tensor", "give it a value before saving it");
  detail::write_csv(file, all, delimiter);
}

}  // namespace kerngrad::io
