// SPDX-License-Identifier: Apache-2.0
// Pictures inside of a page.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace demo {

/// A picture of `width` columns, a byte a pixel (gray) or four (red, green, blue, opacity), as the address
/// "data:image/png;base64,..." that stands for it in a page.
std::string gray_picture(std::span<const std::uint8_t> pixels, int width);
std::string color_picture(std::span<const std::uint8_t> pixels, int width);

}  // namespace demo
