// SPDX-License-Identifier: Apache-2.0
// Elements that the program has already, used where they lie: spans, vectors, mdspans and matrices of other libraries
// as tensors, and a tensor's elements as an mdspan. docs/exchange.md.
module;
#include <version>
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif
#include "kernels/common/abi.h"
#include "modules/core/deleted.h"
#define KG_DIES                                                                                        \
  KG_DELETED(                                                                                          \
      "borrowed memory that dies: the container ends with this expression; name it and let keep_alive" \
      " hold it, or give a std::vector up by kg::adopt(std::move(v), dims)")
export module kerngrad:borrow;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

// A C++ type whose elements stand for themselves. A text refers to bytes, which the caller would have to keep too.
template <class T>
concept lendable = element<T> && !std::same_as<std::remove_cv_t<T>, text>;

// A type with the interface of std::mdspan. Its accessor does no more than read at an address: whatever computes
// elements, such as std::linalg::scaled, has another type of reference.
template <class M>
concept mdspan_like = requires(const M& m) {
  requires lendable<typename M::element_type>;
  requires std::is_same_v<typename M::reference, typename M::element_type&>;
  { m.data_handle() } -> std::convertible_to<const typename M::element_type*>;
  { m.extents().extent(0) } -> std::convertible_to<std::int64_t>;
  { m.stride(0) } -> std::convertible_to<std::int64_t>;
  { M::extents_type::rank() } -> std::convertible_to<std::size_t>;
};
// A matrix or vector of Eigen with its elements in memory: a Map, a Ref, a block, a Matrix.
template <class M>
concept matrix_like = requires(const M& m) {
  requires lendable<typename M::Scalar>;
  typename M::PlainObject;
  M::ColsAtCompileTime;
  { m.data() } -> std::convertible_to<const typename M::Scalar*>;
  { m.rows() } -> std::convertible_to<std::int64_t>;
  { m.cols() } -> std::convertible_to<std::int64_t>;
  { m.rowStride() } -> std::convertible_to<std::int64_t>;
  { m.colStride() } -> std::convertible_to<std::int64_t>;
};
template <class M>
concept dying_matrix = matrix_like<std::remove_cvref_t<M>> && !std::is_lvalue_reference_v<M> &&
                       std::is_same_v<std::remove_cvref_t<M>, typename std::remove_cvref_t<M>::PlainObject>;
template <class M>
concept living_grid = mdspan_like<std::remove_cvref_t<M>> || (matrix_like<std::remove_cvref_t<M>> && !dying_matrix<M>);

// An array, a vector, a span: elements one after the other, and their number. Not a matrix, which says how they lie.
template <class R>
concept lendable_array = !matrix_like<std::remove_cvref_t<R>> && requires(R& elements) {
  requires lendable<std::remove_pointer_t<decltype(std::data(elements))>>;
  { std::size(elements) } -> std::convertible_to<std::size_t>;
};
// An rvalue that owns its elements, which end with it: any but a span.
template <class R> inline constexpr bool is_span = false;
template <class T, std::size_t N> inline constexpr bool is_span<std::span<T, N>> = true;
template <class R>
concept dying_array = lendable_array<R> && !std::is_lvalue_reference_v<R> && !is_span<std::remove_cvref_t<R>>;
template <class R>
concept living_array = lendable_array<R> && !dying_array<R>;

/// Owner of the elements for as long as a tensor has them.
using keeper = std::shared_ptr<const void>;
/// Elements somewhere in memory: the first one, sizes, and distances in elements.
struct lent_grid {
  const void* first = nullptr;
  dtype type{};
  std::size_t rank = 0;
  std::int64_t dims[max_rank]{}, strides[max_rank]{};
};

tensor lend(const void* elements, dtype type, const shape& dims, keeper keep_alive);
/// Makes a tensor on `count` elements. Throws unless that is the size of the shape.
tensor lend(const void* elements, std::size_t count, dtype type, const shape& dims, keeper keep_alive);
/// Makes a tensor on the elements of a grid. They are copied once, unless they are in row-major order without gaps.
tensor lend(std::string_view op, const lent_grid& from, keeper keep_alive);
keeper checked_keeper(keeper keep_alive);

