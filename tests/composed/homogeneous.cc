// SPDX-License-Identifier: Apache-2.0
// Homogeneous functions: f(2^k x) = 2^(degree * k) f(x). Each is called with its operands at every power of two that
// keeps operands and results in the range of the dtype, and its gradient likewise, whose degree is one less. The oracle
// is the function at k = 0, which its own tests hold to a definition. Docstrings declare the degrees, and every
// function that declares one is tested.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <set>

#include "tests/support/full.h"

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;

struct homogeneous {
  const char* name;  // of the function, or of a part of its result
  const char* form;  // that of its arguments
  kg::shape dims;
  std::function<tensor(const tensor&)> f;
  bool bitwise = false;  // no operation rounds otherwise at another power
};

// Adds the degrees that docstrings of an interface declare: "Homogeneous of degree 1." of a function, and
// "Homogeneous: q of degree 0, r of degree 1." of parts, whose names are qr.q and qr.r.
void read_degrees(const std::filesystem::path& interface, std::map<std::string, int>& degrees) {
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

// MODULES is the folder of the interfaces.
const std::map<std::string, int>& declared_degrees() {
  static const std::map<std::string, int> degrees = [] {
    std::map<std::string, int> found;
    for (const auto& item : std::filesystem::recursive_directory_iterator(MODULES))
      if (item.path().extension() == ".cc") read_degrees(item.path(), found);
    return found;
  }();
  return degrees;
}

constexpr double inf = std::numeric_limits<double>::infinity();

// The numbers have four bits, so that they are exact in every dtype, subnormal ones apart.
tensor numbers(const kg::shape& dims) {
  doubles all;
  for (std::int64_t i = 0; i < dims.size(); ++i) all.push_back(static_cast<double>((i * i * 5 + i * 3) % 16) - 7);
  return tensor(all, dims);
}

// Weights of results: small integers of both signs, which are no multiple of the numbers.
tensor weights(const kg::shape& dims) {
  doubles all;
  for (std::int64_t i = 0; i < dims.size(); ++i) all.push_back(static_cast<double>((i * 7 + 3) % 11) - 5);
  return tensor(all, dims);
}

tensor plain_batch_norm(const tensor& x) {
  return kg::batch_norm_training(x, {.scale = tensor({2.f, -1.f}), .epsilon = 0}).result;
}

// The numbers with one in each row that is none.
tensor with_nan(const tensor& x) {
  const tensor at = kg::reshape(kg::arange(0, static_cast<double>(x.size())), x.dims());
  return kg::where(kg::mod(at, 4) == 2, kg::full_like(x, std::nan("")), x);
}

tensor response_norm(const tensor& x) { return kg::local_response_normalization(x, {.depth_radius = 1, .bias = 0}); }

const homogeneous functions[] = {
    {"mean", "", {3, 5}, [](const tensor& x) { return kg::mean(x, 1); }},
    {"moments.mean", "", {3, 5}, [](const tensor& x) { return kg::moments(x, 1).mean; }},
    {"moments.variance", "", {3, 5}, [](const tensor& x) { return kg::moments(x, 0).variance; }},
    {"variance", "", {3, 5}, [](const tensor& x) { return kg::variance(x); }},
    {"variance", "of a sample", {3, 5}, [](const tensor& x) { return kg::variance(x, 1, false, 1); }},
    {"standard_deviation", "", {3, 5}, [](const tensor& x) { return kg::standard_deviation(x, 1); }},
    {"standard_deviation", "of a sample", {15}, [](const tensor& x) { return kg::standard_deviation(x, 0, false, 1); }},
    {"norm", "", {3, 5}, [](const tensor& x) { return kg::norm(x, 2, 1); }},
    {"norm", "of order 1", {3, 5}, [](const tensor& x) { return kg::norm(x, 1, 0); }, true},
    {"norm", "of order infinity", {3, 5}, [](const tensor& x) { return kg::norm(x, inf, {0, 1}); }, true},
    {"norm", "of Frobenius", {3, 5}, [](const tensor& x) { return kg::norm(x, "fro", {0, 1}); }},
    {"euclidean_norm", "", {3, 5}, [](const tensor& x) { return kg::euclidean_norm(x); }},
    {"layer_norm", "", {3, 5}, [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"layer_norm", "of long rows", {2, 150}, [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"rms_norm", "", {3, 5}, [](const tensor& x) { return kg::rms_norm(x, {.epsilon = 0}); }},
    {"group_norm", "", {2, 3, 4}, [](const tensor& x) { return kg::group_norm(x, 2, {.epsilon = 0}); }},
    {"instance_norm", "", {2, 5, 2}, [](const tensor& x) { return kg::instance_norm(x, {.epsilon = 0}); }},
    {"batch_norm_training.result", "", {7, 2}, plain_batch_norm},
    {"batch_norm_training.mean", "", {7, 2}, [](const tensor& x) { return kg::batch_norm_training(x).mean; }},
    {"batch_norm_training.variance", "", {7, 2}, [](const tensor& x) { return kg::batch_norm_training(x).variance; }},
    {"local_response_normalization", "", {1, 4, 5}, response_norm},
    {"gram_schmidt", "", {3, 5}, [](const tensor& x) { return kg::gram_schmidt(x); }},
    {"qr.q", "", {2, 4, 3}, [](const tensor& x) { return kg::qr(x).q; }},
    {"qr.r", "", {2, 4, 3}, [](const tensor& x) { return kg::qr(x).r; }},
    {"absolute_difference", "", {3, 5}, [](const tensor& x) { return kg::absolute_difference(x, kg::zeros_like(x)); }},
    {"nanmean", "", {3, 5}, [](const tensor& x) { return kg::nanmean(with_nan(x), 1); }},
    {"nanmax", "", {3, 5}, [](const tensor& x) { return kg::nanmax(with_nan(x), 1); }, true},
    {"nanmin", "", {3, 5}, [](const tensor& x) { return kg::nanmin(with_nan(x), 0); }, true},
    {"nanvar", "", {3, 5}, [](const tensor& x) { return kg::nanvar(with_nan(x), 1); }},
    {"nanvar", "of a sample", {3, 5}, [](const tensor& x) { return kg::nanvar(with_nan(x), 0, false, 1); }},
    {"nanstd", "", {3, 5}, [](const tensor& x) { return kg::nanstd(with_nan(x), 1); }},
    {"var", "", {3, 5}, [](const tensor& x) { return kg::var(x, 1); }},
    {"std", "", {3, 5}, [](const tensor& x) { return kg::std(x, 1); }},
    {"cov", "", {3, 5}, [](const tensor& x) { return kg::cov(x); }},
    {"cov", "with weights", {3, 5}, [](const tensor& x) { return kg::cov(x, {.aweights = tensor({1, 2, 1, 3, 1})}); }},
    {"corrcoef", "", {3, 5}, [](const tensor& x) { return kg::corrcoef(x); }},
    {"median", "", {3, 5}, [](const tensor& x) { return kg::median(x, 1); }},
    {"mean_squared_error", "", {3, 5}, [](const tensor& x) { return kg::mean_squared_error(x, kg::zeros_like(x)); }},
};

// Exponents of the least normal and the largest number, and the digits.
struct range {
  int least, most;
  double epsilon;
};
range range_of(dtype type) {
  switch (type) {
    case dtype::float16: return {-14, 15, 0x1p-10};
    case dtype::bfloat16: return {-126, 127, 0x1p-7};
    case dtype::float32: return {-126, 127, 0x1p-23};
    default: return {-1022, 1023, 0x1p-52};
  }
}

doubles values_of(const tensor& x) { return kg::cast(x, dtype::float64).to_doubles(); }

tensor gradient_of(const homogeneous& of, const tensor& x) {
  return kg::grad([&](const tensor& v) {
    const tensor y = of.f(v);
    return kg::sum(y * kg::cast(weights(y.dims()), y.type()));
  })(x);
}

// True if values at power 0 are in range at another one, zeros aside.
bool fits(const doubles& values, int power, const range& within) {
  return std::ranges::all_of(values, [&](double v) {
    if (v == 0) return true;
    const int exponent = std::ilogb(v) + power;
    return exponent >= within.least && exponent < within.most;
  });
}

double largest(const doubles& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

// Errors are relative to the largest result: some cancel.
void expect_scaled(const doubles& got, const doubles& base, int power, double within) {
  ASSERT_EQ(got.size(), base.size());
  const double error = std::ldexp(largest(base), power) * within;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = std::ldexp(base[i], power);
    if (got[i] != want) ASSERT_LE(std::fabs(got[i] - want), error) << "element " << i << ": " << got[i] << ", " << want;
  }
}

void check(const homogeneous& of, dtype type, int step) {
  const range within = range_of(type);
  const int degree = declared_degrees().at(of.name);
  const tensor at_1 = kg::cast(numbers(of.dims), type);
  const doubles operands = values_of(at_1), values = values_of(of.f(at_1)), slopes = values_of(gradient_of(of, at_1));
  int checked = 0;
  // The numbers are below 2^4.
  for (int k = within.least; k <= within.most - 3; k += step) {
    SCOPED_TRACE(of.name + (" " + std::string(of.form)) + " of " + std::string(name_of(type)) + " at 2^" +
                 std::to_string(k));
    const tensor x = kg::cast(numbers(of.dims) * std::ldexp(1.0, k), type);
    // Values that round to 0 at power 0 are results of cancellation.
    if (fits({largest(values)}, degree * k, within)) {
      ASSERT_NO_FATAL_FAILURE(
          expect_scaled(values_of(of.f(x)), values, degree * k, of.bitwise ? 0 : 8 * within.epsilon));
      ++checked;
    }
    // Gradients of qr multiply numbers by gradients on the way: its docstring says so.
    if (k <= within.most - 12 && fits({largest(slopes)}, (degree - 1) * k, within))
      ASSERT_NO_FATAL_FAILURE(
          expect_scaled(values_of(gradient_of(of, x)), slopes, (degree - 1) * k, 16 * within.epsilon))
          << "of the gradient";
  }
  EXPECT_GT(checked, 0) << of.name;
}

void check_all(dtype type, int step) {
  for (const homogeneous& of : functions) ASSERT_NO_FATAL_FAILURE(check(of, type, kgtest::full() ? 1 : step));
}

TEST(homogeneous, functions_are_those_whose_docstrings_declare_a_degree) {
  std::set<std::string> declared, tested;
  for (const auto& [name, degree] : declared_degrees()) declared.insert(name);
  for (const homogeneous& of : functions) tested.insert(of.name);
  EXPECT_EQ(tested, declared);
}

TEST(homogeneous, functions_scale_with_their_operands_in_float32) { check_all(dtype::float32, 3); }
TEST(homogeneous, functions_scale_with_their_operands_in_float64) { check_all(dtype::float64, 29); }
TEST(homogeneous, functions_scale_with_their_operands_in_float16) { check_all(dtype::float16, 1); }
TEST(homogeneous, functions_scale_with_their_operands_in_bfloat16) { check_all(dtype::bfloat16, 11); }

// ------------------------------------------------------------------------------------------ shifts

struct shifted {
  const char* name;
  std::function<tensor(const tensor&)> f;
  bool moves = false;  // by the shift; else the result stays
};

const shifted invariant[] = {
    {"softmax", [](const tensor& x) { return kg::softmax(x); }},
    {"log_softmax", [](const tensor& x) { return kg::log_softmax(x); }},
    {"log_sum_exp", [](const tensor& x) { return kg::logsumexp(x, -1); }, true},
    {"variance", [](const tensor& x) { return kg::variance(x, 1); }},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x, 1); }},
    {"layer_norm", [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"group_norm", [](const tensor& x) { return kg::group_norm(kg::reshape(x, {3, 5, 1}), 1, {.epsilon = 0}); }},
    {"batch_norm_training", [](const tensor& x) { return kg::batch_norm_training(x, {.epsilon = 0}).result; }},
};

void check_shifts(const shifted& of, dtype type, double epsilon) {
  const tensor x = kg::cast(numbers({3, 5}), type);
  const doubles wanted = values_of(of.f(x)), slopes = values_of(kg::grad([&](const tensor& v) {
                                               const tensor y = of.f(v);
                                               return kg::sum(y * kg::cast(weights(y.dims()), type));
                                             })(x));
  // Sums with the numbers, which have four bits, are exact.
  for (double shift = 1; shift * epsilon <= 0x1p-1; shift *= 2) {
    SCOPED_TRACE(std::string(of.name) + " of " + std::string(name_of(type)) + ", moved by " + std::to_string(shift));
    const tensor moved = x + shift;
    doubles got = values_of(of.f(moved));
    const double error = (largest(wanted) + (of.moves ? shift : 0)) * 64 * epsilon;
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], wanted[i] + (of.moves ? shift : 0), error) << "element " << i;
    got = values_of(kg::grad([&](const tensor& v) {
      const tensor y = of.f(v);
      return kg::sum(y * kg::cast(weights(y.dims()), type));
    })(moved));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], slopes[i], largest(slopes) * 128 * epsilon) << "slope of element " << i;
  }
}

TEST(shift_invariant, functions_do_not_depend_on_what_all_elements_have_in_common) {
  for (const shifted& of : invariant) {
    check_shifts(of, dtype::float32, 0x1p-23);
    check_shifts(of, dtype::float64, 0x1p-52);
  }
}

}  // namespace
