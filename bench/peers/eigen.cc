// SPDX-License-Identifier: Apache-2.0
// Eigen 3.4: expressions over maps of ready arrays; rows are taken one by one where that is its fastest way.
#include <Eigen/Dense>
#include <cmath>
#include <unsupported/Eigen/CXX11/Tensor>
#include <unsupported/Eigen/SpecialFunctions>

#include "bench/peers/case.h"

namespace {

using array = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
using row = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>, Eigen::Aligned64>;
using rows = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;
using matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;
using grid = Eigen::TensorMap<Eigen::Tensor<float, 2, Eigen::RowMajor>, Eigen::Aligned>;

Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

void add_small() {
  for (std::size_t n : cases::small_sizes) {
    cases::add("add_into", n, [n] {
      return [n, a = cases::floats(0, 64), b = cases::floats(1, 64), y = cases::result(64)]() mutable {
        benchmark::DoNotOptimize(n);
        using unaligned = Eigen::Map<Eigen::ArrayXf>;
        unaligned(y, index(n)) = unaligned(a, index(n)) + unaligned(b, index(n));
      };
    });
    cases::add("add_fresh", n, [n] {
      return [a = Eigen::ArrayXf(array(cases::floats(0, 64), index(n))),
              b = Eigen::ArrayXf(array(cases::floats(1, 64), index(n)))] {
        Eigen::ArrayXf y = a + b;
        benchmark::DoNotOptimize(y.data());
      };
    });
  }
}

// f(a, b, c, y) on arrays of every size.
template <class F>
void elementwise(const char* name, F f, bool positive = false) {
  for (std::size_t n : cases::element_sizes)
    cases::add(name, n, [=] {
      return [=, x = positive ? cases::positive(n) : cases::floats(0, n), b = cases::floats(1, n),
              c = cases::floats(2, n), y = cases::result(n)] {
        array result(y, index(n));
        f(array(x, index(n)), array(b, index(n)), array(c, index(n)), result);
      };
    });
}

void add_elementwise() {
  elementwise("add", [](const auto& a, const auto& b, const auto&, auto& y) { y = a + b; });
  elementwise("mul", [](const auto& a, const auto& b, const auto&, auto& y) { y = a * b; });
  elementwise("relu", [](const auto& a, const auto&, const auto&, auto& y) { y = a.max(0.f); });
  elementwise("exp", [](const auto& a, const auto&, const auto&, auto& y) { y = a.exp(); });
  elementwise("log", [](const auto& a, const auto&, const auto&, auto& y) { y = a.log(); }, true);
  elementwise("sigmoid", [](const auto& a, const auto&, const auto&, auto& y) { y = a.logistic(); });
  elementwise("tanh", [](const auto& a, const auto&, const auto&, auto& y) { y = a.tanh(); });
  elementwise("erf", [](const auto& a, const auto&, const auto&, auto& y) { y = a.erf(); });
  elementwise("gelu4", [](const auto& x, const auto& b, const auto& c, auto& y) { y = x * x.logistic() * b + c; });
  elementwise("sum", [](const auto& a, const auto&, const auto&, auto&) { benchmark::DoNotOptimize(a.sum()); });
  elementwise("max", [](const auto& a, const auto&, const auto&, auto&) { benchmark::DoNotOptimize(a.maxCoeff()); });
}

// f(i, x, y) for each row of a matrix.
template <class F>
void by_row(const char* name, cases::matrix_size s, F f) {
  cases::add(name, s, [=] {
    const std::size_t n = s.rows * s.columns;
    return [=, a = cases::floats(0, n), b = cases::result(n)] {
      const rows in(a, index(s.rows), index(s.columns));
      rows out(b, index(s.rows), index(s.columns));
      for (Eigen::Index i = 0; i < in.rows(); ++i) f(i, in.row(i), out.row(i));
    };
  });
}

void add_rows() {
  constexpr cases::matrix_size square{cases::side, cases::side};
  static float* const per_row = cases::floats(3, cases::side);
  static float* const weight = cases::floats(1, cases::side);
  static float* const bias = cases::floats(2, cases::side);
  for (cases::matrix_size s : cases::row_sizes) {
    by_row("softmax", s, [](auto, const auto& x, auto&& y) {
      y = (x - x.maxCoeff()).exp();
      y *= 1.f / y.sum();
    });
    by_row("logsumexp", s, [](Eigen::Index i, const auto& x, auto&&) {
      const float most = x.maxCoeff();
      per_row[i] = most + std::log((x - most).exp().sum());
    });
    by_row("argmax", s, [](Eigen::Index i, const auto& x, auto&&) {
      Eigen::Index at;
      x.maxCoeff(&at);
      per_row[i] = static_cast<float>(at);
    });
  }
  by_row("sum_last", square, [](Eigen::Index i, const auto& x, auto&&) { per_row[i] = x.sum(); });
  by_row("layernorm", square, [](auto, const auto& x, auto&& y) {
    const float mean = x.mean(), scale = 1.f / std::sqrt((x - mean).square().mean() + 1e-5f);
    const row w(weight, index(cases::side)), b(bias, index(cases::side));
    y = (x - mean) * scale * w + b;
  });
}

// f(x, y) on whole matrices.
template <class Map, class F>
void whole(const char* name, cases::matrix_size s, const std::string& size, F f) {
  cases::add(name, size, [=] {
    const std::size_t n = s.rows * s.columns;
    return [=, a = cases::floats(0, n), b = cases::result(n)] {
      Map x(a, index(s.rows), index(s.columns)), y(b, index(s.rows), index(s.columns));
      f(x, y);
    };
  });
}

void add_matrices() {
  constexpr cases::matrix_size square{cases::side, cases::side};
  const std::string size = cases::size_of(square);
  whole<rows>("sum_first", square, size, [](const auto& x, auto& y) { y.row(0) = x.colwise().sum(); });
  whole<matrix>("transpose", square, size, [](const auto& x, auto& y) { y = x.transpose(); });
  whole<grid>("cumsum", square, size, [](const auto& x, auto& y) { y = x.cumsum(1); });
  whole<rows>("bcast_add", square, size,
              [](const auto& x, auto& y) { y = x.rowwise() + row(cases::floats(1, cases::side), index(cases::side)); });
  whole<rows>("batchnorm", {cases::image / 64, 64}, "1x56x56x64", [](const auto& x, auto& y) {
    y = (x.rowwise() * row(cases::floats(1, 64), 64)).rowwise() + row(cases::floats(2, 64), 64);
  });
  for (cases::product_size s : cases::products)
    cases::add("matmul", s, [s] {
      return [s, a = cases::floats(0, s.m * s.k), b = cases::floats(1, s.k * s.n), c = cases::result(s.m * s.n)] {
        matrix(c, index(s.m), index(s.n)).noalias() =
            matrix(a, index(s.m), index(s.k)) * matrix(b, index(s.k), index(s.n));
      };
    });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add_small();
    add_elementwise();
    add_rows();
    add_matrices();
  });
}
