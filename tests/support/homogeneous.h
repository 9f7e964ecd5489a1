// SPDX-License-Identifier: Apache-2.0
// Homogeneous functions: f(2^k x) = 2^(degree * k) f(x). The checks call each function with its operand at every power
// of two that keeps operands and results in the range of the dtype. They do the same with its gradient, whose degree is
// one less. The oracle is the function at k = 0, which its own tests compare with a definition. Docstrings declare the
// degrees, and every function that declares one is tested.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/full.h"

import kerngrad;

namespace kgtest {

/// Numbers of four bits, which are exact in every dtype, subnormal ones apart.
inline kg::tensor numbers(const kg::shape& dims) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < dims.size(); ++i) all.push_back(static_cast<double>((i * i * 5 + i * 3) % 16) - 7);
  return kg::tensor(all, dims);
}

/// Matrices of at most seven bits with large and distinct numbers on the diagonal. Their vectors of eigenvalues and of
/// singular values are well conditioned.
inline kg::tensor dominant(const kg::shape& dims) {
  const std::int64_t m = dims[dims.rank() - 2], n = dims[dims.rank() - 1];
  const kg::tensor diagonal = kg::cast(kg::arange(1, static_cast<double>(n + 1)) * 16, kg::dtype::float64);
  return numbers(dims) + kg::eye(m, n, 0, kg::dtype::float64) * diagonal;
}

/// A function of one operand, or a part of its result.
struct homogeneous {
  const char* name;  ///< the declaration's: "mean", or "qr.q" for a part
  const char* form;  ///< which arguments, for messages
  kg::shape dims;
  std::function<kg::tensor(const kg::tensor&)> f;
  kg::tensor (*operand)(const kg::shape&) = numbers;  ///< at power 0, exact in the dtypes of the test
  bool bitwise = false;                               ///< no operation rounds otherwise at another power
  bool gradient = true;                               ///< the function has one
};

/// Degrees by names of functions and parts.
using degrees_by_name = std::map<std::string, int>;

/// Adds the degrees that docstrings of an interface declare: "Homogeneous of degree 1." of a function, and
/// "Homogeneous: q of degree 0, r of degree 1." of parts, whose names are qr.q and qr.r.
inline void read_degrees(const std::filesystem::path& interface, degrees_by_name& degrees) {
  const std::regex degree(R"((\w+) of degree (-?\d+))"), call(R"((\w+)\()");
  std::ifstream file(interface);
  std::string line, docstring;
  while (std::getline(file, line)) {
    if (line.starts_with("///")) {
      docstring += line.substr(3);
      continue;
    }
    std::smatch function;
    if (docstring.find("Homogeneous") != docstring.npos && std::regex_search(line, function, call))
      for (std::sregex_iterator at(docstring.begin(), docstring.end(), degree), end; at != end; ++at) {
        const std::string part = at->str(1);
        degrees[part == "Homogeneous" ? function.str(1) : function.str(1) + "." + part] = std::stoi(at->str(2));
      }
    docstring.clear();
  }
}

/// The degrees that interfaces in `modules` and its folders declare. Leaves out the folder `elsewhere`, whose functions
/// another program tests.
inline degrees_by_name declared_degrees(const std::filesystem::path& modules, const std::string& elsewhere = "") {
  degrees_by_name found;
  std::filesystem::recursive_directory_iterator at(modules);
  for (; at != std::filesystem::end(at); ++at) {
    if (at->is_directory() && at.depth() == 0 && at->path().filename() == elsewhere) at.disable_recursion_pending();
    if (at->path().extension() == ".cc") read_degrees(at->path(), found);
  }
  return found;
}

/// The tests are those of all functions that declare a degree, and of no others.
inline void expect_all_tested(std::span<const homogeneous> functions, const degrees_by_name& degrees) {
  std::set<std::string> declared, tested;
  for (const auto& [name, degree] : degrees) declared.insert(name);
  for (const homogeneous& of : functions) tested.insert(of.name);
  EXPECT_EQ(tested, declared);
}

// ------------------------------------------------------------------------------------------ checks

