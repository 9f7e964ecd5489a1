# SPDX-License-Identifier: Apache-2.0
"""Joins nodes of a graph of ONNX, so that ONNX Runtime runs no op that a constant or another op can take over.

Each rule looks at one node and at those that made its operands. It returns nothing, or nodes that take its place. The
last of these has the results of the node. ONNX Runtime applies some of the rules itself.
"""
import math

import numpy as np

from to_onnx.graph import Node, scalar


class View:
    """The nodes that are rewritten so far, by their results, and how often the graph reads each result."""

    def __init__(self, graph):
        self.graph, self.made, self.reads = graph, {}, {}
        for name in [name for node in graph.nodes for name in node.inputs] + [out.name for out in graph.outputs]:
            self.reads[name] = self.reads.get(name, 0) + 1

    def constant(self, name):
        return self.graph.constants.get(name)

    def number(self, name):
        """The floating-point number that a constant holds, else none."""
        value = self.constant(name)
        return float(scalar(value)) if value is not None and value.size == 1 and value.dtype == np.float32 else None

    def node(self, name, *ops):
        """The node of one of these ops that makes a tensor, else none."""
        node = self.made.get(name)
        return node if node is not None and node.op in ops else None

    def only(self, name, *ops):
        """The same, if nothing else reads the tensor."""
        return self.node(name, *ops) if self.reads.get(name) == 1 else None

    def with_constant(self, node):
        """(operand, constant) for an op whose operands may be in either order; nothing if neither is constant."""
        for x, other in (node.inputs, node.inputs[::-1]):
            if self.constant(other) is not None and self.constant(x) is None:
                return x, self.constant(other)
        return None, None


def by_channel(constant, count):
    """A number for each channel of an image, from a constant that is broadcast to the image; else none."""
    shape = (1,) * (4 - constant.ndim) + constant.shape
    if len(shape) == 4 and shape in ((1, 1, 1, 1), (1, count, 1, 1)):
        return np.broadcast_to(constant.reshape(-1), (count,)).astype(np.float32)
    return None


def channels_of(view, node):
    weights = view.constant(node.inputs[1])
    return weights.shape[0] if node.op == 'Conv' else weights.shape[1]


def with_bias(view, conv, bias, results):
    old = view.constant(conv.inputs[2]) if len(conv.inputs) > 2 else 0
    return [Node(conv.op, [*conv.inputs[:2], view.graph.constant(old + bias)], results, conv.attrs)]


def scale_of_convolution(view, node):
    """The factors of a batch normalization go into the weights."""
    x, factor = view.with_constant(node)
    conv = view.only(x, 'Conv')
    if conv is None:
        return None
    factor = by_channel(factor, channels_of(view, conv))
    if factor is None:
        return None
    weights = view.constant(conv.inputs[1]) * factor.reshape(-1, 1, 1, 1)
    bias = [view.graph.constant(view.constant(conv.inputs[2]) * factor)] if len(conv.inputs) > 2 else []
    return [Node('Conv', [conv.inputs[0], view.graph.constant(weights), *bias], node.outputs, conv.attrs)]


def bias_of_product(view, node):
    """A sum becomes the bias of a convolution or of a product of matrices."""
    x, bias = view.with_constant(node)
    if bias is None or (node.op == 'Sub' and x != node.inputs[0]):
        return None
    bias = -bias if node.op == 'Sub' else bias
    if conv := view.only(x, 'Conv', 'ConvTranspose'):
        bias = by_channel(bias, channels_of(view, conv))
        return None if bias is None else with_bias(view, conv, bias, node.outputs)
    product = view.only(x, 'MatMul')
    weights = view.constant(product.inputs[1]) if product else None
    if weights is None or len(view.graph.shapes[x]) != 2 or not bias.shape[-1:] == (bias.size,) == weights.shape[1:]:
        return None
    return [Node('Gemm', [*product.inputs, view.graph.constant(bias.reshape(-1))], node.outputs)]


