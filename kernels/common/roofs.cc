// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/roofs.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/common/roofs.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains: more than latency times units of any CPU so far (4 cycles, 2 units), few enough for 16 registers with
// the two factors.
template <class T>
HWY_INLINE double fma_chains(std::int64_t rounds, T* HWY_RESTRICT values) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, values[0]), y = hn::Set(d, values[1]);
  auto c0 = x, c1 = x, c2 = x, c3 = x, c4 = x, c5 = x, c6 = x, c7 = x, c8 = x, c9 = x, c10 = x, c11 = x;
  for (std::int64_t i = 0; i < rounds; ++i) {
    c0 = hn::MulAdd(c0, x, y), c1 = hn::MulAdd(c1, x, y), c2 = hn::MulAdd(c2, x, y);
    c3 = hn::MulAdd(c3, x, y), c4 = hn::MulAdd(c4, x, y), c5 = hn::MulAdd(c5, x, y);
    c6 = hn::MulAdd(c6, x, y), c7 = hn::MulAdd(c7, x, y), c8 = hn::MulAdd(c8, x, y);
    c9 = hn::MulAdd(c9, x, y), c10 = hn::MulAdd(c10, x, y), c11 = hn::MulAdd(c11, x, y);
  }
  const auto low = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)), hn::Add(c4, c5));
  const auto high = hn::Add(hn::Add(hn::Add(c6, c7), hn::Add(c8, c9)), hn::Add(c10, c11));
  values[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

// Twelve chains again: a divider takes the next vector well before the one before has passed. Divisors and roots stay
// near 1, where no result is subnormal.
template <class T, class Op>
HWY_INLINE double divider_chains(std::int64_t rounds, T* HWY_RESTRICT values, Op op) {
  const hn::ScalableTag<T> d;
  constexpr int chains = 12;
  with_vectors<chains>(d, [&](auto c) KG_INLINED {
    for (int k = 0; k < chains; ++k) c[k] = hn::Set(d, values[0]);
    for (std::int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
      for (int k = 0; k < chains; ++k) c[k] = op(d, c[k]);
    }
    auto sum = hn::Zero(d);
    for (int k = 0; k < chains; ++k) sum = hn::Add(sum, c[k]);
    values[2] = hn::GetLane(hn::SumOfLanes(d, sum));
  });
  return static_cast<double>(rounds) * chains * static_cast<double>(hn::Lanes(d));
}

template <class T>
HWY_INLINE double divide_chains(std::int64_t rounds, T* values) {
  const auto divisor = hn::Set(hn::ScalableTag<T>(), values[0]);
  return divider_chains(rounds, values, [&](auto, auto v) HWY_ATTR { return hn::Div(v, divisor); });
}

template <class T>
HWY_INLINE double root_chains(std::int64_t rounds, T* values) {
  return divider_chains(rounds, values, [](auto, auto v) HWY_ATTR { return hn::Sqrt(v); });
}

using word = hn::ScalableTag<std::uint32_t>;

template <bool Stream>
HWY_INLINE void put(hn::Vec<word> v, std::uint32_t* y) {
  if constexpr (Stream) hn::Stream(v, word(), y);
  else hn::Store(v, word(), y);
}

template <bool Stream>
HWY_INLINE void write_all(std::uint32_t* HWY_RESTRICT y, std::size_t n) {
  const auto v = hn::Set(word(), 1);
  const std::size_t lanes = hn::Lanes(word());
  for (std::size_t i = 0; i < n; i += 4 * lanes)
    put<Stream>(v, y + i), put<Stream>(v, y + i + lanes), put<Stream>(v, y + i + 2 * lanes),
        put<Stream>(v, y + i + 3 * lanes);
}

template <bool Stream>
HWY_INLINE void copy_all(const std::uint32_t* HWY_RESTRICT x, std::uint32_t* HWY_RESTRICT y, std::size_t n) {
  const word d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += 4 * lanes) {
    const auto a = hn::Load(d, x + i), b = hn::Load(d, x + i + lanes);
    const auto c = hn::Load(d, x + i + 2 * lanes), e = hn::Load(d, x + i + 3 * lanes);
    put<Stream>(a, y + i), put<Stream>(b, y + i + lanes), put<Stream>(c, y + i + 2 * lanes),
        put<Stream>(e, y + i + 3 * lanes);
  }
}

}  // namespace

