// SPDX-License-Identifier: Apache-2.0
// Large graphs as the text of their file: documents of JSON take longer to make than the library takes to read them.
#pragma once
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/files.h"

import kerngrad.graph;

namespace kgtest {

inline std::string numbered(std::string_view name, int i) { return std::string(name) + std::to_string(i); }

class graph_text {
 public:
  /// `attrs` are members of an object.
  void node(std::string_view name, std::string_view op, const std::vector<std::string>& inputs = {},
            std::string_view attrs = {}) {
    separate(nodes_);
    nodes_.append(R"({"name":")").append(name).append(R"(","op":")").append(op).append(R"(","input":[)");
    for (const std::string& input : inputs) {
      if (&input != inputs.data()) nodes_ += ',';
      nodes_.append("\"").append(input).append("\"");
    }
    nodes_.append(R"(],"attr":{)").append(attrs).append("}}");
  }
  void call(std::string_view name, std::string_view function, const std::string& input) {
    node(name, "PartitionedCall", {input}, R"("f":{"func":{"name":")" + std::string(function) + R"("}})");
  }
  /// Adds a constant of one whole number, of rank 0.
  void whole(std::string_view name, int value) {
    node(name, "Const", {},
         R"("dtype":{"type":"DT_INT32"},"value":{"tensor":{"dtype":"DT_INT32","tensorShape":{},"intVal":[)" +
             std::to_string(value) + "]}}");
  }
  /// A function of x, with the nodes of another text.
  void function(std::string_view name, const graph_text& body, std::string_view result) {
    separate(functions_);
    functions_.append(R"({"signature":{"name":")").append(name);
    functions_.append(R"(","inputArg":[{"name":"x","type":"DT_FLOAT"}],"outputArg":[{"name":"y"}]},"nodeDef":[)");
    functions_.append(body.nodes_).append(R"(],"ret":{"y":")").append(result).append("\"}}");
  }
  /// The path of its file in the folder. `weights` are entries of the manifest, whose elements are in weights.bin.
  std::string write(const folder& here, std::string_view weights = {}) const {
    const std::string path = here / "model.json";
    std::ofstream file(path);
    file << R"({"modelTopology":{"node":[)" << nodes_ << R"(],"library":{"function":[)" << functions_
         << R"(]}},"weightsManifest":[)";
    if (!weights.empty()) file << R"({"paths":["weights.bin"],"weights":[)" << weights << "]}";
    file << "]}";
    return path;
  }

 private:
  static void separate(std::string& list) {
    if (!list.empty()) list += ',';
  }
  std::string nodes_, functions_;
};

}  // namespace kgtest
