// SPDX-License-Identifier: Apache-2.0
// Tensors to libtorch and back by DLPack's struct without a version, the only one that torch 1.13 has.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/tensor/dlpack_torch_side.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using managed = kg::dlpack::managed_tensor;
using doubles = std::vector<double>;

// All but bool, for which it has no struct.
const std::vector<std::pair<dtype, std::string>> types = {{dtype::float32, "Float"},
                                                          {dtype::float64, "Double"},
                                                          {dtype::int32, "Int"},
                                                          {dtype::int64, "Long"},
                                                          {dtype::uint8, "Byte"},
                                                          {dtype::float16, "Half"},
                                                          {dtype::bfloat16, "BFloat16"},
                                                          {dtype::complex64, "ComplexFloat"},
                                                          {dtype::complex128, "ComplexDouble"}};

tensor from_torch(const std::string& type, bool transposed, const void** elements) {
  return kg::from_dlpack(static_cast<managed*>(torch_side::given(type, transposed, elements)));
}
doubles real_parts(const tensor& x) { return kg::cast(x, dtype::float64).to_doubles(); }

TEST(tensors_of_torch, of_every_dtype_are_taken_without_a_copy_and_let_go_of) {
  for (const auto& [type, name] : types) {
    const void* elements = nullptr;
    tensor x = from_torch(name, false, &elements);
    EXPECT_EQ(x.type(), type) << name;
    EXPECT_EQ(x.dims(), (kg::shape{2, 3})) << name;
    EXPECT_EQ(x.address(), elements) << name;
    EXPECT_EQ(real_parts(x), (doubles{0, 1, 2, 3, 4, 5})) << name;
    EXPECT_GT(torch_side::others(), 0) << name;
    x = tensor();
    EXPECT_EQ(torch_side::others(), 0) << name << ": the deleter was not called";
  }
}

TEST(tensors_of_torch, that_are_transposed_are_copied_once_and_let_go_of_at_once) {
  const void* elements = nullptr;
  const tensor x = from_torch("Float", true, &elements);
  EXPECT_EQ(torch_side::others(), 0);
  EXPECT_EQ(x.dims(), (kg::shape{3, 2}));
  EXPECT_EQ(x.to_doubles(), (doubles{0, 3, 1, 4, 2, 5}));
}

TEST(tensors_for_torch, of_every_dtype_are_read_where_they_lie_and_let_go_of) {
  const kg::memory_info before = kg::memory();
  for (const auto& [type, name] : types) {
    tensor x = kg::reshape(kg::cast(kg::arange(6), type), {2, 3});
    const void* const elements = x.address();
    managed* const given = kg::to_dlpack<managed>(x).release();
    x = tensor();
    const torch_side::contents read = torch_side::taken(given);
    EXPECT_EQ(read.type, name);
    EXPECT_EQ(read.dims, "[2, 3]") << name;
    EXPECT_EQ(read.elements, elements) << name;
    EXPECT_EQ(doubles(read.values.begin(), read.values.end()), (doubles{0, 1, 2, 3, 4, 5})) << name;
  }
  EXPECT_EQ(kg::memory().live_tensors, before.live_tensors);
}

}  // namespace
