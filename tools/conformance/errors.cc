// SPDX-License-Identifier: Apache-2.0
// Error cases: calls that must be rejected. Some are recorded as kernel calls; the others are calls of the reference's
// ops, which become a call of the composed function of that name, or of the kernel that does the op's work, where their
// arguments allow it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

// ------------------------------------------------------------------------------------------ names

struct alias {
  std::string_view from, to;
};
// Ops whose kernel has another name; the others differ in capitals only.
constexpr alias kernel_names[] = {
    {"mul", "Multiply"},
    {"div", "RealDiv"},
    {"matMul", "BatchMatMul"},
    {"gather", "GatherV2"},
    {"pad", "PadV2"},
    {"pad2d", "PadV2"},
    {"split", "SplitV"},
    {"stack", "Pack"},
    {"unstack", "Unpack"},
    {"where", "Select"},
    {"bandPart", "MatrixBandPart"},
    {"ones", "Fill"},
    {"zeros", "Fill"},
    {"clone", "Identity"},
    {"depthwiseConv2d", "DepthwiseConv2dNative"},
    {"conv2dTranspose", "Conv2DBackpropInput"},
    {"batchNorm", "FusedBatchNorm"},
    {"batchNorm2d", "FusedBatchNorm"},
    {"localResponseNormalization", "LRN"},
    {"nonMaxSuppression", "NonMaxSuppressionV3"},
};
struct parameter_alias {
  std::string_view kernel, from, to;
};
constexpr parameter_alias attribute_names[] = {
    {"ExpandDims", "axis", "dim"},      {"Max", "axis", "reductionIndices"},
    {"Reverse", "axis", "dims"},        {"Conv2DBackpropInput", "outputShape", "inputShape"},
    {"RandomUniform", "minval", "low"}, {"RandomUniform", "maxval", "high"},
};

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const kg::op_row* row_of_op(std::string_view op) {
  for (const alias& item : kernel_names)
    if (item.from == op) return row_of(item.to);
  const auto at = std::find_if(kg::op_table.begin(), kg::op_table.end(),
                               [&](const kg::op_row& row) { return same_letters(row.name, op); });
  return at == kg::op_table.end() ? nullptr : &*at;
}

std::string attribute_of(const kg::op_row& row, const std::string& parameter) {
  for (const parameter_alias& item : attribute_names)
    if (item.kernel == row.name && item.from == parameter) return std::string(item.to);
  return parameter;
}

// ------------------------------------------------------------------------------------------ arguments

// A nested list of numbers or texts: its sizes and its elements, outermost first.
struct literal {
  std::vector<std::int64_t> sizes;
  std::vector<float> numbers;
  std::vector<std::string> texts;

  void read(const json& value, std::size_t depth = 0) {
    if (value.is_string()) return texts.push_back(value);
    if (value.is_number()) return numbers.push_back(static_cast<float>(number_of(value)));
    if (!value.is_array()) no_equivalent();
    if (sizes.size() <= depth) sizes.push_back(static_cast<std::int64_t>(value.size()));
    for (const json& item : value) read(item, depth + 1);
  }
};

}  // namespace

void no_equivalent() { throw skip_case{"arguments without an equivalent"}; }

kg::tensor tensor_argument(const json& value) {
  if (value.is_object() && value.contains("tensor")) return tensor_of(value.at("tensor"));
  literal given;
  given.read(value);
  const kg::shape dims(given.sizes);
  const auto size = static_cast<std::size_t>(dims.size());
  if (given.numbers.empty() && !given.texts.empty() && given.texts.size() == size) return kg::tensor(given.texts, dims);
  if (given.numbers.size() != size || !given.texts.empty()) no_equivalent();
  return kg::tensor(given.numbers, dims);
}

