// SPDX-License-Identifier: Apache-2.0
// DLPack both ways: our structs are those of dlpack.h, elements are shared, deleters are called once, and what a
// struct says is checked.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define KG_DLPACK_HEADER 1
#else
#define KG_DLPACK_HEADER 0
#endif

#include "tests/support/refusal.h"
#include "tests/support/sealed.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;
namespace dl = kg::dlpack;

// A struct as another library makes it, of six float32 unless it is changed; it counts the calls of its deleter.
template <class Managed>
struct foreign {
  std::array<float, 12> elements{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::int64_t> sizes{2, 3}, steps{3, 1};
  int deleted = 0;
  Managed managed{};

  foreign() {
    auto& t = managed.dl_tensor;
    t.data = elements.data();
    t.device = {dl::on_host, 0};
    t.ndim = 2;
    t.dtype = {dl::as_float, 32, 1};
    t.shape = sizes.data();
    t.strides = steps.data();
    if constexpr (dl::versioned_struct<Managed>) managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<foreign*>(self->manager_ctx)->deleted; };
  }
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;
};

template <class Managed>
class dlpack : public ::testing::Test {
 public:
  using foreign_struct = foreign<Managed>;
};
using structs = ::testing::Types<dl::managed_tensor, dl::managed_tensor_versioned>;
TYPED_TEST_SUITE(dlpack, structs);

// ------------------------------------------------------------------------------------------ the structs

TEST(the_structs, lie_in_memory_as_the_standard_says) {
  // https://dmlc.github.io/dlpack/latest/c_api.html, for addresses of 64 bits.
  static_assert(sizeof(void*) == 8);
  static_assert(offsetof(dl::array, data) == 0 && offsetof(dl::array, device) == 8 && offsetof(dl::array, ndim) == 16);
  static_assert(offsetof(dl::array, dtype) == 20 && offsetof(dl::array, shape) == 24);
  static_assert(offsetof(dl::array, strides) == 32 && offsetof(dl::array, byte_offset) == 40);
  static_assert(sizeof(dl::array) == 48 && sizeof(dl::managed_tensor) == 64);
  static_assert(sizeof(dl::managed_tensor_versioned) == 80);
  static_assert(offsetof(dl::managed_tensor_versioned, manager_ctx) == 8);
  static_assert(offsetof(dl::managed_tensor_versioned, flags) == 24);
  static_assert(offsetof(dl::managed_tensor_versioned, dl_tensor) == 32);
#if KG_DLPACK_HEADER
  static_assert(sizeof(dl::array) == sizeof(DLTensor) && sizeof(dl::managed_tensor) == sizeof(DLManagedTensor));
#define KG_SAME_PLACE(ours, theirs, field) \
  static_assert(offsetof(ours, field) == offsetof(theirs, field) && sizeof(ours::field) == sizeof(theirs::field))
  KG_SAME_PLACE(dl::array, DLTensor, data);
  KG_SAME_PLACE(dl::array, DLTensor, device);
  KG_SAME_PLACE(dl::array, DLTensor, ndim);
  KG_SAME_PLACE(dl::array, DLTensor, dtype);
  KG_SAME_PLACE(dl::array, DLTensor, shape);
  KG_SAME_PLACE(dl::array, DLTensor, strides);
  KG_SAME_PLACE(dl::array, DLTensor, byte_offset);
  KG_SAME_PLACE(dl::data_type, DLDataType, code);
  KG_SAME_PLACE(dl::data_type, DLDataType, bits);
  KG_SAME_PLACE(dl::data_type, DLDataType, lanes);
  KG_SAME_PLACE(dl::device, DLDevice, device_type);
  KG_SAME_PLACE(dl::device, DLDevice, device_id);
  KG_SAME_PLACE(dl::managed_tensor, DLManagedTensor, dl_tensor);
  KG_SAME_PLACE(dl::managed_tensor, DLManagedTensor, manager_ctx);
  KG_SAME_PLACE(dl::managed_tensor, DLManagedTensor, deleter);
  static_assert(int{dl::on_host} == kDLCPU && int{dl::on_cuda} == kDLCUDA && int{dl::on_rocm} == kDLROCM);
  static_assert(int{dl::pinned_by_cuda} == kDLCUDAHost && int{dl::pinned_by_rocm} == kDLROCMHost);
  static_assert(int{dl::as_int} == kDLInt && int{dl::as_uint} == kDLUInt && int{dl::as_float} == kDLFloat);
  static_assert(int{dl::as_bfloat} == kDLBfloat && int{dl::as_complex} == kDLComplex);
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1  // Debian 12's header is of 0.6
  static_assert(sizeof(dl::managed_tensor_versioned) == sizeof(DLManagedTensorVersioned));
  KG_SAME_PLACE(dl::managed_tensor_versioned, DLManagedTensorVersioned, version);
  KG_SAME_PLACE(dl::managed_tensor_versioned, DLManagedTensorVersioned, manager_ctx);
  KG_SAME_PLACE(dl::managed_tensor_versioned, DLManagedTensorVersioned, deleter);
  KG_SAME_PLACE(dl::managed_tensor_versioned, DLManagedTensorVersioned, flags);
  KG_SAME_PLACE(dl::managed_tensor_versioned, DLManagedTensorVersioned, dl_tensor);
  static_assert(dl::read_only == DLPACK_FLAG_BITMASK_READ_ONLY && int{dl::as_bool} == kDLBool);
#endif
#endif
}

