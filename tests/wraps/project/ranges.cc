// SPDX-License-Identifier: Apache-2.0
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/iota.hpp>

int main() { return ranges::accumulate(ranges::views::ints(1, 5), 0) == 10 ? 0 : 1; }
