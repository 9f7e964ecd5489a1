// SPDX-License-Identifier: Apache-2.0
// Checks of borrowed memory, and the one copy of elements in another layout than a tensor's.
module;
#include <cstdint>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :geometry;
import :mirrors;

namespace kerngrad::detail {

namespace {

// A pointer to elements of a C++ type is aligned for it; kernels rely on that, and on no more.
std::size_t alignment_of(dtype type) {
  return visit(type, []<dtype Type>(dtype_constant<Type> is) { return alignof(typename decltype(is)::element); });
}

void check_memory(std::string_view op, const void* elements, dtype type, const shape& dims) {
  if (dims.size() == 0) return;
  const std::string what = std::string(name_of(type)) + " " + to_string(dims);
  if (!elements) fail(op, "a null pointer for " + what, "the address of its first element");
  const std::size_t wanted = alignment_of(type), beyond = reinterpret_cast<std::uintptr_t>(elements) % wanted;
  if (beyond != 0)
    fail(op, "memory for " + what + " that begins " + std::to_string(beyond) + " bytes beyond its alignment",
         "an address that is a multiple of " + std::to_string(wanted), "copy the elements to such a one");
}

// How far the elements reach, in bytes, is no more than addresses can be apart.
void check_reach(std::string_view op, const lent_grid& from) {
  std::int64_t reach = static_cast<std::int64_t>(size_of(from.type));
  const std::int64_t size = reach;
  for (std::size_t i = 0; i < from.rank; ++i) {
    const std::int64_t stride = from.strides[i];
    std::int64_t bytes;
    const bool fits = stride != std::numeric_limits<std::int64_t>::min() &&
                      !__builtin_mul_overflow(stride < 0 ? -stride : stride, size, &bytes) &&
                      !__builtin_mul_overflow(bytes, from.dims[i] - 1, &bytes) &&
                      !__builtin_add_overflow(reach, bytes, &reach);
    if (!fits)
      fail(op, "stride " + std::to_string(stride) + " for axis " + std::to_string(i),
           "one that stays within 2^63 bytes");
  }
}

bool is_row_major(const lent_grid& from) {
  std::int64_t stride = 1;
  for (std::size_t i = from.rank; i-- > 0; stride *= from.dims[i])
    if (from.dims[i] != 1 && from.strides[i] != stride) return false;
  return true;
}

tensor copied(const lent_grid& from, const shape& dims) {
  tensor y = tensor_access::adopt(allocate(from.type, dims));
  const axis_strides strides = strides_of(dims);
  copy_axes axes;
  for (std::size_t i = 0; i < from.rank; ++i) axes.push_back({from.dims[i], from.strides[i], strides[i]});
  copy_strided(backend::simd, from.first, tensor_access::buffer(y)->data, from.type, axes);
  return y;
}

}  // namespace

keeper checked_keeper(keeper keep_alive) {
  if (keep_alive.use_count() == 0)
    fail("borrow", "an empty keep_alive", "a shared_ptr that owns the elements",
         "leave it out where they outlive every tensor that has them");
  return keep_alive;
}

tensor lend(const void* elements, dtype type, const shape& dims, keeper keep_alive) {
  check_memory("borrow", elements, type, dims);
  return lent(elements, type, dims, std::move(keep_alive));
}

tensor lend(const void* elements, std::size_t count, dtype type, const shape& dims, keeper keep_alive) {
  if (static_cast<std::int64_t>(count) != dims.size())
    fail("borrow", std::to_string(count) + " elements", std::to_string(dims.size()) + " for shape " + to_string(dims));
  return lend(elements, type, dims, std::move(keep_alive));
}

tensor lend(std::string_view op, const lent_grid& from, keeper keep_alive) {
  const shape dims(std::span<const std::int64_t>(from.dims, from.rank));
  check_memory(op, from.first, from.type, dims);
  if (dims.size() == 0) return lent(nullptr, from.type, dims, {});
  check_reach(op, from);
  if (is_row_major(from)) return lent(from.first, from.type, dims, std::move(keep_alive));
  return copied(from, dims);
}

}  // namespace kerngrad::detail
