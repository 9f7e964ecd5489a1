// SPDX-License-Identifier: Apache-2.0
#include "idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "failure.h"

namespace demo {
namespace {

// A gzip file that is read from front to end. Every read is exact; whatever is wrong throws with the file's name.
class gzip_reader {
 public:
  explicit gzip_reader(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (!file_)
      refuse(
          fmt::format("cannot be opened ({}); install the package dataset-fashion-mnist or name its folder with --data",
                      errno ? std::strerror(errno) : "no memory"));
    gzbuffer(file_.get(), 1 << 17);
  }

  [[noreturn]] void refuse(const std::string& what) const { throw bad_input(path_ + ": " + what); }

  void read(std::span<std::uint8_t> bytes, const char* part) {
    while (!bytes.empty()) {
      const auto wanted = static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 1 << 20));
      const int got = gzread(file_.get(), bytes.data(), wanted);
      check();
      if (got <= 0) refuse(fmt::format("truncated: it ends inside the {}", part));
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }

  std::uint32_t read_number() {
    std::uint8_t b[4];
    read(b, "header");
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  /// The end of the data, and the checksum that gzip keeps there.
  void finish() {
    std::uint8_t extra;
    const int got = gzread(file_.get(), &extra, 1);
    check();
    if (got != 0) refuse("more data than its header says");
  }

 private:
  // A stream that stops early is an error of its own in zlib: Z_BUF_ERROR, after what there is was delivered.
  void check() const {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) refuse("truncated: the compressed data stop early");
    if (code == Z_ERRNO) refuse(std::strerror(errno));
    if (code != Z_OK && code != Z_STREAM_END) refuse(fmt::format("damaged compressed data ({})", text));
  }

  struct closer {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
};

// The magic number says "unsigned bytes" and the rank; then come the sizes, the first of which is the number of items.
std::vector<std::uint8_t> read_idx(const std::string& path, std::span<const std::uint32_t> item_sizes) {
  constexpr std::uint32_t most_items =
      10'000'000;  // beyond every real file; keeps a foreign header from filling memory
  gzip_reader file(path);
  const std::uint32_t wanted = 0x0800 + 1 + static_cast<std::uint32_t>(item_sizes.size());
  const std::uint32_t magic = file.read_number();
  if (magic != wanted)
    file.refuse(fmt::format("not the IDX file expected here: magic {:#010x}, not {:#010x}", magic, wanted));
  const std::uint32_t items = file.read_number();
  if (items == 0 || items > most_items) file.refuse(fmt::format("{} items; 1 to {} are expected", items, most_items));
  std::size_t bytes = items;
  for (const std::uint32_t size : item_sizes) {
    const std::uint32_t found = file.read_number();
    if (found != size) file.refuse(fmt::format("images with a side of {} pixels; {} are expected", found, size));
    bytes *= size;
  }
  std::vector<std::uint8_t> data(bytes);
  file.read(data, "data");
  file.finish();
  return data;
}

}  // namespace

image_set read_images(const std::string& directory, const std::string& stem, std::int64_t limit) {
  const std::string prefix = directory + "/" + stem;
  const std::string label_path = prefix + "-labels-idx1-ubyte.gz";
  constexpr std::uint32_t sides[] = {image_side, image_side};
  image_set set{read_idx(prefix + "-images-idx3-ubyte.gz", sides), read_idx(label_path, {})};
  const std::size_t images = set.pixels.size() / image_pixels;
  if (images != set.labels.size())
    throw bad_input(fmt::format("{}: {} labels for {} images", label_path, set.labels.size(), images));
  const auto wrong =
      std::find_if(set.labels.begin(), set.labels.end(), [](std::uint8_t c) { return c >= class_count; });
  if (wrong != set.labels.end())
    throw bad_input(fmt::format("{}: label {} at position {}; 0 to {} are expected", label_path, *wrong,
                                wrong - set.labels.begin(), class_count - 1));
  if (limit > 0 && limit < set.count()) {
    set.labels.resize(static_cast<std::size_t>(limit));
    set.pixels.resize(static_cast<std::size_t>(limit) * image_pixels);
  }
  return set;
}

}  // namespace demo
