// SPDX-License-Identifier: Apache-2.0
// A model that replaces another one: after a fault, after the end of the process, and next to other readers and
// writers, the old model loads or the new one, never a mixture.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "own_models.h"
#include "tests/support/failing_calls.h"

namespace {

using kg::tensor;
using kg::graph::model;
using nlohmann::json;

// A model whose results are its weights, in several files. All weights of one model are alike.
model model_of(float value) {
  const kg::variable a(kg::full({40}, value), "a"), b(kg::full({40}, value), "b");
  const auto f = [&](std::span<const tensor> x) { return std::vector{x[0] + a, x[0] + b}; };
  const kg::named_operand example("x", kg::zeros({40}));
  return kg::graph::record(f, {&example, 1}, {.named = {a, b}});
}

constexpr kg::graph::save_options in_parts{.shard_bytes = 100};

// The value of all weights of the model in a file, or what is wrong with it.
std::string value_in(const std::string& path) {
  try {
    const model m = kg::graph::load(path);
    float value = -1;
    for (const tensor& y : m({{"x", kg::zeros({40})}}))
      for (const float v : y.data<float>()) {
        if (value == -1) value = v;
        if (v != value) return "a mixture";
      }
    return std::to_string(static_cast<int>(value));
  } catch (const kg::error& e) {
    return e.what();
  }
}

// The files of a model, sorted.
std::vector<std::string> files_of(const kgtest::folder& here, const std::string& name) {
  std::vector<std::string> all = kgtest::parts_of(here / name);
  all.push_back(name);
  std::sort(all.begin(), all.end());
  return all;
}
std::vector<std::string> sorted_names(const kgtest::folder& here) {
  std::vector<std::string> all = here.names();
  std::sort(all.begin(), all.end());
  return all;
}

TEST(saved_models, are_old_or_new_whichever_call_of_the_system_fails) {
  const model one = model_of(1), two = model_of(2);
  int threw = 0, reached = 0;
  const kgtest::folder start;
  kg::graph::save(start / "m.json", one, in_parts);
  const std::vector<std::string> before = sorted_names(start);
  for (int n = 1;; ++n) {
    const kgtest::folder here(&start);
    std::string said, failed;
    {
      const kgtest::failing_calls fault(n, n % 2 ? ENOSPC : EIO);
      said = kgtest::refusal([&] { return kg::graph::save(here / "m.json", two, in_parts), 0; });
      failed = kgtest::failing_calls::failed();
    }
    if (failed.empty()) break;
    ++reached;
    const std::string at = failed + " of call " + std::to_string(n);
    EXPECT_EQ(value_in(here / "m.json"), said == kgtest::accepted ? "2" : "1") << at;
    if (said == kgtest::accepted) continue;
    ++threw;
    EXPECT_TRUE(kgtest::says(said, {"[save] got \"", "m.json\""})) << at << ": " << said;
    EXPECT_EQ(sorted_names(here), before) << at;
  }
  EXPECT_GT(threw, 20);
  EXPECT_LT(reached, 500);
}

TEST(saved_models, are_old_or_new_wherever_the_process_ends) {
  const model one = model_of(1), two = model_of(2);
  bool ended = true;
  int as_before = 0, as_after = 0;
  const kgtest::folder start;
  kg::graph::save(start / "m.json", one, in_parts);
  for (int n = 1; ended; ++n) {
    ASSERT_LT(n, 500);
    const kgtest::folder here(&start);
    const pid_t child = ::fork();
    if (child == 0) {
      const kgtest::failing_calls fault(n, 0);
      kg::graph::save(here / "m.json", two, in_parts);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ended = WEXITSTATUS(status) == kgtest::failing_calls::ended;
    const std::string value = value_in(here / "m.json");
    EXPECT_TRUE(value == "1" || value == "2") << n << ": " << value;
    ++(value == "1" ? as_before : as_after);
    if (n % 4 != 0) continue;  // what was left hinders no later save
    kg::graph::save(here / "m.json", two, in_parts);
    EXPECT_EQ(value_in(here / "m.json"), "2") << n;
  }
  EXPECT_GT(as_before, 10);
  EXPECT_GT(as_after, 1);
}

TEST(saved_models, are_never_mixed_for_readers_next_to_writers) {
  const kgtest::folder here;
  const model models[] = {model_of(1), model_of(2), model_of(3)};
  kg::graph::save(here / "m.json", models[0], in_parts);
  std::atomic<bool> done = false;
  std::atomic<int> loads = 0;
  std::vector<std::string> wrong;  // of the one reader
  std::thread reader([&] {
    while (!done || loads < 300) {
      const std::string value = value_in(here / "m.json");
      if (value != "1" && value != "2" && value != "3") wrong.push_back(value);
      ++loads;
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 60 || (loads < 300 && i < 2000); ++i)
        kg::graph::save(here / "m.json", models[(i + w) % 3], in_parts);
    });
  for (std::thread& one : writers) one.join();
  done = true;
  reader.join();
  EXPECT_EQ(wrong, std::vector<std::string>());
  EXPECT_EQ(sorted_names(here), files_of(here, "m.json")) << "the last model and nothing else";
}

// ------------------------------------------------------------------------------------------ files next to a model

void rename_parts(const kgtest::folder& here, const std::string& name, const std::vector<std::string>& to) {
  json m = json::parse(kgtest::contents(here / name));
  json& paths = m["weightsManifest"][0]["paths"];
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::filesystem::create_directories(std::filesystem::path(here / to[i]).parent_path());
    std::filesystem::rename(here / paths[i].get<std::string>(), here / to[i]);
    paths[i] = to[i];
  }
  std::ofstream(here / name) << m.dump();
}

TEST(saved_models, take_away_only_parts_of_their_own_that_the_old_model_names) {
  const model one = model_of(1), two = model_of(2);
  struct parts {
    std::vector<std::string> named;
    bool stay;
  };
  const parts all[] = {
      {{"m-1of4.bin", "m-2of4.bin", "m-3of4.bin", "m-4of4.bin"}, false},  // of former versions
      {{"m-1of4-0123456789abcdef.bin"}, false},
      {{"m-1of4-0123456789abcdef-fedcba9876543210.bin"}, false},
      {{"group1-shard1of4.bin", "group1-shard2of4.bin"}, true},  // of TensorFlow.js's converter
      {{"sub/m-1of4.bin"}, true},
      {{"n-1of4.bin"}, true},
      {{"m_1of4-0123456789abcdef.bin"}, true},
      {{"m-1of4-0123456789abcde.bin"}, true},
      {{"m-1of4-0123456789ABCDEF.bin"}, true},
      {{"m-1of4-0123456789abcdef"}, true},
      {{"mm-1of4-0123456789abcdef.bin"}, true},
      {{"m-1of4-0123456789abcdef.bin.bin"}, true},
  };
  for (const parts& old : all) {
    const kgtest::folder here;
    kg::graph::save(here / "m.json", one, in_parts);
    rename_parts(here, "m.json", old.named);
    EXPECT_EQ(value_in(here / "m.json"), "1");
    std::ofstream(here / "m-1of9.bin") << "named by no model";
    kg::graph::save(here / "m.json", two, in_parts);
    EXPECT_EQ(value_in(here / "m.json"), "2");
    for (const std::string& name : old.named) EXPECT_EQ(std::filesystem::exists(here / name), old.stay) << name;
    EXPECT_TRUE(std::filesystem::exists(here / "m-1of9.bin"));
  }
}

TEST(saved_models, leave_the_parts_of_other_models_alone) {
  const kgtest::folder here;
  // Names whose parts begin alike, and a copy that names the parts of the model that it was made of.
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  for (const std::string name : {"m", "m-1of4", "m-.json", "mm.json", "m.json.json"})
    kg::graph::save(here / name, model_of(1), in_parts);
  std::filesystem::copy_file(here / "m.json", here / "copy.json");
  kg::graph::save(here / "copy.json", model_of(2), in_parts);
  kg::graph::save(here / "m", model_of(3), in_parts);
  for (const std::string name : {"m.json", "m-1of4", "m-.json", "mm.json", "m.json.json"})
    EXPECT_EQ(value_in(here / name), "1") << name;
  EXPECT_EQ(value_in(here / "copy.json"), "2");
  EXPECT_EQ(value_in(here / "m"), "3");
}

TEST(saved_models, that_are_the_same_have_the_same_files) {
  const kgtest::folder here;
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  const std::vector<std::string> names = sorted_names(here);
  const std::string text = kgtest::contents(here / "m.json");
  kg::graph::save(here / "m.json", model_of(2), in_parts);
  EXPECT_NE(sorted_names(here), names);
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  EXPECT_EQ(sorted_names(here), names);
  EXPECT_EQ(kgtest::contents(here / "m.json"), text);
  // A file of such a name with other contents is never taken for the part.
  for (const std::string& name : names)
    if (name != "m.json") std::ofstream(here / name) << "something else";
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  EXPECT_EQ(value_in(here / "m.json"), "1");
  EXPECT_EQ(sorted_names(here), files_of(here, "m.json"));
}

TEST(saved_models, replace_what_is_no_model) {
  for (const std::string old : {"", "text", "{}", R"({"weightsManifest": [{"paths": ["../m-1of1.bin", 7]}, 3]})"}) {
    const kgtest::folder here;
    std::ofstream(here / "m.json") << old;
    kg::graph::save(here / "m.json", model_of(1), in_parts);
    EXPECT_EQ(value_in(here / "m.json"), "1") << old;
  }
}

TEST(saved_models, follow_links_with_all_their_files) {
  const kgtest::folder here;
  std::filesystem::create_directory(here / "runs");
  std::filesystem::create_symlink("runs/m.json", here / "latest.json");
  kg::graph::save(here / "latest.json", model_of(1), in_parts);  // a link that leads to nothing yet
  kg::graph::save(here / "latest.json", model_of(2), in_parts);
  EXPECT_TRUE(std::filesystem::is_symlink(here / "latest.json"));
  EXPECT_EQ(value_in(here / "latest.json"), "2");
  EXPECT_EQ(value_in(here / "runs/m.json"), "2");
  EXPECT_EQ(here.names().size(), 2u) << "all else is in the other folder";
  // Links to each file, as package managers make them: what is next to the link comes first.
  std::filesystem::create_directory(here / "linked");
  std::filesystem::create_symlink("../runs/m.json", here / "linked/m.json");
  for (const std::string& part : kgtest::parts_of(here / "runs/m.json")) {
    std::filesystem::rename(here / "runs/" + part, here / "runs/moved-" + part);
    std::filesystem::create_symlink("../runs/moved-" + part, here / "linked/" + part);
  }
  EXPECT_EQ(value_in(here / "linked/m.json"), "2");
}

TEST(saved_models, keep_the_mode_of_the_file_for_all_their_files) {
  const kgtest::folder here;
  kg::graph::save(here / "m.json", model_of(1), in_parts);
  std::filesystem::permissions(here / "m.json", std::filesystem::perms(0600));
  kg::graph::save(here / "m.json", model_of(2), in_parts);
  for (const std::string& name : here.names())
    EXPECT_EQ(std::filesystem::status(here / name).permissions(), std::filesystem::perms(0600)) << name;
}

}  // namespace
