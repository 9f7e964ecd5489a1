// SPDX-License-Identifier: Apache-2.0
// Errors of the kernels, next to the rows: measuring again rebuilds no interface.
module;
#include <algorithm>
#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_gradients.h"
#include "kernels/common/accuracy_worst.h"
module kerngrad;

namespace kerngrad {

namespace {

// A bound with the row of what was measured, if there is one.
std::optional<op_accuracy> with_worst(double bound, std::span<const kernels::accuracy_worst> measured,
                                      std::string_view name, int operand, dtype type) {
  for (const kernels::accuracy_worst& found : measured)
    if (name == found.op && operand == found.operand && type == found.type)
      return op_accuracy{
          .bound = bound, .worst = found.ulp, .at = {found.a, found.b}, .target = found.target, .all = found.all};
  return {};
}

// A number without zeros at its end, as std::format is none of libstdc++ 12.
std::string short_text(double x) { return to_string(attr_value(x)); }

std::string domain_text(const kernels::gradient_domain& domain, std::span<const operand> operands) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (domain.distance != 0)
    add("|x " + std::string(domain.zero < 0 ? "+ " : "- ") + short_text(domain.zero < 0 ? -domain.zero : domain.zero) +
        "| >= " + short_text(domain.distance));
  if (domain.squares) add("x^2 is finite");
  if (domain.above > -kernels::unbounded) add("x > " + short_text(domain.above));
  if (domain.below < kernels::unbounded) add("x < " + short_text(domain.below));
  if (domain.order) add("n = " + std::to_string(domain.order));
  for (std::size_t i = 0; i < operands.size() && i < 2; ++i) {
    const std::string powers = std::to_string(domain.powers[i]);
    if (domain.powers[i]) add("2^-" + powers + " <= |" + std::string(operands[i].name) + "| <= 2^" + powers);
  }
  return text;
}

}  // namespace

std::optional<op_accuracy> accuracy_of(std::string_view name, dtype type) {
  const auto* bound = std::ranges::find(kernels::accuracy, name, &kernels::accuracy_bound::op);
  if (bound == std::end(kernels::accuracy)) return {};
  return with_worst(type == dtype::float32 ? bound->ulp_float32 : bound->ulp_float64, kernels::accuracy_measured, name,
                    -1, type);
}

std::optional<gradient_accuracy> gradient_accuracy_of(std::string_view name, int operand, dtype type) {
  for (const kernels::gradient_bound& bound : kernels::gradient_accuracy) {
    if (name != bound.op || operand != bound.operand) continue;
    const auto errors = with_worst(type == dtype::float32 ? bound.ulp_float32 : bound.ulp_float64,
                                   kernels::gradients_measured, name, operand, type);
    if (!errors) return {};
    const op_row& row = op_table[static_cast<std::size_t>(find_op(name))];
    return gradient_accuracy{*errors, domain_text(bound.domain, row.operands)};
  }
  return {};
}

}  // namespace kerngrad
