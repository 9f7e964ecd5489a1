// SPDX-License-Identifier: Apache-2.0
// The library's own side of the cases, a file for each group.
#pragma once

#include <memory>

void add_call_cases();
void add_elementwise_cases();
void add_reduce_cases();
void add_window_cases();
void add_gradient_cases();
void add_move_cases();
void add_sort_cases();

/// Calls may use two threads while this lives, one afterwards.
std::shared_ptr<void> two_threads();
