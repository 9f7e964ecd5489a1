// SPDX-License-Identifier: Apache-2.0
// Functions that are not homogeneous, and those whose groups differ in size, at numbers of every size: against their
// definitions in long double, whose range holds the squares of all doubles. Gradients are compared with differences of
// the definitions.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;
using kgtest::expect_values;
using kgtest::uniform;
using wide = long double;
using wides = std::vector<wide>;

static_assert(std::numeric_limits<wide>::max_exponent > 2 * std::numeric_limits<double>::max_exponent,
              "squares of doubles leave the range of long double");

// Steps of differences are parts of a row's deviation or of its root mean square. There are none of functions with
// kinks, and of those that add the rows up or a constant to them.
enum class steps : std::uint8_t { of_deviation, of_size, none };

struct defined_function {
  const char* name;
  std::function<tensor(const tensor&)> f;         // of a matrix of 2 rows
  std::function<wides(const wides&, int)> value;  // of its elements and the length of a row
  steps differences = steps::of_deviation;
};

// ------------------------------------------------------------------------------------------ definitions

wide mean_of(const wides& x) {
  wide sum = 0;
  for (const wide v : x) sum += v;
  return sum / static_cast<wide>(x.size());
}
// Applied to the distances from `middle`.
wide mean_square(const wides& x, wide middle) {
  wide sum = 0;
  for (const wide v : x) sum += (v - middle) * (v - middle);
  return sum / static_cast<wide>(x.size());
}
wide variance_of(const wides& x) { return mean_square(x, mean_of(x)); }
wides standardized(const wides& x, wide epsilon) {
  const wide mean = mean_of(x), deviation = std::sqrt(variance_of(x) + epsilon);
  wides y;
  for (const wide v : x) y.push_back((v - mean) / deviation);
  return y;
}
wides over_root_mean_square(const wides& x, wide epsilon) {
  const wide root = std::sqrt(mean_square(x, 0) + epsilon);
  wides y;
  for (const wide v : x) y.push_back(v / root);
  return y;
}

// The results of `of` for each row, one after the other.
template <class F>
wides by_rows(const wides& x, int length, F of) {
  wides all;
  for (auto at = x.begin(); at != x.end(); at += length) {
    const wides y = of(wides(at, at + length));
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}
template <class F>
std::function<wides(const wides&, int)> rows_by(F of) {
  return [of](const wides& x, int length) { return by_rows(x, length, of); };
}
template <class F>
std::function<wides(const wides&, int)> mean_by(F loss) {
  return [loss](const wides& x, int) {
    wides all;
    for (const wide v : x) all.push_back(loss(v));
    return wides{mean_of(all)};
  };
}

constexpr double small_epsilon = 1e-12, usual_epsilon = 1e-3;

tensor transposed(const tensor& y) { return kg::transpose(y); }
tensor zeros_of(const tensor& x) { return kg::zeros_like(x); }

wide huber(wide e) { return std::fabs(e) <= 1 ? e * e / 2 : std::fabs(e) - 0.5L; }

const defined_function functions[] = {
    {"mean", [](const tensor& x) { return kg::mean(x, 1); }, rows_by([](const wides& x) { return wides{mean_of(x)}; })},
    {"variance", [](const tensor& x) { return kg::variance(x, 1); },
     rows_by([](const wides& x) { return wides{variance_of(x)}; })},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x, 1); },
     rows_by([](const wides& x) { return wides{std::sqrt(variance_of(x))}; })},
    {"norm", [](const tensor& x) { return kg::norm(x, 2, 1); },
     rows_by([](const wides& x) { return wides{std::sqrt(mean_square(x, 0) * static_cast<wide>(x.size()))}; }),
     steps::of_size},
    {"layer_norm", [](const tensor& x) { return kg::layer_norm(x); },
     rows_by([](const wides& x) { return standardized(x, usual_epsilon); })},
    {"layer_norm with a small epsilon", [](const tensor& x) { return kg::layer_norm(x, {.epsilon = small_epsilon}); },
     rows_by([](const wides& x) { return standardized(x, small_epsilon); })},
    {"rms_norm", [](const tensor& x) { return kg::rms_norm(x, {.epsilon = small_epsilon}); },
     rows_by([](const wides& x) { return over_root_mean_square(x, small_epsilon); }), steps::of_size},
    {"group_norm", [](const tensor& x) { return kg::group_norm(kg::expand_dims(x, -1), 1); },
     rows_by([](const wides& x) { return standardized(x, usual_epsilon); })},
    {"instance_norm",
     [](const tensor& x) { return kg::instance_norm(kg::expand_dims(x, -1), {.epsilon = small_epsilon}); },
     rows_by([](const wides& x) { return standardized(x, small_epsilon); })},
    {"batch_norm_training", [](const tensor& x) { return transposed(kg::batch_norm_training(transposed(x)).result); },
     rows_by([](const wides& x) { return standardized(x, usual_epsilon); })},
    {"absolute_difference", [](const tensor& x) { return kg::absolute_difference(x, zeros_of(x)); },
     mean_by([](wide e) { return std::fabs(e); }), steps::none},
    {"mean_squared_error", [](const tensor& x) { return kg::mean_squared_error(zeros_of(x), x); },
     mean_by([](wide e) { return e * e; }), steps::none},
    {"huber_loss", [](const tensor& x) { return kg::huber_loss(zeros_of(x), x); }, mean_by(huber), steps::none},
    {"hinge_loss", [](const tensor& x) { return kg::hinge_loss(zeros_of(x), x); },
     mean_by([](wide p) { return std::max(1 + p, 0.0L); }), steps::none},
    {"sigmoid_cross_entropy", [](const tensor& x) { return kg::sigmoid_cross_entropy(zeros_of(x), x); },
     mean_by([](wide x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }), steps::none},
    {"cosine_distance",
     [](const tensor& x) {
       return kg::cosine_distance(kg::ones_like(x), x, 1, {.reduction = kg::loss_reduction::none});
     },
     rows_by([](const wides& x) { return wides{1 - mean_of(x) * static_cast<wide>(x.size())}; }), steps::none},
};

