// SPDX-License-Identifier: Apache-2.0
// Files that the demo writes: each appears as a whole or not at all.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace demo {

/// Throws bad_input when no file can be written under this name, before the work that would be lost.
void check_writable(const std::string& path);

/// Writes the pieces, one after the other, in the place of what was there. Throws bad_input; then a file that was there
/// is as it was.
void replace_file(const std::string& path, std::span<const std::string_view> pieces);

}  // namespace demo
