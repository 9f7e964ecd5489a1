// SPDX-License-Identifier: Apache-2.0
// Functions composed of ops: arrays, draws, images, layers, losses, matrices, normalizations, signals, statistics.
#include <cmath>
#include <iostream>
#include <vector>

#include "example.h"

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------ arrays

void elements_on_one_axis() {
  const kg::tensor x{{1, 2}, {3, 4}};
  std::cout << kg::flatten(x) << "\n" << kg::ravel(x).shares_with(x) << "\n";
}
const example for_elements_on_one_axis{"kg::flatten kg::ravel", elements_on_one_axis};

void sizes_that_are_wanted_and_one_of_any() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::ensure_shape(x, {-1, 3}) << "\n";
  try {
    kg::ensure_shape(x, {-1, 4});
  } catch (const kg::error& refused) {
    std::cout << refused.what() << "\n";
  }
}
const example for_sizes_that_are_wanted_and_one_of_any{"kg::ensure_shape", sizes_that_are_wanted_and_one_of_any};

void axes_moved_and_exchanged() {
  const kg::tensor x = kg::zeros({2, 3, 4});
  std::cout << kg::to_string(kg::moveaxis(x, 0, -1).dims()) << "\n"
            << kg::to_string(kg::swapaxes(x, 0, -1).dims()) << "\n";
}
const example for_axes_moved_and_exchanged{"kg::moveaxis kg::swapaxes", axes_moved_and_exchanged};

void rows_and_columns_twice() {
  const kg::tensor x{{1, 2}, {3, 4}};
  std::cout << kg::repeat(x, 2, 0) << "\n" << kg::repeat(x, 2, 1) << "\n";
}
const example for_rows_and_columns_twice{"kg::repeat", rows_and_columns_twice};

void steps_and_steps_of_steps() {
  const kg::tensor x({1, 4, 9, 16});
  std::cout << kg::diff(x) << "\n" << kg::diff(x, 2) << "\n";
}
const example for_steps_and_steps_of_steps{"kg::diff", steps_and_steps_of_steps};

void what_a_list_has_and_another_has_not() {
  const auto [values, places] = kg::list_difference(kg::tensor({5, 2, 3, 2, 3}), kg::tensor({2, 4}));
  std::cout << values << "\n" << places << "\n";
}
const example for_what_a_list_has_and_another_has_not{"kg::list_difference", what_a_list_has_and_another_has_not};

// ------------------------------------------------------------------------------------------ draws

void none_beyond_two_deviations() {
  const kg::tensor x = kg::truncated_normal({1000}, 10, 3, 1);
  std::cout << (kg::min(x).item() >= 4) << " " << (kg::max(x).item() <= 16) << "\n";
}
const example for_none_beyond_two_deviations{"kg::truncated_normal", none_beyond_two_deviations};

void a_die_thrown_a_thousand_times() {
  const kg::tensor x = kg::random_uniform_int({1000}, 1, 7, 1);
  std::cout << kg::name_of(x.type()) << ": " << kg::min(x).item() << " to " << kg::max(x).item() << "\n";
}
const example for_a_die_thrown_a_thousand_times{"kg::random_uniform_int", a_die_thrown_a_thousand_times};

void a_mean_of_alpha_by_beta() {
  const kg::tensor x = kg::random_gamma({10000}, 3, 2, 1);
  std::cout << (std::abs(kg::mean(x).item() - 3.0 / 2) < 0.05) << " " << (kg::min(x).item() > 0) << "\n";
}
const example for_a_mean_of_alpha_by_beta{"kg::random_gamma", a_mean_of_alpha_by_beta};

void elements_one_call_each() {
  std::cout << kg::rand({2, 2}, [x = 1.0]() mutable { return x *= 2; }) << "\n";
}
const example for_elements_one_call_each{"kg::rand", elements_one_call_each};

void true_with_a_probability() {
  const kg::tensor x = kg::bernoulli({10000}, 0.3, 1);
  std::cout << kg::name_of(x.type()) << " " << (std::abs(kg::mean(x).item() - 0.3) < 0.02) << " "
            << kg::all(kg::bernoulli({1000}, 1, 1)).item() << "\n";
}
const example for_true_with_a_probability{"kg::bernoulli", true_with_a_probability};

void each_number_once() {
  const kg::tensor order = kg::permutation(6, 1);
  std::cout << kg::sort(order) << "\n" << kg::all(order == kg::permutation(6, 1)).item() << "\n";
}
const example for_each_number_once{"kg::permutation", each_number_once};

