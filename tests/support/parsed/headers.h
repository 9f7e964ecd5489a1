// SPDX-License-Identifier: Apache-2.0
// Headers that nearly every test of the module includes, parsed once for all: that is half of a test's compile time.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <range/v3/view/cartesian_product.hpp>
#include <span>
#include <string>
#include <vector>