// The reference makes integers of the numbers that it takes as indices.
kg::tensor operand_argument(const kg::operand& spec, const json& value) {
  const kg::tensor given = tensor_argument(value);
  if (value.is_object() || spec.types.has(kg::dtype::float32) || !spec.types.has(kg::dtype::int32)) return given;
  const kg::tensor whole = kg::cast(given, kg::dtype::int32);
  return kg::sum(kg::abs(given - whole)).item() == 0 ? whole : given;
}
namespace {

kg::named_operand list_argument(const json& value) {
  if (!value.is_array()) no_equivalent();
  std::vector<kg::tensor> list;
  for (const json& item : value) list.push_back(tensor_argument(item));
  return {"", std::move(list)};
}

// The image ops of the reference add the batch axis to an image of rank 3; the kernels here leave that to the caller.
void add_batch(const kg::op_row& row, kernel_call& call) {
  if (row.attr_index("strides") < 0) return;
  if (call.operands.empty() || call.operands[0].tensors[0].rank() != 3) return;
  kg::tensor& image = call.operands[0].tensors[0];
  image = kg::expand_dims(image, 0);
  for (kg::named_attribute& item : call.attrs) {
    if (item.name != "inputShape") continue;
    std::vector<std::int64_t> sizes{1};
    sizes.insert(sizes.end(), item.value.as_list().begin(), item.value.as_list().end());
    item.value = kg::attr_value(sizes);
  }
}

struct translation {
  kernel_call call;
  std::map<std::string, std::string> operands;  // by parameter
};

// An op's call as a call of its kernel: operands by their order, which both share, optional ones and the rest by name.
translation translated(const kg::op_row& row, const json& line) {
  translation made{{std::string(row.name)}, {}};
  kernel_call& call = made.call;
  const json& args = line.at("args");
  std::size_t operands = 0;
  for (const auto& parameter : line.at("arg_order")) {
    const std::string name = parameter;
    if (!args.contains(name) || args.at(name).is_null()) continue;
    const json& value = args.at(name);
    const int named = row.operand_index(name);
    const bool optional = named >= 0 && row.operands[static_cast<std::size_t>(named)].optional;
    if (optional) {
      call.operands.emplace_back(name, tensor_argument(value));
      made.operands[name] = name;
      continue;
    }
    if (operands < row.operands.size() && !row.operands[operands].optional) {
      if (row.operands[operands].list) call.operands.push_back(list_argument(value));
      else call.operands.emplace_back(row.operands[operands].name, operand_argument(row.operands[operands], value));
      made.operands[name] = row.operands[operands++].name;
      continue;
    }
    const std::string attribute = attribute_of(row, name);
    if (row.attr_index(attribute) < 0) no_equivalent();
    add_attribute(call, attribute, value);
  }
  const std::string op = line.at("op");
  if (op == "ones" || op == "zeros") add_attribute(call, "value", op == "ones" ? 1 : 0);
  for (const kg::attr_spec& spec : row.attrs) {
    const bool given = std::any_of(call.attrs.begin(), call.attrs.end(),
                                   [&](const kg::named_attribute& item) { return item.name == spec.name; });
    if (spec.required && !given) no_equivalent();
  }
  add_batch(row, call);
  return made;
}

// ------------------------------------------------------------------------------------------ verdicts

// True if the reference rejected a dtype: a call that the rows accept all the same is one of their dtype rules.
bool is_about_dtypes(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return (has(" must be ") && has(" tensor, but got ")) || has("the same dtype") || has("matching dtypes");
}

outcome demand_refusal(const std::function<void()>& run, const json& line, const translation& made) {
  const std::string& text = line.at("error").get_ref<const std::string&>();
  const bool dilates = row_of(made.call.kernel) && text.find("Either strides or dilations must be 1") != text.npos;
  if (dilates) throw skip_case{"the reference does not dilate with strides"};
  try {
    run();
  } catch (const kg::error& refusal) {
    const std::string argument(refused_argument(text));
    const auto operand = made.operands.find(argument);
    return judge_refusal(refusal, made.call.kernel, operand == made.operands.end() ? argument : operand->second, text);
  }
  if (is_about_dtypes(text)) throw skip_case{"the reference takes fewer dtypes"};
  if (text.find("number of values should be positive") != text.npos)
    throw skip_case{"the reference makes no 0 numbers"};
  if (text.find("invalid ord value") != text.npos) throw skip_case{"the reference takes fewer orders of norms"};
  return {verdict::failed, "accepted, but must be refused: " + text};
}

// tensor(values, shape) and its rank-suffixed forms are constructors here.
outcome run_constructor(const json& line) {
  const json& args = line.at("args");
  const json values = args.value("values", json()), sizes = args.value("shape", json());
  const bool texts = args.value("dtype", json("float32")) == "string";
  if ((!texts && args.value("dtype", json("float32")) != "float32") || !values.is_array() || !sizes.is_array())
    no_equivalent();
  const std::string op = line.at("op");
  if (op != "tensor" && op != fmt::format("tensor{}d", sizes.size())) no_equivalent();
  literal elements;
  for (const json& item : values) item.is_array() ? no_equivalent() : elements.read(item);
  if (!(texts ? elements.numbers.empty() : elements.texts.empty())) no_equivalent();
  kernel_call dims{op};
  add_attribute(dims, "shape", sizes);
  const auto construct = [&] {
    const kg::shape wanted(dims.attrs[0].value.as_list());
    texts ? kg::tensor(elements.texts, wanted) : kg::tensor(elements.numbers, wanted);
  };
  return demand_refusal(construct, line, {dims, {}});
}

bool is_constructor(std::string_view op) {
  return op.starts_with("tensor") && (op.size() == 6 || (op.size() == 8 && op.ends_with('d')));
}

}  // namespace

std::string error_subject(const json& line) {
  if (line.contains("kernel_call")) return line.at("kernel_call").at("kernel");
  const std::string op = line.at("op");
  const kg::op_row* row = row_of_op(op);
  return row ? std::string(row->name) : op;
}

outcome run_error(const json& line) {
  for (const char* reason : {"js_only", "limitation", "debug_mode"})
    if (line.value(reason, false)) throw skip_case{reason};
  const std::string op = line.at("op");
  if (line.contains("kernel_call")) {
    const json& recorded = line.at("kernel_call");
    require_kernel(recorded.at("kernel").get_ref<const std::string&>());
    const kernel_call call = call_of(recorded);
    return demand_refusal([&] { call.run(); }, line, {call, {}});
  }
  if (is_constructor(op)) return run_constructor(line);
  if (const std::optional<composed_call> call = composed_call_of(line))
    return demand_refusal(call->run, line, {{call->function}, {}});
  const kg::op_row* row = row_of_op(op);
  if (!row) throw skip_case{"op absent"};
  const translation made = translated(*row, line);
  return demand_refusal([&] { made.call.run(); }, line, made);
}

}  // namespace conformance
