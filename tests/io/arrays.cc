// SPDX-License-Identifier: Apache-2.0
// Arrays in files: .npy and .npz as NumPy writes them, .safetensors as its specification says.
#include <complex>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "archives.h"

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kg::io::named_tensors;
using kgtest::accepted;
using kgtest::big;
using kgtest::crc_of;
using kgtest::decoded;
using kgtest::little;
using kgtest::npy;
using kgtest::refusal;
using kgtest::safetensors;
using kgtest::same;
using kgtest::says;
using kgtest::zip;
using namespace std::string_literals;

// ------------------------------------------------------------------------------------------ .npy

TEST(npy, is_written_byte_for_byte_as_numpy_does) {
  const kgtest::folder here;
  const std::vector<std::pair<tensor, std::string>> cases = {
      {tensor({0.f, 1.f, 2.f, 3.f, 4.f, 5.f}, {2, 3}),
       npy("<f4", "False", "(2, 3)",
           little(0.f) + little(1.f) + little(2.f) + little(3.f) + little(4.f) + little(5.f))},
      {tensor(2.5), npy("<f8", "False", "()", little(2.5))},
      {tensor(std::initializer_list<bool>{}, {0, 3}), npy("|b1", "False", "(0, 3)", "")},
      {tensor({true, false}), npy("|b1", "False", "(2,)", "\1\0"s)},
      {tensor({std::uint8_t{200}}), npy("|u1", "False", "(1,)", "\xc8")},
      {tensor({std::int8_t{-2}}), npy("|i1", "False", "(1,)", "\xfe")},
      {tensor({std::int16_t{-2}}), npy("<i2", "False", "(1,)", "\xfe\xff")},
      {tensor({std::uint16_t{513}}), npy("<u2", "False", "(1,)", "\1\2")},
      {tensor({std::uint32_t{1} << 31}), npy("<u4", "False", "(1,)", little(std::uint32_t{1} << 31))},
      {tensor({-2}), npy("<i4", "False", "(1,)", little(-2))},
      {tensor({std::int64_t{1} << 40}), npy("<i8", "False", "(1,)", little(std::int64_t{1} << 40))},
      {tensor(kg::float16(1.5)), npy("<f2", "False", "()", "\x00\x3e"s)},
      {tensor(kg::complex64{1, -2}), npy("<c8", "False", "()", little(1.f) + little(-2.f))},
      {tensor(kg::complex128{1, -2}), npy("<c16", "False", "()", little(1.) + little(-2.))}};
  for (const auto& [x, wanted] : cases) {
    kg::io::save(here / "x.npy", x);
    EXPECT_EQ(kgtest::contents(here / "x.npy"), wanted) << x;
    EXPECT_TRUE(same(kg::io::load(here / "x.npy"), x)) << x;
  }
}

TEST(npy, brings_every_dtype_and_shape_back_bit_for_bit) {
  const kgtest::folder here;
  for (const dtype type : kgtest::all_dtypes()) {
    for (const shape& dims : kgtest::shapes_to_save) {
      const tensor x = kgtest::any_bits(type, dims);
      if (type == dtype::bfloat16) {
        EXPECT_TRUE(says(refusal([&] {
                           kg::io::save(here / "x.npy", x);
                           return 0;
                         }),
                         {"x.npy", "bfloat16", ".safetensors"}));
        continue;
      }
      kg::io::save(here / "X.NPY", x);
      const tensor back = kg::io::load(here / "X.NPY");
      EXPECT_TRUE(same(back, x)) << kg::name_of(type) << " " << kg::to_string(dims);
    }
  }
}