// ------------------------------------------------------------------------------------------ images

void one_channel_three_times() { std::cout << kg::grayscale_to_rgb(kg::tensor{{5}, {7}}) << "\n"; }
const example for_one_channel_three_times{"kg::grayscale_to_rgb", one_channel_three_times};

void brightness_and_integers_cut_off() {
  std::cout << kg::rgb_to_grayscale(kg::eye(3)) << "\n"  // red, green, blue
            << kg::rgb_to_grayscale(kg::tensor{{0, 0, 100}}) << "\n";
}
const example for_brightness_and_integers_cut_off{"kg::rgb_to_grayscale", brightness_and_integers_cut_off};

void a_dark_image_split_by_otsu() {
  const kg::tensor image({1, 2, 3, 2, 50, 52}, {2, 3, 1});
  std::cout << kg::squeeze(kg::threshold(image)) << "\n" << kg::squeeze(kg::threshold(image, {.otsu = true})) << "\n";
}
const example for_a_dark_image_split_by_otsu{"kg::threshold", a_dark_image_split_by_otsu};

// ------------------------------------------------------------------------------------------ initial weights

void uniform_weights_and_their_limits() {
  kg::generator rng(1);
  const kg::tensor he = kg::he_uniform(rng, {6, 1000});        // sqrt(3 * 2 / 6) is 1
  const kg::tensor lecun = kg::lecun_uniform(rng, {12, 500});  // sqrt(3 / 12) is 1 / 2
  std::cout << (kg::max(kg::abs(he)).item() <= 1) << " " << (kg::max(kg::abs(lecun)).item() <= 0.5) << "\n";
}
const example for_uniform_weights_and_their_limits{"kg::he_uniform kg::lecun_uniform",
                                                   uniform_weights_and_their_limits};

void normal_weights_and_their_deviations() {
  kg::generator rng(1);
  const kg::tensor glorot = kg::glorot_normal(rng, {25, 775});  // sqrt(2 / (25 + 775)) is 0.05
  const kg::tensor lecun = kg::lecun_normal(rng, {25, 775});    // sqrt(1 / 25) is 0.2
  std::cout << (std::abs(kg::standard_deviation(glorot).item() - 0.05) < 0.001) << " "
            << (std::abs(kg::standard_deviation(lecun).item() - 0.2) < 0.004) << "\n";
}
const example for_normal_weights_and_their_deviations{"kg::glorot_normal kg::lecun_normal",
                                                      normal_weights_and_their_deviations};

void columns_of_length_one_at_right_angles() {
  kg::generator rng(1);
  const kg::tensor q = kg::orthogonal(rng, {3, 2});
  std::cout << kg::to_string(q.dims()) << " " << kg::all_close(kg::matmul(q, q, true), kg::eye(2), {.atol = 1e-5})
            << "\n";
}
const example for_columns_of_length_one_at_right_angles{"kg::orthogonal", columns_of_length_one_at_right_angles};

// ------------------------------------------------------------------------------------------ layers

void sums_of_channels_and_then_of_both() {
  const kg::tensor x({1.f, 10.f, 2.f, 20.f}, {1, 2, 2});  // sums 3 and 30 by channel
  const kg::tensor mix({1.f, 1.f, 1.f, -1.f}, {1, 1, 2, 2});
  std::cout << kg::squeeze(kg::separable_conv2d(x, kg::ones({1, 2, 2, 1}), mix)) << "\n";
}
const example for_sums_of_channels_and_then_of_both{"kg::separable_conv2d", sums_of_channels_and_then_of_both};

void pairs_two_pixels_apart() {
  const kg::tensor x({1.f, 9.f, 2.f, 8.f, 3.f}, {1, 5, 1});
  std::cout << kg::squeeze(kg::pool(x, {1, 2}, kg::pooling::max, {.dilations = {1, 2}})) << "\n"
            << kg::squeeze(kg::pool(x, {1, 2}, kg::pooling::avg, {.dilations = {1, 2}})) << "\n";
}
const example for_pairs_two_pixels_apart{"kg::pool", pairs_two_pixels_apart};

