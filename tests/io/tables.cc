// SPDX-License-Identifier: Apache-2.0
// Tables as text: fields, quotes, missing values, and numbers that come back with all their bits.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <optional>

#include "files.h"

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kg::io::csv_options;
using kg::io::table;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::same;
using kgtest::says;
using names = std::vector<std::string>;
using doubles = std::vector<double>;

table decoded_csv(std::string_view text, const csv_options& how = {}) {
  return kg::io::decode_csv(kgtest::bytes_of(text), "t.csv", how);
}

// A NaN shows as -999.
doubles shown(const tensor& x) {
  doubles all = x.to_doubles();
  for (double& v : all) v = std::isnan(v) ? -999 : v;
  return all;
}

TEST(csv, is_read_field_by_field) {
  const double inf = std::numeric_limits<double>::infinity();
  struct one_text {
    std::string text;
    shape dims;
    doubles values;
    names columns{};
  };
  const std::vector<one_text> cases = {
      {"", {0, 0}, {}},
      {"\n\n", {0, 0}, {}},
      {"1", {1, 1}, {1}},
      {"1,2\n3,4\n", {2, 2}, {1, 2, 3, 4}},
      {"1,2\r\n3,4", {2, 2}, {1, 2, 3, 4}},
      {"\n1,2\n\n3,4\n\n", {2, 2}, {1, 2, 3, 4}},
      {"a,b\n1,2\n", {1, 2}, {1, 2}, {"a", "b"}},
      {"\xef\xbb\xbf"
       "a,b\n1,2\n",
       {1, 2},
       {1, 2},
       {"a", "b"}},
      {"a,b\n", {0, 2}, {}, {"a", "b"}},
      {"\"a, \"\"b\"\"\nc\",d\r\n1,\"2\"\r\n", {1, 2}, {1, 2}, {"a, \"b\"\nc", "d"}},
      {" 1 ,\t2 \n", {1, 2}, {1, 2}},
      {"1,,NA\nN/A,nan,4\n", {2, 3}, {1, -999, -999, -999, -999, 4}},
      {",\n", {1, 2}, {-999, -999}},
      {"inf,-inf,+inf,-0\n", {1, 4}, {inf, -inf, inf, -0.0}},
      {"+1,-2.5e-3,1E5,.5\n", {1, 4}, {1, -2.5e-3, 1e5, .5}},
      {"1e999,-1e999,1e-999\n", {1, 3}, {inf, -inf, 0}},
      {"4.9406564584124654e-324,0.1\n", {1, 2}, {5e-324, 0.1}},
  };
  for (const one_text& c : cases) {
    const table found = decoded_csv(c.text);
    EXPECT_EQ(found.values.dims(), c.dims) << c.text;
    EXPECT_EQ(shown(found.values), c.values) << c.text;
    EXPECT_EQ(found.columns, c.columns) << c.text;
    EXPECT_EQ(found.values.type(), dtype::float64);
  }
}

TEST(csv, is_read_as_the_options_say) {
  EXPECT_EQ(shown(decoded_csv("1;2\n3;4", {.delimiter = ';'}).values), (doubles{1, 2, 3, 4}));
  EXPECT_EQ(shown(decoded_csv("1\t2\n3\t\n", {.delimiter = '\t'}).values), (doubles{1, 2, 3, -999}));
  EXPECT_EQ(shown(decoded_csv("1 2\n", {.delimiter = ' '}).values), (doubles{1, 2}));
  const table numbered = decoded_csv("2020,2021\n1,2\n", {.header = true});
  EXPECT_EQ(numbered.columns, (names{"2020", "2021"}));
  EXPECT_EQ(shown(numbered.values), (doubles{1, 2}));
  EXPECT_TRUE(says(refusal([] { return decoded_csv("a,b\n1,2\n", {.header = false}); }), {"\"a\"", "line 1"}));
  EXPECT_TRUE(same(decoded_csv("9007199254740993,-1\n", {.type = dtype::int64}).values,
                   tensor({std::int64_t{9007199254740993}, std::int64_t{-1}}, {1, 2})));
  EXPECT_TRUE(same(decoded_csv("0,255\n", {.type = dtype::uint8}).values,
                   tensor({std::uint8_t{0}, std::uint8_t{255}}, {1, 2})));
  EXPECT_TRUE(same(decoded_csv("0,1,true,FALSE\n", {.type = dtype::boolean}).values,
                   tensor({false, true, true, false}, {1, 4})));
  EXPECT_TRUE(same(decoded_csv("0.1\n", {.type = dtype::float32}).values, tensor({0.1f}, {1, 1})));
  EXPECT_TRUE(same(decoded_csv("0.1\n", {.type = dtype::float16}).values, tensor({kg::float16(0.1)}, {1, 1})));
  EXPECT_TRUE(same(decoded_csv("0.1\n", {.type = dtype::bfloat16}).values, tensor({kg::bfloat16(0.1)}, {1, 1})));
}

