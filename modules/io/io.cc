// SPDX-License-Identifier: Apache-2.0
// Data in files: tensors as .npy, .npz, .safetensors and .csv, images as .png, .ppm and .pgm, audio as .wav, the
// state of a training. A module of its own on top of kerngrad's public interface, so that the library needs nothing of
// what reads these.
module;
#include <cstddef>
#include "kernels/common/abi.h"
export module kerngrad.io;

import kerngrad;

export namespace kerngrad::io {

// ------------------------------------------------------------------------------------------ what files hold

/// A tensor and its name in a file.
struct named_tensor {
  std::string name;
  tensor value;
};

/// An entry that `load` skipped, because kerngrad has no tensors of its kind.
struct skipped_entry {
  std::string name;
  std::string reason;  ///< "has dtype "F8_E5M2""
};

/// Tensors by name, sorted by name, as `load` returns and `save` takes them. The tensor of a file without names (.npy,
/// .csv, an image) has the empty name. A list of one tensor converts to the tensor: `const kg::tensor x =
/// kg::io::load("x.npy");`.
class named_tensors {
 public:
  // The library defines these members: otherwise each file with such a list takes twice as long to compile.
  named_tensors() noexcept;
  named_tensors(const named_tensors& other);
  named_tensors(named_tensors&& other) noexcept;
  named_tensors& operator=(const named_tensors& other);
  named_tensors& operator=(named_tensors&& other) noexcept;
  ~named_tensors();
  /// Throws for an undefined tensor and for a name that occurs twice.
  named_tensors(std::initializer_list<named_tensor> list);
  explicit named_tensors(std::vector<named_tensor> list, std::vector<skipped_entry> skipped = {});

  /// The tensor of that name. If there is none, throws and lists the names, or says why `load` skipped it.
  tensor at(std::string_view name) const;
  bool contains(std::string_view name) const;
  /// Adds a tensor, or replaces the one that has the name. Throws for an undefined tensor.
  void set(std::string_view name, tensor value);
  /// The only tensor. Throws if there is none or several.
  operator tensor() const;

  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  std::vector<named_tensor>::const_iterator begin() const { return list_.begin(); }
  std::vector<named_tensor>::const_iterator end() const { return list_.end(); }
  /// The skipped entries of the file, in its order. `save` does not write them.
  std::span<const skipped_entry> skipped() const { return skipped_; }