void elements_lost_and_rows_that_share_their_fate() {
  const kg::tensor y = kg::dropout(kg::ones({10000}), 0.5, 1), rows = kg::dropout(kg::ones({8, 5}), 0.5, 1, {{8, 1}});
  std::cout << kg::min(y).item() << " or " << kg::max(y).item()
            << ", the mean is about 1: " << (std::abs(kg::mean(y).item() - 1) < 0.05) << "\n"
            << kg::all(kg::min(rows, 1) == kg::max(rows, 1)).item() << "\n";
}
const example for_elements_lost_and_rows_that_share_their_fate{"kg::dropout",
                                                               elements_lost_and_rows_that_share_their_fate};

void two_words_that_look_back() {
  const kg::tensor words{{8.f, 0.f}, {0.f, 8.f}}, meanings{{1.f, 2.f}, {3.f, 4.f}};
  std::cout << kg::scaled_dot_product_attention(words, words, meanings) << "\n"
            << kg::scaled_dot_product_attention(words, kg::zeros({2, 2}), meanings, {.causal = true}) << "\n";
}
const example for_two_words_that_look_back{"kg::scaled_dot_product_attention", two_words_that_look_back};

void gates_half_open_and_a_memory_that_is_kept() {
  const kg::tensor kernel = kg::zeros({3, 4}), bias = kg::zeros({4}), data = kg::ones({1, 2});
  const kg::tensor c({4.f}, {1, 1}), h = kg::zeros({1, 1});
  std::cout << kg::basic_lstm_cell(0, kernel, bias, data, c, h).c.item() << "\n"     // half of c
            << kg::basic_lstm_cell(100, kernel, bias, data, c, h).c.item() << "\n";  // all of it
}
const example for_gates_half_open_and_a_memory_that_is_kept{"kg::basic_lstm_cell",
                                                            gates_half_open_and_a_memory_that_is_kept};

void a_cell_whose_data_is_the_output_of_another() {
  const kg::rnn_cell adds = [](const kg::tensor& data, const kg::tensor& c, const kg::tensor&) {
    return kg::lstm_state{.c = c + data, .h = (c + data) * 10};
  };
  const std::vector<kg::tensor> c{kg::tensor({1}), kg::tensor({2})}, h = c;
  const kg::rnn_states next = kg::multi_rnn_cell(std::vector{adds, adds}, kg::tensor({3}), c, h);
  std::cout << next.h[0].item() << " " << next.h[1].item() << "\n";  // (1 + 3) * 10 and (2 + 40) * 10
}
const example for_a_cell_whose_data_is_the_output_of_another{"kg::multi_rnn_cell",
                                                             a_cell_whose_data_is_the_output_of_another};

// ------------------------------------------------------------------------------------------ losses

void losses_weighted_and_reduced() {
  const kg::tensor losses({2.f, 4.f, 5.f}), weights({1.f, 0.f, 2.f});
  for (const auto how : {kg::loss_reduction::sum, kg::loss_reduction::mean, kg::loss_reduction::sum_by_nonzero_weights})
    std::cout << kg::compute_weighted_loss(losses, {.weights = weights, .reduction = how}).item() << "\n";
}
const example for_losses_weighted_and_reduced{"kg::compute_weighted_loss", losses_weighted_and_reduced};

void a_small_error_and_a_large_one() {
  const kg::tensor labels({0.f, 0.f}), predictions({1.f, 3.f});
  std::cout << kg::absolute_difference(labels, predictions).item() << "\n"        // (1 + 3) / 2
            << kg::mean_squared_error(labels, predictions).item() << "\n"         // (1 + 9) / 2
            << kg::huber_loss(labels, predictions, {.delta = 2}).item() << "\n";  // (0.5 + 4) / 2
}
const example for_a_small_error_and_a_large_one{"kg::absolute_difference kg::mean_squared_error kg::huber_loss",
                                                a_small_error_and_a_large_one};

void directions_alike_and_at_a_right_angle() {
  const kg::tensor labels{{1.f, 0.f}, {0.f, 1.f}}, predictions{{1.f, 0.f}, {1.f, 0.f}};
  std::cout << kg::cosine_distance(labels, predictions, 1, {.reduction = kg::loss_reduction::none}) << "\n";
}
const example for_directions_alike_and_at_a_right_angle{"kg::cosine_distance", directions_alike_and_at_a_right_angle};

void right_and_sure_right_and_wrong() {
  const kg::tensor labels({1.f, 0.f, 1.f}), predictions({2.f, -0.5f, -1.f});
  std::cout << kg::hinge_loss(labels, predictions, {.reduction = kg::loss_reduction::none}) << "\n";
}
const example for_right_and_sure_right_and_wrong{"kg::hinge_loss", right_and_sure_right_and_wrong};

