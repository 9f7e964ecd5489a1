# SPDX-License-Identifier: Apache-2.0
"""Names of the dictionary's code besides NumPy and the operands."""
import numpy as np


def f(t):
    return np.sum(np.sin(t) * t)


def g(t):
    return np.sum(np.sin(t) * t, 1)


def changed(array, change):
    """A copy of an array that a function changed in place."""
    copy = array.copy()
    change(copy)
    return copy
