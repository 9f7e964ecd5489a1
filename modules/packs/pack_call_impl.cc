// SPDX-License-Identifier: Apache-2.0
// One call of a pack's kernel or gradient: what the host's functions give it, and what becomes of its failures. No
// exception crosses the border: the first one is kept in the call and goes on when the pack's function has returned.
module;
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/include/kerngrad/pack.h"
module kerngrad;

import :pack_host;
import :run;

using namespace kerngrad;
using namespace kerngrad::detail;

extern "C++" {
struct kerngrad_tensor {
  tensor value;
};
struct kerngrad_call {
  struct given_gradient {
    std::string operand;
    std::size_t index;
    tensor value;
  };
  const pack_function& code;
  std::string_view name;      // of the op, for errors
  const kernel_call* kernel;  // one of the two
  const gradient_call* gradient;
  std::vector<std::unique_ptr<kerngrad_tensor>> handles{};
  tensor_list results{};
  std::vector<given_gradient> gradients{};
  bool failed = false;
  std::exception_ptr thrown{};
  std::string text{};
};
}

namespace kerngrad::detail {
namespace {

// ------------------------------------------------------------------------------------------ the border

template <class R, class F>
R guarded(kerngrad_call* call, R on_failure, F body) noexcept {
  if (!call || call->failed) return on_failure;
  try {
    return body(*call);
  } catch (...) {
    call->failed = true;
    call->thrown = std::current_exception();
    return on_failure;
  }
}
template <class F>
int guarded(kerngrad_call* call, F body) noexcept {
  return guarded(call, int{KERNGRAD_FAILED}, [&](kerngrad_call& c) {
    body(c);
    return int{KERNGRAD_OK};
  });
}

const kerngrad_tensor* handle_of(kerngrad_call& c, const tensor& x) {
  for (const auto& known : c.handles)
    if (tensor_access::buffer(known->value) == tensor_access::buffer(x) &&
        tensor_access::position(known->value).tape == tensor_access::position(x).tape &&
        tensor_access::position(known->value).value == tensor_access::position(x).value)
      return known.get();
  c.handles.push_back(std::make_unique<kerngrad_tensor>(kerngrad_tensor{x}));
  return c.handles.back().get();
}

const tensor& tensor_at(const kerngrad_call& c, const kerngrad_tensor* handle) {
  for (const auto& known : c.handles)
    if (known.get() == handle) return known->value;
  fail("tensor", handle ? "a handle that is not of this call" : "a tensor that is NULL",
       "one that this call was given");
}

std::string_view name_at(const char* name, std::string_view what) {
  constexpr std::size_t most = 127;
  if (!name) fail(what, "a name that is NULL", "a name");
  const std::size_t length = strnlen(name, most + 1);
  if (length > most) fail(what, "a name of more than 127 bytes", "a name");
  return {name, length};
}

dtype dtype_at(std::int32_t type, std::string_view what) {
  if (type < 0 || type >= dtype_count || !any_dtype.has(static_cast<dtype>(type)))
    fail(what, "dtype " + std::to_string(type), "one of " + to_string(any_dtype));
  return static_cast<dtype>(type);
}

shape shape_at(std::int32_t rank, const std::int64_t* dims, std::string_view what) {
  check_pack_count(rank, max_rank, dims, what);
  return shape(std::span<const std::int64_t>(dims, static_cast<std::size_t>(rank)));
}

void refuse_kernel(const kerngrad_call& c, std::string_view what) {
  if (!c.gradient) fail(what, "a call by a kernel", "a gradient");
}
void refuse_gradient(const kerngrad_call& c, std::string_view what) {
  if (!c.kernel) fail(what, "a call by a gradient", "a kernel");
}

std::int32_t count_of(const kerngrad_call& c, std::string_view name) {
  if (c.gradient) return c.gradient->count(name);
  return c.kernel->has(name) ? static_cast<std::int32_t>(c.kernel->inputs(name).size()) : 0;
}

void check_index(const kerngrad_call& c, std::string_view name, std::int32_t index) {
  const std::int32_t count = count_of(c, name);
  if (index < 0 || index >= count)
    fail("operand", "no operand " + std::string(name) + "[" + std::to_string(index) + "]",
         count ? std::to_string(count) + " of that name" : "an operand that was given");
}

// ------------------------------------------------------------------------------------------ operands and tensors

int fail_call(kerngrad_call* call, const char* text) noexcept {
  guarded(call, [&](kerngrad_call& c) {
    c.failed = true;
    if (text) c.text.assign(text, strnlen(text, 1000));
  });
  return KERNGRAD_FAILED;
}

std::int32_t get_operand_count(kerngrad_call* call, const char* name) noexcept {
  return guarded(call, std::int32_t{0}, [&](kerngrad_call& c) { return count_of(c, name_at(name, "operand_count")); });
}

const kerngrad_tensor* get_operand(kerngrad_call* call, const char* name, std::int32_t index) noexcept {
  return guarded(call, static_cast<const kerngrad_tensor*>(nullptr), [&](kerngrad_call& c) {
    const std::string_view wanted = name_at(name, "operand");
    check_index(c, wanted, index);
    const std::span<const tensor> list = c.kernel ? c.kernel->inputs(wanted) : c.gradient->inputs(wanted);
    return handle_of(c, list[static_cast<std::size_t>(index)]);
  });
}

std::int32_t dtype_of_handle(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, std::int32_t{-1},
                 [&](kerngrad_call& c) { return static_cast<std::int32_t>(tensor_at(c, x).type()); });
}
std::int32_t rank_of_handle(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, std::int32_t{-1}, [&](kerngrad_call& c) { return std::int32_t{tensor_at(c, x).rank()}; });
}
const std::int64_t* dims_of_handle(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, static_cast<const std::int64_t*>(nullptr),
                 [&](kerngrad_call& c) { return tensor_at(c, x).dims().begin(); });
}
std::int64_t size_of_handle(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, std::int64_t{-1}, [&](kerngrad_call& c) { return tensor_at(c, x).size(); });
}
const void* data_of_handle(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, static_cast<const void*>(nullptr), [&](kerngrad_call& c) {
    const tensor& at = tensor_at(c, x);
    return c.kernel ? c.kernel->elements(at) : at.address();
  });
}