 private:
  std::vector<named_tensor> list_;  // sorted by name
  std::vector<skipped_entry> skipped_;
};

// ------------------------------------------------------------------------------------------ any format, by the name

/// Reads a file whose name ends in .npy, .npz, .safetensors, .csv, .png, .ppm, .pgm or .wav, in upper or lower case.
///
/// A .npy or .npz (stored or deflated) holds bool, integers of 8 to 64 bits other than uint64, float16, float32,
/// float64, complex64 or complex128. Either byte order, C's order and Fortran's order are read. Structured dtypes,
/// objects and pickles are rejected. Members of a .npz that are no .npy files, such as folders, are in `skipped`. A
/// .safetensors holds BOOL, U8, U16, U32, I8, I16, I32, I64, F16, BF16, F32, F64 or C64. Tensors of other dtypes are in
/// `skipped`. A .csv is float64 [rows, columns], as `load_csv` reads it by default.
///
/// A .png is uint8 [height, width, channels] with 1 (gray), 2 (gray and alpha), 3 (RGB) or 4 (RGBA) channels. Palettes
/// are expanded, other bit depths are scaled to 8 bits; gamma and profiles are not applied. A .ppm (P6) is uint8
/// [height, width, 3], a .pgm (P5) uint8 [height, width, 1], scaled to a white of 255. A .wav is float32 [frames,
/// channels]; `load_wav` also returns its rate.
///
/// Sizes in the file are checked before memory is taken: sizes that the file cannot hold, or that the memory limit does
/// not allow, throw. The file is mapped while it is read; another process must not truncate it meanwhile. Throws
/// `error`, with the file's name, for files that cannot be opened or do not follow the format.
named_tensors load(const std::string& path);
/// Reads only the tensors of these names, of a .npz or a .safetensors: `load("model.safetensors", {"weight"})`. The
/// elements of others are not read, and they may be of any kind. Throws for a name that the file lacks, for a tensor
/// that `load` would skip, and for other formats.
named_tensors load(const std::string& path, std::span<const std::string> names);
inline named_tensors load(const std::string& path, std::initializer_list<std::string> names) {
  return load(path, std::span(names.begin(), names.size()));
}

/// Reads the tensors of a file whose bytes are in memory, with all of them or those of `names`, as `load`. The ending
/// of `name` says which format it has; errors quote it. Throws as `load`.
named_tensors decode(std::span<const std::byte> bytes, const std::string& name);
named_tensors decode(std::span<const std::byte> bytes, const std::string& name, std::span<const std::string> names);
inline named_tensors decode(std::span<const std::byte> bytes, const std::string& name,
                            std::initializer_list<std::string> names) {
  return decode(bytes, name, std::span(names.begin(), names.size()));
}

/// Maps a .safetensors and returns its tensors as `load` does, but with their elements in the mapped file. Elements are
/// read when they are used, shared by all processes that map the file, and never written. The file stays mapped as long
/// as one of the tensors or a copy lives, and must not change meanwhile. Booleans and misaligned elements are copied.
/// Throws as `load`, and for other formats.
named_tensors map(const std::string& path);
/// Maps a .safetensors and returns only the tensors of these names. Throws for a name that the file lacks, and for a
/// tensor that `load` would skip.
named_tensors map(const std::string& path, std::span<const std::string> names);
inline named_tensors map(const std::string& path, std::initializer_list<std::string> names) {
  return map(path, std::span(names.begin(), names.size()));
}

/// Options for writing a file.
struct save_options {
  bool compressed = false;  ///< true: the elements of a .npz are deflated; other formats ignore it
};

/// Writes one tensor as .npy, .csv, .png, .ppm or .pgm, in the dtypes and shapes that `load` returns. Images may also
/// have the shape [height, width]; .csv takes rank 1 or 2 and any real dtype or bool. A tensor in a backend's storage
/// is fetched first.
///
/// The file is replaced as a whole: it is written under another name in the same folder, flushed to the disk and
/// renamed. If that fails, an old file is unchanged, and nothing else is left. Throws `error` for an undefined tensor,
/// for another ending, dtype or shape, and for a file that cannot be written.
void save(const std::string& path, const tensor& x, const save_options& how = {});

/// Writes tensors by name as .npz or .safetensors: `save("a.npz", {{"x", x}})`. The same tensors give the same file.
/// Names are UTF-8 and not empty. bfloat16 is only for .safetensors, complex128 only for .npz. Throws for other names
/// and dtypes, and for several tensors in another format.
void save(const std::string& path, const named_tensors& all, const save_options& how = {});

// ------------------------------------------------------------------------------------------ tables

/// Options for reading a .csv.
struct csv_options {
  char delimiter = ',';  ///< any character but quotes, line ends, digits, letters, '+', '-' and '.'
  /// True if the first row has the names of the columns. By default it has them if one of its fields is neither a
  /// number, nor a truth value, nor empty.
  std::optional<bool> header{};
  dtype type = dtype::float64;  ///< of the elements: a real dtype or bool
};

/// A matrix of shape [rows, columns], and the names of its columns, if there are any.
struct table {
  std::vector<std::string> columns;
  tensor values;
};

/// Reads a .csv as a table [rows, columns]. Every row has the same number of fields, which may be in quotes (RFC 4180).
/// Lines end in LF or CRLF; empty ones are skipped. Floats are rounded to the dtype and may be `nan` or `inf`. Empty
/// fields, NA and N/A are NaN, or throw if the dtype has no NaN. Integer dtypes take only integers in their range; bool
/// takes 0, 1, true and false. An empty file has shape [0, 0]. Throws `error`, with the file's name and the line, for
/// rows of different lengths and for fields that the dtype does not take.
table load_csv(const std::string& path, const csv_options& how = {});
/// Reads the table of a .csv whose bytes are in memory, as `load_csv`; errors quote `name`.
table decode_csv(std::span<const std::byte> bytes, const std::string& name, const csv_options& how = {});

/// Writes a .csv as `save` does, with the names of the columns, if there are any, in the first row. The values have
/// rank 2, or rank 1 as one column, and any real dtype or bool. Numbers are as short as possible without changing when
/// they are read back. Throws if there is not one name per column.
void save_csv(const std::string& path, const table& all, char delimiter = ',');

// ------------------------------------------------------------------------------------------ audio

/// Samples of shape [frames, channels], and the number of frames per second.
struct audio {
  tensor samples;
  std::int64_t rate = 0;
};
/// The sample format of a .wav: integers of 16 or 24 bits, or float32.
enum class wav_samples : std::uint8_t { pcm16, pcm24, float32 };

/// Reads a .wav of one of the formats of `wav_samples` as float32. Integers are divided by 2^15 or 2^23: samples are
/// exact and in [-1, 1). Chunks other than format and samples are ignored. Throws `error` as `load` does, and for other
/// sample formats.
audio load_wav(const std::string& path);
/// Reads the audio of a .wav whose bytes are in memory, as `load_wav`; errors quote `name`.
audio decode_wav(std::span<const std::byte> bytes, const std::string& name);
/// Writes a .wav as `save` does. The samples are float32 or float64 [frames] or [frames, channels]. As integers they
/// are clipped to [-1, 1) and rounded to the nearest, ties to even. Throws for NaN in integers, for other dtypes and
/// shapes, for a rate below 1, and for 2^32 bytes or more, which the format cannot count.
void save_wav(const std::string& path, const audio& sound, wav_samples kind = wav_samples::pcm16);

// ------------------------------------------------------------------------------------------ training

/// Returns the values of variables by their names, to be saved. Throws for names that are empty or occur twice.
named_tensors state_of(std::span<const variable> variables);
inline named_tensors state_of(std::initializer_list<variable> variables) {
  return state_of(std::span(variables.begin(), variables.size()));
}
/// Returns the values of variables and the state of an optimizer, as tensors to save. The tensors of `optimizer::state`
/// have `optimizer/` before their names. Training that continues after `restore` is bitwise identical to training
/// without the break. Add your own random states and counters with `named_tensors::set`.
named_tensors state_of(std::span<const variable> variables, const optimizer& by);
inline named_tensors state_of(std::initializer_list<variable> variables, const optimizer& by) {
  return state_of(std::span(variables.begin(), variables.size()), by);
}

/// Gives variables the values that `state` has under their names. Other entries are ignored. Throws, and changes no
/// variable, if a value is missing or has another shape or dtype.
void restore(const named_tensors& state, std::span<const variable> variables);
inline void restore(const named_tensors& state, std::initializer_list<variable> variables) {
  restore(state, std::span(variables.begin(), variables.size()));
}
/// Restores variables and the optimizer from the state that `state_of` returned. The optimizer must have the same type
/// and settings as the saved one; its earlier steps do not matter. Throws, and changes nothing, if an entry is missing
/// or has another shape or dtype.
void restore(const named_tensors& state, std::span<const variable> variables, optimizer& by);
inline void restore(const named_tensors& state, std::initializer_list<variable> variables, optimizer& by) {
  restore(state, std::span(variables.begin(), variables.size()), by);
}

// ------------------------------------------------------------------------------------------ files of other formats

/// The bytes of a mapped file. It stays mapped as long as `owner` or a copy of it lives.
struct mapped_bytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::uint64_t id = 0;  ///< a number that no other file of the file system has while this one is mapped
};
/// Maps a regular file for reading. Another process must not truncate it meanwhile. Throws `error` in the name of
/// `function` for files that cannot be opened.
mapped_bytes map_file(const std::string& path, std::string_view function = "map_file");
/// Writes a file that appears as a whole or not at all, as `save` does. Throws `error` in the name of `function` if it
/// cannot be written.
void save_bytes(const std::string& path, std::span<const std::byte> bytes, std::string_view function = "save_bytes");