double fma_float32(std::int64_t rounds, float* values) { return fma_chains<float>(rounds, values); }
double fma_float64(std::int64_t rounds, double* values) { return fma_chains<double>(rounds, values); }
double divide_float32(std::int64_t rounds, float* values) { return divide_chains(rounds, values); }
double divide_float64(std::int64_t rounds, double* values) { return divide_chains(rounds, values); }
double root_float32(std::int64_t rounds, float* values) { return root_chains(rounds, values); }
double root_float64(std::int64_t rounds, double* values) { return root_chains(rounds, values); }

void read(const std::uint32_t* x, std::size_t n, std::uint32_t* sink) {
  const word d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i < n; i += 8 * lanes) {
    s0 = hn::Xor(s0, hn::Load(d, x + i)), s1 = hn::Xor(s1, hn::Load(d, x + i + lanes));
    s2 = hn::Xor(s2, hn::Load(d, x + i + 2 * lanes)), s3 = hn::Xor(s3, hn::Load(d, x + i + 3 * lanes));
    s4 = hn::Xor(s4, hn::Load(d, x + i + 4 * lanes)), s5 = hn::Xor(s5, hn::Load(d, x + i + 5 * lanes));
    s6 = hn::Xor(s6, hn::Load(d, x + i + 6 * lanes)), s7 = hn::Xor(s7, hn::Load(d, x + i + 7 * lanes));
  }
  const auto low = hn::Xor(hn::Xor(s0, s1), hn::Xor(s2, s3)), high = hn::Xor(hn::Xor(s4, s5), hn::Xor(s6, s7));
  hn::StoreU(hn::Xor(low, high), d, sink);  // all lanes: the compiler would drop the loads of an unused one
}

void write(std::uint32_t* y, std::size_t n, bool stream) { stream ? write_all<true>(y, n) : write_all<false>(y, n); }
void copy(const std::uint32_t* x, std::uint32_t* y, std::size_t n, bool stream) {
  stream ? copy_all<true>(x, y, n) : copy_all<false>(x, y, n);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {

HWY_EXPORT(fma_float32);
HWY_EXPORT(fma_float64);
HWY_EXPORT(divide_float32);
HWY_EXPORT(divide_float64);
HWY_EXPORT(root_float32);
HWY_EXPORT(root_float64);
HWY_EXPORT(read);
HWY_EXPORT(write);
HWY_EXPORT(copy);

double roof_fma_float32(std::int64_t rounds, float* values) {
  return HWY_DYNAMIC_DISPATCH(fma_float32)(rounds, values);
}
double roof_fma_float64(std::int64_t rounds, double* values) {
  return HWY_DYNAMIC_DISPATCH(fma_float64)(rounds, values);
}
double roof_divide_float32(std::int64_t rounds, float* values) {
  return HWY_DYNAMIC_DISPATCH(divide_float32)(rounds, values);
}
double roof_divide_float64(std::int64_t rounds, double* values) {
  return HWY_DYNAMIC_DISPATCH(divide_float64)(rounds, values);
}
double roof_root_float32(std::int64_t rounds, float* values) {
  return HWY_DYNAMIC_DISPATCH(root_float32)(rounds, values);
}
double roof_root_float64(std::int64_t rounds, double* values) {
  return HWY_DYNAMIC_DISPATCH(root_float64)(rounds, values);
}
void roof_read(const std::uint32_t* x, std::size_t n, std::uint32_t* sink) { HWY_DYNAMIC_DISPATCH(read)(x, n, sink); }
void roof_write(std::uint32_t* y, std::size_t n, bool stream) { HWY_DYNAMIC_DISPATCH(write)(y, n, stream); }
void roof_copy(const std::uint32_t* x, std::uint32_t* y, std::size_t n, bool stream) {
  HWY_DYNAMIC_DISPATCH(copy)(x, y, n, stream);
}

}  // namespace kerngrad::kernels
#endif
