// SPDX-License-Identifier: Apache-2.0
// Topics of errors. The reference's texts say it in its own words; an error here names the op and the operand,
// attribute or quantity.
#include <fmt/format.h>

#include <algorithm>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Words of a recorded text, and those of which an error about the same has one, with | in between. The first fits.
struct topic {
  std::string_view recorded, named;
};
constexpr topic topics[] = {
    {"could not be broadcast", "that broadcast"},
    {"dimRoundingMode", "with pad|attribute pad"},
    {"trides should be", "attribute strides"},
    {"Dilated rates should be", "attribute dilations"},
    {"inner shapes", "equal inner sizes|wanted rank"},
    {"inner dimensions", "equal inner sizes"},
    {"compatible with expected shape", "the sizes"},
    {"since its dim", "of size 1"},
    {"'k' passed to", "got k|attribute k"},
    {"last dimension", "last axis of size"},
    {"Non-unique lengths", "of one shape"},
    {"Shape mismatch", "of one shape"},
    {"step is required", "step"},
    {"invalid ord value", "order"},
    {"pointwise filter", "1 x 1 pixels|wanted rank"},
    {"floating point tensor", "of dtype"},
    {"strides or dilations must be 1", "strides or dilations"},
    {"depth of input", "channels"},
    {"length of perm", "perm of"},
    {"Axis must be", "an axis from"},
    {"axis param", "an axis from"},
    {"batchDims", "batchDims"},
    {"index value", "index"},
    {"begin[", "begin"},
    {"Number of splits", "parts"},
    {"sum of sizes", "parts"},
    {"depth must be", "depth"},
    {"number of paddings", "paddings"},
    {"number of values", "attribute num"},
    {"step of zero", "step"},
    {"at least one tensor", "0 operands"},
    {"comprised of positive integers", "of size|wanted rank"},
    {"the tensor should have", "values"},
    {"product of shape", "elements"},
    {"same shape", "equal shapes|the shape of"},
    {"matching shapes", "equal shapes"},
    {"does not match the shape", "equal shapes"},
    {"must match", "of one shape|wanted rank"},
    {"found type of", "dtype"},
    {"are incompatible", "got shape of"},
    {"rank", "wanted rank"},
};

bool names_one_of(std::string_view text, std::string_view words) {
  while (true) {
    const std::size_t end = words.find('|');
    if (has(text, words.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + 1);
  }
}

// The text between two texts; empty if they are missing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const std::size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

// "Argument 'x' passed to 'cos' must be float32 tensor, but got int32 tensor".
std::string_view refused_dtype(std::string_view recorded) {
  return has(recorded, "Argument '") && has(recorded, " must be ") ? between(recorded, "but got ", " tensor")
                                                                   : std::string_view();
}

}  // namespace

std::string_view refused_argument(std::string_view recorded) {
  return refused_dtype(recorded).empty() ? std::string_view() : between(recorded, "Argument '", "'");
}

outcome judge_refusal(const kg::error& refusal, std::string_view kernel, std::string_view operand,
                      std::string_view recorded) {
  const std::string text = refusal.what();
  const auto wrong = [&](std::string_view wanted) {
    return outcome{verdict::failed, fmt::format("the refusal \"{}\" {}; recorded: {}", text, wanted, recorded)};
  };
  // Shapes and tensors are made before a kernel is called.
  std::string_view op = refusal.op();
  if (op.starts_with("kg::")) op.remove_prefix(4);
  const bool named = op == kernel || op == "shape" || op == "tensor";
  if (!named || refusal.got().empty()) return wrong(fmt::format("does not say that {} got something wrong", kernel));
  if (const std::string_view type = refused_dtype(recorded); !type.empty()) {
    const std::string about = fmt::format("operand {} of dtype {}", operand, type == "string" ? "text" : type);
    return has(text, about) ? outcome{} : wrong(fmt::format("is not about an {}", about));
  }
  const auto* found = std::find_if(std::begin(topics), std::end(topics),
                                   [&](const topic& item) { return has(recorded, item.recorded); });
  if (found == std::end(topics)) return {verdict::passed, "refused; what the recorded text is about is not known here"};
  if (!names_one_of(text, found->named)) return wrong(fmt::format("does not name {}", found->named));
  return {};
}

}  // namespace conformance