TEST(csv, that_is_no_table_is_refused_with_its_line) {
  struct one_text {
    std::string text;
    csv_options how;
    std::vector<std::string_view> parts;
  };
  const std::vector<one_text> cases = {
      {"1,2\n3\n", {}, {"1 field in line 2", "2, as"}},
      {"1,2\n\n3,4,5\n", {}, {"3 fields in line 3"}},
      {"1,2\n3,x\n", {}, {"\"x\" as field 2 in line 2", "float64"}},
      {"1,2\n3,4x\n", {}, {"\"4x\""}},
      {"1\n0x10\n", {}, {"\"0x10\""}},
      {"1\n+-1\n", {}, {"\"+-1\""}},
      {"1\n1 2\n", {}, {"\"1 2\""}},
      {"\"1", {}, {"quotes that do not end in line 1"}},
      {"\"1\"2,3\n", {}, {"behind quotes"}},
      {"1\n256\n", {.type = dtype::uint8}, {"\"256\"", "uint8"}},
      {"1\n2147483648\n", {.type = dtype::int32}, {"\"2147483648\"", "int32"}},
      {"1\n1.5\n", {.type = dtype::int64}, {"\"1.5\"", "int64"}},
      {"1,\n", {.type = dtype::int64}, {"\"\" as field 2", "floats"}},
      {"2\n", {.type = dtype::boolean}, {"\"2\"", "bool"}},
      {"1\n", {.type = dtype::complex64}, {"complex64"}},
      {"1\n", {.type = dtype::text}, {"text"}},
      {"1\n", {.type = static_cast<dtype>(77)}, {"no dtype"}},
      {"1\n", {.delimiter = '.'}, {"delimiter \".\""}},
      {"1\n", {.delimiter = '\n'}, {"delimiter"}},
  };
  for (const one_text& c : cases) {
    const std::string said = refusal([&] { return decoded_csv(c.text, c.how); });
    EXPECT_TRUE(said.starts_with("[decode_csv] got \"t.csv\", which ")) << said;
    for (const std::string_view part : c.parts) EXPECT_NE(said.find(part), said.npos) << said << " lacks " << part;
  }
}

// Writes a tensor to a file and reads it back with its dtype.
table through_file(const tensor& x, const names& columns = {}) {
  const kgtest::folder here;
  kg::io::save_csv(here / "x.csv", {columns, x});
  return kg::io::load_csv(here / "x.csv", {.type = x.type()});
}

