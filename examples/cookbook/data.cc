// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook: arrays, indexing, linear algebra, statistics.
#include <iostream>
#include <vector>

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------------ arrays

void a_matrix_from_vectors_of_c() {
  const std::vector<std::vector<float>> rows{{1, 2, 3}, {4, 5, 6}};
  std::vector<kg::tensor> parts;
  for (const std::vector<float>& row : rows) parts.emplace_back(row);
  std::cout << kg::stack(parts) << "\n";
}

void a_grid_of_coordinates() {
  const auto grid = kg::meshgrid({kg::arange(3), kg::arange(2)});
  std::cout << grid[0] << "\n" << grid[1] << "\n";
}

void padding_tiling_rolling() {
  const kg::tensor x({1, 2, 3});
  std::cout << kg::pad(x, {1, 2}) << "\n"
            << kg::pad(x, {2, 2}, kg::pad_mode::reflect) << "\n"
            << kg::tile(x, {2}) << "\n"
            << kg::roll(x, 1) << "\n";
}

void splitting_an_axis_and_joining_it_again() {
  const auto [left, right] = kg::split<2>(kg::reshape(kg::arange(8), {2, 4}), 1);
  std::cout << left << "\n" << kg::concat({right, left}, 1) << "\n";
}

// ------------------------------------------------------------------------------------------------ indexing

void every_second_row_backwards() {
  const kg::tensor x = kg::reshape(kg::arange(8), {4, 2});
  std::cout << x(kg::range(-1, kg::end, -2)) << "\n";
}

void replacing_what_a_condition_finds() {
  const kg::tensor x({3.f, -1.f, 2.f, -5.f});
  std::cout << kg::where(x < 0, 0, x) << "\n" << x.at(x < 0).multiply(10) << "\n";
}

void one_element_of_each_row() {
  const kg::tensor x{{3, 9, 4}, {8, 1, 7}};
  const kg::tensor best = kg::argmax(x, 1);
  std::cout << kg::take_along_axis(x, kg::expand_dims(best, 1), 1) << "\n"
            << x(kg::arange(2, kg::dtype::int32), best) << "\n";
}

void sums_by_group() {
  const kg::tensor amounts({5.f, 1.f, 2.f, 10.f}), groups({0, 2, 0, 2});
  std::cout << kg::segment_sum(amounts, groups, 3) << "\n" << kg::segment_max(amounts, groups, 3) << "\n";
}

// ------------------------------------------------------------------------------------------------ linear algebra

void a_least_squares_line() {
  const kg::tensor x = kg::arange(0, 5, 1, kg::dtype::float64);
  const kg::tensor y({1.0, 3.0, 5.0, 7.0, 9.0});
  const kg::tensor dx = x - kg::mean(x), dy = y - kg::mean(y);
  const double slope = (kg::dot(dx, dy) / kg::dot(dx, dx)).item();
  std::cout << slope << " " << kg::mean(y).item() - slope * kg::mean(x).item() << "\n";
}

void solving_a_system_by_its_qr_decomposition() {
  const kg::tensor a{{2.0, 1.0}, {1.0, 3.0}}, b({3.0, 5.0});
  const auto [q, r] = kg::qr(a);
  kg::tensor x = kg::matmul(b, q);  // the transpose of q times b
  for (int i = 1; i >= 0; --i) {
    const kg::tensor known = kg::sum(r(i, kg::range(i + 1, 2)) * x(kg::range(i + 1, 2)));
    x = x.at(i).set((x(i) - known) / r(i, i));
  }
  std::cout << x << "\n";
}

void distances_between_all_pairs_of_points() {
  const kg::tensor points{{0.f, 0.f}, {3.f, 4.f}, {6.f, 8.f}};
  const kg::tensor apart = kg::expand_dims(points, 1) - kg::expand_dims(points, 0);
  std::cout << kg::norm(apart, 2, -1) << "\n";
}

void products_over_named_axes() {
  const kg::tensor a = kg::reshape(kg::arange(8), {2, 2, 2}), v({1.f, 10.f});
  std::cout << kg::einsum("bii->b", a) << "\n" << kg::einsum("bij,j->bi", a, v) << "\n";
}

// ------------------------------------------------------------------------------------------------ statistics

void mean_spread_and_quantiles_of_columns() {
  const kg::tensor x{{1.0, 10.0}, {2.0, 20.0}, {3.0, 60.0}};
  std::cout << kg::mean(x, 0) << "\n"
            << kg::standard_deviation(x, 0, false, 1) << "\n"
            << kg::median(x, 0) << "\n"
            << kg::quantile(x, 0.25, 0) << "\n";
}

void a_histogram() {
  const kg::tensor values({0.1f, 0.4f, 0.35f, 0.9f, 0.6f}), inner_edges({0.25f, 0.5f, 0.75f});
  const kg::tensor bins = kg::upper_bound(inner_edges, values);
  std::cout << bins << "\n" << kg::bincount(bins, 4) << "\n";
}

void a_covariance_matrix() {
  const kg::tensor x{{1.0, 2.0}, {2.0, 4.0}, {3.0, 9.0}};
  const kg::tensor centered = x - kg::mean(x, 0);
  std::cout << kg::matmul(centered, centered, true) / (x.dims()[0] - 1) << "\n";
}

void the_largest_and_a_confusion_matrix() {
  const kg::tensor scores{{0.1f, 0.9f}, {0.8f, 0.2f}, {0.4f, 0.6f}};
  const kg::tensor truth({1, 0, 0});
  std::cout << kg::confusion_matrix(truth, kg::argmax(scores, 1), 2) << "\n";
}

}  // namespace

int main() {
  a_matrix_from_vectors_of_c();
  a_grid_of_coordinates();
  padding_tiling_rolling();
  splitting_an_axis_and_joining_it_again();
  every_second_row_backwards();
  replacing_what_a_condition_finds();
  one_element_of_each_row();
  sums_by_group();
  a_least_squares_line();
  solving_a_system_by_its_qr_decomposition();
  distances_between_all_pairs_of_points();
  products_over_named_axes();
  mean_spread_and_quantiles_of_columns();
  a_histogram();
  a_covariance_matrix();
  the_largest_and_a_confusion_matrix();
}
