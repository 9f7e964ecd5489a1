// SPDX-License-Identifier: Apache-2.0
// Images and arrays between their elements, poolings beyond the padding, wide borders and roots: next to PyTorch, SciPy
// and NumPy, and gradients of both orders.
#include <algorithm>
#include <complex>

#include "tests/composed/torch_results.h"

namespace {

using kg::array_border;
using kg::dtype;
using kg::image_border;
using kg::interpolation;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_torch;
using kgtest::expect_values;
using kgtest::uniform;
using kgtest::wave;

const char* python(bool value) { return value ? "True" : "False"; }

struct named_mode {
  const char* python;
  interpolation mode;
};
constexpr named_mode modes[] = {
    {"nearest", interpolation::nearest}, {"bilinear", interpolation::linear}, {"bicubic", interpolation::cubic}};
struct named_border {
  const char* python;
  image_border outside;
};
constexpr named_border borders[] = {
    {"zeros", image_border::zeros}, {"border", image_border::border}, {"reflection", image_border::reflection}};

TEST(grid_sample, has_the_values_and_gradients_of_torch) {
  const tensor images = wave({2, 3, 4, 1}, 1), grid = wave({2, 2, 3, 2}, 2) * 1.6;
  for (const auto& [mode_name, mode] : modes)
    for (const auto& [border_name, outside] : borders)
      for (const bool align : {false, true}) {
        const kg::grid_sample_options options{.mode = mode, .outside = outside, .align_corners = align};
        const tensor y = kg::grid_sample(images, grid, options);
        const auto loss = [&](const tensor& x, const tensor& at) {
          return kg::sum(kg::grid_sample(x, at, options) * wave(y.dims(), 3));
        };
        const auto [dx, dgrid] = kg::grads(loss)(images, grid);
        expect_torch("sampled(\"" + std::string(mode_name) + "\", \"" + border_name + "\", " + python(align) + ")",
                     {y, dx, dgrid});
      }
}

TEST(grid_sample, is_differentiable_twice) {
  for (const interpolation mode : {interpolation::linear, interpolation::cubic})
    for (const auto& [name, outside] : borders)
      check_gradients(
          "grid_sample",
          [&](auto in) { return kg::square(kg::grid_sample(in[0], in[1], {.mode = mode, .outside = outside})); },
          {uniform({2, 3, 4, 1}, 1), uniform({1, 2, 3, 2}, 2, -0.9, 0.9)});
}

TEST(grid_sample, takes_one_grid_for_all_images_and_NaN_as_the_first_pixel) {
  const tensor images = wave({3, 4, 5, 6}, 1), grid = wave({1, 2, 3, 2}, 2);
  const tensor all = kg::grid_sample(images, grid);
  EXPECT_EQ(all.to_doubles(), kg::grid_sample(images, kg::tile(grid, {3, 1, 1, 1})).to_doubles());
  const tensor nan = kg::full({1, 1, 1, 2}, std::nan(""), dtype::float64);
  const tensor first = kg::grid_sample(images, nan, {.align_corners = true});
  EXPECT_EQ(first.to_doubles(), kg::slice(images, {0, 0, 0, 0}, {3, 1, 1, 6}).to_doubles());
  const tensor half = kg::grid_sample(kg::cast(images, dtype::float16), kg::cast(grid, dtype::float16));
  EXPECT_EQ(half.type(), dtype::float16);
  const tensor far = kg::grid_sample(images, kg::full({1, 1, 1, 2}, 1e30, dtype::float64));
  expect_values(far, {3, 1, 1, 6}, doubles(18));
}

TEST(grid_sample, refuses_operands_that_do_not_fit) {
  const tensor images = kg::zeros({2, 3, 4, 1});
  expect_refused("grid_sample", [&] { return kg::grid_sample(images, kg::zeros({3, 1, 1, 2})); }, {"grid", "[2, rows"});
  expect_refused("grid_sample", [&] { return kg::grid_sample(images, kg::zeros({2, 1, 1, 3})); }, {"columns, 2]"});
  expect_refused("grid_sample", [&] { return kg::grid_sample(kg::zeros({2, 0, 4, 1}), images); }, {"pixels"});
}

TEST(affine_grid, is_that_of_torch_and_warps_an_image) {
  for (const bool align : {false, true})
    expect_torch(std::string("F.affine_grid(wave((2, 2, 3), 1), (2, 1, 3, 4), ") + python(align) + ")",
                 {kg::affine_grid(wave({2, 2, 3}, 1), {3, 4}, align)});
  const tensor images = wave({2, 3, 4, 2}, 1), mirrored({-1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, {1, 2, 3});
  expect_values(kg::affine_warp(images, mirrored), images.dims(), kg::flip_left_right(images).to_doubles(), 1e-14);
  EXPECT_EQ(kg::affine_warp(images, mirrored, {}, kg::extent(2, 5)).dims(), (kg::shape{2, 2, 5, 2}));
  check_gradients("affine_warp", [](auto in) { return kg::affine_warp(in[0], in[1]); },
                  {uniform({2, 3, 3, 1}, 1), tensor({0.31, 0.12, 0.04, -0.13, 0.29, 0.06}, {1, 2, 3})});
  expect_refused("affine_grid", [] { return kg::affine_grid(kg::zeros({2, 3, 3}), 2); }, {"[batch, 2, 3]"});
  expect_refused("affine_warp", [&] { return kg::affine_warp(images, kg::zeros({3, 2, 3})); }, {"[2, 2, 3]"});
}

struct named_array_border {
  const char* python;
  array_border mode;
};
constexpr named_array_border array_borders[] = {
    {"constant", array_border::constant},  {"grid-constant", array_border::grid_constant},
    {"nearest", array_border::nearest},    {"mirror", array_border::mirror},
    {"reflect", array_border::reflect},    {"wrap", array_border::wrap},
    {"grid-wrap", array_border::grid_wrap}};

TEST(map_coordinates, has_the_values_of_scipy) {
  const tensor x = wave({5, 4}, 1), at = wave({2, 3, 3}, 2) * 4 + 1.5;
  // SciPy's first coefficient of a reflected axis reads a sum that it is adding to: an error of pole^(2 n - 1).
  for (int order = 0; order < 4; ++order)
    for (const auto& [name, mode] : array_borders)
      expect_torch("coordinates(" + std::to_string(order) + ", \"" + name + "\")",
                   {kg::map_coordinates(x, at, {.order = order, .mode = mode, .fill = 0.5})},
                   order > 1 && mode == array_border::reflect ? 1e-4 : 1e-10);
}

TEST(map_coordinates, goes_through_the_elements_and_is_differentiable_twice) {
  const tensor x = wave({3, 4, 2}, 1);
  const auto along = [&](int axis, const kg::shape& dims) {
    return kg::broadcast_to(kg::reshape(kg::arange(0, x.dims()[axis], 1, dtype::float64), dims), x.dims());
  };
  const tensor places = kg::stack({along(0, {3, 1, 1}), along(1, {4, 1}), along(2, {2})});
  for (const auto& [name, mode] : array_borders)
    for (int order = 0; order < 4; ++order)
      expect_values(kg::map_coordinates(x, places, {.order = order, .mode = mode}), x.dims(), x.to_doubles(), 1e-13);
  for (int order = 1; order < 4; ++order)
    for (const auto& [name, mode] : array_borders)
      check_gradients(
          "map_coordinates",
          [&](auto in) { return kg::square(kg::map_coordinates(in[0], in[1], {.order = order, .mode = mode})); },
          {uniform({3, 4}, 1), uniform({2, 3}, 2, 0.05, 0.45)});
  expect_refused("map_coordinates", [&] { return kg::map_coordinates(x, kg::zeros({2, 3})); }, {"size 3"});
  expect_refused("map_coordinates", [&] { return kg::map_coordinates(x, places, {.order = 4}); }, {"order 4"});
}

TEST(resizes, have_the_values_of_torch) {
  const tensor images = wave({1, 5, 6, 2}, 1);
  for (const auto& [h, w] : {std::pair{7, 3}, {2, 9}, {1, 1}})
    for (const bool align : {false, true})
      expect_torch("nhwc(F.interpolate(nchw(image), (" + std::to_string(h) + ", " + std::to_string(w) +
                       "), mode=\"bicubic\", align_corners=" + python(align) + "))",
                   {kg::resize_bicubic(images, {h, w}, {.align_corners = align})});
  for (const auto& [h, w] : {std::pair{3, 4}, {7, 9}, {2, 5}})
    expect_torch(
        "nhwc(F.interpolate(nchw(image), (" + std::to_string(h) + ", " + std::to_string(w) + "), mode=\"area\"))",
        {kg::resize_area(images, {h, w})});
  check_gradients("resize_bicubic", [](auto in) { return kg::resize_bicubic(in[0], {2, 5}); },
                  {uniform({1, 3, 4, 2}, 1)});
  check_gradients("resize_area", [](auto in) { return kg::resize_area(in[0], {2, 5}); }, {uniform({1, 3, 4, 2}, 1)});
  expect_refused("resize_area", [&] { return kg::resize_area(images, {0, 1}); }, {"size"});
}

struct pooling_case {
  const char* python;
  kg::extent window;
  kg::pool_options options;
};

TEST(poolings, count_the_padding_and_reach_beyond_it_as_those_of_torch) {
  const tensor images = wave({1, 5, 6, 2}, 1);
  const pooling_case cases[] = {
      {"2, 2, 0, True, True", 2, {.strides = 2, .ceil_mode = true, .count_include_pad = true}},
      {"3, 2, 1, True, True", 3, {.strides = 2, .pad = 1, .ceil_mode = true, .count_include_pad = true}},
      {"3, 2, 1, True, False", 3, {.strides = 2, .pad = 1, .ceil_mode = true}},
      {"3, 2, 1, False, True", 3, {.strides = 2, .pad = 1, .count_include_pad = true}},
      {"(3, 2), (2, 3), (1, 1), True, True",
       {3, 2},
       {.strides = kg::extent(2, 3), .pad = 1, .ceil_mode = true, .count_include_pad = true}},
      {"2, 3, 1, True, True", 2, {.strides = 3, .pad = 1, .ceil_mode = true, .count_include_pad = true}}};
  for (const auto& [name, window, options] : cases)
    expect_torch("nhwc(F.avg_pool2d(nchw(image), " + std::string(name) + "))", {kg::avg_pool(images, window, options)});
  expect_torch("nhwc(F.max_pool2d(nchw(image), 3, 2, 1, 1, True))", {kg::max_pool(images, 3, cases[1].options)});
  expect_torch("nhwc(F.max_pool2d(nchw(image), 3, 2, 1, 1, False))", {kg::max_pool(images, 3, cases[3].options)});
  check_gradients("avg_pool", [&](auto in) { return kg::square(kg::avg_pool(in[0], 3, cases[1].options)); },
                  {uniform({1, 4, 4, 1}, 1)});
  expect_refused("avg_pool", [&] { return kg::avg_pool(images, 9, {.ceil_mode = true}); }, {"window of 9"});
  const tensor same =
      kg::avg_pool(kg::ones({1, 4, 4, 1}), 3, {.strides = 1, .pad = kg::same, .count_include_pad = true});
  EXPECT_NEAR(same.to_doubles()[0], 4.0 / 9, 1e-7);
}

// The image takes 1 MiB, and the four indices and weights of each pixel 16 MiB.
TEST(resizes, count_their_weights_under_the_memory_limit) {
  constexpr std::int64_t width = 1 << 18;
  const tensor image = kg::ones({1, 1, 2, 1}), wide = kg::ones({1, 1, 4 * width, 1});
  const auto bicubic = [&] { return kg::resize_bicubic(image, {1, width}); };
  const auto area = [&] { return kg::resize_area(wide, {1, width}); };
  {
    const kg::memory_budget budget(std::int64_t{6} << 20);
    EXPECT_THROW(bicubic(), kg::error);
    EXPECT_THROW(area(), kg::error);
  }
  const kg::memory_budget budget(std::int64_t{24} << 20);
  EXPECT_EQ(bicubic().size(), width);
  EXPECT_EQ(area().size(), width);
}

TEST(pad, reflects_again_where_the_border_is_wider_than_the_axis) {
  struct {
    int size;
    std::int64_t before, after;
  } const cases[] = {{3, 4, 7}, {2, 5, 1}, {1, 3, 2}, {4, 0, 11}};
  for (const auto& [size, before, after] : cases)
    for (const bool reflect : {true, false})
      expect_torch(
          "np.pad(np.arange(" + std::to_string(size) + ".), (" + std::to_string(before) + ", " + std::to_string(after) +
              "), \"" + (reflect ? "reflect" : "symmetric") + "\")",
          {kg::pad(kg::arange(size), {before, after}, reflect ? kg::pad_mode::reflect : kg::pad_mode::symmetric)});
  check_gradients("pad", [](auto in) { return kg::square(kg::pad(in[0], {5, 1, 0, 9}, kg::pad_mode::reflect)); },
                  {uniform({3, 2}, 1)});
  EXPECT_THROW(kg::pad(kg::zeros({0}), {1, 0}, kg::pad_mode::reflect), kg::error);
  EXPECT_THROW(kg::pad(kg::zeros({2}), {-1, 9}, kg::pad_mode::reflect), kg::error);
}

// Roots in NumPy's order: by real part, then by imaginary part.
doubles sorted_roots(const tensor& coefficients) {
  const tensor all = kg::roots(coefficients);
  EXPECT_EQ(all.type(), dtype::complex128);
  const doubles re = kg::real(all).to_doubles(), im = kg::imag(all).to_doubles();
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t i = 0; i < re.size(); ++i) pairs.emplace_back(std::round(re[i] * 1e9) / 1e9, im[i]);
  std::ranges::sort(pairs);
  doubles flat;
  for (const auto& [a, b] : pairs) flat.push_back(a), flat.push_back(b);
  return flat;
}

TEST(roots, are_those_of_numpy) {
  const std::vector<std::pair<const char*, doubles>> cases = {{"[1, -6, 11, -6]", {1, -6, 11, -6}},
                                                              {"[2, 0, 0, 5]", {2, 0, 0, 5}},
                                                              {"[0, 3, -1, 4, 0, 0]", {0, 3, -1, 4, 0, 0}},
                                                              {"[1, 1e3, 1, 1e-3]", {1, 1e3, 1, 1e-3}},
                                                              {"[1, 2, 3, 4, 5, 6, 7, 8]", {1, 2, 3, 4, 5, 6, 7, 8}}};
  for (const auto& [name, coefficients] : cases)
    expect_torch("np.sort_complex(np.roots(" + std::string(name) + "))", {tensor(sorted_roots(tensor(coefficients)))},
                 1e-8);
}

// p at each root, by the sum of |a[k]| |z|^k: the backward error.
TEST(roots, leave_a_backward_error_of_rounding) {
  for (const int degree : {1, 2, 5, 40, 100}) {
    doubles a = kg::random_normal({degree + 1}, 0, 1, degree, dtype::float64).to_doubles();
    a[0] = 1e5, a.back() *= 1e-3;
    const tensor z = kg::roots(tensor(a));
    ASSERT_EQ(z.dims(), kg::shape{degree});
    const doubles re = kg::real(z).to_doubles(), im = kg::imag(z).to_doubles();
    for (std::size_t i = 0; i < re.size(); ++i) {
      std::complex<long double> at(re[i], im[i]), p = 0;
      long double size = 0;
      for (const double v : a) p = p * at + static_cast<long double>(v), size = size * std::abs(at) + std::fabs(v);
      EXPECT_LE(std::abs(p) / size, 1e-13) << "degree " << degree << ", root " << i;
    }
  }
}

TEST(roots, of_special_polynomials) {
  EXPECT_EQ(kg::roots(tensor(doubles{0, 0, 3})).dims(), kg::shape{0});
  EXPECT_EQ(kg::roots(kg::zeros({4})).dims(), kg::shape{0});
  EXPECT_EQ(sorted_roots(tensor(doubles{1, 0, 0})), (doubles{0, 0, 0, 0}));
  const doubles twice = sorted_roots(tensor(doubles{1, -2, 1}));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(twice[i], i % 2 ? 0 : 1, 1e-7);
  const doubles far = kg::real(kg::roots(tensor(doubles{1e-100, 0, -1e100}))).to_doubles();
  EXPECT_NEAR(std::fabs(far[0]) / 1e100, 1, 1e-12);
  expect_refused("roots", [] { return kg::roots(tensor(doubles{1e-300, 0, -1e300})); }, {"below 1e-308"});
  expect_refused("roots", [] { return kg::roots(kg::zeros({2, 2})); }, {"coefficients", "rank"});
  expect_refused("roots", [] { return kg::roots(tensor(doubles{1, std::nan("")})); }, {"finite"});
}

}  // namespace
