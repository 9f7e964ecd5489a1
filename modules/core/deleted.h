// SPDX-License-Identifier: Apache-2.0
// KG_DELETED("why"): a deleted function that says why (P2573), where the compiler knows how to.
#pragma once
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic ignored "-Wc++26-extensions"
#define KG_DELETED(why) delete (why)
#else
#define KG_DELETED(why) delete
#endif
