// SPDX-License-Identifier: Apache-2.0
// KG_UNDER_ASAN: 1 in a program under AddressSanitizer, else 0. Blocks of tensors are the sanitizer's then: none is
// kept for reuse, none is mapped, none fails; and it reserves more address space than a limit would leave.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define KG_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KG_UNDER_ASAN 1
#endif
#endif
#ifndef KG_UNDER_ASAN
#define KG_UNDER_ASAN 0
#endif