// ------------------------------------------------------------------------------------------ attributes

const attr_value& attr_named(const kerngrad_call& c, std::string_view name) {
  return c.kernel ? c.kernel->attr(name) : c.gradient->attr(name);
}

// The attribute, of one of two kinds.
const attr_value& attr_at(const kerngrad_call& c, const char* name, attr_kind kind, attr_kind other) {
  const std::string_view wanted = name_at(name, "attribute");
  const attr_value& value = attr_named(c, wanted);
  if (value.kind() != kind && value.kind() != other)
    fail("attribute", std::string(wanted) + " read as " + std::string(name_of(kind)),
         std::string(name_of(value.kind())));
  return value;
}

template <class T, class Get>
int read_attr_into(kerngrad_call* call, const char* name, T* value, attr_kind kind, attr_kind other, Get get) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    if (!value) fail("attribute", "NULL for the value", "where to write it");
    *value = get(attr_at(c, name, kind, other));
  });
}

int has_attr(kerngrad_call* call, const char* name) noexcept {
  return guarded(call, 0, [&](kerngrad_call& c) {
    const std::string_view wanted = name_at(name, "has_attr");
    const attr_value none;
    return int{(c.kernel ? c.kernel->attr(wanted, none) : c.gradient->attr(wanted, none)).given()};
  });
}
int get_boolean(kerngrad_call* call, const char* name, std::int32_t* value) noexcept {
  return read_attr_into(call, name, value, attr_kind::boolean, attr_kind::boolean,
                        [](const attr_value& a) { return std::int32_t{a.as_bool()}; });
}
int get_integer(kerngrad_call* call, const char* name, std::int64_t* value) noexcept {
  return read_attr_into(call, name, value, attr_kind::integer, attr_kind::integer,
                        [](const attr_value& a) { return a.as_integer(); });
}
int get_number(kerngrad_call* call, const char* name, double* value) noexcept {
  return read_attr_into(call, name, value, attr_kind::number, attr_kind::integer,
                        [](const attr_value& a) { return a.as_number(); });
}
int get_dtype(kerngrad_call* call, const char* name, std::int32_t* value) noexcept {
  return read_attr_into(call, name, value, attr_kind::dtype, attr_kind::dtype,
                        [](const attr_value& a) { return static_cast<std::int32_t>(a.as_dtype()); });
}
int get_text(kerngrad_call* call, const char* name, const char** value) noexcept {
  return read_attr_into(call, name, value, attr_kind::text, attr_kind::text,
                        [](const attr_value& a) { return a.as_text().data(); });  // padded with zeros
}
int get_list(kerngrad_call* call, const char* name, const std::int64_t** values, std::int32_t* count) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    if (!values || !count) fail("attribute", "NULL for the list", "where to write it");
    const std::span<const std::int64_t> list = attr_at(c, name, attr_kind::list, attr_kind::list).as_list();
    *values = list.data();
    *count = static_cast<std::int32_t>(list.size());
  });
}

