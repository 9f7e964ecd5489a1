// SPDX-License-Identifier: Apache-2.0
// Nothing: the library that this is the source of exists for headers.h, which Meson compiles first.
