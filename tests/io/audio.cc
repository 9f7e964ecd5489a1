// SPDX-License-Identifier: Apache-2.0
// WAV: put together by its specification, and back from what was saved.
#include <cmath>
#include <limits>

#include "files.h"

namespace {

using kg::tensor;
using kg::io::wav_samples;
using kgtest::accepted;
using kgtest::little;
using kgtest::refusal;
using kgtest::same;
using kgtest::says;
using namespace std::string_literals;

std::string chunk(const std::string& name, const std::string& data) {
  return name + little(static_cast<std::uint32_t>(data.size())) + data + (data.size() % 2 ? "\0"s : ""s);
}
std::string riff(const std::string& chunks) { return chunk("RIFF", "WAVE" + chunks); }

struct format {
  std::uint16_t tag, channels, bits;
  std::uint32_t rate = 8000;
  std::string more = {};

  std::string text() const {
    const auto frame = static_cast<std::uint16_t>(channels * bits / 8);
    return chunk("fmt ", little(tag) + little(channels) + little(rate) + little(std::uint32_t{rate * frame}) +
                             little(frame) + little(bits) + more);
  }
};

kg::io::audio decoded(const std::string& text) { return kg::io::decode_wav(kgtest::bytes_of(text), "x.wav"); }

TEST(wav, is_read_by_its_specification) {
  const std::string subformat = "\x16\0\x18\0\4\0\0\0\1\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"s;
  const std::string half = little(0.5f), nan = little(std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::pair<std::string, tensor>> cases = {
      {format{1, 1, 16}.text() + chunk("data", "\0\x80\xff\x7f\1\0"s),
       tensor({-1.f, 32767 / 32768.f, 1 / 32768.f}, {3, 1})},
      {format{1, 2, 16}.text() + chunk("data", "\0\x40\0\xc0"s), tensor({0.5f, -0.5f}, {1, 2})},
      {format{1, 1, 24}.text() + chunk("data", "\0\0\x80\xff\xff\x7f\1\0\0"s),
       tensor({-1.f, 8388607 / 8388608.f, 1 / 8388608.f}, {3, 1})},
      {format{0xfffe, 1, 24, 8000, subformat}.text() + chunk("data", "\0\0\x40"s), tensor({0.5f}, {1, 1})},
      {format{3, 1, 32, 8000, "\0\0"s}.text() + chunk("fact", "\2\0\0\0"s) + chunk("data", half + nan),
       tensor({0.5f, NAN}, {2, 1})},
      {chunk("LIST", "odd") + format{1, 1, 16}.text() + chunk("data", "") + chunk("id3 ", "abc"), kg::zeros({0, 1})},
  };
  for (const auto& [chunks, wanted] : cases) {
    const kg::io::audio got = decoded(riff(chunks));
    EXPECT_TRUE(same(got.samples, wanted)) << got.samples;
    EXPECT_EQ(got.rate, 8000);
    EXPECT_TRUE(same(kgtest::decoded(riff(chunks), "X.WAV"), wanted));
  }
}

TEST(wav, that_is_damaged_is_refused_in_one_sentence) {
  const std::string good = format{1, 1, 16}.text(), data = chunk("data", "\1\0\2\0"s);
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "other bytes than a WAV"},
      {"RIFF\4\0\0\0AVI ", "other bytes than a WAV"},
      {riff(""), "no samples"},
      {riff(good), "no samples"},
      {riff(data + good), "before their format"},
      {riff(good + data).substr(0, 46), "a chunk has 4 bytes of the 2 that are left"},
      {riff(good + "data\xff\xff\xff\xff"s), "4294967295 bytes of the 0"},
      {riff(chunk("fmt ", "\1\0\1\0"s) + data), "a format of 4 bytes"},
      {riff(format{1, 1, 8}.text() + data), "8 bits in the format 1"},
      {riff(format{3, 1, 64}.text() + data), "64 bits in the format 3"},
      {riff(format{0xfffe, 1, 16}.text() + data), "16 bits in the format 65534"},
      {riff(format{1, 0, 16}.text() + data), "0 channels"},
      {riff(format{1, 1, 16, 0}.text() + data), "rate of 0"},
      {riff(format{1, 3, 16}.text() + data), "4 bytes of samples"},
  };
  for (const auto& [bad, part] : cases) {
    const std::string said = refusal([&] { return decoded(bad); });
    EXPECT_TRUE(says(said, {"[decode_wav] got \"x.wav\", which ", part})) << said << " says nothing of " << part;
  }
}

