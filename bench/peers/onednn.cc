// SPDX-License-Identifier: Apache-2.0
// oneDNN 2: primitives are created once, images are NHWC, filters in the layout that oneDNN asks for.
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "bench/peers/case.h"

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using dims = memory::dims;
using tag = memory::format_tag;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
memory::desc tensor(const dims& sizes, tag order) { return {sizes, memory::data_type::f32, order}; }
memory operand(const memory::desc& d, int operand_index) {
  return {d, cpu(), cases::floats(operand_index, (d.get_size() + sizeof(float) - 1) / sizeof(float))};
}
memory target(const memory::desc& d) { return operand(d, 30); }
memory::dim dim(std::size_t n) { return static_cast<memory::dim>(n); }

struct call {
  dnnl::primitive run;
  std::unordered_map<int, memory> operands;
};

// `make` gives a call, as often as the case is prepared.
template <class Size, class Make>
void add(const char* name, const Size& size, Make make) {
  cases::add(name, size, [make] {
    static dnnl::stream stream(cpu());
    return [c = std::make_shared<call>(make())] { c->run.execute(stream, c->operands); };
  });
}

void add_eltwise(const char* name, std::size_t n, algorithm kind, bool positive = false) {
  add(name, n, [=] {
    const auto d = tensor({dim(n)}, tag::a);
    const dnnl::eltwise_forward::primitive_desc plan({prop_kind::forward_inference, kind, d, 0.f, 0.f}, cpu());
    const memory x(d, cpu(), positive ? cases::positive(n) : cases::floats(0, n));
    return call{dnnl::eltwise_forward(plan), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, target(d)}}};
  });
}

template <class Size>
void add_binary(const char* name, const Size& size, algorithm kind, const memory::desc& a, const memory::desc& b) {
  add(name, size, [=] {
    const dnnl::binary::primitive_desc plan({kind, a, b, a}, cpu());
    return call{dnnl::binary(plan),
                {{DNNL_ARG_SRC_0, operand(a, 0)}, {DNNL_ARG_SRC_1, operand(b, 1)}, {DNNL_ARG_DST, target(a)}}};
  });
}

template <class Size>
void add_reduction(const char* name, const Size& size, algorithm kind, const dims& from, const dims& to) {
  add(name, size, [=] {
    const tag order = from.size() == 1 ? tag::a : tag::ab;
    const auto x = tensor(from, order), y = tensor(to, order);
    const dnnl::reduction::primitive_desc plan({kind, x, y, 0.f, 0.f}, cpu());
    return call{dnnl::reduction(plan), {{DNNL_ARG_SRC, operand(x, 0)}, {DNNL_ARG_DST, target(y)}}};
  });
}

void add_elementwise() {
  for (std::size_t n : cases::element_sizes) {
    const auto d = tensor({dim(n)}, tag::a);
    add_binary("add", n, algorithm::binary_add, d, d);
    add_binary("mul", n, algorithm::binary_mul, d, d);
    add_eltwise("relu", n, algorithm::eltwise_relu);
    add_eltwise("exp", n, algorithm::eltwise_exp);
    add_eltwise("log", n, algorithm::eltwise_log, true);
    add_eltwise("sigmoid", n, algorithm::eltwise_logistic);
    add_eltwise("tanh", n, algorithm::eltwise_tanh);
    add_reduction("sum", n, algorithm::reduction_sum, {dim(n)}, {1});
    add_reduction("max", n, algorithm::reduction_max, {dim(n)}, {1});
  }
}

void add_matrices() {
  const auto square = tensor({cases::side, cases::side}, tag::ab);
  add_reduction("sum_last", "1024x1024", algorithm::reduction_sum, {1024, 1024}, {1024, 1});
  add_reduction("sum_first", "1024x1024", algorithm::reduction_sum, {1024, 1024}, {1, 1024});
  add_binary("bcast_add", "1024x1024", algorithm::binary_add, square, tensor({1, cases::side}, tag::ab));
  for (cases::matrix_size s : cases::row_sizes)
    add("softmax", s, [s] {
      const auto d = tensor({dim(s.rows), dim(s.columns)}, tag::ab);
      const dnnl::softmax_forward::primitive_desc plan({prop_kind::forward_inference, d, 1}, cpu());
      return call{dnnl::softmax_forward(plan), {{DNNL_ARG_SRC, operand(d, 0)}, {DNNL_ARG_DST, target(d)}}};
    });
  add("transpose", "1024x1024", [square] {
    const auto transposed = tensor({cases::side, cases::side}, tag::ba);
    const dnnl::reorder::primitive_desc plan(cpu(), square, cpu(), transposed);
    return call{dnnl::reorder(plan), {{DNNL_ARG_FROM, operand(square, 0)}, {DNNL_ARG_TO, target(transposed)}}};
  });
  add("layernorm", "1024x1024", [square] {
    using dnnl::normalization_flags;
    const dnnl::layer_normalization_forward::primitive_desc plan(
        {prop_kind::forward_inference, square, 1e-5f, normalization_flags::use_scale | normalization_flags::use_shift},
        cpu());
    const auto row = tensor({cases::side}, tag::a);
    return call{dnnl::layer_normalization_forward(plan),
                {{DNNL_ARG_SRC, operand(square, 0)},
                 {DNNL_ARG_DST, target(square)},
                 {DNNL_ARG_SCALE, operand(row, 1)},
                 {DNNL_ARG_SHIFT, operand(row, 2)}}};
  });
  // `packed`: the weights are brought into oneDNN's own layout outside the timing.
  for (cases::product_size s : cases::products)
    for (const bool packed : {false, true})
      add(packed ? "matmul@packed" : "matmul", s, [=] {
        const auto a = tensor({dim(s.m), dim(s.k)}, tag::ab), c = tensor({dim(s.m), dim(s.n)}, tag::ab);
        const auto b = tensor({dim(s.k), dim(s.n)}, packed ? tag::any : tag::ab);
        const dnnl::matmul::primitive_desc plan({a, b, c}, cpu());
        return call{dnnl::matmul(plan),
                    {{DNNL_ARG_SRC, operand(a, 0)},
                     {DNNL_ARG_WEIGHTS, operand(plan.weights_desc(), 1)},
                     {DNNL_ARG_DST, target(c)}}};
      });
}

