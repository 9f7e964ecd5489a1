# SPDX-License-Identifier: Apache-2.0
"""Converters of ops on images: convolutions, pooling, resizing and padding.

Their operands and results have the channels second in memory, but for padding, which keeps the order."""
import numpy as np

from to_onnx import elementwise
from to_onnx.graph import are_constant, scalar
from to_onnx.layout import CHANNELS_SECOND

# Ops of `fused_ops` that take an operand of the fused node.
WITH_OPERAND = ('BiasAdd', 'Prelu')


def same_padding(size, window, stride, dilation):
    """The results along an axis, and the zeros before and after it."""
    count = -(-size // stride)
    total = max((count - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return count, (total // 2, total - total // 2)


def moved(node, image, window, strides, dilations=(1, 1)):
    """Height and width of the result, and zeros before and after each."""
    sizes, pads = [], []
    for axis in (0, 1):
        size, extent = image[1 + axis], (window[axis] - 1) * dilations[axis] + 1
        if node.attrs['padding'] == 'SAME':
            count, pad = same_padding(size, window[axis], strides[axis], dilations[axis])
        else:
            explicit = node.attrs.get('explicit_paddings') or [0] * 8
            pad = tuple(explicit[2 + 2 * axis:4 + 2 * axis])
            count = (size + sum(pad) - extent) // strides[axis] + 1
        sizes.append(count)
        pads.append(pad)
    return sizes, pads


def in_order_of_onnx(pads):
    """All zeros before, then all after."""
    return [before for before, _ in pads] + [after for _, after in pads]


def convolution(graph, node, x, filters, depthwise):
    if node.attrs.get('data_format', 'NHWC') != 'NHWC':
        raise ValueError('channels are not last')
    strides = node.attrs['strides'][1:3]
    dilations = (node.attrs.get('dilations') or [1] * 4)[1:3]
    height, width, channels, count = filters.shape
    sizes, pads = moved(node, x.shape, (height, width), strides, dilations)
    if depthwise:
        weights, results, groups = filters.transpose(2, 3, 0, 1), channels * count, channels
        weights = weights.reshape(results, 1, height, width)
    else:
        weights, results, groups = filters.transpose(3, 2, 0, 1), count, x.shape[3] // channels
    return graph.value('Conv', [graph.stored(x, CHANNELS_SECOND), graph.constant(weights)],
                       (x.shape[0], *sizes, results), x.dtype, CHANNELS_SECOND, kernel_shape=[height, width],
                       strides=strides, dilations=dilations, pads=in_order_of_onnx(pads), group=groups)


def finished(graph, node, y, rest):
    """The ops that a fused node applies to its product."""
    rest = list(rest)
    for op in node.attrs.get('fused_ops') or []:
        y = elementwise.OPS[op](graph, node, y, *([rest.pop(0)] if op in WITH_OPERAND else []))
    return y


def conv2d(graph, node, x, filters, *rest):
    return finished(graph, node, convolution(graph, node, x, filters, False), rest)


def depthwise_conv2d(graph, node, x, filters, *rest):
    return finished(graph, node, convolution(graph, node, x, filters, True), rest)


def transposed_convolution(graph, node, sizes, filters, x):
    strides = node.attrs['strides'][1:3]
    height, width, results, _ = filters.shape
    pads, missing = [], []
    for axis, window in ((0, height), (1, width)):
        extra = (x.shape[1 + axis] - 1) * strides[axis] + window - int(sizes[1 + axis])
        missing.append(max(-extra, 0))
        pads.append((max(extra, 0) // 2, max(extra, 0) - max(extra, 0) // 2))
    return graph.value('ConvTranspose',
                       [graph.stored(x, CHANNELS_SECOND), graph.constant(filters.transpose(3, 2, 0, 1))],
                       (x.shape[0], *sizes[1:3], results), x.dtype, CHANNELS_SECOND, kernel_shape=[height, width],
                       strides=strides, pads=in_order_of_onnx(pads), output_padding=missing)


def pool(op, **attrs):
    def convert(graph, node, x):
        window, strides = node.attrs['ksize'][1:3], node.attrs['strides'][1:3]
        sizes, pads = moved(node, x.shape, window, strides)
        shape, name = (x.shape[0], *sizes, x.shape[3]), graph.stored(x, CHANNELS_SECOND)
        if tuple(window) == x.shape[1:3] and sizes == [1, 1]:
            return graph.value(f'Global{op}', [name], shape, x.dtype, CHANNELS_SECOND)
        return graph.value(op, [name], shape, x.dtype, CHANNELS_SECOND, kernel_shape=window, strides=strides,
                           pads=in_order_of_onnx(pads), **attrs)
    return convert


def resize_bilinear(graph, node, x, size):
    height, width = (int(number) for number in size)
    if (height, width) == x.shape[1:3]:
        return x
    mode = next((mode for key, mode in (('align_corners', 'align_corners'), ('half_pixel_centers', 'half_pixel'))
                 if node.attrs.get(key)), 'asymmetric')
    name = graph.stored(x, CHANNELS_SECOND)
    if height % x.shape[1] == 0 and width % x.shape[2] == 0:
        scales = np.array([1, 1, height / x.shape[1], width / x.shape[2]], np.float32)
        inputs = [name, '', graph.constant(scales)]
    else:
        inputs = [name, '', '', graph.integers([x.shape[0], x.shape[3], height, width])]
    return graph.value('Resize', inputs, (x.shape[0], height, width, x.shape[3]), x.dtype, CHANNELS_SECOND,
                       mode='linear', coordinate_transformation_mode=mode)


def depth_to_space(graph, node, x):
    block = node.attrs['block_size']
    count, height, width, channels = x.shape
    shape = (count, height * block, width * block, channels // block // block)
    return graph.value('DepthToSpace', [graph.stored(x, CHANNELS_SECOND)], shape, x.dtype, CHANNELS_SECOND,
                       blocksize=block, mode='DCR')


def pad(graph, node, x, pads, value=np.float32(0)):
    value = np.asarray(value)
    if are_constant([x]):
        return np.pad(x, pads, constant_values=value).astype(x.dtype)
    if not pads.any():
        return x
    shape = [size + int(before) + int(after) for size, (before, after) in zip(x.shape, pads)]
    inputs = [x.name, graph.integers(in_order_of_onnx([pads[axis] for axis in x.order]))]
    if scalar(value) != 0:
        inputs.append(graph.constant(value.reshape(()).astype(x.dtype)))
    return graph.value('Pad', inputs, shape, x.dtype, x.order)


OPS = {
    'Conv2D': conv2d, '_FusedConv2D': conv2d, 'DepthwiseConv2dNative': depthwise_conv2d,
    'FusedDepthwiseConv2dNative': depthwise_conv2d, 'Conv2DBackpropInput': transposed_convolution,
    'MaxPool': pool('MaxPool'), 'AvgPool': pool('AveragePool', count_include_pad=0),
    'ResizeBilinear': resize_bilinear, 'DepthToSpace': depth_to_space, 'Pad': pad, 'PadV2': pad,
}
