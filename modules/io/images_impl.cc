// SPDX-License-Identifier: Apache-2.0
// Pictures as bytes: what both formats have in common, and netpbm's binary formats.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io::detail {

picture picture_of(const origin& file, const tensor& x) {
  const shape& dims = x.dims();
  const bool ranked = dims.rank() == 2 || dims.rank() == 3;
  const picture found{ranked ? dims[0] : 0, ranked ? dims[1] : 0, dims.rank() == 3 ? dims[2] : 1};
  if (x.type() != dtype::uint8 || !ranked || x.size() == 0 || found.channels > 4)
    file.refuse("would have " + std::string(name_of(x.type())) + " " + to_string(dims),
                "uint8 [height, width] or [height, width, channels] with 1 to 4 channels and no size of 0",
                x.type() == dtype::uint8 ? "" : "scale it to 0 to 255 and cast it");
  return found;
}

namespace {

constexpr std::string_view whole_picture = "a binary picture, P5 or P6, that is whole";

// The text before the pixels: a magic number and three numbers, with blanks and comments between them.
class netpbm_header {
 public:
  netpbm_header(const origin& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {
    channels = at(0) == 'P' && at(1) == '5' ? 1 : at(0) == 'P' && at(1) == '6' ? 3 : 0;
    if (!channels)
      file_.refuse("begins with other bytes than a .ppm or .pgm of binary pixels", "P5 or P6",
                   at(0) == 'P' && at(1) >= '1' && at(1) <= '7' ? "other kinds of netpbm are not read" : "");
    next_ = 2;
    width = number("width");
    height = number("height");
    white = number("white");
    if (!is_blank(at(next_))) file_.refuse("has no blank before its pixels", whole_picture);
    pixels = bytes_.subspan(next_ + 1);
  }

  std::int64_t width = 0, height = 0, white = 0, channels = 0;
  std::span<const std::byte> pixels;

 private:
  // 0 after the end.
  char at(std::size_t i) const { return i < bytes_.size() ? static_cast<char>(bytes_[i]) : '\0'; }
  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  std::int64_t number(std::string_view what) {
    constexpr std::int64_t most = INT32_MAX;
    if (!is_blank(at(next_)) && at(next_) != '#') malformed(what);
    while (is_blank(at(next_)) || at(next_) == '#') {
      if (at(next_) == '#')
        while (next_ < bytes_.size() && at(next_) != '\n' && at(next_) != '\r') ++next_;
      else ++next_;
    }
    std::int64_t value = 0;
    const std::size_t begin = next_;
    for (; at(next_) >= '0' && at(next_) <= '9'; ++next_) value = std::min(most, value * 10 + (at(next_) - '0'));
    if (next_ == begin || value == 0 || value == most) malformed(what);
    return value;
  }
  [[noreturn]] void malformed(std::string_view what) const {
    file_.refuse("has no legal " + std::string(what) + " in its header", whole_picture);
  }

  origin file_;
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
};

}  // namespace

tensor read_netpbm(const origin& file, std::span<const std::byte> bytes) {
  constexpr std::int64_t most_white = 65535;
  const netpbm_header header(file, bytes);
  if (header.white > most_white)
    file.refuse("says that its white is " + std::to_string(header.white), "at most " + std::to_string(most_white));
  const std::int64_t wide = header.white > 255 ? 2 : 1;
  const std::int64_t needed = kernels::saturated_product(header.width, header.height, header.channels, wide);
  if (static_cast<std::uint64_t>(needed) != header.pixels.size())
    file.refuse(
        "has " + bytes_text(header.pixels.size()) + " of pixels",
        std::to_string(needed) + " for " + std::to_string(header.width) + " x " + std::to_string(header.height));
  const shape dims{header.height, header.width, header.channels};
  check_memory(file, "the picture", dims, dtype::uint8);
  return tensor::build<std::uint8_t>(dims, [&](std::span<std::uint8_t> values) {
    const std::byte* next = header.pixels.data();
    for (std::uint8_t& value : values) {
      std::int64_t read = std::to_integer<std::int64_t>(*next++);
      if (wide == 2) read = read << 8 | std::to_integer<std::int64_t>(*next++);
      if (read > header.white)
        file.refuse("has a pixel of " + std::to_string(read), "at most its white, " + std::to_string(header.white));
      value = static_cast<std::uint8_t>((read * 255 + header.white / 2) / header.white);
    }
  });
}

void write_netpbm(const origin& file, const tensor& x) {
  const picture found = picture_of(file, x);
  const bool gray = file.name.ends_with("gm") || file.name.ends_with("GM");
  if (found.channels != (gray ? 1 : 3))
    file.refuse("would have " + std::to_string(found.channels) + " channels", gray ? "1" : "3",
                "save .pgm for gray, .ppm for RGB, .png for any other");
  const std::string header = std::string(gray ? "P5\n" : "P6\n") + std::to_string(found.width) + " " +
                             std::to_string(found.height) + "\n255\n";
  const std::span<const std::byte> pixels = elements_of(x);
  new_file to(file);
  to.write(header);
  to.write(pixels);
  to.keep();
}

}  // namespace kerngrad::io::detail
