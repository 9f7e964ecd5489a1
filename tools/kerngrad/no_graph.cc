// SPDX-License-Identifier: Apache-2.0
// The commands of graph models in a build without the module kerngrad.graph.
#include "tools/kerngrad/graph.h"
#include "tools/kerngrad/tool.h"

namespace tool {

namespace {

[[noreturn]] void refuse() {
  throw refusal("this build has no graph models: configure with -Dio=enabled and -Dgraph=enabled");
}

}  // namespace

std::string graph_ops_page() { refuse(); }
int graph_check(const graph_request&) { refuse(); }
int graph_run(const graph_request&) { refuse(); }

}  // namespace tool
