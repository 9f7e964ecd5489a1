// SPDX-License-Identifier: Apache-2.0
// Functions of floats by tables that are in one or two registers each: one instruction of AVX-512 looks a whole
// vector up. Other targets would have to gather, so they use the formulas of the other math-*-inl.h files.
#if defined(KG_MATH_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_TABLES_INL_H_
#undef KG_MATH_TABLES_INL_H_
#else
#define KG_MATH_TABLES_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/common-inl.h"

#if KG_AVX512
HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

/// table[i] in each lane, where i is the number in the low five bits of `index`.
template <class V, class VU>
HWY_INLINE V LookUp(const float (&table)[32], VU index) {
  const __m512 lower = _mm512_load_ps(table), upper = _mm512_load_ps(table + 16);
  if constexpr (sizeof(V) == 64) {
    return V{_mm512_permutex2var_ps(lower, index.raw, upper)};
  } else if constexpr (sizeof(V) == 32) {
    const __m512i wide = _mm512_castsi256_si512(index.raw);
    return V{_mm512_castps512_ps256(_mm512_permutex2var_ps(lower, wide, upper))};
  } else {
    const __m512i wide = _mm512_castsi128_si512(index.raw);
    return V{_mm512_castps512_ps128(_mm512_permutex2var_ps(lower, wide, upper))};
  }
}

