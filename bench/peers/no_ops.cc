// SPDX-License-Identifier: Apache-2.0
// The measure of tools/bench/footprint.py for compile times: a few headers of the standard library, and nothing else.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

int main() { return static_cast<int>(std::vector<std::string>(1, std::string()).size()) - 1; }
