// SPDX-License-Identifier: Apache-2.0
// A name in our words or another library's, and what there is for it here.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <utility>

#include "known_names.h"
#include "modules/typed_names.h"
#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

using kerngrad::detail::typed_name;
using kerngrad::detail::typed_names;

constexpr std::size_t most_near = 8;
constexpr double least_likeness = 0.6;
constexpr double below_functions = 0.05;  // a member that is as near as a function is less often meant

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Letters and digits in lower case: top_k, topk and TopK are one.
std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name)
    if (is_letter(c)) key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

/// The parts of a name that mean something: "kg::in_top_k" has in, top and k, "maxPool2d" max and pool2d.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && std::isupper(static_cast<unsigned char>(name[i])) != 0 &&
                        std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (!is_letter(name[i]) || begins) parts.emplace_back();
    if (is_letter(name[i])) parts.back() += key_of(name.substr(i, 1));
  }
  std::erase(parts, "");
  return parts;
}

/// True if a name is what is looked for, whole or without the namespaces before it.
bool is_called(std::string_view name, const std::string& key) {
  if (key_of(name) == key) return true;
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((name[i] == '.' || name[i] == ':') && key_of(name.substr(i)) == key) return true;
  return false;
}

/// As the dictionary writes it: F.relu for torch.nn.functional.relu, exp for kg::exp.
std::string as_written(std::string name) {
  for (const std::string_view ours : {"kg::", "kerngrad::"})
    if (name.starts_with(ours)) return name.substr(ours.size());
  for (const abbreviation& a : abbreviations)
    if (name.starts_with(a.whole)) return std::string(a.brief) + name.substr(a.whole.size());
  return name;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
  }
  return words;
}

// ------------------------------------------------------------------------------------------ what fits

const known_name* known(std::string_view name) {
  const auto* at = std::ranges::find(known_names, name, &known_name::name);
  return at == std::end(known_names) ? nullptr : at;
}

const kg::op_row* row_of(std::string_view function) {
  for (const typed_name& typed : typed_names)
    if ("kg::" + std::string(typed.function) == function) return kg::row_named(typed.op);
  return nullptr;
}

std::string typed_name_of(std::string_view op) {
  for (const typed_name& typed : typed_names)
    if (typed.op == op) return "kg::" + std::string(typed.function);
  return {};
}

/// The last part of a name: top_k of kg::top_k.
std::string_view last_of(std::string_view name) { return name.substr(name.rfind(':') + 1); }

/// Description of one of our names: its op's row if its own unit has none.
found_name described(const std::string& name) {
  found_name made{.name = name};
  if (const known_name* ours = known(name)) {
    made.doc = ours->doc;
    made.signatures = std::string(ours->signatures);
    made.page = std::string(ours->page);
  }
  if (const kg::op_row* row = row_of(name)) {
    made.op = row->name;
    if (made.doc.empty()) made.doc = row->doc;
  }
  for (const foreign_names& entry : dictionary)
    if (entry.name == name) {
      if (made.example.empty()) made.example = entry.ours;
      for (std::string& theirs : words_of(entry.theirs)) made.elsewhere.push_back(std::move(theirs));
    }
  return made;
}

void add_once(std::vector<found_name>& found, found_name one) {
  const bool there = std::ranges::any_of(
      found, [&](const found_name& f) { return f.name == one.name && (one.name != "" || f.example == one.example); });
  if (!there) found.push_back(std::move(one));
}

/// Result type of a function, by the first of its signatures: `tensor_part` of `tensor_part at(...) const&;`.
std::string result_of(const known_name& function) {
  const std::string_view name = function.name.substr(function.name.rfind(':') + 1);
  const std::size_t end = function.signatures.find(fmt::format(" {}(", name));
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  while (begin > 0 && (is_letter(function.signatures[begin - 1]) || function.signatures[begin - 1] == '_')) --begin;
  return std::string(function.signatures.substr(begin, end - begin));
}

/// `at().set`: the members of that name that what the function gives has.
void add_members_of_results(std::vector<found_name>& found, std::string_view wanted) {
  const std::size_t open = wanted.find('('), member = wanted.rfind(").");
  if (open == std::string_view::npos || member == std::string_view::npos) return;
  const std::string function = key_of(wanted.substr(0, open));
  for (const known_name& ours : known_names) {
    if (!is_called(ours.name, function)) continue;
    const std::string whole = key_of(fmt::format("kg::{}::{}", result_of(ours), wanted.substr(member + 2)));
    for (const known_name& other : known_names)
      if (other.is_member && key_of(other.name) == whole) add_once(found, described(std::string(other.name)));
  }
}

