// SPDX-License-Identifier: Apache-2.0
// Archives that hold more than arrays, and tensors that are loaded by their names.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archives.h"

namespace {

using kg::dtype;
using kg::tensor;
using kg::io::named_tensors;
using kgtest::accepted;
using kgtest::crc_of;
using kgtest::decoded;
using kgtest::little;
using kgtest::npy;
using kgtest::refusal;
using kgtest::safetensors;
using kgtest::same;
using kgtest::says;
using kgtest::zip;
using kgtest::zip_member;

std::vector<std::string> names_of(const named_tensors& all) {
  std::vector<std::string> names;
  for (const kg::io::named_tensor& one : all) names.push_back(one.name);
  return names;
}
std::vector<std::string> skipped_of(const named_tensors& all) {
  std::vector<std::string> names;
  for (const kg::io::skipped_entry& one : all.skipped()) names.push_back(one.name + " " + one.reason);
  return names;
}

// ------------------------------------------------------------------------------------------ .npz

zip_member array_member(const std::string& name, float value) {
  const std::string bytes = npy("<f4", "False", "()", little(value));
  return {name, bytes, crc_of(bytes)};
}
zip_member text_member(const std::string& name, const std::string& text) { return {name, text, crc_of(text)}; }

TEST(npz, loads_the_arrays_between_folders_and_other_files) {
  struct row {
    std::string what;
    std::vector<zip_member> members;
    std::vector<std::string> arrays, skipped;
  };
  constexpr std::string_view no_array = " is no .npy file";
  const auto left_out = [&](const std::string& name) { return name + std::string(no_array); };
  const row rows[] = {
      {"a folder entry", {text_member("set/", ""), array_member("set/x.npy", 1)}, {"set/x"}, {left_out("set/")}},
      {"a README",
       {array_member("x.npy", 1), text_member("README", "what x is"), array_member("y.npy", 2)},
       {"x", "y"},
       {left_out("README")}},
      {"a folder that is named like an array", {text_member("x.npy/", "")}, {}, {left_out("x.npy/")}},
      {"a file that is compressed by another method", {{"notes.txt", "??", 0, 2, 12}}, {}, {left_out("notes.txt")}},
      {"a name that is the ending alone", {array_member(".npy", 3)}, {""}, {}},
  };
  for (const row& r : rows) {
    const named_tensors all = decoded(zip(r.members), "some.npz");
    EXPECT_EQ(names_of(all), r.arrays) << r.what;
    EXPECT_EQ(skipped_of(all), r.skipped) << r.what;
  }
  const named_tensors all = decoded(zip(rows[1].members), "some.npz");
  EXPECT_TRUE(same(all.at("y"), tensor(2.f)));
  EXPECT_TRUE(says(refusal([&] { return all.at("README"); }), {"[at]", "\"README\"", "no .npy file", "\"x\""}));
}

TEST(npz, keeps_the_errors_that_the_page_names) {
  const std::string file = zip({array_member("x.npy", 1)});
  const std::string bytes = npy("<f4", "False", "()", little(1.f));
  EXPECT_TRUE(says(refusal([&] { return decoded("#!/bin/sh\n" + file, "a.npz"); }), {"a.npz", "no zip archive"}))
      << refusal([&] { return decoded("#!/bin/sh\n" + file, "a.npz"); });
  EXPECT_TRUE(says(refusal([&] { return decoded(zip({{"x.npy", bytes, crc_of(bytes), 0, 12}}), "a.npz"); }),
                   {"a.npz", "\"x.npy\"", "method 12"}));
}

TEST(npz, reads_the_named_members_alone) {
  const std::string wrong = "no array";
  const std::string file = zip({array_member("x.npy", 1),
                                text_member("README", "text"),
                                text_member("wrong.npy", wrong),
                                {"packed.npy", wrong, 0, 99, 12},
                                array_member("y.npy", 2)});
  EXPECT_NE(refusal([&] { return decoded(file, "a.npz"); }), accepted);
  const named_tensors some = decoded(file, "a.npz", {"y", "x", "y"});
  EXPECT_EQ(names_of(some), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(same(some.at("y"), tensor(2.f)));
  EXPECT_TRUE(decoded(file, "a.npz", {}).empty());
  EXPECT_TRUE(says(refusal([&] { return decoded(file, "a.npz", {"x", "z"}); }),
                   {"[decode]", "a.npz", "no tensor named \"z\"", "\"x\"", "\"packed\""}));
  EXPECT_TRUE(says(refusal([&] { return decoded(file, "a.npz", {"README"}); }), {"no tensor named \"README\""}));
  EXPECT_TRUE(says(refusal([&] { return decoded(file, "a.npz", {"packed"}); }), {"method 12"}));
}

// ------------------------------------------------------------------------------------------ .safetensors

constexpr std::string_view x_entry = R"("x":{"dtype":"F32","shape":[],"data_offsets":[0,4]})";

TEST(safetensors, load_the_tensors_beside_those_of_other_dtypes) {
  struct row {
    std::string what, entries, elements;
    std::vector<std::string> skipped;
  };
  const row rows[] = {
      {"a dtype that kerngrad lacks",
       R"("q":{"dtype":"F8_E5M2","shape":[3],"data_offsets":[4,7]})",
       "123",
       {"q has dtype \"F8_E5M2\""}},
      {"an empty tensor of one",
       R"("q":{"dtype":"U64","shape":[0,3],"data_offsets":[4,4]})",
       "",
       {"q has dtype \"U64\""}},
      {"more axes than a shape may have",
       R"("q":{"dtype":"F8_E4M3","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[4,5]})",
       "1",
       {"q has dtype \"F8_E4M3\""}},
      {"a dtype of a later version of the format",
       R"("q":{"dtype":"F4","shape":[2],"data_offsets":[4,5]})",
       "1",
       {"q has dtype \"F4\""}},
      {"metadata", R"("__metadata__":{"format":"pt","":""})", "", {}},
  };
  for (const row& r : rows) {
    const std::string file = safetensors("{" + std::string(x_entry) + "," + r.entries + "}", little(5.f) + r.elements);
    const named_tensors all = decoded(file, "m.safetensors");
    EXPECT_EQ(names_of(all), std::vector<std::string>{"x"}) << r.what;
    EXPECT_TRUE(same(all.at("x"), tensor(5.f))) << r.what;
    EXPECT_EQ(skipped_of(all), r.skipped) << r.what;
    if (r.skipped.empty()) continue;
    EXPECT_TRUE(says(refusal([&] { return all.at("q"); }), {"[at]", "\"q\"", "left out", "dtype", "\"x\""})) << r.what;
    EXPECT_TRUE(says(refusal([&] { return decoded(file, "m.safetensors", {"q"}); }), {"\"q\"", "of dtype", "F32"}))
        << r.what;
  }
}

