/* SPDX-License-Identifier: Apache-2.0
 * A shared library that is no pack. */
__attribute__((visibility("default"))) const int kerngrad_pack_v2 = 1;
