# SPDX-License-Identifier: Apache-2.0
"""A graph of ONNX as plain data. Converters of ops add nodes to it; write.py makes a file of it."""
import dataclasses

import numpy as np

from to_onnx import layout


class Unsupported(Exception):
    """A node that is not converted, or a graph that ONNX rejects."""


@dataclasses.dataclass
class Node:
    """A node. Inputs and outputs are names of tensors; an empty name is an input that is not there."""
    op: str
    inputs: list
    outputs: list
    attrs: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class Value:
    """A tensor: its name in the graph, the shape that the graph model gives it, and the order of its axes there."""
    name: str
    shape: tuple
    dtype: np.dtype
    order: tuple


def are_constant(values):
    return all(isinstance(value, np.ndarray) for value in values)


def scalar(value):
    """The number that a constant holds; none for tensors and for larger constants."""
    return value.reshape(())[()] if isinstance(value, np.ndarray) and value.size == 1 else None


class Graph:
    """Nodes in the order in which they run. Constants are arrays by name, in the order of axes in which they are read.
    Equal nodes and equal constants are one."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], {}, [], []
        self.shapes = {}  # of the results of nodes, as they are stored
        self.known = {}

    def constant(self, array):
        array = np.array(array, np.float32 if array.dtype == np.float64 else array.dtype, order='C')
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self.known:
            self.known[key] = f'constant_{len(self.constants)}'
            self.constants[self.known[key]] = array
        return self.known[key]

    def integers(self, numbers):
        """The name of a constant list, such as axes."""
        return self.constant(np.array(list(numbers), np.int64))

    def add(self, op, inputs, results=1, **attrs):
        """The names of a node's results."""
        key = op, tuple(inputs), results, repr(sorted(attrs.items()))
        if key not in self.known:
            self.known[key] = [f'{op.lower()}_{len(self.nodes)}' + (f'_{i}' if i else '') for i in range(results)]
            self.nodes.append(Node(op, list(inputs), self.known[key], attrs))
        return self.known[key]

    def value(self, op, inputs, shape, dtype, order=None, **attrs):
        """The result of a new node."""
        return self.named(self.add(op, inputs, **attrs)[0], shape, dtype, order)

    def named(self, name, shape, dtype, order=None):
        """A result as a tensor of the graph model."""
        shape = tuple(int(size) for size in shape)
        order = tuple(order) if order is not None else layout.plain(len(shape))
        self.shapes[name] = layout.stored(shape, order)
        return Value(name, shape, np.dtype(dtype), order)

    def stored(self, value, order=None):
        """The name of a tensor or a constant in an order of axes, by default that of the graph model."""
        if isinstance(value, np.ndarray):
            return self.constant(value.transpose(order) if order is not None and value.ndim else value)
        order = tuple(order) if order is not None else layout.plain(len(value.shape))
        if order == value.order:
            return value.name
        shape = layout.stored(value.shape, order)
        if layout.moves_nothing(value.shape, value.order, order):
            return self.value('Reshape', [value.name, self.integers(shape)], value.shape, value.dtype, order).name
        permutation = [value.order.index(axis) for axis in order]
        return self.value('Transpose', [value.name], value.shape, value.dtype, order, perm=permutation).name

    def reshape(self, value, shape):
        """A tensor of another shape with the same elements."""
        shape = tuple(int(size) for size in shape)
        if shape == value.shape:
            return value
        order = layout.reshaped(value.shape, value.order, shape)
        name = self.stored(value) if order is None else value.name
        order = layout.plain(len(shape)) if order is None else order
        if self.shapes[name] == layout.stored(shape, order):
            return Value(name, shape, value.dtype, order)
        return self.value('Reshape', [name, self.integers(layout.stored(shape, order))], shape, value.dtype, order)

    def transpose(self, value, permutation):
        """The axes in another order: nothing moves."""
        return Value(value.name, tuple(value.shape[axis] for axis in permutation), value.dtype,
                     layout.transposed(value.order, list(permutation)))

    def operand(self, value, rank, order):
        """The name of an operand that is broadcast to a rank whose axes are stored in that order."""
        if isinstance(value, np.ndarray):
            full = (1,) * (rank - value.ndim) + value.shape
            return self.constant(value.reshape(()) if value.size == 1 else value.reshape(full).transpose(order))
        return self.stored(self.reshape(value, (1,) * (rank - len(value.shape)) + value.shape), order)

    def elementwise(self, op, operands, dtype=None, **attrs):
        """The result of an op whose operands are broadcast."""
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        order = layout.common(operands, len(shape))
        names = [self.operand(operand, len(shape), order) for operand in operands]
        return self.value(op, names, shape, dtype or operands[0].dtype, order, **attrs)

    def feed(self, name, shape, dtype):
        """An input. Images are fed with their channels second, so that no convolution has to move them."""
        is_image = len(shape) == 4 and shape[3] <= 4
        value = self.named(name, shape, dtype, layout.CHANNELS_SECOND if is_image else None)
        self.inputs.append(value)
        return value
