/* SPDX-License-Identifier: Apache-2.0
 * A pack whose init breaks the rule that the environment names. Its own name has room for a longer one. */
#include <kerngrad/pack.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char name_with_room[160] = "malformed";

static int compute(kerngrad_call* call, void* user) {
  (void)call, (void)user;
  return KERNGRAD_FAILED;
}

struct larger_kernel {
  kerngrad_kernel known;
  uint64_t unknown;
};

static int init(const kerngrad_host* host, kerngrad_pack* self) {
  const char* wanted = getenv("KERNGRAD_TEST_CASE");
  char long_name[200];
  const char* saved = "z";
  kerngrad_operand operands[2] = {{sizeof(kerngrad_operand), 0, "x", 0, 0}, {sizeof(kerngrad_operand), 0, "y", 0, 0}};
  kerngrad_attr attr = {.struct_size = sizeof attr, .name = "rate", .kind = KERNGRAD_NUMBER_ATTR};
  kerngrad_schema schema = {sizeof schema, 2, operands, &attr, 1, 1, "An op."};
  struct larger_kernel larger;
  kerngrad_kernel kernel = {sizeof kernel, 0, "Malformed", 0, &schema, compute, 0};
  kerngrad_gradient gradient = {sizeof gradient, 0, "Malformed", 0, 0, 0, compute, 0};
  int both = 0, known = 0;
  memset(long_name, 'x', sizeof long_name);
  long_name[199] = 0;
#define CASE(text) if (strcmp(wanted, text) == 0 && (known = 1))
  if (!wanted) return host->refuse(self, "no case was named");
  CASE("a text") return host->refuse(self, "no device here");
  CASE("a code") return 42;
  CASE("half done") {
    host->register_kernel(self, &kernel);
    return host->refuse(self, "half done");
  }
  CASE("a text that is no reason") {
    host->refuse(self, "first");
    return KERNGRAD_OK;
  }
  CASE("nothing is wrong") both = 1;
  CASE("twice") { host->register_kernel(self, &kernel); }
  CASE("a built-in op's kernel") kernel.name = "Exp", kernel.schema = 0;
  CASE("a built-in op with a schema") kernel.name = "Exp", kernel.backend = "mine";
  CASE("no schema") kernel.schema = 0;
  CASE("no function") kernel.run = 0;
  CASE("2^31 - 1 operands") schema.operand_count = INT_MAX;
  CASE("-2^31 operands") schema.operand_count = INT_MIN;
  CASE("9 operands") schema.operand_count = 9;
  CASE("operands at NULL") schema.operands = 0;
  CASE("17 attributes") schema.attr_count = 17;
  CASE("no result") schema.result_count = 0;
  CASE("2^31 - 1 results") schema.result_count = INT_MAX;
  CASE("a null name") kernel.name = 0;
  CASE("an empty name") kernel.name = "";
  CASE("a long name") kernel.name = long_name;
  CASE("a name in Latin-1") kernel.name = "Caf\xe9";
  CASE("an overlong name") kernel.name = "a\xc0\xaf";
  CASE("a name with a surrogate") kernel.name = "a\xed\xa0\x80";
  CASE("a name with a new line") kernel.name = "a\nb";
  CASE("an empty backend") kernel.backend = "";
  CASE("a kernel struct that is too small") kernel.struct_size = sizeof kernel - 8;
  CASE("a kernel struct of size 0") kernel.struct_size = 0;
  CASE("a kernel struct of size 2^32 - 1") kernel.struct_size = UINT_MAX;
  CASE("operand structs of two sizes") operands[1].struct_size = sizeof operands[1] + 8;
  CASE("unknown flags") kernel.flags = 1u << 31;
  CASE("unknown operand flags") operands[0].flags = 64;
  CASE("a reserved operand member") operands[0].reserved = 1;
  CASE("a reserved attribute member") attr.reserved = -1;
  CASE("a reserved gradient member") gradient.reserved = 1, both = 1;
  CASE("unknown dtypes") operands[0].dtypes = 1u << 30;
  CASE("one operand name twice") operands[1].name = "x";
  CASE("a list before others") operands[0].flags = KERNGRAD_LIST;
  CASE("an unknown kind") attr.kind = 99;
  CASE("a default out of range") attr.flags = KERNGRAD_BOUNDED, attr.least = 1, attr.most = 2;
  CASE("an empty range") attr.flags = KERNGRAD_BOUNDED, attr.least = 2, attr.most = 1;
  CASE("a fraction for an integer") attr.kind = KERNGRAD_INTEGER_ATTR, attr.fallback = 0.5;
  CASE("a text without choices") attr.kind = KERNGRAD_TEXT_ATTR;
  CASE("a null struct") return host->register_kernel(self, 0);
  CASE("a gradient of nothing") gradient.name = "NoSuchOp", both = 1;
  CASE("a gradient that saves nothing known") gradient.saves = &saved, gradient.save_count = 1, both = 1;
  CASE("a gradient without a function") gradient.run = 0, both = 1;
  CASE("a built-in op's gradient") gradient.name = "Exp", both = 1;
  CASE("-1 saves") gradient.save_count = -1, both = 1;
  CASE("a member of tomorrow") {
    memset(&larger, 0, sizeof larger);
    larger.known = kernel;
    larger.known.struct_size = sizeof larger;
    larger.unknown = 1;
    return host->register_kernel(self, &larger.known);
  }
  CASE("a member of tomorrow that is not used") {
    memset(&larger, 0, sizeof larger);
    larger.known = kernel;
    larger.known.struct_size = sizeof larger;
    return host->register_kernel(self, &larger.known);
  }
  if (!known) return host->refuse(self, "no such case");
  host->register_kernel(self, &kernel);
  if (both) host->register_gradient(self, &gradient);
  return KERNGRAD_OK; /* what failed counts all the same */
}

KERNGRAD_PACK(name_with_room, "0", init);
