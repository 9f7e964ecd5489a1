// SPDX-License-Identifier: Apache-2.0
// kerngrad: what the library has and what a call would do. Exit codes: 0 done, 1 an unbuilt-in op or name or a call
// that would be rejected, 2 a command line at fault.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tools/kerngrad/graph.h"
#include "tools/kerngrad/modules.h"
#include "tools/kerngrad/pages.h"
#include "tools/kerngrad/tool.h"

namespace {

using namespace tool;

constexpr const char* examples =
    "Examples:\n"
    "  kerngrad list --family window\n"
    "  kerngrad list --op '*Pool*' --dtype float32 --backend simd --json\n"
    "  kerngrad list --no-gradient\n"
    "  kerngrad explain Conv2D\n"
    "  kerngrad explain Conv2D --operand x=float32[1,28,28,3] --operand filter=float32[3,3,3,8] --attr pad=same\n"
    "  kerngrad explain AddN --operand tensors=float32[4] --operand tensors=float32[4] --json\n"
    "  kerngrad find torch.topk\n"
    "  kerngrad list --targets\n"
    "  kerngrad graph check model.json\n"
    "  kerngrad graph run model.json --input x=x.npy --output y.npy --threads 2 --profile\n"
    "  clang++ $(kerngrad modules --compiler clang++ -- -std=c++23) main.cc $(pkg-config --libs kerngrad)\n"
    "Exit codes: 0 done; 1 an unknown op or name, or a call that would be refused; 2 a command line at fault.";

struct arguments {
  selection wanted;
  bool with_gradient = false, without_gradient = false, targets = false, as_json = false, as_markdown = false;
  call_text call;
  std::string wanted_name;
  std::string checked_file, dtypes_file;
  modules_request modules{.compiler = KERNGRAD_COMPILER, .into = {}, .list = {}, .flags = {}};
  bool as_man_page = false;
  graph_request graph{};
};

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (int t = 0; t < kg::dtype_count; ++t) names.emplace_back(kg::name_of(static_cast<kg::dtype>(t)));
  return names;
}
std::vector<std::string> family_names() { return {std::begin(kg::family_names), std::end(kg::family_names)}; }
std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const kg::backend_info& b : kg::backends()) names.push_back(b.name);
  return names;
}
std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const kg::compiled_target& t : kg::compiled_simd_targets()) names.push_back(t.name);
  return names;
}

void add_list(CLI::App& app, arguments& given) {
  CLI::App* list = app.add_subcommand("list", "The coverage: op, backend, dtype, SIMD target, gradient");
  list->add_option("--op", given.wanted.op, "names that fit PATTERN; * is any text, ? any letter")
      ->type_name("PATTERN");
  list->add_option("--backend", given.wanted.backend, "of one backend")->check(CLI::IsMember(backend_names()));
  list->add_option("--dtype", given.wanted.dtype, "for one dtype")->check(CLI::IsMember(dtype_names()));
  list->add_option("--target", given.wanted.target, "of one SIMD target")->check(CLI::IsMember(target_names()));
  list->add_option("--family", given.wanted.family, "of one family of ops")->check(CLI::IsMember(family_names()));
  CLI::Option* with = list->add_flag("--gradient", given.with_gradient, "only what a gradient flows through");
  list->add_flag("--no-gradient", given.without_gradient, "only what none flows through")->excludes(with);
  CLI::Option* as_json = list->add_flag("--json", given.as_json, "an array of rows");
  CLI::Option* as_markdown = list->add_flag("--markdown", given.as_markdown, "a table")->excludes(as_json);
  list->add_flag("--targets", given.targets, "instead: the SIMD targets, and what this CPU lacks for them")
      ->excludes(as_markdown);
}

void add_modules(CLI::App& app, modules_request& wanted) {
  CLI::App* modules = app.add_subcommand("modules", "Compiles the interfaces for a compiler and prints the flags");
  modules->add_option("--compiler", wanted.compiler, "the command of a C++ compiler")
      ->envname("CXX")
      ->capture_default_str()
      ->type_name("CXX");
  modules->add_option("--into", wanted.into, "a folder for them, in place of ~/.cache/kerngrad")->type_name("DIR");
  modules->add_option("--list", wanted.list, "libkerngrad.modules.json of another library")->type_name("FILE");
  modules->add_option("FLAGS", wanted.flags, "after --: the program's flags of the dialect, such as -std=c++23");
}

