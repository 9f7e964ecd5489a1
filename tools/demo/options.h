// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace demo {

enum class model : std::uint8_t { cnn, mlp };

struct options {
  demo::model model = demo::model::cnn;
  int epochs = 3;
  int batch = 64;
  int threads = 1;  // 0: one for each CPU
  std::uint64_t seed = 1;
  std::string target;  // empty: the best one
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string load, save, report, export_to;  // empty: not asked for
  std::int64_t limit = 0;                     // 0: all images
  bool ranks = false;                         // one of several processes, started by mpirun
  std::string checkpoint;                     // empty: none is written
  int every = 200;                            // steps between two
  bool resume = false;
};

/// Reads the command line. Prints help, or what is wrong in one line on stderr; an exit code is then returned through
/// `exit_code` and no options.
std::optional<options> read_command_line(int argc, const char* const* argv, int& exit_code);

}  // namespace demo
