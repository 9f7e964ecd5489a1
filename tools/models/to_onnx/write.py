# SPDX-License-Identifier: Apache-2.0
"""Writes a graph of ONNX to a file, by Debian's package python3-onnx."""
import numpy as np
import onnx
from onnx import numpy_helper

from to_onnx import layout
from to_onnx.graph import Unsupported

VERSION_OF_OPERATORS, VERSION_OF_FILES = 17, 8


def number_of(dtype):
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(dtype)]


def info(value):
    return onnx.helper.make_tensor_value_info(value.name, number_of(value.dtype),
                                              layout.stored(value.shape, value.order))


def node_of(node):
    attrs = {**node.attrs, 'to': number_of(node.attrs['to'])} if node.op == 'Cast' else node.attrs
    return onnx.helper.make_node(node.op, node.inputs, node.outputs, name=node.outputs[0], **attrs)


def write(graph, path):
    """Writes the file and checks it as a whole."""
    constants = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    made = onnx.helper.make_graph(list(map(node_of, graph.nodes)), 'graph', list(map(info, graph.inputs)),
                                  list(map(info, graph.outputs)), constants)
    model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid('', VERSION_OF_OPERATORS)],
                                   ir_version=VERSION_OF_FILES)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise Unsupported(str(error)) from error
    onnx.save(model, str(path))