/// A file and its parts, such as a model and its weights. The parts are files in the same folder, which the file names.
/// `keep` replaces all of them together.
///
/// If a step throws, the old files are unchanged, and nothing else is left. If the program is killed, the file and the
/// parts that it names are the old ones or the new ones. Unused parts may stay. A process that reads at the same time
/// gets the old files or the new ones. If a part is gone, the process must read the file again. A part is named after
/// the file, its number and its contents: `model-1of2-0123456789abcdef.bin`. Parts never change. Any number of threads
/// and processes may write to one path. The last one wins, as a whole.
class file_group {
 public:
  /// Begins a file at `path`. Throws `error` in the name of `function` if it cannot be written there.
  explicit file_group(const std::string& path, std::string_view function = "file_group");
  file_group(const file_group&) = delete;
  file_group& operator=(const file_group&) = delete;
  /// Removes all files that were not kept.
  ~file_group();

  /// Adds bytes to a part. The first call begins a part, and so does the first call after `end_part`.
  void write(std::span<const std::byte> bytes);
  /// Ends a part. The next `write` begins another one.
  void end_part();
  /// Replaces the old file and its parts by the new ones. Call it once, after all other calls. `text` gets the names of
  /// the new parts and returns the contents of the new file. If there is an old file, `named` gets its bytes and
  /// returns the names of its parts. Parts that the new file does not name are then removed. They stay if `named`
  /// throws `error`.
  void keep(const std::function<std::string(std::span<const std::string> names)>& text,
            const std::function<std::vector<std::string>(std::span<const std::byte> replaced)>& named);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kerngrad::io

// Shared by the formats. Not visible outside the module.
namespace kerngrad::io::detail {

// A name or a value of a file as errors quote it: the beginning of a long one, with what is not printable as '?'.
std::string in_quotes(std::string_view text);
// "1 byte", "7 bytes".
std::string bytes_text(std::uint64_t count);

// A file that is being read, for errors: its name, in whose ending its format is.
struct origin {
  const std::string& name;
  std::string_view function;  // the user's: "load"
  // Throws the error "[load] got "a.npy", which GOT; wanted ...".
  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
};

// Extension of a name.
enum class format : std::uint8_t { npy, npz, safetensors, csv, png, netpbm, wav };
format format_of(const origin& file);

// Bytes that come one after the other.
class byte_source {
 public:
  virtual ~byte_source();
  virtual std::uint64_t left() const = 0;
  // Rejects when fewer are left.
  virtual void read(std::span<std::byte> to) = 0;
};
// Bytes in memory.
class memory_source : public byte_source {
 public:
  memory_source(const origin& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}
  std::uint64_t left() const override { return bytes_.size(); }
  void read(std::span<std::byte> to) override;

