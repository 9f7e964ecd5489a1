// SPDX-License-Identifier: Apache-2.0
#include "pictures.h"

#include <png.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace demo {
namespace {

// RFC 4648.
std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j) three = three << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 63];
  }
  return text;
}

std::string picture(std::span<const std::uint8_t> pixels, int width, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = format;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(pixels.size() / (PNG_IMAGE_PIXEL_CHANNELS(format) * image.width));
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::uint8_t> bytes(size);
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr))
    throw std::runtime_error(std::string("a picture cannot be written: ") + image.message);
  return "data:image/png;base64," + base64(std::span(bytes).first(size));
}

}  // namespace

std::string gray_picture(std::span<const std::uint8_t> pixels, int width) {
  return picture(pixels, width, PNG_FORMAT_GRAY);
}
std::string color_picture(std::span<const std::uint8_t> pixels, int width) {
  return picture(pixels, width, PNG_FORMAT_RGBA);
}

}  // namespace demo
