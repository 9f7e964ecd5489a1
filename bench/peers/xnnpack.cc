// SPDX-License-Identifier: Apache-2.0
// XNNPACK: operators are created, set up and their weights packed outside the timing; only the run is timed.
#include <xnnpack.h>

#include <cstdio>
#include <limits>

#include "bench/peers/case.h"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

void check(xnn_status status) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK refuses a case: status %d\n", static_cast<int>(status));
  std::exit(1);
}

// `make` creates an operator and sets it up.
template <class Size, class Make>
void add(const char* name, const Size& size, Make make) {
  cases::add(name, size, [make] { return [op = make()] { xnn_run_operator(op, nullptr); }; });
}

void add_elementwise(std::size_t n) {
  add("add", n, [n] {
    xnn_operator_t op;
    check(xnn_create_add_nd_f32(-infinity, infinity, 0, &op));
    check(xnn_setup_add_nd_f32(op, 1, &n, 1, &n, cases::floats(0, n), cases::floats(1, n), cases::result(n), nullptr));
    return op;
  });
  add("mul", n, [n] {
    xnn_operator_t op;
    check(xnn_create_multiply_nd_f32(-infinity, infinity, 0, &op));
    check(xnn_setup_multiply_nd_f32(op, 1, &n, 1, &n, cases::floats(0, n), cases::floats(1, n), cases::result(n),
                                    nullptr));
    return op;
  });
  add("relu", n, [n] {
    xnn_operator_t op;
    check(xnn_create_clamp_nc_f32(n, n, n, 0, infinity, 0, &op));
    check(xnn_setup_clamp_nc_f32(op, 1, cases::floats(0, n), cases::result(n), nullptr));
    return op;
  });
  add("sigmoid", n, [n] {
    xnn_operator_t op;
    check(xnn_create_sigmoid_nc_f32(n, n, n, 0, &op));
    check(xnn_setup_sigmoid_nc_f32(op, 1, cases::floats(0, n), cases::result(n), nullptr));
    return op;
  });
}

void add_matrices() {
  for (cases::matrix_size s : cases::row_sizes)
    add("softmax", s, [s] {
      const std::size_t n = s.rows * s.columns;
      xnn_operator_t op;
      check(xnn_create_softmax_nc_f32(s.columns, s.columns, s.columns, 0, &op));
      check(xnn_setup_softmax_nc_f32(op, s.rows, cases::floats(0, n), cases::result(n), nullptr));
      return op;
    });
  add("bcast_add", "1024x1024", [] {
    constexpr std::size_t square[] = {cases::side, cases::side}, n = cases::side * cases::side;
    xnn_operator_t op;
    check(xnn_create_add_nd_f32(-infinity, infinity, 0, &op));
    check(xnn_setup_add_nd_f32(op, 2, square, 1, square, cases::floats(0, n), cases::floats(1, cases::side),
                               cases::result(n), nullptr));
    return op;
  });
  for (cases::product_size s : cases::products)
    add("matmul@packed", s, [s] {
      xnn_operator_t op;
      check(xnn_create_fully_connected_nc_f32(s.k, s.n, s.k, s.n, cases::floats(1, s.k * s.n), nullptr, -infinity,
                                              infinity, 0, &op));
      check(xnn_setup_fully_connected_nc_f32(op, s.m, cases::floats(0, s.m * s.k), cases::result(s.m * s.n), nullptr));
      return op;
    });
}

struct window {
  std::size_t size, channels, kernel, stride;
  std::uint32_t before, after;
  std::uint32_t groups;
  std::size_t in_of_group, out_of_group;
};

void add_convolution(const char* name, const char* size, const window& w) {
  add(name, size, [w] {
    const std::size_t out = w.groups * w.out_of_group, pixels = w.size / w.stride * (w.size / w.stride);
    const auto kernel = static_cast<std::uint32_t>(w.kernel), stride = static_cast<std::uint32_t>(w.stride);
    xnn_operator_t op;
    check(xnn_create_convolution2d_nhwc_f32(w.before, w.after, w.after, w.before, kernel, kernel, stride, stride, 1, 1,
                                            w.groups, w.in_of_group, w.out_of_group, w.channels, out,
                                            cases::floats(1, w.kernel * w.kernel * w.in_of_group * out),
                                            cases::floats(2, out), -infinity, infinity, 0, &op));
    check(xnn_setup_convolution2d_nhwc_f32(op, 1, w.size, w.size, cases::floats(0, w.size * w.size * w.channels),
                                           cases::result(pixels * out), nullptr));
    return op;
  });
}

void add_windows() {
  add_convolution("conv3x3", "1x56x56x64", {56, 64, 3, 1, 1, 1, 1, 64, 64});
  add_convolution("conv7x7s2", "1x224x224x3", {224, 3, 7, 2, 2, 3, 1, 3, 64});
  add_convolution("depthwise3x3", "1x56x56x64", {56, 64, 3, 1, 1, 1, 64, 1, 1});
  add("maxpool2x2", "1x56x56x64", [] {
    xnn_operator_t op;
    check(xnn_create_max_pooling2d_nhwc_f32(0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 64, 64, 64, -infinity, infinity, 0, &op));
    check(xnn_setup_max_pooling2d_nhwc_f32(op, 1, 56, 56, cases::floats(0, cases::image),
                                           cases::result(cases::image / 4), nullptr));
    return op;
  });
  add("resize", "224x224x3", [] {
    constexpr std::size_t side = 224, half = side / 2, channels = 3;
    xnn_operator_t op;
    check(xnn_create_resize_bilinear2d_nhwc_f32(channels, channels, channels, 0, &op));
    check(xnn_setup_resize_bilinear2d_nhwc_f32(op, 1, side, side, half, half, cases::floats(0, side * side * channels),
                                               cases::result(half * half * channels), nullptr));
    return op;
  });
}

}  // namespace

int main(int argc, char** argv) {
  check(xnn_initialize(nullptr));
  return cases::run(argc, argv, [] {
    for (std::size_t n : cases::element_sizes) add_elementwise(n);
    add_matrices();
    add_windows();
  });
}
