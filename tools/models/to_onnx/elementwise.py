# SPDX-License-Identifier: Apache-2.0
"""Converters of elementwise ops. Each is a function of a graph, a node and its operands: tensors or constant arrays."""
import numpy as np

from to_onnx.graph import are_constant, scalar


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def direct(op, compute):
    """The converter of an op that is an op of ONNX, with the function that computes it for constants."""
    def convert(graph, node, *operands):
        if are_constant(operands):
            return np.asarray(compute(*operands), operands[0].dtype)
        return graph.elementwise(op, operands)
    return convert


def add_all(graph, node, *operands):
    total = operands[0]
    for operand in operands[1:]:
        total = OPS['Add'](graph, node, total, operand)
    return total


def divide(graph, node, a, b):
    if are_constant([a, b]):
        return np.asarray(a / b if a.dtype == np.float32 else a // b, a.dtype)
    if isinstance(b, np.ndarray) and b.dtype == np.float32:
        return OPS['Mul'](graph, node, a, np.asarray(1 / b.astype(np.float64), np.float32))
    return graph.elementwise('Div', [a, b])


def floor_divide(graph, node, a, b):
    """Integers here are positions. The quotient that ONNX rounds towards zero is the floor of these."""
    if are_constant([a, b]):
        return a // b
    quotient = graph.elementwise('Div', [a, b])
    return graph.elementwise('Floor', [quotient]) if a.dtype == np.float32 else quotient


def clip(graph, node, x, low=0, high=6):
    if are_constant([x]):
        return np.clip(x, low, high).astype(x.dtype)
    bounds = [graph.constant(np.asarray(bound, np.float32)) for bound in (low, high)]
    return graph.value('Clip', [x.name, *bounds], x.shape, x.dtype, x.order)


def prelu(graph, node, x, slope):
    """The slopes are stored as the tensor is."""
    slope = slope.reshape((1,) * (len(x.shape) - slope.ndim) + slope.shape).transpose(x.order)
    return graph.value('PRelu', [x.name, graph.constant(slope)], x.shape, x.dtype, x.order)


def square(graph, node, x):
    return OPS['Mul'](graph, node, x, x)


def squared_difference(graph, node, a, b):
    return square(graph, node, OPS['Sub'](graph, node, a, b))


def reciprocal_root(graph, node, x):
    return OPS['Reciprocal'](graph, node, OPS['Sqrt'](graph, node, x))


def cast(graph, node, x):
    to = np.dtype(node.attrs['DstT'])
    if are_constant([x]):
        return x.astype(to)
    return x if x.dtype == to else to_dtype(graph, x, to)


def to_dtype(graph, x, dtype):
    """The elements in another dtype. write.py gives the attribute its number."""
    return graph.elementwise('Cast', [x], dtype=np.dtype(dtype), to=np.dtype(dtype).name)


def same(graph, node, x, *rest):
    return x


OPS = {
    'Add': direct('Add', np.add), 'AddV2': direct('Add', np.add), 'BiasAdd': direct('Add', np.add),
    'AddN': add_all, 'Sub': direct('Sub', np.subtract), 'Mul': direct('Mul', np.multiply), 'RealDiv': divide,
    'FloorDiv': floor_divide, 'Minimum': direct('Min', np.minimum), 'Maximum': direct('Max', np.maximum),
    'Abs': direct('Abs', np.abs), 'Ceil': direct('Ceil', np.ceil), 'Exp': direct('Exp', np.exp),
    'Floor': direct('Floor', np.floor), 'Neg': direct('Neg', np.negative),
    'Reciprocal': direct('Reciprocal', np.reciprocal), 'Relu': direct('Relu', lambda x: np.maximum(x, 0)),
    'Relu6': clip, 'ClipByValue': lambda graph, node, x, low, high: clip(graph, node, x, scalar(low), scalar(high)),
    'Rsqrt': reciprocal_root, 'Sigmoid': direct('Sigmoid', sigmoid), 'Sqrt': direct('Sqrt', np.sqrt),
    'Square': square, 'SquaredDifference': squared_difference, 'Tanh': direct('Tanh', np.tanh), 'Prelu': prelu,
    'Cast': cast, 'Identity': same, 'StopGradient': same,
}