TEST(the_structs, of_another_header_are_taken_and_given) {
#if KG_DLPACK_HEADER
  const tensor x({1.f, 2.f, 3.f});
  DLManagedTensor* const given = kg::to_dlpack<DLManagedTensor>(x).release();
  EXPECT_EQ(given->dl_tensor.device.device_type, kDLCPU);
  const tensor y = kg::from_dlpack(given);
  EXPECT_EQ(y.address(), x.address());
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
  EXPECT_EQ(kg::from_dlpack(kg::to_dlpack<DLManagedTensorVersioned>(x).release()).address(), x.address());
#endif
#else
  GTEST_SKIP() << "there is no dlpack/dlpack.h: install libdlpack-dev";
#endif
}

// ------------------------------------------------------------------------------------------ given out

TYPED_TEST(dlpack, gives_every_dtype_its_code_and_takes_it_back_without_a_copy) {
  const struct {
    dtype type;
    int code, bits;
  } codes[] = {{dtype::float32, 2, 32},     {dtype::float64, 2, 64},  {dtype::int32, 0, 32},
               {dtype::int64, 0, 64},       {dtype::uint8, 1, 8},     {dtype::boolean, 6, 8},
               {dtype::float16, 2, 16},     {dtype::bfloat16, 4, 16}, {dtype::complex64, 5, 64},
               {dtype::complex128, 5, 128}, {dtype::int8, 0, 8},      {dtype::int16, 0, 16},
               {dtype::uint16, 1, 16},      {dtype::uint32, 1, 32}};
  EXPECT_EQ(static_cast<int>(std::size(codes)), kg::dtype_count - 1) << "all but text";
  for (const auto& c : codes) {
    const tensor x = kg::cast(kg::arange(6) > 2, c.type);
    auto given = kg::to_dlpack<TypeParam>(kg::reshape(x, {2, 3}));
    EXPECT_EQ(given->dl_tensor.dtype.code, c.code) << name_of(c.type);
    EXPECT_EQ(given->dl_tensor.dtype.bits, c.bits) << name_of(c.type);
    EXPECT_EQ(given->dl_tensor.dtype.lanes, 1);
    const tensor y = kg::from_dlpack(std::move(given));
    EXPECT_EQ(y.address(), x.address());
    EXPECT_EQ(y.type(), c.type);
    EXPECT_EQ(y.dims(), (kg::shape{2, 3}));
  }
}

TYPED_TEST(dlpack, says_where_the_elements_are) {
  const tensor x = kg::ones({2, 3, 4});
  const auto given = kg::to_dlpack<TypeParam>(x);
  const dl::array& t = given->dl_tensor;
  EXPECT_EQ(static_cast<const std::byte*>(t.data) + t.byte_offset, x.address());
  EXPECT_EQ(t.device.device_type, dl::on_host);
  EXPECT_EQ(t.device.device_id, 0);
  EXPECT_EQ(std::vector(t.shape, t.shape + t.ndim), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(std::vector(t.strides, t.strides + t.ndim), (std::vector<std::int64_t>{12, 4, 1}));
  if constexpr (dl::versioned_struct<TypeParam>) {
    EXPECT_EQ(given->version.major, 1u);
    EXPECT_EQ(given->flags, dl::read_only);
  }
  EXPECT_EQ(kg::to_dlpack<TypeParam>(tensor(1.f))->dl_tensor.ndim, 0);
  EXPECT_EQ(kg::to_dlpack<TypeParam>(kg::zeros({0, 2}))->dl_tensor.data, nullptr);
}

TYPED_TEST(dlpack, holds_the_elements_until_the_deleter_is_called_from_any_thread) {
  const kg::memory_info before = kg::memory();
  tensor x = kg::full({100}, 7);
  TypeParam* const given = kg::to_dlpack<TypeParam>(x).release();
  x = tensor();
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes + 400);
  EXPECT_EQ(static_cast<const float*>(given->dl_tensor.data)[99], 7);
  std::thread([given] { given->deleter(given); }).join();
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
  {
    const auto unused = kg::to_dlpack<TypeParam>(kg::ones({100}));
  }
  EXPECT_EQ(kg::memory().live_tensors, before.live_tensors) << "the handle lets go of what nobody took";
}