int get_numbers(kerngrad_call* call, const char* name, const double** values, std::int32_t* count) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    if (!values || !count) fail("attribute", "NULL for the list", "where to write it");
    const std::span<const double> list = attr_at(c, name, attr_kind::numbers, attr_kind::numbers).as_numbers();
    *values = list.data();
    *count = static_cast<std::int32_t>(list.size());
  });
}

// ------------------------------------------------------------------------------------------ results

void check_room(const kerngrad_call& c, std::string_view what) {
  refuse_gradient(c, what);
  const int most = c.code.results ? c.code.results : static_cast<int>(c.kernel->results().size());
  if (c.results.size() >= most) fail(what, "one result more", std::to_string(most) + " results");
}

void* make_result(kerngrad_call* call, std::int32_t type, std::int32_t rank, const std::int64_t* dims) noexcept {
  return guarded(call, static_cast<void*>(nullptr), [&](kerngrad_call& c) {
    check_room(c, "make_result");
    const kernel_call::writable made =
        c.kernel->make(dtype_at(type, "make_result"), shape_at(rank, dims, "make_result"));
    c.results.push_back(made.result);
    return made.elements;
  });
}

int give_result(kerngrad_call* call, const kerngrad_tensor* x) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    check_room(c, "give_result");
    c.results.push_back(tensor_at(c, x));
  });
}

// ------------------------------------------------------------------------------------------ gradients

const kerngrad_tensor* get_dy(kerngrad_call* call, std::int32_t k) noexcept {
  return guarded(call, static_cast<const kerngrad_tensor*>(nullptr), [&](kerngrad_call& c) {
    refuse_kernel(c, "dy");
    if (k < 0 || k >= c.code.results) fail("dy", "result " + std::to_string(k), "a result of the op");
    return handle_of(c, c.gradient->dy(k));
  });
}

const kerngrad_tensor* get_result(kerngrad_call* call, std::int32_t k) noexcept {
  return guarded(call, static_cast<const kerngrad_tensor*>(nullptr), [&](kerngrad_call& c) {
    refuse_kernel(c, "result");
    return handle_of(c, c.gradient->output(k));
  });
}

int wants(kerngrad_call* call, const char* operand) noexcept {
  return guarded(call, 0, [&](kerngrad_call& c) {
    refuse_kernel(c, "wants");
    return int{c.gradient->wants(name_at(operand, "wants"))};
  });
}

int operand_shape(kerngrad_call* call, const char* name, std::int32_t index, std::int32_t* type, std::int32_t* rank,
                  const std::int64_t** dims) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    const std::string_view wanted = name_at(name, "operand_shape");
    check_index(c, wanted, index);
    const std::size_t i = static_cast<std::size_t>(index);
    const shape& of = c.kernel ? c.kernel->inputs(wanted)[i].dims() : c.gradient->of(wanted, index).dims;
    const dtype t = c.kernel ? c.kernel->inputs(wanted)[i].type() : c.gradient->of(wanted, index).type;
    if (type) *type = static_cast<std::int32_t>(t);
    if (rank) *rank = of.rank();
    if (dims) *dims = of.begin();
  });
}

