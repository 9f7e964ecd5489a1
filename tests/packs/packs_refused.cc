// SPDX-License-Identifier: Apache-2.0
// Packs that break the rules: they are rejected with the file and the reason, and the registry, the memory and the tape
// are what they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/packs/packs.h"
#include "tests/support/refusal.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::bytes_of;
using kgtest::refusal;
using kgtest::scratch_folder;
using kgtest::test_pack;
using kgtest::with_text;
using kgtest::with_word;
using namespace std::string_literals;
using doubles = std::vector<double>;

// Rejected with the path and the reason; nothing has changed, and nothing is mapped.
void expect_refused(const std::string& path, const std::string& reason) {
  const kgtest::world before = kgtest::world_now();
  const std::string text = refusal([&] { return kg::load_pack(path); });
  EXPECT_NE(text.find("[load_pack]"), std::string::npos) << text;
  EXPECT_NE(text.find(path), std::string::npos) << text;
  EXPECT_NE(text.find(reason), std::string::npos) << text << "\nwithout: " << reason;
  EXPECT_TRUE(kgtest::world_now() == before) << path;
  if (path.find(".so") != std::string::npos) EXPECT_FALSE(kgtest::is_mapped(path)) << path;
}

// ------------------------------------------------------------------------------------------ files

TEST(a_file_that_is_no_pack, is_refused_with_what_it_is) {
  const scratch_folder folder;
  expect_refused(folder / "missing.so", "No such file");
  expect_refused(folder / "", "a directory");
  expect_refused("/dev/null", "no regular file");
  expect_refused(folder.write("empty.so", ""), "an empty file");
  expect_refused(folder.write("short.so",
                              "\x7f"
                              "ELF"),
                 "too short");
  expect_refused(folder.write("text.so", std::string(2000, 'a')), "another format");
  expect_refused(std::filesystem::read_symlink("/proc/self/exe"), "kerngrad_pack_v1");
  expect_refused(test_pack("no_pack"), "without the symbol kerngrad_pack_v1");
}

TEST(a_path_without_a_directory, is_not_searched_for) {
  for (const char* name : {"softshrink.so", "", "libm.so.6"}) {
    const std::string text = refusal([&] { return kg::load_pack(name); });
    EXPECT_NE(text.find("\"" + std::string(name) + "\" without a directory"), std::string::npos) << text;
  }
  EXPECT_NE(refusal([] { return kg::load_pack("./a\0b"s); }).find("zero byte"), std::string::npos);
}

TEST(a_truncated_file, is_refused_at_every_length) {
  const scratch_folder folder;
  const std::string bytes = bytes_of(test_pack("softshrink")), path = folder.write("pack.so", bytes);
  for (std::size_t length = bytes.size() - 1; length > 0;
       length -= std::min<std::size_t>(length, length < 70 ? 1 : 61)) {
    std::filesystem::resize_file(path, length);
    ASSERT_NE(refusal([&] { return kg::load_pack(path); }), accepted) << length << " of " << bytes.size();
  }
  folder.write("pack.so", bytes);
  kg::load_pack(path).unload();
}

TEST(a_pack_for_another_interface, is_refused_before_it_is_mapped) {
  const scratch_folder folder;
  const std::string bytes = bytes_of(test_pack("softshrink"));
  const auto patched = [&](int word, std::uint32_t value) {
    return folder.write("pack-" + std::to_string(word) + "-" + std::to_string(value) + ".so",
                        with_word(bytes, word, value));
  };
  expect_refused(patched(0, 0), "without the magic");
  expect_refused(patched(-1, 2), "a pack of ABI version 2; wanted 1");
  expect_refused(patched(-1, 0), "a pack of ABI version 0");
  expect_refused(patched(-2, 8), "a kerngrad_pack_info of 8 bytes");
  expect_refused(patched(-2, 0), "a kerngrad_pack_info of 0 bytes");
  expect_refused(patched(2, 5000), "a host table of 5000 bytes");
  expect_refused(patched(2, 4), "a host table of 4 bytes");
  expect_refused(patched(3, 1), "a reserved word");
}

