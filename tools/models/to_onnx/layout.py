# SPDX-License-Identifier: Apache-2.0
"""Orders of axes. A graph model has its channels last; ONNX Runtime's convolutions have them second.

A tensor keeps the shape of the graph model, and an order says how its elements are stored: axis i in memory is axis
order[i] of the shape. Transposing a tensor changes both and moves nothing. Elements move where an op needs one order.
"""
import math

import numpy as np

CHANNELS_SECOND = (0, 3, 1, 2)


def plain(rank):
    """The order of a graph model's tensors."""
    return tuple(range(rank))


def stored(shape, order):
    """The shape in memory."""
    return tuple(shape[axis] for axis in order)


def moves_nothing(shape, before, after):
    """True if two orders differ by axes of one element."""
    return [a for a in before if shape[a] != 1] == [a for a in after if shape[a] != 1]


def transposed(order, permutation):
    """The order after the axes permutation[0], permutation[1] and so on became the first, second and so on."""
    return tuple(permutation.index(axis) for axis in order)


def without(order, axes):
    """The order of a shape that lacks these axes."""
    left = [axis for axis in range(len(order)) if axis not in axes]
    return tuple(left.index(axis) for axis in order if axis in left)


def reshaped(shape, order, new):
    """The order of a shape that has other axes of one element; none if elements would have to move."""
    solid, new_solid = ([axis for axis, size in enumerate(sizes) if size != 1] for sizes in (shape, new))
    if [shape[axis] for axis in solid] != [new[axis] for axis in new_solid]:
        return None
    result = [new_solid[solid.index(axis)] for axis in order if axis in solid]
    for axis in (axis for axis, size in enumerate(new) if size == 1):
        result.insert(min(axis, len(result)), axis)
    return tuple(result)


def common(operands, rank):
    """The order in which most elements stay: the one of the largest operand of that rank, not plain in a tie."""
    full = [operand for operand in operands if not isinstance(operand, np.ndarray) and len(operand.shape) == rank]
    return max(((math.prod(operand.shape), operand.order != plain(rank), operand.order) for operand in full),
               default=(0, False, plain(rank)))[2]
