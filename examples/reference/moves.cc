// SPDX-License-Identifier: Apache-2.0
// Ops that move elements, and those on sparse and ragged tensors and on texts.
#include <iostream>
#include <span>
#include <vector>

#include "example.h"

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------ parts and shapes

void a_box_that_reaches_to_the_end() {
  const kg::tensor x = kg::reshape(kg::arange(12), {3, 4});
  std::cout << kg::slice(x, {1, 1}, {-1, 2}) << "\n";
}
const example for_a_box_that_reaches_to_the_end{"kg::slice", a_box_that_reaches_to_the_end};

void each_element_beside_the_one_before_it() {
  const kg::tensor x({1, 2, 3});
  std::cout << kg::shift(x, {-1}) << "\n"
            << kg::shift(x, {-1}, kg::boundary::zero) << "\n"
            << kg::shift(x, {2}, kg::boundary::reflect) << "\n";
}
const example for_each_element_beside_the_one_before_it{"kg::shift", each_element_beside_the_one_before_it};

void means_of_neighbours_on_a_ring() {
  const kg::fused_stencil<1> mean =
      kg::fuse(1, kg::boundary::periodic, [](std::span<const kg::field> x) { return (x[0](-1) + x[0](1)) * 0.5; });
  std::cout << mean(kg::tensor({0.f, 4.f, 0.f, 0.f, 2.f})) << "\n";
}
const example for_means_of_neighbours_on_a_ring{"kg::fused_stencil", means_of_neighbours_on_a_ring};

void rows_in_a_list_and_columns_by_name() {
  const kg::tensor points{{1, 10}, {2, 20}, {3, 30}};
  const auto [x, y] = kg::unstack<2>(points, 1);
  std::cout << kg::unstack(points).size() << " rows\n" << x << "\n" << y << "\n";
}
const example for_rows_in_a_list_and_columns_by_name{"kg::unstack", rows_in_a_list_and_columns_by_name};

void a_column_beside_itself() {
  const kg::tensor column({1, 2}, {2, 1});
  std::cout << kg::broadcast_to(column, {2, 3}) << "\n";
}
const example for_a_column_beside_itself{"kg::broadcast_to", a_column_beside_itself};

void the_shape_of_a_sum() { std::cout << kg::broadcast_args(kg::tensor({2, 1, 3}), kg::tensor({4, 1})) << "\n"; }
const example for_the_shape_of_a_sum{"kg::broadcast_args", the_shape_of_a_sum};

void columns_and_columns_of_each_row() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::gather(x, kg::tensor({2, 0, 2}), 1) << "\n"
            << kg::gather(x, kg::tensor{{1, 0}, {2, 2}}, 1, 1) << "\n";  // a row of indices for each row
}
const example for_columns_and_columns_of_each_row{"kg::gather", columns_and_columns_of_each_row};

void columns_backwards_and_all_backwards() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::reverse(x, 1) << "\n" << kg::reverse(x) << "\n";
}
const example for_columns_backwards_and_all_backwards{"kg::reverse", columns_backwards_and_all_backwards};

void backwards_and_a_column_by_masks() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::strided_slice(x, {0, -1}, {1, 0}, {1, -1}) << "\n"  // the end is left out
            << kg::strided_slice(x, {0, 1}, {0, 0}, {1, 1}, {.end = 0b01, .shrink_axis = 0b10}) << "\n";
}
const example for_backwards_and_a_column_by_masks{"kg::strided_slice", backwards_and_a_column_by_masks};

void borders_with_and_without_the_outermost() {
  const kg::tensor x({1, 2, 3});
  std::cout << kg::mirror_pad(x, {2, 1}) << "\n" << kg::mirror_pad(x, {2, 1}, kg::mirror::symmetric) << "\n";
}
const example for_borders_with_and_without_the_outermost{"kg::mirror_pad", borders_with_and_without_the_outermost};

void blocks_of_two_and_back() {
  const kg::tensor x{{1, 2, 3}};
  const kg::tensor parts = kg::space_to_batch(x, {2}, {0, 1});  // a zero behind makes two blocks
  std::cout << parts << "\n" << kg::batch_to_space(parts, {2}, {0, 1}) << "\n";
}
const example for_blocks_of_two_and_back{"kg::space_to_batch kg::batch_to_space", blocks_of_two_and_back};

void four_channels_as_two_by_two_pixels() {
  const kg::tensor image({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4});
  std::cout << kg::squeeze(kg::depth_to_space(image, 2)) << "\n";
}
const example for_four_channels_as_two_by_two_pixels{"kg::depth_to_space", four_channels_as_two_by_two_pixels};

void a_diagonal_matrix() { std::cout << kg::diag(kg::tensor({1, 2, 3})) << "\n"; }
const example for_a_diagonal_matrix{"kg::diag", a_diagonal_matrix};

