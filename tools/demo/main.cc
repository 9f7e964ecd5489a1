// SPDX-License-Identifier: Apache-2.0
// kerngrad-demo: trains a network on Fashion-MNIST. Exit code 2 when an option, a data file or a file of weights is at
// fault, 1 for anything else that goes wrong; either way one line on stderr says what.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "display.h"
#include "failure.h"
#include "files.h"
#include "idx.h"
#include "kernels/common/targets.h"
#include "options.h"
#include "report.h"
#include "safetensors.h"
#include "train.h"  // network.h too: of headers that import, one can be the last
import kerngrad;

namespace demo {
namespace {

// The best supported target that is not better than the one named, which need not be supported itself.
void cap_target(const std::string& name) {
  if (name.empty()) return;
  kg::kernels::target compiled[64];
  const int count = kg::kernels::compiled_targets(compiled, 64);
  const std::vector<kg::simd_target> supported = kg::simd_targets();
  std::string names;
  bool reached = false;
  for (int i = 0; i < count; ++i) {  // best first
    names += fmt::format("{}{}", i ? ", " : "", compiled[i].name);
    reached = reached || name == compiled[i].name;
    const auto same = [&](const kg::simd_target& t) { return t.name == compiled[i].name; };
    if (reached && std::any_of(supported.begin(), supported.end(), same)) return kg::set_simd_target(compiled[i].name);
  }
  throw bad_input(reached ? fmt::format("--target {}: this CPU has no target that is not better", name)
                          : fmt::format("--target {}: no such target in this build; it has {}", name, names));
}

void describe_run(const options& chosen, const network& net, const trainer& training, const dataset& test) {
  std::string others;
  for (const kg::simd_target& target : kg::simd_targets()) others += (others.empty() ? "" : ", ") + target.name;
  fmt::print("kerngrad on {} (this build and CPU: {})\n", kg::active_simd_target(), others);
  fmt::print("{}; {} parameters\n", net.describe(), net.parameter_count());
  fmt::print("SquaredRelu is no op of the library: the demo registers its kernel and gradient and calls it by name\n");
  fmt::print("Fashion-MNIST: {} test images", test.count());
  if (chosen.epochs > 0)
    fmt::print(", {} training images in batches of {}; Adam 1e-3, seed {}\n", training.images_per_epoch(), chosen.batch,
               chosen.seed);
  fmt::print("\n");
  std::fflush(stdout);
}

// Checks before a long run that its outputs can be written.
void check_outputs(const options& chosen) {
  for (const std::string& path : {chosen.save, chosen.report})
    if (!path.empty()) check_writable(path);
  if (!chosen.save.empty() &&
      std::filesystem::path(chosen.save).lexically_normal() == std::filesystem::path(chosen.report).lexically_normal())
    throw bad_input(chosen.report + ": --save and --report name the same file");
}

void write_report(const options& chosen, const network& net, const trainer& training, const image_set& test,
                  run_record& record) {
  record.facts = {{"Network", net.describe()},
                  {"Parameters", fmt::format("{}", net.parameter_count())},
                  {"Test images", fmt::format("{}", test.count())},
                  {"SIMD target", kg::active_simd_target()}};
  if (!chosen.load.empty()) record.facts.emplace_back("Weights from", chosen.load);
  if (chosen.epochs > 0)
    record.facts.emplace_back(
        "Training", fmt::format("{} epoch{} of {} images in batches of {}, Adam 1e-3, seed {}", chosen.epochs,
                                chosen.epochs == 1 ? "" : "s", training.images_per_epoch(), chosen.batch, chosen.seed));
  const kg::tensor filters = net.filters();
  record.filters.side = static_cast<int>(filters.dims()[1]);
  record.filters.values.assign(filters.data<float>().begin(), filters.data<float>().end());
  const std::string page = report_page(record, test);
  replace_file(chosen.report, std::array{std::string_view(page)});
}

void run(const options& chosen) {
  cap_target(chosen.target);
  kg::set_num_threads(chosen.threads);
  const image_set train_set = read_images(chosen.data, "train", chosen.limit);
  const image_set test_set = read_images(chosen.data, "t10k", chosen.limit);
  if (chosen.epochs > 0 && chosen.batch > train_set.count())
    throw bad_input(fmt::format("--batch {}: there are only {} training images", chosen.batch, train_set.count()));
  check_outputs(chosen);
  register_squared_relu();
  const network net(chosen.model, chosen.seed);
  if (!chosen.load.empty()) net.take(load_safetensors(chosen.load), chosen.load);
  const dataset train_data(train_set), test_data(test_set);
  trainer training(net, train_data, chosen.batch, chosen.seed, chosen.ranks);
  // Rank 0 alone shows progress, evaluates and writes files.
  const bool shows = training.rank() == 0;
  if (!shows && !std::freopen("/dev/null", "w", stdout)) throw std::runtime_error("/dev/null cannot be written");
  if (!chosen.checkpoint.empty()) training.write_checkpoints(chosen.checkpoint, chosen.every);
  const int first_epoch = chosen.resume ? training.resume(chosen.checkpoint) : 1;
  describe_run(chosen, net, training, test_data);

  run_record record;
  for (int epoch = first_epoch; epoch <= chosen.epochs; ++epoch) {
    progress shown(epoch, chosen.epochs, training.images_per_epoch());
    const double loss = training.run_epoch(epoch, [&](std::int64_t seen, double last, double mean) {
      record.step_losses.push_back(last);
      shown.step(seen, mean);
    });
    shown.stop();
    if (!shows) continue;
    record.test = predict(net, test_data);
    record.epochs.push_back({loss, accuracy(test_set, record.test.classes)});
    shown.finish(loss, record.epochs.back().accuracy);
  }
  if (!shows) return;
  const std::vector<std::uint8_t>& predicted = record.test.classes;
  if (predicted.empty()) record.test = predict(net, test_data);
  if (!chosen.save.empty()) save_safetensors(chosen.save, net.weights());
  if (!chosen.report.empty()) write_report(chosen, net, training, test_set, record);
  if (!chosen.export_to.empty()) net.export_to(chosen.export_to);
  show_tables(test_set, predicted);
  show_samples(test_set, predicted);
  fmt::print("\ntest accuracy: {:.4f}\n", accuracy(test_set, predicted));
  if (std::fflush(stdout) != 0) throw std::runtime_error("the output cannot be written");
}

// Messages quote what files and users say: what would break the line or the terminal is replaced.
int failed(const char* what, int code) {
  std::string line = what;
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::fflush(stdout);
  std::fprintf(stderr, "kerngrad-demo: %s\n", line.c_str());
  return code;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const std::optional<demo::options> chosen = demo::read_command_line(argc, argv, exit_code);
    if (!chosen) return exit_code;
    demo::run(*chosen);
    return 0;
  } catch (const demo::bad_input& e) {
    return demo::failed(e.what(), 2);
  } catch (const std::bad_alloc&) {
    return demo::failed("out of memory", 1);
  } catch (const std::exception& e) {
    return demo::failed(e.what(), 1);
  } catch (...) {
    return demo::failed("an unknown error", 1);
  }
}
