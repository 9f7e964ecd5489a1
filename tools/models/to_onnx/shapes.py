# SPDX-License-Identifier: Apache-2.0
"""Converters of ops that ask for shapes, and that move, cut or join tensors without arithmetic."""
import math

import numpy as np

from to_onnx import layout
from to_onnx.elementwise import to_dtype
from to_onnx.graph import are_constant


def reshape(graph, node, x, shape):
    shape = [int(size) for size in shape]
    if are_constant([x]):
        return x.reshape(shape)
    if -1 in shape:
        shape[shape.index(-1)] = math.prod(x.shape) // -math.prod(shape)
    return graph.reshape(x, shape)


def to_shape(graph, x, shape):
    return x.reshape(shape) if are_constant([x]) else graph.reshape(x, shape)


def squeeze(graph, node, x):
    axes = node.attrs.get('squeeze_dims') or [axis for axis, size in enumerate(x.shape) if size == 1]
    axes = [axis % len(x.shape) for axis in axes]
    return to_shape(graph, x, [size for axis, size in enumerate(x.shape) if axis not in axes])


def expand_dims(graph, node, x, axis):
    axis = int(axis) % (len(x.shape) + 1)
    return to_shape(graph, x, [*x.shape[:axis], 1, *x.shape[axis:]])


def transpose(graph, node, x, permutation):
    permutation = [int(axis) for axis in permutation]
    return x.transpose(permutation) if are_constant([x]) else graph.transpose(x, permutation)


def joined(graph, parts, axis):
    if are_constant(parts):
        return np.concatenate(parts, axis)
    rank = len(parts[0].shape)
    axis %= rank
    parts = [part for part in parts if part.shape[axis] != 0]
    order = layout.common(parts, rank)
    shape = [sum(part.shape[axis] for part in parts) if a == axis else size for a, size in enumerate(parts[0].shape)]
    dtype = next(part.dtype for part in parts)
    return graph.value('Concat', [graph.stored(part, order) for part in parts], shape, dtype, order,
                       axis=order.index(axis))


def concat(graph, node, *operands):
    return joined(graph, operands[:-1], int(operands[-1]))


def pack(graph, node, *parts):
    axis = node.attrs.get('axis', 0) % (len(parts[0].shape) + 1)
    grown = [expand_dims(graph, node, part, axis) for part in parts]
    return joined(graph, grown, axis) if len(grown) > 1 else grown[0]


def cut(graph, x, axis, sizes):
    """Parts of a tensor along an axis."""
    if len(sizes) == 1:
        return [x]
    names = graph.add('Split', [x.name, graph.integers(sizes)], results=len(sizes), axis=x.order.index(axis))
    return [graph.named(name, [size if a == axis else s for a, s in enumerate(x.shape)], x.dtype, x.order)
            for name, size in zip(names, sizes)]


def unpack(graph, node, x):
    axis = node.attrs.get('axis', 0) % len(x.shape)
    left = [size for a, size in enumerate(x.shape) if a != axis]
    if are_constant([x]):
        return [np.take(x, i, axis) for i in range(x.shape[axis])]
    return [graph.reshape(part, left) for part in cut(graph, x, axis, [1] * x.shape[axis])]


def split(graph, node, axis, x):
    count, axis = node.attrs['num_split'], int(axis) % len(x.shape)
    return cut(graph, x, axis, [x.shape[axis] // count] * count)


def strided_slice(graph, node, x, begin, end, strides):
    def has(mask, i):
        return node.attrs.get(mask, 0) >> i & 1

    index = []
    for i in range(len(begin)):
        if has('ellipsis_mask', i):
            index.append(Ellipsis)
        elif has('new_axis_mask', i):
            index.append(None)
        elif has('shrink_axis_mask', i):
            index.append(int(begin[i]))
        else:
            index.append(slice(None if has('begin_mask', i) else int(begin[i]),
                               None if has('end_mask', i) else int(end[i]), int(strides[i])))
    return indexed(graph, x, tuple(index))


def slice_of(graph, node, x, begin, size):
    return indexed(graph, x, tuple(slice(int(b), None if s == -1 else int(b + s)) for b, s in zip(begin, size)))


def ranges_of(index, shape):
    """The positions along each axis that an index of NumPy takes."""
    used = sum(part is not None and part is not Ellipsis for part in index)
    full = []
    for part in index:
        full += [slice(None)] * (len(shape) - used) if part is Ellipsis else [part] if part is not None else []
    full += [slice(None)] * (len(shape) - len(full))
    return [range(part % size, part % size + 1) if isinstance(part, int) else range(*part.indices(size))
            for part, size in zip(full, shape)]


def indexed(graph, x, index):
    """x[index] of NumPy."""
    if are_constant([x]):
        return np.asarray(x[index])
    ranges = ranges_of(index, x.shape)
    axes = [axis for axis, positions in enumerate(ranges) if positions != range(x.shape[axis])]
    y = x
    if axes:
        # Behind the first element there is no position that ONNX counts from the end.
        ends = [ranges[axis].stop if ranges[axis].stop >= 0 else -x.shape[axis] - 1 for axis in axes]
        lists = [[ranges[axis].start for axis in axes], ends, [x.order.index(axis) for axis in axes],
                 [ranges[axis].step for axis in axes]]
        y = graph.value('Slice', [x.name, *map(graph.integers, lists)], [len(positions) for positions in ranges],
                        x.dtype, x.order)
    return graph.reshape(y, np.broadcast_to(np.int8(0), x.shape)[index].shape)


def gather(graph, node, x, positions, axis=0):
    axis = int(axis) % len(x.shape)
    if are_constant([x, positions]):
        return np.take(x, positions, axis)
    shape = (*x.shape[:axis], *positions.shape, *x.shape[axis + 1:])
    return graph.value('Gather', [graph.stored(x), graph.stored(positions)], shape, x.dtype, axis=axis)


def gather_nd(graph, node, x, positions):
    depth = positions.shape[-1]
    if not are_constant([positions]):
        positions = to_dtype(graph, positions, np.int64)
    else:
        positions = positions.astype(np.int64)
    return graph.value('GatherND', [graph.stored(x), graph.stored(positions)],
                       (*positions.shape[:-1], *x.shape[depth:]), x.dtype)


def of_constants(compute, like=0):
    """The converter of an op that graph models apply to constants alone. An operand has the dtype of the result."""
    def convert(graph, node, *operands):
        if not are_constant(operands):
            raise ValueError('an operand is not constant')
        return np.asarray(compute(*operands), operands[like].dtype)
    return convert


OPS = {
    'Reshape': reshape, 'Squeeze': squeeze, 'ExpandDims': expand_dims, 'Transpose': transpose, 'ConcatV2': concat,
    'Pack': pack, 'Unpack': unpack, 'Split': split, 'StridedSlice': strided_slice, 'Slice': slice_of,
    'GatherV2': gather, 'GatherNd': gather_nd,
    'Shape': lambda graph, node, x: np.array(x.shape, np.int32),
    'Size': lambda graph, node, x: np.array(math.prod(x.shape), np.int32),
    'Range': of_constants(np.arange), 'Fill': of_constants(np.full, like=1),
    'Tile': of_constants(np.tile), 'BroadcastTo': of_constants(np.broadcast_to),
}
