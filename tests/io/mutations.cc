// SPDX-License-Identifier: Apache-2.0
// Files that are not what they seem: valid ones of every format with bytes changed, cut out, repeated and mixed. Each
// is read, or rejected in one sentence, within the memory limit, and leaves nothing behind.
#include <algorithm>

#include "files.h"
#include "tests/support/full.h"

namespace {

using kg::tensor;

struct sample_file {
  std::string name, bytes;
};

// Small files, so that a change hits what matters.
std::vector<sample_file> valid_files() {
  const kgtest::folder here;
  const auto picture = [](std::int64_t channels) { return kgtest::any_bits(kg::dtype::uint8, {3, 5, channels}); };
  kg::io::save(here / "matrix.npy", kgtest::any_bits(kg::dtype::float32, {2, 3}));
  kg::io::save(here / "flags.npy", kgtest::any_bits(kg::dtype::boolean, {9}));
  kg::io::save(here / "stored.npz", {{"x", tensor({1.f, 2.f})}, {"y", tensor(7)}});
  kg::io::save(here / "deflated.npz", {{"x", kg::zeros({40, 40})}, {"y", tensor(7)}}, {.compressed = true});
  kg::io::save(here / "two.safetensors", {{"x", tensor({1.f, 2.f})}, {"y", tensor({true, false})}});
  kg::io::save_csv(here / "named.csv", {{"a", "b"}, tensor({1.5, -2e10, 3.25, 0.1}, {2, 2})});
  kg::io::save(here / "gray.png", picture(1));
  kg::io::save(here / "color.png", picture(4));
  kg::io::save(here / "gray.pgm", picture(1));
  kg::io::save(here / "color.ppm", picture(3));
  std::vector<sample_file> files;
  for (const std::string& name : here.names()) files.push_back({name, kgtest::contents(here / name)});
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string columns = kgtest::contents(here / "matrix.npy");
  columns.replace(columns.find("False"), 6, "True, ");
  files.push_back({"columns.npy", columns});
  return files;
}

class mutator {
 public:
  mutator(const std::vector<sample_file>& files, std::uint64_t seed) : files_(files), random_(seed) {}

  sample_file next() {
    sample_file made = files_[random_.below(files_.size())];
    for (std::uint64_t changes = 1 + random_.below(4); changes > 0; --changes) change(made.bytes);
    return made;
  }

 private:
  std::size_t place(const std::string& in) { return static_cast<std::size_t>(random_.below(in.size() + 1)); }
  void change(std::string& bytes) {
    static const std::string words[] = {"\xff\xff\xff\xff\xff\xff\xff\xff",
                                        std::string(8, '\0'),
                                        "\x7f",
                                        "\x80",
                                        "4611686018427387904",
                                        "-1",
                                        "(",
                                        "'",
                                        "\"",
                                        "{",
                                        "[",
                                        "\n",
                                        ",",
                                        "True",
                                        ">",
                                        "O",
                                        "nan",
                                        "1e999",
                                        "PK\5\6",
                                        "IHDR",
                                        "P6",
                                        "#"};
    const std::size_t at = place(bytes), other = place(bytes), low = std::min(at, other), high = std::max(at, other);
    switch (random_.below(8)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_.bits());
        break;
      case 2: bytes.resize(at); break;
      case 3: bytes.erase(low, std::min<std::size_t>(high - low, random_.below(16))); break;
      case 4: bytes.insert(at, bytes.substr(low, std::min<std::size_t>(high - low, 64))); break;
      case 5: {
        const std::string& word = words[random_.below(std::size(words))];
        bytes.replace(std::min(at, bytes.size()), std::min(word.size(), bytes.size() - at), word);
        break;
      }
      case 6: bytes.insert(at, words[random_.below(std::size(words))]); break;
      default: {
        const std::string& more = files_[random_.below(files_.size())].bytes;
        const std::size_t from = place(more);
        bytes.replace(at, random_.below(32), more.substr(from, random_.below(64)));
      }
    }
  }

  const std::vector<sample_file>& files_;
  kg::testkit::stream random_;
};

// "" when a file is read, or rejected as it should be; else what is wrong.
std::string complaint_of(const sample_file& file) {
  try {
    for (const kg::io::named_tensor& one : kgtest::decoded(file.bytes, file.name))
      if (one.value.type() == kg::dtype::boolean)
        for (const char c : kgtest::elements(one.value))
          if (c != 0 && c != 1) return "a bool that is neither";
  } catch (const kg::error& e) {
    const std::string said = e.what();
    if (!said.starts_with("[decode] got \"" + file.name + "\", which ")) return "another sentence: " + said;
    if (said.size() > 600) return "a long sentence: " + said;
    for (const char c : said)
      if (c < ' ' || c > '~') return "not one line of text: " + said;
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "";
}

TEST(mutations, are_read_or_refused_in_one_sentence) {
  const std::vector<sample_file> files = valid_files();
  for (const sample_file& file : files) ASSERT_EQ(complaint_of(file), "") << file.name;
  kg::set_memory_limit(kg::memory().live_bytes + (std::int64_t{16} << 20));
  const std::int64_t before = kg::memory().live_tensors, count = kgtest::full() ? 1'000'000 : 10'000;
  mutator next(files, 20240229);
  for (std::int64_t i = 0; i < count; ++i) {
    const sample_file file = next.next();
    const std::string complaint = complaint_of(file);
    if (complaint.empty()) continue;
    ADD_FAILURE() << "mutation " << i << " of " << file.name << ": " << complaint;
    break;
  }
  kg::set_memory_limit(kg::unlimited);
  EXPECT_EQ(kg::memory().live_tensors, before);
}

}  // namespace
