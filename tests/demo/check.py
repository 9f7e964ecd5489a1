#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py DEMO: trains both models twice with bitwise identical results, keeps weights, rejects bad input."""
import gzip
import pathlib
import re
import shutil
import struct
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

    # An eighth of an epoch learns something, and the same seed gives bitwise identical results.
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

    # Headers that no writer of weights makes.
    nested = '[' * 100000 + ']' * 100000
    entry = '{"dtype": "F32", "shape": [%s], "data_offsets": [0, 4]}'
    for header, word in (('{"w": %s}' % nested, 'nested'), ('{"w": {"shape": %s}}' % nested, 'nested'),
                         ('{"__metadata__": %s}' % nested, 'nested'), ('{"w": ' * 100000, 'nested'),
                         ('{"w": %s}' % entry % '1e3920', 'number'), ('{"w": %s}' % entry % '-1', '-1'),
                         ('{"w": %s}' % entry % '18446744073709551617', 'shape'),
                         ('{"w": %s}' % entry % ('"%s"' % ('x' * 100000)), 'shape'),
                         ('{"w": %s, "w": %s}' % (entry % 1, entry % 1), 'twice'),
                         ('{"w": %s}' % entry.replace('}', ', "shape": [1]}') % 2, 'twice'), ('[]', 'object')):
        (scratch / 'header.safetensors').write_bytes(struct.pack('<Q', len(header)) + header.encode() + bytes(4))
        result = run('--model', 'mlp', '--limit', 64, '--load', scratch / 'header.safetensors')
        refused(result, 'header.safetensors', word)
        assert len(result.stderr) < 1000, 'a sentence is wanted'

    # Whole numbers are decimal, and the type that holds them does not decide what is meant.
    for option, given in (('--seed', 2**64), ('--seed', -1), ('--seed', '1.5'), ('--seed', '0x10'), ('--limit', '1e3'),
                          ('--batch', 2**64 + 1), ('--epochs', 2**32 + 1), ('--threads', 1025)):
        refused(run('--model', 'mlp', '--limit', 64, option, given), option, str(given))
    assert 'seed 18446744073709551615' in run('--model', 'mlp', '--limit', 64, '--seed', 2**64 - 1).stdout
    assert 'batches of 10;' in run('--model', 'mlp', '--limit', 64, '--epochs', 1, '--batch', '010').stdout
    refused(run('--data', scratch / 'nowhere'), 'nowhere')
    refused(run('--target', 'ABACUS'), 'ABACUS')

    # A truncated and a foreign file among the data.
    for broken, content in (('cut', None), ('foreign', gzip.compress(b'GIF89a' + bytes(100)))):
        folder = scratch / broken
        shutil.copytree(DATA, folder)
        images = folder / 'train-images-idx3-ubyte.gz'
        images.write_bytes(content or images.read_bytes()[:100000])
        refused(run('--model', 'mlp', '--data', folder), 'train-images-idx3-ubyte.gz')
