// SPDX-License-Identifier: Apache-2.0
// A file and its parts: all are written before the first gets its name, and the file that names them comes last.
module;
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.io;

namespace kerngrad::io {

using detail::origin;
using detail::unfinished_file;

namespace {

// ------------------------------------------------------------------------------------------ names of parts

// Hash of a part's bytes: 64-bit words, each multiplied in. It finds no forgery: contents are compared where it counts.
class content_hash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (; held_ % sizeof(word_) != 0 && !bytes.empty(); bytes = bytes.subspan(1)) add_byte(bytes[0]);
    for (; bytes.size() >= sizeof(word_); bytes = bytes.subspan(sizeof(word_))) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof(word));
      held_ += sizeof(word);
      mix(word);
    }
    for (const std::byte b : bytes) add_byte(b);
  }
  // In hexadecimal digits.
  std::string text() const {
    content_hash last = *this;
    last.mix(word_);
    last.mix(held_);
    return hexadecimal(last.state_);
  }
  static std::string hexadecimal(std::uint64_t value) {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
    return text;
  }

 private:
  void add_byte(std::byte b) {
    word_ |= std::to_integer<std::uint64_t>(b) << held_ % sizeof(word_) * 8;
    if (++held_ % sizeof(word_) == 0) mix(std::exchange(word_, 0));
  }
  // A step is a bijection of the state (the constants of MurmurHash3's finaliser), so no difference is ever lost.
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0xff51afd7ed558ccd;
    state_ = (state_ ^ state_ >> 33) * 0xc4ceb9fe1a85ec53;
    state_ ^= state_ >> 29;
  }
  std::uint64_t state_ = 0x6b65726e67726164, word_ = 0, held_ = 0;
};

constexpr std::size_t hash_digits = 16;
constexpr std::string_view part_ending = ".bin";

// Beginning of the names of a file's parts. No two files of a folder have the same.
std::string part_stem(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  constexpr std::string_view ending = ".json";
  return name.size() > ending.size() && name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) + "-"
                                                               : name + "_";
}

// How a name is made: by versions that wrote parts in place, by the contents, or so that no other part ever has it.
enum class naming : std::uint8_t { none, plain, hashed, unique };

// "STEM1of2.bin", "STEM1of2-HASH.bin" and "STEM1of2-HASH-RANDOM.bin".
naming naming_of(std::string_view name, std::string_view stem) {
  const auto skip = [&](std::string_view text) {
    const bool there = name.starts_with(text);
    if (there) name.remove_prefix(text.size());
    return there;
  };
  const auto skip_digits = [&](std::string_view digits) {
    const std::size_t count = std::min(name.find_first_not_of(digits), name.size());
    name.remove_prefix(count);
    return count;
  };
  if (!skip(stem) || !skip_digits("0123456789") || !skip("of") || !skip_digits("0123456789")) return naming::none;
  for (const naming how : {naming::plain, naming::hashed, naming::unique}) {
    if (name == part_ending) return how;
    if (!skip("-") || skip_digits("0123456789abcdef") != hash_digits) break;
  }
  return naming::none;
}

std::string random_digits() {
  std::random_device source;
  return content_hash::hexadecimal(std::uint64_t{source()} << 32 | source());
}

// ------------------------------------------------------------------------------------------ files in the folder

// Keeps other writers out of a folder while this lives, where the file system can.
class folder_lock {
 public:
  explicit folder_lock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr std::chrono::milliseconds pause(1);
    constexpr int most_pauses = 2000;  // others hold it while they rename
    for (int i = 0; descriptor_ >= 0 && i < most_pauses; ++i, std::this_thread::sleep_for(pause)) {
      held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
      if (held_ || errno != EWOULDBLOCK) return;
    }
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock() {
    if (held_) ::flock(descriptor_, LOCK_UN);  // a process that was forked meanwhile has the descriptor, too
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_ = false;
};

bool exists(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

bool have_same_bytes(const std::string& a, const std::string& b) {
  try {
    const mapped_bytes one = map_file(a), other = map_file(b);
    return std::ranges::equal(one.bytes, other.bytes);
  } catch (const error&) {
    return false;  // not to be read
  }
}

// Files that have got their names, removed at the end unless all came well.
struct placed_files {
  std::vector<std::string> paths;
  placed_files() = default;
  placed_files(const placed_files&) = delete;
  placed_files& operator=(const placed_files&) = delete;
  ~placed_files() {
    for (const std::string& path : paths) ::unlink(path.c_str());
  }
};

struct part {
  std::unique_ptr<unfinished_file> file;
  content_hash hash{};
};

}  // namespace

// ------------------------------------------------------------------------------------------ the group

struct file_group::state {
  std::string path, function;
  detail::write_target target;
  std::string folder, stem;
  std::vector<part> parts{};
  std::vector<std::byte> pending{};  // of the last part, when it is open
  bool open = false, kept = false;

