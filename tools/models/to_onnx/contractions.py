# SPDX-License-Identifier: Apache-2.0
"""Converters of products of matrices, and of reductions."""
import numpy as np

from to_onnx import layout, windows
from to_onnx.elementwise import to_dtype
from to_onnx.graph import are_constant


def swapped(graph, x):
    """The last two axes in the other order."""
    if are_constant([x]):
        return x.swapaxes(-1, -2)
    rank = len(x.shape)
    return graph.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def product(first, second):
    """The converter of a product whose node has these attributes for transposed operands."""
    def convert(graph, node, a, b, *rest):
        a = swapped(graph, a) if node.attrs.get(first) else a
        b = swapped(graph, b) if node.attrs.get(second) else b
        if are_constant([a, b]):
            return a @ b
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        y = graph.value('MatMul', [graph.stored(a), graph.stored(b)], shape, a.dtype)
        return windows.finished(graph, node, y, rest)
    return convert


def reduction(op, compute):
    def convert(graph, node, x, axes):
        axes = sorted(int(axis) % max(len(x.shape), 1) for axis in np.atleast_1d(axes))
        keeps = bool(node.attrs.get('keep_dims'))
        if are_constant([x]):
            return np.asarray(compute(x, axis=tuple(axes), keepdims=keeps), x.dtype)
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        y = reduced(graph, op, x, axes, kept)
        return y if keeps else graph.reshape(y, [size for axis, size in enumerate(x.shape) if axis not in axes])
    return convert


def reduced(graph, op, x, axes, shape):
    """The reduction with axes of one element. For all positions of an image ONNX has other ops."""
    over_image = {'ReduceMean': 'GlobalAveragePool', 'ReduceMax': 'GlobalMaxPool'}.get(op)
    if len(x.shape) == 4 and axes == [1, 2] and over_image:
        name = graph.stored(x, layout.CHANNELS_SECOND)
        return graph.value(over_image, [name], shape, x.dtype, layout.CHANNELS_SECOND)
    places = sorted(x.order.index(axis) for axis in axes)
    if op == 'ReduceSum':  # its axes are an operand since operators of version 13
        return graph.value(op, [x.name, graph.integers(places)], shape, x.dtype, x.order, keepdims=1)
    return graph.value(op, [x.name], shape, x.dtype, x.order, keepdims=1, axes=places)


def arg_max(graph, node, x, axis):
    axis = int(axis) % len(x.shape)
    shape = [size for a, size in enumerate(x.shape) if a != axis]
    y = graph.value('ArgMax', [x.name], shape, np.int64, layout.without(x.order, [axis]), axis=x.order.index(axis),
                    keepdims=0)
    return to_dtype(graph, y, np.int32)


def softmax(graph, node, x):
    return graph.value('Softmax', [graph.stored(x)], x.shape, x.dtype, axis=-1)


OPS = {
    'MatMul': product('transpose_a', 'transpose_b'), '_FusedMatMul': product('transpose_a', 'transpose_b'),
    'BatchMatMulV2': product('adj_x', 'adj_y'),
    'Mean': reduction('ReduceMean', np.mean), 'Sum': reduction('ReduceSum', np.sum),
    'Max': reduction('ReduceMax', np.max), 'Min': reduction('ReduceMin', np.min),
    'Prod': reduction('ReduceProd', np.prod), 'ArgMax': arg_max, 'Softmax': softmax,
}
