// SPDX-License-Identifier: Apache-2.0
// Ops that are types, by name as well. The one of kerngrad.regex stands for a program's own.
#include <iostream>

#include "example.h"

import kerngrad;
import kerngrad.regex;

namespace {

void an_own_op_by_name() {
  kg::register_op<kg::StaticRegexReplace>();
  const kg::tensor x({"a1b22"});
  std::cout << kg::run_kernel("StaticRegexReplace", {{"x", x}}, {{"pattern", "[0-9]+"}, {"rewrite", "#"}}) << "\n";
  kg::unregister_op("StaticRegexReplace");
}
const example for_an_own_op_by_name{"kg::register_op", an_own_op_by_name};

void typed_calls_go_on_working() {
  kg::register_op<kg::StaticRegexReplace>();
  kg::unregister_op("StaticRegexReplace");
  std::cout << "by name: " << (kg::row_named("StaticRegexReplace") != nullptr) << "\n"
            << kg::static_regex_replace(kg::tensor({"a1b22"}), "[0-9]+", "#") << "\n";
}
const example for_typed_calls_go_on_working{"kg::unregister_op", typed_calls_go_on_working};

void an_own_op_by_name_in_a_scope() {
  {
    const kg::registration here = kg::scoped_op<kg::StaticRegexReplace>();
    std::cout << kg::row_named("StaticRegexReplace")->doc << "\n";
  }
  std::cout << "by name: " << (kg::row_named("StaticRegexReplace") != nullptr) << "\n";
}
const example for_an_own_op_by_name_in_a_scope{"kg::scoped_op", an_own_op_by_name_in_a_scope};

}  // namespace
