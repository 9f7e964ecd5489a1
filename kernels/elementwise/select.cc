// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/select.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/common/target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// The mask of lanes whose byte is not 0.
template <class D, class V = hn::Vec<hn::Rebind<std::uint8_t, D>>>
HWY_INLINE hn::Mask<D> mask_of_bytes(D d, V bytes) {
#if KG_AVX512
  const hn::Rebind<std::uint8_t, D> narrow;
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(narrow, hn::Ne(bytes, hn::Zero(narrow)), bits);
  return hn::LoadMaskBits(d, bits);
#else
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> lanes;
  if constexpr (sizeof(T) == 1) {
    return hn::RebindMask(d, hn::Ne(bytes, hn::Zero(lanes)));
  } else if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(lanes, bytes), hn::Zero(lanes)));
  } else {
    const hn::Rebind<std::uint32_t, D> middle;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(lanes, hn::PromoteTo(middle, bytes)), hn::Zero(lanes)));
  }
#endif
}

// The condition as an operand of the loops: its vectors are masks.
struct condition {
  operand<std::uint8_t> bytes;

  template <class D>
  HWY_INLINE hn::Mask<D> all(D d, std::size_t i, std::size_t offset) const {
    return mask_of_bytes(d, bytes.all(hn::Rebind<std::uint8_t, D>{}, i, offset));
  }
  template <class D>
  HWY_INLINE hn::Mask<D> first(D d, std::size_t i, std::size_t count) const {
    return mask_of_bytes(d, bytes.first(hn::Rebind<std::uint8_t, D>{}, i, count));
  }
  bool is(const void* y) const { return bytes.is(y); }
};

struct select_map : short_map {
  template <class D, class M, class V>
  HWY_INLINE V operator()(D, M mask, V t, V e) const {
    return hn::IfThenElse(mask, t, e);
  }
};

template <class T>
struct select_row {
  const std::uint8_t* flags;
  const T* t;
  const T* e;
  T* y;
  std::size_t n;
  bool flags_move, t_moves, e_moves;
  spread<std::uint8_t>& flag_value;
  spread<T>& t_value;
  spread<T>& e_value;

  HWY_INLINE void operator()(const std::int64_t* offsets, std::int64_t start) const {
    const condition chosen{flag_value.row(flags + offsets[0], flags_move)};
    map_array<T>(select_map{}, y + start, n, chosen, t_value.row(t + offsets[1], t_moves),
                 e_value.row(e + offsets[2], e_moves));
  }
};

template <class T>
HWY_INLINE void select(const broadcast_geometry& g, const std::uint8_t* flags, const T* t, const T* e, T* y) {
  const int last = g.rank - 1;
  spread<std::uint8_t> flag_value;
  spread<T> t_value, e_value;
  for_rows<3>(g, select_row<T>{flags, t, e, y, static_cast<std::size_t>(g.dims[last]), g.strides[0][last] != 0,
                               g.strides[1][last] != 0, g.strides[2][last] != 0, flag_value, t_value, e_value});
}

// Elements of 16 bytes are no lanes.
struct wide_element {
  std::uint64_t halves[2];
};
struct wide_row {
  const std::uint8_t* flags;
  const wide_element* t;
  const wide_element* e;
  wide_element* y;
  const broadcast_geometry& g;

  HWY_INLINE void operator()(const std::int64_t* offsets, std::int64_t start) const {
    const int last = g.rank - 1;
    for (std::int64_t i = 0; i < g.dims[last]; ++i) {
      const bool chosen = flags[offsets[0] + i * g.strides[0][last]] != 0;
      const wide_element* from =
          chosen ? t + offsets[1] + i * g.strides[1][last] : e + offsets[2] + i * g.strides[2][last];
      wide_element value;
      std::memcpy(&value, from, sizeof value);
      std::memcpy(y + start + i, &value, sizeof value);
    }
  }
};
HWY_INLINE void select(const broadcast_geometry& g, const std::uint8_t* flags, const wide_element* t,
                       const wide_element* e, wide_element* y) {
  for_rows<3>(g, wide_row{flags, t, e, y, g});
}

// Elements are moved as a lane of their size.
template <std::size_t Size>
using moved_as = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<
        Size == 2, std::int16_t,
        std::conditional_t<Size == 4, std::int32_t, std::conditional_t<Size == 8, std::int64_t, wide_element>>>>;

namespace {

template <dtype Type, class T = moved_as<sizeof(storage_t<Type>)>>
void Select(const broadcast_geometry& g, const std::uint8_t* flags, const T* t, const T* e, T* y) {
  select(g, flags, t, e, y);
}

}  // namespace

KG_DEFINE_KERNELS(KG_SELECT_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_SELECT_KERNELS)

}  // namespace kerngrad::kernels
#endif
