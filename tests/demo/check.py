#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py DEMO: a short training of both models, twice with the same bits; weights kept; bad input refused."""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')
demo = sys.argv[1]


def run(*arguments):
    return subprocess.run([demo, *map(str, arguments)], capture_output=True, text=True)


def accuracy(result):
    assert result.returncode == 0, result.stderr
    last = result.stdout.strip().splitlines()[-1]
    found = re.fullmatch(r'test accuracy: (0\.\d{4}|1\.0000)', last)
    assert found, f'the last line is "{last}"'
    return float(found.group(1))


def without_times(text):
    return re.sub(r'\d+ images/s.*', '', text)


def refused(result, *words):
    assert result.returncode in (1, 2), f'exit {result.returncode}\n{result.stdout}'
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and all(word in lines[0] for word in words), result.stderr


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name)
    accuracy(run('--model', 'cnn', '--limit', 256, '--epochs', 1))

    # An eighth of an epoch learns something, and the same seed gives the same bits.
    short = ['--model', 'mlp', '--limit', 8000]
    once, again = (run(*short, '--epochs', 1, '--seed', 3, '--save', scratch / f'{i}.safetensors') for i in range(2))
    assert accuracy(once) > 0.6, once.stdout
    first, second = (without_times(r.stdout).replace(f'{i}.safetensors', '') for i, r in enumerate((once, again)))
    assert first == second, 'the same seed printed other numbers'
    weights = (scratch / '0.safetensors').read_bytes()
    assert weights == (scratch / '1.safetensors').read_bytes(), 'the same seed gave other weights'
    other = run(*short, '--epochs', 1, '--seed', 4, '--save', scratch / 'other.safetensors')
    assert accuracy(other) > 0.6 and weights != (scratch / 'other.safetensors').read_bytes()
    assert accuracy(run(*short, '--load', scratch / '0.safetensors')) == accuracy(once)

    (scratch / 'cut.safetensors').write_bytes(weights[:len(weights) // 2])
    refused(run('--model', 'mlp', '--limit', 64, '--load', scratch / 'cut.safetensors'), 'cut.safetensors')
    refused(run('--model', 'cnn', '--limit', 64, '--load', scratch / '0.safetensors'))
    refused(run('--data', scratch / 'nowhere'), 'nowhere')
    refused(run('--target', 'ABACUS'), 'ABACUS')

    # A truncated and a foreign file among the data.
    for broken, content in (('cut', None), ('foreign', gzip.compress(b'GIF89a' + bytes(100)))):
        folder = scratch / broken
        shutil.copytree(DATA, folder)
        images = folder / 'train-images-idx3-ubyte.gz'
        images.write_bytes(content or images.read_bytes()[:100000])
        refused(run('--model', 'mlp', '--data', folder), 'train-images-idx3-ubyte.gz')
