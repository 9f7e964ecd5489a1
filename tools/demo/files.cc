// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "failure.h"

namespace demo {
namespace {

// Name of a file until it is complete. Devices, pipes and folders keep theirs: a rename would replace them.
std::string unfinished_name(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw bad_input(path + ": exists and is no regular file");
  return path + ".part";
}

}  // namespace

void check_writable(const std::string& path) {
  const std::string unfinished = unfinished_name(path);
  if (!std::ofstream(unfinished, std::ios::binary | std::ios::trunc))
    throw bad_input(unfinished + ": cannot be written");
  std::error_code error;
  std::filesystem::remove(unfinished, error);
}

void replace_file(const std::string& path, std::span<const std::string_view> pieces) {
  const std::string unfinished = unfinished_name(path);
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (!file) throw bad_input(unfinished + ": cannot be written");
  for (const std::string_view piece : pieces) file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  file.close();
  std::error_code error;
  if (!file) {
    std::filesystem::remove(unfinished, error);
    throw bad_input(path + ": cannot be written to its end");
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(unfinished, error);
    throw bad_input(path + ": " + reason);
  }
}

}  // namespace demo
