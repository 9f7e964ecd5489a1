// SPDX-License-Identifier: Apache-2.0
// Steps of a fused program on single numbers: code that the compiler inlines, with the C library's functions. They
// round as the C library does, so their last bits may differ from a kernel's. An op without a line here runs its kernel
// on one element.
module;
#include "kernels/abi.h"
#include "kernels/unary.h"
export module kerngrad:fuse_scalar;

import :std;
import :core;
import :op;
import :launch;
import :shapes;
import :table;
import :entry;
import :symbol;

namespace kerngrad::detail {

// The C library's functions by their built-in names: <cmath> in an interface clashes, with clang 19, with the same
// header included after the import.
namespace libm {
#define KG_LIBM(name)                                           \
  inline float name(float x) { return __builtin_##name##f(x); } \
  inline double name(double x) { return __builtin_##name(x); }
KG_LIBM(fabs)
KG_LIBM(sqrt)
KG_LIBM(exp)
KG_LIBM(log)
KG_LIBM(sin)
KG_LIBM(cos)
KG_LIBM(tan)
KG_LIBM(tanh)
KG_LIBM(erf)
#undef KG_LIBM
inline float pow(float a, float b) { return __builtin_powf(a, b); }
inline double pow(double a, double b) { return __builtin_pow(a, b); }
inline float atan2(float a, float b) { return __builtin_atan2f(a, b); }
inline double atan2(double a, double b) { return __builtin_atan2(a, b); }
}  // namespace libm

/// An op's kernel on one element.
template <class T>
T kernel_on_one(const fused_step& step, T a, T b) {
  const kernel_slot& slot = step.op->kernel(static_cast<int>(backend::simd), dtype_of<T>);
  T y{};
  if (slot.flat1) {
    slot.flat1(&a, &y, 1);
  } else if (slot.flat2) {
    slot.flat2(&a, &b, &y, 1);
  } else {
    const kernels::unary_geometry one{1, {step.numbers[0], step.numbers[1]}};
    const void* in[] = {&a};
    void* out[] = {&y};
    slot.run(in, out, &one);
  }
  return y;
}

/// The op called `Name` on numbers; truths are 1 and 0.
template <fixed_string Name, class T>
inline T scalar_op(const fused_step& step, T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
  constexpr std::string_view op = Name;
  if constexpr (op == "Add") return a + b;
  else if constexpr (op == "Sub") return a - b;
  else if constexpr (op == "Multiply") return a * b;
  else if constexpr (op == "RealDiv") return a / b;
  else if constexpr (op == "SquaredDifference") return (a - b) * (a - b);
  else if constexpr (op == "Maximum") return a > b || a != a ? a : b;
  else if constexpr (op == "Minimum") return a < b || a != a ? a : b;
  else if constexpr (op == "Pow") return libm::pow(a, b);
  else if constexpr (op == "Atan2") return libm::atan2(a, b);
  else if constexpr (op == "ReluGrad") return b > 0 ? a : T{0};
  else if constexpr (op == "Less") return a < b;
  else if constexpr (op == "LessEqual") return a <= b;
  else if constexpr (op == "Greater") return a > b;
  else if constexpr (op == "GreaterEqual") return a >= b;
  else if constexpr (op == "Equal") return a == b;
  else if constexpr (op == "NotEqual") return a != b;
  else if constexpr (op == "LogicalAnd") return a != 0 && b != 0;
  else if constexpr (op == "LogicalOr") return a != 0 || b != 0;
  else if constexpr (op == "LogicalXor") return (a != 0) != (b != 0);
  else if constexpr (op == "LogicalNot") return a == 0;
  else if constexpr (op == "IsNan") return __builtin_isnan(a);
  else if constexpr (op == "IsInf") return __builtin_isinf(a);
  else if constexpr (op == "IsFinite") return __builtin_isfinite(a);
  else if constexpr (op == "Select") return a != 0 ? b : c;
  else if constexpr (op == "Abs") return libm::fabs(a);
  else if constexpr (op == "Neg") return -a;
  else if constexpr (op == "Square") return a * a;
  else if constexpr (op == "Sqrt") return libm::sqrt(a);
  else if constexpr (op == "Reciprocal") return 1 / a;
  else if constexpr (op == "Exp") return libm::exp(a);
  else if constexpr (op == "Log") return libm::log(a);
  else if constexpr (op == "Sin") return libm::sin(a);
  else if constexpr (op == "Cos") return libm::cos(a);
  else if constexpr (op == "Tan") return libm::tan(a);
  else if constexpr (op == "Tanh") return libm::tanh(a);
  else if constexpr (op == "Erf") return libm::erf(a);
  else if constexpr (op == "Relu") return a > 0 || a != a ? a : T{0};
  else if constexpr (op == "Sigmoid") return 1 / (1 + libm::exp(-a));
  else return kernel_on_one(step, a, b);
}

/// All steps of a program, one after the other; `Program` has them as constants.
template <class Program, class T, std::size_t... I>
inline void run_scalar(std::span<const T> xs, T* values, std::index_sequence<I...>) {
  const auto one = [&]<std::size_t At>() {
    constexpr const fused_step& step = Program::whole.steps[At];
    if constexpr (step.kind == step_kind::operand) {
      values[At] = xs[static_cast<std::size_t>(step.place)];
    } else if constexpr (step.kind != step_kind::op) {
      values[At] = static_cast<T>(step.numbers[0]);
    } else {
      constexpr auto name = [] {
        constexpr std::string_view text = Program::whole.steps[At].row->name;
        char letters[text.size() + 1]{};
        for (std::size_t i = 0; i < text.size(); ++i) letters[i] = text[i];
        return fixed_string<text.size() + 1>(letters);
      }();
      // Bounds out of order are refused in the words of the op's rule.
      if constexpr (step.row->infer == shapes::clip && step.numbers[0] > step.numbers[1]) {
        const view x{};
        const attr_value attrs[] = {step.numbers[0], step.numbers[1]};
        inference call{*step.row, {&x, 1}, attrs, dtype_of<T>, dtype_of<T>};
        shapes::clip(call);
      }
      const auto in = [&](std::size_t k) { return step.in[k] < 0 ? T{} : values[step.in[k]]; };
      values[At] = scalar_op<name, T>(step, in(0), in(1), in(2));
    }
  };
  (one.template operator()<I>(), ...);
}

/// The results of a program on single numbers.
template <class Program, class T, std::size_t N>
inline std::array<T, Program::sizes[1]> scalar_results(const std::array<T, N>& xs) {
  T values[Program::sizes[0]];
  run_scalar<Program, T>(xs, values, std::make_index_sequence<Program::sizes[0]>{});
  std::array<T, Program::sizes[1]> results{};
  for (std::size_t k = 0; k < results.size(); ++k)
    if (Program::whole.results[k] >= 0) results[k] = values[Program::whole.results[k]];
  return results;
}

/// A step that numbers have no dtypes for: conversions.
template <class Program>
constexpr bool has_no_scalar_form() {
  for (const fused_step& step : Program::whole.steps)
    if (step.kind == step_kind::op &&
        (step.row->convention == convention::cast || step.row->convention == convention::convert))
      return true;
  return static_cast<bool>(Program::whole.tail.op);
}

}  // namespace kerngrad::detail
