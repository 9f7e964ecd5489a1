#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""models.py ROOT PROGRAM: `./dev models` on recordings of its own: what agrees, what does not, what is not there."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT, PROGRAM = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


def run(folder, *arguments, code=0, **environment):
    made = subprocess.run([sys.executable, ROOT / 'tools/models/run.py', '--program', PROGRAM, *arguments], text=True,
                          cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert made.returncode == code, f'{arguments}: exit {made.returncode}, wanted {code}\n{made.stdout}{made.stderr}'
    return made.stdout + made.stderr


def feed(count):
    """The recordings' formula."""
    return [((i + 1) * 2654435761 % 2**32 >> 8) / 2**24 for i in range(count)]


def recording(model, outputs, **more):
    return json.dumps({'model': model, 'feeds': [{'name': 'x', 'dtype': 'float32', 'shape': [2]}], 'ms': 1,
                       'outputs': [{'name': 'y', 'dtype': 'float32', 'shape': [2], 'step': 1, 'sample': outputs,
                                    'largest': max(map(abs, outputs)), **more}]})


def main():
    squares = [v * v for v in feed(2)]
    off = [squares[0] + 1e-3, squares[1]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        nodes = [{'name': 'x', 'op': 'Placeholder', 'attr': {'dtype': {'type': 'DT_FLOAT'}}},
                 {'name': 'y', 'op': 'Mul', 'input': ['x', 'x']}]
        for model in ('good', 'off', 'uncompared'):
            (folder / f'{model}.json').write_text(json.dumps({'modelTopology': {'node': nodes}, 'weightsManifest': []}))
        file = folder / 'recorded.jsonl'
        file.write_text('\n'.join([recording('good', squares), recording('off', off), recording('absent', squares),
                                   recording('uncompared', off, backends_differ=True)]) + '\n')
        page = run(folder, '--recorded', file, '--models', folder, code=1)
        assert page.splitlines()[-1] == '2 passed, 1 failed, 1 skipped', page
        assert 'y: element 0' in page and 'geometric mean' in page, page
        assert '1 passed, 0 failed, 0 skipped' in run(folder, '--recorded', file, '--models', folder, '--only', 'good')
        # Without npm nothing is fetched: everything is skipped, nothing passed.
        page = run(folder, '--recorded', file, PATH=str(folder), XDG_CACHE_HOME=str(folder / 'cache'))
        assert page.splitlines()[-1] == '0 passed, 0 failed, 4 skipped' and 'there is no npm' in page, page
        run(folder, '--recorded', folder / 'nothing.jsonl', code=2)
        # A peer that cannot be fetched is named in a line, and the models run as without it.
        for peer in 'tensorflow.js', 'onnxruntime':
            page = run(folder, '--recorded', file, '--models', folder, '--only', 'good', '--speed', '--peer', peer,
                       PATH=str(folder), XDG_CACHE_HOME=str(folder / 'cache'))
            assert page.splitlines()[0].startswith(f'{peer} is skipped: '), page
            assert page.splitlines()[-1] == '1 passed, 0 failed, 0 skipped' and 'recorded times' in page, page
        run(folder, '--recorded', file, '--models', folder, '--speed', '--docs', code=2)


main()
