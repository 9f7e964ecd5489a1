// SPDX-License-Identifier: Apache-2.0
// Bytes of files, the state of a training, graph models.
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "example.h"

import kerngrad;
import kerngrad.io;
import kerngrad.graph;

namespace {

void a_picture_in_memory() {
  const std::string_view file = "P5 2 1 255\n@A";  // a .pgm of two pixels
  std::cout << kg::tensor(kg::io::decode(std::as_bytes(std::span(file)), "dots.pgm")) << "\n";
}
const example for_a_picture_in_memory{"kg::io::decode", a_picture_in_memory};

void a_table_in_memory() {
  const std::string_view text = "height;width\n1.5;2\nNA;4\n";
  const kg::io::table read = kg::io::decode_csv(std::as_bytes(std::span(text)), "sizes.csv", {.delimiter = ';'});
  std::cout << read.columns[0] << " " << read.columns[1] << "\n" << read.values << "\n";
}
const example for_a_table_in_memory{"kg::io::decode_csv", a_table_in_memory};

void a_tone_in_a_file() {
  const kg::tensor samples({0.f, 0.5f, 0.f, -0.5f});
  kg::io::save_wav("tone.wav", {samples, 8000}, kg::io::wav_samples::pcm24);
  const kg::io::audio read = kg::io::load_wav("tone.wav");
  std::cout << read.rate << " " << kg::squeeze(read.samples) << "\n";
  std::filesystem::remove("tone.wav");
}
const example for_a_tone_in_a_file{"kg::io::save_wav kg::io::load_wav kg::io::audio kg::io::wav_samples",
                                   a_tone_in_a_file};

void audio_in_memory() {
  const std::string_view file(
      "RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\x40", 46);
  std::cout << kg::io::decode_wav(std::as_bytes(std::span(file)), "dot.wav").samples << "\n";
}
const example for_audio_in_memory{"kg::io::decode_wav", audio_in_memory};

void variables_get_their_values_back() {
  const kg::variable w(kg::tensor({1.f, 2.f}), "w");
  const kg::io::named_tensors state = kg::io::state_of({w});  // save and load take it, too
  w.assign(kg::tensor({0.f, 0.f}));
  kg::io::restore(state, {w});
  std::cout << w.value() << "\n";
}
const example for_variables_get_their_values_back{"kg::io::restore", variables_get_their_values_back};

void bytes_of_a_file() {
  kg::io::save_bytes("greeting.txt", std::as_bytes(std::span(std::string_view("hello"))));
  const kg::io::mapped_bytes file = kg::io::map_file("greeting.txt");
  std::cout << file.bytes.size() << " bytes, the first is " << static_cast<char>(file.bytes[0]) << "\n";
  std::filesystem::remove("greeting.txt");
}
const example for_bytes_of_a_file{"kg::io::save_bytes kg::io::map_file", bytes_of_a_file};

void a_list_and_what_it_lists() {
  std::filesystem::create_directory("songs");
  const auto lines = [](std::span<const std::byte> file) {
    std::vector<std::string> all(1);
    for (const std::byte b : file) b == std::byte{'\n'} ? all.emplace_back() : all.back() += static_cast<char>(b);
    return all;
  };
  for (const std::string_view song : {"la la la", "do re mi"}) {  // the second replaces the first
    kg::io::file_group files("songs/list.txt");
    files.write(std::as_bytes(std::span(song)));
    files.keep([](std::span<const std::string> names) { return names[0] + "\n"; }, lines);
  }
  std::cout << std::filesystem::remove_all("songs") - 1 << " files\n";  // and their folder
}
const example for_a_list_and_what_it_lists{"kg::io::file_group", a_list_and_what_it_lists};

void what_runs_an_op_of_a_graph() {
  for (const kg::graph::needed_op& op : kg::graph::known_ops())
    if (op.name == "Relu6" || op.name == "While" || op.name == "HashTable")
      std::cout << op.name << ": " << (op.by.empty() ? op.reason : op.by) << "\n";
}
const example for_what_runs_an_op_of_a_graph{"kg::graph::known_ops", what_runs_an_op_of_a_graph};

void a_function_as_a_graph() {
  const auto f = [](const kg::tensor& x) { return kg::exp(x) + x; };
  const kg::graph::model m = kg::graph::record(f, kg::tensor({0.f, 0.f}));
  for (const kg::graph::needed_op& op : m.needs()) std::cout << op.name << "\n";
  std::cout << kg::tensor(m({{"input", kg::tensor({0.f, 1.f})}})) << "\n";
}
const example for_a_function_as_a_graph{"kg::graph::record", a_function_as_a_graph};

void a_model_is_saved_and_loaded() {
  const kg::variable w(kg::tensor({2.f, 3.f}), "w");
  const auto f = [&](const kg::tensor& x) { return x * w; };
  std::filesystem::create_directory("doubled");
  kg::graph::save("doubled/model.json", kg::graph::record(f, kg::tensor({0.f, 0.f}), {.named = {w}}));
  const kg::graph::model m = kg::graph::load("doubled/model.json");
  std::cout << m.variables()[0].name() << " " << kg::tensor(m({{"input", kg::tensor({1.f, 10.f})}})) << "\n";
  std::filesystem::remove_all("doubled");  // the model and its weight file
}
const example for_a_model_is_saved_and_loaded{"kg::graph::save kg::graph::load", a_model_is_saved_and_loaded};

void elements_where_the_file_has_them() {
  kg::io::save("a.safetensors", {{"x", kg::arange(1'000'000)}});
  const std::int64_t before = kg::memory().live_bytes;
  const kg::tensor x = kg::io::map("a.safetensors").at("x");
  std::cout << kg::memory().live_bytes - before << " bytes taken, the sum is " << kg::sum(x).item() << "\n";
  std::filesystem::remove("a.safetensors");
}
const example for_elements_where_the_file_has_them{"kg::io::map", elements_where_the_file_has_them};

void some_tensors_of_a_file() {
  kg::io::save("a.npz", {{"bias", kg::tensor({1.f, 2.f})}, {"weight", kg::zeros({1000, 1000})}});
  const kg::tensor bias = kg::io::load("a.npz", {"bias"});  // no element of the weight is read
  std::cout << bias << "\n";
  std::filesystem::remove("a.npz");
}
const example for_some_tensors_of_a_file{"kg::io::load", some_tensors_of_a_file};

void tensors_of_other_dtypes() {
  const std::string_view header = R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})";
  const std::string file = static_cast<char>(header.size()) + std::string(7, '\0') + std::string(header) + "\1\2";
  const kg::io::named_tensors all = kg::io::decode(std::as_bytes(std::span(file)), "small.safetensors");
  for (const kg::io::skipped_entry& entry : all.skipped()) std::cout << entry.name << " " << entry.reason << "\n";
}
const example for_tensors_of_other_dtypes{"kg::io::skipped_entry", tensors_of_other_dtypes};

}  // namespace
