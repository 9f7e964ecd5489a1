// SPDX-License-Identifier: Apache-2.0
// Data movement: transposes, broadcasts, gathers, selections, joins; and Fourier transforms.
#include <span>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

kg::tensor drawn(int operand_index, const kg::shape& dims) {
  const auto n = static_cast<std::size_t>(dims.size());
  return kg::tensor(std::span<const float>(cases::floats(operand_index, n), n), dims);
}
kg::tensor indices(std::size_t n, std::size_t below) {
  return kg::tensor(std::span<const std::int32_t>(cases::indices(n, static_cast<std::uint32_t>(below)), n),
                    {static_cast<std::int64_t>(n)});
}

// f on operands that exist before the clock starts.
template <class F, class... T>
void on(const char* name, const char* size, F f, T... operands) {
  cases::add(name, size, [=] { return [=] { benchmark::DoNotOptimize(f(operands...).address()); }; });
}

}  // namespace

void add_move_cases() {
  using tensor = const kg::tensor&;
  constexpr std::int64_t side = cases::side, million = 1000000;
  const kg::tensor square = drawn(0, {side, side}), row = drawn(1, {side});
  on("transpose", "1024x1024", [](tensor x) { return kg::transpose(x); }, square);
  on("bcast_add", "1024x1024", [](tensor x, tensor b) { return x + b; }, square, row);
  on(
      "batchnorm", "1x56x56x64",
      [](tensor x, tensor scale, tensor offset, tensor mean, tensor variance) {
        return kg::batch_norm(x, mean, variance, {.offset = offset, .scale = scale, .epsilon = 1e-5});
      },
      drawn(0, {1, 56, 56, 64}), drawn(1, {64}), drawn(2, {64}), drawn(3, {64}),
      kg::tensor(std::span<const float>(cases::positive(64), 64), {64}));
  on(
      "gather_rows", "10000x128,4096", [](tensor x, tensor i) { return kg::gather(x, i); },
      drawn(0, {cases::table_rows, cases::table_columns}), indices(cases::gathered, cases::table_rows));
  on("one_hot", "1024x1000", [](tensor i) { return kg::one_hot(i, 1000); }, indices(1024, 1000));
  on("pad", "1024x1024", [](tensor x) { return kg::pad(x, {1, 1, 1, 1}); }, square);
  on("strided_slice", "1024x1024", [](tensor x) { return kg::strided_slice(x, {0, 0}, {side, side}, {2, 2}); }, square);
  on(
      "concat", "2x512x1024",
      [](tensor a, tensor b) {
        const kg::tensor both[] = {a, b};
        return kg::concat(both);
      },
      drawn(0, {side / 2, side}), drawn(1, {side / 2, side}));
  const kg::tensor a = drawn(0, {million}), b = drawn(1, {million});
  on("where", "1000000", [](tensor c, tensor x, tensor y) { return kg::where(c, x, y); }, kg::greater(a, b), a, b);
  const auto* const pairs = reinterpret_cast<const kg::complex64*>(cases::floats(0, 2 * 64 * 1024));
  on(
      "fft", "64x1024", [](tensor x) { return kg::fft(x); },
      kg::tensor(std::span<const kg::complex64>(pairs, 64 * 1024), {64, 1024}));
  on("cast", "1000000", [](tensor x) { return kg::cast(x, kg::dtype::int32); }, a);
}