TEST(a_pack_without_a_proper_name, is_refused) {
  const scratch_folder folder;
  const std::string bytes = bytes_of(test_pack("malformed")), old = "malformed"s + std::string(20, '\0');
  expect_refused(folder.write("empty.so", with_text(bytes, old, "\0"s)), "the name of a pack that is empty");
  expect_refused(folder.write("latin.so", with_text(bytes, old, "\xe9t\xe9"s)), "a byte 233");
  expect_refused(folder.write("colour.so", with_text(bytes, old,
                                                     "\xc2\x9b"
                                                     "31m"s)),
                 "a byte 194");
  expect_refused(folder.write("long.so", with_text(bytes, old, std::string(128, 'x'))), "more than 127 bytes");
}

// ------------------------------------------------------------------------------------------ init

class a_pack_whose_init_breaks_a_rule : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(a_pack_whose_init_breaks_a_rule, is_refused_with_the_reason_and_changes_nothing) {
  const auto [name, reason] = GetParam();
  const kgtest::environment wanted("KERNGRAD_TEST_CASE", name);
  expect_refused(test_pack("malformed"), reason);
}

INSTANTIATE_TEST_SUITE_P(
    packs, a_pack_whose_init_breaks_a_rule,
    testing::Values(std::pair("a text", "[init] no device here"), std::pair("a code", "the error code 42"),
                    std::pair("half done", "half done"), std::pair("a text that is no reason", "first"),
                    std::pair("twice", "kernel Malformed for backend simd at pack malformed"),
                    std::pair("a built-in op's kernel", "kernel Exp for backend simd"),
                    std::pair("a built-in op with a schema", "kernel Exp of a built-in op with a schema"),
                    std::pair("no schema", "kernel Malformed without a schema"),
                    std::pair("no function", "kernel Malformed without a function"),
                    std::pair("2^31 - 1 operands", "a count of 2147483647"),
                    std::pair("-2^31 operands", "a count of -2147483648"), std::pair("9 operands", "a count of 9"),
                    std::pair("operands at NULL", "2 items at NULL"), std::pair("17 attributes", "a count of 17"),
                    std::pair("no result", "a count of 0"), std::pair("2^31 - 1 results", "a count of 2147483647"),
                    std::pair("a null name", "the name of a kernel that is NULL"),
                    std::pair("an empty name", "the name of a kernel that is empty"),
                    std::pair("a long name", "more than 127 bytes"), std::pair("a name in Latin-1", "a byte 233"),
                    std::pair("an overlong name", "a byte 192"), std::pair("a name with a surrogate", "a byte 237"),
                    std::pair("a name with a new line", "a byte 10"), std::pair("an empty backend", "that is empty"),
                    std::pair("a kernel struct that is too small", "struct_size"),
                    std::pair("a kernel struct of size 0", "struct_size 0"),
                    std::pair("a kernel struct of size 2^32 - 1", "struct_size 4294967295"),
                    std::pair("operand structs of two sizes", "items of different struct_size"),
                    std::pair("unknown flags", "kernel Malformed with unknown flags"),
                    std::pair("unknown operand flags", "operand x with unknown flags"),
                    std::pair("a reserved operand member", "operand x with a reserved member"),
                    std::pair("a reserved attribute member", "attribute rate with a reserved member"),
                    std::pair("a reserved gradient member", "gradient Malformed with a reserved member"),
                    std::pair("unknown dtypes", "operand x with dtypes"),
                    std::pair("one operand name twice", "operand x twice"),
                    std::pair("a list before others", "operand x, a list, before others"),
                    std::pair("an unknown kind", "attribute rate of kind 99"),
                    std::pair("a default out of range", "attribute rate of kind number with the default 0"),
                    std::pair("an empty range", "attribute rate with an empty range"),
                    std::pair("a fraction for an integer", "attribute rate of kind integer with the default 0.5"),
                    std::pair("a text without choices", "attribute rate with neither"),
                    std::pair("a null struct", "NULL"), std::pair("a gradient of nothing", "NoSuchOp"),
                    std::pair("a gradient that saves nothing known", "saves z"),
                    std::pair("a gradient without a function", "gradient Malformed without a function"),
                    std::pair("a built-in op's gradient", "gradient Exp"), std::pair("-1 saves", "a count of -1"),
                    std::pair("a member of tomorrow", "a member that this version")));