 private:
  origin file_;
  std::span<const std::byte> bytes_;
};

// A file's bytes.
class mapped_file {
 public:
  explicit mapped_file(const origin& file);
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();
  std::span<const std::byte> bytes() const { return {address_, size_}; }
  std::uint64_t id() const { return id_; }

 private:
  const std::byte* address_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t id_ = 0;
};

// The file that a name leads to through links, and the mode of the one that is there.
struct write_target {
  std::string path;
  std::optional<std::uint32_t> mode;
};
// Rejects names that no file can have, and what is there but no regular file.
write_target target_of(const origin& file);
// Up to the last slash, "./" without one.
std::string folder_of(const std::string& path);
// Forces the names in a folder to the disk, where the file system can.
void sync_folder(const std::string& folder);

// A file under a name of its own in the target's folder, removed at the end unless it was placed.
class unfinished_file {
 public:
  unfinished_file(const origin& file, const write_target& target);
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file();
  void write(std::span<const std::byte> bytes);
  const std::string& path() const { return path_; }
  // Forces the file to the disk. Nothing is written after this.
  void finish();
  // Gives the finished file its name, and replaces a file that has it.
  void place(const std::string& path);

 private:
  [[noreturn]] void fail_by(int code, std::string_view doing) const;
  origin file_;
  std::string path_;
  int descriptor_ = -1;
  bool placed_ = false;
};

// A file that takes the place of another when it is complete.
class new_file {
 public:
  explicit new_file(const origin& file) : target_(target_of(file)), file_(file, target_) {}
  void write(std::span<const std::byte> bytes) { file_.write(bytes); }
  void write(std::string_view text);
  // Name of the file until it is kept, for libraries that write files by name.
  const std::string& unfinished() const { return file_.path(); }
  // Nothing is written after this.
  void keep();

