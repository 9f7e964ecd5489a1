// SPDX-License-Identifier: Apache-2.0
// Files as the formats see them: bytes that are mapped, and a new file that replaces an old one when it is complete.
module;
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include "kernels/common/abi.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

std::string reason_of(int code) { return std::generic_category().message(code); }

std::string kind_of_file(const struct stat& status) {
  return S_ISDIR(status.st_mode) ? "is a folder" : "is no regular file";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// A descriptor that is closed whatever happens.
struct opened {
  int descriptor;
  explicit opened(int descriptor) : descriptor(descriptor) {}
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

// ------------------------------------------------------------------------------------------ errors

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string shown = "\"";
  for (const char c : text.substr(0, longest)) shown += c < ' ' || c > '~' ? '?' : c;
  return shown + (text.size() > longest ? "...\"" : "\"");
}

std::string bytes_text(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

void origin::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail(function, in_quotes(name) + ", which " + std::string(got), wanted, advice);
}

// ------------------------------------------------------------------------------------------ reading

byte_source::~byte_source() = default;

void memory_source::read(std::span<std::byte> to) {
  if (to.size() > bytes_.size())
    file_.refuse("ends " + bytes_text(to.size() - bytes_.size()) + " too early", "a file that was not cut short");
  if (!to.empty()) std::memcpy(to.data(), bytes_.data(), to.size());
  bytes_ = bytes_.subspan(to.size());
}

mapped_file::mapped_file(const origin& file) {
  // A pipe without a writer must not hold the program up.
  const opened source(::open(file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (source.descriptor < 0) file.refuse("cannot be opened: " + reason_of(errno), "a file that can be read");
  struct stat status;
  if (::fstat(source.descriptor, &status) != 0) file.refuse("cannot be read: " + reason_of(errno), "a regular file");
  if (!S_ISREG(status.st_mode)) file.refuse(kind_of_file(status), "a regular file");
  if (status.st_size == 0) return;  // nothing that could be mapped
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, source.descriptor, 0);
  if (address == MAP_FAILED) file.refuse("cannot be mapped: " + reason_of(errno), "a file that can be read");
  address_ = static_cast<const std::byte*>(address);
  size_ = size;
}

mapped_file::~mapped_file() {
  if (address_) ::munmap(const_cast<std::byte*>(address_), size_);
}

// ------------------------------------------------------------------------------------------ writing

new_file::new_file(const origin& file) : file_(file), target_(file.name) {
  struct stat old;
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces) {
    if (!S_ISREG(old.st_mode)) file_.refuse(kind_of_file(old), "a regular file, or none yet");
    // Where the name is a link, what it leads to is replaced.
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::canonical(target_, failed);
    if (!failed) target_ = real.string();
  }
  static constinit std::atomic<unsigned> made{0};
  const std::string prefix = folder_of(target_) + (target_.find('/') == std::string::npos ? "/" : "");
  do {
    unfinished_ = prefix + ".kerngrad-" + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".part";
    descriptor_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);  // of a process that ended before it was done
  if (descriptor_ < 0) file_.refuse("cannot be written: " + reason_of(errno), "a folder that takes new files");
  if (replaces) ::fchmod(descriptor_, old.st_mode & 07777);
}

new_file::~new_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void new_file::fail_by(int code, std::string_view doing) const {
  file_.refuse("cannot be " + std::string(doing) + ": " + reason_of(code),
               "a disk that takes the file; it is as it was");
}

void new_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_by(errno, "written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void new_file::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void new_file::keep() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_by(errno, "written");
  {
    // By its name: a library may have put another file in its place.
    const opened complete(::open(unfinished_.c_str(), O_RDONLY | O_CLOEXEC));
    if (complete.descriptor < 0 || ::fsync(complete.descriptor) != 0) fail_by(errno, "written");
  }
  if (::rename(unfinished_.c_str(), target_.c_str()) != 0) fail_by(errno, "replaced");
  unfinished_.clear();
  // The name, too, should outlast a loss of power; file systems that know no such request need none.
  const opened folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.descriptor >= 0) ::fsync(folder.descriptor);
}

}  // namespace kerngrad::io::detail

namespace kerngrad::io {

mapped_bytes map_file(const std::string& path, std::string_view function) {
  auto file = std::make_shared<const detail::mapped_file>(detail::origin{path, function});
  return {file->bytes(), file};
}

void save_bytes(const std::string& path, std::span<const std::byte> bytes, std::string_view function) {
  detail::new_file to({path, function});
  to.write(bytes);
  to.keep();
}

}  // namespace kerngrad::io
