// SPDX-License-Identifier: Apache-2.0
// Functions that tests/tensor/dlpack_torch.cc needs of libtorch, whose headers are no C++20: a struct of DLPack goes by
// its address.
#pragma once
#include <array>
#include <string>

namespace torch_side {

/// The numbers 0 to 5 as torch's dtype of that name (Float, Long, ...), [2, 3] or the same transposed, and where they
/// are. The tensor itself stays there until the next call.
void* given(const std::string& type, bool transposed, const void** elements);
/// How many others hold the elements that were given last.
long others();

/// Contents of a struct as torch reads them before it releases the struct.
struct contents {
  std::string type;
  std::array<double, 6> values{};  ///< the real parts
  std::string dims;
  const void* elements = nullptr;
};
contents taken(void* managed);

}  // namespace torch_side
