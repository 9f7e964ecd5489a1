// SPDX-License-Identifier: Apache-2.0
#include <hwy/highway.h>
#include <hwy/targets.h>

int main() { return hwy::SupportedTargets() != 0 ? 0 : 1; }