// ------------------------------------------------------------------------------------------ numbers

// The rows of a matrix; numbers are multiples of the largest power of two of the dtype, or of the least normal one.
struct sizes {
  const char* name;
  doubles (*of)(double most, double least);
};
const sizes matrices[] = {
    {"ordinary", [](double, double) { return doubles{1, 2, 4, -3, 0.5, -7, 2.25, 6}; }},
    {"large",
     [](double most, double) {
       return doubles{most / 4, -most / 2, most / 8, most, -most / 16, most / 2, most / 4, most / 32};
     }},
    {"all of the largest kind",
     [](double most, double) { return doubles{most, most, 1.5 * most, most, -most, most, -most, most / 2}; }},
    {"roots of the range",
     [](double most, double) {
       const double root = std::sqrt(most);
       return doubles{root, 1.5 * root, -root, 1.25 * root, root / 8, root / 2, -root / 2, root / 4};
     }},
    {"small",
     [](double, double least) {
       return doubles{least, 3 * least, -2 * least, 8 * least, 4 * least, -least, 16 * least, 2 * least};
     }},
    {"roots of the least",
     [](double, double least) {
       const double root = std::sqrt(least);
       return doubles{root, 1.5 * root, -root, 1.25 * root, root / 8, root / 2, -root / 2, root / 4};
     }},
    {"a large row beside a small one",
     [](double most, double least) {
       return doubles{most, most / 2, -most / 4, most / 8, least, 2 * least, -4 * least, 3 * least};
     }},
    {"a large row beside an ordinary one",
     [](double most, double) { return doubles{most, most / 2, -most / 4, most / 8, 1, 2, -4, 3}; }},
    {"one large number", [](double most, double) { return doubles{most / 2, 1, 3, -2, 1, 2, most / 4, 7}; }},
    {"far from 0",
     [](double, double) { return doubles{16777216, 16777218, 16777216, 16777222, -4097, -4098, -4096, -4100}; }},
    {"one small number", [](double, double least) { return doubles{least, 1, 3, -2, 1, 2, 5, least}; }},
};

struct range {
  dtype type;
  double most, least, epsilon;
};
const range ranges_of[] = {{dtype::float32, 0x1p126, 0x1p-126, 0x1p-23},
                           {dtype::float64, 0x1p1022, 0x1p-1022, 0x1p-52}};

wides widened(const doubles& x) { return {x.begin(), x.end()}; }

void expect_near(const doubles& got, const wides& wanted, wide within, const range& of, wide floor) {
  ASSERT_EQ(got.size(), wanted.size());
  const wide most = std::ldexp(2 - static_cast<wide>(of.epsilon), std::ilogb(of.most) + 1);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::fabs(wanted[i]) > most) EXPECT_EQ(got[i], std::copysign(HUGE_VAL, static_cast<double>(wanted[i])));
    else
      EXPECT_LE(std::fabs(got[i] - wanted[i]), within + floor)
          << "element " << i << ": " << got[i] << ", " << wanted[i];
  }
}

// The largest magnitude in [begin, end) that is in range.
wide largest(const wides& x, std::size_t begin, std::size_t end, double most) {
  wide value = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (std::fabs(x[i]) < 4 * static_cast<wide>(most)) value = std::max(value, std::fabs(x[i]));
  return value;
}

