// SPDX-License-Identifier: Apache-2.0
// Pictures: PNG put together by its specification, netpbm by its own, and both back from what was saved.
#include "files.h"

namespace {

using kg::shape;
using kg::tensor;
using kgtest::accepted;
using kgtest::big;
using kgtest::decoded;
using kgtest::refusal;
using kgtest::same;
using kgtest::says;
using namespace std::string_literals;
using bytes = std::vector<std::uint8_t>;

tensor pixels(const bytes& values, const shape& dims) { return tensor(values, dims); }

// ------------------------------------------------------------------------------------------ PNG by its specification

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}
std::string chunk(const std::string& type, const std::string& data) {
  return big(static_cast<std::uint32_t>(data.size())) + type + data + big(crc32(type + data));
}
// One block that is not compressed (RFC 1951), as zlib wraps it (RFC 1950).
std::string deflated(const std::string& raw) {
  std::uint32_t a = 1, b = 0;
  for (const char c : raw) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
  const auto size = static_cast<std::uint16_t>(raw.size());
  return "\x78\x01\x01"s + kgtest::little(size) + kgtest::little(static_cast<std::uint16_t>(~size)) + raw +
         big(b << 16 | a);
}
struct png {
  std::uint32_t width, height;
  char depth, color;
  std::string rows;          // each behind the number of its filter
  std::string between = {};  // chunks before the pixels
  char interlaced = 0;

  std::string file() const {
    return "\x89PNG\r\n\x1a\n"s + chunk("IHDR", big(width) + big(height) + depth + color + "\0\0"s + interlaced) +
           between + chunk("IDAT", deflated(rows)) + chunk("IEND", "");
  }
};

TEST(png, of_every_kind_is_expanded_to_bytes) {
  const std::vector<std::pair<png, tensor>> cases = {
      {{2, 2, 8, 0, "\0\x01\x02\0\x03\x04"s}, pixels({1, 2, 3, 4}, {2, 2, 1})},
      {{2, 1, 8, 4, "\0\x01\x02\x03\x04"s}, pixels({1, 2, 3, 4}, {1, 2, 2})},
      {{1, 2, 8, 2, "\0\x01\x02\x03\0\x04\x05\x06"s}, pixels({1, 2, 3, 4, 5, 6}, {2, 1, 3})},
      {{1, 1, 8, 6, "\0\x01\x02\x03\x04"s}, pixels({1, 2, 3, 4}, {1, 1, 4})},
      {{4, 1, 1, 0, "\0\xa0"s}, pixels({255, 0, 255, 0}, {1, 4, 1})},
      {{4, 1, 2, 0, "\0\x1b"s}, pixels({0, 85, 170, 255}, {1, 4, 1})},
      {{2, 1, 4, 0, "\0\x0f"s}, pixels({0, 255}, {1, 2, 1})},
      {{2, 1, 16, 0, "\0\x80\x80\xff\xff"s}, pixels({128, 255}, {1, 2, 1})},
      {{1, 1, 16, 2, "\0\0\0\x01\x01\x02\x02"s}, pixels({0, 1, 2}, {1, 1, 3})},
      {{2, 1, 8, 3, "\0\1\0"s, chunk("PLTE", "\x01\x02\x03\x04\x05\x06")}, pixels({4, 5, 6, 1, 2, 3}, {1, 2, 3})},
      {{2, 1, 1, 3, "\0\x40"s, chunk("PLTE", "\x01\x02\x03\x04\x05\x06") + chunk("tRNS", "\x80")},
       pixels({1, 2, 3, 128, 4, 5, 6, 255}, {1, 2, 4})},
      {{2, 1, 8, 0, "\0\x05\x06"s, chunk("tRNS", "\0\x05"s)}, pixels({5, 0, 6, 255}, {1, 2, 2})},
      {{2, 2, 8, 0, "\1\x01\x02\2\x03\x04"s}, pixels({1, 3, 4, 7}, {2, 2, 1})},
      {{1, 1, 8, 0, "\0\x07"s, chunk("gAMA", big(std::uint32_t{100000})) + chunk("tEXt", "Title\0text"s)},
       pixels({7}, {1, 1, 1})},
      // Adam7: the first pass has the pixel above on the left, the sixth the odd ones of its row, the last the others.
      {{2, 2, 8, 0, "\0\x01\0\x02\0\x03\x04"s, "", 1}, pixels({1, 2, 3, 4}, {2, 2, 1})},
  };
  for (const auto& [file, wanted] : cases) {
    const tensor found = decoded(file.file(), "x.png");
    EXPECT_TRUE(same(found, wanted)) << "depth " << int(file.depth) << ", color " << int(file.color) << "\n" << found;
  }
}

