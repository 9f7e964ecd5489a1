// SPDX-License-Identifier: Apache-2.0
// Matrix products, convolutions with their gradients, pooling, resizing. Filters are used as they are: nothing is
// packed ahead.
#include <span>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

kg::tensor drawn(int operand_index, const kg::shape& dims) {
  const auto n = static_cast<std::size_t>(dims.size());
  return kg::tensor(std::span<const float>(cases::floats(operand_index, n), n), dims);
}

void add_product(const char* name, cases::product_size s, bool transpose_a, bool transpose_b, bool two = false) {
  cases::add(name, s, [=] {
    const auto m = static_cast<std::int64_t>(s.m), k = static_cast<std::int64_t>(s.k),
               n = static_cast<std::int64_t>(s.n);
    return [=, threads = two ? two_threads() : nullptr, a = drawn(0, transpose_a ? kg::shape{k, m} : kg::shape{m, k}),
            b = drawn(1, transpose_b ? kg::shape{n, k} : kg::shape{k, n})] {
      benchmark::DoNotOptimize(kg::matmul(a, b, transpose_a, transpose_b).address());
    };
  });
}

void add_window(const char* name, const char* size, const kg::shape& image, const kg::shape& filter,
                kg::tensor (*run)(const kg::tensor&, const kg::tensor&), bool two = false) {
  cases::add(name, size, [=] {
    return [=, threads = two ? two_threads() : nullptr, x = drawn(0, image), w = drawn(1, filter)] {
      benchmark::DoNotOptimize(run(x, w).address());
    };
  });
}

}  // namespace

void add_window_cases() {
  for (cases::product_size s : cases::products) add_product("matmul", s, false, false);
  constexpr cases::product_size cube{cases::side, cases::side, cases::side};
  add_product("matmul_nt", cube, false, true);
  add_product("matmul_tn", cube, true, false);

  add_product("matmul@two_threads", cube, false, false, true);

  using tensor = const kg::tensor&;
  const kg::shape image{1, 56, 56, 64}, filter{3, 3, 64, 64};
  constexpr auto convolution = [](tensor x, tensor w) { return kg::conv2d(x, w, {.pad = kg::same}); };
  add_window("conv3x3", "1x56x56x64", image, filter, convolution);
  add_window("conv3x3@two_threads", "1x56x56x64", image, filter, convolution, true);
  add_window("conv7x7s2", "1x224x224x3", {1, 224, 224, 3}, {7, 7, 3, 64},
             [](tensor x, tensor w) { return kg::conv2d(x, w, {.strides = 2, .pad = 3}); });
  add_window("depthwise3x3", "1x56x56x64", image, {3, 3, 64, 1},
             [](tensor x, tensor w) { return kg::depthwise_conv2d(x, w, {.pad = kg::same}); });
  add_window("maxpool2x2", "1x56x56x64", image, {1}, [](tensor x, tensor) { return kg::max_pool(x, 2); });
  add_window("resize", "224x224x3", {1, 224, 224, 3}, {1},
             [](tensor x, tensor) { return kg::resize_bilinear(x, 112, {.half_pixel_centers = true}); });
  add_window("conv3x3_grad_input", "1x56x56x64", image, filter,
             [](tensor dy, tensor w) { return kg::conv2d_transpose(dy, w, {1, 56, 56, 64}, {.pad = kg::same}); });
  add_window("conv3x3_grad_filter", "1x56x56x64", image, image, [](tensor x, tensor dy) {
    return kg::call<"Conv2DBackpropFilter">(x, dy, kg::attr<"pad">("same"),
                                            kg::attr<"filterShape">(kg::shape{3, 3, 64, 64}));
  });
}