TYPED_TEST(dlpack, gives_no_empty_handle_and_no_text) {
  EXPECT_NE(refusal([] { return kg::to_dlpack<TypeParam>(tensor()); }), accepted);
  EXPECT_TRUE(says(refusal([] { return kg::to_dlpack<TypeParam>(tensor("a")); }), {"to_dlpack", "text"}));
}

// ------------------------------------------------------------------------------------------ taken

TYPED_TEST(dlpack, shares_what_it_takes_and_deletes_it_once_with_its_last_tensor) {
  foreign<TypeParam> f;
  {
    tensor x = kg::from_dlpack(&f.managed), row = x(1);
    EXPECT_EQ(x.address(), f.elements.data());
    EXPECT_EQ(x.to_doubles(), (doubles{1, 2, 3, 4, 5, 6}));
    x = tensor();
    EXPECT_EQ(f.deleted, 0);
    std::thread([last = std::move(row)]() mutable { last = tensor(); }).join();
    EXPECT_EQ(f.deleted, 1);
  }
  EXPECT_EQ(f.deleted, 1);
}

TYPED_TEST(dlpack, copies_what_does_not_lie_as_a_tensor_does_and_deletes_it_at_once) {
  foreign<TypeParam> f;
  f.steps = {1, 2};
  const tensor x = kg::from_dlpack(&f.managed);
  EXPECT_EQ(f.deleted, 1);
  EXPECT_EQ(x.to_doubles(), (doubles{1, 3, 5, 2, 4, 6}));
  foreign<TypeParam> backwards;
  backwards.steps = {-3, -1};
  backwards.managed.dl_tensor.byte_offset = 5 * sizeof(float);
  EXPECT_EQ(kg::from_dlpack(&backwards.managed).to_doubles(), (doubles{6, 5, 4, 3, 2, 1}));
  foreign<TypeParam> repeated;
  repeated.steps = {0, 1};
  EXPECT_EQ(kg::from_dlpack(&repeated.managed).to_doubles(), (doubles{1, 2, 3, 1, 2, 3}));
}

TYPED_TEST(dlpack, takes_null_strides_an_offset_scalars_and_nothing) {
  foreign<TypeParam> f;
  f.managed.dl_tensor.strides = nullptr;
  f.managed.dl_tensor.byte_offset = 8;
  const tensor x = kg::from_dlpack(&f.managed);
  EXPECT_EQ(x.address(), f.elements.data() + 2);
  EXPECT_EQ(x.to_doubles(), (doubles{3, 4, 5, 6, 7, 8}));
  foreign<TypeParam> scalar;
  scalar.managed.dl_tensor.ndim = 0;
  scalar.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(kg::from_dlpack(&scalar.managed).item(), 1);
  foreign<TypeParam> none;
  none.sizes = {0, 3};
  none.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(kg::from_dlpack(&none.managed).dims(), (kg::shape{0, 3}));
  EXPECT_EQ(none.deleted, 1);
}

TYPED_TEST(dlpack, takes_pinned_memory_of_the_host_and_structs_without_a_deleter) {
  foreign<TypeParam> f;
  f.managed.dl_tensor.device = {dl::pinned_by_cuda, 0};
  EXPECT_EQ(kg::from_dlpack(&f.managed).size(), 6);
  f.managed.deleter = nullptr;
  EXPECT_EQ(kg::from_dlpack(&f.managed).size(), 6);
  EXPECT_EQ(f.deleted, 1);
}

