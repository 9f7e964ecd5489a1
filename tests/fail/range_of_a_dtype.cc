// SPDX-License-Identifier: Apache-2.0
// A dtype for a range of indices, which is none of numbers.
// error: is a range of indices, of integers: numbers from start to stop are made by kg::arange
import kerngrad;

#ifdef TWIN
const auto x = kg::arange(0, 10, 1, kg::dtype::int32);
#else
const auto x = kg::range(0, 10, 1, kg::dtype::int32);
#endif