def batch_normalization(view, node):
    """A factor and a summand for each channel become one op, where no convolution takes them."""
    x, bias = view.with_constant(node)
    scaled = view.only(x, 'Mul')
    shape = view.graph.shapes[node.outputs[0]]
    y, factor = view.with_constant(scaled) if scaled else (None, None)
    if y is None or len(shape) != 4 or view.graph.shapes.get(y) != shape:
        return None
    numbers = [by_channel(factor, shape[1]), by_channel(bias, shape[1])]
    if any(of_channels is None for of_channels in numbers):
        return None
    zeros, ones = np.zeros(shape[1], np.float32), np.ones(shape[1], np.float32)
    names = [view.graph.constant(array) for array in (*numbers, zeros, ones)]
    return [Node('BatchNormalization', [y, *names], node.outputs, {'epsilon': 0.0})]


def bounds(view, node):
    """(operand, low, high) of an op that cuts off small or large elements; nothing for other ops."""
    if node is None:
        return None
    if node.op == 'Relu':
        return node.inputs[0], 0.0, math.inf
    if node.op == 'Clip':
        low, high = ([*node.inputs, '', ''][1:3])
        return (node.inputs[0], view.number(low) if low else -math.inf, view.number(high) if high else math.inf)
    if node.op in ('Min', 'Max'):
        for x, other in (node.inputs, node.inputs[::-1]):
            if (bound := view.number(other)) is not None:
                return (x, -math.inf, bound) if node.op == 'Min' else (x, bound, math.inf)
    return None


def clip_of_bounds(view, node):
    """Relu, Minimum and Maximum of numbers become one Clip."""
    found = bounds(view, node)
    if not found:
        return None
    x, low, high = found
    if before := bounds(view, view.made.get(x)):
        x, first_low, first_high = before
        low, high = (max(min(bound, high), low) for bound in (first_low, first_high))
    if (low, high) == (0, math.inf):
        return [Node('Relu', [x], node.outputs)]
    names = [view.graph.constant(np.array(bound, np.float32)) if math.isfinite(bound) else '' for bound in (low, high)]
    return [Node('Clip', [x, *(names if names[1] else names[:1])], node.outputs)]


def negative_part(view, name):
    """(x, slope) of a tensor that is slope * min(x, 0), such as slope / 2 * (x - |x|); else nothing."""
    node = view.node(name, 'Mul', 'Clip', 'Sub')
    if node is None:
        return None
    if node.op == 'Clip':
        x, low, high = bounds(view, node)
        return (x, np.float32(1)) if (low, high) == (-math.inf, 0) else None
    if node.op == 'Sub':
        magnitude = view.node(node.inputs[1], 'Abs')
        return (node.inputs[0], np.float32(2)) if magnitude and magnitude.inputs[0] == node.inputs[0] else None
    x, factor = view.with_constant(node)
    part = negative_part(view, x) if x else None
    return (part[0], part[1] * factor) if part else None


def prelu_of_parts(view, node):
    """relu(x) + slope * min(x, 0), or x + (slope - 1) * min(x, 0), becomes one op."""
    for other, name in (node.inputs, node.inputs[::-1]):
        part = negative_part(view, name)
        if part is None:
            continue
        x, slope = part
        relu = view.node(other, 'Relu')
        if other == x:
            slope = 1 + slope
        elif relu is None or relu.inputs[0] != x:
            continue
        slope = slope.reshape(slope.shape[next((i for i, size in enumerate(slope.shape) if size != 1), slope.ndim):])
        if slope.size == 1:
            return [Node('LeakyRelu', [x], node.outputs, {'alpha': float(slope)})]
        return [Node('PRelu', [x, view.graph.constant(slope)], node.outputs)]
    return None


def gate(view, name):
    """The x of relu6(x + 3), else nothing."""
    found = bounds(view, view.made.get(name))
    if not found or found[1:] != (0, 6):
        return None
    total = view.node(found[0], 'Add')
    x = next((x for x, other in (total.inputs, total.inputs[::-1]) if view.number(other) == 3), None) if total else None
    return x


def is_sixth(view, name):
    number = view.number(name)
    return number is not None and abs(number - 1 / 6) < 1e-4


