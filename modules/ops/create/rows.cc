// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that create or draw elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_create;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_create;
import :rows;

namespace kerngrad::launch {
void fill(const launch_call&);
void linspace(const launch_call&);
void range(const launch_call&);
void multinomial(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

consteval op_row create_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs,
                            infer_fn infer, convention how) {
  return {.name = name,
          .doc = doc,
          .group = family::create,
          .operands = {},
          .attrs = attrs,
          .types = {lift::none, result::attribute},
          .infer = infer,
          .convention = how,
          .no_gradient = "there is no operand",
          .cost = 0};
}
/// A row of an op whose launcher belongs to the family.
consteval op_row create_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs,
                            infer_fn infer, launch_fn launch) {
  op_row row = create_row(name, doc, attrs, infer, convention::custom);
  row.launch = launch;
  return row;
}
consteval op_row like_row(std::string_view name, std::string_view doc, convention how) {
  return {.name = name,
          .doc = doc,
          .group = family::create,
          .operands = x_any,
          .infer = shapes::same,
          .convention = how,
          .cost = 0};
}

inline constexpr operand logits_of_draws[] = {{"logits", real_or_bool}};

inline constexpr op_row create_rows[] = {
    create_row("Fill", "One value everywhere.", attributes::fill, shapes::fill, launch::fill),
    like_row("ZerosLike", "Zeros with the shape and dtype of x. Gradient: 0.", convention::zeros_like),
    like_row("OnesLike", "Ones with the shape and dtype of x. Gradient: 0.", convention::ones_like),
    create_row("Range", "start, start + step, ... before stop; element i is start + i * step, rounded once.",
               attributes::range, shapes::range, launch::range),
    create_row("LinSpace", "Evenly spaced numbers, both ends included.", attributes::linspace, shapes::linspace,
               launch::linspace),
    create_row("RandomUniform", "Uniform samples by Philox 4x32-10: element i depends on seed and i alone.",
               attributes::uniform, shapes::random_uniform, convention::random),
    create_row("RandomNormal",
               "Normal samples by Philox 4x32-10 and Box-Muller: element i depends on seed and i alone.",
               attributes::normal, shapes::random_normal, convention::random),
    {.name = "Multinomial",
     .doc = "Samples the distributions in the rows of logits by Philox 4x32-10: element i depends on its row, seed "
            "and i alone. NaN and a row without weight throw.",
     .group = family::create,
     .operands = logits_of_draws,
     .attrs = attributes::multinomial,
     .types = {lift::floats, result::int32},
     .infer = shapes::multinomial,
     .launch = launch::multinomial,
     .no_gradient = "draws have no gradient",
     .domain = {{1, 4}},
     .cost = 16},
};

}  // namespace kerngrad::rows
