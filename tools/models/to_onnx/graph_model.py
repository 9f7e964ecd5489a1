# SPDX-License-Identifier: Apache-2.0
"""Graph models of TensorFlow.js as plain data: nodes with decoded attributes, and weights as arrays."""
import base64
import dataclasses
import json

import numpy as np

# TensorFlow.js has these dtypes for those of the graph. The file has names or numbers.
DTYPES = {'DT_FLOAT': np.float32, 'DT_HALF': np.float32, 'DT_DOUBLE': np.float32, 'DT_INT32': np.int32,
          'DT_INT64': np.int32, 'DT_UINT8': np.int32, 'DT_BOOL': np.bool_,
          '1': np.float32, '2': np.float32, '3': np.int32, '4': np.int32, '9': np.int32, '10': np.bool_,
          '19': np.float32}
STORED = {'float32': '<f4', 'float16': '<f2', 'int32': '<i4', 'uint8': 'u1', 'uint16': '<u2', 'bool': 'u1'}
QUANTIZED = ('uint8', 'uint16')


@dataclasses.dataclass
class Node:
    """A node of the graph. Its inputs are references to results, such as `split:1`, without control inputs."""
    name: str
    op: str
    inputs: list = dataclasses.field(default_factory=list)
    attrs: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class GraphModel:
    nodes: dict
    weights: dict = dataclasses.field(default_factory=dict)
    outputs: dict = dataclasses.field(default_factory=dict)  # references by the keys of the signature


def text_of(value):
    """Bytes are a list of numbers or base64."""
    return (bytes(value) if isinstance(value, list) else base64.b64decode(value)).decode()


KINDS = {'i': int, 'f': float, 'b': bool, 's': text_of, 'type': lambda value: DTYPES.get(str(value)),
         'shape': lambda value: [int(dim.get('size', -1)) for dim in value.get('dim', [])]}


def attribute(value):
    """The plain value of an attribute; none for a kind that no converter reads."""
    if 'list' in value:
        items = value['list'] or {}
        return [KINDS[kind](item) for kind in KINDS for item in items.get(kind, [])]
    return next((KINDS[kind](value[kind]) for kind in KINDS if kind in value), None)


def weight(data, spec, begin):
    """The elements of a weight, and how many bytes they take."""
    quantization = spec.get('quantization') or {}
    kind = quantization.get('dtype', spec['dtype'])
    raw = np.frombuffer(data, STORED[kind], int(np.prod(spec['shape'], dtype=np.int64)), begin)
    values = raw
    if kind in QUANTIZED and quantization:
        values = raw.astype(np.float32) * np.float32(quantization['scale']) + np.float32(quantization['min'])
        if spec['dtype'] == 'int32':
            values = np.round(values)
    dtype = {'float32': np.float32, 'int32': np.int32, 'bool': np.bool_}[spec['dtype']]
    return values.astype(dtype).reshape(spec['shape']), raw.nbytes


def weights_of(manifest, folder):
    found = {}
    for group in manifest:
        data, begin = b''.join((folder / path).read_bytes() for path in group['paths']), 0
        for spec in group['weights']:
            found[spec['name']], size = weight(data, spec, begin)
            begin += size
    return found


def read(path):
    """The model in a file model.json, with the files of weights next to it."""
    document = json.loads(path.read_text())
    nodes = {node['name']: Node(node['name'], node['op'],
                                [ref for ref in node.get('input', []) if not ref.startswith('^')],
                                {key: attribute(value) for key, value in node.get('attr', {}).items()})
             for node in document['modelTopology']['node']}
    signature = (document.get('signature') or {}).get('outputs') or {}
    outputs = {key: port.get('name', key) for key, port in signature.items()}
    return GraphModel(nodes, weights_of(document['weightsManifest'], path.parent), outputs)
