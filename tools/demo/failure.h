// SPDX-License-Identifier: Apache-2.0
// Exception for a faulty input of the user: a file, an option. main() ends with exit code 2 then.
#pragma once
#include <stdexcept>
#include <string>

namespace demo {

class bad_input : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace demo