void a_triangle_and_two_diagonals() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  std::cout << kg::band_part(x, -1, 0) << "\n" << kg::band_part(x, 0, 1) << "\n";
}
const example for_a_triangle_and_two_diagonals{"kg::band_part", a_triangle_and_two_diagonals};

// ------------------------------------------------------------------------------------------ by indices

void two_elements_and_a_row() {
  const kg::tensor x{{1, 2}, {3, 4}};
  std::cout << kg::gather_nd(x, kg::tensor{{0, 1}, {1, 0}}) << "\n" << kg::gather_nd(x, kg::tensor{{1}}) << "\n";
}
const example for_two_elements_and_a_row{"kg::gather_nd", two_elements_and_a_row};

void updates_of_one_place_add_up() {
  std::cout << kg::scatter_nd(kg::tensor({1, 3, 1}), kg::tensor({5, 7, 10}), {5}) << "\n";
}
const example for_updates_of_one_place_add_up{"kg::scatter_nd", updates_of_one_place_add_up};

void rows_replaced() {
  const kg::tensor x{{1, 2}, {3, 4}, {5, 6}}, rows{{2}, {0}};
  std::cout << kg::tensor_scatter_update(x, rows, kg::tensor{{50, 60}, {10, 20}}) << "\n";
}
const example for_rows_replaced{"kg::tensor_scatter_update", rows_replaced};

void updates_combined_where_two_meet() {
  const kg::tensor x({1, 2, 3}), places({0, 2, 2}), updates({5, 1, 7});
  std::cout << kg::scatter_add(x, places, updates) << "\n"
            << kg::scatter_mul(x, places, updates) << "\n"
            << kg::scatter_max(x, places, updates) << "\n"
            << kg::scatter_min(x, places, updates) << "\n";
}
const example for_updates_combined_where_two_meet{"kg::scatter_add kg::scatter_mul kg::scatter_max kg::scatter_min",
                                                  updates_combined_where_two_meet};

void the_largest_of_each_row_replaced() {
  const kg::tensor x{{3, 9, 4}, {8, 1, 7}};
  const kg::tensor largest = kg::expand_dims(kg::argmax(x, 1), 1);
  std::cout << kg::put_along_axis(x, largest, kg::tensor(0), 1) << "\n";
}
const example for_the_largest_of_each_row_replaced{"kg::put_along_axis", the_largest_of_each_row_replaced};

void counts_in_each_row() {
  const kg::tensor seen{{0, 2, 0}, {1, 1, 1}}, none = kg::zeros({2, 3}, kg::dtype::int32);
  std::cout << kg::scatter_along_axis(none, seen, kg::tensor(1), kg::scatter_reduction::add) << "\n";
}
const example for_counts_in_each_row{"kg::scatter_along_axis", counts_in_each_row};

void two_places_of_a_matrix() {
  const kg::tensor places{{0, 1}, {1, 2}};
  std::cout << kg::sparse_to_dense(places, kg::tensor({5, 7}), {2, 3}, -1) << "\n";
}
const example for_two_places_of_a_matrix{"kg::sparse_to_dense", two_places_of_a_matrix};

void segments_and_one_without_rows() {
  const kg::tensor x({1.f, 4.f, 2.f, 5.f}), ids({0, 2, 0, 2});
  std::cout << kg::segment_mean(x, ids, 3) << "\n"
            << kg::segment_prod(x, ids, 3) << "\n"
            << kg::segment_min(x, ids, 3) << "\n";
}
const example for_segments_and_one_without_rows{"kg::segment_mean kg::segment_prod kg::segment_min",
                                                segments_and_one_without_rows};

void classes_and_one_that_is_not_there() {
  std::cout << kg::one_hot(kg::tensor({2, 0, -1}), 3) << "\n"
            << kg::one_hot(kg::tensor({1}), 3, 5, -1, kg::dtype::int32) << "\n";
}
const example for_classes_and_one_that_is_not_there{"kg::one_hot", classes_and_one_that_is_not_there};

void places_that_are_not_zero() { std::cout << kg::nonzero(kg::tensor{{0, 7, 0}, {5, 0, 1}}) << "\n"; }
const example for_places_that_are_not_zero{"kg::nonzero", places_that_are_not_zero};

void rows_and_columns_by_masks() {
  const kg::tensor x{{1, 2}, {3, 4}, {5, 6}};
  std::cout << kg::boolean_mask(x, kg::tensor({true, false, true})) << "\n"
            << kg::boolean_mask(x, kg::tensor({false, true}), 1) << "\n";
}
const example for_rows_and_columns_by_masks{"kg::boolean_mask", rows_and_columns_by_masks};

// ------------------------------------------------------------------------------------------ sparse and ragged

void an_element_for_the_row_without_one() {
  const kg::tensor places{{0, 1}, {2, 0}};
  const auto [all_places, values, was_empty, moved_to] =
      kg::sparse_fill_empty_rows(places, kg::tensor({5, 7}), kg::tensor({3, 2}), kg::tensor(-1));
  std::cout << all_places << "\n" << values << "\n" << was_empty << "\n";
}
const example for_an_element_for_the_row_without_one{"kg::sparse_fill_empty_rows", an_element_for_the_row_without_one};

