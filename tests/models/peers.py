#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py ROOT KERNGRAD_MODELS: graph models that are timed next to a library that a script stands in for.

1. Both sides take turns with the threads and cores that are asked for. Times and ratios are the medians.
2. A model is converted, fed, run on both sides and compared. It fails without a ratio if the stand-in has wrong outputs
   or fails, or if an op has no converter.
3. The summary and the section of the docs have the numbers. The page has the markers.
"""
import json
import math
import os
import pathlib
import sys
import tempfile
import types

import numpy as np

ROOT, PROGRAM = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(ROOT / 'tools' / 'models'))
import npm  # noqa: E402
import peer_onnxruntime  # noqa: E402
import speed  # noqa: E402
import speed_page  # noqa: E402

# Prints times that a file has, a line for each run, and logs how it was called.
TURN = '''#!{python}
import json, os, sys
times = open({folder!r} + '/times').read().splitlines()
open({folder!r} + '/times', 'w').write('\\n'.join(times[1:]))
open({folder!r} + '/log', 'a').write(' '.join([{name!r}, *sys.argv[1:], str(len(os.sched_getaffinity(0)))]) + '\\n')
print(json.dumps({{'ms': 10 * float(times[0]), 'cpu_ms': float(times[0])}}))
'''
# Runs the one model that there is, the square of an image plus a number for each channel, as it is stored.
RUNNER = '''#!{python}
import json, sys
import numpy as np
library, model, ports = sys.argv[1:4]
if library == 'missing':
    sys.exit('no library')
ports = json.load(open(ports))
given, result = ports['inputs'][0], ports['outputs'][0]
x = np.fromfile(given['file'], given['dtype']).reshape(given['sizes'])
y = x * x + np.array([1, 2, 3], np.float32).reshape(3, 1, 1)
(y + (0.01 if library == 'wrong' else 0)).astype(result['dtype']).tofile(result['file'])
print(json.dumps({{'ms': 1, 'cpu_ms': 1}}))
'''


def require(holds, text):
    if not holds:
        sys.exit(text)


def script(path, text, **more):
    path.write_text(text.format(python=sys.executable, **more))
    path.chmod(0o755)
    return path


def check_turns(folder):
    sides = speed.Sides(*([script(folder / name, TURN, folder=str(folder), name=name), 'model']
                          for name in ('ours', 'theirs')))
    (folder / 'times').write_text('\n'.join('2 4 4 5 12 10'.split()))
    times = speed.in_turns(sides, 1, 3, 0.5)
    require(times == speed.Times(5, 4, 1.2), f'{times}')  # of 2, 5, 12 and of 4, 4, 10
    words = 'model --threads 1 --seconds 0.5 1'
    order = [f'ours {words}', f'theirs {words}', f'theirs {words}', f'ours {words}', f'ours {words}', f'theirs {words}']
    require((folder / 'log').read_text().splitlines() == order, (folder / 'log').read_text())
    (folder / 'log').unlink()
    (folder / 'times').write_text('2\n4')
    times = speed.in_turns(sides, 2, 1, 0.5)
    require(times == speed.Times(20, 40, 0.5), f'by the clock: {times}')
    cores = min(2, len(os.sched_getaffinity(0)))
    log = (folder / 'log').read_text()
    require(log.splitlines()[0] == f'ours model --threads 2 --seconds 0.5 {cores}', f'two cores: {log}')


def write_model(folder, name, op):
    nodes = [{'name': 'x', 'op': 'Placeholder', 'attr': {'dtype': {'type': 'DT_FLOAT'}}},
             {'name': 'b', 'op': 'Const', 'attr': {'dtype': {'type': 'DT_FLOAT'}}},
             {'name': 's', 'op': op, 'input': ['x']}, {'name': 'y', 'op': 'AddV2', 'input': ['s', 'b']}]
    (folder / 'weights.bin').write_bytes(np.array([1, 2, 3], np.float32).tobytes())
    (folder / f'{name}.json').write_text(json.dumps({
        'modelTopology': {'node': nodes}, 'weightsManifest': [
            {'paths': ['weights.bin'], 'weights': [{'name': 'b', 'shape': [3], 'dtype': 'float32'}]}]}))


def check_models(folder):
    (folder / 'kerngrad-models').symlink_to(PROGRAM)
    script(folder / 'peer_onnxruntime', RUNNER)
    write_model(folder, 'square', 'Square')
    write_model(folder, 'erf', 'Erf')
    sys.modules['to_onnx.write'] = types.SimpleNamespace(write=lambda graph, path: path.write_text(''))
    peer_onnxruntime.importlib = types.SimpleNamespace(util=types.SimpleNamespace(find_spec=lambda name: True))
    options = types.SimpleNamespace(program=folder / 'kerngrad-models', threads=[1, 2], rounds=1, seconds=0)
    npm.onnxruntime = lambda: 'library'
    peer = peer_onnxruntime.Peer(options, folder)
    recording = {'model': 'square', 'feeds': [{'name': 'x', 'dtype': 'float32', 'shape': [1, 4, 5, 3]}],
                 'outputs': [{'name': 'y'}]}
    line = peer.measured(recording)
    require(line['verdict'] == 'passed' and set(line['times']) == {1, 2}, f'{line}')
    require('two threads: ' in peer.columns(line) and 'ratio' in peer.columns(line), peer.columns(line))
    names = [text.partition(':')[0] for text in peer.summary([line])]
    wanted = [f'1 models next to {peer_onnxruntime.TITLE}, {threads}' for threads in ('one thread', 'two threads')]
    require(names == wanted, f'the summary is of {names}')
    for library, model, why in (('wrong', 'square', 'y: element 0'), ('missing', 'square', 'no library'),
                                ('library', 'erf', 'not converted: s: no converter for Erf')):
        peer.library = library
        line = peer.measured({**recording, 'model': model})
        require(line['verdict'] == 'failed' and why in line['why'] and 'ms' not in line, f'{library}, {model}: {line}')
        require(list(peer.summary([line])) == [], 'a ratio of a model that failed')


def check_recording():
    wanted = [((i + 1) * 2654435761 % 2**32 >> 8) / 2**24 for i in range(6)]
    require(np.allclose(peer_onnxruntime.elements([2, 3], 'float32').reshape(-1), wanted), 'elements of a feed')
    integers = [math.floor(256 * value) for value in wanted]
    require(peer_onnxruntime.elements([6], 'int32').tolist() == integers, 'integers of a feed')
    line = peer_onnxruntime.recorded('y', np.array([[1, math.inf], [-3, math.nan]], np.float32))
    require(line == {'name': 'y', 'dtype': 'float32', 'shape': [2, 2], 'step': 1, 'largest': 3,
                     'sample': [1, 'Infinity', -3, 'NaN']}, f'{line}')


def check_page(folder):
    measured = {'fast': {1: speed.Times(1, 4, 0.25), 2: speed.Times(1, 2, 0.5)},
                'slow': {1: speed.Times(123.4, 30.85, 4), 2: speed.Times(2, 1, 2)}}
    text = speed_page.markdown(measured, 'Some Library 1.2', './dev models --speed')
    for line in ('## Graph models and Some Library', '| slow | 123 | 30.9 | 4.00 | 2 | 1 | 2.00 |',
                 '- 2 models next to Some Library 1.2, one thread: geometric mean 1.000, slowest 4.00 (slow).',
                 '- 2 models next to Some Library 1.2, two threads: geometric mean 1.000, slowest 2.00 (slow).'):
        require(line in text.splitlines(), f'{line} is missing: {text}')
    copy = folder / 'page.md'
    copy.write_text(speed_page.PAGE.read_text())
    speed_page.write(text, copy)
    require(text in copy.read_text(), 'the section is not written')


def main():
    for check in check_turns, check_models, check_page:
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    check_recording()


if __name__ == '__main__':
    main()
