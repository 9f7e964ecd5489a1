// SPDX-License-Identifier: Apache-2.0
// Functions of complex numbers in the next wider type, rounded once.
#include "kernels/elementwise/complex.h"

#include <cstring>

#include "kernels/common/reference_scalar.h"
#include "kernels/elementwise/complex_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

// A stored number in the next wider type, and back.
template <class Z, class T = wide_t<typename parts_of<Z>::type>>
complex_scalar::number<T> widened(Z z) {
  return {z.real, z.imag};
}
template <class Z, class T>
Z rounded(complex_scalar::number<T> z) {
  using part = typename parts_of<Z>::type;
  return {static_cast<part>(z.re), static_cast<part>(z.im)};
}

template <class Z> Z Reciprocal(Z z) { return rounded<Z>(complex_scalar::reciprocal(widened(z))); }
template <class Z> Z Sqrt(Z z) { return rounded<Z>(complex_scalar::sqrt(widened(z))); }
template <class Z> Z Exp(Z z) { return rounded<Z>(complex_scalar::exp(widened(z))); }
template <class Z> Z Log(Z z) { return rounded<Z>(complex_scalar::log(widened(z))); }
template <class Z> Z Sin(Z z) { return rounded<Z>(complex_scalar::sin(widened(z))); }
template <class Z> Z Cos(Z z) { return rounded<Z>(complex_scalar::cos(widened(z))); }
template <class Z> Z Tan(Z z) { return rounded<Z>(complex_scalar::tan(widened(z))); }
template <class Z> Z Sinh(Z z) { return rounded<Z>(complex_scalar::sinh(widened(z))); }
template <class Z> Z Cosh(Z z) { return rounded<Z>(complex_scalar::cosh(widened(z))); }
template <class Z> Z Tanh(Z z) { return rounded<Z>(complex_scalar::tanh(widened(z))); }
template <class Z> Z Neg(Z z) { return {-z.real, -z.imag}; }
template <class Z> Z Square(Z z) { return rounded<Z>(complex_scalar::product(widened(z), widened(z))); }
template <class Z> Z Add(Z a, Z b) { return {a.real + b.real, a.imag + b.imag}; }
template <class Z> Z Sub(Z a, Z b) { return {a.real - b.real, a.imag - b.imag}; }
template <class Z> Z Multiply(Z a, Z b) { return rounded<Z>(complex_scalar::product(widened(a), widened(b))); }
template <class Z> Z RealDiv(Z a, Z b) { return rounded<Z>(complex_scalar::quotient(widened(a), widened(b))); }
template <class Z> Z Pow(Z a, Z b) { return rounded<Z>(complex_scalar::pow(widened(a), widened(b))); }
template <class Z> std::uint8_t Equal(Z a, Z b) { return a.real == b.real && a.imag == b.imag; }
template <class Z> std::uint8_t NotEqual(Z a, Z b) { return !(a.real == b.real && a.imag == b.imag); }

// Finds the index of each result by division; the strides may be anything.
template <class Z, class F>
void walk(const void* const* in, void* const* out, const broadcast_geometry& g, F f) {
  std::int64_t total = 1;
  for (int axis = 0; axis < g.rank; ++axis) total *= g.dims[axis];
  for (std::int64_t index = 0; index < total; ++index) {
    std::int64_t rest = index, i = 0, j = 0;
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      const std::int64_t at = rest % g.dims[axis];
      rest /= g.dims[axis];
      i += at * g.strides[0][axis], j += at * g.strides[1][axis];
    }
    put(out[0], index, f(get<Z>(in[0], i), get<Z>(in[1], j)));
  }
}

}  // namespace

#define KG_DEFINE_FLAT1(Name, type)                                                                \
  void Name##_##type KG_FLAT1_PARAMETERS {                                                         \
    using Z = storage_t<dtype::type>;                                                              \
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) put(y, i, Name(get<Z>(x, i))); \
  }                                                                                                \
  void Name##_##type##_run KG_RUN_PARAMETERS {                                                     \
    const auto count = static_cast<const unary_geometry*>(geometry)->count;                        \
    Name##_##type(in[0], out[0], static_cast<std::size_t>(count));                                 \
  }
#define KG_DEFINE_FLAT2(Name, type)                                                                              \
  void Name##_##type KG_FLAT2_PARAMETERS {                                                                       \
    using Z = storage_t<dtype::type>;                                                                            \
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) put(y, i, Name(get<Z>(a, i), get<Z>(b, i))); \
  }                                                                                                              \
  void Name##_##type##_run KG_RUN_PARAMETERS {                                                                   \
    walk<storage_t<dtype::type>>(in, out, *static_cast<const broadcast_geometry*>(geometry),                     \
                                 [](auto a, auto b) { return Name(a, b); });                                     \
  }
KG_COMPLEX_UNARY_KERNELS(KG_DEFINE_FLAT1)
KG_COMPLEX_BINARY_KERNELS(KG_DEFINE_FLAT2)

}  // namespace kerngrad::kernels::reference
