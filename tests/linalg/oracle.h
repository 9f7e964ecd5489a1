// SPDX-License-Identifier: Apache-2.0
// Linear algebra from the definitions, in long double and without LAPACK.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

import kerngrad;

namespace kgtest::oracle {

using wide = long double;

/// A matrix by rows.
struct dense {
  std::size_t rows = 0, columns = 0;
  std::vector<wide> at;
  wide& operator()(std::size_t i, std::size_t j) { return at[i * columns + j]; }
  wide operator()(std::size_t i, std::size_t j) const { return at[i * columns + j]; }
};

inline dense from(const kg::tensor& x) {
  dense m{static_cast<std::size_t>(x.dims()[0]), static_cast<std::size_t>(x.dims()[1]), {}};
  for (double each : x.to_doubles()) m.at.push_back(each);
  return m;
}

/// The determinant by expansion along the first row.
inline wide determinant(const dense& m) {
  if (m.rows == 0) return 1;
  wide sum = 0;
  for (std::size_t j = 0; j < m.columns; ++j) {
    dense minor{m.rows - 1, m.columns - 1, {}};
    for (std::size_t r = 1; r < m.rows; ++r)
      for (std::size_t c = 0; c < m.columns; ++c)
        if (c != j) minor.at.push_back(m(r, c));
    sum += (j % 2 ? -1 : 1) * m(0, j) * determinant(minor);
  }
  return sum;
}

/// The solution of m x = b by Gauss-Jordan elimination with pivots from the whole matrix.
inline dense solution(dense m, dense b) {
  const std::size_t n = m.rows;
  std::vector<std::size_t> place(n);
  for (std::size_t i = 0; i < n; ++i) place[i] = i;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k, column = k;
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < n; ++j)
        if (std::fabs(m(i, j)) > std::fabs(m(row, column))) row = i, column = j;
    for (std::size_t j = 0; j < n; ++j) std::swap(m(k, j), m(row, j));
    for (std::size_t j = 0; j < b.columns; ++j) std::swap(b(k, j), b(row, j));
    for (std::size_t i = 0; i < n; ++i) std::swap(m(i, k), m(i, column));
    std::swap(place[k], place[column]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const wide factor = m(i, k) / m(k, k);
      for (std::size_t j = k; j < n; ++j) m(i, j) -= factor * m(k, j);
      for (std::size_t j = 0; j < b.columns; ++j) b(i, j) -= factor * b(k, j);
    }
  }
  dense x = b;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < b.columns; ++j) x(place[i], j) = b(i, j) / m(i, i);
  return x;
}

/// The inverse, column by column.
inline dense inverse(const dense& m) {
  dense unit{m.rows, m.rows, std::vector<wide>(m.rows * m.rows)};
  for (std::size_t i = 0; i < m.rows; ++i) unit(i, i) = 1;
  return solution(m, unit);
}

/// The sum of the absolute elements of the row that has most of it.
inline double norm(const dense& m) {
  wide most = 0;
  for (std::size_t i = 0; i < m.rows; ++i) {
    wide sum = 0;
    for (std::size_t j = 0; j < m.columns; ++j) sum += std::fabs(m(i, j));
    most = std::max(most, sum);
  }
  return static_cast<double>(most);
}
/// How much errors of the elements grow in an inverse.
inline double condition(const kg::tensor& x) { return norm(from(x)) * norm(inverse(from(x))); }

}  // namespace kgtest::oracle