  state(const std::string& path, std::string_view function)
      : path(path),
        function(function),
        target(detail::target_of(file())),
        folder(detail::folder_of(target.path)),
        stem(part_stem(target.path)) {}
  origin file() const { return {path, function}; }
  void check_open() const {
    if (kept) file().refuse("was kept", "one call of keep, after all others");
  }
  void flush() {
    parts.back().file->write(pending);
    pending.clear();
  }
  std::vector<std::string> choose_names(bool alone);
  std::vector<std::string> needless(const std::vector<std::string>& replaced, const std::vector<std::string>& names,
                                    bool alone) const;
};

// Under the lock a name follows from the contents. Without it another process may be about to remove such a file, so
// each part gets a name that was never used.
std::vector<std::string> file_group::state::choose_names(bool alone) {
  std::vector<std::string> names;
  for (part& one : parts) {
    const std::string start =
        stem + std::to_string(names.size() + 1) + "of" + std::to_string(parts.size()) + "-" + one.hash.text();
    std::string usual = start + std::string(part_ending);
    const bool taken = exists(folder + usual);
    if (alone && taken && have_same_bytes(folder + usual, one.file->path())) one.file.reset();
    else if (!alone || taken) usual = start + "-" + random_digits() + std::string(part_ending);
    names.push_back(std::move(usual));
  }
  return names;
}

// The parts of the replaced file that may go. Without the lock those stay whose names another save may use again.
std::vector<std::string> file_group::state::needless(const std::vector<std::string>& replaced,
                                                     const std::vector<std::string>& names, bool alone) const {
  std::vector<std::string> kept = names, all;
  std::ranges::sort(kept);
  for (const std::string& name : replaced) {
    const naming how = naming_of(name, stem);
    const bool ours = alone ? how != naming::none : how == naming::unique;
    if (ours && !std::ranges::binary_search(kept, name)) all.push_back(folder + name);
  }
  return all;
}

file_group::file_group(const std::string& path, std::string_view function)
    : state_(std::make_unique<state>(path, function)) {}
file_group::~file_group() = default;

void file_group::write(std::span<const std::byte> bytes) {
  constexpr std::size_t portion = std::size_t{1} << 18;  // few calls of the system for many small writes
  state& s = *state_;
  s.check_open();
  if (bytes.empty()) return;
  if (!s.open) s.parts.push_back({std::make_unique<unfinished_file>(s.file(), s.target)});
  s.open = true;
  s.parts.back().hash.add(bytes);
  if (s.pending.size() + bytes.size() > portion) s.flush();
  if (bytes.size() > portion) s.parts.back().file->write(bytes);
  else s.pending.insert(s.pending.end(), bytes.begin(), bytes.end());
}

void file_group::end_part() {
  state& s = *state_;
  if (!std::exchange(s.open, false)) return;
  s.flush();
  s.parts.back().file->finish();
}

void file_group::keep(const std::function<std::string(std::span<const std::string>)>& text,
                      const std::function<std::vector<std::string>(std::span<const std::byte>)>& named) {
  state& s = *state_;
  s.check_open();
  end_part();
  const folder_lock lock(s.folder);
  const std::vector<std::string> names = s.choose_names(lock.held());
  unfinished_file document(s.file(), s.target);
  const std::string contents = text(names);
  document.write(std::as_bytes(std::span(contents)));
  document.finish();
  std::vector<std::string> replaced;
  try {
    if (exists(s.target.path)) replaced = named(map_file(s.target.path, s.function).bytes);
  } catch (const error&) {  // it is another file's, and so are the files next to it
  }
  const std::vector<std::string> needless = s.needless(replaced, names, lock.held());
  placed_files placed;
  placed.paths.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!s.parts[i].file) continue;  // it is there
    std::string path = s.folder + names[i];
    s.parts[i].file->place(path);
    placed.paths.push_back(std::move(path));
  }
  // First the names of the parts reach the disk, then the file that has them, then the old ones go.
  if (!placed.paths.empty()) detail::sync_folder(s.folder);
  document.place(s.target.path);
  s.kept = true;
  placed.paths.clear();
  detail::sync_folder(s.folder);
  for (const std::string& path : needless) ::unlink(path.c_str());
}

}  // namespace kerngrad::io
