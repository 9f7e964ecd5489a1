#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers_of_torch.py [--check HEADER]: layers_of_torch.h, PyTorch's, SciPy's and NumPy's results for
tests/composed/sequences.cc and warps.cc; or whether they still give what HEADER has."""
import pathlib
import sys

import numpy as np
import scipy
import scipy.ndimage as nd
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
import recorded_results


def wave(shape, k):
    """The operands of the tests: sin(0.7 i + k)."""
    return torch.sin(torch.arange(float(np.prod(shape)), dtype=torch.float64) * 0.7 + k).reshape(shape)


def layer(kind, gates):
    """y, h (and c), and the gradients of all operands for the sum of y squared and of the last states."""
    x, kernel, recurrent = wave((3, 2, 4), 1), wave((4, 3 * gates), 2), wave((3, 3 * gates), 3)
    bias, other = wave((3 * gates,), 4), wave((3 * gates,), 5)
    states = [wave((2, 3), 6), wave((2, 3), 7)][:2 if gates == 4 else 1]
    operands = [v.requires_grad_() for v in [x, kernel, recurrent, bias, *states, other]]
    weights = [kernel.T, recurrent.T, bias, other if gates == 3 else torch.zeros(3 * gates).double()]
    first = [v.unsqueeze(0) for v in states]
    y, *last = kind(x, tuple(first) if gates == 4 else first[0], weights, True, 1, 0.0, False, False, False)
    last = [v[0] for v in last]
    used = operands if gates == 3 else operands[:-1]
    loss = (y * y).sum() + sum((k + 1) * v.sum() for k, v in enumerate(last))
    return [y, *last, *torch.autograd.grad(loss, used)]


def nchw(x):
    return x.permute(0, 3, 1, 2)


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def sampled(mode, padding, align):
    """grid_sample and its gradients, on positions that reach outside."""
    images, grid = wave((2, 3, 4, 1), 1).requires_grad_(), (wave((2, 2, 3, 2), 2) * 1.6).requires_grad_()
    y = nhwc(F.grid_sample(nchw(images), grid, mode, padding, align))
    grads = torch.autograd.grad((y * wave(tuple(y.shape), 3)).sum(), [images, grid])
    return [y, *grads]


def coordinates(order, mode):
    at = wave((2, 3, 3), 2).numpy() * 4 + 1.5
    return nd.map_coordinates(wave((5, 4), 1).numpy(), at, order=order, mode=mode, cval=0.5)


IMAGE = wave((1, 5, 6, 2), 1)
POOLS = [(2, 2, 0, True, True), (3, 2, 1, True, True), (3, 2, 1, True, False), (3, 2, 1, False, True),
         ((3, 2), (2, 3), (1, 1), True, True), (2, 3, 1, True, True)]
NAMES = {'wave': wave, 'layer': layer, 'torch': torch, 'F': F, 'sampled': sampled, 'coordinates': coordinates,
         'np': np, 'nd': nd, 'nchw': nchw, 'nhwc': nhwc, 'image': IMAGE}
EXPRESSIONS = [
    'layer(torch.lstm, 4)', 'layer(torch.gru, 3)',
    *[f'sampled("{mode}", "{padding}", {align})' for mode in ('nearest', 'bilinear', 'bicubic')
      for padding in ('zeros', 'border', 'reflection') for align in (False, True)],
    *[f'F.affine_grid(wave((2, 2, 3), 1), (2, 1, 3, 4), {align})' for align in (False, True)],
    *[f'coordinates({order}, "{mode}")' for order in range(4)
      for mode in ('constant', 'grid-constant', 'nearest', 'mirror', 'reflect', 'wrap', 'grid-wrap')],
    *[f'nhwc(F.interpolate(nchw(image), {size}, mode="bicubic", align_corners={align}))'
      for size in ((7, 3), (2, 9), (1, 1)) for align in (False, True)],
    *[f'nhwc(F.interpolate(nchw(image), {size}, mode="area"))' for size in ((3, 4), (7, 9), (2, 5))],
    *[f'nhwc(F.avg_pool2d(nchw(image), {w}, {s}, {p}, {ceil}, {count}))' for w, s, p, ceil, count in POOLS],
    *[f'nhwc(F.max_pool2d(nchw(image), {w}, {s}, {p}, 1, {ceil}))' for w, s, p, ceil, _ in POOLS[1:5:2]],
    *[f'np.pad(np.arange({n}.), {pairs}, "{mode}")' for mode in ('reflect', 'symmetric')
      for n, pairs in ((3, (4, 7)), (2, (5, 1)), (1, (3, 2)), (4, (0, 11)))],
    *[f'np.sort_complex(np.roots({p}))' for p in ('[1, -6, 11, -6]', '[2, 0, 0, 5]', '[0, 3, -1, 4, 0, 0]',
                                                 '[1, 1e3, 1, 1e-3]', '[1, 2, 3, 4, 5, 6, 7, 8]')]]


def values(expression):
    got = eval(expression, dict(NAMES))
    parts = [np.ravel(v.detach().numpy() if isinstance(v, torch.Tensor) else v)
             for v in (got if isinstance(got, list) else [got])]
    flat = np.concatenate([np.stack([v.real, v.imag], -1).ravel() if np.iscomplexobj(v) else v for v in parts])
    return [0.0 if abs(v) < 1e-15 else float(v) for v in flat]


if __name__ == '__main__':
    sys.exit(recorded_results.main('layers_of_torch',
                                   [f'Results of expressions by PyTorch {torch.__version__}, SciPy {scipy.__version__}'
                                    f' and NumPy {np.__version__}:', 'layers_of_torch.py writes them.'],
                                   {expression: values(expression) for expression in EXPRESSIONS},
                                   digits=13, rtol=1e-9, atol=1e-11))
