# SPDX-License-Identifier: Apache-2.0
"""Graph models in ONNX Runtime: converted, run on the inputs of a recording, and timed in turns with kerngrad."""
import importlib.util
import json
import math
import pathlib
import sys
import tempfile

import numpy as np

import npm
import speed
from to_onnx import convert, graph_model, layout
from to_onnx.graph import Unsupported

TITLE = f'ONNX Runtime {npm.ONNXRUNTIME_VERSION}'
ROUNDS, SECONDS = 5, 0.6
# Models with loops, whose lengths follow from elements: nodes that are fed, and outputs before the loop.
CUTS = {
    'faceboxes': {'outputs': ['postprocessing/clip_by_value_1', 'postprocessing/strided_slice_2']},
    'handtrack': {'feeds': {'StatefulPartitionedCall/map/TensorArrayV2Stack/TensorListStack': [1, 320, 320, 3]},
                  'outputs': ['Identity_6', 'Identity_7']},
}


def elements(shape, dtype):
    """The elements of an input by the formula of recordings (recording.h)."""
    numbers = np.arange(1, math.prod(shape) + 1, dtype=np.uint32) * np.uint32(2654435761)
    values = (numbers >> np.uint32(8)) / 2**24
    return (values if dtype == 'float32' else 256 * values).astype(dtype).reshape(shape)


def number(value):
    """A number of a recording: JSON lacks those that are not finite."""
    return value if math.isfinite(value) else {math.inf: 'Infinity', -math.inf: '-Infinity'}.get(value, 'NaN')


def recorded(name, values):
    """An output as recordings have it, with all elements."""
    sample = [number(value) for value in values.reshape(-1).tolist()]
    largest = max((abs(value) for value in sample if not isinstance(value, str)), default=0)
    return {'name': name, 'dtype': values.dtype.name, 'shape': list(values.shape), 'step': 1, 'sample': sample,
            'largest': largest}


def write_ports(graph, feeds, folder):
    """The description that the peer's program reads, and a file for each input."""
    def port(value, file):
        return {'name': value.name, 'dtype': value.dtype.name, 'sizes': layout.stored(value.shape, value.order),
                'file': str(folder / file)}

    for i, (value, feed) in enumerate(zip(graph.inputs, feeds)):
        elements(feed['shape'], feed['dtype']).transpose(value.order).tofile(folder / f'input_{i}')
    (folder / 'ports.json').write_text(json.dumps({
        'inputs': [port(value, f'input_{i}') for i, value in enumerate(graph.inputs)],
        'outputs': [port(value, f'output_{i}') for i, value in enumerate(graph.outputs)]}))


def read_output(value, path):
    """An output with its axes in the order of the graph model."""
    in_memory = np.fromfile(path, value.dtype).reshape(layout.stored(value.shape, value.order))
    return in_memory.transpose([value.order.index(axis) for axis in range(len(value.shape))])


class Peer:
    """The program that runs ONNX Runtime is next to kerngrad-models."""

    def __init__(self, options, models):
        """Throws Unavailable if something is missing."""
        if not importlib.util.find_spec('onnx'):
            raise npm.Unavailable('python3-onnx is not installed')
        self.options, self.models, self.library = options, models, npm.onnxruntime()

    def measured(self, recording):
        line = {'model': recording['model'], 'verdict': 'passed', 'why': ''}
        with tempfile.TemporaryDirectory() as folder:
            try:
                sides = self.prepare(recording, pathlib.Path(folder))
                line['times'] = {threads: speed.in_turns(sides, threads, self.options.rounds, self.options.seconds)
                                 for threads in self.options.threads}
            except speed.Differs as reason:
                return line | {'verdict': 'failed', 'why': str(reason)}
        return line | {'ms': line['times'][self.options.threads[0]].ours}

    @staticmethod
    def columns(line):
        return '; '.join(f'{speed.words_of(threads)}: {of.ours:.3f} ms, {of.theirs:.3f} ms in ONNX Runtime, ratio '
                         f'{of.ratio:.2f}' for threads, of in line['times'].items())

    @staticmethod
    def summary(lines):
        return speed.summary({line['model']: line['times'] for line in lines if 'times' in line}, TITLE)

    @staticmethod
    def write_docs(lines):
        import speed_page
        speed_page.write(speed_page.markdown({line['model']: line['times'] for line in lines}, TITLE,
                                             ' '.join(['./dev models', *sys.argv[1:]])))

    def prepare(self, recording, folder):
        """Converts a model and runs it once. The outputs are the recording that kerngrad's must agree with."""
        name, cut = recording['model'], CUTS.get(recording['model'], {})
        feeds = [{'name': node, 'dtype': 'float32', 'shape': shape} for node, shape in cut.get('feeds', {}).items()]
        feeds = feeds or recording['feeds']
        outputs = cut.get('outputs') or [output['name'] for output in recording['outputs']]
        graph = self.converted(name, feeds, outputs, folder / 'model.onnx')
        write_ports(graph, feeds, folder)
        theirs = [self.options.program.with_name('peer_onnxruntime'), self.library, folder / 'model.onnx',
                  folder / 'ports.json']
        speed.run_pinned([*theirs, '--seconds', 0])
        values = [read_output(value, folder / f'output_{i}') for i, value in enumerate(graph.outputs)]
        (folder / 'recorded.jsonl').write_text(json.dumps({
            'model': name, 'feeds': feeds, 'outputs': list(map(recorded, outputs, values))}) + '\n')
        return speed.Sides([self.options.program, self.models, folder / 'recorded.jsonl', '--measure'], theirs)

    def converted(self, name, feeds, outputs, path):
        from to_onnx import write  # the one part that needs python3-onnx
        try:
            model = graph_model.read(self.models / f'{name}.json')
            graph = convert.convert(model, [(feed['name'], feed['shape'], feed['dtype']) for feed in feeds],
                                    [model.outputs.get(output, output) for output in outputs])
            write.write(graph, path)
        except Unsupported as error:
            raise speed.Differs(f'not converted: {error}') from error
        return graph