/// Exponents of the least normal and the largest number, and the distance from 1 to the next number.
struct range_of_dtype {
  int least, most;
  double epsilon;
};
inline range_of_dtype range_of(kg::dtype type) {
  switch (type) {
    case kg::dtype::float16: return {-14, 15, 0x1p-10};
    case kg::dtype::bfloat16: return {-126, 127, 0x1p-7};
    case kg::dtype::float32: return {-126, 127, 0x1p-23};
    default: return {-1022, 1023, 0x1p-52};
  }
}

inline std::vector<double> values_of(const kg::tensor& x) { return kg::cast(x, kg::dtype::float64).to_doubles(); }

inline double largest_of(std::span<const double> values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

/// Weights of results: small integers of both signs, which are no multiple of the numbers.
inline kg::tensor weights(const kg::shape& dims) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < dims.size(); ++i) all.push_back(static_cast<double>((i * 7 + 3) % 11) - 5);
  return kg::tensor(all, dims);
}

/// The gradient of the weighted sum of results.
inline kg::tensor weighted_gradient(const std::function<kg::tensor(const kg::tensor&)>& f, const kg::tensor& x) {
  return kg::grad([&](const kg::tensor& v) {
    const kg::tensor y = f(v);
    return kg::sum(y * kg::cast(weights(y.dims()), y.type()));
  })(x);
}

/// True if 0, or a number that is in range at another power.
inline bool fits(double value, int power, const range_of_dtype& within) {
  if (value == 0) return true;
  const int exponent = std::ilogb(value) + power;
  return exponent >= within.least && exponent <= within.most;
}

/// Errors are relative to the largest result, because some results cancel.
inline void expect_scaled(std::span<const double> got, std::span<const double> base, int power, double within) {
  ASSERT_EQ(got.size(), base.size());
  const double error = std::ldexp(largest_of(base) * within, power);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = std::ldexp(base[i], power);
    if (got[i] != want) ASSERT_LE(std::fabs(got[i] - want), error) << "element " << i << ": " << got[i] << ", " << want;
  }
}

/// Checks one function at every `step`-th power.
inline void check_homogeneous(const homogeneous& of, int degree, kg::dtype type, int step) {
  const range_of_dtype within = range_of(type);
  const kg::tensor base = of.operand(of.dims), at_1 = kg::cast(base, type);
  const std::vector<double> operands = values_of(at_1), values = values_of(of.f(at_1));
  const std::vector<double> slopes = of.gradient ? values_of(weighted_gradient(of.f, at_1)) : std::vector<double>();
  ASSERT_EQ(operands, base.to_doubles()) << of.name << " has operands that are not exact in " << name_of(type);
  int checked = 0;
  // The last step is the largest power.
  const int last = within.most - std::ilogb(largest_of(operands));
  for (int k = last; k >= within.least; k -= step) {
    SCOPED_TRACE(of.name + (" " + std::string(of.form)) + " of " + std::string(name_of(type)) + " at 2^" +
                 std::to_string(k));
    const kg::tensor x = kg::cast(base * std::ldexp(1.0, k), type);
    // Single values that round to 0 at power 0 are results of cancellation.
    if (fits(largest_of(values), degree * k, within)) {
      ASSERT_NO_FATAL_FAILURE(
          expect_scaled(values_of(of.f(x)), values, degree * k, of.bitwise ? 0 : 8 * within.epsilon));
      ++checked;
    }
    // Some rules multiply numbers by gradients on the way: the docstring of qr says so. Others add numbers that are
    // larger than the gradient.
    const double slope = largest_of(slopes);
    const int power = (degree - 1) * k;
    if (of.gradient && k <= within.most - 12 && fits(slope, power, within) && fits(slope * 16, power, within))
      ASSERT_NO_FATAL_FAILURE(
          expect_scaled(values_of(weighted_gradient(of.f, x)), slopes, (degree - 1) * k, 16 * within.epsilon))
          << "of the gradient";
  }
  EXPECT_GT(checked, 0) << of.name;
}

/// Checks all functions at every `step`-th power, or in long sweeps at every power.
inline void check_homogeneous(std::span<const homogeneous> functions, const degrees_by_name& degrees, kg::dtype type,
                              int step) {
  for (const homogeneous& of : functions) check_homogeneous(of, degrees.at(of.name), type, full() ? 1 : step);
}

}  // namespace kgtest