void add_graph(CLI::App& app, graph_request& wanted) {
  CLI::App* graph = app.add_subcommand("graph", "Graph models of TensorFlow.js");
  graph->require_subcommand(1);
  graph->add_subcommand("ops", "The graph ops that are known, and what runs each");
  CLI::App* check = graph->add_subcommand("check", "Show inputs, outputs, ops and missing ops of a model");
  check->add_option("MODEL", wanted.model, "model.json")->required();
  check->add_flag("--json", wanted.as_json, "as an object");
  CLI::App* run = graph->add_subcommand("run", "Runs a model on tensors in files");
  run->add_option("MODEL", wanted.model, "model.json")->required();
  run->add_option("--input", wanted.inputs, "an input and a file of one tensor: .npy, .csv, a picture")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  run->add_flag("--fill", wanted.fills, "inputs that are not given have random elements, the same each time");
  run->add_option("--output", wanted.outputs, "an output and the file that it is written to")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  run->add_option("--threads", wanted.threads, "threads for each call; 0: one for each CPU")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  run->add_option("--repeat", wanted.repeat, "runs that are timed")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  run->add_flag("--profile", wanted.profiles, "times by op and by node");
  run->add_option("--trace", wanted.trace, "a trace for chrome://tracing or Perfetto")->type_name("FILE");
  run->add_option("--dot", wanted.dot, "the steps of the plan in Graphviz's language")->type_name("FILE");
  for (CLI::App* loads : {check, run})
    loads->add_option("--most-bytes", wanted.most_bytes, "the memory that the model's weights and constants may take")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

/// The lines of the footer stay lines: CLI11 2.5 and newer would make paragraphs of them.
template <class App>
void set_footer(App& app, std::string text) {
  app.footer(std::move(text));
  if constexpr (requires { app.get_formatter()->enable_footer_formatting(false); })
    app.get_formatter()->enable_footer_formatting(false);
}

void add_commands(CLI::App& app, arguments& given) {
  app.set_version_flag("--version", "kerngrad " KERNGRAD_VERSION);
  set_footer(app, examples);
  app.require_subcommand(1);
  add_list(app, given);
  CLI::App* explain = app.add_subcommand("explain", "Explain a call by name without running it");
  explain->add_option("OP", given.call.op, "name of an op")->required();
  explain
      ->add_option("--operand", given.call.operands,
                   "an operand, such as x=float32[2,3]; of a list, one for each tensor")
      ->type_name("NAME=DTYPE[SIZES]")
      ->allow_extra_args(false);
  explain->add_option("--attr", given.call.attrs, "an attribute, such as strides=[2,2]")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  explain->add_flag("--json", given.as_json, "as an object");
  CLI::App* find = app.add_subcommand("find", "Find the function for a name of kerngrad or another library");
  find->add_option("NAME", given.wanted_name, "a function, a type, an op; torch.topk, np.einsum, tf.conv2d")
      ->required();
  find->add_flag("--json", given.as_json, "as an object");
  add_modules(app, given.modules);
  add_graph(app, given.graph);
  // For the build, which installs what they write.
  app.add_subcommand("pages", "This program's man page, or its completion for Bash")
      ->group("")
      ->add_flag("--man", given.as_man_page, "the man page");
  CLI::App* docs = app.add_subcommand("docs", "docs/ops.md, made from the rows");
  CLI::Option* check =
      docs->add_option("--check", given.checked_file, "write nothing, and fail when FILE is something else")
          ->type_name("FILE");
  docs->add_flag("--json", given.as_json, "the rows as an array")->excludes(check);
  docs->add_option("--dtypes", given.dtypes_file, "docs/dtypes.md, which is FILE, with its table made from the rows")
      ->type_name("FILE");
}

int list(const arguments& given) {
  if (given.targets) {
    write_out(targets_page(given.as_json));
    return done;
  }
  selection wanted = given.wanted;
  if (given.with_gradient || given.without_gradient) wanted.gradient = given.with_gradient;
  write_out(list_page(wanted, given.as_json ? format::json : given.as_markdown ? format::markdown : format::text));
  return done;
}

int explain(const arguments& given) {
  const kg::explanation told = explained(given.call);
  if (!told.found && !given.as_json) throw refusal(told.refusal);
  write_out(given.as_json ? text_of(json_of(told)) : to_string(told));
  return told.refusal.empty() ? done : refused;
}

int find(const arguments& given) {
  const answer told = found(given.wanted_name);
  write_out(find_page(told, given.as_json));
  return told.is_offered ? done : refused;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int docs(const arguments& given) {
  const std::string wanted = given.as_json               ? rows_page()
                             : given.dtypes_file.empty() ? docs_page()
                                                         : dtypes_page(text_of(given.dtypes_file));
  if (given.checked_file.empty()) {
    write_out(wanted);
    return done;
  }
  if (text_of(given.checked_file) == wanted) return done;
  throw refusal(given.checked_file + " is not what the rows say: write it again with `./dev docs`");
}

int modules(const arguments& given) {
  write_out(fmt::format("{}\n", fmt::join(module_flags(given.modules), " ")));
  return done;
}

int pages(const CLI::App& app, const arguments& given) {
  write_out(given.as_man_page ? man_page(app) : completion(app));
  return done;
}

int graph(const CLI::App& command, const graph_request& wanted) {
  if (command.got_subcommand("check")) return graph_check(wanted);
  if (command.got_subcommand("run")) return graph_run(wanted);
  write_out(graph_ops_page());
  return done;
}

int run(const CLI::App& app, const arguments& given) {
  if (app.got_subcommand("list")) return list(given);
  if (app.got_subcommand("explain")) return explain(given);
  if (app.got_subcommand("find")) return find(given);
  if (app.got_subcommand("docs")) return docs(given);
  if (app.got_subcommand("modules")) return modules(given);
  if (app.got_subcommand("graph")) return graph(*app.get_subcommand("graph"), given.graph);
  return pages(app, given);
}

int fault(int code, const char* text) {
  fmt::print(stderr, "kerngrad: {}\n", shown(text));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away ends the output, not the program
  arguments given;
  CLI::App app("Lists ops and kernels, explains calls, and runs graph models.", "kerngrad");
  add_commands(app, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? done : usage;
  }
  try {
    return run(app, given);
  } catch (const usage_error& e) {
    return fault(usage, e.what());
  } catch (const kg::error& e) {  // a shape or an attribute that cannot be
    return fault(usage, e.what());
  } catch (const std::exception& e) {
    return fault(refused, e.what());
  }
}