struct window {
  dims image, filter, result, strides, padding;
};
const window square_window{{1, 64, 56, 56}, {64, 64, 3, 3}, {1, 64, 56, 56}, {1, 1}, {1, 1}};

dnnl::convolution_forward::primitive_desc convolution(const window& w) {
  return {{prop_kind::forward_inference, algorithm::convolution_direct, tensor(w.image, tag::nhwc),
           tensor(w.filter, tag::any), tensor(w.result, tag::nhwc), w.strides, w.padding, w.padding},
          cpu()};
}

void add_convolution(const char* name, const char* size, const window& w) {
  add(name, size, [w] {
    const auto plan = convolution(w);
    return call{dnnl::convolution_forward(plan),
                {{DNNL_ARG_SRC, operand(plan.src_desc(), 0)},
                 {DNNL_ARG_WEIGHTS, operand(plan.weights_desc(), 1)},
                 {DNNL_ARG_DST, target(plan.dst_desc())}}};
  });
}

void add_windows() {
  add_convolution("conv3x3", "1x56x56x64", square_window);
  add_convolution("conv7x7s2", "1x224x224x3", {{1, 3, 224, 224}, {64, 3, 7, 7}, {1, 64, 112, 112}, {2, 2}, {3, 3}});
  add_convolution("depthwise3x3", "1x56x56x64", {{1, 64, 56, 56}, {64, 1, 1, 3, 3}, {1, 64, 56, 56}, {1, 1}, {1, 1}});
  add("conv3x3_grad_input", "1x56x56x64", [] {
    const auto& [image, filter, result, strides, padding] = square_window;
    const auto d = tensor(image, tag::nhwc);
    const dnnl::convolution_backward_data::primitive_desc plan(
        {algorithm::convolution_direct, d, tensor(filter, tag::any), d, strides, padding, padding}, cpu(),
        convolution(square_window));
    return call{dnnl::convolution_backward_data(plan),
                {{DNNL_ARG_DIFF_DST, operand(d, 0)},
                 {DNNL_ARG_WEIGHTS, operand(plan.weights_desc(), 1)},
                 {DNNL_ARG_DIFF_SRC, target(d)}}};
  });
  add("conv3x3_grad_filter", "1x56x56x64", [] {
    const auto& [image, filter, result, strides, padding] = square_window;
    const auto d = tensor(image, tag::nhwc);
    const dnnl::convolution_backward_weights::primitive_desc plan(
        {algorithm::convolution_direct, d, tensor(filter, tag::any), d, strides, padding, padding}, cpu(),
        convolution(square_window));
    return call{dnnl::convolution_backward_weights(plan),
                {{DNNL_ARG_SRC, operand(d, 0)},
                 {DNNL_ARG_DIFF_DST, operand(d, 1)},
                 {DNNL_ARG_DIFF_WEIGHTS, target(plan.diff_weights_desc())}}};
  });
  add("maxpool2x2", "1x56x56x64", [] {
    const auto x = tensor({1, 64, 56, 56}, tag::nhwc), y = tensor({1, 64, 28, 28}, tag::nhwc);
    const dnnl::pooling_forward::primitive_desc plan(
        {prop_kind::forward_inference, algorithm::pooling_max, x, y, {2, 2}, {2, 2}, {0, 0}, {0, 0}}, cpu());
    return call{dnnl::pooling_forward(plan), {{DNNL_ARG_SRC, operand(x, 0)}, {DNNL_ARG_DST, target(y)}}};
  });
  add("batchnorm", "1x56x56x64", [] {
    using dnnl::normalization_flags;
    const auto x = tensor({1, 64, 56, 56}, tag::nhwc), channels = tensor({64}, tag::a);
    const dnnl::batch_normalization_forward::primitive_desc plan(
        {prop_kind::forward_inference, x, 1e-5f,
         normalization_flags::use_global_stats | normalization_flags::use_scale | normalization_flags::use_shift},
        cpu());
    return call{dnnl::batch_normalization_forward(plan),
                {{DNNL_ARG_SRC, operand(x, 0)},
                 {DNNL_ARG_DST, target(x)},
                 {DNNL_ARG_MEAN, operand(channels, 1)},
                 {DNNL_ARG_VARIANCE, memory(channels, cpu(), cases::positive(64))},
                 {DNNL_ARG_SCALE, operand(channels, 2)},
                 {DNNL_ARG_SHIFT, operand(channels, 3)}}};
  });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add_elementwise();
    add_matrices();
    add_windows();
  });
}
