// SPDX-License-Identifier: Apache-2.0
// Random numbers one element at a time; the operations and their order are part of the definition in
// kernels/create/random.h, so that the bits agree with the vector kernels. Must be compiled without contraction of a *
// b + c.
#include "kernels/create/random.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

struct words {
  std::uint32_t w[4];
};

words philox(std::uint64_t seed, std::uint64_t block) {
  std::uint32_t c[4] = {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0};
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0], p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    const std::uint32_t next[4] = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
                                   static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    std::memcpy(c, next, sizeof c);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

std::uint32_t draw(std::uint64_t seed, std::uint64_t element, std::uint32_t) {
  return philox(seed, element / 4).w[element % 4];
}
std::uint64_t draw(std::uint64_t seed, std::uint64_t element, std::uint64_t) {
  const words b = philox(seed, element / 2);
  return b.w[element % 2 * 2] | std::uint64_t{b.w[element % 2 * 2 + 1]} << 32;
}

template <class T> using bits_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class To, class From> To as(From v) {
  To bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

template <class T> T horner(T x, std::initializer_list<double> coefficients) {
  T p = 0;
  for (const double c : coefficients) p = p * x + static_cast<T>(c);
  return p;
}

float portable_log(float u) {
  const std::uint32_t bits = as<std::uint32_t>(u);
  const std::int32_t k = (static_cast<std::int32_t>(bits) - 0x3f3504f3) >> 23;
  const float f = as<float>(bits - (static_cast<std::uint32_t>(k) << 23)) - 1.0f, f2 = f * f;
  const float p = horner(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                             -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  const float tail = f * f2 * p + static_cast<float>(k) * -2.12194440e-4f;
  return (f + (tail - 0.5f * f2)) + static_cast<float>(k) * 0.693359375f;
}

double portable_log(double u) {
  const std::int64_t bits = as<std::int64_t>(u);
  const std::int64_t exponent = (bits - 0x3fe6a09e00000000) >> 52;
  const double f = as<double>(bits - exponent * (std::int64_t{1} << 52)) - 1.0, s = f / (2.0 + f), z = s * s;
  const double k = static_cast<double>(exponent), half_square = 0.5 * f * f;
  const double r = z * horner(z, {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                  2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                  6.666666666666735130e-01});
  const double tail = s * (half_square + r) + k * 1.90821492927058770002e-10;
  return k * 6.93147180369123816490e-01 - ((half_square - tail) - f);
}

float open_uniform(std::uint32_t w) {
  return (static_cast<float>(w >> 16) * 65536.0f + (static_cast<float>(w & 0xFFFFu) + 0.5f)) * 0x1p-32f;
}
double open_uniform(std::uint64_t w) { return (static_cast<double>(w >> 11) + 0.5) * 0x1p-53; }

float angle(std::uint32_t w) {
  return static_cast<float>(static_cast<std::int32_t>(w << 2)) * static_cast<float>(1.57079632679489661923 * 0x1p-32);
}
double angle(std::uint64_t w) { return (static_cast<double>((w << 2) >> 11) * 0x1p-53 - 0.5) * 1.57079632679489661923; }

float portable_sin(float a) {
  const float z = a * a;
  return a + a * z * horner(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
}
float portable_cos(float a) {
  const float z = a * a;
  return (1.0f - 0.5f * z) + z * z * horner(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
}
double portable_sin(double a) {
  const double z = a * a;
  return a + a * z *
                 horner(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                            -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01});
}
double portable_cos(double a) {
  const double z = a * a;
  return (1.0 - 0.5 * z) +
         z * z *
             horner(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                        2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02});
}

template <class T> T normal(const random_geometry& g, std::uint64_t element) {
  using U = bits_t<T>;
  const std::uint64_t even = element - element % 2;
  const U turn = draw(g.seed, even + 1, U{});
  const T radius = std::sqrt(T{0} - T{2} * portable_log(open_uniform(draw(g.seed, even, U{}))));
  // (cosine, sine) of the angle turned by 0 to 3 quarters; the odd element takes the sine.
  const T c = portable_cos(angle(turn)), s = portable_sin(angle(turn));
  const T cosines[4] = {c, -s, -c, s}, sines[4] = {s, c, -s, -c};
  const int quadrant = static_cast<int>(turn >> (8 * sizeof(U) - 2));
  const T value = radius * (element % 2 == 0 ? cosines[quadrant] : sines[quadrant]);
  return static_cast<T>(g.low) + static_cast<T>(g.high) * value;
}

template <class T> T uniform(const random_geometry& g, std::uint64_t element) {
  using U = bits_t<T>;
  const U w = draw(g.seed, element, U{});
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const std::uint64_t width = g.low < g.high ? static_cast<std::uint64_t>(g.high - g.low) : 0;
    const std::uint64_t above = (std::uint64_t{w} * width) >> 32;
    return static_cast<T>(static_cast<std::int64_t>(g.low) + static_cast<std::int64_t>(above));
  } else {
    const T low = static_cast<T>(g.low), high = static_cast<T>(g.high);
    if (!(low < high)) return low;
    const T u = sizeof(T) == 4 ? static_cast<T>(w >> 8) * T(0x1p-24) : static_cast<T>(w >> 11) * T(0x1p-53);
    // A width that overflows comes from the halves of both bounds, which are exact there.
    const T width = static_cast<T>(g.high - g.low);
    const T y = std::isinf(width) ? (low / 2 + u * (high / 2 - low / 2)) * 2 : low + u * width;
    return y < high ? y : std::nextafter(high, -std::numeric_limits<T>::infinity());
  }
}

template <dtype Type, class T = storage_t<Type>>
void RandomUniform(const random_geometry& g, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = uniform<T>(g, g.offset + static_cast<std::uint64_t>(i));
}

template <dtype Type, class T = storage_t<Type>>
void RandomNormal(const random_geometry& g, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = normal<T>(g, g.offset + static_cast<std::uint64_t>(i));
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_RANDOM_KERNELS)

}  // namespace kerngrad::kernels::reference
