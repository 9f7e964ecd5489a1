// SPDX-License-Identifier: Apache-2.0
#include "display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "scores.h"

namespace demo {
namespace {

bool on_terminal() {
  static const bool is = isatty(STDOUT_FILENO) == 1;
  return is;
}

int columns() {
  winsize size{};
  if (on_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 96;
}

// "1:05" or "2:00:07".
std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::min(std::max(std::ceil(seconds), 0.0), 1e8));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

// ------------------------------------------------------------------------------------------ progress

progress::progress(int epoch, int epochs, std::int64_t images)
    : epoch_(epoch), epochs_(epochs), images_(images), terminal_(on_terminal()) {}

double progress::elapsed() const {
  return std::max(std::chrono::duration<double>(clock::now() - start_).count(), 1e-9);
}

void progress::clear() const {
  if (terminal_) fmt::print("\r\x1b[K");
}

void progress::step(std::int64_t seen, double loss) {
  constexpr auto interval = std::chrono::milliseconds(100);  // drawing costs more than some steps
  if (!terminal_ || clock::now() - drawn_ < interval) return;
  drawn_ = clock::now();
  const double rate = static_cast<double>(seen) / elapsed();
  const std::string head = fmt::format("epoch {}/{} ", epoch_, epochs_);
  const std::string tail = fmt::format(" {:3.0f}%  loss {:.4f}  {:.0f} images/s  {} left",
                                       100.0 * static_cast<double>(seen) / static_cast<double>(images_), loss, rate,
                                       duration_text(static_cast<double>(images_ - seen) / rate));
  const int width = std::clamp(columns() - static_cast<int>(head.size() + tail.size()) - 3, 0, 40);
  const auto full = static_cast<int>(seen * width / images_);
  const std::string bar = width < 4 ? "" : fmt::format("[{:#<{}}{: <{}}]", "", full, "", width - full);
  clear();
  fmt::print("{}{}{}", head, bar, tail);
  std::fflush(stdout);
}

void progress::stop() {
  seconds_ = elapsed();
  processor_seconds_ = static_cast<double>(std::clock() - processor_start_) / CLOCKS_PER_SEC;
}

void progress::finish(double loss, double accuracy) {
  clear();
  fmt::print(
      "epoch {}/{}  loss {:.4f}  test accuracy {:.4f}  {:.0f} images/s  {:.2f} s ({:.2f} s of processors)  {} left\n",
      epoch_, epochs_, loss, accuracy, static_cast<double>(images_) / seconds_, seconds_, processor_seconds_,
      duration_text(seconds_ * (epochs_ - epoch_)));
  std::fflush(stdout);
}

// ------------------------------------------------------------------------------------------ tables

void show_tables(const image_set& truth, std::span<const std::uint8_t> predicted) {
  const confusion counts = confusion_of(truth, predicted);
  fmt::print(
      "\nConfusion matrix: a row per true class, a column per predicted one; recall is the accuracy of the class\n");
  fmt::print("{:13}", "");
  for (int c = 0; c < class_count; ++c) fmt::print("{:>6}", c);
  fmt::print("{:>9}\n", "recall");
  for (std::size_t t = 0; t < class_count; ++t) {
    fmt::print("{} {:11}", t, class_names[t]);
    for (const int count : counts[t]) fmt::print("{:>6}", count ? fmt::format("{}", count) : ".");
    fmt::print("{:>9}\n", recall_text(counts, t));
  }
}

// ------------------------------------------------------------------------------------------ pictures

namespace {

enum class palette { ascii, shades256, colors24 };

palette terminal_palette() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  if (!on_terminal() || !variable("NO_COLOR").empty() || variable("TERM") == "dumb") return palette::ascii;
  const std::string_view depth = variable("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? palette::colors24 : palette::shades256;
}

// Two pixels, one above the other, in one character: the upper half block has a colour for each half.
std::string two_pixels(int upper, int lower, palette with) {
  if (with == palette::colors24)
    return fmt::format("\x1b[38;2;{0};{0};{0}m\x1b[48;2;{1};{1};{1}m\xe2\x96\x80", upper, lower);
  if (with == palette::shades256)  // 232 to 255 are 24 greys
    return fmt::format("\x1b[38;5;{}m\x1b[48;5;{}m\xe2\x96\x80", 232 + upper * 23 / 255, 232 + lower * 23 / 255);
  constexpr std::string_view shades = " .:-=+*#%@";
  return std::string(1, shades[static_cast<std::size_t>((upper + lower) / 2) * (shades.size() - 1) / 255]);
}

void show_row(const image_set& truth, std::span<const std::uint8_t> predicted, std::span<const std::size_t> which,
              palette with) {
  const std::string_view reset = with == palette::ascii ? "" : "\x1b[0m";
  fmt::print("\n");
  for (int y = 0; y < image_side; y += 2) {
    for (const std::size_t image : which) {
      const std::uint8_t* upper = &truth.pixels[image * image_pixels + static_cast<std::size_t>(y) * image_side];
      for (int x = 0; x < image_side; ++x) fmt::print("{}", two_pixels(upper[x], upper[x + image_side], with));
      fmt::print("{}  ", reset);
    }
    fmt::print("\n");
  }
  for (const std::size_t image : which)
    fmt::print("{:<30}", fmt::format("predicted {}", class_names[predicted[image]]));
  fmt::print("\n");
  for (const std::size_t image : which)
    fmt::print("{:<30}", fmt::format("    truth {}{}", class_names[truth.labels[image]],
                                     predicted[image] == truth.labels[image] ? "" : "  (!)"));
  fmt::print("\n");
}

}  // namespace

void show_samples(const image_set& truth, std::span<const std::uint8_t> predicted) {
  const auto wanted = static_cast<std::size_t>(std::clamp(columns() / (image_side + 2), 1, 6));
  const palette with = terminal_palette();
  for (const bool recognised : {true, false}) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < predicted.size() && which.size() < wanted; ++i)
      if ((predicted[i] == truth.labels[i]) == recognised) which.push_back(i);
    if (!which.empty()) show_row(truth, predicted, which, with);
  }
}

}  // namespace demo