void a_probability_of_half_and_of_nothing() {
  const kg::tensor labels({1.f, 1.f}), predictions({0.5f, 0.f});
  std::cout << kg::log_loss(labels, predictions, {.reduction = kg::loss_reduction::none}) << "\n";
}
const example for_a_probability_of_half_and_of_nothing{"kg::log_loss", a_probability_of_half_and_of_nothing};

void large_logits_and_smoothed_labels() {
  const kg::tensor labels({1.f, 1.f}), logits({1000.f, -1000.f});
  constexpr auto none = kg::loss_reduction::none;
  std::cout << kg::sigmoid_cross_entropy(labels, logits, {.reduction = none}) << "\n"
            << kg::sigmoid_cross_entropy(labels, logits, {.label_smoothing = 0.5, .reduction = none}) << "\n";
}
const example for_large_logits_and_smoothed_labels{"kg::sigmoid_cross_entropy", large_logits_and_smoothed_labels};

// ------------------------------------------------------------------------------------------ matrices

void products_of_all_pairs() {
  const kg::tensor a({1, 2}), b({10, 20, 30}), matrix{{1, 2}, {3, 4}};
  std::cout << kg::outer_product(a, b) << "\n" << kg::outer(matrix, a) << "\n";
}
const example for_products_of_all_pairs{"kg::outer_product kg::outer", products_of_all_pairs};

void the_sum_of_a_diagonal() { std::cout << kg::trace(kg::tensor{{1, 2}, {3, 4}}).item() << "\n"; }
const example for_the_sum_of_a_diagonal{"kg::trace", the_sum_of_a_diagonal};

void lengths_of_rows() {
  const kg::tensor x{{3, 4}, {6, 8}};
  std::cout << kg::euclidean_norm(x, 1) << "\n" << kg::euclidean_norm(kg::tensor({1, 1, 1, 1})).item() << "\n";
}
const example for_lengths_of_rows{"kg::euclidean_norm", lengths_of_rows};

void a_basis_that_begins_with_the_first_row() {
  std::cout << kg::gram_schmidt(kg::tensor{{3.f, 4.f}, {5.f, 0.f}}) << "\n";
}
const example for_a_basis_that_begins_with_the_first_row{"kg::gram_schmidt", a_basis_that_begins_with_the_first_row};

// ------------------------------------------------------------------------------------------ normalizations

void a_row_by_its_root_mean_square() {
  const kg::tensor x{{1.f, 7.f}};  // sqrt((1 + 49) / 2) is 5
  std::cout << kg::rms_norm(x, {.epsilon = 0}) << "\n"
            << kg::rms_norm(x, {.scale = kg::tensor({5.f, 10.f}), .epsilon = 0}) << "\n";
}
const example for_a_row_by_its_root_mean_square{"kg::rms_norm", a_row_by_its_root_mean_square};

void two_groups_of_two_channels() {
  const kg::tensor x{{1.f, 3.f, 10.f, 30.f}};
  std::cout << kg::group_norm(x, 2, {.epsilon = 0}) << "\n";
}
const example for_two_groups_of_two_channels{"kg::group_norm", two_groups_of_two_channels};

void each_channel_of_each_sample() {
  const kg::tensor x{{{1.f, 10.f}, {3.f, 30.f}}, {{5.f, 2.f}, {7.f, 0.f}}};
  std::cout << kg::instance_norm(x, {.epsilon = 0}) << "\n";
}
const example for_each_channel_of_each_sample{"kg::instance_norm", each_channel_of_each_sample};

void each_channel_of_a_batch() {
  const auto [y, mean, variance] = kg::batch_norm_training(kg::tensor{{1.f, 10.f}, {3.f, 30.f}}, {.epsilon = 0});
  std::cout << y << "\n" << mean << "\n" << variance << "\n";
}
const example for_each_channel_of_a_batch{"kg::batch_norm_training", each_channel_of_a_batch};

// ------------------------------------------------------------------------------------------ numbers

void zero_where_the_divisor_is() {
  std::cout << kg::div_no_nan(kg::tensor({1.f, 0.f, 4.f}), kg::tensor({0.f, 0.f, 2.f})) << "\n";
}
const example for_zero_where_the_divisor_is{"kg::div_no_nan", zero_where_the_divisor_is};

