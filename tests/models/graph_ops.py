# SPDX-License-Identifier: Apache-2.0
"""Ops of TensorFlow.js's graphs by their definitions, with the channels last. The oracle of converter.py."""
import itertools

import numpy as np


def padding(node, sizes, window, strides, dilations):
    """The sizes of the result, and zeros before and after, for height and width."""
    extents = [(k - 1) * d + 1 for k, d in zip(window, dilations)]
    if node.attrs['padding'] == 'SAME':
        results = [-(-size // s) for size, s in zip(sizes, strides)]
        totals = [max((n - 1) * s + e - size, 0) for n, s, e, size in zip(results, strides, extents, sizes)]
        return results, [(total // 2, total - total // 2) for total in totals]
    given = node.attrs.get('explicit_paddings') or [0] * 8
    pads = [(given[2], given[3]), (given[4], given[5])]
    return [(size + sum(p) - e) // s + 1 for size, p, e, s in zip(sizes, pads, extents, strides)], pads


def windows(node, x, window, strides, dilations, value):
    """(place of the result, window of the image) for each place."""
    sizes, pads = padding(node, x.shape[1:3], window, strides, dilations)
    image = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)
    for at in itertools.product(*map(range, sizes)):
        rows, columns = ([i * s + d * k for k in range(count)]
                         for i, s, d, count in zip(at, strides, dilations, window))
        yield sizes, at, image[:, rows][:, :, columns]


def convolution(node, x, w, channel_sums):
    strides, dilations = node.attrs['strides'][1:3], (node.attrs.get('dilations') or [1] * 4)[1:3]
    y = None
    for sizes, at, part in windows(node, x, w.shape[:2], strides, dilations, 0):
        sums = channel_sums(part, w)
        y = np.zeros((x.shape[0], *sizes, sums.shape[1])) if y is None else y
        y[(slice(None), *at)] = sums
    return y


def conv2d(node, x, w):
    """Groups follow from the channels of filter and image."""
    groups = x.shape[3] // w.shape[2]

    def sums(part, w):
        parts = zip(np.split(part, groups, axis=3), np.split(w, groups, axis=3))
        return np.concatenate([np.einsum('nhwc,hwcm->nm', p, q) for p, q in parts], axis=1)
    return convolution(node, x, w, sums)


def depthwise(node, x, w):
    return convolution(node, x, w, lambda part, w: np.einsum('nhwc,hwcm->ncm', part, w).reshape(part.shape[0], -1))


def backprop_input(node, sizes, w, dy):
    """Each element of dy adds the filter to its window, because the result is the gradient of a convolution."""
    strides = node.attrs['strides'][1:3]
    _, pads = padding(node, sizes[1:3], w.shape[:2], strides, (1, 1))
    dx = np.zeros((sizes[0], sizes[1] + sum(pads[0]), sizes[2] + sum(pads[1]), w.shape[2]))
    for i, j in itertools.product(*map(range, dy.shape[1:3])):
        top, left = i * strides[0], j * strides[1]
        dx[:, top:top + w.shape[0], left:left + w.shape[1]] += np.einsum('nm,hwcm->nhwc', dy[:, i, j], w)
    return dx[:, pads[0][0]:pads[0][0] + sizes[1], pads[1][0]:pads[1][0] + sizes[2]]


def pool(reduce):
    def run(node, x):
        window, strides = node.attrs['ksize'][1:3], node.attrs['strides'][1:3]
        y = None
        for sizes, at, part in windows(node, x, window, strides, (1, 1), np.nan):
            y = np.zeros((x.shape[0], *sizes, x.shape[3])) if y is None else y
            y[(slice(None), *at)] = reduce(part, axis=(1, 2))
        return y
    return run


def resize(node, x, sizes):
    def row(i, size, count):
        if node.attrs.get('align_corners'):
            return i * (size - 1) / max(count - 1, 1)
        return (i + 0.5) * size / count - 0.5 if node.attrs.get('half_pixel_centers') else i * size / count

    for axis, count in ((1, int(sizes[0])), (2, int(sizes[1]))):
        size = x.shape[axis]
        at = np.clip([row(i, size, count) for i in range(count)], 0, size - 1)
        low = np.floor(at).astype(int)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(np.minimum(low + 1, size - 1), axis) * part
    return x


def depth_to_space(node, x):
    n, h, w, c = x.shape
    b = node.attrs['block_size']
    y = np.zeros((n, h * b, w * b, c // b // b))
    for i, j, k in itertools.product(range(h * b), range(w * b), range(y.shape[3])):
        y[:, i, j, k] = x[:, i // b, j // b, (i % b * b + j % b) * y.shape[3] + k]
    return y


def strided_slice(node, x, begin, end, strides):
    def bit(mask, i):
        return node.attrs.get(mask, 0) & (1 << i)
    index = [Ellipsis if bit('ellipsis_mask', i) else np.newaxis if bit('new_axis_mask', i) else
             begin[i] if bit('shrink_axis_mask', i) else
             slice(None if bit('begin_mask', i) else begin[i], None if bit('end_mask', i) else end[i], strides[i])
             for i in range(len(begin))]
    return x[tuple(index)]


def reduction(reduce):
    return lambda node, x, axes: reduce(x, axis=tuple(np.atleast_1d(axes)), keepdims=node.attrs.get('keep_dims', False))


def softmax(node, x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def fused(product):
    def run(node, a, b, *rest):
        y, rest = product(node, a, b), list(rest)
        for op in node.attrs['fused_ops']:
            y = OPS[op](node, y, *([rest.pop(0)] if op in ('BiasAdd', 'Prelu') else []))
        return y
    return run


def matmul(node, a, b):
    turn_a, turn_b = (node.attrs.get(one) or node.attrs.get(other)
                      for one, other in (('transpose_a', 'adj_x'), ('transpose_b', 'adj_y')))
    return (a.swapaxes(-1, -2) if turn_a else a) @ (b.swapaxes(-1, -2) if turn_b else b)


def add(node, *xs):
    return sum(xs)


def size_slice(node, x, begin, size):
    return x[tuple(slice(b, n if s < 0 else b + s) for b, s, n in zip(begin, size, x.shape))]


def unpack(node, x):
    return list(np.moveaxis(x, node.attrs['axis'], 0))


def padded(node, x, pads, value=0):
    return np.pad(x, pads, constant_values=value)


OPS = {
    'Add': add, 'AddV2': add, 'BiasAdd': add, 'AddN': add, 'Sub': lambda node, a, b: a - b,
    'Mul': lambda node, a, b: a * b, 'RealDiv': lambda node, a, b: a / b if a.dtype.kind == 'f' else a // b,
    'FloorDiv': lambda node, a, b: a // b, 'Minimum': lambda node, a, b: np.where(a < b, a, b),
    'Maximum': lambda node, a, b: np.where(a > b, a, b), 'Abs': lambda node, x: np.where(x < 0, -x, x),
    'Ceil': lambda node, x: -np.floor(-x), 'Exp': lambda node, x: np.e ** x, 'Floor': lambda node, x: x // 1,
    'Neg': lambda node, x: 0 - x, 'Reciprocal': lambda node, x: x ** -1.0, 'Relu': lambda node, x: x * (x > 0),
    'Relu6': lambda node, x: np.clip(x, 0, 6), 'ClipByValue': lambda node, x, low, high: np.clip(x, low, high),
    'Rsqrt': lambda node, x: x ** -0.5, 'Sigmoid': lambda node, x: 0.5 + 0.5 * np.tanh(x / 2),
    'Sqrt': lambda node, x: x ** 0.5, 'Square': lambda node, x: x ** 2,
    'SquaredDifference': lambda node, a, b: (a - b) ** 2, 'Tanh': lambda node, x: 1 - 2 / (np.exp(2 * x) + 1),
    'Prelu': lambda node, x, slope: np.where(x < 0, slope * x, x),
    'Cast': lambda node, x: x.astype(node.attrs['DstT']), 'Identity': lambda node, x: x,
    'StopGradient': lambda node, x: x,
    'Conv2D': conv2d, '_FusedConv2D': fused(conv2d), 'DepthwiseConv2dNative': depthwise,
    'FusedDepthwiseConv2dNative': fused(depthwise), 'Conv2DBackpropInput': backprop_input,
    'MaxPool': pool(np.nanmax), 'AvgPool': pool(np.nanmean), 'ResizeBilinear': resize,
    'DepthToSpace': depth_to_space, 'Pad': padded, 'PadV2': padded,
    'MatMul': matmul, '_FusedMatMul': fused(matmul), 'BatchMatMulV2': matmul,
    'Mean': reduction(np.mean), 'Sum': reduction(np.sum), 'Max': reduction(np.max), 'Min': reduction(np.min),
    'Prod': reduction(np.prod), 'ArgMax': lambda node, x, axis: x.argmax(int(axis)), 'Softmax': softmax,
    'Reshape': lambda node, x, shape: x.reshape(shape),
    'Squeeze': lambda node, x: x.squeeze(tuple(node.attrs.get('squeeze_dims') or ()) or None),
    'ExpandDims': lambda node, x, axis: np.expand_dims(x, int(axis)),
    'Transpose': lambda node, x, permutation: x.transpose(permutation),
    'ConcatV2': lambda node, *xs: np.concatenate(xs[:-1], int(xs[-1])),
    'Pack': lambda node, *xs: np.stack(xs, node.attrs['axis']), 'Unpack': unpack,
    'Split': lambda node, axis, x: np.split(x, node.attrs['num_split'], int(axis)),
    'StridedSlice': strided_slice, 'Slice': size_slice,
    'GatherV2': lambda node, x, at, axis: x.take(at, int(axis)),
    'GatherNd': lambda node, x, at: x[tuple(np.moveaxis(at, -1, 0))],
    'Shape': lambda node, x: np.array(x.shape, np.int32), 'Size': lambda node, x: np.array(x.size, np.int32),
    'Range': lambda node, a, b, step: np.arange(a, b, step), 'Fill': lambda node, dims, x: np.full(dims, x),
    'Tile': lambda node, x, counts: np.tile(x, counts),
    'BroadcastTo': lambda node, x, shape: np.broadcast_to(x, shape),
}


def run(nodes, values, wanted):
    """The results of nodes, which are in an order in which they can run, from the values of inputs and constants."""
    values = dict(values)
    for node in nodes:
        made = OPS[node.op](node, *(values[ref] for ref in node.inputs))
        for i, value in enumerate(made if isinstance(made, list) else [made]):
            values[f'{node.name}:{i}'] = np.asarray(value)
        values[node.name] = values[f'{node.name}:0']
    return [values[ref] for ref in wanted]
