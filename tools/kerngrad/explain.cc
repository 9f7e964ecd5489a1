// SPDX-License-Identifier: Apache-2.0
// A call as it is written on the command line, and its explanation as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

// "name=rest"; the name of an operand may be omitted.
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) return {"", text};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// By the C library: not every C++ library reads floats.
std::optional<double> real_number(const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0]))) return {};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return {};
  return value;
}

// "[2,3]" and "[]"; blanks are allowed.
std::optional<std::vector<std::int64_t>> integers(std::string_view text) {
  std::string packed;
  for (char c : text)
    if (c != ' ') packed += c;
  if (packed.size() < 2 || packed.front() != '[' || packed.back() != ']') return {};
  std::vector<std::int64_t> list;
  std::string_view rest = std::string_view(packed).substr(1, packed.size() - 2);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::optional<std::int64_t> item = whole_number(rest.substr(0, comma));
    if (!item || comma + 1 == rest.size()) return {};
    list.push_back(*item);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return list;
}

kg::signature signature_of(const std::string& operand, const std::string& text) {
  const std::size_t bracket = text.find('[');
  const std::optional<kg::dtype> type = kg::dtype_named(std::string_view(text).substr(0, bracket));
  const auto dims =
      integers(bracket == std::string::npos ? std::string_view("[]") : std::string_view(text).substr(bracket));
  if (!type || !dims)
    throw usage_error(fmt::format("--operand {}: wanted NAME=DTYPE[SIZES], such as x=float32[2,3]", operand));
  return {kg::shape(*dims), *type};
}

// The kind that the op's attribute has decides where a text could be several things.
kg::attr_value value_of(const kg::op_row* row, const std::string& name, const std::string& text) {
  const int at = row ? row->attr_index(name) : -1;
  const kg::attr_kind kind = at >= 0 ? row->attrs[static_cast<std::size_t>(at)].kind : kg::attr_kind::absent;
  if (kind == kg::attr_kind::dtype)
    if (const auto type = kg::dtype_named(text)) return *type;
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = whole_number(text)) return *whole;
  if (const auto real = real_number(text)) return *real;
  if (const auto list = integers(text)) return *list;
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return std::string_view(text).substr(quoted, text.size() - 2 * quoted);
}

json json_of(const kg::signature& s) {
  return {{"dtype", kg::name_of(s.type)}, {"shape", std::vector<std::int64_t>(s.dims.begin(), s.dims.end())}};
}

json json_of(kg::dtype_set set) {
  json list = json::array();
  for (int t = 0; t < kg::dtype_count; ++t)
    if (set.has(static_cast<kg::dtype>(t))) list.push_back(kg::name_of(static_cast<kg::dtype>(t)));
  return list;
}

json json_of(const kg::attr_value& value) {
  switch (value.kind()) {
    case kg::attr_kind::absent: return nullptr;
    case kg::attr_kind::boolean: return value.as_bool();
    case kg::attr_kind::integer: return value.as_integer();
    case kg::attr_kind::number: return value.as_number();
    case kg::attr_kind::dtype: return kg::name_of(value.as_dtype());
    case kg::attr_kind::text: return value.as_text();
    case kg::attr_kind::numbers: return std::vector<double>(value.as_numbers().begin(), value.as_numbers().end());
    case kg::attr_kind::list: break;
  }
  return std::vector<std::int64_t>(value.as_list().begin(), value.as_list().end());
}

json json_of(const kg::explained_operand& o) {
  json given = json::array();
  for (const kg::explained_tensor& x : o.given) {
    json one = json_of(x.given);
    one["cast"] = x.cast ? json(kg::name_of(*x.cast)) : json();
    one["kept"] = kg::name_of(x.kept);
    given.push_back(std::move(one));
  }
  return {{"name", o.name},
          {"dtypes", json_of(o.types)},
          {"promoted", o.part == kg::role::value},
          {"optional", o.optional},
          {"list", o.list},
          {"given", std::move(given)},
          {"gradient", o.has_gradient},
          {"reason", o.constant_because}};
}

json json_of(const kg::explained_kernel& k) {
  return {{"backend", k.backend},
          {"priority", k.priority},
          {"active", k.active},
          {"alive", k.alive},
          {"origin", kg::name_of(k.origin)},
          {"dtypes", json_of(k.dtypes)},
          {"reference_dtypes", json_of(k.reference)},
          {"where", k.where},
          {"runs", k.runs},
          {"reason", k.why_not}};
}

json json_of(const kg::explained_attribute& a) {
  return {{"name", a.name},   {"kind", kg::name_of(a.kind)}, {"value", json_of(a.value)},
          {"given", a.given}, {"required", a.required},      {"doc", a.doc}};
}

template <class List>
json list_of(const List& items) {
  json list = json::array();
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

kg::explanation explained(const call_text& call) {
  if (call.operands.empty() && call.attrs.empty()) return kg::explain(call.op);
  std::vector<std::string> names;
  std::vector<kg::operand_signature> operands;
  names.reserve(call.operands.size() + call.attrs.size());  // the calls below hold views of them
  for (const std::string& text : call.operands) {
    auto [name, rest] = split(text);
    names.push_back(std::move(name));
    operands.push_back({names.back(), {signature_of(text, rest)}});
  }
  std::vector<kg::attribute_ref> attrs;
  const kg::op_row* row = kg::row_named(call.op);
  for (const std::string& text : call.attrs) {
    auto [name, rest] = split(text);
    if (name.empty()) throw usage_error(fmt::format("--attr {}: wanted NAME=VALUE, such as strides=[2,2]", text));
    names.push_back(std::move(name));
    attrs.emplace_back(names.back(), value_of(row, names.back(), rest));
  }
  return kg::explain(call.op, operands, attrs);
}

json json_of(const kg::explanation& told) {
  json results = json::array();
  for (const kg::explained_result& y : told.results) {
    results.push_back(json_of(y.made));
    results.back()["name"] = y.name;
    results.back()["at_most"] = y.at_most;
    results.back()["kept"] = kg::name_of(y.kept);
    results.back()["cast_from"] = y.cast_from ? json(kg::name_of(*y.cast_from)) : json();
  }
  json runs;
  if (told.runs)
    runs = {{"backend", told.runs->backend},
            {"kernel", told.runs->kernel},
            {"origin", kg::name_of(told.runs->origin)},
            {"code", told.runs->code}};
  json targets = json::array();
  for (const kg::compiled_target& t : told.targets)
    targets.push_back({{"name", t.name}, {"supported", t.supported}, {"active", t.active}});
  return {{"op", told.op},
          {"doc", told.doc},
          {"found", told.found},
          {"known", told.known},
          {"family", told.group ? json(kg::name_of(*told.group)) : json()},
          {"similar", told.similar},
          {"refusal", told.refusal},
          {"operands", list_of(told.operands)},
          {"attributes", list_of(told.attributes)},
          {"compute", told.compute ? json(kg::name_of(*told.compute)) : json()},
          {"results", std::move(results)},
          {"shares_elements", told.shares_elements},
          {"kernels", list_of(told.candidates)},
          {"runs", std::move(runs)},
          {"gradient",
           {{"origin", kg::name_of(told.gradient.origin)},
            {"where", told.gradient.where},
            {"reason", told.gradient.why_none},
            {"saved_bytes", told.gradient.saved_bytes}}},
          {"targets", std::move(targets)}};
}

}  // namespace tool