// Errors are some units of the largest result of a row.
void expect_rows(const doubles& got, const wides& wanted, int units, const range& of) {
  ASSERT_EQ(got.size(), wanted.size());
  const std::size_t rows = wanted.size() % 2 == 0 ? 2 : 1, length = wanted.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t begin = row * length, end = begin + length;
    const wide error = largest(wanted, begin, end, of.most) * units * static_cast<wide>(of.epsilon);
    expect_near(
        doubles(got.begin() + static_cast<std::ptrdiff_t>(begin), got.begin() + static_cast<std::ptrdiff_t>(end)),
        wides(wanted.begin() + static_cast<std::ptrdiff_t>(begin), wanted.begin() + static_cast<std::ptrdiff_t>(end)),
        error, of, static_cast<wide>(of.least * of.epsilon));
  }
}

wide weight(std::size_t i) { return static_cast<wide>(i * 5 % 7) - 2; }

// Central differences of the definition.
wides differences(const defined_function& of, const wides& x, int length) {
  wides slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(i) / length * length;
    const wides row(first, first + length);
    const wide size = of.differences == steps::of_size ? mean_square(row, 0) : variance_of(row);
    const wide step = std::ldexp(1.0L, std::ilogb(std::sqrt(size)) - 22);
    wides up = x, down = x;
    up[i] += step, down[i] -= step;
    const wides above = of.value(up, length), below = of.value(down, length);
    wide slope = 0;  // other rows do not change
    for (std::size_t k = 0; k < above.size(); ++k) slope += weight(k) * ((above[k] - below[k]) / (2 * step));
    slopes.push_back(slope);
  }
  return slopes;
}

tensor weighted(const tensor& y) {
  doubles weights;
  for (std::size_t i = 0; i < static_cast<std::size_t>(y.size()); ++i)
    weights.push_back(static_cast<double>(weight(i)));
  return kg::sum(y * kg::cast(tensor(weights, y.dims()), y.type()));
}

TEST(extreme_numbers, give_what_the_definitions_give) {
  for (const range& of : ranges_of)
    for (const sizes& matrix : matrices)
      for (const defined_function& function : functions) {
        SCOPED_TRACE(std::string(function.name) + " of " + std::string(name_of(of.type)) + ", " + matrix.name);
        const tensor x = kg::cast(tensor(matrix.of(of.most, of.least), {2, 4}), of.type);
        const doubles elements = kg::cast(x, dtype::float64).to_doubles();
        expect_rows(kg::cast(function.f(x), dtype::float64).to_doubles(), function.value(widened(elements), 4), 8, of);
      }
}

TEST(extreme_numbers, have_the_gradients_of_the_definitions) {
  for (const range& of : ranges_of)
    for (const sizes& matrix : matrices)
      for (const defined_function& function : functions) {
        if (function.differences == steps::none) continue;
        SCOPED_TRACE(std::string(function.name) + " of " + std::string(name_of(of.type)) + ", " + matrix.name);
        const tensor x = kg::cast(tensor(matrix.of(of.most, of.least), {2, 4}), of.type);
        const doubles elements = kg::cast(x, dtype::float64).to_doubles();
        const tensor dx = kg::grad([&](const tensor& v) { return weighted(function.f(v)); })(x);
        // Differences are exact to about 2^-40.
        expect_rows(kg::cast(dx, dtype::float64).to_doubles(), differences(function, widened(elements), 4),
                    of.type == dtype::float32 ? 64 : 1 << 14, of);
      }
}

// The square of 2e19 leaves the range of float32, half of it does not.
TEST(extreme_numbers, have_huber_losses_in_range) {
  const tensor x({2e19f});
  EXPECT_NEAR(kg::huber_loss(x, kg::zeros_like(x), {.delta = 1e20}).item() / 2e38, 1, 1e-6);
}

// A mean of large numbers is in range where their sum is not.
TEST(extreme_numbers, reduce_to_weighted_losses_in_range) {
  const float most = 3e38f;
  const tensor losses({most, most, -most, most}), weights({1e30f, 2e30f, 3e30f, 2e30f});
  const auto reduced = [&](kg::loss_reduction how) {
    return kg::compute_weighted_loss(losses, {.weights = weights * 1e-30f, .reduction = how}).item();
  };
  EXPECT_NEAR(reduced(kg::loss_reduction::mean) / most, 0.25, 1e-6);
  EXPECT_NEAR(reduced(kg::loss_reduction::sum_by_nonzero_weights) / most, 0.5, 1e-6);
  EXPECT_EQ(reduced(kg::loss_reduction::sum), HUGE_VAL);
  EXPECT_NEAR(
      kg::compute_weighted_loss(losses, {.weights = weights, .reduction = kg::loss_reduction::mean}).item() / most,
      0.25, 1e-6);
  EXPECT_EQ(kg::compute_weighted_loss(losses, {.weights = weights}).item(), HUGE_VAL);
  const tensor few({0.f, 1e-30f, 0.f, 1e-30f});
  EXPECT_NEAR(kg::compute_weighted_loss(losses * few, {.reduction = kg::loss_reduction::sum}).item(), 6e8, 1e3);
}

