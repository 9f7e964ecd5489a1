# SPDX-License-Identifier: Apache-2.0
"""Small graph models, and the ops of ONNX that each becomes."""
import dataclasses

import numpy as np

random = np.random.default_rng(1)
VALID = {'strides': [1, 1, 1, 1], 'padding': 'VALID'}
SAME = {'strides': [1, 1, 1, 1], 'padding': 'SAME'}
STRIDED = {'strides': [1, 2, 2, 1], 'padding': 'SAME'}
IMAGE = (1, 6, 5, 3)


@dataclasses.dataclass
class Case:
    """The model has nodes (name, op, inputs, attributes), constants by name, and inputs of these shapes."""
    name: str
    nodes: list
    ops: str
    feeds: dict = dataclasses.field(default_factory=lambda: {'x': IMAGE})
    constants: dict = dataclasses.field(default_factory=dict)
    wanted: str = 'y'
    integers: bool = False  # the inputs are int32


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def positive(*shape):
    return random.uniform(0.5, 1.5, shape).astype(np.float32)


def ints(*values):
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def number(value):
    return np.array(value, np.float32)


def one(op, inputs='x', ops=None, feeds=None, attrs=None, **constants):
    """A model of one node."""
    given = feeds or {'x': IMAGE}
    return Case(f'{op} of {inputs}', [('y', op, inputs, attrs or {})], op if ops is None else ops, given, constants)


def elementwise():
    for op in ('Abs', 'Ceil', 'Exp', 'Floor', 'Neg', 'Relu', 'Sigmoid', 'Tanh'):
        yield one(op)
    yield one('Relu6', ops='Clip')
    yield one('ClipByValue', 'x low high', 'Clip', low=number(-0.5), high=number(0.25))
    yield Case('roots', [('e', 'Exp', 'x', {}), ('s', 'Sqrt', 'e', {}), ('r', 'Rsqrt', 's', {}),
                         ('y', 'Reciprocal', 'r', {})], 'Exp Sqrt Sqrt Reciprocal Reciprocal')
    yield one('Square', ops='Mul')
    yield one('SquaredDifference', 'x b', 'Sub Mul', b=numbers(3))
    two = {'x': IMAGE, 'z': IMAGE}
    for op, made in (('Add', 'Add'), ('AddV2', 'Add'), ('BiasAdd', 'Add'), ('Sub', 'Sub'), ('Mul', 'Mul'),
                     ('Minimum', 'Min'), ('Maximum', 'Max'), ('RealDiv', 'Div')):
        yield one(op, 'x z', made, two)
        yield one(op, 'z x', f'Reshape {made}', {'x': IMAGE, 'z': (5, 1)})
        yield one(op, 'x b', 'Mul' if op == 'RealDiv' else made, b=positive(6, 1, 3))
    yield one('AddN', 'x z b', 'Add Add', two, b=numbers(*IMAGE))
    yield one('Prelu', 'x b', 'PRelu', b=numbers(1, 1, 3))
    yield Case('identities', [('i', 'Identity', 'x', {}), ('s', 'StopGradient', 'i', {}), ('y', 'Neg', 's', {})], 'Neg')
    yield Case('numbers of other dtypes', [('c', 'Cast', 'x', {'DstT': np.float32}), ('s', 'Mul', 'c b', {}),
                                           ('y', 'Cast', 's', {'DstT': np.int32})], 'Cast Mul Cast',
               constants={'b': number(3.5)}, integers=True)
    yield Case('quotients of positions', [('y', 'FloorDiv', 'x b', {})], 'Div', constants={'b': ints(7)}, integers=True)
    yield one('FloorDiv', 'x b', 'Div Floor', b=number(0.3))


