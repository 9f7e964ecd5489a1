// SPDX-License-Identifier: Apache-2.0
// Numbers asked of the range of indices, as they were once made.
// error: kg::range is a range of indices and no tensor: numbers from start to stop are made by kg::arange
import kerngrad;

#ifdef TWIN
const kg::tensor x = kg::arange(0, 10);
#else
const kg::tensor x = kg::range(0, 10);
#endif