TEST(npy, is_read_in_the_other_byte_order) {
  EXPECT_TRUE(same(decoded(npy(">f4", "False", "(2,)", big(1.5f) + big(-2.f)), "x.npy"), tensor({1.5f, -2.f})));
  EXPECT_TRUE(same(decoded(npy(">f8", "False", "(1,)", big(0.1)), "x.npy"), tensor({0.1})));
  EXPECT_TRUE(same(decoded(npy(">i4", "False", "()", big(7)), "x.npy"), tensor(7)));
  EXPECT_TRUE(same(decoded(npy(">i8", "False", "()", big(std::int64_t{-7})), "x.npy"), tensor(std::int64_t{-7})));
  EXPECT_TRUE(same(decoded(npy(">f2", "False", "()", "\x3e\x00"s), "x.npy"), tensor(kg::float16(1.5))));
  EXPECT_TRUE(same(decoded(npy(">c8", "False", "()", big(1.f) + big(2.f)), "x.npy"), tensor(kg::complex64{1, 2})));
  EXPECT_TRUE(same(decoded(npy(">c16", "False", "()", big(1.) + big(2.)), "x.npy"), tensor(kg::complex128{1, 2})));
  EXPECT_TRUE(same(decoded(npy("=i4", "False", "()", little(7)), "x.npy"), tensor(7)));
}

TEST(npy, is_read_in_fortrans_order) {
  const tensor wanted({1, 2, 3, 4, 5, 6}, {2, 3});
  std::string columns, swapped;
  for (const int i : {1, 4, 2, 5, 3, 6}) columns += little(i), swapped += big(i);
  EXPECT_TRUE(same(decoded(npy("<i4", "True", "(2, 3)", columns), "x.npy"), wanted));
  EXPECT_TRUE(same(decoded(npy(">i4", "True", "(2, 3)", swapped), "x.npy"), wanted));
  for (const dtype type : kgtest::all_dtypes()) {
    if (type == dtype::bfloat16) continue;
    const tensor x = kgtest::any_bits(type, {2, 3, 4});
    const kgtest::folder here;
    kg::io::save(here / "x.npy", x);
    std::string file = kgtest::contents(here / "x.npy");
    file.replace(file.find("False"), 6, "True, ");
    file.replace(file.find("(2, 3, 4)"), 9, "(4, 3, 2)");
    EXPECT_TRUE(same(decoded(file, "x.npy"), kg::transpose(x))) << kg::name_of(type);
  }
  EXPECT_TRUE(same(decoded(npy("<i4", "True", "()", little(7)), "x.npy"), tensor(7)));
}

TEST(npy, has_headers_of_all_versions_and_spellings) {
  const std::string header = "{\"shape\":(2,),\"descr\":\"<i4\",\"fortran_order\":False}";
  const std::string elements = little(1) + little(2);
  for (const char version : {'\2', '\3'})
    EXPECT_TRUE(same(
        decoded("\x93NUMPY"s + version + '\0' + little(static_cast<std::uint32_t>(header.size())) + header + elements,
                "x.npy"),
        tensor({1, 2})));
  EXPECT_TRUE(same(decoded(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2L,), }", elements), "x.npy"),
                   tensor({1, 2})))
      << "as Python 2 wrote it";
  EXPECT_TRUE(same(decoded(npy("|b1", "False", "(3,)", "\0\1\x80"s), "x.npy"), tensor({false, true, true})))
      << "any byte but 0 is true";
}