template <class M>
lent_grid grid_of(const M& m) {
  lent_grid g;
  if constexpr (mdspan_like<M>) {
    static_assert(M::extents_type::rank() <= max_rank, "a tensor has at most 8 axes: merge some of the mdspan's");
    if constexpr (requires { m.is_strided(); })
      if (!m.is_strided())
        fail("borrow", "an mdspan whose layout has no strides", "a strided layout", "copy its elements");
    g.first = m.data_handle();
    g.type = dtype_of<typename M::element_type>;
    g.rank = M::extents_type::rank();
    for (std::size_t i = 0; i < g.rank; ++i) {
      g.dims[i] = static_cast<std::int64_t>(m.extents().extent(i));
      g.strides[i] = static_cast<std::int64_t>(m.stride(i));
    }
  } else {
    g.first = m.data();
    g.type = dtype_of<typename M::Scalar>;
    g.dims[0] = m.rows(), g.strides[0] = m.rowStride();
    g.dims[1] = m.cols(), g.strides[1] = m.colStride();
    g.rank = 2;
    if (M::ColsAtCompileTime == 1) g.rank = 1;
    else if (M::RowsAtCompileTime == 1) g.dims[0] = g.dims[1], g.strides[0] = g.strides[1], g.rank = 1;
  }
  return g;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A tensor on elements in your own memory, in row-major order, without a copy. The library never writes there. The
/// elements must stay where they are, and must not change, while the tensor, a copy, a view of it or a recording uses
/// them. `keep_alive` is a shared_ptr to their owner; the last user releases it, on its own thread. Without it the
/// lifetime is your responsibility; a container that ends with the expression is a compile error. Any dtype but text.
/// `kg::memory()` counts the tensor as a view, not its elements. Throws if the number of elements is not the product of
/// the sizes, for misaligned elements, and for an empty keep_alive. Differentiable as any tensor.
template <detail::living_array R>
tensor borrow(R&& elements, const shape& dims, std::shared_ptr<const void> keep_alive) {
  using T = std::remove_pointer_t<decltype(std::data(elements))>;
  return detail::lend(std::data(elements), std::size(elements), dtype_of<T>, dims,
                      detail::checked_keeper(std::move(keep_alive)));
}
template <detail::living_array R>
tensor borrow(R&& elements, const shape& dims) {
  using T = std::remove_pointer_t<decltype(std::data(elements))>;
  return detail::lend(std::data(elements), std::size(elements), dtype_of<T>, dims, {});
}
/// A tensor on your elements, without a copy, from the address of the first one. The shape tells how many there are.
/// The rest is as for `borrow` of a range.
template <detail::lendable T>
tensor borrow(T* const& elements, const shape& dims, std::shared_ptr<const void> keep_alive) {
  return detail::lend(elements, dtype_of<T>, dims, detail::checked_keeper(std::move(keep_alive)));
}
template <detail::lendable T>
tensor borrow(T* const& elements, const shape& dims) {
  return detail::lend(elements, dtype_of<T>, dims, {});
}
/// A tensor on the elements of a std::mdspan, or of a matrix, vector or map of Eigen. It has the same sizes. Elements
/// that are not in row-major order without gaps, such as those of a column-major matrix, are copied once. Also throws
/// for an mdspan whose layout has no strides. The rest is as for `borrow` of a range.
template <detail::living_grid M>
tensor borrow(M&& elements, std::shared_ptr<const void> keep_alive) {
  return detail::lend("borrow", detail::grid_of(elements), detail::checked_keeper(std::move(keep_alive)));
}
template <detail::living_grid M>
tensor borrow(M&& elements) {
  return detail::lend("borrow", detail::grid_of(elements), {});
}
template <detail::dying_array R>
tensor borrow(R&& elements, const shape& dims) = KG_DIES;
template <detail::dying_array R>
tensor borrow(R&& elements, const shape& dims, std::shared_ptr<const void> keep_alive) = KG_DIES;
template <detail::dying_matrix M>
tensor borrow(M&& elements) = KG_DIES;
template <detail::dying_matrix M>
tensor borrow(M&& elements, std::shared_ptr<const void> keep_alive) = KG_DIES;

/// A tensor that owns a vector which you move in, `adopt(std::move(v), {2, 3})`, without a copy. Throws if the number
/// of elements is not the product of the sizes; the vector is empty even then. Differentiable as any tensor.
template <detail::lendable T>
  requires(!std::same_as<T, bool>)
tensor adopt(std::vector<T>&& values, const shape& dims) {
  const std::shared_ptr<const std::vector<T>> owner(new std::vector<T>(std::move(values)));
  return detail::lend(owner->data(), owner->size(), dtype_of<T>, dims, owner);
}
/// A tensor of rank 1 that owns a vector which you move in.
template <detail::lendable T>
  requires(!std::same_as<T, bool>)
tensor adopt(std::vector<T>&& values) {
  const shape dims{static_cast<std::int64_t>(values.size())};
  return adopt(std::move(values), dims);
}

#ifdef __cpp_lib_mdspan
/// A view of a tensor's elements with one index per axis: std::mdspan if the standard library has it.
template <element T, std::size_t Rank>
using mdspan_of = std::mdspan<const T, std::dextents<std::int64_t, Rank>>;
#else
/// A view of a tensor's elements with one index per axis. The standard library lacks std::mdspan, so this type has its
/// interface, as far as constant elements in row-major order need it.
template <element T, std::size_t Rank>
class mdspan_of {
 public:
  /// The sizes of the axes.
  class extents_type {
   public:
    using index_type = std::int64_t;
    using size_type = std::uint64_t;
    using rank_type = std::size_t;
    constexpr extents_type() = default;
    constexpr explicit extents_type(const std::array<std::int64_t, Rank>& sizes) : sizes_(sizes) {}
    static constexpr rank_type rank() noexcept { return Rank; }
    static constexpr rank_type rank_dynamic() noexcept { return Rank; }
    static constexpr std::size_t static_extent(rank_type) noexcept { return static_cast<std::size_t>(-1); }
    constexpr index_type extent(rank_type axis) const noexcept { return sizes_[axis]; }
    constexpr bool operator==(const extents_type&) const = default;

   private:
    std::array<std::int64_t, Rank> sizes_{};
  };
  using element_type = const T;
  using value_type = T;
  using index_type = std::int64_t;
  using size_type = std::uint64_t;
  using rank_type = std::size_t;
  using reference = const T&;
  using data_handle_type = const T*;

  constexpr mdspan_of() = default;
  constexpr mdspan_of(const T* first, const extents_type& sizes) : first_(first), sizes_(sizes) {}

  static constexpr rank_type rank() noexcept { return Rank; }
  static constexpr rank_type rank_dynamic() noexcept { return Rank; }
  static constexpr std::size_t static_extent(rank_type) noexcept { return static_cast<std::size_t>(-1); }
  static constexpr bool is_always_unique() noexcept { return true; }
  static constexpr bool is_always_exhaustive() noexcept { return true; }
  static constexpr bool is_always_strided() noexcept { return true; }
  static constexpr bool is_unique() noexcept { return true; }
  static constexpr bool is_exhaustive() noexcept { return true; }
  static constexpr bool is_strided() noexcept { return true; }

  constexpr const extents_type& extents() const noexcept { return sizes_; }
  constexpr index_type extent(rank_type axis) const noexcept { return sizes_.extent(axis); }
  /// The distance of neighbours along an axis, in elements.
  constexpr index_type stride(rank_type axis) const noexcept {
    index_type elements = 1;
    for (rank_type i = axis + 1; i < Rank; ++i) elements *= extent(i);
    return elements;
  }
  constexpr size_type size() const noexcept {
    size_type elements = 1;
    for (rank_type i = 0; i < Rank; ++i) elements *= static_cast<size_type>(extent(i));
    return elements;
  }
  constexpr bool empty() const noexcept { return size() == 0; }
  constexpr data_handle_type data_handle() const noexcept { return first_; }

  /// The element at one index for each axis. As in std::mdspan, indices are not checked.
  constexpr reference operator[](const std::array<index_type, Rank>& at) const {
    index_type offset = 0;
    for (rank_type i = 0; i < Rank; ++i) offset = offset * extent(i) + at[i];
    return first_[offset];
  }
#ifdef __cpp_multidimensional_subscript
  template <class... Index>
    requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, index_type> && ...))
  constexpr reference operator[](Index... at) const {
    return (*this)[std::array<index_type, Rank>{static_cast<index_type>(at)...}];
  }
