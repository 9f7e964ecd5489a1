// SPDX-License-Identifier: Apache-2.0
// Files that are read and written while memory runs out: the error is kg::error or bad_alloc, and a file on the disk is
// the old one or the new one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/io/files.h"
#include "tests/support/failing_memory.h"

namespace {

using kg::tensor;
using kg::variable;
using kg::io::named_tensors;
using kgtest::contents;
using kgtest::files_in;
using kgtest::folder;
using kgtest::sweep;

// Forcing files to the disk takes no time where there is none.
[[maybe_unused]] const bool in_memory =
    std::filesystem::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 1) == 0;

// Writes over an old file, and reads it.
template <class Old, class New>
void sweep_file(const std::string& name, const Old& old, const New& fresh, const kg::io::save_options& how = {}) {
  const folder here;
  const std::string path = here / name;
  sweep({.name = "saving " + name,
         .run = [&] { kg::io::save(path, fresh, how); },
         .prepare = [&] { kg::io::save(path, old); },
         .state = [&] { return files_in(here); }});
  sweep({.name = "loading " + name, .run = [&] { kg::io::load(path); }, .state = [&] { return files_in(here); }});
  const std::string bytes = contents(path);
  sweep({.name = "decoding " + name,
         .run = [&] { kg::io::decode(kgtest::bytes_of(bytes), name); },
         .state = [] { return std::string(); }});
  const std::string damaged = bytes.substr(0, bytes.size() / 2);
  sweep({.name = "decoding a part of " + name,
         .run =
             [&] {
               try {
                 kg::io::decode(kgtest::bytes_of(damaged), name);
               } catch (const kg::error&) {
               }
             },
         .state = [] { return std::string(); }});
}

TEST(first_use, of_a_file_may_run_out_of_memory) {
  const folder here;
  const tensor pixels = kg::full({2, 2, 3}, 7, kg::dtype::uint8);
  for (const std::string name : {"x.npy", "x.png", "x.ppm"})
    kgtest::sweep_first_use(name, [&] {
      kg::io::save(here / name, pixels);
      kg::io::load(here / name);
    });
  kgtest::sweep_first_use("x.csv", [&] {
    kg::io::save(here / "x.csv", kg::tensor({1e-320, 2.5}));
    kg::io::load(here / "x.csv");
  });
}

TEST(out_of_memory, leaves_files_of_one_tensor_old_or_new) {
  const tensor old({1.f, 2.f}), matrix({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const tensor dark = kg::full({2, 2, 3}, 7, kg::dtype::uint8), bright = kg::full({3, 4, 3}, 200, kg::dtype::uint8);
  const tensor gray = kg::full({3, 4, 1}, 100, kg::dtype::uint8);
  sweep_file("x.npy", old, matrix);
  sweep_file("x.csv", old, matrix);
  sweep_file("x.png", dark, bright);
  sweep_file("x.ppm", dark, bright);
  sweep_file("x.pgm", gray, gray);
}

TEST(out_of_memory, leaves_files_of_several_tensors_old_or_new) {
  const tensor x({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const std::string long_name = "a name that is longer than a string has room for without an allocation";
  const named_tensors old{{"x", tensor({1.f, 2.f})}},
      fresh{{"x", x}, {"y", kg::cast(x > 2, kg::dtype::int64)}, {long_name, x > 2}};
  sweep_file("all.npz", old, fresh);
  sweep_file("all.npz", old, fresh, {.compressed = true});
}

TEST(out_of_memory, leaves_safetensors_old_or_new) {
  const tensor x({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const named_tensors old{{"x", tensor({1.f, 2.f})}}, fresh{{"x", x}, {"y", kg::cast(x > 2, kg::dtype::int64)}};
  sweep_file("all.safetensors", old, fresh);
  const folder here;
  const std::string path = here / "all.safetensors";
  kg::io::save(path, fresh);
  sweep({.name = "mapping", .run = [&] { kg::io::map(path); }, .state = [] { return std::string(); }});
}

TEST(out_of_memory, leaves_tables_and_bytes_old_or_new) {
  const folder here;
  const std::string path = here / "table.csv";
  const kg::io::table all{{"first column of two", "second"}, tensor({1.5, -2.0, 3.0, 4.0}, {2, 2})};
  sweep({.name = "saving a table",
         .run = [&] { kg::io::save_csv(path, all); },
         .prepare = [&] { kg::io::save_bytes(path, kgtest::bytes_of("1,2\n")); },
         .state = [&] { return files_in(here); }});
  sweep({.name = "loading a table", .run = [&] { kg::io::load_csv(path); }, .state = [&] { return files_in(here); }});
  sweep({.name = "saving bytes in a new file",
         .run = [&] { kg::io::save_bytes(here / "new", kgtest::bytes_of("new")); },
         .undo = [&] { std::filesystem::remove(here / "new"); },
         .state = [&] { return files_in(here); }});
}

TEST(out_of_memory, leaves_a_list_of_tensors_as_it_was) {
  const tensor x({1.f, 2.f});
  std::optional<named_tensors> list;
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name,
           .run = run,
           .prepare = [&] { list.emplace(std::vector<kg::io::named_tensor>{{"a", x}, {"c", x * 2}}); },
           .undo = [&] { list.reset(); },
           .state =
               [&] {
                 std::string text;
                 for (const auto& [key, value] : *list) text += key + " " + to_string(value);
                 return text;
               }});
  };
  one("a new name", [&] { list->set("b, which is longer than a string has room for", x); });
  one("a name again", [&] { list->set("c", x * 3); });
  one("a copy", [&] { const named_tensors copy = *list; });
}

TEST(out_of_memory, leaves_a_training_before_or_after_its_restoration) {
  const folder here;
  const std::string path = here / "training.npz";
  const std::vector<variable> all{variable(tensor({0.5f, -1.f, 2.f}), "weights"),
                                  variable(tensor({0.25, -0.75}), "scale")};
  const auto loss = [&] {
    return kg::sum(kg::square(all[0].value())) + kg::cast(kg::sum(kg::square(all[1].value())), kg::dtype::float32);
  };
  std::unique_ptr<kg::adam> by;
  named_tensors saved;
  const auto state = [&] {
    std::string text = std::to_string(by->steps());
    for (const auto& [name, value] : by->state()) text += "\n" + name + " " + to_string(value);
    for (const variable& v : all) text += "\n" + to_string(v.value());
    return text;
  };
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name,
           .run = run,
           .prepare =
               [&] {
                 by = std::make_unique<kg::adam>(0.1);
                 by->minimize(loss);
                 saved = kg::io::state_of(all, *by);
                 by->minimize(loss);
               },
           .undo = [&] { by.reset(), saved = {}; },
           .state = state});
  };
  one("a state", [&] { kg::io::state_of(all, *by); });
  one("restoring", [&] { kg::io::restore(saved, all, *by); });
  one("restoring variables alone", [&] { kg::io::restore(saved, all); });
  one("a checkpoint", [&] { kg::io::save(path, kg::io::state_of(all, *by)); });
}

}  // namespace
