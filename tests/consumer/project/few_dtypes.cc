// SPDX-License-Identifier: Apache-2.0
// A library with -Dsimd_dtypes=float32,int32: no op and no dtype is missing, results are right in the other dtypes, and
// explain says which kernel a call takes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>
import kerngrad;

namespace {

bool all_right = true;

void expect(bool holds, std::string_view what) {
  if (holds) return;
  all_right = false;
  std::printf("wrong: %s\n", std::string(what).c_str());
}

void expect_values(const kg::tensor& y, kg::dtype type, const std::vector<double>& wanted, std::string_view what) {
  const std::vector<double> found = y.to_doubles();
  const bool same = std::ranges::equal(found, wanted, [](double a, double b) {
    return std::abs(a - b) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(b);
  });
  expect(y.type() == type && same, what);
}

// An array of a dtype from numbers that it holds.
kg::tensor of(kg::dtype type, const std::vector<double>& values, const kg::shape& dims) {
  return kg::cast(kg::tensor(values, dims), type);
}

constexpr kg::dtype f64 = kg::dtype::float64, i64 = kg::dtype::int64;

// ------------------------------------------------------------------------------------------ results

void floats_of_64_bits() {
  const kg::tensor x = of(f64, {1, 2, 3, 4}, {2, 2}), image = of(f64, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1});
  const kg::tensor box = of(f64, {1, 1, 1, 1}, {2, 2, 1, 1});
  expect_values(kg::exp(x), f64, {std::exp(1.0), std::exp(2.0), std::exp(3.0), std::exp(4.0)}, "exp");
  expect_values(kg::matmul(x, x), f64, {7, 10, 15, 22}, "matmul");
  expect_values(kg::sum(x, 0), f64, {4, 6}, "sum");
  expect_values(kg::cumsum(x, 1), f64, {1, 3, 3, 7}, "cumsum");
  expect_values(kg::conv2d(image, box), f64, {12, 16, 24, 28}, "conv2d");
  expect_values(kg::fused_conv2d(image, box, {.bias = kg::tensor({-14.0}), .activation = kg::activation::relu}), f64,
                {0, 2, 10, 14}, "fused_conv2d");
  expect_values(kg::softmax(of(f64, {0, 0}, {2})), f64, {0.5, 0.5}, "softmax");
  expect_values(kg::linspace(0, 1, 3, f64), f64, {0, 0.5, 1}, "linspace");
  expect_values(kg::transpose(x), f64, {1, 3, 2, 4}, "transpose");
}

void integers_and_booleans() {
  const std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  const kg::tensor x({greatest, std::int64_t{-7}, std::int64_t{3}});
  const kg::tensor next = x + kg::tensor({std::int64_t{1}});
  expect(next.data<std::int64_t>()[0] == std::numeric_limits<std::int64_t>::min(), "int64 wraps");
  const kg::tensor y = of(i64, {3, -7, 5}, {3});
  expect_values(kg::sort(y), i64, {-7, 3, 5}, "sort");
  expect_values(kg::floor_div(y, of(i64, {2, 2, 2}, {3})), i64, {1, -4, 2}, "floor_div");
  expect_values(kg::argmax(y), kg::dtype::int32, {2}, "argmax");
  const kg::tensor bytes = of(kg::dtype::uint8, {250, 10, 7}, {3});
  expect_values(bytes + bytes, kg::dtype::uint8, {244, 20, 14}, "uint8 wraps");
  expect_values(kg::sum(bytes), i64, {267}, "sum of uint8");
  const kg::tensor flags = of(kg::dtype::boolean, {1, 0, 1}, {3});
  expect_values(kg::logical_and(flags, y > 0), kg::dtype::boolean, {1, 0, 1}, "logical_and");
  expect_values(kg::any(flags), kg::dtype::boolean, {1}, "any");
}

void halves_and_complex_numbers() {
  const kg::tensor x = of(kg::dtype::float16, {1.5, 2048, -3}, {3});
  // 2049 lies between two neighbours of float16 and goes to the even one.
  expect_values(x + of(kg::dtype::float16, {0.25, 1, 3}, {3}), kg::dtype::float16, {1.75, 2048, 0}, "float16 sums");
  expect_values(kg::cast(kg::tensor({1.00390625f}), kg::dtype::bfloat16), kg::dtype::bfloat16, {1}, "bfloat16 rounds");
  const kg::tensor z = kg::complex(kg::tensor({1.f, 0.f}), kg::tensor({2.f, 1.f}));
  expect_values(kg::real(z * z), kg::dtype::float32, {-3, -1}, "complex products");
  expect_values(kg::real(kg::fft(z)), kg::dtype::float32, {1, 1}, "fft");
}

