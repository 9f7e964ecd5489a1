// SPDX-License-Identifier: Apache-2.0
// DLPack, both ways. Structs of another library are not trusted further than their addresses have to be.
module;
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :geometry;

namespace kerngrad::detail {

namespace {

using dlpack::array;

// The versions by which the library writes; it reads any minor one.
constexpr dlpack::version_number written{1, 0};

// A dtype as DLPack says it; a text is none.
constexpr dlpack::data_type code_of(dtype type) {
  return visit(type, []<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    constexpr dtype_kind kind = kind_of(Type);
    dlpack::data_type code{dlpack::as_float, static_cast<std::uint8_t>(8 * sizeof(T)), 1};
    if constexpr (kind == dtype_kind::boolean) code.code = dlpack::as_bool;
    else if constexpr (kind == dtype_kind::complex) code.code = dlpack::as_complex;
    else if constexpr (kind == dtype_kind::integer) code.code = std::is_signed_v<T> ? dlpack::as_int : dlpack::as_uint;
    else if constexpr (Type == dtype::bfloat16) code.code = dlpack::as_bfloat;
    else if constexpr (kind == dtype_kind::text) code.lanes = 0;
    return code;
  });
}

std::string text_of(const dlpack::data_type& type) {
  constexpr const char* kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const std::string kind = type.code < std::size(kinds) ? kinds[type.code] : "code " + std::to_string(type.code) + " ";
  return kind + std::to_string(type.bits) + (type.lanes == 1 ? "" : " of " + std::to_string(type.lanes) + " lanes");
}

std::string text_of(const dlpack::device& where) {
  const auto named = [&](const char* name) { return name + (" " + std::to_string(where.device_id)); };
  switch (where.device_type) {
    case dlpack::on_cuda: return named("CUDA");
    case dlpack::on_rocm: return named("ROCm");
    default: return "kind " + std::to_string(where.device_type);
  }
}

void check_device(const dlpack::device& where) {
  const std::int32_t kind = where.device_type;
  if (kind == dlpack::on_host || kind == dlpack::pinned_by_cuda || kind == dlpack::pinned_by_rocm) return;
  fail("from_dlpack", "a tensor on a device, " + text_of(where), "one in the host's memory",
       "move it there before it is handed over");
}

dtype dtype_in(const dlpack::data_type& type) {
  for (int i = 0; i < dtype_count; ++i) {
    const dlpack::data_type known = code_of(static_cast<dtype>(i));
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes) return static_cast<dtype>(i);
  }
  std::string all;
  for (int i = 0; i < dtype_count; ++i) {
    const dtype one = static_cast<dtype>(i);
    if (one != dtype::text) all += (all.empty() ? "" : ", ") + std::string(name_of(one));
  }
  fail("from_dlpack", "elements of type " + text_of(type), "one of " + all, "convert them before they are handed over");
}

lent_grid checked_grid(const array& from) {
  check_device(from.device);
  lent_grid g;
  g.type = dtype_in(from.dtype);
  if (from.ndim < 0 || from.ndim > max_rank)
    fail("from_dlpack", std::to_string(from.ndim) + " axes", "0 to " + std::to_string(max_rank),
         "merge axes before it is handed over");
  if (from.ndim > 0 && !from.shape) fail("from_dlpack", "no sizes for its axes", "a size for each");
  g.rank = static_cast<std::size_t>(from.ndim);
  std::copy_n(from.shape, g.rank, g.dims);
  const shape dims(std::span<const std::int64_t>(g.dims, g.rank));  // rejects what sizes cannot be
  if (from.strides) {
    std::copy_n(from.strides, g.rank, g.strides);
  } else {
    std::int64_t stride = 1;
    for (std::size_t i = g.rank; i-- > 0; stride *= std::max<std::int64_t>(g.dims[i], 1)) g.strides[i] = stride;
  }
  if (from.data) {
    const auto begin = reinterpret_cast<std::uintptr_t>(from.data);
    if (begin + from.byte_offset < begin)
      fail("from_dlpack", "an offset of " + std::to_string(from.byte_offset) + " bytes", "one within the memory");
    g.first = static_cast<const std::byte*>(from.data) + from.byte_offset;
  }
  return g;
}

tensor imported(const array& from, std::shared_ptr<const void> owner) {
  tensor x = lend("from_dlpack", checked_grid(from), std::move(owner));
  if (x.type() != dtype::boolean) return x;
  const auto* bytes = static_cast<const std::uint8_t*>(x.address());
  const auto* bad = std::find_if(bytes, bytes + x.size(), [](std::uint8_t b) { return b > 1; });
  if (bad != bytes + x.size())
    fail("from_dlpack", "a bool of value " + std::to_string(*bad), "0 or 1", "hand it over as uint8");
  return x;
}

// Takes the struct over, whatever happens then.
template <class Managed>
std::shared_ptr<const Managed> taken(Managed* given) {
  if (!given) fail("from_dlpack", "a null pointer", "a struct of DLPack");
  return std::shared_ptr<const Managed>(given, [given](const Managed*) { dlpack::let_go{}(given); });
}

// An exported struct, with all that it points to.
template <class Managed>
struct exported {
  Managed managed{};
  tensor x;
  std::int64_t dims[max_rank], strides[max_rank];
};

template <class Managed>
Managed* given_out(const tensor& x) {
  if (x.type() == dtype::text)
    fail("to_dlpack", "a tensor of text", "a dtype of numbers", "DLPack has no texts: hand them over as strings");
  const void* elements = x.address();
  auto made = std::make_unique<exported<Managed>>();
  made->x = x;
  const axis_strides strides = strides_of(x.dims());
  std::ranges::copy(x.dims(), made->dims);
  std::ranges::copy(strides, made->strides);
  array& to = made->managed.dl_tensor;
  to.data = x.size() > 0 ? const_cast<void*>(elements) : nullptr;
  to.device = {dlpack::on_host, 0};
  to.ndim = x.rank();
  to.dtype = code_of(x.type());
  to.shape = made->dims;
  to.strides = made->strides;
  made->managed.manager_ctx = made.get();
  made->managed.deleter = [](Managed* self) { delete static_cast<exported<Managed>*>(self->manager_ctx); };
  return &made.release()->managed;
}

}  // namespace

tensor imported(dlpack::managed_tensor* given) {
  const auto owner = taken(given);
  return imported(owner->dl_tensor, owner);
}

tensor imported(dlpack::managed_tensor_versioned* given) {
  const auto owner = taken(given);
  if (owner->version.major != written.major)
    fail("from_dlpack", "DLPack " + std::to_string(owner->version.major) + "." + std::to_string(owner->version.minor),
         "version 1", "ask for that one where it comes from");
  return imported(owner->dl_tensor, owner);
}

void give_out(const tensor& x, dlpack::managed_tensor*& made) { made = given_out<dlpack::managed_tensor>(x); }
void give_out(const tensor& x, dlpack::managed_tensor_versioned*& made) {
  made = given_out<dlpack::managed_tensor_versioned>(x);
  made->version = written;
  made->flags = dlpack::read_only;
}

}  // namespace kerngrad::detail
