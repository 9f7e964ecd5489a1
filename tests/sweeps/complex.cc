// SPDX-License-Identifier: Apache-2.0
// Random complex numbers, against std::complex of long double.
#include <algorithm>
#include <complex>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;
using z = std::complex<long double>;
using zs = std::vector<z>;

struct drawn {
  shape dims;
  zs values;
  tensor x;
};
drawn draw(dice& d, const shape& dims, dtype type = dtype::complex64) {
  const doubles pairs = d.values(2 * dims.size(), -2, 2);
  drawn all{dims, {}, kg::testkit::from_doubles(pairs, dims, type)};
  const doubles kept = kg::testkit::doubles_of(all.x);  // as the dtype has them
  for (std::size_t i = 0; i < kept.size(); i += 2) all.values.emplace_back(kept[i], kept[i + 1]);
  return all;
}

// As far apart as float32 rounds the parts of numbers of their size.
void expect_numbers(const tensor& got, const shape& dims, const zs& wanted, long double within = 2e-6L) {
  ASSERT_EQ(got.dims(), dims);
  const doubles parts = kg::testkit::doubles_of(got);
  ASSERT_EQ(parts.size(), 2 * wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const z found{parts[2 * i], parts[2 * i + 1]};
    ASSERT_LE(std::abs(found - wanted[i]), within * std::max(1.0L, std::abs(wanted[i]))) << i;
  }
}
void expect_parts(const tensor& got, const drawn& x, const std::function<long double(z)>& f) {
  expected wanted{x.dims, {}};
  for (const z v : x.values) wanted.values.push_back(static_cast<double>(f(v)));
  expect_is(got, wanted, 2e-6);
}

void arithmetic(dice& d) {
  const shape dims = d.dims(0, 3);
  const drawn a = draw(d, dims), b = draw(d, d.yes() ? dims : shape{});
  const std::pair<tensor, std::function<z(z, z)>> rows[] = {
      {a.x + b.x, [](z p, z q) { return p + q; }},
      {a.x - b.x, [](z p, z q) { return p - q; }},
      {a.x * b.x, [](z p, z q) { return p * q; }},
      {kg::where(kg::real(a.x) > 0, a.x, b.x), [](z p, z q) { return p.real() > 0 ? p : q; }}};
  for (const auto& [got, f] : rows) {
    zs wanted;
    each_index(dims, [&, &of = f](const place& i) {
      wanted.push_back(of(a.values[flat(dims, i)], b.values[broadcast_flat(b.dims, i)]));
    });
    expect_numbers(got, dims, wanted, 1e-5L);
  }
}

void parts_of_numbers(dice& d) {
  const drawn x = draw(d, d.dims(0, 3));
  expect_parts(kg::real(x.x), x, [](z v) { return v.real(); });
  expect_parts(kg::imag(x.x), x, [](z v) { return v.imag(); });
  expect_parts(kg::abs(x.x), x, [](z v) { return std::abs(v); });
  zs conjugate, negative;
  for (const z v : x.values) conjugate.push_back(std::conj(v)), negative.push_back(-v);
  expect_numbers(kg::conj(x.x), x.dims, conjugate);
  expect_numbers(-x.x, x.dims, negative);
  expect_numbers(kg::complex(kg::real(x.x), kg::imag(x.x)), x.dims, x.values, 0);
}

void quotients(dice& d) {
  const shape dims = d.dims(0, 3);
  const drawn a = draw(d, dims);
  drawn b = draw(d, dims);
  b.x = b.x + 5.f;  // away from 0
  zs wanted;
  for (std::size_t i = 0; i < a.values.size(); ++i) wanted.push_back(a.values[i] / (b.values[i] + 5.0L));
  expect_numbers(a.x / b.x, dims, wanted, 1e-5L);
}

void sums(dice& d) {
  const drawn x = draw(d, d.dims(1, 3));
  const place over = d.axes(x.dims.rank());
  // By the rows of positions, as numbers have two parts.
  doubles positions(x.values.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i);
  const rows all = rows_of(positions, x.dims, over);
  zs total;
  for (const doubles& row : all.each) {
    z sum = 0;
    for (const double i : row) sum += x.values[static_cast<std::size_t>(i)];
    total.push_back(sum);
  }
  expect_numbers(kg::sum(x.x, over), all.dims, total, 1e-5L);
}

void matrices(dice& d) {
  const std::int64_t n = d.from_to(1, 4), k = d.from_to(1, 4), m = d.from_to(1, 4);
  const drawn a = draw(d, {n, k}), b = draw(d, {k, m});
  zs wanted;
  each_index({n, m}, [&](const place& i) {
    z sum = 0;
    for (std::int64_t j = 0; j < k; ++j) sum += a.values[flat(a.dims, {i[0], j})] * b.values[flat(b.dims, {j, i[1]})];
    wanted.push_back(sum);
  });
  expect_numbers(kg::matmul(a.x, b.x), {n, m}, wanted, 1e-5L);
}

void transforms(dice& d) {
  const std::int64_t n = d.from_to(1, 9);
  const drawn x = draw(d, {d.from_to(1, 3), n});
  const long double turn = 2 * std::acos(-1.0L) / static_cast<long double>(n);
  const auto transformed = [&](int sign, long double scale) {
    zs all;
    each_index(x.dims, [&](const place& i) {
      z sum = 0;
      for (std::int64_t t = 0; t < n; ++t)
        sum += x.values[flat(x.dims, {i[0], t})] * std::polar(1.0L, static_cast<long double>(sign * i[1] * t) * turn);
      all.push_back(sum * scale);
    });
    return all;
  };
  expect_numbers(kg::fft(x.x), x.dims, transformed(-1, 1), 1e-5L);
  expect_numbers(kg::ifft(x.x), x.dims, transformed(1, 1 / static_cast<long double>(n)), 1e-5L);
}

void moved(dice& d) {
  const dtype type = d.yes() ? dtype::complex64 : dtype::complex128;
  const drawn x = draw(d, d.dims(1, 3), type);
  const place perm = d.order(x.dims.rank());
  place sizes;
  for (const std::int64_t axis : perm) sizes.push_back(x.dims[static_cast<int>(axis)]);
  zs wanted;
  each_index(shape(sizes), [&](const place& i) {
    place from(i.size());
    for (std::size_t k = 0; k < i.size(); ++k) from[static_cast<std::size_t>(perm[k])] = i[k];
    wanted.push_back(x.values[flat(x.dims, from)]);
  });
  expect_numbers(kg::transpose(x.x, perm), shape(sizes), wanted, 0);
}

const kind_of_call kinds[] = {
    {"arithmetic", arithmetic}, {"parts", parts_of_numbers}, {"quotients", quotients}, {"sum", sums},
    {"matrices", matrices},     {"fft", transforms},         {"transpose", moved}};

TEST(random_complex_numbers, are_computed_as_pairs_of_parts) { sweep(kinds, 60); }

}  // namespace