TYPED_TEST(dlpack, never_writes_what_it_takes) {
  const auto memory = kgtest::seal(std::vector<float>{1, 2, 3, 4, 5, 6});
  foreign<TypeParam> f;
  f.managed.dl_tensor.data = const_cast<float*>(memory->data());
  tensor x = kg::from_dlpack(&f.managed);
  x = kg::exp(std::move(x) * 0);
  EXPECT_EQ(x.to_doubles(), doubles(6, 1));
  EXPECT_EQ(f.deleted, 1);
}

// ------------------------------------------------------------------------------------------ rejected

TYPED_TEST(dlpack, refuses_in_one_sentence_what_it_cannot_take_and_deletes_it_once) {
  using changed = foreign<TypeParam>;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static std::vector<std::int64_t> nine(9, 1);
  const struct {
    const char* says;
    void (*change)(changed&);
  } cases[] = {
      {"CUDA 1", [](changed& f) { f.managed.dl_tensor.device = {dl::on_cuda, 1}; }},
      {"ROCm 0", [](changed& f) { f.managed.dl_tensor.device = {dl::on_rocm, 0}; }},
      {"kind -5", [](changed& f) { f.managed.dl_tensor.device = {-5, 0}; }},
      {"uint64", [](changed& f) { f.managed.dl_tensor.dtype = {dl::as_uint, 64, 1}; }},
      {"code 77 32", [](changed& f) { f.managed.dl_tensor.dtype = {77, 32, 1}; }},
      {"float32 of 4 lanes", [](changed& f) { f.managed.dl_tensor.dtype = {dl::as_float, 32, 4}; }},
      {"float32 of 0 lanes", [](changed& f) { f.managed.dl_tensor.dtype = {dl::as_float, 32, 0}; }},
      {"-1 axes", [](changed& f) { f.managed.dl_tensor.ndim = -1; }},
      {"9 axes", [](changed& f) { f.managed.dl_tensor.ndim = 9, f.managed.dl_tensor.shape = nine.data(); }},
      {"no sizes", [](changed& f) { f.managed.dl_tensor.shape = nullptr; }},
      {"axis 0 of size -2", [](changed& f) { f.sizes = {-2, 3}; }},
      {"product overflows", [](changed& f) { f.sizes = {most, most}; }},
      {"stride 9223372036854775807", [](changed& f) { f.steps = {most, 1}; }},
      {"stride -9223372036854775808", [](changed& f) { f.steps = {-most - 1, 1}; }},
      {"null pointer", [](changed& f) { f.managed.dl_tensor.data = nullptr; }},
      {"an offset of 18446744073709551615", [](changed& f) { f.managed.dl_tensor.byte_offset = ~std::uint64_t{0}; }},
      {"1 bytes beyond its alignment", [](changed& f) { f.managed.dl_tensor.byte_offset = 1; }},
      {"a bool of value 3",
       [](changed& f) {
         auto* bytes = reinterpret_cast<unsigned char*>(f.elements.data());
         for (int i = 0; i < 6; ++i) bytes[i] = i == 4 ? 3 : 1;
         f.managed.dl_tensor.dtype = {dl::as_bool, 8, 1};
       }},
  };
  const kg::memory_info before = kg::memory();
  for (const auto& c : cases) {
    foreign<TypeParam> f;
    c.change(f);
    const std::string text = refusal([&] { return kg::from_dlpack(&f.managed); });
    EXPECT_TRUE(says(text, {c.says})) << c.says << " is not in: " << text;
    EXPECT_EQ(f.deleted, 1) << c.says;
  }
  EXPECT_EQ(kg::memory().live_tensors, before.live_tensors);
  EXPECT_TRUE(says(refusal([] { return kg::from_dlpack(static_cast<TypeParam*>(nullptr)); }), {"a null pointer"}));
}

TEST(dlpack_of_another_major_version, is_refused_and_any_minor_one_taken) {
  foreign<dl::managed_tensor_versioned> next, later;
  next.managed.version = {2, 0};
  next.managed.dl_tensor.data = reinterpret_cast<void*>(1);  // what follows the deleter may mean anything
  EXPECT_TRUE(says(refusal([&] { return kg::from_dlpack(&next.managed); }), {"DLPack 2.0", "version 1"}));
  EXPECT_EQ(next.deleted, 1);
  later.managed.version = {1, 99};
  later.managed.flags = dl::read_only | dl::is_copied;
  EXPECT_EQ(kg::from_dlpack(&later.managed).size(), 6);
}

}  // namespace
