// SPDX-License-Identifier: Apache-2.0
// Calls at fixed sizes, at least one of each family of kernels. Prints a name for each call that was counted;
// kernel_counts_check.py reads how many instructions each executed.
#include <cstdint>
#include <cstdio>

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;

struct counted_call {
  const char* name;
  tensor (*run)();
};

// Operands, the same in every run.
tensor numbers(const kg::shape& dims, int seed, dtype type = dtype::float32) {
  return kg::random_uniform(dims, 0.25, 2, seed, type);
}
const tensor& a() {
  static const tensor x = numbers({4096}, 1);
  return x;
}
const tensor& b() {
  static const tensor x = numbers({4096}, 2);
  return x;
}
const tensor& thousand() {
  static const tensor x = numbers({1000}, 3);
  return x;
}
const tensor& matrix() {
  static const tensor x = numbers({64, 100}, 4);
  return x;
}
const tensor& square() {
  static const tensor x = numbers({64, 64}, 5);
  return x;
}
const tensor& row() {
  static const tensor x = numbers({100}, 6);
  return x;
}
const tensor& wide() {
  static const tensor x = numbers({32, 32}, 7, dtype::float64);
  return x;
}
const tensor& integers() {
  static const tensor x = kg::cast(numbers({4096}, 8) * 50, dtype::int32);
  return x;
}
const tensor& halves() {
  static const tensor x = numbers({4096}, 9, dtype::bfloat16);
  return x;
}
const tensor& complex() {
  static const tensor x = kg::complex(a(), b());
  return x;
}
const tensor& image() {
  static const tensor x = numbers({1, 16, 16, 8}, 10);
  return x;
}
const tensor& filter() {
  static const tensor x = numbers({3, 3, 8, 16}, 11);
  return x;
}
const tensor& depth_filter() {
  static const tensor x = numbers({3, 3, 8, 1}, 12);
  return x;
}
const tensor& volume() {
  static const tensor x = numbers({1, 6, 6, 6, 4}, 13);
  return x;
}
const tensor& volume_filter() {
  static const tensor x = numbers({3, 3, 3, 4, 8}, 14);
  return x;
}
const tensor& heads() {
  static const tensor x = numbers({2, 64, 32}, 15);
  return x;
}
const tensor& channels() {
  static const tensor x = numbers({8}, 16);
  return x;
}
const tensor& places() {
  static const tensor x = kg::cast(numbers({256}, 17) * 30, dtype::int32);
  return x;
}
const tensor& small() {
  static const tensor x = numbers({16, 16}, 18);
  return x;
}

constexpr auto polynomial = kg::fuse([](auto x, auto y) { return x * y + kg::sigmoid(x) * y; });
constexpr auto sum_of_squares = kg::fuse([](auto x) { return kg::sum(x * x); });

