// SPDX-License-Identifier: Apache-2.0
// PNG by libpng. It leaves its functions by longjmp: what it runs in between holds nothing that would need destruction.
module;
#include <png.h>
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

constexpr std::string_view whole_png = "a PNG that is whole";
constexpr std::uint32_t longest_side = 1'000'000;  // libpng's own limit

// Error message of libpng.
struct png_complaint {
  char text[128] = "";
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* const complaint = static_cast<png_complaint*>(png_get_error_ptr(png));
  std::strncpy(complaint->text, message, sizeof(complaint->text) - 1);
  png_longjmp(png, 1);
}
void on_png_warning(png_structp, png_const_charp) {}

// Runs f, which calls libpng and has no objects of its own; false when libpng gave up.
template <class F>
bool guarded(png_structp png, const F& f) {
  if (setjmp(png_jmpbuf(png))) return false;
  f();
  return true;
}

// ------------------------------------------------------------------------------------------ reading

class png_reader {
 public:
  png_reader(const origin& file, std::span<const std::byte> bytes) : file_(file), rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_png_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      file_.refuse("cannot be read: no memory for it", "memory");
    }
  }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;
  ~png_reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  tensor read() {
    const std::size_t file_bytes = rest_.size();
    check_chunks();
    constexpr std::size_t more = std::size_t{1} << 20;  // for texts that are inflated
    check(guarded(png_, [&] {
      png_set_user_limits(png_, longest_side, longest_side);
      png_set_chunk_malloc_max(png_, file_bytes + more);
      png_set_read_fn(png_, this, give);
      png_read_info(png_, info_);
    }));
    const std::int64_t height = png_get_image_height(png_, info_);
    check_size(height, file_bytes);
    check(guarded(png_, [this] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    }));
    const shape dims{height, png_get_image_width(png_, info_), png_get_channels(png_, info_)};
    check_memory(file_, "the picture", dims, dtype::uint8);
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    return tensor::build<std::uint8_t>(dims, [&](std::span<std::uint8_t> values) {
      std::vector<png_bytep> rows(static_cast<std::size_t>(height));
      for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = values.data() + row * row_bytes;
      check(guarded(png_, [&] {
        png_read_image(png_, rows.data());
        png_read_end(png_, nullptr);
      }));
    });
  }

 private:
  static void give(png_structp png, png_bytep to, std::size_t count) {
    std::span<const std::byte>& rest = static_cast<png_reader*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "it ends too early");
    std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
  }
  // libpng allocates the length that a chunk claims before it reads the chunk.
  void check_chunks() const {
    constexpr std::size_t signature = 8, frame = 12;  // of a chunk: length, type and check
    if (rest_.size() < signature || png_sig_cmp(reinterpret_cast<png_const_bytep>(rest_.data()), 0, signature)) return;
    for (std::span<const std::byte> at = rest_.subspan(signature); at.size() >= frame;) {
      const std::size_t length = png_get_uint_32(reinterpret_cast<png_const_bytep>(at.data()));
      if (std::memcmp(at.data() + 4, "IEND", 4) == 0) return;  // what follows is no part of the image
      if (length > at.size() - frame)
        file_.refuse(
            "has a chunk of " + bytes_text(length) + " where " + std::to_string(at.size() - frame) + " are left",
            whole_png);
      at = at.subspan(frame + length);
    }
  }
  void check(bool done) const {
    if (!done) file_.refuse("is no PNG that can be read: " + std::string(complaint_.text), whole_png);
  }
  // The pixels are deflated, so that a short file cannot have many.
  void check_size(std::int64_t height, std::size_t file_bytes) const {
    const auto row_bytes = static_cast<std::int64_t>(png_get_rowbytes(png_, info_));
    const std::int64_t most = kernels::saturated_product(file_bytes, most_inflated);
    if (kernels::saturated_product(row_bytes, height) > most)
      file_.refuse("says that it has " + std::to_string(png_get_image_width(png_, info_)) + " x " +
                       std::to_string(height) + " pixels in " + bytes_text(file_bytes),
                   whole_png);
  }

  origin file_;
  std::span<const std::byte> rest_;
  png_complaint complaint_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

// ------------------------------------------------------------------------------------------ writing

class png_writer {
 public:
  png_writer(const origin& file, new_file& to) : file_(file), to_(to) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_png_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      file_.refuse("cannot be written: no memory for it", "memory");
    }
  }
  png_writer(const png_writer&) = delete;
  png_writer& operator=(const png_writer&) = delete;
  ~png_writer() { png_destroy_write_struct(&png_, &info_); }

  void write(const picture& what, std::span<const std::byte> pixels) {
    constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
    const auto width = static_cast<png_uint_32>(what.width), height = static_cast<png_uint_32>(what.height);
    const std::size_t row_bytes = kernels::extent(what.width, what.channels);
    const bool done = guarded(png_, [&] {
      png_set_write_fn(png_, this, take, [](png_structp) {});
      png_set_IHDR(png_, info_, width, height, 8, colors[what.channels - 1], PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      for (png_uint_32 row = 0; row < height; ++row)
        png_write_row(png_, reinterpret_cast<png_const_bytep>(pixels.data()) + row * row_bytes);
      png_write_end(png_, nullptr);
    });
    if (failure_) std::rethrow_exception(failure_);
    if (!done) file_.refuse("cannot be written: " + std::string(complaint_.text), "a picture that PNG can hold");
  }

 private:
  // Exceptions of writing bypass libpng's functions, which are C.
  static void take(png_structp png, png_bytep bytes, std::size_t count) {
    auto* const writer = static_cast<png_writer*>(png_get_io_ptr(png));
    try {
      writer->to_.write(std::as_bytes(std::span(bytes, count)));
    } catch (...) {
      writer->failure_ = std::current_exception();
    }
    if (writer->failure_) png_error(png, "it cannot be written");
  }

  origin file_;
  new_file& to_;
  std::exception_ptr failure_;
  png_complaint complaint_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

tensor read_png(const origin& file, std::span<const std::byte> bytes) { return png_reader(file, bytes).read(); }

void write_png(const origin& file, const tensor& x) {
  const picture what = picture_of(file, x);
  if (std::max(what.height, what.width) > longest_side)
    file.refuse("would have " + to_string(x.dims()), "sides of at most " + std::to_string(longest_side) + " pixels");
  const std::span<const std::byte> pixels = elements_of(x);
  new_file to(file);
  png_writer(file, to).write(what, pixels);
  to.keep();
}

}  // namespace kerngrad::io::detail
