// SPDX-License-Identifier: Apache-2.0
// The file of a pack, mapped after it was read: whether it is a whole ELF shared library (the dynamic linker maps a
// truncated one, and the program dies when it touches what is missing), and whether its header fits this library. If
// shared libraries are not ELF, they cannot be read, so that all packs are rejected, in one sentence.
module;
#if defined(__ELF__)
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/include/kerngrad/pack.h"
module kerngrad;

import :pack_host;

namespace kerngrad::detail {

void check_pack_header(const pack_header& header) {
  if (header.magic != KERNGRAD_PACK_MAGIC)
    fail("load_pack", "a symbol kerngrad_pack_v1 without the magic of a pack", "one that KERNGRAD_PACK defines");
  if (header.abi_version != KERNGRAD_PACK_ABI)
    fail("load_pack", "a pack of ABI version " + std::to_string(header.abi_version), std::to_string(KERNGRAD_PACK_ABI),
         "compile it with this library's kerngrad/pack.h");
  if (header.struct_size < sizeof(kerngrad_pack_info))
    fail("load_pack", "a kerngrad_pack_info of " + std::to_string(header.struct_size) + " bytes",
         "at least " + std::to_string(sizeof(kerngrad_pack_info)), "compile it with this library's kerngrad/pack.h");
  if (header.host_size > sizeof(kerngrad_host))
    fail("load_pack", "a pack that needs a host table of " + std::to_string(header.host_size) + " bytes",
         "at most " + std::to_string(sizeof(kerngrad_host)), "update the library, or compile it with its pack.h");
  if (header.reserved != 0) fail("load_pack", "a reserved word that is not 0", "0", "use KERNGRAD_PACK");
  if (header.host_size < offsetof(kerngrad_host, register_kernel))
    fail("load_pack", "a pack with a host table of " + std::to_string(header.host_size) + " bytes",
         "the size of a kerngrad_host");
}

#if defined(__ELF__)

namespace {

using elf_header = ElfW(Ehdr);
using segment = ElfW(Phdr);
using section = ElfW(Shdr);
using symbol = ElfW(Sym);

[[noreturn]] void refuse_file(std::string_view got, std::string_view wanted = "a shared library in the ELF format") {
  fail("load_pack", got, wanted);
}

class pack_file {
 public:
  explicit pack_file(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat state;
    if (descriptor_ < 0 || fstat(descriptor_, &state) != 0) {
      const int why = errno;
      if (descriptor_ >= 0) close(descriptor_);
      refuse_file("a file that cannot be opened (" + std::system_category().message(why) + ")", "a readable file");
    }
    if (!S_ISREG(state.st_mode)) {
      close(descriptor_);
      refuse_file(S_ISDIR(state.st_mode) ? "a directory" : "something that is no regular file", "a file");
    }
    identity_ = {state.st_dev, state.st_ino, static_cast<std::uint64_t>(state.st_size), state.st_mtim.tv_sec,
                 state.st_mtim.tv_nsec};
  }
  ~pack_file() { close(descriptor_); }
  pack_file(const pack_file&) = delete;
  pack_file& operator=(const pack_file&) = delete;

  const file_identity& identity() const { return identity_; }
  bool has(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= identity_.bytes && bytes <= identity_.bytes - offset;
  }
  /// An array of plain structs; rejects what is not wholly in the file.
  template <class T>
  std::vector<T> read(std::uint64_t offset, std::uint64_t count) const {
    if (count > identity_.bytes / sizeof(T) || !has(offset, count * sizeof(T)))
      refuse_file("a file of " + std::to_string(identity_.bytes) + " bytes that ends before its contents do",
                  "a whole shared library");
    std::vector<T> items(count);
    std::size_t done = 0;
    const std::size_t bytes = count * sizeof(T);
    while (done < bytes) {
      const ssize_t got = pread(descriptor_, reinterpret_cast<char*>(items.data()) + done, bytes - done,
                                static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) refuse_file("a file that cannot be read", "a readable file");
      done += static_cast<std::size_t>(got);
    }
    return items;
  }