const counted_call calls[] = {
    {"add", [] { return kg::add(a(), b()); }},
    {"add of int32", [] { return kg::add(integers(), integers()); }},
    {"add of bfloat16", [] { return kg::add(halves(), halves()); }},
    {"multiply of complex64", [] { return kg::mul(complex(), complex()); }},
    {"divide", [] { return a() / b(); }},
    {"divide of int32", [] { return kg::floor_div(integers(), integers() + 1); }},
    {"add of a row", [] { return matrix() + row(); }},
    {"greater", [] { return a() > b(); }},
    {"where", [] { return kg::where(a() > b(), a(), b()); }},
    {"relu", [] { return kg::relu(a()); }},
    {"sqrt", [] { return kg::sqrt(a()); }},
    {"exp", [] { return kg::exp(a()); }},
    {"exp of float64", [] { return kg::exp(wide()); }},
    {"log", [] { return kg::log(a()); }},
    {"sin", [] { return kg::sin(a()); }},
    {"tanh", [] { return kg::tanh(a()); }},
    {"sigmoid", [] { return kg::sigmoid(a()); }},
    {"gelu", [] { return kg::gelu(a()); }},
    {"erf", [] { return kg::erf(a()); }},
    {"pow", [] { return kg::pow(a(), b()); }},
    {"lgamma", [] { return kg::lgamma(a()); }},
    {"cast to int32", [] { return kg::cast(a(), dtype::int32); }},
    {"cast to bfloat16", [] { return kg::cast(a(), dtype::bfloat16); }},
    {"sum of 1000", [] { return kg::sum(thousand()); }},
    {"max of 1000", [] { return kg::max(thousand()); }},
    {"sum over the last axis", [] { return kg::sum(matrix(), 1); }},
    {"sum over the first axis", [] { return kg::sum(matrix(), 0); }},
    {"mean", [] { return kg::mean(matrix(), 1); }},
    {"prod", [] { return kg::prod(thousand()); }},
    {"argmax", [] { return kg::argmax(matrix(), 1); }},
    {"cumsum", [] { return kg::cumsum(matrix(), 1); }},
    {"softmax", [] { return kg::softmax(matrix()); }},
    {"log_softmax", [] { return kg::log_softmax(matrix()); }},
    {"logsumexp", [] { return kg::logsumexp(matrix()); }},
    {"matmul 16", [] { return kg::matmul(small(), small()); }},
    {"matmul 64", [] { return kg::matmul(square(), square()); }},
    {"matmul 64, transposed", [] { return kg::matmul(square(), square(), true, true); }},
    {"matmul 32 of float64", [] { return kg::matmul(wide(), wide()); }},
    {"matrix times vector", [] { return kg::matmul(matrix(), kg::reshape(row(), {100, 1})); }},
    {"conv2d", [] { return kg::conv2d(image(), filter(), {.pad = kg::same}); }},
    {"depthwise_conv2d", [] { return kg::depthwise_conv2d(image(), depth_filter(), {.pad = kg::same}); }},
    {"max_pool", [] { return kg::max_pool(image(), 2, {.strides = 2}); }},
    {"avg_pool", [] { return kg::avg_pool(image(), 2, {.strides = 2}); }},
    {"conv3d", [] { return kg::conv3d(volume(), volume_filter()); }},
    {"transpose", [] { return kg::transpose(matrix()); }},
    {"concat", [] { return kg::concat({matrix(), matrix()}, 1); }},
    {"slice", [] { return kg::slice(matrix(), {3, 5}, {50, 70}); }},
    {"pad", [] { return kg::pad(matrix(), {{1, 1}, {2, 2}}); }},
    {"tile", [] { return kg::tile(row(), {20}); }},
    {"reverse", [] { return kg::reverse(matrix(), 1); }},
    {"gather", [] { return kg::gather(square(), places()); }},
    {"one_hot", [] { return kg::one_hot(places(), 60); }},
    {"bincount", [] { return kg::bincount(integers(), 100); }},
    {"unique", [] { return kg::unique(integers())[0]; }},
    {"random_uniform", [] { return kg::random_uniform({4096}, 0, 1, 1); }},
    {"random_normal", [] { return kg::random_normal({4096}, 0, 1, 1); }},
    {"arange", [] { return kg::arange(4096); }},
    {"layer_norm", [] { return kg::layer_norm(matrix()); }},
    {"batch_norm", [] { return kg::batch_norm(image(), channels(), channels()); }},
    {"local_response_normalization", [] { return kg::local_response_normalization(image()); }},
    {"resize_bilinear", [] { return kg::resize_bilinear(image(), {24, 24}); }},
    {"sort", [] { return kg::sort(a()); }},
    {"argsort", [] { return kg::argsort(thousand()); }},
    {"top_k", [] { return kg::top_k(matrix(), 5)[0]; }},
    {"fft", [] { return kg::fft(complex()); }},
    {"rfft", [] { return kg::rfft(thousand()); }},
    {"attention", [] { return kg::scaled_dot_product_attention(heads(), heads(), heads(), {.causal = true}); }},
    {"a fused function", [] { return polynomial(a(), b()); }},
    {"a fused sum", [] { return sum_of_squares(a()); }},
    {"value and gradient", [] { return kg::grad([](const tensor& x) { return kg::sum(kg::sigmoid(x) * x); })(a()); }},
};

}  // namespace

extern "C" [[gnu::noinline]] void counted(const void* call) { static_cast<const counted_call*>(call)->run(); }

int main() {
  kg::set_num_threads(1);
  for (const counted_call& call : calls) {
    for (int i = 0; i < 3; ++i) call.run();  // fills caches of blocks
    std::puts(call.name);
    counted(&call);
  }
}