TEST(extreme_numbers, of_integers_and_complex_numbers_have_norms_and_deviations) {
  EXPECT_NEAR(kg::norm(tensor({std::int64_t{4} << 60, std::int64_t{3} << 60})).item() / 0x1p60, 5, 1e-6);
  const tensor z = kg::complex(tensor({3e30f, -3e30f}), tensor({4e30f, -4e30f}));
  EXPECT_NEAR(kg::norm(z).item() / 1e30, 5 * std::sqrt(2), 1e-5);
  EXPECT_NEAR(kg::standard_deviation(z).item() / 1e30, 5, 1e-5);
  EXPECT_NEAR(kg::standard_deviation(kg::complex(tensor({3e-30f, -3e-30f}), tensor({4e-30f, -4e-30f}))).item() / 1e-30,
              5, 1e-5);
}

TEST(extreme_numbers, variance_of_neighbours_whose_mean_is_no_float_is_exact) {
  const tensor x({16777216.f, 16777218.f});
  EXPECT_EQ(kg::variance(x).item(), 1);
  EXPECT_EQ(kg::variance(x, 0, false, 1).item(), 2);
  EXPECT_EQ(kg::standard_deviation(x).item(), 1);
  EXPECT_EQ(kg::moments(x).variance.item(), 1);
  EXPECT_EQ(kg::layer_norm(x, {.epsilon = 0}).to_doubles(), (doubles{-1, 1}));
  EXPECT_EQ(kg::batch_norm_training(kg::expand_dims(x, 1), {.epsilon = 0}).result.to_doubles(), (doubles{-1, 1}));
}

TEST(extreme_numbers, leave_NaN_and_infinity_what_they_are) {
  const double nan = std::nan("");
  const tensor x{{1e300, nan}, {HUGE_VAL, 1.0}, {3e200, 4e200}, {0.0, 0.0}};
  expect_values(kg::norm(x, 2, 1) * 1e-200, {4}, {nan, HUGE_VAL, 5, 0}, 1e-12);
  expect_values(kg::standard_deviation(x, 1) * 1e-200, {4}, {nan, nan, 0.5, 0}, 1e-12);
  expect_values(kg::mean(tensor{{1e308, 1e308}, {HUGE_VAL, 1e308}, {HUGE_VAL, -HUGE_VAL}}, 1), {3},
                {1e308, HUGE_VAL, nan}, 0);
}

// ------------------------------------------------------------------------------------------ bases

double furthest(const tensor& a, const tensor& b) { return kg::max(kg::abs(a - b)).item(); }

TEST(extreme_numbers, have_orthonormal_bases) {
  for (const range& of : ranges_of)
    for (const double size : {of.least, of.least * 0x1p20, 1 / std::sqrt(of.most), std::sqrt(of.most), of.most / 8}) {
      SCOPED_TRACE(std::string(name_of(of.type)) + ", " + std::to_string(std::ilogb(size)));
      const tensor base = kg::cast(uniform({5, 3}, 1), of.type), x = base * size;
      const auto [q, r] = kg::qr(x);
      const tensor one = kg::eye(3, {}, 0, of.type);
      EXPECT_LT(furthest(kg::matmul(q, q, true), one), 16 * of.epsilon);
      EXPECT_LT(furthest(kg::matmul(q, r / size), x / size), 16 * of.epsilon);
      const tensor y = kg::gram_schmidt(kg::transpose(x));
      EXPECT_LT(furthest(kg::matmul(y, y, false, true), one), 64 * of.epsilon);
    }
}

TEST(extreme_numbers, in_some_columns_have_orthonormal_bases) {
  for (const range& of : ranges_of) {
    const tensor sizes = kg::cast(tensor({of.most / 8, 1.0, of.least * 0x1p20}), of.type);
    const tensor base = kg::cast(uniform({5, 3}, 1), of.type), x = base * sizes;
    const auto [q, r] = kg::qr(x);
    const tensor one = kg::eye(3, {}, 0, of.type);
    EXPECT_LT(furthest(kg::matmul(q, q, true), one), 16 * of.epsilon);
    const tensor y = kg::gram_schmidt(kg::transpose(x));
    EXPECT_LT(furthest(kg::matmul(y, y, false, true), one), 64 * of.epsilon);
  }
}

}  // namespace