// Loads the malformed pack in a case in which nothing is malformed.
void expect_loaded(const char* name) {
  const kgtest::environment wanted("KERNGRAD_TEST_CASE", name);
  kg::pack loaded = kg::load_pack(test_pack("malformed"));
  EXPECT_TRUE(kg::get_kernel("Malformed", "simd"));
  loaded.unload();
  EXPECT_FALSE(kg::get_kernel("Malformed", "simd"));
}

TEST(a_pack_of_a_newer_header, loads_when_it_leaves_alone_what_is_new) {
  expect_loaded("a member of tomorrow that is not used");
}

TEST(the_malformed_pack, is_accepted_where_nothing_is_wrong) { expect_loaded("nothing is wrong"); }

TEST(an_init_that_throws, is_refused_with_the_text) {
  const kgtest::environment wanted("KERNGRAD_TEST_CASE", "init throws");
  expect_refused(test_pack("throwing"), "an init's own error");
}

TEST(a_loaded_pack, is_not_loaded_again_under_any_path) {
  const scratch_folder folder;
  kg::pack p = kg::load_pack(test_pack("softshrink"));
  std::filesystem::create_symlink(p.path(), folder / "link");
  std::filesystem::copy_file(p.path(), folder / "copy");
  for (const std::string& path : {p.path(), folder / "link", folder / "copy"}) {
    const kgtest::world before = kgtest::world_now();
    const std::string text = refusal([&] { return kg::load_pack(path); });
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_NE(text.find("pack " + p.name()), std::string::npos) << text;
    EXPECT_NE(text.find(p.path()), std::string::npos) << text;
    EXPECT_TRUE(kgtest::world_now() == before);
  }
  // The pack has another name, its op has not.
  const std::string other = folder.write("other.so", with_text(bytes_of(p.path()), "softshrink\0"s, "softcolumn\0"s));
  const std::string text = refusal([&] { return kg::load_pack(other); });
  for (const std::string& part : {"kernel Softshrink"s, "pack softcolumn (" + other, "pack softshrink (" + p.path()})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  p.unload();
}

// ------------------------------------------------------------------------------------------ running

tensor misbehave(const std::string& how, const tensor& x) {
  return kg::run_kernel("Misbehaving", {{"x", x}}, {{"how", std::string_view(how)}});
}

struct misbehaving_pack {
  kg::pack pack = kg::load_pack(test_pack("misbehaving")), other = kg::load_pack(test_pack("complete"));
  ~misbehaving_pack() {
    pack.unload();
    other.unload();
  }
};

class a_kernel_that_misbehaves : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(a_kernel_that_misbehaves, is_refused_with_pack_and_reason_and_leaves_tape_and_memory_alone) {
  const auto [how, reason] = GetParam();
  const misbehaving_pack p;
  const tensor x({1.f, 2.f, 3.f});
  const std::int64_t buffers = kg::memory().live_buffers;
  const doubles gradient = kg::grad([&, how = how, reason = reason](const tensor& t) {
                             const std::string text = refusal([&] { return misbehave(how, t); });
                             EXPECT_NE(text.find("[Misbehaving] "), std::string::npos) << text;
                             EXPECT_NE(text.find("pack misbehaving (" + p.pack.path() + ")"), std::string::npos)
                                 << text;
                             EXPECT_NE(text.find(reason), std::string::npos) << text << "\nwithout: " << reason;
                             return kg::sum(kg::square(t));
                           })(x)
                               .to_doubles();
  EXPECT_EQ(gradient, (doubles{2, 4, 6}));
  EXPECT_EQ(x.to_doubles(), (doubles{1, 2, 3}));
  EXPECT_EQ(kg::memory().live_buffers, buffers);
}

