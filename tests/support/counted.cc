// SPDX-License-Identifier: Apache-2.0
// For programs whose instructions valgrind counts. Highway's library times its timer as it is loaded, by an instruction
// that valgrind rejects where CPUID does not list it, as on some virtual machines. The program's definition takes the
// place of the library's.
#include <cstdint>

namespace hwy::platform {
std::uint64_t TimerResolution() { return 1; }
}  // namespace hwy::platform
