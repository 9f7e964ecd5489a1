#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_check.py EXCHANGE: what NumPy writes goes through EXCHANGE, and NumPy reads the same from what that writes."""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy

DTYPES = ['?', 'i1', 'u1'] + [order + code for code in ('i2', 'u2', 'i4', 'u4', 'i8', 'f2', 'f4', 'f8', 'c8', 'c16')
                               for order in '<>']
SHAPES = [(), (1,), (7,), (0,), (2, 3), (0, 4), (2, 3, 5)]
REFUSED = [numpy.array(['a']), numpy.array([None]), numpy.zeros(2, 'u8'), numpy.zeros(2, [('a', 'f4')])]


def arrays():
    random = numpy.random.default_rng(1)
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        values = random.standard_normal(shape) * 100
        array = numpy.asarray(values > 0 if dtype == '?' else abs(values) if 'u' in dtype else values).astype(dtype)
        yield array
        if len(shape) > 1:
            yield numpy.asfortranarray(array)


def check(wanted, found, name):
    native = wanted.astype(wanted.dtype.newbyteorder('='))
    if found.dtype != native.dtype or found.shape != wanted.shape or found.tobytes() != native.tobytes():
        sys.exit(f'{name}: {wanted.dtype} {wanted.shape} comes back as {found.dtype} {found.shape}')


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        pairs, wanted = [], dict(enumerate(arrays()))
        for i, array in wanted.items():
            numpy.save(folder / f'{i}.npy', array)
            pairs += [folder / f'{i}.npy', folder / f'{i}.out.npy']
        named = {f'{i} \u00fc': array for i, array in wanted.items()}
        numpy.savez(folder / 'a.npz', **named)
        numpy.savez_compressed(folder / 'b.npz', **named)
        pairs += [folder / 'a.npz', folder / 'a.out.npz', folder / 'b.npz', folder / 'b.out.npz']
        subprocess.run([sys.argv[1], *pairs], check=True)
        for i, array in wanted.items():
            check(array, numpy.load(folder / f'{i}.out.npy', allow_pickle=False), f'{i}.npy')
        for name in 'a.out.npz', 'b.out.npz':
            with numpy.load(folder / name, allow_pickle=False) as found:
                if sorted(found.files) != sorted(named):
                    sys.exit(f'{name} has other names')
                for key, array in named.items():
                    check(array, found[key], f'{name}: {key}')
        for array in REFUSED:
            numpy.save(folder / 'bad.npy', array)
            done = subprocess.run([sys.argv[1], folder / 'bad.npy', folder / 'out.npy'], capture_output=True, text=True)
            if done.returncode != 1 or done.stderr.count('\n') != 1 or 'bad.npy' not in done.stderr:
                sys.exit(f'{array.dtype} is not refused: {done.stderr}')
        print(f'{len(wanted)} arrays of NumPy {numpy.__version__}')


if __name__ == '__main__':
    main()
