// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

int main() { benchmark::Shutdown(); }
