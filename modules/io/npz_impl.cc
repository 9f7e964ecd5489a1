// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a zip archive of .npy files, by libzip.
module;
#include <zip.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

constexpr std::string_view member_ending = ".npy";

// Frees objects of libzip on every path; an archive that was not closed is left as it was.
struct zip_discarder {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using archive_handle = std::unique_ptr<zip_t, zip_discarder>;
struct zip_file_closer {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using member_handle = std::unique_ptr<zip_file_t, zip_file_closer>;
struct zip_failure : zip_error_t {
  zip_failure() { zip_error_init(this); }
  zip_failure(const zip_failure&) = delete;
  zip_failure& operator=(const zip_failure&) = delete;
  ~zip_failure() { zip_error_fini(this); }
  std::string text() { return zip_error_strerror(this); }
};

constexpr std::string_view whole_archive = "a zip archive that is whole, as NumPy's savez writes it";

// ------------------------------------------------------------------------------------------ reading

// The bytes of a member, inflated as they are asked for.
class member_source : public byte_source {
 public:
  member_source(const origin& file, zip_t* archive, std::uint64_t index, std::uint64_t size)
      : file_(file), member_(zip_fopen_index(archive, index, 0)), left_(size) {
    if (!member_) damaged(zip_get_error(archive));
  }
  std::uint64_t left() const override { return left_; }
  void read(std::span<std::byte> to) override {
    if (to.size() > left_) file_.refuse("has a member that ends too early", whole_archive);
    while (!to.empty()) {
      const std::int64_t count = zip_fread(member_.get(), to.data(), to.size());
      if (count <= 0) damaged(zip_file_get_error(member_.get()));
      to = to.subspan(static_cast<std::size_t>(count));
      left_ -= static_cast<std::uint64_t>(count);
    }
  }
  // Checks that nothing follows; libzip compares the checksum at the end.
  void finish() {
    std::byte more;
    if (zip_fread(member_.get(), &more, 1) != 0) damaged(zip_file_get_error(member_.get()));
  }

 private:
  [[noreturn]] void damaged(zip_error_t* why) const {
    const std::string reason = zip_error_code_zip(why) == ZIP_ER_OK ? "" : ": " + std::string(zip_error_strerror(why));
    file_.refuse("has a damaged member" + reason, whole_archive);
  }

  origin file_;
  member_handle member_;
  std::uint64_t left_;
};

archive_handle open_archive(const origin& file, std::span<const std::byte> bytes) {
  if (bytes.empty()) file.refuse("is empty", whole_archive);  // libzip would see an archive without members
  zip_failure failure;
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &failure);
  zip_t* const archive = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &failure) : nullptr;
  if (archive) return archive_handle(archive);
  if (source) zip_source_free(source);
  file.refuse("is no zip archive that can be read: " + failure.text(), whole_archive);
}

// The name of a member, with its ending.
std::string name_at(const origin& file, zip_t* archive, std::uint64_t index) {
  const char* const name = zip_get_name(archive, index, 0);
  if (!name) file.refuse("has a member without a name", whole_archive);
  return name;
}

std::vector<std::string> names_of_arrays(const origin& file, zip_t* archive) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    const std::string name = name_at(file, archive, static_cast<std::uint64_t>(i));
    if (name.ends_with(member_ending)) names.push_back(name.substr(0, name.size() - member_ending.size()));
  }
  return names;
}

struct member {
  std::uint64_t size = 0, stored = 0;
};

// Entry of a member in the archive, checked.
member member_at(const origin& file, zip_t* archive, std::uint64_t index, std::size_t archive_bytes) {
  zip_stat_t status;
  constexpr std::uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & needed) != needed)
    file.refuse("has a member without a name or a size", whole_archive);
  const member found{status.size, status.comp_size};
  const std::string what = "has the member " + in_quotes(status.name);
  if (status.encryption_method != ZIP_EM_NONE) file.refuse(what + ", which is encrypted", "plain members");
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
    file.refuse(what + ", compressed by method " + std::to_string(status.comp_method), "stored or deflated members");
  const auto most = status.comp_method == ZIP_CM_STORE
                        ? static_cast<std::int64_t>(found.stored)
                        : kernels::saturated_product(kernels::saturated_sum(found.stored, 1), most_inflated);
  if (found.stored > archive_bytes || found.size > static_cast<std::uint64_t>(most))
    file.refuse(what + " of " + bytes_text(found.size), "no more than its " + bytes_text(found.stored) + " can hold");
  return found;
}

}  // namespace