def joined():
    """Ops that become one, mostly those of activations."""
    yield Case('bounds', [('r', 'Relu', 'x', {}), ('m', 'Minimum', 'six r', {}), ('y', 'Maximum', 'm low', {})], 'Clip',
               constants={'six': number(6), 'low': number(0.5)})
    yield Case('bounds that are apart', [('r', 'Minimum', 'x low', {}), ('y', 'Maximum', 'r high', {})], 'Clip',
               constants={'low': number(-0.5), 'high': number(0.5)})
    yield Case('bounds of integers', [('y', 'Minimum', 'x b', {})], 'Min', constants={'b': ints(9)}, integers=True)
    three, sixth = {'three': number(3)}, {'sixth': number(1 / 6)}
    gate = [('p', 'AddV2', 'x three', {}), ('r', 'Relu6', 'p', {})]
    yield Case('hard sigmoid', [*gate, ('y', 'RealDiv', 'r six', {})], 'HardSigmoid',
               constants={**three, 'six': number(6)})
    yield Case('hard swish', [*gate, ('m', 'Mul', 'x r', {}), ('y', 'Mul', 'sixth m', {})], 'HardSigmoid Mul',
               constants={**three, **sixth})
    yield Case('hard swish of parts', [*gate, ('m', 'Mul', 'x sixth', {}), ('y', 'Mul', 'r m', {})], 'HardSigmoid Mul',
               constants={**three, **sixth})
    half = [('a', 'Abs', 'x', {}), ('s', 'Sub', 'x a', {}), ('m', 'Mul', 's slope', {})]
    yield Case('PRelu of magnitudes', [*half, ('h', 'Mul', 'm half', {}), ('r', 'Relu', 'x', {}),
                                       ('y', 'Add', 'r h', {})], 'PRelu',
               constants={'slope': numbers(1, 1, 3), 'half': number(0.5)})
    yield Case('PRelu of one slope', [*half, ('y', 'AddV2', 'm x', {})], 'LeakyRelu', constants={'slope': number(0.2)})
    yield Case('PRelu of a minimum', [('n', 'Minimum', 'x zero', {}), ('m', 'Mul', 'slope n', {}),
                                      ('r', 'Relu', 'x', {}), ('y', 'AddV2', 'm r', {})], 'PRelu',
               constants={'slope': numbers(3), 'zero': number(0)})
    yield Case('factor and summand of channels', [('r', 'Relu', 'x', {}), ('m', 'Mul', 'r k', {}),
                                                  ('y', 'AddV2', 'm b', {})], 'Relu BatchNormalization',
               constants={'k': positive(3), 'b': numbers(3)})
    yield Case('parts of two tensors', [('n', 'Minimum', 'x zero', {}), ('m', 'Mul', 'slope n', {}),
                                        ('r', 'Relu', 'z', {}), ('y', 'AddV2', 'm r', {})], 'Relu Clip Mul Add',
               {'x': IMAGE, 'z': IMAGE}, {'slope': number(0.5), 'zero': number(0)})
    yield Case('a factor that adds channels', [('m', 'Mul', 'x k', {}), ('y', 'AddV2', 'm b', {})], 'Mul Add',
               {'x': (1, 6, 5, 1)}, {'k': positive(3), 'b': numbers(3)})
    yield Case('factor and summand of columns', [('r', 'Relu', 'x', {}), ('m', 'Mul', 'r k', {}),
                                                 ('y', 'AddV2', 'm b', {})], 'Relu Mul Add',
               constants={'k': positive(5, 1), 'b': numbers(5, 1)})