TEST(npy, that_is_something_else_is_refused_in_one_sentence) {
  const std::string x = little(1.f);
  const std::vector<std::pair<std::string, std::vector<std::string_view>>> cases = {
      {"", {"too short"}},
      {"\x80\x04\x95pickle of something", {"begins with other bytes", "pickle"}},
      {npy("|O", "False", "(1,)", x), {"'|O'", "objects of Python"}},
      {npy("O", "False", "(1,)", x), {"objects of Python"}},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", x), {"structured"}},
      {npy("<f4", "False", "(2,)", x), {"4 bytes", "8 for float32 [2]"}},
      {npy("<f4", "False", "(1,)", x + x), {"8 bytes", "4 for float32 [1]"}},
      {npy("<f4", "False", "(4611686018427387904, 4611686018427387904)", x), {"overflows"}},
      {npy("<f4", "False", "(99999999999999999999999,)", x), {"2^58"}},
      {npy("<f4", "False", "(0, 4611686018427387904, 4611686018427387904)", ""), {"overflows"}},
      {npy("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", x), {"8 axes"}},
      {npy("<f4", "False", "(-1,)", x), {"header"}},
      {npy("<f4", "False", "(1)", x), {"header"}},
      {npy("<f4", "Maybe", "(1,)", x), {"header"}},
      {npy("{'descr': '<f4', 'shape': (1,), }", x), {"header"}},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", x), {"header"}},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", x), {"header"}},
      {npy("<u8", "False", "(1,)", x + x), {"'<u8'", "uint32", "astype"}},
      {npy("<U1", "False", "(1,)", x), {"'<U1'"}},
      {npy("<V2", "False", "(2,)", x), {"'<V2'"}},
      {npy("<f4", "False", "(1,)", x).substr(0, 40), {"header has"}},
      {"\x93NUMPY\x09"s + '\0' + npy("<f4", "False", "(1,)", x).substr(8), {"version 9"}},
  };
  for (const auto& [file, parts] : cases) {
    const std::string said = refusal([&] { return decoded(file, "some.npy"); });
    EXPECT_NE(said, accepted);
    EXPECT_TRUE(said.starts_with("[decode] got \"some.npy\", which ")) << said;
    for (const std::string_view part : parts) {
      std::string wanted(part);
      if (part.starts_with('\'')) wanted = "\"" + wanted.substr(1, part.size() - 2) + "\"";
      EXPECT_NE(said.find(wanted), said.npos) << said << " says nothing of " << wanted;
    }
  }
}

// ------------------------------------------------------------------------------------------ .npz

TEST(npz, brings_tensors_back_by_their_names) {
  const kgtest::folder here;
  for (const bool compressed : {false, true}) {
    named_tensors all;
    for (const dtype type : kgtest::all_dtypes())
      for (std::size_t i = 0; i < kgtest::shapes_to_save.size(); ++i)
        if (type != dtype::bfloat16)
          all.set(std::string(kg::name_of(type)) + "/" + std::to_string(i),
                  kgtest::any_bits(type, kgtest::shapes_to_save[i], i));
    all.set("\xc3\xbc \xe2\x82\xac", tensor(1.f));
    kg::io::save(here / "a.npz", all, {.compressed = compressed});
    const named_tensors back = kg::io::load(here / "a.npz");
    ASSERT_EQ(back.size(), all.size());
    for (const kg::io::named_tensor& one : all) EXPECT_TRUE(same(back.at(one.name), one.value)) << one.name;
  }
}

TEST(npz, is_the_same_file_for_the_same_tensors_and_smaller_when_it_is_compressed) {
  const kgtest::folder here;
  const tensor x = kg::zeros({1000});
  kg::io::save(here / "a.npz", {{"x", x}, {"y", tensor(1)}});
  kg::io::save(here / "b.npz", {{"y", tensor(1)}, {"x", x}});
  kg::io::save(here / "c.npz", {{"x", x}, {"y", tensor(1)}}, {.compressed = true});
  EXPECT_EQ(kgtest::contents(here / "a.npz"), kgtest::contents(here / "b.npz"));
  EXPECT_LT(kgtest::contents(here / "c.npz").size(), 600u);
  EXPECT_TRUE(same(kg::io::load(here / "c.npz").at("x"), x));
  kg::io::save(here / "none.npz", named_tensors());
  EXPECT_TRUE(kg::io::load(here / "none.npz").empty()) << "an archive without members";
}

