# SPDX-License-Identifier: Apache-2.0
"""Cases of functions that PyTorch lacks, by NumPy and SciPy: values, and gradients by differences in double precision.

Each function has a generator of its arguments, (args, kwargs). The gradient is that of the functional of opinfo.py by
differences of the fourth order, whose error is far below the last place of float32. float64 has values alone.
"""
import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.special
import torch

from encoding import NAMES
from opinfo import STEP, encoded_results, functional, head_of, mapped, seeded

SHAPES = ((), (7,), (3, 4), (2, 3, 2))
SAMPLES = 8


def numbers(random, shape, dtype):
    """Numbers with four digits, whose neighbours are far away."""
    if dtype == np.int64:
        return random.integers(-9, 10, shape)
    return np.round(random.uniform(-4, 4, shape), 3).astype(dtype)


def of_any_shape(random, dtype, at):
    return [numbers(random, SHAPES[at % len(SHAPES)], dtype)], {}


def with_gaps(random, dtype, at):
    x = numbers(random, SHAPES[1 + at % 3], dtype)
    if dtype != np.int64:
        x[random.uniform(size=x.shape) < 0.3] = np.nan
    x.flat[0] = 1
    return [x], {}


def two_lists(random, dtype, at):
    return [random.integers(0, 6, 4 + at).astype(dtype), random.integers(2, 9, 3 + at % 3).astype(dtype)], {}


def signals(random, dtype, at):
    return [numbers(random, (6 + at,), dtype), numbers(random, (3 + at % 2,), dtype)], {}


def edges(random, dtype, at):
    return [numbers(random, (8,), dtype), np.sort(numbers(random, (4,), dtype))], {}


def along_an_axis(random, dtype, at):
    shape = SHAPES[1 + at % 3]
    return [numbers(random, shape, dtype)], {'axis': at % len(shape)}


def percentiles(random, dtype, at):
    args, kwargs = along_an_axis(random, dtype, at)
    return [*args, float((0, 10, 25, 37.5, 50, 80, 99, 100)[at % 8])], kwargs


def segments(random, dtype, at):
    ids = random.integers(0, 3, 9)
    ids[:3] = range(3)
    return [numbers(random, (9,), dtype), ids, 3], {}


def images(random, dtype, at):
    return [numbers(random, (5, 4 + at % 3), dtype), numbers(random, (2 + at % 2, 3), dtype)], {}


def affine(random, dtype, at):
    matrix = np.round(np.eye(2) + random.uniform(-0.3, 0.3, (2, 2)), 3)
    offset = np.round(random.uniform(-1, 1, 2), 3)
    return [numbers(random, (4, 5), dtype), matrix.astype(dtype), offset.astype(dtype)], {}


def grey_dilation(image, structure):
    """The dilation with the structure as it lies, at the positions where all of it is inside."""
    rows, columns = structure.shape
    turned = structure[::-1, ::-1]  # SciPy's definition reflects it
    y = scipy.ndimage.grey_dilation(image, structure=turned, mode='constant', cval=-1e300)
    top, left = (rows - 1) // 2, (columns - 1) // 2
    return y[top:top + image.shape[0] - rows + 1, left:left + image.shape[1] - columns + 1]


def affine_transform(image, matrix, offset):
    """With zeros around the image, which positions next to it interpolate with."""
    return scipy.ndimage.affine_transform(image, matrix, offset, order=1, mode='grid-constant')


