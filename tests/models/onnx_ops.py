# SPDX-License-Identifier: Apache-2.0
"""Runs a graph of ONNX by the definitions of its ops, with the channels second and in double precision."""
import itertools

import numpy as np


def convolution(x, w, bias=None, *, kernel_shape, strides, dilations, pads, group):
    assert list(w.shape[2:]) == kernel_shape
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    extents = [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations)]
    sizes = [(size - e) // s + 1 for size, e, s in zip(x.shape[2:], extents, strides)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes))
    for m, i, j in itertools.product(range(w.shape[0]), *map(range, sizes)):
        first = m // (w.shape[0] // group) * w.shape[1]
        top, left = i * strides[0], j * strides[1]
        part = x[:, first:first + w.shape[1], top:top + extents[0]:dilations[0], left:left + extents[1]:dilations[1]]
        y[:, m, i, j] = (part * w[m]).sum((1, 2, 3))
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def conv_transpose(x, w, bias=None, *, kernel_shape, strides, pads, output_padding):
    assert list(w.shape[2:]) == kernel_shape
    sizes = [(n - 1) * s + k + more for n, s, k, more in zip(x.shape[2:], strides, kernel_shape, output_padding)]
    y = np.zeros((x.shape[0], w.shape[1], *sizes))
    for i, j in itertools.product(*map(range, x.shape[2:])):
        top, left = i * strides[0], j * strides[1]
        y[:, :, top:top + kernel_shape[0], left:left + kernel_shape[1]] += np.einsum('nc,cmhw->nmhw', x[:, :, i, j], w)
    y = y[:, :, pads[0]:sizes[0] - pads[2], pads[1]:sizes[1] - pads[3]]
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def pool(reduce):
    def run(x, *, kernel_shape, strides, pads, count_include_pad=0):
        assert not count_include_pad
        x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=np.nan)
        sizes = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel_shape, strides)]
        y = np.zeros((*x.shape[:2], *sizes))
        for i, j in itertools.product(*map(range, sizes)):
            top, left = i * strides[0], j * strides[1]
            y[:, :, i, j] = reduce(x[:, :, top:top + kernel_shape[0], left:left + kernel_shape[1]], axis=(2, 3))
        return y
    return run


def resize(x, regions, scales=None, sizes=None, *, mode, coordinate_transformation_mode):
    assert mode == 'linear' and (scales is None) != (sizes is None)
    for axis, size in enumerate(x.shape):
        count = int(sizes[axis]) if scales is None else int(size * scales[axis])
        i = np.arange(count)
        at = {'asymmetric': i * size / count, 'half_pixel': (i + 0.5) * size / count - 0.5,
              'align_corners': i * (size - 1) / max(count - 1, 1)}[coordinate_transformation_mode]
        at = np.clip(at, 0, size - 1)
        weights = np.maximum(1 - np.abs(at[:, None] - np.arange(size)), 0)
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


def depth_to_space(x, *, blocksize, mode):
    assert mode == 'DCR'
    n, c, h, w = x.shape
    parts = x.reshape(n, blocksize, blocksize, c // blocksize ** 2, h, w)
    return parts.transpose(0, 3, 4, 1, 5, 2).reshape(n, c // blocksize ** 2, h * blocksize, w * blocksize)


def pad(x, pads, value=0):
    rank = len(pads) // 2
    return np.pad(x, list(zip(pads[:rank], pads[rank:])), constant_values=value)


def slice_of(x, starts, ends, axes, steps):
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[axis] = slice(start, None if end < -x.shape[axis] else end, step)
    return x[tuple(index)]


def clip(x, low=None, high=None):
    x = x if low is None else np.where(x < low, low, x)
    return x if high is None else np.where(x > high, high, x)


def batch_normalization(x, scale, bias, mean, variance, *, epsilon):
    scale, bias, mean, variance = (of_channels.reshape(1, -1, 1, 1) for of_channels in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def reduction(reduce):
    return lambda x, axes=None, *, keepdims=1, **attrs: reduce(
        x, axis=tuple(attrs.get('axes', axes)), keepdims=bool(keepdims))


def over_image(reduce):
    return lambda x: reduce(x, axis=(2, 3), keepdims=True)


def softmax(x, *, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def split(x, sizes, *, axis):
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def gather_nd(x, at):
    assert at.dtype == np.int64
    y = np.zeros((*at.shape[:-1], *x.shape[at.shape[-1]:]), x.dtype)
    for place in itertools.product(*map(range, at.shape[:-1])):
        y[place] = x[tuple(at[place])]
    return y


OPS = {
    'Add': np.add, 'Sub': np.subtract, 'Mul': np.multiply,
    'Div': lambda a, b: a / b if a.dtype.kind == 'f' else (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b),
    'Min': np.minimum, 'Max': np.maximum, 'Abs': np.abs, 'Ceil': np.ceil, 'Exp': np.exp, 'Floor': np.floor,
    'Neg': np.negative, 'Reciprocal': lambda x: 1 / x, 'Relu': lambda x: np.maximum(x, 0), 'Clip': clip,
    'Sigmoid': lambda x: 1 / (1 + np.exp(-x)), 'Sqrt': np.sqrt, 'Tanh': np.tanh,
    'HardSigmoid': lambda x, *, alpha, beta: clip(alpha * x + beta, 0, 1),
    'PRelu': lambda x, slope: np.where(x < 0, slope * x, x),
    'LeakyRelu': lambda x, *, alpha: np.where(x < 0, alpha * x, x),
    'Cast': lambda x, *, to: x.astype(to if to != 'float32' else np.float64), 'Identity': lambda x: x,
    'Conv': convolution, 'ConvTranspose': conv_transpose, 'BatchNormalization': batch_normalization,
    'MaxPool': pool(np.nanmax), 'AveragePool': pool(np.nanmean), 'GlobalAveragePool': over_image(np.mean),
    'GlobalMaxPool': over_image(np.max), 'Resize': resize, 'DepthToSpace': depth_to_space, 'Pad': pad,
    'MatMul': np.matmul, 'Gemm': lambda a, b, c: a @ b + c,
    'ReduceMean': reduction(np.mean), 'ReduceSum': reduction(np.sum), 'ReduceMax': reduction(np.max),
    'ReduceMin': reduction(np.min), 'ReduceProd': reduction(np.prod), 'Softmax': softmax,
    'ArgMax': lambda x, *, axis, keepdims: x.argmax(axis, keepdims=bool(keepdims)),
    'Reshape': lambda x, shape: x.reshape(shape), 'Transpose': lambda x, *, perm: x.transpose(perm),
    'Concat': lambda *xs, axis: np.concatenate(xs, axis), 'Split': split, 'Slice': slice_of,
    'Gather': lambda x, at, *, axis: x.take(at, axis), 'GatherND': gather_nd,
}


def run(graph, feeds):
    """The outputs of a graph, as they are stored. `feeds` are the inputs, as they are stored."""
    values = {'': None}
    for name, array in (*graph.constants.items(), *zip((port.name for port in graph.inputs), feeds)):
        values[name] = array.astype(np.float64) if array.dtype == np.float32 else array
    for node in graph.nodes:
        made = OPS[node.op](*(values[name] for name in node.inputs), **node.attrs)
        values.update(zip(node.outputs, made if isinstance(made, list) else [made]))
    return [values[port.name] for port in graph.outputs]
