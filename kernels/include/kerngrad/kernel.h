// SPDX-License-Identifier: Apache-2.0
// Highway kernels in a .cc of your own, compiled for every target and chosen at run time:
//
//   #define KERNGRAD_FILE "cube.cc"   // this file, as an #include finds it: the other targets' passes read it again
//   #include <kerngrad/kernel.h>      // before any header of Highway, once, in the .cc itself
//
//   KERNGRAD_BEGIN(my)
//   KERNGRAD_MAP1(Cube, d, x) { return hn::Mul(x, hn::Mul(x, x)); }
//   KERNGRAD_UNARY(Cube, float32)
//   KERNGRAD_END
//
// Between BEGIN and END, `hn` is Highway and `math` the library's vector functions (math::Exp(d, x), ...: see
// kernels/math/math-inl.h). In a map D, V and T are the types of the tag, of a vector and of a lane. The code there is
// compiled for the target of the pass: functions, templates, members of structs and, by Clang, the bodies of lambdas.
// <kerngrad/declare.h> declares the entries for their users. The file is compiled with the arguments of the dependency
// `kerngrad-kernel`.
#ifndef KERNGRAD_KERNEL_H_
#define KERNGRAD_KERNEL_H_

#ifndef KERNGRAD_FILE
#error "kerngrad/kernel.h: define KERNGRAD_FILE, the name of this .cc as an #include finds it, before the #include"
#elif !__has_include(KERNGRAD_FILE)
#error "kerngrad/kernel.h: KERNGRAD_FILE is not found: add the folder of the .cc to the include folders"
#endif
#if defined(HIGHWAY_HWY_FOREACH_TARGET_H_) || defined(HWY_HIGHWAY_INCLUDED)
#error "kerngrad/kernel.h: include it before the headers of Highway"
#endif

#include <string_view>
#include <type_traits>

#include <kerngrad/targets.h>
#include "kernels/common/abi.h"

namespace kerngrad::kernels {
// True if two paths end in the same file name.
constexpr bool same_file(std::string_view a, std::string_view b) {
  constexpr std::string_view separators = "/\\";
  return a.substr(a.find_last_of(separators) + 1) == b.substr(b.find_last_of(separators) + 1);
}
struct outside_of_kernels;
struct among_kernels;
}  // namespace kerngrad::kernels
// Which side of KERNGRAD_BEGIN and KERNGRAD_END a line is on: BEGIN hides this name with one of its own.
using kerngrad_place = kerngrad::kernels::outside_of_kernels;

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE KERNGRAD_FILE
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#if HWY_TARGETS != HWY_STATIC_TARGET && !defined(KERNGRAD_PRIVATE_OTHER_PASS)
#error "kerngrad/kernel.h: the file of KERNGRAD_FILE did not include it: it has to be the .cc that is compiled"
#endif

#else
#define KERNGRAD_PRIVATE_OTHER_PASS
#endif  // KERNGRAD_KERNEL_H_

static_assert(std::is_same_v<kerngrad_place, kerngrad::kernels::outside_of_kernels>,
              "KERNGRAD_BEGIN without KERNGRAD_END");

#if defined(KERNGRAD_PRIVATE_PASS) != defined(HWY_TARGET_TOGGLE)
#error "kerngrad/kernel.h is included twice: include it once, in the .cc that KERNGRAD_FILE names and in no header"
#endif
#ifdef KERNGRAD_PRIVATE_PASS
#undef KERNGRAD_PRIVATE_PASS
#else
#define KERNGRAD_PRIVATE_PASS
#endif

#include <kerngrad/declare.h>

#include "hwy/highway.h"
#include "kernels/common/author-inl.h"
#include "kernels/math/math-inl.h"

// The macros are the same in every pass but for KERNGRAD_PRIVATE_ENTRY_POINTS.
#ifdef KERNGRAD_PRIVATE_ENTRY_POINTS
#undef KERNGRAD_PRIVATE_ENTRY_POINTS
#else