def convolutions():
    """A chain with channels last has no node that moves them."""
    yield one('Conv2D', 'x w', 'Conv', attrs=STRIDED, w=numbers(3, 2, 3, 4))
    yield one('Conv2D', 'x w', 'Conv', {'x': (2, 6, 7, 4)}, {**VALID, 'dilations': [1, 2, 3, 1]}, w=numbers(2, 2, 2, 6))
    yield one('Conv2D', 'x w', 'Conv', attrs={'strides': [1, 1, 2, 1], 'padding': 'EXPLICIT',
                                              'explicit_paddings': [0, 0, 2, 1, 0, 1, 0, 0]}, w=numbers(3, 2, 3, 2))
    yield one('DepthwiseConv2dNative', 'x w', 'Conv', attrs=STRIDED, w=numbers(3, 3, 3, 2))
    yield one('_FusedConv2D', 'x w b', 'Conv Relu', attrs={**SAME, 'fused_ops': ['BiasAdd', 'Relu']},
              w=numbers(1, 1, 3, 4), b=numbers(4))
    yield one('_FusedConv2D', 'x w b slope', 'Conv PRelu', attrs={**SAME, 'fused_ops': ['BiasAdd', 'Prelu']},
              w=numbers(2, 2, 3, 4), b=numbers(4), slope=numbers(4))
    yield one('FusedDepthwiseConv2dNative', 'x w b', 'Conv Clip', attrs={**SAME, 'fused_ops': ['BiasAdd', 'Relu6']},
              w=numbers(3, 3, 3, 1), b=numbers(3))
    normalized = [('m', 'Mul', 'c k', {}), ('s', 'Sub', 'm b', {}), ('y', 'AddV2', 's e', {})]
    factors = {'k': positive(4), 'b': numbers(4), 'e': numbers(1, 1, 4)}
    yield Case('batch normalization', [('c', 'Conv2D', 'x w', STRIDED), *normalized], 'Conv',
               constants={'w': numbers(3, 3, 3, 4), **factors})
    yield Case('a factor after a bias', [('c', '_FusedConv2D', 'x w b', {**SAME, 'fused_ops': ['BiasAdd']}),
                                         ('y', 'Mul', 'c k', {})], 'Conv',
               constants={'w': numbers(3, 3, 3, 4), **factors})
    yield Case('a convolution that is read twice', [('c', 'Conv2D', 'x w', STRIDED), ('m', 'Mul', 'c k', {}),
                                                    ('y', 'AddV2', 'm c', {})], 'Conv Mul Add',
               constants={'w': numbers(3, 3, 3, 4), 'k': positive(4)})
    padded = [('p', 'Pad', 'x pads', {}), ('y', 'Conv2D', 'p w', {**VALID, 'strides': [1, 2, 2, 1]})]
    around = {'pads': ints([[0, 0], [1, 2], [0, 1], [0, 0]]), 'w': numbers(3, 3, 3, 4)}
    yield Case('zeros around', padded, 'Conv', constants=around)
    yield Case('ones around', [('p', 'PadV2', 'x pads value', {}), padded[1]], 'Pad Conv',
               constants={**around, 'value': number(1)})
    yield Case('zeros around twice', [padded[0], ('y', 'Conv2D', 'p w', STRIDED)], 'Conv', constants=around)
    yield Case('channels of zeros', padded, 'Pad Conv',
               constants={'pads': ints([[0, 0], [0, 0], [0, 0], [2, 0]]), 'w': numbers(3, 3, 5, 4)})
    chain = [('c', 'Conv2D', 'x w', STRIDED), ('d', 'Conv2D', 'c v', STRIDED), ('a', 'ConcatV2', 'c e axis', {}),
             ('e', 'ResizeBilinear', 'd size', {'half_pixel_centers': True}), ('y', 'MaxPool', 'a', {
                 **SAME, 'ksize': [1, 2, 2, 1]})]
    yield Case('a chain of convolutions', chain[:2] + [chain[3], chain[2], chain[4]], 'Conv Conv Resize Concat MaxPool',
               constants={'w': numbers(3, 3, 3, 4), 'v': numbers(1, 1, 4, 2), 'size': ints(3, 3), 'axis': ints(-1)})
    yield Case('two orders of axes', [('c', 'Conv2D', 'x w', SAME), ('s', 'AddV2', 'z c', {}),
                                      ('y', 'Conv2D', 's v', SAME)], 'Conv Transpose Add Conv',
               {'x': IMAGE, 'z': (1, 6, 5, 8)}, {'w': numbers(1, 1, 3, 8), 'v': numbers(1, 1, 8, 2)})
    backwards = {'strides': [1, 2, 2, 1], 'padding': 'SAME'}
    yield Case('a transposed convolution', [('c', 'Conv2DBackpropInput', 'sizes w x', backwards),
                                            ('y', 'BiasAdd', 'c b', {})], 'ConvTranspose',
               constants={'sizes': ints(1, 11, 10, 4), 'w': numbers(3, 3, 4, 3), 'b': numbers(4)})
    yield one('Conv2DBackpropInput', 'sizes w x', 'ConvTranspose', attrs=backwards, sizes=ints(1, 12, 10, 2),
              w=numbers(1, 1, 2, 3))


