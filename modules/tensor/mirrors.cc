// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are in a storage, and their copies there. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:mirrors;

import :std;
import :core;
import :storage;
import :tensor;

namespace kerngrad::detail {

buffer* allocate_header(dtype type, const shape& dims);  // of a tensor whose elements are in a storage
void drop_mirrors(mirror* copies) noexcept;
/// Where a tensor's elements are in a storage; copies them there first if they are not.
const void* block_in(const tensor& x, const std::shared_ptr<storage>& where);
/// Leaves a tensor with no other owner its first elements, as many as this shape has; in a smaller block where less
/// than half of its own would be used.
void cut_to(tensor& y, const shape& dims);
tensor allocate_in(const std::shared_ptr<storage>& where, dtype type, const shape& dims, void*& block);

}  // namespace kerngrad::detail