TEST(png, that_is_damaged_is_refused_in_one_sentence) {
  const png good{2, 2, 8, 0, "\0\x01\x02\0\x03\x04"s};
  const std::string file = good.file();
  std::string broken = file;
  broken[file.size() - 20] ^= 1;
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "too early"},
      {"GIF89a..", "Not a PNG"},
      {file.substr(0, 46), "chunk of 17"},
      {file.substr(0, file.size() - 12), "too early"},
      {broken, "data check"},
      {file.substr(0, 33) + big(std::uint32_t{1} << 30) + "zTXtABCD", "chunk of 1073741824"},
      {png{2, 3, 8, 0, good.rows}.file(), "image data"},
      {png{500000, 500000, 8, 6, good.rows}.file(), "500000 x 500000"},
      {png{2000000, 2, 8, 0, good.rows}.file(), "IHDR"},
      {png{0, 2, 8, 0, good.rows}.file(), "IHDR"},
      {png{2, 2, 3, 0, good.rows}.file(), "IHDR"},
  };
  for (const auto& [bad, part] : cases) {
    const std::string said = refusal([&] { return decoded(bad, "p.png"); });
    EXPECT_TRUE(says(said, {"[decode] got \"p.png\", which ", part})) << said << " says nothing of " << part;
  }
}

// ------------------------------------------------------------------------------------------ netpbm

TEST(netpbm, is_read_by_its_specification) {
  EXPECT_TRUE(same(decoded("P5 2 1 255\n\1\2"s, "x.pgm"), pixels({1, 2}, {1, 2, 1})));
  EXPECT_TRUE(same(decoded("P6\n# a comment\n1#x\n 2 # y\r255\n\1\2\3\4\5\6"s, "x.ppm"),
                   pixels({1, 2, 3, 4, 5, 6}, {2, 1, 3})));
  EXPECT_TRUE(same(decoded("P5 4 1 3\n\0\1\2\3"s, "x.pgm"), pixels({0, 85, 170, 255}, {1, 4, 1})));
  EXPECT_TRUE(same(decoded("P5 2 1 65535\n\x80\x80\xff\xff"s, "x.pgm"), pixels({128, 255}, {1, 2, 1})));
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "P5 or P6"},
      {"P3 1 1 255\n1 2 3", "other kinds"},
      {"P5", "width"},
      {"P5 2", "height"},
      {"P5 0 1 255\n", "width"},
      {"P5 2 1 70000\n", "70000"},
      {"P5 2 1 0\n", "white"},
      {"P5 2 1 255", "no blank"},
      {"P5 2 1 255\n\1", "1 byte of pixels"},
      {"P5 2 1 255\n\1\2\3", "3 bytes of pixels"},
      {"P5 2000000000 2000000000 255\n\1", "2000000000 x"},
      {"P5 99999999999999999999 1 255\n", "width"},
      {"P5 1 1 3\n\4", "a pixel of 4"}};
  for (const auto& [file, part] : cases) {
    const std::string said = refusal([&] { return decoded(file, "p.pgm"); });
    EXPECT_TRUE(says(said, {"[decode] got \"p.pgm\", which ", part})) << said << " says nothing of " << part;
  }
}

// ------------------------------------------------------------------------------------------ both

TEST(pictures, come_back_byte_for_byte) {
  const kgtest::folder here;
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const tensor x = kgtest::any_bits(kg::dtype::uint8, {13, 7, channels});
    kg::io::save(here / "x.png", x);
    EXPECT_TRUE(same(kg::io::load(here / "x.png"), x)) << channels;
    const std::string other = here / (channels == 1 ? "x.pgm" : "x.ppm");
    if (channels % 2 == 0) {
      EXPECT_TRUE(says(refusal([&] {
                         kg::io::save(other, x);
                         return 0;
                       }),
                       {"channels", ".png"}));
      continue;
    }
    kg::io::save(other, x);
    EXPECT_TRUE(same(kg::io::load(other), x)) << channels;
  }
  const tensor flat = kgtest::any_bits(kg::dtype::uint8, {5, 4});
  for (const std::string name : {"flat.png", "flat.pgm"}) {
    kg::io::save(here / name, flat);
    EXPECT_TRUE(same(kg::io::load(here / name), kg::reshape(flat, {5, 4, 1})));
  }
  EXPECT_TRUE(kgtest::contents(here / "flat.pgm").starts_with("P5\n4 5\n255\n"));
}

TEST(pictures, of_other_dtypes_and_shapes_are_refused) {
  const kgtest::folder here;
  for (const tensor& bad : {kg::zeros({2, 2}), kg::zeros({2}, kg::dtype::uint8), kg::zeros({2, 2, 5}, kg::dtype::uint8),
                            kg::zeros({0, 2}, kg::dtype::uint8), kg::zeros({2, 2, 0}, kg::dtype::uint8)})
    for (const std::string name : {"x.png", "x.ppm", "x.pgm"})
      EXPECT_TRUE(says(refusal([&] {
                         kg::io::save(here / name, bad);
                         return 0;
                       }),
                       {"[save]", name, "uint8 [height, width", kg::to_string(bad.dims())}));
  EXPECT_TRUE(says(refusal([&] {
                     kg::io::save(here / "x.png", kg::zeros({1, 1000001}, kg::dtype::uint8));
                     return 0;
                   }),
                   {"1000000 pixels"}));
  EXPECT_TRUE(here.names().empty());
}

}  // namespace
