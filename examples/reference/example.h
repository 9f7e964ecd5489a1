// SPDX-License-Identifier: Apache-2.0
// The examples that the reference shows with each function, where no page of docs/ has a shorter one. The text of an
// example is its code on the page, so it stands for itself, and what it prints is shown below: main.cc runs them all.
#ifndef EXAMPLES_REFERENCE_EXAMPLE_H_
#define EXAMPLES_REFERENCE_EXAMPLE_H_

#include <string_view>

// An example of one name, or of several with blanks between them: kg::min kg::prod.
struct example {
  example(std::string_view names, void (*run)());
};

#endif  // EXAMPLES_REFERENCE_EXAMPLE_H_
