// SPDX-License-Identifier: Apache-2.0
// A pack in C++ that breaks the rule against exceptions: in init when the environment says so, and in its kernels.
#include <kerngrad/pack.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

struct own_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const kerngrad_host* host;

int throw_error(kerngrad_call*, void*) { throw own_error("a kernel's own error"); }
int throw_number(kerngrad_call*, void*) { throw 7; }

int init(const kerngrad_host* given, kerngrad_pack* self) {
  host = given;
  const kerngrad_operand x{sizeof x, 0, "x", 0, 0};
  const kerngrad_schema schema{sizeof schema, 1, &x, nullptr, 0, 1, nullptr};
  const kerngrad_kernel first{sizeof first, 0, "ThrowsError", nullptr, &schema, throw_error, nullptr};
  const kerngrad_kernel second{sizeof second, 0, "ThrowsNumber", nullptr, &schema, throw_number, nullptr};
  host->register_kernel(self, &first);
  const char* wanted = std::getenv("KERNGRAD_TEST_CASE");
  if (wanted && std::strcmp(wanted, "init throws") == 0) throw own_error("an init's own error");
  return host->register_kernel(self, &second);
}

}  // namespace

KERNGRAD_PACK("throwing", nullptr, init);
