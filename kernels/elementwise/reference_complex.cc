// SPDX-License-Identifier: Apache-2.0
// Functions of complex numbers in the next wider type, rounded once.
#include "kernels/elementwise/complex.h"

#include "kernels/elementwise/complex_scalar.h"
#include "kernels/elementwise/reference_maps.h"

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

}  // namespace

KG_COMPLEX_UNARY_KERNELS(KG_DEFINE_PLAIN_FLAT1)
KG_COMPLEX_BINARY_KERNELS(KG_DEFINE_PLAIN_FLAT2)

}  // namespace kerngrad::kernels::reference
