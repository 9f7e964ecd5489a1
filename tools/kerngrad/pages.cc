// SPDX-License-Identifier: Apache-2.0
#include "tools/kerngrad/pages.h"

#include <fmt/format.h>

namespace tool {
namespace {

/// Text in roff: a minus is not a hyphen, and a line must not start with a dot.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '\\' || c == '-') made += '\\';
    if ((c == '.' || c == '\'') && (made.empty() || made.back() == '\n')) made += "\\&";
    made += c;
  }
  return made;
}

bool is_shown(const CLI::App* command) { return !command->get_group().empty(); }

std::string options_in_roff(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const bool positional = option->get_positional();
    const std::string value = positional || option->get_items_expected_max() == 0 ? "" : " " + option->get_type_name();
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(option->get_name(positional, true) + value),
                        escaped(option->get_description()));
  }
  return text;
}

std::string option_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words += (words.empty() ? "--" : " --") + name;
  return words;
}

// A section for each command, and for those of a command that has some.
std::string sections(const CLI::App& app, const std::string& before) {
  std::string page;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!is_shown(command)) continue;
    const std::string name = before + " " + command->get_name();
    page += fmt::format(".SH \"{}\"\n{}.\n{}", name, escaped(command->get_description()), options_in_roff(*command));
    page += sections(*command, name);
  }
  return page;
}

// Words that may follow a command: its own commands and their options.
std::string words_after(const CLI::App& command) {
  std::string words = option_words(command);
  for (const CLI::App* inner : command.get_subcommands({}))
    words += " " + inner->get_name() + " " + option_words(*inner);
  return words;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH KERNGRAD 1 \"\" \"kerngrad {0}\" \"User Commands\"\n.SH NAME\nkerngrad \\- {1}\n"
      ".SH SYNOPSIS\n.B kerngrad\nCOMMAND [OPTIONS]\n.SH OPTIONS\n{2}",
      KERNGRAD_VERSION, escaped(app.get_description()), options_in_roff(app));
  page += sections(app, "kerngrad");
  return page + ".SH NOTES\n.nf\n" + escaped(app.get_footer()) + "\n.fi\n";
}

std::string completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!is_shown(command)) continue;
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), words_after(*command));
  }
  return fmt::format(
      "_kerngrad() {{\n  local words='{}{}'\n  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  ((COMP_CWORD == 1)) && words='{}{}'\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n}}\n"
      "complete -o default -F _kerngrad kerngrad\n",
      commands, option_words(app), cases, commands, option_words(app));
}

}  // namespace tool