def images():
    yield one('MaxPool', attrs={**STRIDED, 'ksize': [1, 3, 3, 1]})
    yield one('AvgPool', ops='AveragePool', attrs={**STRIDED, 'ksize': [1, 3, 2, 1]})
    yield one('AvgPool', ops='GlobalAveragePool', attrs={**VALID, 'ksize': [1, 6, 5, 1]})
    for attrs in {}, {'half_pixel_centers': True}, {'align_corners': True}:
        yield one('ResizeBilinear', 'x size', 'Resize', attrs=attrs, size=ints(12, 10))
        yield one('ResizeBilinear', 'x size', 'Resize', attrs=attrs, size=ints(4, 7))
    yield one('ResizeBilinear', 'x size', 'Identity', size=ints(6, 5))
    yield Case('blocks of channels', [('c', 'Conv2D', 'x w', SAME), ('y', 'DepthToSpace', 'c', {'block_size': 2})],
               'Conv DepthToSpace', constants={'w': numbers(1, 1, 3, 8)})


def contractions():
    matrix = {'x': (2, 6)}
    yield one('MatMul', 'x w', 'MatMul', matrix, w=numbers(6, 4))
    yield one('MatMul', 'x w', 'Transpose MatMul', matrix, {'transpose_a': True, 'transpose_b': True}, w=numbers(4, 2))
    yield one('_FusedMatMul', 'x w b', 'Gemm Relu', matrix, {'fused_ops': ['BiasAdd', 'Relu']}, w=numbers(6, 4),
              b=numbers(4))
    yield Case('a summand of rows', [('p', 'MatMul', 'x w', {}), ('y', 'AddV2', 'p b', {})], 'MatMul Add',
               {'x': (4, 6)}, {'w': numbers(6, 4), 'b': numbers(4, 1)})
    yield one('BatchMatMulV2', 'x z', 'Transpose MatMul', {'x': (2, 3, 4), 'z': (5, 4)}, {'adj_y': True})
    flat = [('c', 'Conv2D', 'x w', SAME), ('f', 'Reshape', 'c shape', {}), ('y', '_FusedMatMul', 'f v b', {
        'fused_ops': ['BiasAdd']})]
    yield Case('a flattened image', flat, 'Conv Reshape Gemm',
               constants={'w': numbers(1, 1, 3, 4), 'shape': ints(-1, 120), 'v': numbers(120, 5), 'b': numbers(5)})
    for op, name in (('Mean', 'GlobalAveragePool'), ('Max', 'GlobalMaxPool'), ('Sum', 'ReduceSum'),
                     ('Min', 'ReduceMin'), ('Prod', 'ReduceProd')):
        yield one(op, 'x axes', name, attrs={'keep_dims': True}, axes=ints(1, 2))
        yield one(op, 'x axes', f'{name} Reshape', axes=ints(1, 2))
        yield one(op, 'x axis', f'Reduce{op} Reshape', axis=ints(-1))
    yield Case('reductions that differ in their axes', [('a', 'Max', 'x one', {'keep_dims': True}),
                                                        ('b', 'Max', 'x two', {'keep_dims': True}),
                                                        ('y', 'Sub', 'a b', {})], 'ReduceMax ReduceMax Sub',
               constants={'one': ints(1), 'two': ints(2)})
    yield one('ArgMax', 'x axis', 'ArgMax Cast', axis=ints(-2))
    yield one('Softmax', ops='Transpose Softmax')


