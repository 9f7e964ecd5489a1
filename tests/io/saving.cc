// SPDX-License-Identifier: Apache-2.0
// Files themselves: they appear as a whole or not at all, and what cannot be read or written is said.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "files.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;

// Message of saving.
template <class X>
std::string refused_save(const std::string& path, const X& x) {
  return refusal([&] {
    kg::io::save(path, x);
    return 0;
  });
}

// No file of this process becomes longer than `bytes` while it lives.
class short_files {
 public:
  explicit short_files(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~short_files() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(saving, that_fails_midway_leaves_the_old_file_and_nothing_else) {
  const kg::io::named_tensors small{{"x", tensor(1.f)}}, large{{"x", kgtest::any_bits(kg::dtype::float32, {100000})}};
  const tensor small_picture = kg::cast(kg::zeros({2, 2, 3}), kg::dtype::uint8);
  const tensor large_picture = kgtest::any_bits(kg::dtype::uint8, {300, 300, 3});
  for (const std::string name : {"a.npy", "a.npz", "a.safetensors", "a.csv", "a.png", "a.ppm"}) {
    const kgtest::folder here;
    const bool named = name == "a.npz" || name == "a.safetensors", picture = name == "a.png" || name == "a.ppm";
    if (named) kg::io::save(here / name, small);
    else kg::io::save(here / name, picture ? small_picture : tensor({1.f}));
    const std::string before = kgtest::contents(here / name);
    {
      const short_files limit(2000);
      const std::string said =
          named ? refused_save(here / name, large) : refused_save(here / name, picture ? large_picture : large.at("x"));
      EXPECT_TRUE(says(said, {"[save]", name, "cannot be written"})) << said;
    }
    EXPECT_EQ(kgtest::contents(here / name), before) << name;
    EXPECT_EQ(here.names(), std::vector<std::string>{name});
  }
}

TEST(saving, replaces_a_file_and_keeps_its_mode_and_the_links_to_it) {
  const kgtest::folder here;
  kg::io::save(here / "a.npy", tensor(1.f));
  ASSERT_EQ(::chmod((here / "a.npy").c_str(), 0640), 0);
  std::filesystem::create_symlink("a.npy", here / "link.npy");
  kg::io::save(here / "link.npy", tensor(2.f));
  EXPECT_TRUE(std::filesystem::is_symlink(here / "link.npy"));
  EXPECT_EQ(tensor(kg::io::load(here / "a.npy")).item(), 2);
  struct stat status;
  ASSERT_EQ(::stat((here / "a.npy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  kg::io::save(here / "a.npz", {{"x", tensor(1.f)}});
  ASSERT_EQ(::chmod((here / "a.npz").c_str(), 0640), 0);
  kg::io::save(here / "a.npz", {{"x", tensor(2.f)}});
  ASSERT_EQ(::stat((here / "a.npz").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(here.names().size(), 3u);
}

TEST(saving, in_the_working_folder_takes_a_plain_name) {
  const kgtest::folder here;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(here / "");
  kg::io::save("plain.npy", tensor({1, 2}));
  const tensor back = kg::io::load("plain.npy");
  std::filesystem::current_path(before);
  EXPECT_TRUE(kgtest::same(back, tensor({1, 2})));
  EXPECT_EQ(here.names(), std::vector<std::string>{"plain.npy"});
}

TEST(files, that_cannot_be_read_or_written_are_refused_in_one_sentence) {
  const kgtest::folder here;
  std::filesystem::create_directory(here / "folder.npy");
  ASSERT_EQ(::mkfifo((here / "pipe.npy").c_str(), 0600), 0);
  const tensor x(1.f);
  const auto loads = [&](std::string_view name) { return refusal([&] { return kg::io::load(here / name); }); };
  EXPECT_TRUE(says(loads("none.npy"), {"[load] got \"", "none.npy\", which cannot be opened", "No such file"}));
  EXPECT_TRUE(says(loads("folder.npy"), {"is a folder"}));
  EXPECT_TRUE(says(loads("pipe.npy"), {"no regular file"}));
  EXPECT_TRUE(says(loads("x.dat"), {"tells no format", ".safetensors"}));
  EXPECT_TRUE(says(refused_save(here / "x.dat", x), {"[save]", "tells no format"}));
  EXPECT_TRUE(says(refused_save(here / "none/x.npy", x), {"cannot be written", "No such file"}));
  EXPECT_TRUE(says(refused_save(here / "folder.npy", x), {"is a folder"}));
  EXPECT_TRUE(says(refused_save(here / "pipe.npy", x), {"no regular file"}));
  EXPECT_TRUE(says(refused_save(here / "x.npy", tensor()), {"undefined tensor"}));
  EXPECT_TRUE(says(refused_save(here / "x.npz", x), {"by name", "save(path, {{\"x\", x}})"}));
  EXPECT_TRUE(says(refused_save(here / "x.npy", kg::io::named_tensors{{"x", x}}), {"no name", ".npz"}));
  for (const std::string bad : {"", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "cut\xe2\x82"})
    for (const std::string name : {"x.npz", "x.safetensors"})
      EXPECT_TRUE(says(refused_save(here / name, kg::io::named_tensors{{bad, x}}), {"UTF-8"})) << bad;
  EXPECT_TRUE(says(refused_save(here / "x.safetensors", kg::io::named_tensors{{"__metadata__", x}}), {"another name"}));
  EXPECT_EQ(here.names().size(), 2u) << "nothing was written";
}

TEST(loading, asks_for_no_more_memory_than_the_limit_allows) {
  const kgtest::folder here;
  const tensor x = kg::zeros({1 << 20});
  kg::io::save(here / "x.npy", x);
  kg::io::save(here / "x.npz", {{"x", x}}, {.compressed = true});
  kg::io::save(here / "x.safetensors", {{"x", x}});
  kg::io::save(here / "x.csv", kg::reshape(x, {1 << 10, 1 << 10}));
  kg::io::save(here / "x.png", kg::cast(kg::reshape(x, {1 << 10, 1 << 10}), kg::dtype::uint8));
  kg::set_memory_limit(kg::memory().live_bytes + 1000);
  for (const std::string name : {"x.npy", "x.npz", "x.safetensors", "x.csv", "x.png"})
    EXPECT_TRUE(says(refusal([&] { return kg::io::load(here / name); }), {"[load]", name, "memory limit"})) << name;
  kg::set_memory_limit(kg::unlimited);
  for (const std::string name : {"x.npy", "x.npz", "x.safetensors", "x.csv", "x.png"})
    EXPECT_EQ(refusal([&] { return kg::io::load(here / name); }), accepted) << name;
}

TEST(errors, show_no_more_of_a_name_than_fits_a_line) {
  const std::string said = refusal([] { return kg::io::load("a\nb\x1b[31m" + std::string(10000, 'x')); });
  EXPECT_LT(said.size(), 500u);
  EXPECT_EQ(said.find_first_of("\n\x1b"), said.npos) << said;
}

}  // namespace
