// SPDX-License-Identifier: Apache-2.0
// WAV: chunks of RIFF, of which one describes the samples and one has them (Microsoft and IBM 1991; the extensible
// format: Microsoft 2001).
module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io {

using detail::bytes_text;
using detail::origin;

namespace {

constexpr std::string_view whole_wav = "a WAV that is whole";
constexpr std::uint32_t pcm_tag = 1, float_tag = 3, extensible_tag = 0xfffe;

// ------------------------------------------------------------------------------------------ numbers of little endian

std::uint32_t little_at(std::span<const std::byte> bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[at + static_cast<std::size_t>(i)]) << 8 * i;
  return value;
}

void put_little(std::string& to, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
}

// ------------------------------------------------------------------------------------------ samples

// How samples are stored, as load_wav and save_wav have them.
struct layout {
  wav_samples kind;
  std::uint32_t tag, bytes;
  double scale;  // of the whole numbers
};
constexpr layout layouts[] = {{wav_samples::pcm16, pcm_tag, 2, 32768.0},
                              {wav_samples::pcm24, pcm_tag, 3, 8388608.0},
                              {wav_samples::float32, float_tag, 4, 1.0}};

float sample_at(std::span<const std::byte> bytes, std::size_t at, const layout& stored) {
  const std::uint32_t bits = little_at(bytes, at, static_cast<int>(stored.bytes));
  if (stored.tag == float_tag) return std::bit_cast<float>(bits);
  const int unused = 32 - 8 * static_cast<int>(stored.bytes);
  const auto number = static_cast<std::int32_t>(bits << unused) >> unused;  // with the sign
  return static_cast<float>(static_cast<double>(number) / stored.scale);
}

template <class T>
void put_sample(std::string& to, T sample, const layout& stored) {
  if (stored.tag == float_tag) return put_little(to, std::bit_cast<std::uint32_t>(static_cast<float>(sample)), 4);
  const double number =
      std::clamp(std::nearbyint(static_cast<double>(sample) * stored.scale), -stored.scale, stored.scale - 1);
  put_little(to, static_cast<std::uint32_t>(static_cast<std::int32_t>(number)), static_cast<int>(stored.bytes));
}

// ------------------------------------------------------------------------------------------ reading

// The chunk "fmt ".
struct description {
  std::uint32_t channels, rate;
  layout stored;
};

description described(const origin& file, std::span<const std::byte> chunk) {
  constexpr std::size_t least = 16, extensible = 40, real_tag_at = 24;
  if (chunk.size() < least) file.refuse("has a format of " + bytes_text(chunk.size()), whole_wav);
  std::uint32_t tag = little_at(chunk, 0, 2);
  if (tag == extensible_tag && chunk.size() >= extensible) tag = little_at(chunk, real_tag_at, 2);
  const std::uint32_t channels = little_at(chunk, 2, 2), rate = little_at(chunk, 4, 4),
                      frame_bytes = little_at(chunk, 12, 2), bits = little_at(chunk, 14, 2);
  const auto* const found =
      std::ranges::find_if(layouts, [&](const layout& each) { return each.tag == tag && each.bytes * 8 == bits; });
  if (found == std::end(layouts))
    file.refuse("has samples of " + std::to_string(bits) + " bits in the format " + std::to_string(tag),
                "PCM of 16 or 24 bits (format 1), or float32 (format 3)", "convert it with another program");
  if (channels == 0 || rate == 0 || frame_bytes != channels * found->bytes)
    file.refuse("says that " + std::to_string(channels) + " channels take " + bytes_text(frame_bytes) +
                    " at a rate of " + std::to_string(rate),
                "one channel or more, " + bytes_text(found->bytes) + " each, and a rate above 0");
  return {channels, rate, *found};
}

// Calls take(name, contents) for each chunk until it returns true. Each begins with four letters and its size, at an
// even offset.
template <class Take>
void for_chunks(const origin& file, std::span<const std::byte> bytes, const Take& take) {
  constexpr std::size_t header = 12, before = 8;
  const auto letters = [&](std::size_t at) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, 4);
  };
  if (bytes.size() < header || letters(0) != "RIFF" || letters(8) != "WAVE")
    file.refuse("begins with other bytes than a WAV", "RIFF, a size and WAVE");
  std::size_t at = header;
  while (bytes.size() - at >= before) {
    const std::size_t size = little_at(bytes, at + 4, 4), left = bytes.size() - at - before;
    if (size > left)
      file.refuse("says that a chunk has " + bytes_text(size) + " of the " + std::to_string(left) + " that are left",
                  whole_wav);
    if (take(letters(at), bytes.subspan(at + before, size))) return;
    at = std::min(bytes.size(), at + before + size + size % 2);
  }
  file.refuse("has no samples", "a chunk \"data\" after a chunk \"fmt \"");
}