def shapes():
    yield one('Reshape', 'x shape', 'Transpose Reshape', shape=ints(2, -1))
    yield one('Reshape', 'x shape', 'Reshape', shape=ints(6, 1, 5, 3))
    yield Case('reshapes', [('r', 'Reshape', 'x first', {}), ('y', 'Reshape', 'r second', {})], 'Transpose Reshape',
               constants={'first': ints(2, -1), 'second': ints(9, 10)})
    yield one('Squeeze', ops='Reshape')
    yield one('Squeeze', ops='Reshape', feeds={'x': (1, 5, 1)}, attrs={'squeeze_dims': [-1]})
    yield one('ExpandDims', 'x axis', 'Reshape', axis=ints(-1))
    yield one('Transpose', 'x order', 'Identity', order=ints(0, 2, 1, 3))
    yield one('Transpose', 'x order', 'Identity', order=ints(0, 3, 1, 2))
    yield Case('axes that turn', [('t', 'Transpose', 'x order', {}), ('y', 'AddV2', 't b', {})], 'Add',
               {'x': (2, 3, 4)}, {'order': ints(1, 2, 0), 'b': numbers(4, 1)})
    yield Case('axes that come back', [('t', 'Transpose', 'x order', {}), ('r', 'Relu', 't', {}),
                                       ('y', 'Transpose', 'r order', {})], 'Relu',
               constants={'order': ints(0, 2, 1, 3)})
    yield one('ConcatV2', 'x b x axis', 'Concat', b=numbers(1, 6, 2, 3), axis=ints(2))
    yield one('Pack', 'x x', 'Reshape Concat', attrs={'axis': 3})
    yield one('Pack', ops='Reshape', attrs={'axis': 0})
    yield Case('parts of one element', [('u', 'Unpack', 'x', {'axis': 3}), ('y', 'Sub', 'u:2 u', {})],
               'Split Reshape Reshape Sub')
    yield Case('parts', [('s', 'Split', 'axis x', {'num_split': 3}), ('y', 'Mul', 's:1 s:2', {})], 'Split Mul',
               constants={'axis': ints(1)})
    yield one('Slice', 'x begin size', 'Slice', begin=ints(0, 1, 2, 0), size=ints(1, 3, -1, 3))
    part = {'begin': ints(0, -1, 0, 1), 'end': ints(1, 0, 2, 2), 'strides': ints(1, -2, 1, 1)}
    yield one('StridedSlice', 'x begin end strides', 'Slice', attrs={'end_mask': 2}, **part)
    yield one('StridedSlice', 'x begin end strides', 'Slice Reshape', attrs={'shrink_axis_mask': 8, 'begin_mask': 5},
              **part)
    yield one('StridedSlice', 'x begin end strides', 'Slice Reshape', begin=ints(0, 0, 1), end=ints(0, 0, 3),
              strides=ints(1, 1, 2), attrs={'ellipsis_mask': 1, 'new_axis_mask': 2})
    yield one('GatherV2', 'x at axis', 'Transpose Gather', at=ints([[2, 0], [1, 1]]), axis=ints(1))
    yield one('GatherNd', 'x at', 'Transpose GatherND', at=ints([[0, 5], [0, 2]]))
    yield Case('positions of the largest elements', [('a', 'ArgMax', 'x axis', {}), ('y', 'GatherNd', 'rows a', {})],
               'ArgMax Cast Cast GatherND', {'x': (4, 3, 1)}, {'axis': ints(1), 'rows': numbers(3)})


def constants():
    """All that follows from shapes is computed, and the model has no node for it."""
    sizes = [('s', 'Shape', 'x', {}), ('b', 'StridedSlice', 's begin end strides', {'shrink_axis_mask': 1})]
    given = {'begin': ints([1]), 'end': ints([2]), 'strides': ints([1]), 'two': ints(2)}
    yield Case('a size from a shape', [*sizes, ('h', 'FloorDiv', 'b two', {}), ('w', 'Mul', 'h two', {}),
                                       ('p', 'Pack', 'h w', {'axis': 0}), ('y', 'ResizeBilinear', 'x p', {})], 'Resize',
               constants=given)
    yield Case('a constant output', [('n', 'Size', 'x', {}), ('r', 'Range', 'zero n step', {}),
                                     ('f', 'Fill', 'dims value', {}), ('t', 'Tile', 'f dims', {}),
                                     ('b', 'BroadcastTo', 't wide', {}), ('y', 'AddV2', 'b scale', {})], 'Identity',
               constants={'zero': ints(0), 'step': ints(40), 'dims': ints(1, 3), 'value': number(2),
                          'wide': ints(4, 9), 'scale': numbers(9)})
    yield Case('an output that is an input', [('y', 'Identity', 'x', {})], 'Identity')
    yield Case('an output that is there twice', [('r', 'Relu', 'x', {}), ('y', 'Identity', 'r', {})], 'Relu Identity',
               wanted='y r')
    yield Case('equal nodes', [('a', 'Tanh', 'x', {}), ('b', 'Tanh', 'x', {}), ('y', 'AddV2', 'a b', {})], 'Tanh Add')


def all_cases():
    for group in (elementwise, joined, convolutions, images, contractions, shapes, constants):
        yield from group()
