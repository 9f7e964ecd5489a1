// SPDX-License-Identifier: Apache-2.0
// The typed names of all ops, a family each.
export module kerngrad:ops;

#include "modules/ops/import_names.inc"
