// SPDX-License-Identifier: Apache-2.0
// Ops that look along an axis: reductions, sorting and transforms; draws; and expressions that are fused by name.
#include <iostream>
#include <span>

#include "example.h"

import kerngrad;

namespace {

void products() {
  const kg::tensor x({{1, 2}, {3, 4}});
  std::cout << kg::prod(x) << "\n" << kg::prod(x, 0) << "\n" << kg::prod(kg::zeros({0})) << "\n";
}
const example for_products{"kg::prod", products};

void smallest_elements() {
  const kg::tensor x({{3, 1}, {2, 5}});
  std::cout << kg::min(x) << "\n" << kg::min(x, 1) << "\n" << kg::min(x, 1, true) << "\n";
}
const example for_smallest_elements{"kg::min", smallest_elements};

void whether_one_is_true() {
  const kg::tensor x({{1, -1}, {2, 3}});
  std::cout << kg::any(x < 0) << "\n" << kg::any(x < 0, 1) << "\n";
}
const example for_whether_one_is_true{"kg::any", whether_one_is_true};

void where_rows_are_smallest() { std::cout << kg::argmin(kg::tensor({{3, 1, 1}, {2, 5, 0}}), 1) << "\n"; }
const example for_where_rows_are_smallest{"kg::argmin", where_rows_are_smallest};

void running_sums() {
  const kg::tensor x({1, 2, 3, 4});
  std::cout << kg::cumsum(x, 0) << "\n";
  std::cout << kg::cumsum(x, 0, /*exclusive=*/true) << "\n";
  std::cout << kg::cumsum(x, 0, false, /*reverse=*/true) << "\n";
}
const example for_running_sums{"kg::cumsum", running_sums};

void running_products() { std::cout << kg::cumprod(kg::tensor({{1, 2, 3}, {4, 5, 6}}), 1) << "\n"; }
const example for_running_products{"kg::cumprod", running_products};

void records() {
  const kg::tensor x({3.f, 1.f, 4.f, 2.f});
  std::cout << kg::cummax(x, 0) << "\n" << kg::cummin(x, 0) << "\n";
  std::cout << kg::cummin(x, 0, /*exclusive=*/true) << "\n";
  std::cout << kg::cummax(x, 0, false, /*reverse=*/true) << "\n";
}
const example for_records{"kg::cummax kg::cummin", records};

void without_underflow() {
  const kg::tensor logits({1000.f, 0.f});
  std::cout << kg::log_softmax(logits) << "\n" << kg::log(kg::softmax(logits)) << "\n";
}
const example for_without_underflow{"kg::log_softmax", without_underflow};

void without_overflow() {
  const kg::tensor x({1000.f, 1000.f});
  std::cout << kg::logsumexp(x).item() << ", not " << kg::log(kg::sum(kg::exp(x))).item() << "\n";
}
const example for_without_overflow{"kg::logsumexp", without_overflow};

void the_loss_of_each_row() {
  const kg::tensor logits({{0.0, 0.0}, {0.0, 3.0}}), labels({{1.0, 0.0}, {0.0, 1.0}});
  std::cout << kg::softmax_cross_entropy(logits, labels) << "\n";
}
const example for_the_loss_of_each_row{"kg::softmax_cross_entropy", the_loss_of_each_row};

void counts_of_each_row() {
  const kg::tensor x({{0, 1, 1}, {2, 2, 2}});
  std::cout << kg::dense_bincount(x, 3) << "\n" << kg::dense_bincount(x, 3, {.binary = true}) << "\n";
}
const example for_counts_of_each_row{"kg::dense_bincount", counts_of_each_row};

void distinct_rows() {
  const auto [values, indices] = kg::unique(kg::tensor({{7, 7}, {1, 2}, {7, 7}}), 0);
  std::cout << values << "\n" << indices << "\n";
}
const example for_distinct_rows{"kg::unique", distinct_rows};

void one_value_in_a_shape() {
  const kg::tensor x({{1, 2, 3}, {4, 5, 6}});
  std::cout << kg::full_like(x, 7) << "\n" << kg::full_like(x, 0.5, kg::dtype::float32) << "\n";
}
const example for_one_value_in_a_shape{"kg::full_like", one_value_in_a_shape};

void dice() {
  std::cout << kg::random_uniform({4}, 0, 1, 5) << "\n";
  std::cout << kg::random_uniform({4}, 1, 7, 5, kg::dtype::int32) << "\n";
  std::cout << kg::random_uniform({8}, 1, 7, 5, kg::dtype::int32) << "\n";
}
const example for_dice{"kg::random_uniform", dice};

void draws_by_weight() {
  const kg::tensor weights({0.f, 1.f, 3.f});
  const kg::tensor drawn = kg::multinomial(weights, 1000, 5, /*normalized=*/true);
  std::cout << kg::bincount(drawn, 3) << "\n";
}
const example for_draws_by_weight{"kg::multinomial", draws_by_weight};

void the_sum_and_the_difference() {
  const kg::tensor x = kg::complex(kg::tensor({5.f, 3.f}), kg::tensor({1.f, -2.f}));
  std::cout << kg::fft(x) << "\n" << kg::ifft(kg::fft(x)) << "\n";
}
const example for_the_sum_and_the_difference{"kg::fft kg::ifft", the_sum_and_the_difference};

void a_signal_from_its_bins() {
  std::cout << kg::irfft(kg::complex(kg::tensor({8.f, 2.f, 0.f}), kg::tensor({0.f, 0.f, 0.f}))) << "\n";
  const kg::tensor x({1.f, 2.f, 3.f, 4.f, 5.f});
  std::cout << kg::irfft(kg::rfft(x), 5) << "\n";
}
const example for_a_signal_from_its_bins{"kg::irfft", a_signal_from_its_bins};

void places_in_order() {
  const kg::tensor x({3, 1, 2, 1});
  std::cout << kg::argsort(x) << "\n" << kg::argsort(x, {.descending = true}) << "\n";
}
const example for_places_in_order{"kg::argsort", places_in_order};

void before_or_after_equal_ones() {
  const kg::tensor sorted({1, 2, 2, 5}), values({0, 2, 9});
  std::cout << kg::lower_bound(sorted, values) << "\n"
            << kg::search_sorted(sorted, values, /*right=*/true) << "\n"
            << kg::searchsorted(sorted, values, "right") << "\n";
}
const example for_before_or_after_equal_ones{"kg::lower_bound kg::search_sorted kg::searchsorted",
                                             before_or_after_equal_ones};

void an_expression_by_names() {
  const kg::fused_expression f =
      kg::fuse(1, [](std::span<const kg::symbol> x) { return kg::call("Sub", {1, kg::call("Square", {x[0]})}); });
  std::cout << f(kg::tensor({1, 2, 3})) << "\n";
  std::cout << kg::can_be_fused("Square") << " " << kg::can_be_fused("Conv2D") << "\n";
}
const example for_an_expression_by_names{"kg::can_be_fused", an_expression_by_names};

}  // namespace
