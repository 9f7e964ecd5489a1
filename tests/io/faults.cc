// SPDX-License-Identifier: Apache-2.0
// The n-th call of the system fails, for every n that a save reaches: the old file is whole, or the new one is.
#include <algorithm>
#include <cerrno>
#include <functional>

#include "files.h"
#include "tests/support/failing_calls.h"

namespace {

using kg::tensor;

// A format, and how one of two values is saved.
struct one_format {
  std::string name;
  std::function<void(const std::string& path, bool second)> save;
};

std::vector<one_format> formats() {
  const auto named = [](bool compressed) {
    return [compressed](const std::string& path, bool second) {
      const tensor x = kgtest::any_bits(kg::dtype::float32, {second ? 3000 : 10});
      kg::io::save(path, {{"x", x}, {"y", x}}, {.compressed = compressed});
    };
  };
  const auto unnamed = [](const std::string& path, bool second) {
    kg::io::save(path, kg::cast(kg::arange(second ? 5000 : 10), kg::dtype::float32));
  };
  const auto picture = [](const std::string& path, bool second) {
    kg::io::save(path, kgtest::any_bits(kg::dtype::uint8, {second ? 40 : 2, 50, 3}));
  };
  const auto group = [](const std::string& path, bool second) {
    kg::io::file_group files(path);
    for (const std::string part : {"first", second ? "second" : "other"}) {
      files.write(kgtest::bytes_of(part));
      files.end_part();
    }
    files.keep([](std::span<const std::string> names) { return names[0] + "\n" + names[1] + "\n"; },
               [](std::span<const std::byte> replaced) {
                 const std::string text(reinterpret_cast<const char*>(replaced.data()), replaced.size());
                 const std::size_t middle = text.find('\n') + 1;
                 return std::vector{text.substr(0, middle - 1), text.substr(middle, text.size() - middle - 1)};
               });
  };
  return {{"a.npy", unnamed}, {"a.npz", named(false)}, {"b.npz", named(true)}, {"a.safetensors", named(false)},
          {"a.csv", unnamed}, {"a.png", picture},      {"a.ppm", picture},     {"a.group", group}};
}

// All files of a folder and their contents.
std::vector<std::string> state_of(const kgtest::folder& here) {
  std::vector<std::string> all;
  for (const std::string& name : here.names()) all.push_back(name + ": " + kgtest::contents(here / name));
  std::sort(all.begin(), all.end());
  return all;
}

TEST(saving, is_whole_or_not_at_all_whichever_call_of_the_system_fails) {
  for (const one_format& one : formats())
    for (const bool replaces : {true, false}) {
      const kgtest::folder start;
      if (replaces) one.save(start / one.name, false);
      const std::vector<std::string> before = state_of(start);
      const kgtest::folder wanted(&start);
      one.save(wanted / one.name, true);
      const std::vector<std::string> after = state_of(wanted);
      for (int n = 1;; ++n) {
        ASSERT_LT(n, 500) << one.name;
        const kgtest::folder here(&start);
        std::string said, failed;
        {
          const kgtest::failing_calls fault(n, n % 2 ? ENOSPC : EIO);
          said = kgtest::refusal([&] {
            one.save(here / one.name, true);
            return 0;
          });
          failed = kgtest::failing_calls::failed();
        }
        if (failed.empty()) break;
        const std::string at = one.name + ": " + failed + " of call " + std::to_string(n);
        if (said != kgtest::accepted) {
          EXPECT_TRUE(kgtest::says(said, {"got \"", one.name})) << at << ": " << said;
          EXPECT_EQ(state_of(here), before) << at;
        } else if (failed != "unlink" && failed != "flock" && !failed.starts_with("open")) {
          EXPECT_EQ(state_of(here), after) << at;
        } else {  // parts that nothing names may stay, and a lock that is not there gives them other names
          EXPECT_NE(state_of(here), before) << at;
        }
      }
    }
}

TEST(file_groups, are_kept_once) {
  const kgtest::folder here;
  kg::io::file_group files(here / "a.txt");
  files.write(kgtest::bytes_of("part"));
  const auto keep = [&] {
    files.keep([](std::span<const std::string> names) { return names[0]; },
               [](std::span<const std::byte>) { return std::vector<std::string>(); });
    return 0;
  };
  EXPECT_EQ(kgtest::refusal(keep), kgtest::accepted);
  EXPECT_TRUE(kgtest::says(kgtest::refusal(keep), {"[file_group] got \"", "a.txt", "was kept"}));
  EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return files.write(kgtest::bytes_of("more")), 0; }), {"was kept"}));
  EXPECT_EQ(here.names().size(), 2u);
  EXPECT_EQ(kgtest::contents(here / kgtest::contents(here / "a.txt")), "part");
}

}  // namespace
