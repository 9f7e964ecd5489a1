#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_check.py PROGRAM: kerngrad.linalg gives what NumPy gives, up to rounding."""
import subprocess
import sys

import numpy as np


def made(*dims):
    i = np.arange(np.prod(dims), dtype=float)
    return np.sin(1 + 3 * i + i * i / 7).reshape(dims)


def results():
    """(name, array), in the order of the program."""
    la = np.linalg
    a, b, tall, wide = made(2, 4, 4), made(4, 3), made(5, 3), made(3, 5)
    definite = a @ a.swapaxes(-1, -2) + np.eye(4)
    yield 'cholesky', la.cholesky(definite)
    yield 'solve', la.solve(a, b[None])
    yield 'inv', la.inv(a)
    yield 'det', la.det(a)
    yield 'sign', la.slogdet(a)[0]
    yield 'logabsdet', la.slogdet(a)[1]
    for name, x in (('tall', tall), ('wide', wide)):
        yield 'q of ' + name, la.qr(x)[0]
        yield 'r of ' + name, la.qr(x)[1]
        yield 'complete q of ' + name, la.qr(x, 'complete')[0]
        yield 'svdvals of ' + name, la.svd(x, compute_uv=False)
        yield 'pinv of ' + name, la.pinv(x)
        yield 'rank of ' + name, la.matrix_rank(x)
        yield 'lstsq of ' + name, la.lstsq(x, made(len(x), 2), rcond=None)[0]
        yield 'cond of ' + name, la.cond(x)
        yield '2-norm of ' + name, la.norm(x, 2)
        yield 'nuc of ' + name, la.norm(x, 'nuc')
        yield '1-norm of ' + name, la.norm(x, 1)
        yield 'fro of ' + name, la.norm(x)
    yield 'eigvalsh', la.eigvalsh(definite)
    v = la.eigh(definite)[1][..., :2]
    yield 'projector', v @ v.swapaxes(-1, -2)
    yield 'power', la.matrix_power(a, 5)
    yield 'inverse power', la.matrix_power(a, -2)
    yield 'multi_dot', la.multi_dot([wide, tall, made(3, 2)])
    yield 'kron', np.kron(b, tall)
    yield 'cross', np.cross(tall, made(3))
    yield 'tensordot', np.tensordot(a, made(4, 4, 2), ([1, 2], [0, 1]))
    yield 'integers', la.inv(np.array([[2, 1], [1, 3]]))


def main():
    printed = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    wrong = 0
    for line, (name, wanted) in zip(printed, results(), strict=True):
        ours, _, numbers = line.partition(':')
        got = np.array([float(number) for number in numbers.split()])
        if ours != name or not np.allclose(got, np.ravel(wanted), rtol=1e-11, atol=1e-12):
            print(f'{ours} is {got}; NumPy has {name}, {np.ravel(wanted)}')
            wrong += 1
    print(f'{len(printed)} results')
    sys.exit(1 if wrong or len(printed) < 30 else 0)


main()