audio read_wav(const origin& file, std::span<const std::byte> bytes) {
  std::optional<description> found;
  std::span<const std::byte> samples;
  for_chunks(file, bytes, [&](std::string_view name, std::span<const std::byte> contents) {
    if (name == "fmt ") found = described(file, contents);
    if (name != "data") return false;
    if (!found) file.refuse("has samples before their format", "a chunk \"fmt \" before the chunk \"data\"");
    samples = contents;
    return true;
  });
  const std::size_t each = found->stored.bytes, frame_bytes = found->channels * each;
  if (samples.size() % frame_bytes != 0)
    file.refuse("has " + bytes_text(samples.size()) + " of samples",
                "a multiple of " + std::to_string(frame_bytes) + ", as all channels have");
  const shape dims{static_cast<std::int64_t>(samples.size() / frame_bytes), found->channels};
  detail::check_memory(file, "the samples", dims, dtype::float32);
  const auto fill = [&](std::span<float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = sample_at(samples, i * each, found->stored);
  };
  return {tensor::build<float>(dims, fill), found->rate};
}

// ------------------------------------------------------------------------------------------ writing

std::string wav_header(const layout& stored, std::uint32_t channels, std::uint32_t rate, std::uint32_t frames,
                       std::uint32_t data_bytes) {
  const bool floats = stored.tag == float_tag;
  constexpr std::uint32_t before = 36, of_fact = 12, of_size = 2;
  std::string text = "RIFF";
  put_little(text, before + (floats ? of_fact + of_size : 0) + data_bytes + data_bytes % 2, 4);
  text += "WAVEfmt ";
  put_little(text, floats ? 18 : 16, 4);
  put_little(text, stored.tag, 2);
  put_little(text, channels, 2);
  put_little(text, rate, 4);
  put_little(text, rate * channels * stored.bytes, 4);
  put_little(text, channels * stored.bytes, 2);
  put_little(text, stored.bytes * 8, 2);
  if (floats) {  // other formats than PCM have an extension, here of no bytes, and say how many frames there are
    put_little(text, 0, 2);
    text += "fact";
    put_little(text, 4, 4);
    put_little(text, frames, 4);
  }
  text += "data";
  put_little(text, data_bytes, 4);
  return text;
}

void write_wav(const origin& file, const audio& sound, wav_samples kind) {
  const tensor& x = sound.samples;
  if (!x.defined()) file.refuse("would be an undefined tensor", "a tensor", "give it a value before saving it");
  const std::int64_t channels = x.rank() == 2 ? x.dims()[1] : 1;
  if (!wide_floats.has(x.type()) || x.rank() < 1 || x.rank() > 2 || channels < 1 || channels > 65535)
    file.refuse("would have " + std::string(name_of(x.type())) + " " + to_string(x.dims()),
                "float32 or float64 [frames] or [frames, channels], with 1 to 65535 channels");
  const layout& stored = layouts[static_cast<std::size_t>(kind)];
  const std::int64_t frame_bytes = channels * stored.bytes, bytes = kernels::saturated_product(x.size(), stored.bytes);
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max(), around = 64;
  if (sound.rate < 1 || sound.rate > most / frame_bytes || frame_bytes > 65535)
    file.refuse("would have a rate of " + std::to_string(sound.rate) + " and " +
                    bytes_text(static_cast<std::uint64_t>(frame_bytes)) + " for each frame",
                "a rate of 1 or more, frames of at most 65535 bytes, and less than 2^32 bytes a second");
  if (bytes > most - around)
    file.refuse("would have " + bytes_text(static_cast<std::uint64_t>(bytes)) + " of samples", "less than 2^32",
                "save parts of it");
  if (kind != wav_samples::float32 && any(is_nan(x)).item() != 0)
    file.refuse("would have NaN among its samples", "numbers", "save float32 samples, or replace it");
  detail::new_file to(file);
  to.write(wav_header(stored, static_cast<std::uint32_t>(channels), static_cast<std::uint32_t>(sound.rate),
                      static_cast<std::uint32_t>(x.size() / channels), static_cast<std::uint32_t>(bytes)));
  constexpr std::size_t block = 4096;
  visit_number(x.type(), [&](auto is) {
    using T = typename decltype(is)::element;
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<const T> values = x.data<T>();
      std::string text;
      for (std::size_t i = 0; i < values.size(); i += block) {
        text.clear();
        for (const T value : values.subspan(i, std::min(block, values.size() - i))) put_sample(text, value, stored);
        to.write(text);
      }
    }
  });
  if (bytes % 2 != 0) to.write(std::string_view("\0", 1));
  to.keep();
}

}  // namespace

tensor detail::read_wav_samples(const origin& file, std::span<const std::byte> bytes) {
  return read_wav(file, bytes).samples;
}

audio load_wav(const std::string& path) {
  const origin file{path, "load_wav"};
  const detail::mapped_file mapped(file);
  return read_wav(file, mapped.bytes());
}
audio decode_wav(std::span<const std::byte> bytes, const std::string& name) {
  return read_wav({name, "decode_wav"}, bytes);
}
void save_wav(const std::string& path, const audio& sound, wav_samples kind) {
  write_wav({path, "save_wav"}, sound, kind);
}

}  // namespace kerngrad::io