int set_gradient(kerngrad_call* call, const char* operand, std::int32_t index, const kerngrad_tensor* x) noexcept {
  return guarded(call, [&](kerngrad_call& c) {
    refuse_kernel(c, "set_gradient");
    const std::string_view name = name_at(operand, "set_gradient");
    check_index(c, name, index);
    const std::size_t at = static_cast<std::size_t>(index);
    const std::string said = "operand " + std::string(name) + "[" + std::to_string(index) + "]";
    for (const auto& g : c.gradients)
      if (g.operand == name && g.index == at) fail("set_gradient", said + " twice", "every gradient once");
    const tensor& value = tensor_at(c, x);
    const signature& wanted = c.gradient->of(name, index);
    if (!(value.signature() == wanted))
      fail("set_gradient", std::string(name_of(value.type())) + " " + to_string(value.dims()) + " for " + said,
           std::string(name_of(wanted.type)) + " " + to_string(wanted.dims) + " as the operand has");
    c.gradients.push_back({std::string(name), at, value});
  });
}

// ------------------------------------------------------------------------------------------ running ops

// The name of an op's operand by index; none where nothing is known of the op.
std::string operand_name_at(std::string_view op, std::int32_t index) {
  const pinned now;
  const name_record* record = find_name(*now, op);
  if (!record || !record->runs()) return {};
  const op_row& row = record->op_now() ? *record->op->row : record->kernels.front()->row;
  if (static_cast<std::size_t>(index) >= row.operands.size() && !row.takes_list())
    fail(op, "operand " + std::to_string(index), std::to_string(row.operands.size()) + " operands");
  return std::string(row.operand_at(static_cast<std::size_t>(index)).name);
}

attr_value value_at(const kerngrad_value& v) {
  constexpr std::int32_t most_items = 1 << 24;
  switch (v.kind) {
    case KERNGRAD_BOOLEAN_ATTR: return v.integer != 0;
    case KERNGRAD_INTEGER_ATTR: return v.integer;
    case KERNGRAD_NUMBER_ATTR: return v.number;
    case KERNGRAD_DTYPE_ATTR:
      if (v.integer < 0 || v.integer >= dtype_count) fail("run", "dtype " + std::to_string(v.integer), "a dtype");
      return static_cast<dtype>(v.integer);
    case KERNGRAD_TEXT_ATTR: return name_at(v.text, "run");
    case KERNGRAD_LIST_ATTR:
      check_pack_count(v.count, most_items, v.list, "run");
      return std::span<const std::int64_t>(v.list, static_cast<std::size_t>(v.count));
    case KERNGRAD_NUMBERS_ATTR:
      check_pack_count(v.count, most_items, v.numbers, "run");
      return std::span<const double>(v.numbers, static_cast<std::size_t>(v.count));
    default: fail("run", "an attribute of kind " + std::to_string(v.kind), "a KERNGRAD_..._ATTR");
  }
}

const kerngrad_tensor* run_op(kerngrad_call* call, const char* op, const kerngrad_argument* arguments,
                              std::int32_t argument_count, const kerngrad_value* values,
                              std::int32_t value_count) noexcept {
  return guarded(call, static_cast<const kerngrad_tensor*>(nullptr), [&](kerngrad_call& c) {
    const std::string_view name = name_at(op, "run");
    constexpr std::int32_t most_tensors = 4096;
    check_pack_count(argument_count, op_gradient::max_operands, arguments, "run");
    check_pack_count(value_count, attr_list::capacity, values, "run");
    std::vector<named_operand> operands;
    for (std::int32_t i = 0; i < argument_count; ++i) {
      const kerngrad_argument a = pack_item(arguments, i, "kerngrad_argument");
      check_pack_count(a.count, most_tensors, a.tensors, "run");
      std::vector<tensor> tensors;
      for (std::int32_t k = 0; k < a.count; ++k) tensors.push_back(tensor_at(c, a.tensors[k]));
      operands.emplace_back(a.name ? std::string(name_at(a.name, "run")) : operand_name_at(name, i),
                            std::move(tensors));
    }
    std::vector<named_attribute> attrs;
    for (std::int32_t i = 0; i < value_count; ++i) {
      const kerngrad_value v = pack_item(values, i, "kerngrad_value");
      attrs.push_back({std::string(name_at(v.name, "run")), value_at(v)});
    }
    const tensor_list out = run_kernel_list(name, operands, attrs);
    if (out.size() != 1) fail("run", std::to_string(out.size()) + " results of " + std::string(name), "one");
    return handle_of(c, out[0]);
  });
}

