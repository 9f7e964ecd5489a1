// SPDX-License-Identifier: Apache-2.0
// kerngrad: lists kernels, explains calls, finds names, runs models. Exit codes: 0 done, 1 an unknown op or name or
// a call that would throw, 2 a bad command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
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
    "Exit codes: 0 success; 1 unknown op or name, or a call that would throw; 2 bad command line.";

struct arguments {
  selection wanted;
  bool with_gradient = false, without_gradient = false, targets = false, as_json = false, as_markdown = false;
  call_text call;
  std::string wanted_name;
  std::string page, written_folder, checked_file, dtypes_file;
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
  CLI::App* list = app.add_subcommand("list", "List kernels: op, backend, dtype, SIMD target, gradient");
  list->add_option("--op", given.wanted.op, "Only ops that match PATTERN; * is any text, ? any letter")
      ->type_name("PATTERN");
  list->add_option("--backend", given.wanted.backend, "Only kernels of this backend")
      ->check(CLI::IsMember(backend_names()));
  list->add_option("--dtype", given.wanted.dtype, "Only kernels for this dtype")->check(CLI::IsMember(dtype_names()));
  list->add_option("--target", given.wanted.target, "Only kernels of this SIMD target")
      ->check(CLI::IsMember(target_names()));
  list->add_option("--family", given.wanted.family, "Only ops of this family")->check(CLI::IsMember(family_names()));
  CLI::Option* with = list->add_flag("--gradient", given.with_gradient, "Only kernels with a gradient");
  list->add_flag("--no-gradient", given.without_gradient, "Only kernels without a gradient")->excludes(with);
  CLI::Option* as_json = list->add_flag("--json", given.as_json, "Print a JSON array");
  CLI::Option* as_markdown =
      list->add_flag("--markdown", given.as_markdown, "Print a Markdown table")->excludes(as_json);
  list->add_flag("--targets", given.targets, "List SIMD targets and the features that this CPU lacks for them")
      ->excludes(as_markdown);
}

void add_modules(CLI::App& app, modules_request& wanted) {
  CLI::App* modules = app.add_subcommand("modules", "Compile the interfaces for a compiler and print the flags");
  modules->add_option("--compiler", wanted.compiler, "Command of the C++ compiler")
      ->envname("CXX")
      ->capture_default_str()
      ->type_name("CXX");
  modules->add_option("--into", wanted.into, "Folder of the compiled interfaces, in place of ~/.cache/kerngrad")
      ->type_name("DIR");
  modules->add_option("--list", wanted.list, "The libkerngrad.modules.json of another library")->type_name("FILE");
  modules->add_option("FLAGS", wanted.flags, "After --: the program's dialect flags, such as -std=c++23");
}