#endif
  /// The same as operator[], as the reference implementation of std::mdspan has it before C++23.
  template <class... Index>
    requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, index_type> && ...))
  constexpr reference operator()(Index... at) const {
    return (*this)[std::array<index_type, Rank>{static_cast<index_type>(at)...}];
  }

 private:
  const T* first_ = nullptr;
  extents_type sizes_{};
};
#endif

/// The elements of a tensor as an mdspan, without a copy: `as_mdspan<float, 2>(x)`. They live as long as a tensor that
/// holds them, so a temporary cannot be viewed. Throws unless T is the dtype's C++ type and Rank the tensor's rank.
template <element T, std::size_t Rank>
mdspan_of<T, Rank> as_mdspan(const tensor& x) {
  const T* const first = x.template data<T>().data();
  if (x.rank() != static_cast<int>(Rank))
    fail("as_mdspan", "a tensor of shape " + to_string(x.dims()), "rank " + std::to_string(Rank), "reshape it");
  std::array<std::int64_t, Rank> sizes{};
  for (std::size_t i = 0; i < Rank; ++i) sizes[i] = x.dims()[static_cast<std::int64_t>(i)];
  return mdspan_of<T, Rank>(first, typename mdspan_of<T, Rank>::extents_type(sizes));
}
template <element T, std::size_t Rank>
mdspan_of<T, Rank> as_mdspan(tensor&& x) =
    KG_DELETED("a temporary's elements die with it: name the tensor, then take its mdspan");

}  // namespace kerngrad