def hard_sigmoid_of_gate(view, node):
    """relu6(x + 3) / 6 becomes one op, with or without a factor: y * relu6(x + 3) / 6."""
    x = y = None
    for left, right in (node.inputs, node.inputs[::-1]):
        inner = view.only(left, 'Mul')
        if is_sixth(view, right) and gate(view, left):
            x = gate(view, left)
        for one, other in ((inner.inputs, inner.inputs[::-1]) if inner else ()):
            if is_sixth(view, right) and gate(view, one):
                x, y = gate(view, one), other
            elif is_sixth(view, one) and gate(view, right):
                x, y = gate(view, right), other
    if x is None:
        return None
    results = node.outputs if y is None else [f'{node.outputs[0]}_gate']
    nodes = [Node('HardSigmoid', [x], results, {'alpha': 1 / 6, 'beta': 0.5})]
    return nodes if y is None else [*nodes, Node('Mul', [y, *results], node.outputs)]


def padding_of_convolution(view, node):
    """Zeros around an image become those of the convolution."""
    padded = view.node(node.inputs[0], 'Pad')
    if padded is None or len(padded.inputs) > 2:
        return None
    pads = [int(count) for count in view.constant(padded.inputs[1])]
    if len(pads) != 8 or any(pads[:2] + pads[4:6]):
        return None
    total = [count + more for count, more in zip(node.attrs['pads'], pads[2:4] + pads[6:8])]
    return [Node('Conv', [padded.inputs[0], *node.inputs[1:]], node.outputs, {**node.attrs, 'pads': total})]


def rows_of_flattened(view, node):
    """A product with a flattened image takes the rows of its constant in the order in memory: nothing moves."""
    flat = view.node(node.inputs[0], 'Reshape')
    moved = view.node(flat.inputs[0], 'Transpose') if flat else None
    weights = view.constant(node.inputs[1])
    if moved is None or weights is None or weights.ndim != 2:
        return None
    shape = view.graph.shapes[moved.outputs[0]]
    if view.graph.shapes[flat.outputs[0]] != (1, weights.shape[0]):
        return None
    back = [moved.attrs['perm'].index(axis) for axis in range(len(shape))]
    rows = np.arange(weights.shape[0]).reshape(shape).transpose(back).reshape(-1)
    name = f'{node.outputs[0]}_flat'
    view.graph.shapes[name] = (1, weights.shape[0])
    return [Node('Reshape', [moved.inputs[0], flat.inputs[1]], [name]),
            Node('MatMul', [name, view.graph.constant(weights[rows])], node.outputs)]


def one_reshape(view, node):
    """A reshape of a reshape has no use for the shape between."""
    before = view.node(node.inputs[0], 'Reshape')
    return [Node('Reshape', [before.inputs[0], node.inputs[1]], node.outputs)] if before else None


# The rules for each op, in the order in which they are tried.
RULES = {'Add': [prelu_of_parts, bias_of_product, batch_normalization], 'Sub': [bias_of_product],
         'Mul': [hard_sigmoid_of_gate, scale_of_convolution],
         **dict.fromkeys(('Relu', 'Clip', 'Min', 'Max'), [clip_of_bounds]),
         'Conv': [padding_of_convolution], 'MatMul': [rows_of_flattened], 'Reshape': [one_reshape]}


def prune(graph):
    """Drops nodes and constants that no output needs."""
    needed, kept = {output.name for output in graph.outputs}, []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            needed.update(node.inputs)
            kept.append(node)
    graph.nodes = kept[::-1]
    graph.constants = {name: array for name, array in graph.constants.items() if name in needed}


def fold(graph):
    """Applies all rules to all nodes, each after the nodes that make its operands."""
    prune(graph)
    view, folded = View(graph), []
    for node in graph.nodes:
        nodes = next((made for rule in RULES.get(node.op, ()) if (made := rule(view, node))), [node])
        for made in nodes:
            view.made.update(dict.fromkeys(made.outputs, made))
        folded += nodes
    graph.nodes = folded
    prune(graph)