void add_graph(CLI::App& app, graph_request& wanted) {
  CLI::App* graph = app.add_subcommand("graph", "Check and run graph models of TensorFlow.js");
  graph->require_subcommand(1);
  graph->add_subcommand("ops", "List the graph ops and the kernel that runs each");
  CLI::App* check = graph->add_subcommand("check", "Show inputs, outputs, ops and missing ops of a model");
  check->add_option("MODEL", wanted.model, "model.json")->required();
  check->add_flag("--json", wanted.as_json, "Print a JSON object");
  CLI::App* run = graph->add_subcommand("run", "Run a model on tensors in files");
  run->add_option("MODEL", wanted.model, "model.json")->required();
  run->add_option("--input", wanted.inputs, "An input and a file of one tensor: .npy, .csv, an image")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  run->add_flag("--fill", wanted.fills, "Fill other inputs with random numbers, the same in each run");
  run->add_option("--output", wanted.outputs, "An output and the file to write it to")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  run->add_option("--threads", wanted.threads, "Threads for each call; 0: one for each CPU")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  run->add_option("--repeat", wanted.repeat, "Number of timed runs")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  run->add_flag("--profile", wanted.profiles, "Print times by op and by node");
  run->add_option("--trace", wanted.trace, "Write a trace for chrome://tracing or Perfetto")->type_name("FILE");
  run->add_option("--dot", wanted.dot, "Write the steps of the plan for Graphviz")->type_name("FILE");
  for (CLI::App* loads : {check, run})
    loads->add_option("--most-bytes", wanted.most_bytes, "Memory limit of the model's weights and constants")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

void add_docs(CLI::App& app, arguments& given) {
  CLI::App* docs = app.add_subcommand("docs", "Print docs/ops.md, or write all pages of ops, from the op table");
  CLI::Option* page = docs->add_option("--page", given.page, "Print this page of docs/ops: a family, or bounds")
                          ->check(CLI::IsMember(ops_pages()));
  CLI::Option* write = docs->add_option("--write", given.written_folder, "Write DIR/ops.md and all pages of DIR/ops")
                           ->type_name("DIR")
                           ->excludes(page);
  CLI::Option* check = docs->add_option("--check", given.checked_file,
                                        "Write nothing. Fail if FILE or a page in its folder ops is stale")
                           ->type_name("FILE")
                           ->excludes(page)
                           ->excludes(write);
  docs->add_flag("--json", given.as_json, "Print the op table as a JSON array")->excludes(check)->excludes(page);
  docs->add_option("--dtypes", given.dtypes_file, "Print FILE, docs/dtypes.md, with a new table of result dtypes")
      ->type_name("FILE")
      ->excludes(page)
      ->excludes(write);
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
  explain->add_option("OP", given.call.op, "Name of an op")->required();
  explain
      ->add_option("--operand", given.call.operands,
                   "An operand, such as x=float32[2,3]; for a list, one for each tensor")
      ->type_name("NAME=DTYPE[SIZES]")
      ->allow_extra_args(false);
  explain->add_option("--attr", given.call.attrs, "An attribute, such as strides=[2,2]")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  explain->add_flag("--json", given.as_json, "Print a JSON object");
  CLI::App* find = app.add_subcommand("find", "Find the function for a name of kerngrad or another library");
  find->add_option("NAME", given.wanted_name, "A function, type or op; or torch.topk, np.einsum, tf.conv2d")
      ->required();
  find->add_flag("--json", given.as_json, "Print a JSON object");
  add_modules(app, given.modules);
  add_graph(app, given.graph);
  // For the build, which installs what they write.
  app.add_subcommand("pages", "Print the man page, or the completion for Bash")
      ->group("")
      ->add_flag("--man", given.as_man_page, "Print the man page");
  add_docs(app, given);
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

void require_fresh(const std::filesystem::path& file, const std::string& wanted) {
  if (text_of(file.string()) != wanted) throw refusal(file.string() + " is stale: write it again with `./dev docs`");
}

// docs/ops.md and the pages in the folder next to it, which has no others.
int check_ops(const std::filesystem::path& index) {
  require_fresh(index, ops_page(""));
  const std::filesystem::path folder = index.parent_path() / "ops";
  const std::vector<std::string> names = ops_pages();
  for (const std::string& name : names) require_fresh(folder / (name + ".md"), ops_page(name));
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::ranges::find(names, entry.path().stem().string()) == names.end())
      throw refusal(entry.path().string() + " is the page of no family: remove it");
  return done;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw refusal(path.string() + " cannot be written");
}

int write_ops(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "ops");
  write_file(folder / "ops.md", ops_page(""));
  for (const std::string& name : ops_pages()) write_file(folder / "ops" / (name + ".md"), ops_page(name));
  return done;
}

int docs(const arguments& given) {
  if (!given.written_folder.empty()) return write_ops(given.written_folder);
  if (!given.checked_file.empty() && given.dtypes_file.empty()) return check_ops(given.checked_file);
  const std::string wanted = given.as_json               ? rows_page()
                             : given.dtypes_file.empty() ? ops_page(given.page)
                                                         : dtypes_page(text_of(given.dtypes_file));
  if (given.checked_file.empty()) write_out(wanted);
  else require_fresh(given.checked_file, wanted);
  return done;
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
