// SPDX-License-Identifier: Apache-2.0
// A program that sees the library through two modules of its own.
import training;

int main() {
  const layer hidden(4, 8);
  return trained(hidden, kg::ones({2, 4})) == 2 && hidden.variables().size() == 2 ? 0 : 1;
}
