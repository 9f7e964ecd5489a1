# SPDX-License-Identifier: Apache-2.0
"""Names of the dictionary's code besides NumPy and the operands."""
import io
import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

try:
    import scipy
    import scipy.fft
    import scipy.linalg
    import scipy.ndimage
    import scipy.signal
    import scipy.sparse.linalg
    import scipy.special
except ImportError:  # its names are not compared then
    pass


def f(t):
    return np.sum(np.sin(t) * t)


def g(t):
    return np.sum(np.sin(t) * t, 1)


def changed(array, change):
    """A copy of an array that a function changed in place."""
    copy = array.copy()
    change(copy)
    return copy


def through_file(save, load):
    """The result of `load` for a file that `save` wrote."""
    file = io.BytesIO()
    save(file)
    file.seek(0)
    return load(file)


def windows(image, size):
    """[batch, rows, columns, channels, *size] of images [batch, height, width, channels]."""
    return sliding_window_view(image, size, (1, 2))


def conv(image, filter):
    return np.einsum('bhwcij,ijco->bhwo', windows(image, filter.shape[:2]), filter)


def depthwise_conv(image, filter):
    sums = np.einsum('bhwcij,ijcm->bhwcm', windows(image, filter.shape[:2]), filter)
    return sums.reshape(*sums.shape[:3], -1)


def overlapped(frames, step):
    """The sum of frames [batch, count, length] that begin every `step` elements."""
    count, length = frames.shape[1:]
    sums = np.zeros((len(frames), (count - 1) * step + length), frames.dtype)
    for at in range(count):
        sums[:, at * step:at * step + length] += frames[:, at]
    return sums


def rotated(image, radians):
    """Images turned about their middle: the pixel next to each position, 0 outside."""
    height, width = image.shape[1:3]
    y, x = np.mgrid[:height, :width] - np.array([height, width])[:, None, None] / 2
    sine, cosine = math.sin(radians), math.cos(radians)
    rows = np.floor(x * sine + y * cosine + height / 2 + 0.5).astype(int)
    columns = np.floor(x * cosine - y * sine + width / 2 + 0.5).astype(int)
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    return np.where(inside[..., None], image[:, rows.clip(0, height - 1), columns.clip(0, width - 1)], np.float32(0))


def crop(image, box, size):
    """size x size pixels of a box y1, x1, y2, x2 in an image [height, width, channels], 0 outside."""
    rows, columns = (np.linspace(box[axis], box[axis + 2], size) * (image.shape[axis] - 1) for axis in (0, 1))
    at = np.meshgrid(rows, columns, indexing='ij')
    outside = (at[0] > image.shape[0] - 1) | (at[1] > image.shape[1] - 1)
    y, x = (np.minimum(np.floor(part).astype(int), limit - 2) for part, limit in zip(at, image.shape))
    v, u = (at[0] - y)[..., None], (at[1] - x)[..., None]
    top = image[y, x] * (1 - u) + image[y, x + 1] * u
    bottom = image[y + 1, x] * (1 - u) + image[y + 1, x + 1] * u
    return np.where(outside[..., None], 0, top * (1 - v) + bottom * v).astype(image.dtype)


def steps_of(step):
    """A variable after the three steps of results.h. `step` gives its new value and state, which begins with 0."""
    moved, state = np.array([1.0, -2.0, 0.5]), 0
    for gradient in ([0.5, -1.0, 0.75], [-0.25, 2.0, 0.5], [1.0, 0.5, -0.25]):
        moved, state = step(moved, np.array(gradient), state)
    return moved.astype(np.float32)


def adadelta_step(x, gradient, state):
    """Zeiler 2012, but with the mean of squares before this step below the root."""
    squares, changes = state or (0, 0)
    change = np.sqrt(changes + 1e-7) / np.sqrt(squares + 1e-7) * gradient
    return x - 0.1 * change, (0.95 * squares + 0.05 * gradient ** 2, 0.95 * changes + 0.05 * change ** 2)


def rates_of(rate):
    """The rates of the steps that results.h asks for."""
    return np.array([rate(step) for step in (0, 3, 10, 50, 99, 100, 150, 250)], np.float64)