TEST(npz, that_is_damaged_or_lies_is_refused_in_one_sentence) {
  const std::string x = npy("<f4", "False", "(2,)", little(1.f) + little(2.f));
  const std::uint32_t crc = crc_of(x);
  EXPECT_TRUE(same(decoded(zip({{"x.npy", x, crc}}), "a.npz").at("x"), tensor({1.f, 2.f})));
  std::string broken = zip({{"x.npy", x, crc}});
  broken[broken.size() - 60] ^= 0x40;
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "is empty"},
      {"PK\3\4", "no zip archive"},
      {zip({{"x.npy", x, crc}}).substr(0, 100), "no zip archive"},
      {zip({{"x.npy", x, crc + 1}}), "CRC"},
      {zip({{"x.npy", x, crc, 0, 12}}), "method 12"},
      {zip({{"x.npy", x, crc, static_cast<std::uint32_t>(x.size() - 12), 0, 1}}), "encrypted"},
      {zip({{"x.npy", x, crc, 0xfffffff0, 8}}), "can hold"},
      {zip({{"x.npy", x, crc}, {"x.npy", x, crc}}), "already exists"},
      {zip({{"x.npy", "no array", crc_of("no array")}}), "other bytes"},
      {zip({{"x.npy", x, crc, 0xf000, 8}}), "damaged"},
  };
  for (const auto& [file, part] : cases) {
    const std::string said = refusal([&] { return decoded(file, "some.npz"); });
    EXPECT_TRUE(says(said, {"[decode] got \"some.npz\", which ", part})) << said << " says nothing of " << part;
  }
}

// ------------------------------------------------------------------------------------------ .safetensors

TEST(safetensors, are_written_as_the_specification_says) {
  const kgtest::folder here;
  kg::io::save(here / "a.safetensors", {{"b", tensor({1, 2}, {2, 1})}, {"a", tensor(std::uint8_t{7})}});
  std::string header =
      R"({"b":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]},"a":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  while (header.size() % 8) header += ' ';
  EXPECT_EQ(kgtest::contents(here / "a.safetensors"), safetensors(header, little(1) + little(2) + "\7"));
}

TEST(safetensors, bring_every_dtype_and_shape_back_bit_for_bit) {
  const kgtest::folder here;
  named_tensors all;
  for (const dtype type : kgtest::all_dtypes())
    for (std::size_t i = 0; i < kgtest::shapes_to_save.size(); ++i)
      if (type != dtype::complex128)
        all.set(std::string(kg::name_of(type)) + std::to_string(i),
                kgtest::any_bits(type, kgtest::shapes_to_save[i], i));
  all.set("\xc3\xbc \"quoted\"", tensor(1.f));
  kg::io::save(here / "a.safetensors", all);
  const named_tensors back = kg::io::load(here / "a.safetensors");
  ASSERT_EQ(back.size(), all.size());
  for (const kg::io::named_tensor& one : all) EXPECT_TRUE(same(back.at(one.name), one.value)) << one.name;
  EXPECT_TRUE(says(refusal([&] {
                     kg::io::save(here / "a.safetensors", {{"z", tensor(kg::complex128{})}});
                     return 0;
                   }),
                   {"complex128", "\"z\"", ".npz"}));
  EXPECT_EQ(kg::io::load(here / "a.safetensors").size(), all.size()) << "what was refused has changed the file";
}

TEST(safetensors, that_are_mapped_are_the_same_and_take_no_memory) {
  const kgtest::folder here;
  named_tensors all;
  for (const dtype type : kgtest::all_dtypes())
    if (type != dtype::complex128) all.set(std::string(kg::name_of(type)), kgtest::any_bits(type, {3, 64}, 1));
  all.set("empty", kg::zeros({0, 3}));
  kg::io::save(here / "a.safetensors", all);
  const std::string before = kgtest::contents(here / "a.safetensors");
  const std::int64_t live = kg::memory().live_bytes;
  named_tensors mapped = kg::io::map(here / "a.safetensors");
  EXPECT_EQ(kg::memory().live_bytes - live, 3 * 64) << "only the booleans are copied";
  for (const kg::io::named_tensor& one : all) EXPECT_TRUE(same(mapped.at(one.name), one.value)) << one.name;
  tensor x = mapped.at("float32");
  mapped = {};
  x = std::move(x).at(0).set(7);
  x += 1;
  EXPECT_EQ(x.item<float>(0, 5), 8);
  EXPECT_EQ(kgtest::contents(here / "a.safetensors"), before) << "a file that is mapped was written";
}

