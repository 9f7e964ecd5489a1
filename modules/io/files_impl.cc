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
#include <optional>
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

// Rejects names that the system would cut off.
void check_path(const origin& file) {
  if (file.name.find('\0') != std::string::npos)
    file.refuse("has a name with a NUL byte", "a name without one", "the system would open another file");
}

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
  check_path(file);
  // A pipe without a writer must not hold the program up, and a terminal must not become the program's.
  const opened source(::open(file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (source.descriptor < 0) file.refuse("cannot be opened: " + reason_of(errno), "a file that can be read");
  struct stat status;
  if (::fstat(source.descriptor, &status) != 0) file.refuse("cannot be read: " + reason_of(errno), "a regular file");
  if (!S_ISREG(status.st_mode)) file.refuse(kind_of_file(status), "a regular file");
  id_ = status.st_ino;
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

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

void sync_folder(const std::string& folder) {
  // File systems that know no such request need none.
  const opened held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held.descriptor >= 0) ::fsync(held.descriptor);
}

// Follows links by hand: the system follows none that leads to a file which is not there yet.
write_target target_of(const origin& file) {
  check_path(file);
  if (file.name.empty() || file.name.ends_with('/')) file.refuse("names no file", "the name of a file");
  constexpr int most_links = 40;  // as many as Linux follows
  write_target found{file.name, {}};
  for (int links = 0; links <= most_links; ++links) {
    struct stat status;
    if (::lstat(found.path.c_str(), &status) != 0) {
      if (errno == ENOENT) return found;
      file.refuse("cannot be written: " + reason_of(errno), "a name that a folder takes");
    }
    if (S_ISREG(status.st_mode)) {
      found.mode = status.st_mode & 07777;
      return found;
    }
    if (!S_ISLNK(status.st_mode)) file.refuse(kind_of_file(status), "a regular file, or none yet");
    std::error_code failed;
    const std::string next = std::filesystem::read_symlink(found.path, failed).string();
    if (failed) file.refuse("is a link that cannot be read: " + failed.message(), "a link to a file");
    found.path = next.starts_with('/') ? next : folder_of(found.path) + next;
  }
  file.refuse("is a link to links without an end", "a link to a file");
}

unfinished_file::unfinished_file(const origin& file, const write_target& target) : file_(file) {
  static constinit std::atomic<unsigned> made{0};
  const std::string prefix = folder_of(target.path) + ".kerngrad-" + std::to_string(::getpid()) + "-";
  constexpr mode_t usual = 0666;  // before the umask
  do {
    path_ = prefix + std::to_string(made++) + ".part";
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target.mode.value_or(usual) & usual);
  } while (descriptor_ < 0 && errno == EEXIST);  // of a process that ended before it was done
  if (descriptor_ < 0) file_.refuse("cannot be written: " + reason_of(errno), "a folder that takes new files");
  if (target.mode) ::fchmod(descriptor_, *target.mode);
}

unfinished_file::~unfinished_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!placed_) ::unlink(path_.c_str());
}

void unfinished_file::fail_by(int code, std::string_view doing) const {
  file_.refuse("cannot be " + std::string(doing) + ": " + reason_of(code),
               "a disk that takes the file; it is as it was");
}

void unfinished_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_by(written < 0 ? errno : ENOSPC, "written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void unfinished_file::finish() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_by(errno, "written");
  // By its name: a library may have put another file there.
  const opened complete(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (complete.descriptor < 0 || ::fsync(complete.descriptor) != 0) fail_by(errno, "written");
}

void unfinished_file::place(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) fail_by(errno, "replaced");
  placed_ = true;
}

void new_file::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void new_file::keep() {
  const std::string folder = folder_of(target_.path);  // may throw: before the file is there
  file_.finish();
  file_.place(target_.path);
  sync_folder(folder);  // the name, too, should outlast a loss of power
}

}  // namespace kerngrad::io::detail

namespace kerngrad::io {

mapped_bytes map_file(const std::string& path, std::string_view function) {
  auto file = std::make_shared<const detail::mapped_file>(detail::origin{path, function});
  return {file->bytes(), file, file->id()};
}

void save_bytes(const std::string& path, std::span<const std::byte> bytes, std::string_view function) {
  detail::new_file to({path, function});
  to.write(bytes);
  to.keep();
}

}  // namespace kerngrad::io
