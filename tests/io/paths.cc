// SPDX-License-Identifier: Apache-2.0
// Names of files, of links to files and of what is in files: each is itself or is rejected.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "files.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;

template <class F>
std::string said_by(F call) {
  return refusal([&] {
    call();
    return 0;
  });
}

TEST(paths, with_a_nul_byte_open_no_other_file) {
  const kgtest::folder here;
  const tensor x({1.f, 2.f});
  kg::io::save(here / "a.npy", x);
  kg::io::save(here / "a.csv", x);
  kg::io::save(here / "a.safetensors", {{"x", x}});
  const std::string nul(1, '\0');
  const std::string npy = here / "a.npy" + nul + ".npy", csv = here / "a.csv" + nul + ".csv";
  const std::string tensors = here / "a.safetensors" + nul + ".safetensors", fresh = here / "b" + nul + ".npy";
  const std::span<const std::byte> bytes = kgtest::bytes_of("bytes");
  const std::vector<std::function<void()>> calls = {
      [&] { kg::io::load(npy); },
      [&] { kg::io::load_csv(csv); },
      [&] { kg::io::map(tensors); },
      [&] { kg::io::map_file(npy); },
      [&] { kg::io::save(npy, x); },
      [&] { kg::io::save(fresh, x); },
      [&] { kg::io::save_csv(csv, {{}, x}); },
      [&] { kg::io::save(tensors, {{"x", x}}); },
      [&] { kg::io::save(here / "b" + nul + ".npz", {{"x", x}}); },
      [&] { kg::io::save_bytes(fresh, bytes); },
      [&] { kg::io::file_group group(fresh); },
      [&] { kg::write_chrome_trace(kg::profile_result(), here / "b" + nul + ".json"); },
  };
  const std::string before = kgtest::contents(here / "a.npy");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string said = said_by(calls[i]);
    EXPECT_TRUE(says(said, {"NUL byte"})) << i << ": " << said;
  }
  EXPECT_EQ(kgtest::contents(here / "a.npy"), before);
  EXPECT_EQ(here.names().size(), 3u);
}

TEST(paths, that_name_no_file_are_rejected_before_anything_is_written) {
  const kgtest::folder here;
  const tensor x(1.f);
  EXPECT_TRUE(says(said_by([&] { kg::io::save_bytes("", {}); }), {"[save_bytes] got \"\"", "names no file"}));
  EXPECT_TRUE(says(said_by([&] { kg::io::save_bytes(here / "a/", {}); }), {"names no file"}));
  EXPECT_TRUE(says(said_by([&] { kg::io::save(here / std::string(300, 'n') + ".npy", x); }), {"File name too long"}));
  kg::io::save(here / "a.npy", x);
  EXPECT_TRUE(says(said_by([&] { kg::io::save(here / "a.npy/b.npy", x); }), {"b.npy", "Not a directory"}));
  EXPECT_TRUE(says(said_by([&] { kg::io::save(here / "none/b.npy", x); }), {"b.npy", "No such file"}));
  if (::geteuid() != 0) {  // root may write everywhere
    std::filesystem::create_directory(here / "closed");
    std::filesystem::permissions(here / "closed", std::filesystem::perms(0500));
    EXPECT_TRUE(says(said_by([&] { kg::io::save(here / "closed/b.npy", x); }), {"Permission denied"}));
    std::filesystem::permissions(here / "closed", std::filesystem::perms(0700));
  }
  EXPECT_TRUE(says(said_by([&] { kg::io::save_bytes("/dev/null", {}); }), {"/dev/null", "no regular file"}));
  EXPECT_TRUE(says(said_by([&] { kg::io::map_file("/dev/zero"); }), {"/dev/zero", "no regular file"}));
}

TEST(links, stay_where_a_file_is_saved) {
  const tensor x({1.f, 2.f});
  struct one_link {
    std::string made_as;  // links, "name>target", from the last to the first
    std::string leads_to;
  };
  const std::vector<one_link> cases = {
      {"a.npy>b.npy", "b.npy"},
      {"a.npy>sub/b.npy", "sub/b.npy"},
      {"c.npy>sub/b.npy a.npy>c.npy", "sub/b.npy"},
      {"sub/c.npy>b.npy a.npy>sub/c.npy", "sub/b.npy"},
      {"sub/c.npy>../b.npy a.npy>sub/c.npy", "b.npy"},
      {"link>sub a.npy>link/b.npy", "sub/b.npy"},
      {"a.npy>HERE/sub/b.npy", "sub/b.npy"},
      {"a.npy>b", "b"},
  };
  for (const one_link& one : cases)
    for (const bool dangles : {true, false}) {
      const kgtest::folder here;
      std::filesystem::create_directory(here / "sub");
      for (std::size_t at = 0; at < one.made_as.size();) {
        const std::size_t end = std::min(one.made_as.find(' ', at), one.made_as.size());
        const std::size_t middle = one.made_as.find('>', at);
        std::string target = one.made_as.substr(middle + 1, end - middle - 1);
        if (target.starts_with("HERE/")) target = here / target.substr(5);
        std::filesystem::create_symlink(target, here / one.made_as.substr(at, middle - at));
        at = end + 1;
      }
      if (!dangles) std::ofstream(here / one.leads_to) << "old";
      kg::io::save(here / "a.npy", x);
      EXPECT_TRUE(std::filesystem::is_symlink(here / "a.npy")) << one.made_as;
      EXPECT_FALSE(std::filesystem::is_symlink(here / one.leads_to)) << one.made_as;
      EXPECT_TRUE(kgtest::same(kg::io::load(here / "a.npy"), x)) << one.made_as;
    }
}