TEST(csv, brings_numbers_of_every_dtype_back_bit_for_bit) {
  for (const dtype type : kgtest::all_dtypes()) {
    if (kg::kind_of(type) >= kg::dtype_kind::complex) continue;
    tensor x = kgtest::any_bits(type, {500, 3});
    if (kg::floating.has(type))
      x = kg::where(kg::is_nan(x), kg::zeros({500, 3}, type), x);  // all NaN are one in a text
    EXPECT_TRUE(same(through_file(x).values, x)) << kg::name_of(type);
    EXPECT_TRUE(same(through_file(x, {"a", "b \"", "1"}).values, x)) << kg::name_of(type);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(shown(through_file(tensor({1.0, nan}, {1, 2})).values), (doubles{1, -999}));
}

TEST(csv, is_written_as_short_as_it_can_be) {
  const kgtest::folder here;
  kg::io::save_csv(here / "x.csv", {{"a", "b\"c"}, tensor({0.1, 1e300, -0.0, 3.0}, {2, 2})}, ';');
  EXPECT_EQ(kgtest::contents(here / "x.csv"), "\"a\";\"b\"\"c\"\n0.1;1e+300\n-0;3\n");
  EXPECT_EQ(kg::io::load_csv(here / "x.csv", {.delimiter = ';'}).columns, (names{"a", "b\"c"}));
  kg::io::save(here / "y.csv", tensor({1, 2}));
  EXPECT_EQ(kgtest::contents(here / "y.csv"), "1\n2\n");
  EXPECT_TRUE(same(kg::io::load(here / "y.csv"), tensor({1.0, 2.0}, {2, 1})));
  kg::io::save_csv(here / "none.csv", {{"a", "b"}, kg::zeros({0, 2})});
  EXPECT_EQ(kg::io::load_csv(here / "none.csv").values.dims(), (shape{0, 2}));
}

TEST(csv, refuses_what_is_no_table) {
  const auto refused = [](const table& all, char delimiter = ',') {
    return refusal([&] {
      const kgtest::folder here;
      kg::io::save_csv(here / "x.csv", all, delimiter);
      return 0;
    });
  };
  EXPECT_TRUE(says(refused({{}, tensor(1.0)}), {"[save_csv]", "float64 []", "rank 1 or 2"}));
  EXPECT_TRUE(says(refused({{}, kg::zeros({1, 1, 1})}), {"rank 1 or 2"}));
  EXPECT_TRUE(says(refused({{}, kg::zeros({2, 0})}), {"[2, 0]", "one column"}));
  EXPECT_TRUE(says(refused({{}, kg::zeros({0, 2})}), {"x.csv", "[0, 2]", "names of the columns"}));
  EXPECT_TRUE(says(refused({{}, kg::zeros({0})}), {"[0]", "names of the columns"}));
  EXPECT_TRUE(says(refused({{}, tensor(kg::complex64{})}), {"complex64"}));
  EXPECT_TRUE(says(refused({{}, tensor("text")}), {"text"}));
  EXPECT_TRUE(says(refused({{"a"}, kg::zeros({2, 2})}), {"1 names", "2"}));
  EXPECT_TRUE(says(refused({{}, kg::zeros({2, 2})}, '1'), {"delimiter"}));
  EXPECT_TRUE(says(refused({}), {"undefined tensor"}));
}

// Bytes that a process takes beyond what it had, in a process of its own.
template <class F>
std::int64_t taken_by(F call) {
  const auto most = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
  };
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::int64_t before = most();
    call();
    const std::int64_t taken = most() - before;
    ::_exit(::write(ends[1], &taken, sizeof(taken)) == sizeof(taken) ? 0 : 1);
  }
  std::int64_t taken = -1;
  ::close(ends[1]);
  if (::read(ends[0], &taken, sizeof(taken)) != sizeof(taken)) taken = -1;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return taken;
}

TEST(csv, takes_no_memory_for_a_cell_but_its_number) {
  constexpr std::int64_t count = 4'000'000;
  const std::string commas(static_cast<std::size_t>(count), ',');
  const std::int64_t taken = taken_by([&] { decoded_csv(commas, {.type = dtype::float16}); });
  EXPECT_GE(taken, 0);
  EXPECT_LT(taken, count * 6);  // two bytes a number, and what the text's pages take
  // Names take more than their text: by the limit, and only where they are asked for.
  std::string header = "a";
  for (std::int64_t i = 1; i < count; ++i) header += ",a";
  EXPECT_LT(taken_by([&] { kg::io::decode(kgtest::bytes_of(header), "t.csv"); }), count * 4);
  kg::set_memory_limit(kg::memory().live_bytes + count * 16);
  EXPECT_TRUE(says(refusal([&] { return decoded_csv(header); }), {"t.csv", "names of columns", "memory limit"}));
  kg::set_memory_limit(kg::unlimited);
  EXPECT_EQ(decoded_csv("a,b\n1,2\n", {.header = true}).columns, (names{"a", "b"}));
}

}  // namespace