void places_in_three_rows_instead_of_two() {
  const kg::tensor places{{0, 2}, {1, 0}};  // elements 2 and 3 of six
  const auto [moved, dims] = kg::sparse_reshape(places, kg::tensor({2, 3}), kg::tensor({3, -1}));
  std::cout << moved << "\n" << dims << "\n";
}
const example for_places_in_three_rows_instead_of_two{"kg::sparse_reshape", places_in_three_rows_instead_of_two};

void rows_by_segment_and_a_segment_of_none() {
  const kg::tensor data{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}};
  const kg::tensor rows({0, 2, 1}), segments({0, 0, 2});
  std::cout << kg::sparse_segment_sum(data, rows, segments) << "\n"
            << kg::sparse_segment_mean(data, rows, segments) << "\n";
}
const example for_rows_by_segment_and_a_segment_of_none{"kg::sparse_segment_sum kg::sparse_segment_mean",
                                                        rows_by_segment_and_a_segment_of_none};

void bags_of_words_by_offsets_and_of_one_size() {
  const kg::tensor words{{1.f, 8.f}, {2.f, 6.f}, {5.f, 0.f}};
  std::cout << kg::embedding_bag(words, kg::tensor({0, 2, 1}), kg::tensor({0, 2, 3})) << "\n"  // the last one is empty
            << kg::embedding_bag(words, kg::tensor{{0, 1}, {1, 2}}, {.mode = kg::bag_mode::max}) << "\n";
}
const example for_bags_of_words_by_offsets_and_of_one_size{"kg::embedding_bag",
                                                           bags_of_words_by_offsets_and_of_one_size};

void rows_upwards_and_downwards() {
  const auto [splits, values] = kg::ragged_range(kg::tensor({0, 9}), kg::tensor({4, 6}), kg::tensor({2, -1}));
  std::cout << splits << "\n" << values << "\n";
}
const example for_rows_upwards_and_downwards{"kg::ragged_range", rows_upwards_and_downwards};

void ragged_rows_in_another_order() {
  const kg::tensor values({1, 2, 3, 4, 5});  // rows [1, 2], [] and [3, 4, 5]
  const std::vector<kg::tensor> splits{kg::tensor({0, 2, 2, 5})};
  const kg::tensor_list taken = kg::ragged_gather(splits, values, kg::tensor({2, 0}));
  std::cout << taken[0] << "\n" << taken[1] << "\n";
}
const example for_ragged_rows_in_another_order{"kg::ragged_gather", ragged_rows_in_another_order};

void ragged_rows_filled_up_and_cut_off() {
  const kg::tensor values({1, 2, 3, 4, 5}), zero(0);  // rows [1, 2], [] and [3, 4, 5]
  const std::vector<kg::tensor> splits{kg::tensor({0, 2, 2, 5})};
  std::cout << kg::ragged_tensor_to_tensor(kg::tensor(-1), values, zero, splits, "ROW_SPLITS") << "\n"
            << kg::ragged_tensor_to_tensor(kg::tensor({3, 2}), values, zero, splits, "ROW_SPLITS") << "\n";
}
const example for_ragged_rows_filled_up_and_cut_off{"kg::ragged_tensor_to_tensor", ragged_rows_filled_up_and_cut_off};

// ------------------------------------------------------------------------------------------ texts

void fields_between_commas() {
  const auto [places, fields, dims] = kg::string_split(kg::tensor({"red,green", "blue"}), kg::tensor(","));
  std::cout << places << "\n" << fields << "\n" << dims << "\n";
}
const example for_fields_between_commas{"kg::string_split", fields_between_commas};

void pairs_of_words_with_pads() {
  const kg::tensor words({"to", "be", "or"}), splits({0, 2, 3});
  const auto [pairs, rows] =
      kg::string_ngrams(words, splits, {2}, {.left_pad = "^", .right_pad = "$", .pad_width = -1});
  std::cout << pairs << "\n" << rows << "\n";
}
const example for_pairs_of_words_with_pads{"kg::string_ngrams", pairs_of_words_with_pads};

void texts_in_three_buckets() {
  std::cout << kg::string_to_hash_bucket_fast(kg::tensor({"Hello", "TensorFlow", "2.x"}), 3) << "\n";
}
const example for_texts_in_three_buckets{"kg::string_to_hash_bucket_fast", texts_in_three_buckets};

void in_reverse_order() { std::cout << kg::flip(kg::tensor{{1, 2}, {3, 4}}, 1) << "\n"; }
const example for_in_reverse_order{"kg::flip", in_reverse_order};

void taken_by_number() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::take(x, kg::tensor({2, 0}), 1) << "\n" << kg::take(x, kg::tensor({-1, 0})) << "\n";
}
const example for_taken_by_number{"kg::take", taken_by_number};

}  // namespace
