// SPDX-License-Identifier: Apache-2.0
// The commands of graph models: `kerngrad graph ops`, `check` and `run`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tool {

/// Arguments of the commands.
struct graph_request {
  std::string model;                 ///< model.json
  std::vector<std::string> inputs;   ///< "NAME=FILE"
  std::vector<std::string> outputs;  ///< "FILE" or "NAME=FILE"
  bool fills = false;                ///< inputs that are not given have random elements
  int threads = 1;
  int repeat = 1;
  bool profiles = false, as_json = false;
  std::string trace, dot;                           ///< files to write
  std::int64_t most_bytes = std::int64_t{1} << 30;  ///< of load_options
};

/// The known graph ops as a table of Markdown: that of docs/graph.md.
std::string graph_ops_page();
/// Prints the needs of a model. Returns an exit code: `refused` if something is missing.
int graph_check(const graph_request& wanted);
/// Runs a model.
int graph_run(const graph_request& wanted);

}  // namespace tool