TEST(safetensors, have_no_gap_for_a_tensor_of_another_dtype_either) {
  const std::string header =
      "{" + std::string(x_entry) + R"(,"q":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[5,6]}})";
  EXPECT_TRUE(says(refusal([&] { return decoded(safetensors(header, "123456"), "m.safetensors"); }), {"\"q\"", "gap"}));
}

TEST(safetensors, have_metadata_of_strings_alone) {
  struct row {
    std::string metadata, part;
  };
  for (const row& r :
       {row{R"({"step":7})", "\"7\" for \"step\""}, row{R"({"a":"b","c":null})", "\"c\""},
        row{R"({"list":["a"]})", "\"list\""}, row{R"(["a"])", "no JSON object"}, row{"7", "no JSON object"}}) {
    const std::string said = refusal([&] {
      return decoded(safetensors("{" + std::string(x_entry) + R"(,"__metadata__":)" + r.metadata + "}", little(5.f)),
                     "m.safetensors");
    });
    EXPECT_TRUE(says(said, {"[decode] got \"m.safetensors\"", "__metadata__", r.part, "strings"})) << said;
  }
}

TEST(safetensors, read_and_map_the_named_tensors_alone) {
  const kgtest::folder here;
  kg::io::save(here / "m.safetensors",
               {{"a", kg::arange(3)}, {"b", tensor({1, 2})}, {"c", kg::zeros({1000}, dtype::float64)}});
  const std::int64_t live = kg::memory().live_bytes;
  const named_tensors some = kg::io::load(here / "m.safetensors", {"b", "a"});
  EXPECT_LT(kg::memory().live_bytes - live, 4000) << "the elements of c were read";
  EXPECT_EQ(names_of(some), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(same(some.at("b"), tensor({1, 2})));
  const tensor one = kg::io::map(here / "m.safetensors", {"a"});
  EXPECT_TRUE(same(one, kg::arange(3)));
  const std::string said = refusal([&] { return kg::io::load(here / "m.safetensors", {"d"}); });
  EXPECT_TRUE(says(said, {"[load]", "m.safetensors", "no tensor named \"d\"", "\"a\"", "\"c\""})) << said;
}

TEST(safetensors, are_loaded_by_name_beside_tensors_that_no_shape_has) {
  const std::string header =
      "{" + std::string(x_entry) + R"(,"wide":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[4,8]}})";
  const std::string file = safetensors(header, little(5.f) + little(6.f));
  EXPECT_TRUE(says(refusal([&] { return decoded(file, "m.safetensors"); }), {"rank 9"}));
  EXPECT_TRUE(same(decoded(file, "m.safetensors", {"x"}), tensor(5.f)));
}

TEST(files_of_one_tensor, are_not_loaded_by_name) {
  for (const std::string name : {"a.npy", "a.csv", "a.png", "a.pgm"})
    EXPECT_TRUE(says(refusal([&] { return decoded("", name, {"x"}); }), {"[decode]", name, ".npz", "without names"}))
        << name;
}

TEST(named_tensors_, are_saved_without_what_was_left_out) {
  const kgtest::folder here;
  const named_tensors all(std::vector<kg::io::named_tensor>{{"x", tensor(1.f)}},
                          std::vector<kg::io::skipped_entry>{{"q", "has dtype \"F8_E4M3\""}});
  EXPECT_EQ(all.skipped().size(), 1u);
  kg::io::save(here / "a.safetensors", all);
  EXPECT_TRUE(kg::io::load(here / "a.safetensors").skipped().empty());
  EXPECT_EQ(names_of(kg::io::load(here / "a.safetensors")), std::vector<std::string>{"x"});
}

// ------------------------------------------------------------------------------------------ .csv

TEST(csv, takes_lines_that_begin_with_a_hash_for_fields) {
  EXPECT_TRUE(
      says(refusal([&] { return decoded("1\n# a comment\n2\n", "t.csv"); }), {"t.csv", "# a comment", "line 2"}));
  const std::string_view text = "# x,y\n1,2\n";
  const kg::io::table found = kg::io::decode_csv(kgtest::bytes_of(text), "t.csv");
  EXPECT_EQ(found.columns, (std::vector<std::string>{"# x", "y"}));
  EXPECT_EQ(found.values.dims(), (kg::shape{1, 2}));
}

}  // namespace
