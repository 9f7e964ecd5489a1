# SPDX-License-Identifier: Apache-2.0
"""Converts a graph model of TensorFlow.js to a graph of ONNX with fixed shapes.

A table has the converter of each op. All that follows from constants and shapes is computed. An op without a converter
is an error: a loop, for example. Cut such a model at nodes that are fed, and at outputs before the loop.
"""
import numpy as np

from to_onnx import contractions, elementwise, fold, shapes, windows
from to_onnx.graph import Graph, Unsupported, are_constant

OPS = {**elementwise.OPS, **windows.OPS, **contractions.OPS, **shapes.OPS}


def in_order(model, wanted, fed):
    """Names of the nodes that some outputs need, each after its operands."""
    order, opened, stack = [], set(), [ref.partition(':')[0] for ref in wanted]
    while stack:
        name = stack[-1]
        operands = [] if name in fed else [ref.partition(':')[0] for ref in model.nodes[name].inputs]
        left = [operand for operand in operands if operand not in order]
        if name in order or not left:
            stack.pop()
            order += [name] if name not in order else []
        elif name in opened:
            raise Unsupported(f'{name} is in a loop')
        else:
            opened.add(name)
            stack += left
    return order


def results_of(model, graph, name, values):
    """The results of a node, from those of the nodes before."""
    node = model.nodes[name]
    if node.op == 'Const':
        return [model.weights[name]]
    if node.op not in OPS:
        raise Unsupported(f'{name}: no converter for {node.op}')
    try:
        made = OPS[node.op](graph, node, *(values[ref] for ref in node.inputs))
    except Exception as error:
        raise Unsupported(f'{node.op} {name}: {error}') from error
    # NumPy makes a number of an array without axes.
    return [np.asarray(value) if isinstance(value, np.generic) else value
            for value in (made if isinstance(made, list) else [made])]


def convert(model, feeds, wanted):
    """The graph, with the values of all outputs in its list.

    `feeds` has (name, shape, dtype) of all inputs, which may be any nodes; `wanted` are results, such as `split:1`.
    """
    graph, values = Graph(), {}
    fed = {name: (shape, dtype) for name, shape, dtype in feeds}
    inputs = {name: graph.feed(f'input_{i}', *of_feed) for i, (name, of_feed) in enumerate(fed.items())}
    for name in in_order(model, wanted, fed):
        results = [inputs[name]] if name in fed else results_of(model, graph, name, values)
        values.update({f'{name}:{i}': value for i, value in enumerate(results)}, **{name: results[0]})
    for ref in wanted:
        graph.outputs.append(output_of(graph, values[ref]))
    fold.fold(graph)
    return graph


def output_of(graph, value):
    """ONNX wants an output to be the result of a node, and no two outputs to be one tensor."""
    if are_constant([value]):
        return graph.value('Identity', [graph.constant(np.asarray(value))], value.shape, value.dtype)
    taken = {output.name for output in graph.inputs + graph.outputs}
    if value.name not in taken:
        return value
    return graph.value('Identity', [value.name], value.shape, value.dtype, value.order)