FLOATS, ALL = (np.float32, np.float64), (np.float32, np.float64, np.int64)
# name -> (function, arguments, dtypes, how many of the operands have a gradient)
FUNCTIONS = {
    'np.cbrt': (np.cbrt, of_any_shape, FLOATS, 1),
    'np.flatnonzero': (np.flatnonzero, of_any_shape, ALL, 0),
    'np.median': (np.median, along_an_axis, ALL, 1),
    'np.percentile': (np.percentile, percentiles, ALL, 1),
    'np.ediff1d': (np.ediff1d, of_any_shape, ALL, 1),
    'np.nanmax': (np.nanmax, with_gaps, FLOATS, 1),
    'np.digitize': (np.digitize, edges, ALL, 0),
    'np.setdiff1d': (np.setdiff1d, two_lists, ALL, 0),
    'np.intersect1d': (np.intersect1d, two_lists, ALL, 0),
    'np.union1d': (np.union1d, two_lists, ALL, 0),
    'np.convolve': (np.convolve, signals, FLOATS, 2),
    'np.correlate': (np.correlate, signals, FLOATS, 2),
    'scipy.special.logsumexp': (scipy.special.logsumexp, along_an_axis, FLOATS, 1),
    'scipy.signal.correlate2d': (lambda x, y: scipy.signal.correlate2d(x, y, 'valid'), images, FLOATS, 2),
    'scipy.ndimage.grey_dilation': (grey_dilation, images, FLOATS, 2),
    'scipy.ndimage.affine_transform': (affine_transform, affine, FLOATS, 1),
    'scipy.ndimage.sum_labels': (lambda x, ids, n: scipy.ndimage.sum_labels(x, ids, range(n)), segments, FLOATS, 1),
    'scipy.ndimage.mean': (lambda x, ids, n: scipy.ndimage.mean(x, ids, range(n)), segments, FLOATS, 1),
    'scipy.ndimage.maximum': (lambda x, ids, n: scipy.ndimage.maximum(x, ids, range(n)), segments, FLOATS, 1),
    'scipy.ndimage.minimum': (lambda x, ids, n: scipy.ndimage.minimum(x, ids, range(n)), segments, FLOATS, 1),
}


def results(function, sample):
    args, kwargs = mapped(sample, lambda item: item.detach().numpy())
    y = function(*args, **kwargs)
    return [torch.from_numpy(np.array(y))]


def slope(function, sample, leaf):
    """The gradient of the functional with respect to a tensor of the sample, by differences."""
    flat, slopes, step = leaf.data.reshape(-1), torch.zeros(leaf.numel(), dtype=torch.float64), 1e-3
    for i in range(leaf.numel()):
        at, values = flat[i].item(), []
        for times in (-2, -1, 1, 2):
            flat[i] = at + times * step
            values.append(functional(results(function, sample), 5, 8).item())
        flat[i] = at
        slopes[i] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    return slopes.reshape(leaf.shape)


def evaluated(function, sample, leaves):
    first = [slope(function, sample, leaf) for leaf in leaves] if leaves else None
    return [results(function, sample), first, None]


def wide_by(draw, random, with_gradient):
    """To double precision, of a draw but the first with relative changes."""
    def wide(item):
        changed = item.detach().double() if item.is_floating_point() else item.detach().clone()
        if draw and with_gradient and item.is_floating_point():
            changed = changed * (1 + STEP * torch.from_numpy(random.choice([-1.0, 1.0], tuple(item.shape))))
        return changed.requires_grad_(item.requires_grad)
    return wide


def case_of(name, dtype, at, random):
    function, arguments, _, with_gradient = FUNCTIONS[name]
    args, kwargs = arguments(random, dtype, at)
    kind = NAMES[torch.from_numpy(np.zeros((), dtype)).dtype]
    tensors = [torch.from_numpy(np.array(item)) if isinstance(item, (np.ndarray, np.generic)) else item
               for item in args]
    if dtype == np.float32:
        for item in tensors[:with_gradient]:
            item.requires_grad_()
    runs = []
    for draw in range(4):
        sample = mapped([tensors, kwargs], wide_by(draw, random, with_gradient))
        leaves = [item for item in sample[0] if isinstance(item, torch.Tensor) and item.requires_grad]
        runs.append(evaluated(function, sample, leaves))
    types = [NAMES[item.dtype] if dtype == np.int64 or not item.is_floating_point() else kind for item in runs[0][0]]
    own_types = types, [kind] * with_gradient
    return {**head_of(name, at, kind, [tensors, kwargs]), **encoded_results(runs, own_types, kind)}


def all_cases(known):
    for name, (_, _, dtypes, _) in FUNCTIONS.items():
        if name in known:
            for dtype in dtypes:
                random = np.random.default_rng(seeded(name, np.dtype(dtype).name))
                yield from (case_of(name, dtype, at, random) for at in range(SAMPLES))