named_tensors read_npz(const origin& file, std::span<const std::byte> bytes, const asked_names& asked) {
  const archive_handle archive = open_archive(file, bytes);
  const std::int64_t count = zip_get_num_entries(archive.get(), 0);
  std::vector<named_tensor> list;
  std::vector<skipped_entry> skipped;
  std::uint64_t left = bytes.size();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    std::string name = name_at(file, archive.get(), index);
    if (!name.ends_with(member_ending)) {
      if (!asked.is_list()) skipped.push_back({std::move(name), "is no .npy file"});
      continue;
    }
    name.resize(name.size() - member_ending.size());
    if (!asked.has(name)) continue;
    const member found = member_at(file, archive.get(), index, bytes.size());
    // Members that share their bytes would make much out of little.
    if (found.stored > left) file.refuse("has members that overlap", whole_archive);
    left -= found.stored;
    member_source from(file, archive.get(), index, found.size);
    list.push_back({name, read_npy(file, from, in_quotes(name))});
    from.finish();
  }
  named_tensors all = collected(file, std::move(list), std::move(skipped));
  check_found(file, asked, all, [&] { return names_of_arrays(file, archive.get()); });
  return all;
}

// ------------------------------------------------------------------------------------------ writing

namespace {

// Rejects what libzip cannot write, or would cut off.
void check_member_name(const origin& file, const std::string& name) {
  constexpr std::size_t longest_member = 65535;  // zip keeps the length in 16 bits
  const std::string what = "would have a tensor named " + in_quotes(name);
  if (name.size() > longest_member - member_ending.size())
    file.refuse(what + " in " + bytes_text(name.size()),
                "names of at most " + std::to_string(longest_member - member_ending.size()), "save a .safetensors");
  const auto is_control = [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r'; };
  if (std::any_of(name.begin(), name.end(), is_control))
    file.refuse(what, "names without control characters", "save a .safetensors");
}

}  // namespace

void write_npz(const origin& file, const named_tensors& all, bool compressed) {
  for (const named_tensor& one : all) check_member_name(file, one.name);
  std::vector<std::string> headers;  // libzip reads them, and the elements, when the archive is closed
  for (const named_tensor& one : all) headers.push_back(npy_header(file, in_quotes(one.name), one.value));
  new_file to(file);
  if (all.empty()) {
    // libzip writes none; this is the end of a directory that is empty.
    constexpr std::size_t end_bytes = 22;
    std::string end = "PK\5\6";
    end.resize(end_bytes);
    to.write(end);
    return to.keep();
  }
  const auto failed = [&](zip_t* archive) {
    file.refuse("cannot be written: " + std::string(zip_error_strerror(zip_get_error(archive))),
                "a disk that takes the file; it is as it was");
  };
  int code = 0;
  zip_t* const opened = zip_open(to.unfinished().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!opened) file.refuse("cannot be written", "a disk that takes the file; it is as it was");
  archive_handle archive(opened);
  std::size_t next = 0;
  for (const named_tensor& one : all) {
    const std::string name = one.name + std::string(member_ending);  // may throw: before there is a source
    std::string& header = headers[next++];
    const std::span<const std::byte> elements = elements_of(one.value);
    // libzip only reads them, and takes pointers to what it might free.
    const std::array<zip_buffer_fragment_t, 2> parts{
        {{reinterpret_cast<zip_uint8_t*>(header.data()), header.size()},
         {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(elements.data())), elements.size()}}};
    zip_source_t* const source = zip_source_buffer_fragment(opened, parts.data(), parts.size(), 0);
    if (!source) failed(opened);
    const std::int64_t index = zip_file_add(opened, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      failed(opened);
    }
    const auto member = static_cast<std::uint64_t>(index);
    // 1 January 1980, zip's first day: the same tensors give the same file.
    constexpr std::uint16_t midnight = 0, first_day = 0x21;
    if (zip_set_file_compression(opened, member, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(opened, member, midnight, first_day, 0) != 0)
      failed(opened);
  }
  if (zip_close(opened) != 0) failed(opened);
  static_cast<void>(archive.release());  // closing it has freed it
  to.keep();
}

}  // namespace kerngrad::io::detail
