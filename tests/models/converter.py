#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""converter.py ROOT: graph models that are converted to ONNX, against definitions of the ops of both.

1. Each case of cases.py has the same results as a graph model and as a graph of ONNX. It becomes the ops that it names.
2. Each op with a converter is in a case, and so is each rule that joins nodes.
3. A model is read from files: attributes, weights of all dtypes, and quantized ones.
4. A model is cut at a node. Loops and ops without a converter are errors that name the node.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path[:0] = [str(pathlib.Path(sys.argv[1]) / 'tools' / 'models'), str(pathlib.Path(__file__).parent)]
import cases  # noqa: E402
import graph_ops  # noqa: E402
import onnx_ops  # noqa: E402
from to_onnx import convert, fold, graph_model, layout  # noqa: E402
from to_onnx.graph import Unsupported  # noqa: E402


def require(holds, text):
    if not holds:
        sys.exit(text)


def model_of(case):
    nodes = {name: graph_model.Node(name, 'Const') for name in case.constants}
    nodes |= {name: graph_model.Node(name, 'Placeholder') for name in case.feeds}
    nodes |= {name: graph_model.Node(name, op, inputs.split(), attrs) for name, op, inputs, attrs in case.nodes}
    return graph_model.GraphModel(nodes, case.constants)


def feeds_of(case):
    """Inputs by name. The elements are on both sides of 0, of 3 and of 6."""
    random = np.random.default_rng(2)
    return {name: random.integers(0, 40, shape).astype(np.int32) if case.integers
            else random.uniform(-8, 8, shape).astype(np.float32) for name, shape in case.feeds.items()}


def run_both(model, feeds, wanted):
    """The graph of ONNX, and (by the graph model, by ONNX) for each output."""
    graph = convert.convert(model, [(name, array.shape, array.dtype.name) for name, array in feeds.items()], wanted)
    stored = [array.transpose(port.order) for array, port in zip(feeds.values(), graph.inputs)]
    nodes = [node for node in model.nodes.values() if node.op not in ('Const', 'Placeholder')]
    doubles = {name: array.astype(np.float64) if array.dtype == np.float32 else array
               for name, array in {**model.weights, **feeds}.items()}
    pairs = []
    for right, port, got in zip(graph_ops.run(nodes, doubles, wanted), graph.outputs, onnx_ops.run(graph, stored)):
        require(got.shape == layout.stored(port.shape, port.order), f'stored as {got.shape}, said {port}')
        pairs.append((right, got.transpose([port.order.index(axis) for axis in range(got.ndim)]), port))
    return graph, pairs


def check_case(case):
    graph, pairs = run_both(model_of(case), feeds_of(case), case.wanted.split())
    for right, got, port in pairs:
        require(got.shape == right.shape == port.shape, f'{case.name}: shape {got.shape}, wanted {right.shape}')
        require(np.allclose(got, right, 1e-5, 1e-5), f'{case.name}: got {got}, wanted {right}')
        is_float = right.dtype.kind == 'f'
        require((port.dtype == np.float32) == is_float, f'{case.name}: dtype {port.dtype} of {right.dtype}')
    made = ' '.join(node.op for node in graph.nodes)
    require(made == case.ops, f'{case.name}: became {made}, wanted {case.ops}')


def check_cases():
    """Runs the cases, and names the rules that changed something."""
    used = set()

    def traced(rule):
        def run(view, node):
            made = rule(view, node)
            if made:
                used.add(rule.__name__)
            return made
        return run

    rules, fold.RULES = fold.RULES, {op: list(map(traced, of_op)) for op, of_op in fold.RULES.items()}
    seen = set()
    for case in cases.all_cases():
        seen |= {op for _, op, _, _ in case.nodes}
        check_case(case)
    fold.RULES = rules
    require(seen == set(convert.OPS), f'cases and converters differ: {sorted(seen ^ set(convert.OPS))}')
    left = {rule.__name__ for of_op in rules.values() for rule in of_op} - used
    require(not left, f'no case needs these rules: {sorted(left)}')