/// The mantissa of x in [0.75, 1.5), NaN for x < 0, and the exponent with which it were in [1, 2).
template <class V>
HWY_INLINE V Mantissa(V x, V& exponent) {
  if constexpr (sizeof(V) == 64) {
    exponent = V{_mm512_getexp_ps(x.raw)};
    return V{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  } else if constexpr (sizeof(V) == 32) {
    exponent = V{_mm256_getexp_ps(x.raw)};
    return V{_mm256_getmant_ps(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  } else {
    exponent = V{_mm_getexp_ps(x.raw)};
    return V{_mm_getmant_ps(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  }
}

// scale 2^(i / 32 - 64), less i in the exponent's bits; (e^r - 1) / r on |r| <= ln 2 / 64, error of e^r 2^-31. The
// scale is one with which the entries are almost floats and the quotient's roundings weigh least: 1 would cost half an
// ulp.
struct sigmoid_table {
  HWY_ALIGN static constexpr float power[] = {
      1.6943655f,  1.70021725f, 1.70688152f, 1.71437585f, 1.72271872f, 1.73192847f, 1.74202418f, 1.75302529f,
      1.75747573f, 1.7482866f,  1.73958051f, 1.73136806f, 1.72366011f, 1.71646762f, 1.70980191f, 1.70367455f,
      1.69809735f, 1.69308221f, 1.68864167f, 1.68478811f, 1.68153441f, 1.6788938f,  1.67687964f, 1.67550564f,
      1.67478585f, 1.67473459f, 1.67536652f, 1.67669654f, 1.67874002f, 1.68151248f, 1.68502998f, 1.68930876f};
  static constexpr float p[] = {1.0f, 0.500003666f, 0.1666674f};
  static constexpr float scale = 1.6943655f * 0x1p64f;
};

/// v[i] = e^z / (1 + e^z) with z = -|v[i]|. Below -105 the result is 0. e^z is carried 2^64 times as large, so that it
/// is a normal number above. Step by step as in ExpOfAll.
template <class D, class V, int N>
HWY_INLINE void SigmoidTailOfAll(D d, vectors<V, N> v) {
  const hn::RebindToUnsigned<D> du;
  using VU = hn::Vec<decltype(du)>;
  const V magic = Constant(d, 393280.0);  // 1.5 * 2^18, whose last place is 1 / 32, and 64 for the exponent
  V z[N], k[N], r[N], t[N], p[N], e[N];
  VU steps[N];
  // Maximum gives its second operand where one is NaN.
  for (size_t i = 0; i < N; ++i) z[i] = hn::Max(Constant(d, -105.0), hn::Or(v[i], hn::SignBit(d)));
  for (size_t i = 0; i < N; ++i) {
    k[i] = hn::MulAdd(z[i], Constant(d, 1.4426950408889634), magic);
    steps[i] = hn::BitCast(du, k[i]);
  }
  for (size_t i = 0; i < N; ++i) k[i] = hn::Sub(k[i], magic);
  for (size_t i = 0; i < N; ++i) t[i] = LookUp<V>(sigmoid_table::power, steps[i]);
  for (size_t i = 0; i < N; ++i) steps[i] = hn::ShiftLeft<18>(steps[i]);
  for (size_t i = 0; i < N; ++i) r[i] = hn::NegMulAdd(k[i], hn::Set(d, ln2<float>::high), z[i]);
  for (size_t i = 0; i < N; ++i) t[i] = hn::BitCast(d, hn::Add(hn::BitCast(du, t[i]), steps[i]));
  for (size_t i = 0; i < N; ++i) r[i] = hn::NegMulAdd(k[i], hn::Set(d, ln2<float>::low), r[i]);
  for (size_t i = 0; i < N; ++i)
    p[i] = hn::MulAdd(r[i], hn::Set(d, sigmoid_table::p[2]), hn::Set(d, sigmoid_table::p[1]));
  for (size_t i = 0; i < N; ++i) e[i] = hn::Mul(t[i], r[i]);
  for (size_t i = 0; i < N; ++i) p[i] = hn::MulAdd(p[i], r[i], hn::Set(d, sigmoid_table::p[0]));
  for (size_t i = 0; i < N; ++i) e[i] = hn::MulAdd(e[i], p[i], t[i]);
  for (size_t i = 0; i < N; ++i) t[i] = hn::Add(e[i], hn::Set(d, sigmoid_table::scale));
  for (size_t i = 0; i < N; ++i) v[i] = hn::Div(e[i], t[i]);
}

/// v[i] = 1 / (1 + e^-v[i]): the tail on the left, and 1 less the tail on the right.
template <class D, class V, int N>
HWY_INLINE void SigmoidOfAll(D d, vectors<V, N> v) {
  hn::Mask<D> right[N];  // compared first: four vectors take all registers, and so v needs none
  for (size_t i = 0; i < N; ++i) right[i] = hn::Ge(v[i], hn::Zero(d));
  SigmoidTailOfAll(d, v);
  for (size_t i = 0; i < N; ++i) v[i] = hn::IfThenElse(right[i], hn::Sub(Constant(d, 1.0), v[i]), v[i]);
}

// For the pieces of [0.75, 1.5) that the top bits of m tell apart: r = m reciprocal - 1 in [-2^-6, 2^-5], 0 exactly at
// 1, and -log(reciprocal) = high + low. Below 1, where getexp of the argument is one less than the exponent, ln 2 is
// added. ln 2 and high are multiples of 2^-16, so that k ln2_high + high is exact. p: (log(1 + r) - r) / r^2, error
// 2^-32.
struct log_table {
  HWY_ALIGN static constexpr float reciprocal[] = {
      1.0f,      0.953125f, 0.921875f, 0.90625f,  0.875f,   0.859375f, 0.828125f, 0.8125f,
      0.796875f, 0.765625f, 0.75f,     0.734375f, 0.71875f, 0.703125f, 0.6875f,   0.671875f,
      1.3125f,   1.296875f, 1.265625f, 1.25f,     1.21875f, 1.203125f, 1.171875f, 1.15625f,
      1.125f,    1.109375f, 1.09375f,  1.078125f, 1.0625f,  1.046875f, 1.03125f,  1.0f};
  HWY_ALIGN static constexpr float high[] = {
      0.0f,         0.0480041504f, 0.0813446045f, 0.0984344482f, 0.133529663f, 0.151550293f, 0.188598633f,
      0.207641602f, 0.227050781f,  0.267059326f,  0.287689209f,  0.308731079f, 0.330245972f, 0.352218628f,
      0.374694824f, 0.397689819f,  0.421218872f,  0.433181763f,  0.457580566f, 0.470001221f, 0.495315552f,
      0.508224487f, 0.534545898f,  0.547958374f,  0.575363159f,  0.589355469f, 0.603530884f, 0.617919922f,
      0.632522583f, 0.647338867f,  0.662368774f,  0.693145752f};
  HWY_ALIGN static constexpr float low[] = {0.0f,
                                            5.06879587e-06f,
                                            1.03496177e-06f,
                                            5.62457126e-06f,
                                            1.72953855e-06f,
                                            -3.9484155e-07f,
                                            -7.46300475e-06f,
                                            -2.23678421e-06f,
                                            6.66938513e-06f,
                                            3.45907711e-06f,
                                            -7.13653253e-06f,
                                            4.40254826e-06f,
                                            -4.28480917e-06f,
                                            1.96565975e-06f,
                                            -1.3747773e-06f,
                                            -6.8516697e-06f,
                                            -5.40699421e-06f,
                                            7.89342721e-06f,
                                            5.42840894e-07f,
                                            2.40854251e-06f,
                                            5.88547209e-06f,
                                            3.54761198e-07f,
                                            -3.74805427e-06f,
                                            6.79669211e-06f,
                                            9.85723773e-07f,
                                            -5.08187168e-06f,
                                            4.13808129e-06f,
                                            3.83744737e-06f,
                                            -2.42643576e-08f,
                                            -1.22265885e-06f,
                                            6.74747889e-06f,
                                            1.42860677e-06f};
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-06f;
  static constexpr float p[] = {-0.5f, 0.333334416f, -0.250082225f, 0.196553156f};
};

/// log(x 2^more) + small, where -0 is what costs nothing for both. Zeros give -inf through the exponent, negative
/// numbers NaN through the mantissa.
template <class D, class V>
HWY_INLINE V LogByTable(D d, V x, V more, V small) {
  const hn::RebindToUnsigned<D> du;
  V k;
  const V m = Mantissa(x, k);
  k = hn::Add(k, more);
  const auto index = hn::ShiftRight<18>(hn::BitCast(du, m));
  const V r = hn::MulSub(m, LookUp<V>(log_table::reciprocal, index), Constant(d, 1.0));
  const V high = hn::MulAdd(k, hn::Set(d, log_table::ln2_high), LookUp<V>(log_table::high, index));
  V low = hn::MulAdd(k, hn::Set(d, log_table::ln2_low), LookUp<V>(log_table::low, index));
  low = hn::MulAdd(hn::Mul(r, r), Polynomial(d, r, log_table::p), hn::Add(low, small));
  return hn::Add(high, hn::Add(r, low));
}

// A function on pieces: value + t (c1 + t (c2 + ...)), where t is the distance from the piece's centre. The centres are
// chosen so that the function's value there is almost a float.
template <class Table, class V, class VU>
HWY_INLINE V Piecewise(V a, V value, VU index) {
  const V t = hn::Sub(a, LookUp<V>(Table::centre, index));
  V p = LookUp<V>(Table::c5, index);
  p = hn::MulAdd(p, t, LookUp<V>(Table::c4, index));
  p = hn::MulAdd(p, t, LookUp<V>(Table::c3, index));
  p = hn::MulAdd(p, t, LookUp<V>(Table::c2, index));
  p = hn::MulAdd(p, t, LookUp<V>(Table::c1, index));
  return hn::MulAdd(p, t, value);
}

// tanh on the pieces that the top bits of a + 1 in [1, 16) tell apart, eight to an octave; relative error 2^-26.
struct tanh_table {
  HWY_ALIGN static constexpr float centre[] = {
      1.12505341f, 1.37509537f,  1.62498569f,  1.87500703f,  2.12539887f,  2.37446523f,  2.62596035f, 2.87338448f,
      3.25277448f, 3.75111175f,  4.23818922f,  4.71620941f,  5.19907713f,  5.64779043f,  6.17943096f, 6.67919302f,
      7.27804518f, 8.31776619f,  9.5f,         10.5f,        11.5f,        12.5f,        13.5f,       14.5f,
      0.0f,        0.187501088f, 0.312489927f, 0.437508523f, 0.562476516f, 0.687473178f, 0.81253767f, 0.937449276f};
  HWY_ALIGN static constexpr float value[] = {
      0.809319496f, 0.879848242f, 0.925344169f, 0.954045892f, 0.97189486f,  0.982826829f, 0.989579678f, 0.993634164f,
      0.997014225f, 0.998896897f, 0.999583423f, 0.999839842f, 0.999939024f, 0.999975145f, 0.999991417f, 0.999996841f,
      0.999999046f, 0.999999881f, 1.0f,         1.0f,         1.0f,         1.0f,         1.0f,         1.0f,
      0.0f,         0.18533425f,  0.302700579f, 0.411577135f, 0.509812593f, 0.596356273f, 0.670987785f, 0.734048128f};
  HWY_ALIGN static constexpr float c1[] = {
      0.345001966f,    0.225867078f,    0.143738165f,    0.0897964388f,   0.0554203801f,
      0.0340514258f,   0.0207320619f,   0.0126911476f,   0.00596263679f,  0.00220498955f,
      0.000832979684f, 0.000320289197f, 0.000121947123f, 4.97095534e-05f, 1.71660213e-05f,
      6.31806688e-06f, 1.90725552e-06f, 2.38402905e-07f, 2.24111858e-08f, 3.03302428e-09f,
      4.10475182e-10f, 5.5551775e-11f,  7.51811547e-12f, 1.01746628e-12f, 1.0f,
      0.965651214f,    0.908372343f,    0.830604255f,    0.740091145f,    0.644359171f,
      0.549775422f,    0.461173356f};
  HWY_ALIGN static constexpr float c2[] = {
      -0.279218227f,    -0.19872959f,     -0.133007586f,    -0.085669972f,    -0.0538627394f,   -0.0334665962f,
      -0.0205159783f,   -0.0126103228f,   -0.00594453746f,  -0.00220244098f,  -0.0008325901f,   -0.000320225226f,
      -0.000121936602f, -4.97096989e-05f, -1.71657812e-05f, -6.31801413e-06f, -1.90823698e-06f, -2.38464821e-07f,
      -2.23912924e-08f, -3.03033199e-09f, -4.10110834e-10f, -5.55024637e-11f, -7.51144199e-12f, -1.01656314e-12f,
      2.54711967e-08f,  -0.178967968f,    -0.274964482f,    -0.341857433f,    -0.377307594f,    -0.384267598f,
      -0.36889261f,     -0.338523507f};
  HWY_ALIGN static constexpr float c3[] = {
      0.110975213f,    0.0995625407f,   0.0751650035f,   0.0518009812f,   0.0338755138f,   0.0215414725f,
      0.0133915124f,   0.00829973537f,  0.0039393045f,   0.00146507425f,  0.000554713537f, 0.000213522406f,
      8.13361257e-05f, 3.316316e-05f,   1.14527438e-05f, 4.21533105e-06f, 1.2780713e-06f,  1.59881949e-07f,
      1.4935134e-08f,  2.02125072e-09f, 2.73546547e-10f, 3.70204978e-11f, 5.01017977e-12f, 6.78054076e-13f,
      -0.333339751f,   -0.288714647f,   -0.219558761f,   -0.136167377f,   -0.0543409176f,  0.0143739022f,
      0.0642638728f,   0.0947680026f};
  HWY_ALIGN static constexpr float c4[] = {
      0.00361986319f,   -0.0211425349f,   -0.0251374133f,   -0.0208512824f,   -0.0149801951f,   -0.0100309057f,
      -0.00642577372f,  -0.00405230001f,  -0.0019650429f,   -0.000736757647f, -0.000279648462f, -0.000107577405f,
      -4.09110362e-05f, -1.65239344e-05f, -5.74392425e-06f, -2.11408337e-06f, -6.26300221e-07f, -7.95834865e-08f,
      -7.78727749e-09f, -1.05389353e-09f, -1.42628978e-10f, -1.9302733e-11f,  -2.6123409e-12f,  -3.53541903e-13f,
      0.00023491816f,   0.112874225f,     0.157761604f,     0.169694722f,     0.153290913f,     0.119460605f,
      0.0798793584f,    0.0433598608f};
  HWY_ALIGN static constexpr float c5[] = {
      -0.0320175104f,  -0.00947579741f, 0.00141765608f,  0.00461030006f,  0.00448326627f,  0.00341850263f,
      0.00234843371f,  0.00153139257f,  0.000767874706f, 0.000291719887f, 0.000109025328f, 4.05749124e-05f,
      1.50363376e-05f, 5.63176127e-06f, 2.05011065e-06f, 7.54313817e-07f, 1.81236516e-07f, 2.41918805e-08f,
      3.07833647e-09f, 4.1660761e-10f,  5.63817118e-11f, 7.63043448e-12f, 1.03266712e-12f, 1.39756289e-13f,
      0.131033242f,    0.0965795517f,   0.0455068834f,   -0.00600641733f, -0.043536596f,   -0.0616196729f,
      -0.0627001822f,  -0.0530730747f};
};
// erf on pieces of the width 1 / 7.5; relative error 2^-26. On the first it is a (1 + c1 + ...).
struct erf_table {
  HWY_ALIGN static constexpr float centre[] = {
      0.0f,        0.133331329f, 0.266658068f, 0.400003374f, 0.533321142f, 0.666641295f, 0.800034344f, 0.933366239f,
      1.06668139f, 1.19993842f,  1.33328521f,  1.466681f,    1.59983897f,  1.7332989f,   1.86617029f,  1.99986267f,
      2.13527346f, 2.26858616f,  2.40314746f,  2.52091146f,  2.65672612f,  2.82448912f,  2.93677187f,  3.03868413f,
      3.21086454f, 3.34718347f,  3.47445869f,  3.62370515f,  3.74392128f,  3.86666656f,  4.0f,         4.13333321f};
  HWY_ALIGN static constexpr float value[] = {
      0.0f,         0.149561509f, 0.293909222f, 0.428395599f, 0.549288869f, 0.654203057f, 0.742121398f, 0.813158035f,
      0.868577302f, 0.910297513f, 0.940644383f, 0.961939275f, 0.976334333f, 0.985764086f, 0.991688907f, 0.995319426f,
      0.997470021f, 0.998664618f, 0.999322593f, 0.999636292f, 0.99982816f,  0.99993515f,  0.999967217f, 0.999982715f,
      0.999994397f, 0.999997795f, 0.999999106f, 0.999999702f, 0.999999881f, 0.99999994f,  1.0f,         1.0f};
  HWY_ALIGN static constexpr float c1[] = {
      0.128379166f,    1.1084969f,      1.05093026f,     0.961538732f,    0.849039793f,    0.723519087f,
      0.59495312f,     0.472182214f,    0.361668617f,    0.267383873f,    0.190735579f,    0.131286815f,
      0.0872740149f,   0.0559362397f,   0.0346724689f,   0.0206783414f,   0.0118123405f,   0.00656698178f,
      0.00350229978f,  0.00196117326f,  0.000970779161f, 0.000387050153f, 0.000202687195f, 0.000110243462f,
      3.75863965e-05f, 1.53736728e-05f, 6.45225828e-06f, 2.23682036e-06f, 9.22514289e-07f, 3.62468597e-07f,
      1.26982343e-07f, 4.29314504e-08f};
  HWY_ALIGN static constexpr float c2[] = {
      8.55235882e-09f,  -0.147797227f,    -0.280238777f,    -0.384618402f,    -0.452810585f,    -0.482327461f,
      -0.475982785f,    -0.440718919f,    -0.385785252f,    -0.320844293f,    -0.254305065f,    -0.192556009f,
      -0.139624462f,    -0.0969542786f,   -0.0647047609f,   -0.0413538441f,   -0.025222566f,    -0.014897746f,
      -0.00841652416f,  -0.00494393427f,  -0.00257908506f,  -0.0010932216f,   -0.000595240388f, -0.000334997399f,
      -0.000120683391f, -5.14579115e-05f, -2.24176201e-05f, -8.10563779e-06f, -3.45372587e-06f, -1.40148632e-06f,
      -5.07904247e-07f, -1.77439716e-07f};
  HWY_ALIGN static constexpr float c3[] = {
      -0.376127362f,   -0.356361479f,   -0.300491303f,  -0.217947021f,   -0.122017562f,   -0.0268134028f,
      0.0555506237f,   0.116840608f,    0.153783634f,   0.167534158f,    0.162462115f,    0.144516453f,
      0.119826332f,    0.0933883786f,   0.0689425394f,  0.0482419096f,   0.0319672339f,   0.0203421563f,
      0.0123165334f,   0.00765560707f,  0.0042446903f,  0.00192913914f,  0.00109778275f,  0.000642029278f,
      0.00024575062f,  0.000109666391f, 4.9764596e-05f, 1.88244121e-05f, 8.30951558e-06f, 3.49199695e-06f,
      1.31212744e-06f, 4.74652722e-07f};
  HWY_ALIGN static constexpr float c4[] = {
      3.72520553e-05f,  0.0728894025f,    0.133242249f,     0.171513706f,     0.183205143f,     0.16950798f,
      0.136326969f,     0.0923619792f,    0.0466371924f,    0.00654155994f,   -0.0234117806f,   -0.0416814499f,
      -0.0492239334f,   -0.0485631153f,   -0.0427365042f,   -0.034451358f,    -0.0257326216f,   -0.0181245729f,
      -0.0120106898f,   -0.00801180024f,  -0.00478788977f,  -0.00235975045f,  -0.00141869206f,  -0.00086231099f,
      -0.000355784898f, -0.000167060396f, -7.94450098e-05f, -3.14141835e-05f, -1.45004014e-05f, -6.33704849e-06f,
      -2.47760772e-06f, -9.31062743e-07f};
  HWY_ALIGN static constexpr float c5[] = {
      0.112353519f,    0.102882691f,    0.0758260638f,   0.0378795341f,   -0.00249364134f, -0.0371275917f,
      -0.0602188446f,  -0.0694446266f,  -0.0659400225f,  -0.0533085652f,  -0.036180675f,   -0.0188591592f,
      -0.00441372814f, 0.00565807475f,  0.0112200091f,   0.0130702537f,   0.0123881148f,   0.0103548719f,
      0.00788400695f,  0.00560732745f,  0.0037052955f,   0.00226033828f,  0.0013498402f,   0.000773657055f,
      0.000399955898f, 0.000202548574f, 9.87565872e-05f, 4.50928201e-05f, 2.02714746e-05f, 8.7187409e-06f,
      3.55547672e-06f, 1.39074689e-06f};
};

template <class D, class V>
HWY_INLINE V TanhByTable(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V a = hn::Min(Constant(d, 14.5), hn::Abs(x));  // NaN stays: the second operand
  const auto index = hn::ShiftRight<20>(hn::BitCast(du, hn::Add(a, Constant(d, 1.0))));
  return hn::CopySign(Piecewise<tanh_table>(a, LookUp<V>(tanh_table::value, index), index), x);
}

template <class D, class V>
HWY_INLINE V ErfByTable(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V magic = hn::Set(d, format_of<D>::magic);
  const V a = hn::Min(Constant(d, 4.15), hn::Abs(x));
  const V number = hn::MulAdd(a, Constant(d, 7.5), magic);
  const auto index = hn::BitCast(du, number);
  const V value = hn::IfThenElse(hn::Eq(number, magic), a, LookUp<V>(erf_table::value, index));
  return hn::CopySign(Piecewise<erf_table>(a, value, index), x);
}

/// table[i] in each double lane, where i is the number in the low three or four bits of `index`.
template <class V, class VU, size_t N>
HWY_INLINE V LookUp(const double (&table)[N], VU index) {
  const auto look = [&table](__m512i wide) {
    const __m512d lower = _mm512_load_pd(table);
    if constexpr (N == 8) return _mm512_permutexvar_pd(wide, lower);
    else return _mm512_permutex2var_pd(lower, wide, _mm512_load_pd(table + 8));
  };
  if constexpr (sizeof(V) == 64) {
    return V{look(index.raw)};
  } else if constexpr (sizeof(V) == 32) {
    return V{_mm512_castpd512_pd256(look(_mm512_castsi256_si512(index.raw)))};
  } else {
    return V{_mm512_castpd512_pd128(look(_mm512_castsi128_si512(index.raw)))};
  }
}

template <class V>
HWY_INLINE V MantissaOfDouble(V x, V& exponent) {
  if constexpr (sizeof(V) == 64) {
    exponent = V{_mm512_getexp_pd(x.raw)};
    return V{_mm512_getmant_pd(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  } else if constexpr (sizeof(V) == 32) {
    exponent = V{_mm256_getexp_pd(x.raw)};
    return V{_mm256_getmant_pd(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  } else {
    exponent = V{_mm_getexp_pd(x.raw)};
    return V{_mm_getmant_pd(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
  }
}

// For pieces of [0.75, 1.5) as above, 16 of them: r = m reciprocal - 1 in [-2^-5, 2^-4] and -log2(reciprocal), with 1
// more below 1. log: log2(1 + r) / r, error 2^-34. power: 2^(i / 8); exp: (2^r - 1) / r on |r| <= 1/16, error 2^-32.
struct pow_table {
  HWY_ALIGN static constexpr double reciprocal[] = {1.0,
                                                    0.9142857142857143,
                                                    0.8648648648648649,
                                                    0.8205128205128205,
                                                    0.7804878048780488,
                                                    0.7441860465116279,
                                                    0.7111111111111111,
                                                    0.6808510638297872,
                                                    1.3061224489795917,
                                                    1.2549019607843137,
                                                    1.2075471698113207,
                                                    1.1636363636363636,
                                                    1.1228070175438596,
                                                    1.0847457627118644,
                                                    1.0491803278688525,
                                                    1.0};
  HWY_ALIGN static constexpr double value[] = {0.0,
                                               0.1292830169449665,
                                               0.2094533656289497,
                                               0.28540221886224837,
                                               0.3575520046180836,
                                               0.42626475470209796,
                                               0.49185309632967467,
                                               0.5545888516776374,
                                               0.6147098441152083,
                                               0.6724253419714956,
                                               0.7279204545631992,
                                               0.7813597135246597,
                                               0.8328900141647417,
                                               0.8826430493618412,
                                               0.9307373375628862,
                                               1.0};
  HWY_ALIGN static constexpr double power[] = {1.0,
                                               1.0905077326652577,
                                               1.189207115002721,
                                               1.2968395546510096,
                                               1.4142135623730951,
                                               1.5422108254079407,
                                               1.681792830507429,
                                               1.8340080864093424};
  static constexpr double log[] = {1.4426950408604686,  -0.7213475127701544, 0.48089857226619787,
                                   -0.3606986593917939, 0.2884910231447673,  -0.2225520957194905};
  static constexpr double exp[] = {0.6931471780166573, 0.24022650666529183, 0.05550931728962304, 0.009618730825679362};
};

/// a^b for a > 0 in double lanes, as right as the result in float needs.
template <class D, class V>
HWY_INLINE V PowByTable(D d, V a, V b) {
  const hn::RebindToUnsigned<D> du;
  V k;
  const V m = MantissaOfDouble(a, k);
  const auto piece = hn::ShiftRight<48>(hn::BitCast(du, m));
  const V r = hn::MulSub(m, LookUp<V>(pow_table::reciprocal, piece), Constant(d, 1.0));
  const V log = hn::MulAdd(r, Polynomial(d, r, pow_table::log), hn::Add(k, LookUp<V>(pow_table::value, piece)));
  const V t = Limit(d, hn::Mul(b, log), -200.0, 200.0);
  const V magic = Constant(d, 0x1.8p49);  // its last place is 1 / 8
  const V steps = hn::Add(t, magic);
  const V rest = hn::Sub(t, hn::Sub(steps, magic));
  const V power = LookUp<V>(pow_table::power, hn::BitCast(du, steps));
  const V y = hn::MulAdd(hn::Mul(power, rest), Polynomial(d, rest, pow_table::exp), power);
  return hn::BitCast(d, hn::Add(hn::BitCast(du, y), hn::ShiftLeft<52>(hn::ShiftRight<3>(hn::BitCast(du, steps)))));
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // KG_MATH_TABLES_INL_H_