void fused_functions_are_the_ops_one_by_one() {
  const kg::tensor x = kg::linspace(-3, 3, 1000, f64), y = kg::linspace(0.1, 2, 1000, f64);
  const auto gate = [](auto t, auto w) { return kg::sigmoid(t) * w + t; };
  constexpr auto fused = kg::fuse(gate);
  expect(fused(x, y).to_doubles() == gate(x, y).to_doubles(), "a fused chain");
  const auto loss = [](auto t, auto w) { return kg::sum(kg::tanh(t) * w * t); };
  constexpr auto fused_loss = kg::fuse(loss);
  const auto found = fused_loss.value_and_grads(x, y).grads, wanted = kg::value_and_grads(loss)(x, y).grads;
  for (std::size_t k = 0; k < 2; ++k)
    expect(kg::all(kg::abs(found[k] - wanted[k]) <= kg::abs(wanted[k]) * 1e-14).item() != 0, "a fused gradient");
}

void steps_of_optimizers() {
  const kg::variable w(kg::tensor({4.0, -2.0}));
  kg::sgd(0.25).minimize([&] { return kg::sum(kg::square(w.value())); });
  expect_values(w.value(), f64, {2, -1}, "a step of sgd");
}

// ------------------------------------------------------------------------------------------ what explain says

const kg::explained_kernel& candidate(const kg::explanation& told, std::string_view backend) {
  return *std::ranges::find(told.candidates, backend, &kg::explained_kernel::backend);
}

void no_op_and_no_dtype_is_missing() {
  const kg::dtype_set simd = kg::only(kg::dtype::float32) | kg::only(kg::dtype::int32);
  for (const std::string& op : kg::op_names()) {
    const kg::explanation told = kg::explain(op);
    const kg::explained_kernel &fast = candidate(told, "simd"), &plain = candidate(told, "reference");
    expect(fast.dtypes == plain.dtypes, op + " lacks a dtype");
    expect(!(fast.reference & simd).bits, op + " has no SIMD kernel of float32 or int32");
    expect(!plain.reference.bits, op + " of the backend reference");
  }
}

void expect_code(std::string_view op, std::initializer_list<kg::dtype> types, bool by_reference) {
  for (const kg::dtype type : types) {
    std::vector<kg::operand_signature> operands;
    for (const kg::explained_operand& o : kg::explain(op).operands)
      if (!o.optional) operands.push_back({o.name, {{{2, 2}, type}}});
    const kg::explanation told = kg::explain(op, operands);
    const std::string code = told.runs ? told.runs->code : "";
    const bool right = by_reference ? code.starts_with("reference kernel") : code == kg::active_simd_target();
    expect(right, std::string(op) + " of " + std::string(kg::name_of(type)) + " runs: " + code);
  }
}

void explain_says_which_kernel_runs() {
  expect_code("Exp", {kg::dtype::float32, kg::dtype::float16}, false);
  expect_code("Exp", {f64}, true);
  expect_code("Add", {kg::dtype::float32, kg::dtype::int32}, false);
  expect_code("Add", {f64, i64, kg::dtype::uint8, kg::dtype::complex64}, true);
  expect_code("BatchMatMul", {kg::dtype::float32, kg::dtype::int32}, false);
  expect_code("BatchMatMul", {f64, i64}, true);
  // One kernel moves the elements of all dtypes of a size.
  expect_code("Transpose", {kg::dtype::float32, f64, i64, kg::dtype::uint8}, false);
  const std::string text = to_string(kg::explain("Exp"));
  expect(text.find("(float64, complex64, complex128 by the reference kernel)") != std::string::npos, text);
}

void profiles_name_the_target_of_simd_kernels() {
  const kg::tensor x = kg::ones({4}), y = kg::ones({4}, f64);
  const std::vector<kg::kernel_run> runs = kg::profile([&] { kg::exp(x), kg::exp(y), kg::transpose(y); }).runs;
  expect(runs.size() == 3 && runs[0].target == kg::active_simd_target() && runs[1].target.empty() &&
             runs[2].target == kg::active_simd_target(),
         "the targets of a profile");
}

}  // namespace

int main() {
  floats_of_64_bits();
  integers_and_booleans();
  halves_and_complex_numbers();
  fused_functions_are_the_ops_one_by_one();
  steps_of_optimizers();
  no_op_and_no_dtype_is_missing();
  explain_says_which_kernel_runs();
  profiles_name_the_target_of_simd_kernels();
  return all_right ? 0 : 1;
}
