#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exported_check.py KERNGRAD DEMO MODELS: what is exported is a graph model for others, too.

The models of the tests and the demo's networks after a short training are run by `kerngrad graph run` and, where Node
and its packages are there (KERNGRAD_TFJS names their folder, or `./dev models --speed` has fetched them), by
TensorFlow.js. The demo's accuracy is that of the exported network.
"""
import array
import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')
kerngrad, demo, models = sys.argv[1:]


def packages():
    cache = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'kerngrad' / 'models'
    for folder in [os.environ.get('KERNGRAD_TFJS'), *(sorted(cache.glob('*')) if cache.is_dir() else [])]:
        if folder and (pathlib.Path(folder) / 'node_modules/@tensorflow/tfjs-converter').is_dir():
            return pathlib.Path(folder) if shutil.which('node') else None
    return None


def write_npy(path, shape, values, code='f'):
    header = repr({'descr': '<f4' if code == 'f' else '<i4', 'fortran_order': False, 'shape': tuple(shape)})
    header += ' ' * ((-len(header) - 11) % 64) + '\n'
    path.write_bytes(b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header.encode() +
                     array.array(code, values).tobytes())


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack('<H', data[8:10])[0]
    assert b"'<f4'" in data[10:10 + length] or b'"<f4"' in data[10:10 + length], data[10:10 + length]
    return list(array.array('f', data[10 + length:]))


def ours(model, name, shape, values, code, scratch):
    write_npy(scratch / 'x.npy', shape, values, code)
    done = subprocess.run([kerngrad, 'graph', 'run', model, '--input', f'{name}={scratch / "x.npy"}',
                           '--output', str(scratch / 'y.npy')], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_npy(scratch / 'y.npy')


def theirs(model, name, shape, values, code, scratch, folder):
    dtype = 'float32' if code == 'f' else 'int32'
    (scratch / 'feeds.json').write_text(json.dumps({name: {'dtype': dtype, 'shape': shape, 'values': list(values)}}))
    done = subprocess.run(['node', ROOT / 'tools/models/outputs.js', model, scratch / 'feeds.json'], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, f'{model}: {done.stderr}'
    (result,) = json.loads(done.stdout).values()
    return result['values']


def compare(model, got, wanted):
    assert len(got) == len(wanted), f'{model}: {len(got)} elements, not {len(wanted)}'
    bound = 1e-4 * max(1, *map(abs, wanted))
    worst = max(abs(a - b) for a, b in zip(got, wanted))
    assert worst <= bound, f'{model}: {worst} apart'


def hashed(count, seed):
    return [((seed * 7919 + i + 1) * 2654435761 % 2**32 >> 8) / 2**24 - 0.5 for i in range(count)]


def check_own(scratch, folder):
    own = {'dense': ([5, 6], None), 'conv': ([2, 8, 8, 2], None), 'image': ([2, 6, 6, 2], None),
           'table': ([3], [7, 0, 2]), 'attention': ([3, 5, 4], None)}
    for name, (shape, values) in own.items():
        code = 'f' if values is None else 'i'
        count = 1
        for size in shape:
            count *= size
        values = hashed(count, 5) if values is None else values
        model = f'{models}/{name}.json'
        got = ours(model, 'input', shape, values, code, scratch)
        if folder:
            compare(model, got, theirs(model, 'input', shape, values, code, scratch, folder))


def check_demo(kind, scratch, folder, count=250):
    export = scratch / kind
    done = subprocess.run([demo, '--model', kind, '--limit', str(count), '--epochs', '2', '--batch', '25',
                           '--export', export], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = re.search(r'test accuracy: ([\d.]+)', done.stdout).group(1)
    pixels = gzip.decompress((DATA / 't10k-images-idx3-ubyte.gz').read_bytes())[16:16 + count * 784]
    labels = gzip.decompress((DATA / 't10k-labels-idx1-ubyte.gz').read_bytes())[8:8 + count]
    images = [p / 255 for p in pixels]
    scores = ours(str(export / 'model.json'), 'images', [count, 784], images, 'f', scratch)
    right = 0
    for i, label in enumerate(labels):
        row = scores[10 * i:10 * i + 10]
        right += row.index(max(row)) == label
    assert f'{right / count:.4f}' == printed, f'{kind}: {right / count:.4f} of the exported network, {printed} printed'
    if folder:
        some = 20
        compare(export, scores[:10 * some],
                theirs(export / 'model.json', 'images', [some, 784], images[:some * 784], 'f', scratch, folder))


with tempfile.TemporaryDirectory() as name:
    there = packages()
    check_own(pathlib.Path(name), there)
    for kind in ('mlp', 'cnn'):
        check_demo(kind, pathlib.Path(name), there)
    print('compared with TensorFlow.js' if there else 'without TensorFlow.js: no Node, or no packages for it')