TEST(links, that_lead_to_no_file_are_rejected) {
  const kgtest::folder here;
  const tensor x(1.f);
  const auto said = [&](const std::string& target) {
    std::filesystem::remove(here / "a.npy");
    std::filesystem::create_symlink(target, here / "a.npy");
    return said_by([&] { kg::io::save(here / "a.npy", x); });
  };
  EXPECT_TRUE(says(said("a.npy"), {"a.npy", "links without an end"}));
  EXPECT_TRUE(says(said("none/b.npy"), {"a.npy", "No such file"}));
  EXPECT_TRUE(says(said("."), {"a.npy", "is a folder"}));
  EXPECT_TRUE(says(said("/dev/null"), {"a.npy", "no regular file"}));
  EXPECT_TRUE(says(said(std::string(300, 'n')), {"a.npy", "too long"}));
  std::filesystem::create_symlink("c.npy", here / "b.npy");
  std::filesystem::create_symlink("b.npy", here / "c.npy");
  EXPECT_TRUE(says(said("b.npy"), {"links without an end"}));
  EXPECT_EQ(here.names().size(), 3u) << "nothing was written";
}

TEST(files, that_are_empty_are_rejected_by_name_but_for_tables) {
  const kgtest::folder here;
  for (const std::string name : {"a.npy", "a.npz", "a.safetensors", "a.png", "a.ppm", "a.pgm"}) {
    std::ofstream(here / name).close();
    EXPECT_TRUE(says(said_by([&] { kg::io::load(here / name); }), {"[load] got \"", name})) << name;
  }
  std::ofstream(here / "a.csv").close();
  EXPECT_EQ(tensor(kg::io::load(here / "a.csv")).dims(), (kg::shape{0, 0}));
}

// ------------------------------------------------------------------------------------------ what comes back

TEST(saving, writes_only_what_loading_gives_back) {
  const std::vector<kg::shape> shapes = {{},     {0},    {1},       {3},       {0, 0},    {0, 3},    {3, 0},
                                         {1, 1}, {2, 3}, {0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {2, 3, 1}, {2, 3, 4}};
  int written = 0;
  for (const std::string name : {"a.npy", "a.npz", "a.safetensors", "a.csv", "a.png", "a.ppm", "a.pgm"})
    for (const kg::dtype type : {kg::dtype::float32, kg::dtype::uint8, kg::dtype::complex128})
      for (const kg::shape& dims : shapes) {
        const kgtest::folder here;
        const std::string path = here / name, what = name + " " + kg::to_string(dims);
        const bool named = name == "a.npz" || name == "a.safetensors", csv = name == "a.csv";
        const bool picture = !named && !csv && name != "a.npy";
        const tensor x = kg::cast(kg::ones(dims, kg::dtype::float32), type);
        const std::string said = said_by([&] { named ? kg::io::save(path, {{"x", x}}) : kg::io::save(path, x); });
        if (said != accepted) {
          EXPECT_TRUE(says(said, {"[save] got \"", name, "would have"})) << said;
          EXPECT_TRUE(here.names().empty()) << what;
          continue;
        }
        ++written;
        const tensor y = csv ? kg::io::load_csv(path, {.type = type}).values : tensor(kg::io::load(path));
        kg::shape wanted = dims;
        if (csv && dims.rank() == 1) wanted = {dims[0], 1};
        if (picture && dims.rank() == 2) wanted = {dims[0], dims[1], 1};
        EXPECT_EQ(y.dims(), wanted) << what;
        EXPECT_TRUE(kgtest::same(y, kg::reshape(x, wanted))) << what << " " << kg::name_of(type);
      }
  EXPECT_GT(written, 80);
}

TEST(names_of_tensors, come_back_or_are_rejected) {
  const tensor x({1.f, 2.f});
  std::vector<std::string> names = {"a/b",   "/a",    "..",   "../a",     "a/",
                                    "a.npy", ".npy",  "a\\b", "a b",      "a\nb",
                                    " a ",   "\"a\"", "\x7f", "\xc3\xa9", "\xe2\x82\xac/\xf0\x9f\x98\x80"};
  for (char c = 1; c < ' '; ++c) names.push_back(std::string("a") + c + "b");
  for (const std::size_t size : {255, 65530, 65531, 65532, 65535, 65536, 65537, 70000})
    names.push_back(std::string(size, 'n'));
  for (const std::string& name : names)
    for (const std::string file : {"a.npz", "a.safetensors"}) {
      const kgtest::folder here;
      const std::string shown = file + " " + name.substr(0, 20) + " of " + std::to_string(name.size());
      const std::string said = said_by([&] { kg::io::save(here / file, {{name, x}, {"other", x}}); });
      if (said == accepted) {
        const kg::io::named_tensors back = kg::io::load(here / file);
        EXPECT_EQ(back.size(), 2u) << shown;
        EXPECT_TRUE(back.contains(name)) << shown;
        continue;
      }
      EXPECT_EQ(file, "a.npz") << said;
      EXPECT_TRUE(says(said, {"[save] got \"", file, "named", ".safetensors"})) << said;
      EXPECT_TRUE(name.size() > 65531 || (name[1] < ' ' && name[1] != '\t' && name[1] != '\n')) << shown;
      EXPECT_TRUE(here.names().empty()) << shown;
    }
}

}  // namespace
