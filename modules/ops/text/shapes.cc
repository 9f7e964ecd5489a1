// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops on texts. They read elements of operands, so that the compiler cannot run them: their bodies
// are in shapes_impl.cc.
module;
#include "kernels/common/abi.h"
#include "kernels/text/ngrams.h"
#include "kernels/text/split.h"
export module kerngrad:shapes_text;

import :std;
import :core;
import :op;
import :shapes_sparse;

export namespace kerngrad::shapes {

/// StringSplit: indices [pieces, 2], values [pieces], and a shape [2].
void string_split(inference& call);
/// StringNGrams: a vector of n-grams, and splits in the shape of the operand with splits.
void string_ngrams(inference& call);

}  // namespace kerngrad::shapes

// Values that launchers take from attributes and operands again. Texts in it are those of the call.
namespace kerngrad::shapes {

kernels::split_rule split_rule_of(const inference& call);
kernels::ngrams_rule ngrams_rule_of(const inference& call);

}  // namespace kerngrad::shapes
