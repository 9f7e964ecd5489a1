// SPDX-License-Identifier: Apache-2.0
// Location of the bytes of text tensors: after the elements, in the tensor's own block, so that a text lives as long as
// its tensor and goes with it. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:texts;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

/// A tensor with copies of the texts; their number is that of the shape's elements.
buffer* copies_of_texts(std::span<const text> texts, const shape& dims);
/// A result of a kernel, whose texts may be those of operands, with copies of them in place of these.
void own_texts(tensor& y);
/// Throws in the name of the function unless the bytes, text i of what is named, are UTF-8.
void check_utf8(std::string_view function, std::string_view what, std::size_t i, std::string_view bytes,
                std::string_view advice);

}  // namespace kerngrad::detail
