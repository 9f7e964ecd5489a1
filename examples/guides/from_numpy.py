# SPDX-License-Identifier: Apache-2.0
"""The script of docs/from-numpy.md. from_numpy.cc is the same in C++, line by line; a test compares what both print."""
import numpy as np


def show(name, value):
    print(name + ':', *(repr(float(v)) for v in np.asarray(value).ravel()))


a = np.arange(12.0).reshape(3, 4)
v = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])

# Elements and slices
show('row', a[1])
show('last column', a[:, -1])
show('block', a[0:3:2, -2:])
show('rows reversed', a[::-1])
show('new axis', a[:, np.newaxis, 0] * a[0])
show('rows by index', a[[2, 0]])
show('pairs by index', a[[2, 0], [1, 3]])
show('mask', a[a > 5])
show('both masks', a[(a > 2) & (a < 7)])

# Assignment
b = a.copy()
b[b % 2 == 0] = -1
show('masked assignment', b)
b[[0, 2], [1, 3]] = [50, 60]
show('fancy assignment', b)
b[:, 0] += 100
show('column update', b)
counts = np.zeros(4)
np.add.at(counts, [0, 2, 0], 1)
show('repeated indices', counts)

# Missing values
x = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])
show('nansum', np.nansum(x, axis=0))
show('nanmean', np.nanmean(x, axis=1))
show('nanmax', np.nanmax(x))
show('nan count', np.isnan(x).sum())
show('nan to zero', np.where(np.isnan(x), 0, x))
show('without nan', x[~np.isnan(x)])

# Statistics
show('mean', a.mean(axis=0))
show('std', a.std(axis=1))
show('sample variance', v.var(ddof=1))
show('median', np.median(a, axis=1))
show('percentile', np.percentile(v, 90))
show('quartiles', np.quantile(v, [0.25, 0.75]))
show('histogram', np.histogram(v, bins=4, range=(1, 9))[0])
show('digitize', np.digitize(v, [2, 5, 8]))
show('normalized', (a - a.mean(axis=0)) / a.std(axis=0))

# Groups
labels = np.array([0, 1, 0, 2, 1, 2, 0, 1])
show('group counts', np.bincount(labels, minlength=3))
show('group sums', np.bincount(labels, weights=v))
show('group means', np.bincount(labels, weights=v) / np.bincount(labels))
group_max = np.full(3, -np.inf)
np.maximum.at(group_max, labels, v)
show('group maxima', group_max)
distinct, inverse = np.unique(v, return_inverse=True)
show('unique', distinct)
show('unique inverse', inverse)

# Cumulative
show('cumsum', np.cumsum(a, axis=1))
show('cumprod', np.cumprod(v))
show('running maximum', np.maximum.accumulate(v))
show('diff', np.diff(v))

# Order
show('sort', np.sort(v))
show('argsort', np.argsort(v, kind='stable'))
show('three largest', np.sort(v)[::-1][:3])
show('argmax', a.argmax(axis=1))
show('nonzero', np.flatnonzero(v > 3))

# Shapes and products
show('transpose', a.T)
show('concatenate', np.concatenate([a, a[:1]], axis=0))
show('stack', np.stack([v[:2], v[2:4]], axis=1))
show('pad', np.pad(v[:3], (1, 2)))
show('matmul', a @ a.T)
show('outer', np.outer(v[:2], v[:3]))
show('einsum', np.einsum('ij,kj->ik', a, a))
show('clip', np.clip(v, 2, 5))