def check_read(folder):
    """Weights follow each other in a file. An attribute is of one of several kinds."""
    parts = np.float16([0.5, -2]), np.uint8([0, 3, 255]), np.int32([7]), np.array([True, False]), np.uint16([3])
    data = b''.join(part.tobytes() for part in parts)
    (folder / 'one.bin').write_bytes(data[:5])
    (folder / 'two.bin').write_bytes(data[5:])
    weights = [{'name': 'half', 'shape': [2], 'dtype': 'float32', 'quantization': {'dtype': 'float16'}},
               {'name': 'byte', 'shape': [3, 1], 'dtype': 'float32',
                'quantization': {'dtype': 'uint8', 'scale': 0.5, 'min': -1}},
               {'name': 'count', 'shape': [], 'dtype': 'int32'}, {'name': 'flags', 'shape': [2], 'dtype': 'bool'},
               {'name': 'rounded', 'shape': [1], 'dtype': 'int32',
                'quantization': {'dtype': 'uint16', 'scale': 0.9, 'min': 1}}]
    attrs = {'T': {'type': 'DT_FLOAT'}, 'padding': {'s': 'U0FNRQ=='}, 'strides': {'list': {'i': ['1', 2]}},
             'epsilon': {'f': 0.5}, 'flag': {'b': True}, 'empty': {'list': {}},
             'shape': {'shape': {'dim': [{'size': '-1'}]}}, 'fused_ops': {'list': {'s': ['UmVsdQ==']}},
             'bytes': {'s': [86, 65]}}
    nodes = [{'name': 'y', 'op': 'Relu', 'input': ['x', '^control'], 'attr': attrs}]
    (folder / 'model.json').write_text(json.dumps({
        'modelTopology': {'node': nodes}, 'signature': {'outputs': {'result': {'name': 'y:0'}}},
        'weightsManifest': [{'paths': ['one.bin', 'two.bin'], 'weights': weights}]}))
    model = graph_model.read(folder / 'model.json')
    node = model.nodes['y']
    require(node.inputs == ['x'] and model.outputs == {'result': 'y:0'}, f'{node}, {model.outputs}')
    wanted = {'T': np.float32, 'padding': 'SAME', 'strides': [1, 2], 'epsilon': 0.5, 'flag': True, 'empty': [],
              'shape': [-1], 'fused_ops': ['Relu'], 'bytes': 'VA'}
    require(node.attrs == wanted, f'attributes {node.attrs}')
    got = {name: (array.dtype.name, array.tolist()) for name, array in model.weights.items()}
    require(got == {'half': ('float32', [0.5, -2]), 'byte': ('float32', [[-1], [0.5], [126.5]]), 'count': ('int32', 7),
                    'flags': ('bool', [True, False]), 'rounded': ('int32', [4])}, f'weights {got}')


def check_cut():
    """The node that is fed has an op without a converter, and so does one that no output needs."""
    case = cases.Case('', [('loop', 'While', 'x', {}), ('r', 'Relu', 'loop', {}), ('end', 'While', 'r', {})], '')
    model = model_of(case)
    graph = convert.convert(model, [('loop', (1, 4, 4, 3), 'float32')], ['r'])
    require([node.op for node in graph.nodes] == ['Relu'] and graph.inputs[0].order == layout.CHANNELS_SECOND,
            f'{graph.nodes}, {graph.inputs}')
    model.nodes['a'] = graph_model.Node('a', 'Merge', ['b'])
    model.nodes['b'] = graph_model.Node('b', 'NextIteration', ['a'])
    model.nodes['c'] = graph_model.Node('c', 'Conv2D', ['x', 'x'])
    for wanted, text in (('end', 'end: no converter for While'), ('a', 'is in a loop'), ('c', 'Conv2D c: ')):
        try:
            convert.convert(model, [('x', (1, 4, 4, 3), 'float32'), ('loop', (4,), 'float32')], [wanted])
        except Unsupported as error:
            require(text in str(error), f'{wanted}: {error}')
        else:
            sys.exit(f'{wanted} was converted')


def main():
    check_cases()
    check_cut()
    with tempfile.TemporaryDirectory() as folder:
        check_read(pathlib.Path(folder))


if __name__ == '__main__':
    main()