/// Opens the namespace `space::TARGET` for kernels; `space` is a namespace of yours, my or my::own. The pragmas come
/// last: of a macro in an included file, as this one is in most passes, GCC 16 drops what follows them.
#define KERNGRAD_BEGIN(space)                                                                         \
  static_assert(::kerngrad::kernels::same_file(__FILE__, KERNGRAD_FILE),                              \
                "KERNGRAD_FILE names another file than the one that it is defined in");               \
  static_assert(std::is_same_v<kerngrad_place, ::kerngrad::kernels::outside_of_kernels>,              \
                "KERNGRAD_BEGIN(" #space ") before the KERNGRAD_END of the one above");               \
  static_assert(sizeof #space > 1, "KERNGRAD_BEGIN wants a namespace: its entries have to be found"); \
  namespace space {                                                                                   \
  namespace HWY_NAMESPACE {                                                                           \
  using kerngrad_place = ::kerngrad::kernels::among_kernels;                                          \
  namespace hn = ::hwy::HWY_NAMESPACE;                                                                \
  namespace math = ::kerngrad::kernels::HWY_NAMESPACE;                                                \
  HWY_BEFORE_NAMESPACE();
/// Closes the namespaces that KERNGRAD_BEGIN opened.
#define KERNGRAD_END \
  }                  \
  }                  \
  HWY_AFTER_NAMESPACE();

/// Defines a map of one operand: a function from the tag d and the vector x to a vector. Write its body after the
/// macro. Other maps may call it: Name(d, x).
#define KERNGRAD_MAP1(Name, d, x) KERNGRAD_PRIVATE_MAP1(Name, short_map, d, x)
/// Defines a map of one operand and the kernel's one or two numeric attributes: params[0] and params[1] are of the lane
/// type T.
#define KERNGRAD_MAP1_WITH_PARAMS(Name, d, x, params) KERNGRAD_PRIVATE_MAP1_WITH_PARAMS(Name, short_map, d, x, params)
/// Defines a map of two operands: a function from the tag d and the vectors a and b to a vector.
#define KERNGRAD_MAP2(Name, d, a, b) KERNGRAD_PRIVATE_MAP2(Name, short_map, d, a, b)
/// Define the same maps, for long bodies: an exponential or more. The loop has one copy of the body instead of seven.
#define KERNGRAD_LONG_MAP1(Name, d, x) KERNGRAD_PRIVATE_MAP1(Name, long_map, d, x)
#define KERNGRAD_LONG_MAP1_WITH_PARAMS(Name, d, x, params) \
  KERNGRAD_PRIVATE_MAP1_WITH_PARAMS(Name, long_map, d, x, params)
#define KERNGRAD_LONG_MAP2(Name, d, a, b) KERNGRAD_PRIVATE_MAP2(Name, long_map, d, a, b)

/// Defines the entry points `Name_type` (flat1_fn) and `Name_type_run` (run_fn, unary_geometry) of a KERNGRAD_MAP1.
#define KERNGRAD_UNARY(Name, type)                                                                            \
  KERNGRAD_PRIVATE_CHECK("KERNGRAD_UNARY", type)                                                              \
  KERNGRAD_PRIVATE_CHECK_MAP(Name, type, one_operand, "KERNGRAD_UNARY(" #Name ", ...) wants a KERNGRAD_MAP1") \
  void Name##_##type(const void* x, void* y, std::size_t n) {                                                 \
    using lane = ::kerngrad::kernels::storage_t<::kerngrad::dtype::type>;                                     \
    math::flat1<lane>(Name##_map<lane>{}, x, y, n);                                                           \
  }                                                                                                           \
  KERNGRAD_PRIVATE_ENTRY_POINTS(                                                                              \
      HWY_EXPORT(Name##_##type); void Name##_##type(const void* x, void* y, std::size_t n) {                  \
        HWY_DYNAMIC_DISPATCH(Name##_##type)(x, y, n);                                                         \
      } void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) {             \
        const auto& g = *static_cast<const ::kerngrad::kernels::unary_geometry*>(geometry);                   \
        Name##_##type(in[0], out[0], static_cast<std::size_t>(g.count));                                      \
      })
/// Defines the entry point `Name_type_run` (run_fn, unary_geometry with its parameters) of a KERNGRAD_MAP1_WITH_PARAMS.
#define KERNGRAD_UNARY_WITH_PARAMS(Name, type)                                                               \
  KERNGRAD_PRIVATE_CHECK("KERNGRAD_UNARY_WITH_PARAMS", type)                                                 \
  KERNGRAD_PRIVATE_CHECK_MAP(Name, type, one_operand_and_params,                                             \
                             "KERNGRAD_UNARY_WITH_PARAMS(" #Name ", ...) wants a KERNGRAD_MAP1_WITH_PARAMS") \
  KERNGRAD_PRIVATE_RUN(Name, type, (math::run_unary<Name##_map, ::kerngrad::dtype::type>))
/// Defines the entry points `Name_type` (flat2_fn) and `Name_type_run` (run_fn, broadcast_geometry) of a KERNGRAD_MAP2.
#define KERNGRAD_BINARY(Name, type)                                                                             \
  KERNGRAD_PRIVATE_CHECK("KERNGRAD_BINARY", type)                                                               \
  KERNGRAD_PRIVATE_CHECK_MAP(Name, type, two_operands, "KERNGRAD_BINARY(" #Name ", ...) wants a KERNGRAD_MAP2") \
  void Name##_##type(const void* a, const void* b, void* y, std::size_t n) {                                    \
    using lane = ::kerngrad::kernels::storage_t<::kerngrad::dtype::type>;                                       \
    math::flat2<lane>(Name##_map<lane>{}, a, b, y, n);                                                          \
  }                                                                                                             \
  KERNGRAD_PRIVATE_ENTRY_POINTS(HWY_EXPORT(Name##_##type);                                                      \
                                void Name##_##type(const void* a, const void* b, void* y, std::size_t n) {      \
                                  HWY_DYNAMIC_DISPATCH(Name##_##type)(a, b, y, n);                              \
                                })                                                                              \
  KERNGRAD_PRIVATE_RUN(Name, type, (math::run_binary<Name##_map, ::kerngrad::dtype::type>))
/// Defines the entry point `Name_type_run` (run_fn, reduce_geometry) of a struct Name with static members on vectors:
///   template <class T> static T identity();                                  the value that combine leaves unchanged
///   template <class D, class V> static V combine(D d, V a, V b);             associative up to rounding
///   template <class D, class V> static V map(D d, V x);                      optional: on every element first
///   template <class D, class V> static V finish(D d, V all, std::int64_t n); optional: on the fold of n elements
/// The order of the combinations depends on the geometry and the target only, as in kernels/reduce/reduce-inl.h.
#define KERNGRAD_REDUCTION(Name, type)               \
  KERNGRAD_PRIVATE_CHECK("KERNGRAD_REDUCTION", type) \
  KERNGRAD_PRIVATE_RUN(Name, type, (math::run_reduction<Name, ::kerngrad::dtype::type>))

#define KERNGRAD_PRIVATE_MAP1(Name, base, d, x)                     \
  template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>> \
  HWY_INLINE V Name(D d, V x);                                      \
  template <class>                                                  \
  struct Name##_map : math::base {                                  \
    static constexpr auto form = math::map_form::one_operand;       \
    template <class D, class V>                                     \
    HWY_INLINE V operator()(D tag, V v) const {                     \
      return HWY_NAMESPACE::Name(tag, v);                           \
    }                                                               \
  };                                                                \
  template <class D, class V, class T>                              \
  HWY_INLINE V Name([[maybe_unused]] D d, [[maybe_unused]] V x)
#define KERNGRAD_PRIVATE_MAP1_WITH_PARAMS(Name, base, d, x, params)      \
  template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>      \
  HWY_INLINE V Name(D d, V x, const math::parameters<T>& params);        \
  template <class T>                                                     \
  struct Name##_map : math::base {                                       \
    static constexpr auto form = math::map_form::one_operand_and_params; \
    math::parameters<T> numbers;                                         \
    explicit Name##_map(const double* values) : numbers(values) {}       \
    template <class D, class V>                                          \
    HWY_INLINE V operator()(D tag, V v) const {                          \
      return HWY_NAMESPACE::Name(tag, v, numbers);                       \
    }                                                                    \
  };                                                                     \
  template <class D, class V, class T>                                   \
  HWY_INLINE V Name([[maybe_unused]] D d, [[maybe_unused]] V x, const math::parameters<T>& params)
#define KERNGRAD_PRIVATE_MAP2(Name, base, d, a, b)                  \
  template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>> \
  HWY_INLINE V Name(D d, V a, V b);                                 \
  template <class>                                                  \
  struct Name##_map : math::base {                                  \
    static constexpr auto form = math::map_form::two_operands;      \
    template <class D, class V>                                     \
    HWY_INLINE V operator()(D tag, V v, V w) const {                \
      return HWY_NAMESPACE::Name(tag, v, w);                        \
    }                                                               \
  };                                                                \
  template <class D, class V, class T>                              \
  HWY_INLINE V Name([[maybe_unused]] D d, [[maybe_unused]] V a, [[maybe_unused]] V b)

#define KERNGRAD_PRIVATE_CHECK(macro, type)                                         \
  static_assert(std::is_same_v<kerngrad_place, ::kerngrad::kernels::among_kernels>, \
                macro " stands between KERNGRAD_BEGIN and KERNGRAD_END");           \
  KERNGRAD_PRIVATE_DTYPE(macro, type);
#define KERNGRAD_PRIVATE_CHECK_MAP(Name, type, wanted, text)                                                         \
  static_assert(Name##_map<::kerngrad::kernels::storage_t<::kerngrad::dtype::type>>::form == math::map_form::wanted, \
                text);
// A run entry whose body is one function of author-inl.h, in parentheses.
#define KERNGRAD_PRIVATE_RUN(Name, type, body)                                                                         \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) { body(in, out, geometry); } \
  KERNGRAD_PRIVATE_ENTRY_POINTS(HWY_EXPORT(Name##_##type##_run); void Name##_##type##_run(                             \
                                    const void* const* in, void* const* out, const void* geometry) {                   \
    HWY_DYNAMIC_DISPATCH(Name##_##type##_run)(in, out, geometry);                                                      \
  })
#endif  // the macros that are the same in every pass

// Code of the author's namespace itself is emitted by the last pass, outside of the target's namespace. It
// stays below the pragma of that target, which every CPU has: below one of its own before KERNGRAD_END there would be
// nothing, and Clang warns of that.
#if HWY_ONCE
#define KERNGRAD_PRIVATE_ENTRY_POINTS(...) \
  }                                        \
  __VA_ARGS__                              \
  namespace HWY_NAMESPACE {
#else
#define KERNGRAD_PRIVATE_ENTRY_POINTS(...)
#endif
