// SPDX-License-Identifier: Apache-2.0
// Checks whether bytes are UTF-8.
#pragma once
#include <cstdint>
#include <string_view>

namespace kerngrad::kernels {

/// How many bytes the longest beginning has that is well-formed UTF-8 (The Unicode Standard, table 3-7): all of them,
/// or the offset of the first character that is none.
std::int64_t utf8_prefix(std::string_view bytes);

namespace reference {
std::int64_t utf8_prefix(std::string_view bytes);
}

}  // namespace kerngrad::kernels