TEST(wav, claims_no_memory_beyond_the_limit) {
  const std::string text = riff(format{1, 1, 16}.text() + chunk("data", std::string(1 << 20, '\1')));
  kg::set_memory_limit(kg::memory().live_bytes + (1 << 20));
  const std::string said = refusal([&] { return decoded(text); });
  kg::set_memory_limit(kg::unlimited);
  EXPECT_TRUE(says(said, {"2097152 bytes", "the memory limit"})) << said;
}

TEST(wav, comes_back_as_it_was_saved) {
  const kgtest::folder here;
  const std::string path = here / "a.wav";
  const tensor x = kg::reshape(kg::random_uniform({14}, -1, 1, 1), {7, 2});
  kg::io::save_wav(path, {x, 44100}, wav_samples::float32);
  const kg::io::audio floats = kg::io::load_wav(path);
  EXPECT_TRUE(same(floats.samples, x));
  EXPECT_EQ(floats.rate, 44100);
  for (const auto& [kind, scale] : {std::pair{wav_samples::pcm16, 32768.0}, {wav_samples::pcm24, 8388608.0}}) {
    kg::io::save_wav(path, {x, 8000}, kind);
    EXPECT_TRUE(same(kg::io::load(path), kg::round(x * scale) / scale));
    kg::io::save_wav(path, {kg::cast(kg::slice(x, {0, 0}, {-1, 1}), kg::dtype::float64), 8000},
                     kind);  // an odd number of bytes
    EXPECT_TRUE(same(kg::io::load(path), kg::round(kg::slice(x, {0, 0}, {-1, 1}) * scale) / scale));
  }
  kg::io::save_wav(path, {tensor({2.f, -2.f, INFINITY, 0.5f / 32768, 1.5f / 32768}), 1});
  EXPECT_TRUE(same(kg::io::load(path), tensor({32767 / 32768.f, -1.f, 32767 / 32768.f, 0.f, 2 / 32768.f}, {5, 1})));
  kg::io::save_wav(path, {kg::zeros({0}), 1});
  EXPECT_EQ(kg::io::load_wav(path).samples.dims(), (kg::shape{0, 1}));
}

TEST(wav, is_written_by_its_specification) {
  const kgtest::folder here;
  kg::io::save_wav(here / "a.wav", {tensor({0.5f, -0.5f}, {1, 2}), 8000});
  EXPECT_EQ(kgtest::contents(here / "a.wav"), riff(format{1, 2, 16}.text() + chunk("data", "\0\x40\0\xc0"s)));
  kg::io::save_wav(here / "b.wav", {tensor({0.5f}), 8000}, wav_samples::float32);
  EXPECT_EQ(kgtest::contents(here / "b.wav"),
            riff(format{3, 1, 32, 8000, "\0\0"s}.text() + chunk("fact", "\1\0\0\0"s) + chunk("data", little(0.5f))));
}

TEST(wav, of_other_tensors_is_not_written) {
  const kgtest::folder here;
  const std::string path = here / "a.wav";
  const std::vector<std::pair<kg::io::audio, std::string_view>> cases = {
      {{}, "undefined"},
      {{kg::zeros({3}, kg::dtype::int32), 8000}, "int32 [3]"},
      {{kg::zeros({3, 0}), 8000}, "[3, 0]"},
      {{kg::zeros({1, 2, 3}), 8000}, "[1, 2, 3]"},
      {{kg::zeros({3}), 0}, "a rate of 0"},
      {{kg::zeros({3}), std::int64_t{1} << 40}, "a rate of"},
      {{kg::zeros({1, 40000}), 8}, "80000 bytes"},
      {{tensor({NAN}), 8000}, "NaN"},
  };
  for (const auto& [sound, part] : cases) {
    const std::string said = refusal([&] { kg::io::save_wav(path, sound); });
    EXPECT_TRUE(says(said, {"[save_wav] got", "which would ", part})) << said << " says nothing of " << part;
  }
  EXPECT_TRUE(says(refusal([&] { kg::io::save(path, kg::zeros({3})); }), {"[save]", "no sampling rate", "save_wav"}));
  EXPECT_TRUE(here.names().empty());
}

}  // namespace
