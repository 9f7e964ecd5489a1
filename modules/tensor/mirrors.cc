// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are in a storage, and their copies there; tensors whose elements are borrowed. Known inside
// the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:mirrors;

import :std;
import :core;
import :storage;
import :tensor;

namespace kerngrad::detail {

buffer* allocate_header(dtype type, const shape& dims);  // of a tensor whose elements are in a storage
buffer* allocate_lent(dtype type, const shape& dims);    // of borrowed elements, which do not count
void drop_mirrors(mirror* copies) noexcept;
bool is_lent(const mirror* copies) noexcept;
/// A tensor of borrowed elements. They are never written: only the lender owns them, and the engine asks for ownership
/// before it writes over anything. `keep_alive` goes with the last tensor that has them.
tensor lent(const void* elements, dtype type, const shape& dims, std::shared_ptr<const void> keep_alive);
/// Address of a tensor's elements in a storage; copies them there first if necessary.
const void* block_in(const tensor& x, const std::shared_ptr<storage>& where);
/// Leaves a tensor with no other owner its first elements, as many as this shape has; in a smaller block where less
/// than half of its own would be used.
void cut_to(tensor& y, const shape& dims);
tensor allocate_in(const std::shared_ptr<storage>& where, dtype type, const shape& dims, void*& block);

}  // namespace kerngrad::detail
