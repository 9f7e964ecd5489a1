// SPDX-License-Identifier: Apache-2.0
// kernels/common/accuracy_worst.h, made of what was measured.
#pragma once
#include <string>
#include <vector>

#include "kernels/common/abi.h"
#include "tools/accuracy/sweep.h"

namespace kgaccuracy {

/// The worst of one kernel, as the header keeps it.
struct measured {
  std::string op;
  kerngrad::dtype type;
  finding worst;
  std::string target;
  bool all;  ///< over all 2^32 floats
};

/// The text of the header: a row for each dtype of each function of kernels/common/accuracy.h, from `found`, or, of
/// functions that were not measured, the row of this build.
std::string rows_text(const std::vector<measured>& found);

/// Writes that to a file, in place of what it holds; throws std::runtime_error when it cannot be written.
void write_rows(const std::string& file, const std::vector<measured>& found);

/// Throws std::runtime_error when a file is something else than the header of this build's rows.
void check_rows(const std::string& file);

}  // namespace kgaccuracy