/// The members of a type or of a namespace: constructors, then the others in the order of their names.
std::vector<found_name> members_of(const std::string& name) {
  const std::string head = name + "::";
  std::vector<found_name> members;
  for (const known_name& ours : known_names)
    if (ours.name.starts_with(head) && ours.name.find("::", head.size()) == std::string_view::npos)
      members.push_back(described(std::string(ours.name)));
  std::ranges::sort(members, {},
                    [&](const found_name& m) { return std::pair(last_of(m.name) != last_of(name), m.name); });
  return members;
}

/// Namespaces are no exports themselves; kg::keep is there because kg::keep::in0 is.
void add_namespaces(std::vector<found_name>& found, const std::string& key) {
  for (const known_name& ours : known_names) {
    const std::size_t end = ours.name.rfind("::");
    const std::string_view outer = ours.name.substr(0, end);
    if (outer != "kg" && !ours.is_member && is_called(outer, key))
      add_once(found, {.name = std::string(outer), .doc = "A namespace."});
  }
}

void add_ours(std::vector<found_name>& found, const std::string& key) {
  for (const known_name& ours : known_names)
    if (is_called(ours.name, key)) add_once(found, described(std::string(ours.name)));
  for (const kg::op_row& row : kg::op_table) {
    if (key_of(row.name) != key) continue;
    const std::string typed = typed_name_of(row.name);
    found_name one = typed.empty() ? found_name{.name = fmt::format("kg::call<\"{}\">", row.name)} : described(typed);
    one.op = row.name;
    if (one.doc.empty()) one.doc = row.doc;
    add_once(found, std::move(one));
  }
  add_namespaces(found, key);
  // kg::top_k is meant, and not the shape rule of that name.
  const auto depth = [](const found_name& f) { return std::ranges::count(f.name, ':'); };
  std::ranges::sort(found, {}, [&](const found_name& f) { return std::pair(depth(f), f.name); });
  if (!found.empty())
    std::erase_if(found, [&, least = depth(found.front())](const found_name& f) { return depth(f) > least; });
}

void add_foreign(std::vector<found_name>& found, const std::string& key) {
  for (const foreign_names& entry : dictionary) {
    const std::vector<std::string> theirs = words_of(entry.theirs);
    if (std::ranges::none_of(theirs, [&](const std::string& name) { return is_called(name, key); })) continue;
    found_name one{};
    if (!entry.name.empty()) one = described(std::string(entry.name));
    one.elsewhere = theirs;
    one.note = entry.note;
    one.offered = entry.ours != "-";
    if (one.offered) one.example = entry.ours;
    add_once(found, std::move(one));
  }
}

// ------------------------------------------------------------------------------------------ what is near

/// How many letters have to be put in, taken out or changed.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = before + (a[i] != b[j]);
      before = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// 1 for the same letters, less for each that differs; between names of one letter nothing is alike.
double likeness(std::string_view a, std::string_view b) {
  const std::size_t longer = std::max(a.size(), b.size());
  return longer < 2 ? 0 : 1 - static_cast<double>(distance(a, b)) / static_cast<double>(longer);
}

double shared(std::span<const std::string> wanted, std::span<const std::string> there) {
  const auto has = [&](const std::string& part) { return std::ranges::count(there, part) > 0; };
  return wanted.empty() ? 0
                        : static_cast<double>(std::ranges::count_if(wanted, has)) / static_cast<double>(wanted.size());
}

/// How near one of our names is to what is looked for, by its letters, by its parts or by what is said of it.
double nearness(std::string_view wanted, std::string_view name, std::string_view doc) {
  const std::string key = key_of(wanted), last = key_of(name.substr(name.rfind(':') + 1)),
                    whole = key_of(name.substr(name.find(':')));
  const std::vector<std::string> parts = parts_of(wanted), there = parts_of(name), said = parts_of(doc);
  const bool holds = key.size() > 2 && last.find(key) != std::string::npos;
  const double by_parts = std::min(shared(parts, there), shared(there, parts) + 0.5);
  return std::max(
      {likeness(key, last), likeness(key, whole), holds ? 0.7 : 0, 0.9 * by_parts, 0.65 * shared(parts, said)});
}

