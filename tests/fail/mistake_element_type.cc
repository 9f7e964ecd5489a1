// SPDX-License-Identifier: Apache-2.0
// A vector of a type that no dtype stores.
// advice: no dtype stores this C++ type
import kerngrad;

#ifdef TWIN
kg::tensor f() { return kg::tensor(std::vector<std::int64_t>{1}); }
#else
kg::tensor f() { return kg::tensor(std::vector<unsigned long long>{1}); }
#endif