TEST(safetensors, that_are_mapped_outlive_the_name_of_their_file) {
  const kgtest::folder here;
  kg::io::save(here / "a.safetensors", {{"x", kg::arange(1000)}});
  const tensor x = kg::io::map(here / "a.safetensors").at("x");
  std::filesystem::remove(here / "a.safetensors");
  EXPECT_EQ(kg::sum(x).item(), 499500);
}

TEST(safetensors, that_are_mapped_are_copied_where_they_do_not_lie_as_their_dtype_wants) {
  const kgtest::folder here;
  for (const std::string_view blanks : {"", " ", "  ", "   "}) {
    const std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})" + std::string(blanks);
    const std::string file = safetensors(header, little(1.f) + little(2.f));
    kg::io::save_bytes(here / "a.safetensors", std::as_bytes(std::span(file)));
    EXPECT_EQ(kg::io::map(here / "a.safetensors").at("x").to_doubles(), (std::vector<double>{1, 2})) << blanks.size();
  }
}

TEST(mapping, refuses_all_names_but_those_of_safetensors) {
  const kgtest::folder here;
  kg::io::save(here / "a.npy", tensor(1.f));
  EXPECT_TRUE(says(refusal([&] { return kg::io::map(here / "a.npy"); }), {"[map]", "a.npy", ".safetensors", "load"}));
  EXPECT_TRUE(says(refusal([&] { return kg::io::map(here / "a.bin"); }), {"[map]", "a.bin", ".safetensors", "load"}));
  EXPECT_TRUE(says(refusal([&] { return kg::io::map(here / "b.safetensors"); }), {"[map]", "b.safetensors"}));
}

TEST(safetensors, are_read_with_metadata_and_in_any_order) {
  const std::string file = safetensors(
      R"({"__metadata__":{"format":"pt"},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"F64","shape":[0],"data_offsets":[4,4]}} )",
      little(1.f) + little(2.f));
  const named_tensors all = decoded(file, "m.safetensors");
  EXPECT_EQ(all.size(), 3u);
  EXPECT_TRUE(same(all.at("x"), tensor(1.f)));
  EXPECT_TRUE(same(all.at("y"), tensor({2.f})));
  EXPECT_EQ(all.at("e").size(), 0);
}

TEST(safetensors, that_lie_are_refused_in_one_sentence) {
  const auto one = [](const std::string& entry, const std::string& elements = "1234") {
    return safetensors(R"({"x":)" + entry + "}", elements);
  };
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "too short"},
      {little(~std::uint64_t{0}) + "{}", "header has"},
      {little(std::uint64_t{100}) + "{}", "header has"},
      {safetensors("[]", ""), "no JSON object"},
      {safetensors("{", ""), "not JSON"},
      {safetensors(R"({"x":1})", ""), "no JSON object"},
      {safetensors(std::string(100000, '['), ""), "deep"},
      {safetensors(R"({"x":{"a":[[[1]]]}})", ""), "deep"},
      {one(R"({"shape":[1],"data_offsets":[0,4]})"), "\"dtype\""},
      {one(R"({"dtype":7,"shape":[1],"data_offsets":[0,4]})"), "\"dtype\""},
      {one(R"({"dtype":"F32","data_offsets":[0,4]})"), "\"shape\""},
      {one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "-1"},
      {one(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})"), "1.0"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), "8 for float32 [2]"},
      {one(R"({"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]})"), "overflow"},
      {one(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})"), "18446744073709551615"},
      {one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"), "rank 9"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "data_offsets"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), "data_offsets"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", "12345678"), "gap or overlap"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", "12345678"), "8 bytes"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", "12"), "2 bytes"},
      {safetensors(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                   R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                   "1234"),
       "twice"},
      {safetensors(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                   R"("y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                   "1234"),
       "overlap"},
  };
  for (const auto& [file, part] : cases) {
    const std::string said = refusal([&] { return decoded(file, "m.safetensors"); });
    EXPECT_TRUE(says(said, {"[decode] got \"m.safetensors\", which ", part})) << said << " says nothing of " << part;
  }
}

