// SPDX-License-Identifier: Apache-2.0
// replay FOLDER COUNT: runs a fuzz target on each file of a folder and on COUNT changed copies of them, the same ones
// at every run. A finding ends the program; the last line of output says at which input.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

// SplitMix64 (Steele, Lea and Flood 2014).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t end) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ z >> 31) % (end ? end : 1));
  }

 private:
  std::uint64_t state_;
};

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

input contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Changes, removes, repeats or inserts bytes, or continues with a part of another input.
input changed(input made, const std::vector<input>& all, random_numbers& random) {
  for (std::size_t count = 1 + random.below(4); count > 0; --count) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(made.size() + 1));
    const auto length = static_cast<std::ptrdiff_t>(random.below(std::min<std::size_t>(made.size() - at, 8) + 1));
    const auto from = made.begin() + at;
    switch (random.below(5)) {
      case 0: made.insert(from, static_cast<std::uint8_t>(random.below(256))); break;
      case 1: made.erase(from, from + length); break;
      case 2: {
        const input part(from, from + length);
        made.insert(from, part.begin(), part.end());
        break;
      }
      case 3: {
        const input& other = all[random.below(all.size())];
        made.resize(static_cast<std::size_t>(at));
        const auto begin = static_cast<std::ptrdiff_t>(random.below(other.size() + 1));
        made.insert(made.end(), other.begin() + begin, other.end());
        break;
      }
      default:
        if (static_cast<std::size_t>(at) < made.size())
          made[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random.below(256));
    }
  }
  return made;
}

void run(const std::string& name, const input& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::size_t count = 0;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), count);
  std::vector<input> all;
  for (const std::string& name : files_in(argv[1])) {
    all.push_back(contents(name));
    run(name, all.back());
  }
  if (all.empty()) {
    std::fprintf(stderr, "%s has no inputs\n", argv[1]);
    return 1;
  }
  random_numbers random(1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t which = random.below(all.size());
    run("change " + std::to_string(i), changed(all[which], all, random));
  }
  return 0;
}