void both_tails_of_a_sigmoid() {
  const kg::tensor x({-1000.0, 0.0, 50.0});
  std::cout << kg::log_sigmoid(x) << "\n" << kg::log(kg::sigmoid(x)) << "\n";
}
const example for_both_tails_of_a_sigmoid{"kg::log_sigmoid", both_tails_of_a_sigmoid};

void twice_what_has_no_exponential() {
  const kg::tensor x({0.0, 1000.0});
  std::cout << kg::log_add_exp(x, x) << "\n";  // log(2) more
}
const example for_twice_what_has_no_exponential{"kg::log_add_exp", twice_what_has_no_exponential};

void how_close_numbers_are() {
  const kg::tensor a({1000.0, 1.0, std::nan("")}), b({1000.001, 1.001, std::nan("")});
  std::cout << kg::is_close(a, b) << "\n"
            << kg::isclose(a, b, 1e-2) << "\n"
            << kg::all_close(a, b, {.rtol = 0.01}) << " " << kg::all_close(a, b, {.rtol = 0.01, .equal_nan = true})
            << "\n";
}
const example for_how_close_numbers_are{"kg::is_close kg::all_close kg::isclose", how_close_numbers_are};

// ------------------------------------------------------------------------------------------ signals

void windows_of_four_and_of_five() {
  std::cout << kg::hann_window(4) << "\n"  // periodic; that of an odd length is symmetric
            << kg::hann_window(5) << "\n"
            << kg::hamming_window(4) << "\n"
            << kg::cosine_window(4, 3, 1) << "\n";
}
const example for_windows_of_four_and_of_five{"kg::hann_window kg::hamming_window kg::cosine_window",
                                              windows_of_four_and_of_five};

void powers_of_two_that_hold_a_frame() {
  std::cout << kg::enclosing_power_of_two(5) << " " << kg::enclosing_power_of_two(8) << "\n";
}
const example for_powers_of_two_that_hold_a_frame{"kg::enclosing_power_of_two", powers_of_two_that_hold_a_frame};

// ------------------------------------------------------------------------------------------ statistics

void mean_and_variance_of_columns() {
  const auto [mean, variance] = kg::moments(kg::tensor{{1.f, 10.f}, {3.f, 30.f}}, 0);
  std::cout << mean << "\n" << variance << "\n";
}
const example for_mean_and_variance_of_columns{"kg::moments", mean_and_variance_of_columns};

void of_the_elements_and_of_a_sample() {
  const kg::tensor x({1.f, 3.f, 5.f});
  std::cout << kg::variance(x).item() << " " << kg::variance(x, kg::all_axes, false, 1).item() << "\n";  // 8 / 3, 8 / 2
}
const example for_of_the_elements_and_of_a_sample{"kg::variance", of_the_elements_and_of_a_sample};

void a_first_update_with_and_without_the_zeros() {
  const kg::tensor zero({0.0}), x({8.0});
  std::cout << kg::moving_average(zero, x, 0.75, {.zero_debias = false}).item() << "\n"
            << kg::moving_average(zero, x, 0.75, {.step = 1}).item() << "\n";
}
const example for_a_first_update_with_and_without_the_zeros{"kg::moving_average",
                                                            a_first_update_with_and_without_the_zeros};

void a_tie_and_a_second_place() {
  const kg::tensor predictions{{0.4f, 0.4f, 0.2f}, {0.1f, 0.7f, 0.2f}}, targets({1, 2});
  std::cout << kg::in_top_k(predictions, targets) << "\n" << kg::in_top_k(predictions, targets, 2) << "\n";
}
const example for_a_tie_and_a_second_place{"kg::in_top_k", a_tie_and_a_second_place};

void how_many_of_all_and_of_each_row() {
  const kg::tensor x{{0, 1, 2}, {0, 0, 3}};
  std::cout << kg::count_nonzero(x).item() << "\n" << kg::count_nonzero(x, 1) << "\n";
}
const example for_how_many_of_all_and_of_each_row{"kg::count_nonzero", how_many_of_all_and_of_each_row};

void diagonals() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::diagonal(x) << "\n" << kg::diagonal(x, 1) << "\n" << kg::diagonal(x, -1) << "\n";
}
const example for_diagonals{"kg::diagonal", diagonals};

void triangles() {
  const kg::tensor x{{1, 2}, {3, 4}};
  std::cout << kg::tril(x) << "\n" << kg::triu(x, 1) << "\n";
}
const example for_triangles{"kg::tril kg::triu", triangles};

}  // namespace
