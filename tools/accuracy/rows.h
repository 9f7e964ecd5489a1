// SPDX-License-Identifier: Apache-2.0
// kernels/common/accuracy_worst.h and accuracy_gradients.h, made of what was measured.
#pragma once
#include <string>
#include <vector>

#include "kernels/common/abi.h"
#include "tools/accuracy/sweep.h"

namespace kgaccuracy {

/// The worst of one kernel or gradient, as a header keeps it.
struct measured {
  std::string op;
  int operand;  ///< of a gradient; -1: the values
  kerngrad::dtype type;
  finding worst;
  std::string target;
  bool all;  ///< over all 2^32 floats
};

/// The text of the header of values or of gradients: a row for each dtype of each bound of kernels/common/accuracy.h,
/// from `found`, or, of what was not measured, the row of this build.
std::string rows_text(bool gradients, const std::vector<measured>& found);

/// Writes that to a file, in place of what it holds; throws std::runtime_error when it cannot be written.
void write_rows(const std::string& file, bool gradients, const std::vector<measured>& found);

/// Throws std::runtime_error when a file is something else than the header of this build's rows.
void check_rows(const std::string& file, bool gradients);

}  // namespace kgaccuracy
