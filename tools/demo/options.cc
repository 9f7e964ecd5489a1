// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <limits>
#include <string>

#include "tools/whole_number.h"

namespace demo {

std::optional<options> read_command_line(int argc, const char* const* argv, int& exit_code) {
  options chosen;
  CLI::App app{"Trains a network on Fashion-MNIST with kerngrad. The last line of the output is the test accuracy."};
  std::string kind = "cnn";
  const auto known_model = [](const std::string& value) {
    return value == "cnn" || value == "mlp" ? std::string() : "cnn and mlp are the models, not " + value;
  };
  app.add_option("--model", kind, "cnn: two convolutions and two dense layers; mlp: 784-128-10 (default: cnn)")
      ->check(CLI::Validator(known_model, ""))
      ->type_name("cnn|mlp");
  const CLI::Option* epochs =
      app.add_option("--epochs", chosen.epochs, "passes over the training images (default: 3, or 0 with --load)")
          ->transform(kgtools::whole_number(0, 1000));
  app.add_option("--batch", chosen.batch,
                 "images in a step; the last, incomplete batch of an epoch is skipped (default: 64)")
      ->transform(kgtools::whole_number(1, 60000));
  app.add_option("--seed", chosen.seed, "chooses initial weights and order of the images (default: 1)")
      ->transform(kgtools::whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->type_name("NUMBER");
  app.add_option("--threads", chosen.threads, "threads of the kernels; 0: one for each CPU (default: 1)")
      ->transform(kgtools::whole_number(0, 1024));
  app.add_option("--target", chosen.target, "use no SIMD target better than this one, such as AVX2")->type_name("NAME");
  app.add_option("--data", chosen.data, "folder of the four gzipped IDX files (default: " + chosen.data + ")")
      ->type_name("DIR");
  app.add_option("--load", chosen.load, "start from the weights of a safetensors file; without --epochs only evaluate")
      ->type_name("FILE");
  app.add_option("--save", chosen.save, "write the weights to a safetensors file")->type_name("FILE");
  app.add_option("--report", chosen.report, "write a page with charts and pictures of what came out (HTML)")
      ->type_name("FILE");
  app.add_option("--export", chosen.export_to, "write the network to DIR/model.json, a graph model for TensorFlow.js")
      ->type_name("DIR");
  app.add_option("--limit", chosen.limit, "use only the first N training images and N test images")
      ->transform(kgtools::whole_number(1, 10'000'000))
      ->type_name("N");
  app.add_flag("--several-processes", chosen.ranks, "take part in a run of mpirun; ./dev demo --ranks N starts one");
  CLI::Option* const checkpoint = app.add_option("--checkpoint", chosen.checkpoint,
                                                 "write the state of the training to a file, every --every steps")
                                      ->type_name("FILE");
  app.add_option("--every", chosen.every, "steps between two checkpoints (default: 200)")
      ->transform(kgtools::whole_number(1, 1'000'000));
  app.add_flag("--resume", chosen.resume, "continue with the file of --checkpoint")->needs(checkpoint);
  try {
    app.parse(argc, argv);
    chosen.model = kind == "mlp" ? model::mlp : model::cnn;
    if (!chosen.load.empty() && epochs->count() == 0) chosen.epochs = 0;
    return chosen;
  } catch (const CLI::Success& wish) {
    exit_code = app.exit(wish);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "kerngrad-demo: %s (--help lists the options)\n", error.what());
    exit_code = 2;
  }
  return {};
}

}  // namespace demo
