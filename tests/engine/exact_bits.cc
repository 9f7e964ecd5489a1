// SPDX-License-Identifier: Apache-2.0
// Results that are exact are bitwise identical on every CPU target of every CPU family, and those of the backend
// reference. exact_bits.txt has a digest of them for each op and dtype: a line for each says what a build for another
// CPU family has to give as well. `KERNGRAD_WRITE=FILE test_exact_bits` writes the digests of the reference to a file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <ios>
#include <limits>
#include <map>
#include <ostream>
#include <sstream>
#include <string>

import kerngrad;
import kerngrad.testkit;

namespace {

/// FNV-1a of 64 bits, folded.
class digest {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* const at = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ at[i]) * 0x100000001b3u;
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(value_ ^ value_ >> 32); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

bool is_text_or_whole(kg::dtype type) {
  return type == kg::dtype::text || type == kg::dtype::boolean || kg::integral.has(type);
}

/// NaN is one value: which of its bits a CPU sets is its own affair.
void add_elements(digest& to, const kg::tensor& x) {
  for (const std::int64_t size : x.dims()) to.add(&size, sizeof size);
  if (x.type() == kg::dtype::text) {
    for (const std::string& text : x.to_texts()) to.add(text.c_str(), text.size() + 1);
  } else if (is_text_or_whole(x.type())) {
    to.add(x.address(), static_cast<std::size_t>(x.size()) * kg::size_of(x.type()));
  } else {
    for (const double v : kg::testkit::doubles_of(x)) {
      const double one = std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v;
      to.add(&one, sizeof one);
    }
  }
}

/// True if all that a result of the op depends on is its elements: whole numbers and texts always, floats that are
/// computed by one rounded operation or moved. Sums and functions with a bound depend on the order of operations, and
/// so do magnitudes of doubles, for which there is no wider type on the way.
bool is_exact(const kg::op_row& row, kg::dtype result) {
  if (is_text_or_whole(result)) return true;
  switch (row.group) {
    case kg::family::convert:
      if (row.name == "ComplexAbs" && result == kg::dtype::float64) return false;
      [[fallthrough]];
    case kg::family::elementwise: return !kg::accuracy_of(row.name, kg::dtype::float32) && kg::floating.has(result);
    case kg::family::move: return row.attr_index("reduction") < 0;
    case kg::family::create: return row.convention != kg::convention::random;
    case kg::family::sort: return true;
    default: return false;
  }
}

/// By "Add bool>int32": the op, the dtype of the call and, if it is another one, that of the result.
using digests = std::map<std::string, std::uint32_t>;

std::string name_of(const kg::op_row& row, kg::dtype call, kg::dtype result) {
  std::ostringstream name;
  name << row.name << ' ' << kg::name_of(call);
  if (result != call) name << '>' << kg::name_of(result);
  return name.str();
}

std::string hexadecimal(std::uint32_t value) {
  std::ostringstream text;
  text << std::hex << std::setw(8) << std::setfill('0') << value;
  return text.str();
}

/// Lines of an op and, as often as they fit into a line, a dtype and its digest.
void write(std::ostream& out, const digests& all) {
  std::string line, op_of_line;
  for (const auto& [name, value] : all) {
    const std::string op = name.substr(0, name.find(' ')), rest = name.substr(op.size()) + ' ' + hexadecimal(value);
    if (op != op_of_line || line.size() + rest.size() > 120) {
      if (!line.empty()) out << line << '\n';
      line = op_of_line = op;
    }
    line += rest;
  }
  out << line << '\n';
}

digests recorded() {
  std::ifstream file(EXACT_BITS);
  digests all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string op, type;
    words >> op;
    for (std::uint32_t value = 0; words >> type >> std::hex >> value;) all.emplace(op + ' ' + type, value);
  }
  return all;
}

void add_calls(std::map<std::string, digest>& to, const kg::op_row& row, kg::dtype type) {
  for (const bool long_ones : {false, true})
    for (const kg::testkit::sample& call : kg::testkit::samples_of(row, long_ones)) try {
        const kg::tensor_list results = kg::run_kernel_list(row.name, kg::testkit::operands_for(row, call, type),
                                                            kg::testkit::attributes_for(row, call, type));
        for (int k = 0; k < results.size(); ++k)
          if (is_exact(row, results[k].type())) add_elements(to[name_of(row, type, results[k].type())], results[k]);
      } catch (const kg::error&) {
        // A dtype without a kernel; every_op.cc has what may be one.
      }
}

/// Digests of all ops, on the active target and backend.
digests computed() {
  std::map<std::string, digest> all;
  for (const std::string& name : kg::op_names()) {
    const kg::op_row& row = *kg::row_named(name);
    for (int t = 0; t < kg::dtype_count; ++t) {
      const auto type = static_cast<kg::dtype>(t);
      bool taken = row.operands.empty() && type == kg::dtype::float32;
      for (const kg::operand& o : row.operands) taken = taken || o.types.has(type);
      if (taken) add_calls(all, row, type);
    }
  }
  digests values;
  for (const auto& [call, of] : all) values.emplace(call, of.value());
  return values;
}

digests of_reference() {
  const kg::backend_scope reference(kg::backend::reference);
  return computed();
}

void expect_recorded(const digests& found) {
  const digests wanted = recorded();
  for (const auto& [call, value] : wanted) {
    const auto at = found.find(call);
    if (at == found.end()) ADD_FAILURE() << call << " stands in exact_bits.txt, and there is no such result";
    else EXPECT_EQ(hexadecimal(at->second), hexadecimal(value)) << call << ": other bits than exact_bits.txt has of it";
  }
  for (const auto& one : found)
    EXPECT_TRUE(wanted.contains(one.first))
        << one.first << " is exact, and " << hexadecimal(one.second) << " stands not in exact_bits.txt";
}

TEST(exact_bits, of_the_reference_are_those_that_are_recorded) {
  const digests found = of_reference();
  ASSERT_FALSE(found.empty());
  expect_recorded(found);
}

TEST(exact_bits, of_every_cpu_target_are_those_that_are_recorded) {
  for (const kg::simd_target& target : kg::simd_targets()) {
    SCOPED_TRACE(target.name);
    kg::set_simd_target(target.name);
    expect_recorded(computed());
  }
  kg::set_simd_target("");
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* name = std::getenv("KERNGRAD_WRITE")) {
    std::ofstream file(name);
    write(file, of_reference());
    return file.flush() ? 0 : 1;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
