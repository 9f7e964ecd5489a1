// SPDX-License-Identifier: Apache-2.0
// Functions that dlpack_numpy.py calls through ctypes: structs of DLPack in and out, by address.
#include <cstddef>
#include <cstring>
#include <string>

import kerngrad;

namespace {

template <class Managed>
int passed_on(Managed* given, void** made, const void** elements, char* refused, std::size_t size) {
  try {
    const kg::tensor x = kg::from_dlpack(given);
    *elements = x.address();
    *made = kg::to_dlpack<Managed>(x).release();
    return 1;
  } catch (const std::exception& e) {
    std::strncpy(refused, e.what(), size - 1);
    return 0;
  }
}

}  // namespace

/// Takes a struct and gives another one of the same tensor; 0 and a text where that is rejected.
extern "C" int pass_on(void* given, int versioned, void** made, const void** elements, char* refused,
                       std::size_t size) {
  if (versioned)
    return passed_on(static_cast<kg::dlpack::managed_tensor_versioned*>(given), made, elements, refused, size);
  return passed_on(static_cast<kg::dlpack::managed_tensor*>(given), made, elements, refused, size);
}
/// Number of tensors in the process.
extern "C" long long tensors() { return kg::memory().live_tensors; }
