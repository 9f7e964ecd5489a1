// SPDX-License-Identifier: Apache-2.0
// The standard names that kerngrad's interface uses, included once for all partitions and re-exported, so that a
// program which only writes `import kerngrad;` can use what the functions return: iterate a vector, compare strings.
module;
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "modules/core/iterator_operators.h"
export module kerngrad:std;

// libstdc++ makes elements with this one, and GCC looks it up where a container is used.
export using ::operator new;

export namespace std {
using std::array;
using std::atomic;
using std::contiguous_iterator;
using std::convertible_to;
using std::function;
using std::initializer_list;
using std::int32_t;
using std::int64_t;
using std::memory_order_relaxed;
using std::numeric_limits;
using std::optional;
using std::pair;
using std::same_as;
using std::shared_ptr;
using std::size_t;
using std::source_location;
using std::span;
using std::string;
using std::string_view;
using std::tuple;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
using std::unique_ptr;
using std::vector;

using std::allocator;
using std::apply;
using std::bit_cast;
using std::construct_at;
using std::declval;
using std::destroy_at;
using std::exchange;
using std::forward;
using std::get;
using std::index_sequence;
using std::index_sequence_for;
using std::make_index_sequence;
using std::make_unique;
using std::memcpy;
using std::move;
using std::nullopt;
using std::nullopt_t;
using std::swap;
using std::to_string;
using std::type_identity_t;

using std::exception;
using std::invalid_argument;
using std::runtime_error;

using std::conditional_t;
using std::decay_t;
using std::integral_constant;
using std::invoke_result_t;
using std::is_convertible_v;
using std::is_default_constructible_v;
using std::is_empty_v;
using std::is_floating_point_v;
using std::is_integral_v;
using std::is_invocable_r_v;
using std::is_invocable_v;
using std::is_same_v;
using std::remove_cv_t;
using std::remove_cvref_t;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;

using std::begin;
using std::data;
using std::end;
using std::size;
using std::ssize;

using std::operator==;
using std::operator<=>;
using std::operator+;
using std::operator<<;
using std::ostream;
using std::strong_ordering;
}  // namespace std

#ifdef __GLIBCXX__
// libstdc++ keeps the operators of vector's and string's iterators here; a range-for needs them.
export namespace __gnu_cxx {
using __gnu_cxx::operator==;
using __gnu_cxx::operator-;
using __gnu_cxx::operator<=>;
using __gnu_cxx::operator+;
}  // namespace __gnu_cxx
#endif
