// SPDX-License-Identifier: Apache-2.0
// Loops and layers over sequences, and images and arrays between their elements.
#include <iostream>
#include <utility>

#include "example.h"

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------ sequences

void sums_that_forget() {
  const auto step = [](const kg::tensor& sum, const kg::tensor& x) {
    const kg::tensor next = sum * 0.5 + x;
    return std::pair(next, next);
  };
  const auto [last, sums] = kg::scan(step, kg::tensor(0.0), kg::tensor({1.0, 1.0, 1.0}));
  std::cout << last.item() << "\n" << sums << "\n";
}
const example for_sums_that_forget{"kg::scan", sums_that_forget};

void powers_by_their_number_with_checkpoints() {
  const auto twice = [](const kg::tensor& x, std::int64_t) { return std::pair(x * 2, x); };
  const kg::scan_options how{.checkpoint = true};
  const auto f = [&](const kg::tensor& x) {
    const kg::scan_result<kg::tensor, kg::tensor> all = kg::scan(twice, x, 10, how);
    return all.carry;
  };
  std::cout << kg::grad(f)(kg::tensor(1.0)).item() << "\n";
}
const example for_powers_by_their_number_with_checkpoints{"kg::scan_options kg::scan_result",
                                                          powers_by_their_number_with_checkpoints};

void a_memory_over_three_steps() {
  const kg::tensor x = kg::ones({3, 1, 2}), kernel = kg::ones({2, 8}), recurrent = kg::zeros({2, 8});
  const auto [y, h, c] = kg::lstm(x, kernel, recurrent, {.bias = kg::ones({8})});
  std::cout << kg::to_string(y.dims()) << " " << kg::to_string(h.dims()) << "\n" << kg::round(c * 100) / 100 << "\n";
}
const example for_a_memory_over_three_steps{"kg::lstm", a_memory_over_three_steps};

void both_directions() {
  const kg::tensor x = kg::reshape(kg::arange(6), {1, 3, 2}), kernel = kg::ones({2, 3}), recurrent = kg::ones({1, 3});
  const auto forward = kg::gru(x, kernel, recurrent, {.batch_first = true});
  const auto backward = kg::gru(x, kernel, recurrent, {.batch_first = true, .reverse = true});
  std::cout << kg::to_string(kg::concat({forward.y, backward.y}, -1).dims()) << "\n";
}
const example for_both_directions{"kg::gru", both_directions};

// ------------------------------------------------------------------------------------------ images

void an_image_between_its_pixels() {
  const kg::tensor image({0.f, 1.f, 2.f, 3.f}, {1, 2, 2, 1}), grid({0.f, 0.f, 1.f, -1.f, 3.f, 0.f}, {1, 1, 3, 2});
  const auto sample = [&](kg::image_border outside) {
    return kg::flatten(kg::grid_sample(image, grid, {.outside = outside, .align_corners = true}));
  };
  std::cout << sample(kg::image_border::zeros) << "\n" << sample(kg::image_border::border) << "\n";
}
const example for_an_image_between_its_pixels{"kg::grid_sample kg::image_border", an_image_between_its_pixels};

void an_image_turned_by_a_map() {
  const kg::tensor image({0.f, 1.f, 2.f, 3.f}, {1, 2, 2, 1}), quarter({0.f, 1.f, 0.f, -1.f, 0.f, 0.f}, {1, 2, 3});
  std::cout << kg::squeeze(kg::affine_warp(image, quarter, {.mode = kg::interpolation::nearest})) << "\n"
            << kg::to_string(kg::affine_grid(quarter, {2, 2}).dims()) << "\n";
}
const example for_an_image_turned_by_a_map{"kg::affine_warp kg::affine_grid kg::interpolation",
                                           an_image_turned_by_a_map};

void an_array_at_coordinates() {
  const kg::tensor x({0.0, 1.0, 4.0, 9.0}), at({{0.5, 2.5, 3.5}});
  std::cout << kg::map_coordinates(x, at, {.order = 1}) << "\n"
            << kg::map_coordinates(x, at, {.order = 1, .mode = kg::array_border::nearest}) << "\n";
}
const example for_an_array_at_coordinates{"kg::map_coordinates kg::array_border", an_array_at_coordinates};

void images_of_other_sizes() {
  const kg::tensor image = kg::reshape(kg::arange(16), {1, 4, 4, 1});
  std::cout << kg::squeeze(kg::resize_area(image, 2)) << "\n" << kg::squeeze(kg::resize_bicubic(image, {2, 1})) << "\n";
}
const example for_images_of_other_sizes{"kg::resize_area kg::resize_bicubic", images_of_other_sizes};

// ------------------------------------------------------------------------------------------ roots, states, pairs

void roots_of_a_square() { std::cout << kg::sort(kg::real(kg::roots(kg::tensor({1.0, -3.0, 2.0})))) << "\n"; }
const example for_roots_of_a_square{"kg::roots", roots_of_a_square};

void a_filter_of_a_signal_in_two_parts() {
  const kg::tensor b({1.0}), a({1.0, -0.5}), x({1.0, 1.0});
  const auto first = kg::lfilter_with_state(b, a, x);
  const auto rest = kg::lfilter_with_state(b, a, x, {.initial = first.state});
  std::cout << first.y << "\n" << rest.y << "\n";
}
const example for_a_filter_of_a_signal_in_two_parts{"kg::lfilter_with_state", a_filter_of_a_signal_in_two_parts};

void sections_of_a_signal_in_two_parts() {
  const kg::tensor sos = kg::butter(4, {0.2}), x = kg::ones({6}, kg::dtype::float64);
  const auto first = kg::sosfilt_with_state(sos, x);
  const kg::tensor rest = kg::sosfilt_with_state(sos, x, {.initial = first.state}).y;
  std::cout << kg::all_close(kg::concat({first.y, rest}), kg::sosfilt(sos, kg::concat({x, x}))) << "\n";
}
const example for_sections_of_a_signal_in_two_parts{"kg::sosfilt_with_state", sections_of_a_signal_in_two_parts};

void a_signal_and_its_double() {
  const kg::tensor t = kg::arange(0, 64, 1, kg::dtype::float64), x = kg::sin(t * t);
  std::cout << kg::round(kg::coherence(x, x * 2, {.segment = 4}).power) << "\n"
            << kg::all_close(kg::real(kg::csd(x, x * 2).power), kg::welch(x).power * 2) << "\n";
}
const example for_a_signal_and_its_double{"kg::coherence kg::csd", a_signal_and_its_double};

}  // namespace
