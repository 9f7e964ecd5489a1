// SPDX-License-Identifier: Apache-2.0
// Common mistakes: each mistake is one sentence that says what was got and what is wanted. Those
// that the compiler finds are programs of tests/fail; how many axes a tensor has, and of which sizes, it cannot know.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/refusal.h"
import kerngrad;
import kerngrad.io;

namespace {

using kg::tensor;

struct mistake {
  std::string of;
  std::function<tensor()> line;
  std::string sentence;
};

TEST(typical_mistakes, are_each_told_in_one_sentence) {
  const tensor x = kg::reshape(kg::arange(12), {3, 4}), row = x(0);
  const mistake mistakes[] = {
      {"an index too many", [&] { return x(0, kg::all, 1); },
       "[index] got indices for 3 axes of a tensor of shape [3, 4]; wanted at most 2"},
      {"an element of too many axes", [&] { return tensor(x.item<float>(0, 1, 2)); },
       "[item] got 3 indices into a tensor of shape [3, 4]; wanted 2, one for each axis"},
      {"an index that is not there", [&] { return x(3); },
       "[index] got index 3 into axis 0 of size 3; wanted an index from -3 to 2"},
      {"a mask of another shape", [&] { return x(row > 1); },
       "[index] got a mask of shape [4] from axis 0 of shape [3, 4] on; wanted a mask of the sizes of these axes"},
      {"a change by a mask of another shape", [&] { return x.at(row > 1).set(0); },
       "[index] got a mask of shape [4] from axis 0 of shape [3, 4] on; wanted a mask of the sizes of these axes"},
      {"a missing file", [] { return tensor(kg::io::load("nowhere/x.npy")); },
       "[load] got \"nowhere/x.npy\", which cannot be opened: No such file or directory; wanted a file that can be "
       "read"},
      {"a file of no known format", [] { return tensor(kg::io::load("x.jpeg")); },
       "[load] got \"x.jpeg\", which has a name that tells no format; wanted one that ends in .npy, .npz, "
       ".safetensors, .csv, .png, .ppm, .pgm or .wav"},
  };
  for (const mistake& m : mistakes) EXPECT_EQ(kgtest::refusal(m.line), m.sentence) << m.of;
}

}  // namespace