// ------------------------------------------------------------------------------------------ std::complex

TEST(complex_numbers_of_std, come_back_from_every_format_that_has_them) {
  using z64 = std::complex<float>;
  using z128 = std::complex<double>;
  const kgtest::folder here;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<z64> single{{1, -2}, {-0.f, infinity}, {1e-45f, 3}, {0, -0.f}, {7, 8}, {-9, 0.1f}};
  const std::vector<z128> twice{{1, -2}, {-0., 1e300}, {5e-324, 0.1}};
  const tensor z(single, {3, 2}), w(twice);
  const auto expect = [](const tensor& back, const auto& values, const shape& dims) {
    using number = typename std::remove_cvref_t<decltype(values)>::value_type;
    EXPECT_EQ(back.dims(), dims);
    const auto got = back.data<number>();  // of another dtype: rejected
    EXPECT_EQ(std::memcmp(got.data(), values.data(), values.size() * sizeof(number)), 0);
  };
  kg::io::save(here / "z.npy", z);
  kg::io::save(here / "w.npy", w);
  expect(kg::io::load(here / "z.npy"), single, {3, 2});
  expect(kg::io::load(here / "w.npy"), twice, {3});
  for (const bool compressed : {false, true}) {
    kg::io::save(here / "a.npz", {{"w", w}, {"z", z}}, {.compressed = compressed});
    const named_tensors all = kg::io::load(here / "a.npz");
    expect(all.at("z"), single, {3, 2});
    expect(all.at("w"), twice, {3});
  }
  kg::io::save(here / "a.safetensors", {{"z", z}});
  expect(kg::io::load(here / "a.safetensors").at("z"), single, {3, 2});
  for (const auto& [name, x] : {std::pair("z.csv", z), std::pair("w.csv", w), std::pair("z.png", z)})
    EXPECT_TRUE(says(refusal([&, &path = name, &value = x] {
                       kg::io::save(here / path, value);
                       return 0;
                     }),
                     {"[save] got", name, x.type() == dtype::complex64 ? "complex64" : "complex128", "wanted"}))
        << name;
}

// ------------------------------------------------------------------------------------------ by name

TEST(named_tensors_, are_sorted_unique_and_found) {
  named_tensors all{{"b", tensor(2)}, {"a", tensor(1)}};
  EXPECT_EQ(all.begin()->name, "a");
  EXPECT_EQ(all.at("b").item<int>(), 2);
  all.set("b", tensor(3));
  all.set("", tensor(0));
  EXPECT_EQ(all.at("b").item<int>(), 3);
  EXPECT_EQ(all.size(), 3u);
  EXPECT_TRUE(all.contains(""));
  EXPECT_FALSE(all.contains("c"));
  EXPECT_TRUE(says(refusal([&] { return all.at("c"); }), {"[at]", "\"c\"", "\"a\"", "\"b\""}));
  EXPECT_TRUE(says(refusal([&] { return tensor(all); }), {"3 tensors", ".at("}));
  EXPECT_TRUE(says(refusal([&] { return tensor(named_tensors()); }), {"0 tensors"}));
  EXPECT_TRUE(says(refusal([&] { return named_tensors{{"a", tensor(1)}, {"a", tensor(2)}}; }), {"\"a\" twice"}));
  EXPECT_TRUE(says(refusal([&] { return named_tensors{{"a", tensor()}}; }), {"undefined tensor", "\"a\""}));
  EXPECT_NE(refusal([&] {
              all.set("a", {});
              return 0;
            }),
            accepted);
  const tensor one = named_tensors{{"only", tensor(4)}};
  EXPECT_EQ(one.item<int>(), 4);
}

}  // namespace