 private:
  int descriptor_;
  file_identity identity_;
};

elf_header header_of(const pack_file& file) {
  if (!file.has(0, sizeof(elf_header)))
    refuse_file(file.identity().bytes ? "a file that is too short" : "an empty file");
  const elf_header header = file.read<elf_header>(0, 1)[0];
  const unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse_file("a file of another format");
  if (header.e_ident[EI_CLASS] != own_class || header.e_type != ET_DYN || header.e_phentsize != sizeof(segment) ||
      header.e_shentsize != sizeof(section))
    refuse_file("an ELF file of another kind", "a shared library for this machine");
  return header;
}

// Offset in the file of the bytes at an address of the mapped library.
std::uint64_t offset_of(std::uint64_t address, std::uint64_t bytes, const std::vector<segment>& segments) {
  for (const segment& s : segments)
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr <= s.p_filesz &&
        bytes <= s.p_filesz - (address - s.p_vaddr))
      return s.p_offset + (address - s.p_vaddr);
  refuse_file("a symbol kerngrad_pack_v1 without contents", "one that KERNGRAD_PACK defines");
}

// The address of the symbol that every pack exports.
std::uint64_t address_of_info(const pack_file& file, const std::vector<section>& sections) {
  constexpr std::string_view wanted = "kerngrad_pack_v1";
  for (const section& s : sections) {
    if (s.sh_type != SHT_DYNSYM || s.sh_link >= sections.size()) continue;
    const section& texts = sections[s.sh_link];
    const std::vector<char> names = file.read<char>(texts.sh_offset, texts.sh_size);
    for (const symbol& at : file.read<symbol>(s.sh_offset, s.sh_size / sizeof(symbol))) {
      if (at.st_shndx == SHN_UNDEF || at.st_name >= names.size()) continue;
      const char* name = names.data() + at.st_name;
      if (std::string_view(name, strnlen(name, names.size() - at.st_name)) == wanted) return at.st_value;
    }
  }
  refuse_file("a shared library without the symbol kerngrad_pack_v1", "a pack: KERNGRAD_PACK defines and exports it");
}

}  // namespace

file_identity check_pack_file(const std::string& path) {
  const pack_file file(path);
  const elf_header header = header_of(file);
  const std::vector<segment> segments = file.read<segment>(header.e_phoff, header.e_phnum);
  for (const segment& s : segments)
    if (!file.has(s.p_offset, s.p_filesz)) refuse_file("a truncated file", "a whole shared library");
  const std::vector<section> sections = file.read<section>(header.e_shoff, header.e_shnum);
  const std::uint64_t address = address_of_info(file, sections);
  check_pack_header(file.read<pack_header>(offset_of(address, sizeof(pack_header), segments), 1)[0]);
  return file.identity();
}

pack_library::pack_library(std::string path, const file_identity& file) : path_(std::move(path)), file_(file) {
  dlerror();
  handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const char* why = dlerror();
  fail("load_pack", why ? why : "a library that cannot be loaded", "one that the dynamic linker loads");
}

pack_library::~pack_library() { dlclose(handle_); }

const kerngrad_pack_info& pack_library::info() const {
  const void* found = dlsym(handle_, "kerngrad_pack_v1");
  if (!found) fail("load_pack", "no symbol kerngrad_pack_v1", "a pack");
  const auto& info = *static_cast<const kerngrad_pack_info*>(found);
  check_pack_header({info.struct_size, info.abi_version, info.magic, info.host_size, info.reserved});
  return info;
}

#else

file_identity check_pack_file(const std::string&) {
  fail("load_pack", "a system whose shared libraries are not ELF, so that none is read before it is mapped", "ELF",
       "compile the kernels into the program, and register them there");
}

pack_library::pack_library(std::string path, const file_identity& file) : path_(std::move(path)), file_(file) {}
pack_library::~pack_library() = default;
const kerngrad_pack_info& pack_library::info() const { fail("load_pack", "a library that is not mapped", "a pack"); }

#endif

}  // namespace kerngrad::detail