std::vector<found_name> near(std::string_view wanted) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const known_name& ours : known_names) {
    if (std::ranges::count(ours.name, ':') > 2 && !ours.is_member) continue;
    if (ours.is_member && ours.name.ends_with(fmt::format("{0}::{0}", last_of(ours.name)))) continue;  // constructors
    const kg::op_row* row = row_of(ours.name);
    const double likeness = nearness(wanted, ours.name, row && ours.doc.empty() ? row->doc : ours.doc);
    if (likeness < least_likeness) continue;
    ranked.emplace_back(ours.is_member ? below_functions - likeness : -likeness, ours.name);
  }
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), most_near));
  std::vector<found_name> found;
  for (const auto& [rank, name] : ranked) found.push_back(described(name));
  return found;
}

// ------------------------------------------------------------------------------------------ pages

json json_of(const found_name& f) {
  json made = {{"name", f.name},       {"doc", f.doc},   {"signatures", f.signatures}, {"op", f.op},
               {"example", f.example}, {"note", f.note}, {"elsewhere", f.elsewhere},   {"offered", f.offered},
               {"page", f.page}};
  for (const found_name& member : f.members)
    made["members"].push_back({{"name", member.name}, {"doc", member.doc}, {"signatures", member.signatures}});
  return made;
}

json list_of(const std::vector<found_name>& names) {
  json list = json::array();
  for (const found_name& f : names) list.push_back(json_of(f));
  return list;
}

std::string indented(std::string_view lines, std::string_view by) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += fmt::format("{}{}\n", by, lines.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string text_of(const found_name& f) {
  std::string text = (!f.offered ? "not offered" : f.name.empty() ? f.example : f.name) + "\n";
  const auto add = [&](std::string_view head, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<11}{}\n", head, value);
  };
  if (!f.doc.empty()) text += fmt::format("  {}\n", f.doc);
  text += indented(f.signatures, "  ");
  if (!f.members.empty()) text += "  members\n";
  std::string_view before;
  for (const found_name& member : f.members) {
    if (before == member.signatures) continue;  // of one declaration: `tensor mean, variance;`
    before = member.signatures;
    text += indented(member.signatures, "    ");
    if (!member.doc.empty()) text += fmt::format("      {}\n", member.doc);
  }
  add("example", f.name.empty() ? "" : f.example);
  add("note", f.note);
  add("op", f.op.empty() ? "" : fmt::format("{}: kerngrad explain {}", f.op, f.op));
  std::string elsewhere;
  for (const std::string& theirs : f.elsewhere) elsewhere += (elsewhere.empty() ? "" : ", ") + theirs;
  add("elsewhere", elsewhere);
  add("page", f.page);
  return text;
}

}  // namespace

answer found(const std::string& wanted) {
  const std::string key = key_of(as_written(wanted));
  if (key.empty()) throw usage_error(fmt::format("find \"{}\": wanted a name with letters", wanted));
  answer made{.wanted = wanted};
  add_ours(made.names, key);
  add_members_of_results(made.names, wanted);
  add_foreign(made.names, key);
  for (found_name& f : made.names)
    if (!f.name.empty()) f.members = members_of(f.name);
  made.is_offered = std::ranges::any_of(made.names, &found_name::offered);
  if (made.names.empty()) made.near = near(as_written(wanted));
  return made;
}

std::string find_page(const answer& a, bool as_json) {
  if (as_json) return text_of(json({{"wanted", a.wanted}, {"found", list_of(a.names)}, {"near", list_of(a.near)}}));
  std::string text;
  for (const found_name& f : a.names) text += (text.empty() ? "" : "\n") + text_of(f);
  if (!a.names.empty()) return text;
  text = fmt::format("nothing is called \"{}\"{}\n", shown(a.wanted), a.near.empty() ? "" : "; near are");
  for (const found_name& f : a.near)
    text +=
        fmt::format("  {:<28} {}\n", f.name, f.doc.empty() ? f.signatures.substr(0, f.signatures.find('\n')) : f.doc);
  return text;
}

}  // namespace tool