const kerngrad_tensor* make_tensor(kerngrad_call* call, std::int32_t type, std::int32_t rank, const std::int64_t* dims,
                                   const void* elements) noexcept {
  return guarded(call, static_cast<const kerngrad_tensor*>(nullptr), [&](kerngrad_call& c) {
    const dtype of = dtype_at(type, "make_tensor");
    const shape sizes = shape_at(rank, dims, "make_tensor");
    if (!elements && sizes.size() > 0) fail("make_tensor", "elements at NULL", "an array of them");
    buffer* b = allocate(of, sizes);
    const tensor made = tensor_access::adopt(b);
    if (sizes.size() > 0) std::memcpy(b->data, elements, static_cast<std::size_t>(sizes.size()) * size_of(of));
    return handle_of(c, made);
  });
}

// ------------------------------------------------------------------------------------------ a call as a whole

// Runs the function of the pack; throws when it, or anything that it called, has failed.
void run_code(kerngrad_call& c) {
  int code = KERNGRAD_FAILED;
  try {
    code = c.code.run(&c, c.code.user);
  } catch (const std::exception& e) {  // against the rules; its type may live in the pack, so only the text goes on
    if (!std::exchange(c.failed, true)) c.text = "it threw: " + std::string(e.what());
  } catch (...) {
    if (!std::exchange(c.failed, true)) c.text = "it threw";
  }
  if (c.thrown) {
    try {
      std::rethrow_exception(c.thrown);
    } catch (const error& e) {
      fail(c.name, c.code.where + ": [" + e.op() + "] " + e.got(), e.wanted(), e.advice());
    }
  }
  if (code == KERNGRAD_OK && !c.failed) return;
  fail(c.name, c.code.where + ": " + (c.text.empty() ? "the error code " + std::to_string(code) : c.text),
       "a call that it accepts");
}

}  // namespace

std::function<tensor_list(const kernel_call&)> pack_kernel(pack_function code) {
  return [code = std::move(code)](const kernel_call& kernel) {
    kerngrad_call c{code, kernel.kernel(), &kernel, nullptr};
    run_code(c);
    const int wanted = code.results ? code.results : static_cast<int>(kernel.results().size());
    if (c.results.size() != wanted)
      fail(c.name, code.where + ": " + std::to_string(c.results.size()) + " results", std::to_string(wanted));
    return std::move(c.results);
  };
}

std::function<std::vector<named_operand>(const gradient_call&)> pack_gradient(std::string name, pack_function code) {
  return [name = std::move(name), code = std::move(code)](const gradient_call& gradient) {
    kerngrad_call c{code, name, nullptr, &gradient};
    run_code(c);
    std::vector<named_operand> given;
    for (kerngrad_call::given_gradient& g : c.gradients) {
      auto at = std::find_if(given.begin(), given.end(), [&](const named_operand& x) { return x.name == g.operand; });
      if (at == given.end()) {
        given.emplace_back(g.operand, std::vector<tensor>(static_cast<std::size_t>(gradient.count(g.operand))));
        at = given.end() - 1;
      }
      at->tensors[g.index] = std::move(g.value);
    }
    return given;
  };
}

void fill_call_functions(kerngrad_host& host) {
  host.fail = fail_call;
  host.operand_count = get_operand_count;
  host.operand = get_operand;
  host.dtype = dtype_of_handle;
  host.rank = rank_of_handle;
  host.dims = dims_of_handle;
  host.size = size_of_handle;
  host.data = data_of_handle;
  host.has_attr = has_attr;
  host.get_boolean = get_boolean;
  host.get_integer = get_integer;
  host.get_number = get_number;
  host.get_dtype = get_dtype;
  host.get_text = get_text;
  host.get_list = get_list;
  host.make_result = make_result;
  host.give_result = give_result;
  host.dy = get_dy;
  host.result = get_result;
  host.wants = wants;
  host.operand_shape = operand_shape;
  host.set_gradient = set_gradient;
  host.run = run_op;
  host.make_tensor = make_tensor;
  host.get_numbers = get_numbers;
}

}  // namespace kerngrad::detail