INSTANTIATE_TEST_SUITE_P(
    packs, a_kernel_that_misbehaves,
    testing::Values(std::pair("code", "the error code 7"), std::pair("negative code", "the error code -2147483648"),
                    std::pair("text", "the weather is bad"), std::pair("text and success", "not serious"),
                    std::pair("no text", "the error code 1"), std::pair("no result", "0 results"),
                    std::pair("two results", "one result more"), std::pair("other operand", "no operand z[0]"),
                    std::pair("operand -1", "no operand x[-1]"), std::pair("operand 1", "no operand x[1]"),
                    std::pair("null name", "a name that is NULL"), std::pair("null tensor", "a tensor that is NULL"),
                    std::pair("foreign tensor", "not of this call"), std::pair("negative size", "size -1"),
                    std::pair("huge size", "overflows"), std::pair("large sizes", "overflows"),
                    std::pair("rank 9", "a count of 9"), std::pair("rank -1", "a count of -1"),
                    std::pair("null sizes", "1 items at NULL"), std::pair("dtype 99", "dtype 99"),
                    std::pair("other attribute", "no attribute rate"),
                    std::pair("attribute of another kind", "how read as number"),
                    std::pair("null value", "NULL for the value"), std::pair("null attribute", "a name that is NULL"),
                    std::pair("unknown op", "NoSuchOp"), std::pair("wrong shapes", "[BatchMatMul]"),
                    std::pair("many arguments", "a count of 2147483647"),
                    std::pair("negative arguments", "a count of -1"), std::pair("null arguments", "1 items at NULL"),
                    std::pair("small argument", "struct_size 4"), std::pair("unknown kind", "kind 99"),
                    std::pair("several results of an op", "2 results of Complete"),
                    std::pair("dy in a kernel", "[dy] a call by a kernel"),
                    std::pair("gradient in a kernel", "[set_gradient] a call by a kernel"),
                    std::pair("null elements", "elements at NULL")));

class a_gradient_that_misbehaves : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(a_gradient_that_misbehaves, is_refused_with_pack_and_reason) {
  const auto [how, reason] = GetParam();
  const misbehaving_pack p;
  const tensor x({1.f, 2.f});
  const std::int64_t buffers = kg::memory().live_buffers;
  auto f = [&, how = how](const tensor& t) { return kg::sum(misbehave(how, t)); };
  const std::string text = refusal([&] { return kg::grad(f)(x); });
  for (const std::string& part : {"[Misbehaving] "s, "pack misbehaving (" + p.pack.path(), std::string(reason)})
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nwithout: " << part;
  EXPECT_EQ(kg::memory().live_buffers, buffers);
}

INSTANTIATE_TEST_SUITE_P(packs, a_gradient_that_misbehaves,
                         testing::Values(std::pair("gradient: text", "no slope here"),
                                         std::pair("gradient: other shape", "float32 [] for operand x[0]"),
                                         std::pair("gradient: other operand", "no operand z[0]"),
                                         std::pair("gradient: not saved", "saves_inputs"),
                                         std::pair("gradient: result not saved", "result 0"),
                                         std::pair("gradient: dy 1", "[dy] result 1"),
                                         std::pair("gradient: result", "[make_result] a call by a gradient"),
                                         std::pair("gradient: twice", "operand x[0] twice")));

TEST(a_gradient_of_a_pack, is_used_where_it_keeps_to_the_rules) {
  const misbehaving_pack p;
  EXPECT_EQ(kg::grad([](const tensor& t) { return misbehave("well", t) * 3; })(tensor({1.f})).item(), 3);
}

TEST(an_exception_of_a_hook, passes_through_a_pack_as_it_is) {
  const misbehaving_pack p;
  const tensor x({0.f});
  EXPECT_EQ(misbehave("exp", x).item(), 1);
  kg::hooks wanted;
  wanted.begin = [](const kg::kernel_event& e) {
    if (e.op == "Exp") throw std::invalid_argument("a hook's own");
  };
  const kg::hook_handle added = kg::add_hooks(std::move(wanted));
  EXPECT_THROW(misbehave("exp", x), std::invalid_argument);
}

TEST(a_kernel_that_throws, is_refused_with_the_text) {
  kg::pack p = kg::load_pack(test_pack("throwing"));
  for (const auto& [name, reason] :
       {std::pair("ThrowsError", "it threw: a kernel's own error"), std::pair("ThrowsNumber", "it threw")}) {
    const std::string text = refusal([&, name = name] { return kg::run_kernel(name, {tensor({1.f})}); });
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_NE(text.find(p.path()), std::string::npos) << text;
  }
  p.unload();
  EXPECT_FALSE(kgtest::is_mapped(test_pack("throwing")));
}

}  // namespace
