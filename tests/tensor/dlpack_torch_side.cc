// SPDX-License-Identifier: Apache-2.0
#include "tests/tensor/dlpack_torch_side.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <algorithm>
#include <sstream>

namespace torch_side {
namespace {

at::Tensor kept;
long alone = 0;  // what holders() says of it while nobody else has it

long holders() { return static_cast<long>(kept.use_count() + kept.storage().use_count()); }

at::ScalarType type_named(const std::string& name) {
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i)
    if (name == c10::toString(static_cast<at::ScalarType>(i))) return static_cast<at::ScalarType>(i);
  return at::ScalarType::Undefined;
}

}  // namespace

void* given(const std::string& type, bool transposed, const void** elements) {
  kept = at::arange(6).to(type_named(type)).reshape({2, 3});
  *elements = kept.data_ptr();
  alone = holders();
  return at::toDLPack(transposed ? kept.t() : kept);
}

long others() { return holders() - alone; }

contents taken(void* managed) {
  const at::Tensor x = at::fromDLPack(static_cast<DLManagedTensor*>(managed));
  contents read;
  read.type = c10::toString(x.scalar_type());
  read.elements = x.data_ptr();
  std::ostringstream dims;
  dims << x.sizes();
  read.dims = dims.str();
  const at::Tensor real = (x.is_complex() ? at::real(x) : x).to(at::kDouble).contiguous();
  std::copy_n(real.data_ptr<double>(), std::min<std::int64_t>(real.numel(), 6), read.values.begin());
  return read;
}

}  // namespace torch_side
