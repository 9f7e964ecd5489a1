// SPDX-License-Identifier: Apache-2.0
#include "failure.h"
#include "network.h"

namespace demo {

void network::export_to(const std::string& folder) const {
  throw bad_input("--export " + folder +
                  ": this build has no kerngrad.graph (libzip, libpng and nlohmann-json make it)");
}

}  // namespace demo
