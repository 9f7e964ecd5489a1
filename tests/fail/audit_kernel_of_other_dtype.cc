// SPDX-License-Identifier: Apache-2.0
// A kernel for a dtype that its row does not accept: no call could reach it.
// error: [audit] a kernel for a dtype that its row does not accept: accept it, or remove the kernel
// clang: op_reaches_every_kernel<fixed_string<4>{"Own"}, own_rows, both>
import kerngrad;
#include "own_op.h"

inline constexpr kernel_entry other_kernel{"Own", kg::dtype::int32, run_own, nullptr, nullptr};
#ifdef TWIN
inline constexpr std::array both{own_kernel};
#else
inline constexpr std::array both{own_kernel, other_kernel};
#endif
static_assert(kg::audit::check_all<own_rows, both, both, own_rules>());
