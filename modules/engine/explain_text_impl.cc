// SPDX-License-Identifier: Apache-2.0
// An explanation as a page of text.
module;
#include <ostream>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/shown.h"
module kerngrad;

namespace kerngrad {

std::string_view name_of(kernel_origin origin) {
  constexpr std::string_view names[] = {"none", "built-in", "user-defined", "registered"};
  return names[static_cast<int>(origin)];
}

std::string_view name_of(gradient_origin origin) {
  constexpr std::string_view names[] = {"none", "rule", "user-defined", "rule scope", "registered"};
  return names[static_cast<int>(origin)];
}

std::string_view name_of(keeping kept) {
  constexpr std::string_view names[] = {"nothing", "shape", "whole"};
  return names[static_cast<int>(kept)];
}

namespace {

namespace views = ranges::views;

// The texts with commas between them.
template <class Texts>
std::string with_commas(const Texts& texts) {
  return texts | views::join(std::string_view(", ")) | ranges::to<std::string>();
}

std::string signature_text(const signature& s) { return std::string(name_of(s.type)) + " " + to_string(s.dims); }
std::string dtypes_text(dtype_set set) {
  return set == any_element ? "any dtype" : set == any_dtype ? "any dtype but text" : to_string(set);
}
std::string at_text(const std::string& where) { return where.empty() ? "" : " at " + where; }

std::string heading_text(const explanation& told) {
  std::string text = kernels::shown(told.op);
  if (told.group)
    text += " (" + std::string(told.known ? "built-in op" : "user-defined op") + ", family " +
            std::string(name_of(*told.group)) + ")";
  else if (told.found) text += " (registered kernel)";
  else text += ": no op and no kernel has this name";
  return text + (told.doc.empty() ? "" : ": " + told.doc) + "\n";
}

std::string given_text(const explained_operand& o) {
  const auto text_of = [](const explained_tensor& x) {
    return signature_text(x.given) + (x.cast ? " cast to " + std::string(name_of(*x.cast)) : "");
  };
  return o.given.empty() ? "" : " = " + with_commas(o.given | views::transform(text_of));
}

std::string operands_text(const explanation& told) {
  std::string text;
  for (const explained_operand& o : told.operands) {
    text += "  " + o.name + given_text(o) + "; takes " + (o.list ? "a list of " : "") + dtypes_text(o.types);
    text +=
        std::string(o.part != role::value && told.group ? ", is not promoted" : "") + (o.optional ? ", optional" : "");
    text += "\n";
  }
  return text.empty() ? text : "operands\n" + text;
}

std::string attributes_text(const explanation& told) {
  std::string text;
  for (const explained_attribute& a : told.attributes) {
    text += "  " + a.name;
    if (a.value.given()) text += " = " + to_string(a.value) + (a.given ? "" : " (default)");
    else text += a.required ? " (required)" : " (omitted)";
    text += std::string(", ") + std::string(name_of(a.kind)) + (a.doc.empty() ? "" : ": " + a.doc) + "\n";
  }
  return text.empty() ? text : "attributes\n" + text;
}

std::string results_text(const explanation& told) {
  std::string text;
  if (told.compute) text += "computes in " + std::string(name_of(*told.compute)) + "\n";
  for (const explained_result& y : told.results)
    text += "gives " + (y.name.empty() ? "" : y.name + ", ") + (y.at_most ? "at most " : "") + signature_text(y.made) +
            (y.cast_from ? ", rounded from " + std::string(name_of(*y.cast_from)) : "") + "\n";
  if (!told.decided_by.empty()) text += "gives what the elements of " + told.decided_by + " decide\n";
  if (!told.refusal.empty()) text += "throws: " + told.refusal + "\n";
  return text;
}

std::string candidate_text(const explained_kernel& k) {
  std::string text = k.runs ? "  > " : "    ";
  text += k.backend + " (priority " + std::to_string(k.priority) + (k.active ? ", active" : "") +
          (k.alive ? "" : ", not alive") + "): ";
  if (k.origin != kernel_origin::none)
    text += std::string(name_of(k.origin)) + at_text(k.where) + ", " + dtypes_text(k.dtypes) +
            (k.reference.bits ? " (" + to_string(k.reference) + " by the reference kernel)" : "") + "; ";
  if (!k.runs) return text + (k.origin == kernel_origin::none ? "" : "does not run: ") + k.why_not + "\n";
  return text + (k.alive ? "runs\n" : "runs, once its first use has made the backend\n");
}

std::string kernels_text(const explanation& told) {
  std::string text;
  for (const explained_kernel& k : told.candidates) text += candidate_text(k);
  if (!text.empty()) text = "kernels\n" + text;
  if (told.runs) text += "runs " + told.runs->kernel + " of " + told.runs->backend + ": " + told.runs->code + "\n";
  if (told.shares_elements) text += "runs no kernel: the result shares its operand's elements\n";
  if (told.targets.empty()) return text;
  const auto target_text = [](const compiled_target& t) {
    return t.name + (t.active ? " (active)" : t.supported ? "" : " (not on this CPU)");
  };
  return text + "SIMD targets: " + with_commas(told.targets | views::transform(target_text)) + "\n";
}

std::string source_text(const explained_gradient& g) {
  switch (g.origin) {
    case gradient_origin::rule: return "the op's rule in grads/";
    case gradient_origin::user_defined: return "the op's own rule" + at_text(g.where);
    case gradient_origin::rule_scope: return "the rule of a rule_scope of this thread";
    case gradient_origin::registered: return "registered" + at_text(g.where);
    default: return "none" + (g.why_none.empty() ? "" : ": " + g.why_none);
  }
}

std::string gradient_text(const explanation& told) {
  if (!told.found) return {};
  std::string text = "gradient: " + source_text(told.gradient) + "\n";
  if (told.gradient.origin == gradient_origin::none) return text;
  std::vector<std::string> saved;
  const auto keep = [&](const std::string& name, keeping kept) {
    if (kept != keeping::nothing) saved.push_back(name + " (" + std::string(name_of(kept)) + ")");
  };
  bool any = false;
  for (const explained_operand& o : told.operands) {
    text += "  " + o.name + (o.has_gradient ? ": has one\n" : ": constant, " + o.constant_because + "\n");
    for (const auto& [i, x] : views::enumerate(o.given))
      keep(o.list ? o.name + "[" + std::to_string(i) + "]" : o.name, x.kept);
    any = any || o.has_gradient;
  }
  for (const explained_result& y : told.results) keep(y.name.empty() ? "the result" : y.name, y.kept);
  if (told.of_call && any && told.refusal.empty())
    text += "  a recording saves " + (saved.empty() ? "nothing" : with_commas(saved)) + "; " +
            std::to_string(told.gradient.saved_bytes) + " bytes of elements\n";
  return text;
}

}  // namespace

std::string to_string(const explanation& told) {
  return heading_text(told) + operands_text(told) + attributes_text(told) + results_text(told) + kernels_text(told) +
         gradient_text(told);
}

std::ostream& operator<<(std::ostream& out, const explanation& told) { return out << to_string(told); }

}  // namespace kerngrad
