// SPDX-License-Identifier: Apache-2.0
// DLPack, the C structs by which array libraries of one process hand tensors to each other without copying:
// https://dmlc.github.io/dlpack. docs/exchange.md.
module;
#include <cstddef>
#include "kernels/common/abi.h"
// A deleter of another library takes the same struct by another name.
#ifdef __clang__
#define KG_BY_ANOTHER_NAME [[clang::no_sanitize("function")]]
#else
#define KG_BY_ANOTHER_NAME
#endif
export module kerngrad:dlpack;

import :std;
import :core;
import :tensor;

/// The structs of DLPack as this library declares them, with the names of their fields; programs may pass those of any
/// dlpack.h instead. Unversioned from 0.6 on, versioned from 1.0 on.
export namespace kerngrad::dlpack {

/// Kinds of devices. The library accepts memory that the host can read: its own, and memory that CUDA and ROCm have
/// pinned there.
enum device_kind : std::int32_t { on_host = 1, on_cuda = 2, pinned_by_cuda = 3, on_rocm = 10, pinned_by_rocm = 11 };
/// DLDevice: a kind, and the number of the device.
struct device {
  std::int32_t device_type;
  std::int32_t device_id;
};

/// Values of `data_type::code`, the kind of an element.
enum type_code : std::uint8_t { as_int = 0, as_uint = 1, as_float = 2, as_bfloat = 4, as_complex = 5, as_bool = 6 };
/// DLDataType: the type of an element. With more than one lane it is a vector of that many.
struct data_type {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

/// DLTensor: address, shape and type of elements. It owns nothing.
struct [[gnu::may_alias]] array {
  void* data;
  dlpack::device device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for row-major order without gaps
  std::uint64_t byte_offset;
};

/// DLManagedTensor: an array with its deleter.
struct [[gnu::may_alias]] managed_tensor {
  array dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor* self);
};

/// DLPackVersion: the version of DLPack that a struct follows.
struct version_number {
  std::uint32_t major;
  std::uint32_t minor;
};
/// Bits of `flags`: the elements must not be written (`read_only`); the producer copied them for this exchange
/// (`is_copied`).
inline constexpr std::uint64_t read_only = 1, is_copied = 2;

/// DLManagedTensorVersioned, since 1.0. Members after the deleter are those of the major version 1.
struct [[gnu::may_alias]] managed_tensor_versioned {
  version_number version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  array dl_tensor;
};

/// A struct with the fields and the size of managed_tensor_versioned, under any name.
template <class Managed>
concept versioned_struct = requires(Managed& m) {
  m.version.major;
  m.flags;
  m.dl_tensor.byte_offset;
  m.manager_ctx;
  m.deleter(&m);
  requires sizeof(Managed) == sizeof(managed_tensor_versioned);
};
/// A struct with the fields and the size of managed_tensor, such as DLManagedTensor of dlpack.h.
template <class Managed>
concept unversioned_struct = !versioned_struct<Managed> && requires(Managed& m) {
  m.dl_tensor.byte_offset;
  m.manager_ctx;
  m.deleter(&m);
  requires sizeof(Managed) == sizeof(managed_tensor);
};
/// A struct of DLPack, versioned or not.
template <class Managed>
concept managed_struct = versioned_struct<Managed> || unversioned_struct<Managed>;

/// Releases a struct of DLPack: calls its deleter, if it has one.
struct let_go {
  template <managed_struct Managed>
  KG_BY_ANOTHER_NAME void operator()(Managed* given) const noexcept {
    if (given->deleter) given->deleter(given);
  }
};
/// Owns a struct of DLPack. Its destructor calls the struct's deleter, unless a consumer took the struct by `release`.
template <managed_struct Managed = managed_tensor_versioned>
using owner = std::unique_ptr<Managed, let_go>;

}  // namespace kerngrad::dlpack

namespace kerngrad::detail {
tensor imported(dlpack::managed_tensor* given);
tensor imported(dlpack::managed_tensor_versioned* given);
void give_out(const tensor& x, dlpack::managed_tensor*& made);
void give_out(const tensor& x, dlpack::managed_tensor_versioned*& made);

template <class Managed>
using own_struct =
    std::conditional_t<dlpack::versioned_struct<Managed>, dlpack::managed_tensor_versioned, dlpack::managed_tensor>;
}  // namespace kerngrad::detail

export namespace kerngrad {

/// Takes ownership of a struct of another library and returns a tensor on its elements. Elements in row-major order
/// without gaps are not copied; others are copied once. The deleter is called once, by the thread that releases the
/// last tensor with these elements. After a copy, and if the call throws, it is called at once. The library never
/// writes to the elements; they must not change. Throws for a null pointer, a device whose memory the host cannot read,
/// another major version than 1, unsupported dtypes, several lanes and more than 8 axes. Throws for sizes, strides or
/// an offset that no memory holds, misaligned elements, and bools other than 0 and 1.
template <dlpack::managed_struct Managed>
tensor from_dlpack(Managed* given) {
  return detail::imported(reinterpret_cast<detail::own_struct<Managed>*>(given));
}
template <dlpack::managed_struct Managed>
tensor from_dlpack(dlpack::owner<Managed> given) {
  return from_dlpack(given.release());
}

/// Makes a struct that hands a tensor to another library without a copy, versioned by default:
/// `to_dlpack(x).release()`, `to_dlpack<DLManagedTensor>(x).release()`. It holds the elements until its deleter is
/// called, on any thread. The elements are marked as read-only. The unversioned struct cannot say so, but its consumer
/// must not write either, because tensors never change. Throws for an undefined tensor and for text.
template <dlpack::managed_struct Managed = dlpack::managed_tensor_versioned>
dlpack::owner<Managed> to_dlpack(const tensor& x) {
  detail::own_struct<Managed>* made = nullptr;
  detail::give_out(x, made);
  return dlpack::owner<Managed>(reinterpret_cast<Managed*>(made));
}

}  // namespace kerngrad