 private:
  write_target target_;
  unfinished_file file_;
};

// Rejects sizes that make no shape, and shapes whose elements the memory limit does not allow. `what` is the tensor.
shape checked_shape(const origin& file, std::string_view what, std::span<const std::int64_t> sizes);
void check_memory(const origin& file, std::string_view what, const shape& dims, dtype type);
// The same of bytes that are no tensor's.
void check_memory(const origin& file, std::string_view what, std::int64_t wanted);
// A tensor of elements that lie in the source as they lie in memory, but for bool, whose bytes may have any value.
tensor read_elements(const origin& file, std::string_view what, byte_source& from, const shape& dims, dtype type,
                     bool swapped = false);
// The bytes of the elements; they live as long as the tensor.
std::span<const std::byte> elements_of(const tensor& x);

// True if a text is UTF-8 and not empty, as a name has to be.
bool is_name(std::string_view text);
// The names of the tensors that a caller asks for; without a list all of them.
class asked_names {
 public:
  asked_names() = default;
  explicit asked_names(std::span<const std::string> names);
  bool is_list() const { return is_list_; }
  bool has(std::string_view name) const;
  // The first name that the list lacks; empty if there is none.
  std::optional<std::string_view> missing_in(const named_tensors& found) const;

 private:
  std::vector<std::string_view> sorted_;
  bool is_list_ = false;
};

// The list, sorted by name. Rejects names that occur twice.
named_tensors collected(const origin& file, std::vector<named_tensor> list, std::vector<skipped_entry> skipped = {});
// Rejects a name that was asked for and not found; `names` gives those in the file.
void check_found(const origin& file, const asked_names& asked, const named_tensors& found,
                 const std::function<std::vector<std::string>()>& names);

// The formats. The content is checked before the file is made.
tensor read_npy(const origin& file, byte_source& from, std::string_view what);
std::string npy_header(const origin& file, std::string_view what, const tensor& x);
named_tensors read_npz(const origin& file, std::span<const std::byte> bytes, const asked_names& asked);
void write_npz(const origin& file, const named_tensors& all, bool compressed);
// With an owner of the bytes tensors use the elements where they lie, as long as they can.
named_tensors read_safetensors(const origin& file, std::span<const std::byte> bytes, const asked_names& asked,
                               const std::shared_ptr<const void>& owner = {});
void write_safetensors(const origin& file, const named_tensors& all);
// The names of columns take more than a file of short ones: they are read where they are wanted.
table read_csv(const origin& file, std::span<const std::byte> bytes, const csv_options& how, bool with_names);
void write_csv(const origin& file, const table& all, char delimiter);
// uint8 of [height, width] or [height, width, channels].
struct picture {
  std::int64_t height, width, channels;
};
picture picture_of(const origin& file, const tensor& x);
tensor read_png(const origin& file, std::span<const std::byte> bytes);
void write_png(const origin& file, const tensor& x);
tensor read_netpbm(const origin& file, std::span<const std::byte> bytes);
void write_netpbm(const origin& file, const tensor& x);
// The samples of a .wav alone.
tensor read_wav_samples(const origin& file, std::span<const std::byte> bytes);

// A compressed byte of deflate stands for at most 1032 others (RFC 1951: 258 of them for 2 bits).
inline constexpr std::int64_t most_inflated = 1032;

}  // namespace kerngrad::io::detail
