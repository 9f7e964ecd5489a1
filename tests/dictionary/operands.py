# SPDX-License-Identifier: Apache-2.0
"""The tensors that entries of the dictionary are evaluated on: name -> (dtype, shape, elements in one list).

One source for both sides: program.py writes them in C++, evaluate.py makes arrays of NumPy and tensors of torch.
"""
import math


def wave(count, step=0.37, scale=2.0):
    """Numbers without a pattern, each a float32 with few bits."""
    return [round(scale * math.sin(step * (i + 1) * (i + 3)) * 64) / 64 for i in range(count)]


TENSORS = {
    'x': ('float32', [2, 3], [0.5, -1.5, 0.0, 2.5, 0.25, -0.75]),
    'a': ('float32', [2, 3], [1.5, -2.0, 0.25, 3.0, -0.5, 0.75]),
    'b': ('float32', [2, 3], [0.5, 3.0, 0.25, -2.0, 1.25, 0.75]),
    'n': ('float32', [2, 3], [math.nan, -1.5, math.inf, 2.5, -math.inf, math.nan]),  # of numbers that are none
    'gaps': ('float32', [2, 3], [math.nan, -1.5, 0.5, 2.5, math.nan, 1.0]),
    'zeros': ('float32', [2, 3], [0.0, 0.0, 0.0, 3.0, 0.0, -4.0]),
    'near': ('float32', [2, 3], [1.500014, -2.000023, 0.25, 2.99998, -0.500001, 0.76]),
    't': ('float32', [2, 3], [1.0, 0.0, 0.5, 0.25, 1.0, 0.0]),
    'p': ('float32', [2, 3], [0.25, 0.75, 0.5, 0.125, 0.9375, 0.375]),  # of probabilities
    'u': ('float32', [8], [3.0, 1.0, 1.0, 2.0, 3.0, 7.0, 2.5, -1.0]),
    'w': ('float32', [3], [-1.0, 0.5, 4.0]),
    'm': ('float32', [3, 3], [4.0, 1.0, -0.5, 0.25, 3.0, 1.5, 1.0, -2.0, 5.0]),
    'spd': ('float32', [3, 3], [4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0]),  # symmetric and positive definite
    'v': ('float32', [3], [1.0, -2.0, 0.5]),
    'edges': ('float32', [4], [0.0, 1.0, 2.0, 3.0]),
    'columns': ('float32', [4, 3], wave(12)),
    'cube': ('float32', [2, 2, 3], wave(12, 0.21)),
    'q': ('float32', [2, 4, 8], wave(64, 0.11)),
    'k': ('float32', [2, 5, 8], wave(80, 0.13)),
    'value': ('float32', [2, 5, 6], wave(60, 0.17)),
    'z': ('complex64', [2, 4], [complex(re, im) for re, im in zip(wave(8, 0.41), wave(8, 0.43))]),
    'mask': ('bool', [2, 3], [True, False, True, False, False, True]),
    'other_mask': ('bool', [2, 3], [True, True, False, False, True, True]),
    'indices': ('int32', [2], [1, 0]),
    'bags': ('int32', [2, 2], [1, 0, 2, 2]),
    'ids': ('int32', [5], [12, -7, 5, 3, 12]),
    'bits': ('int32', [5], [10, 3, -1, 6, 12]),
    'labels': ('int32', [4], [2, 0, 1, 2]),
    'places': ('int32', [2, 2], [0, 2, 1, 0]),
    'updates': ('float32', [2], [10.0, 20.0]),
    'along': ('int32', [2, 2], [2, 0, 1, 2]),
    'pairs': ('float32', [2, 2], [10.0, 20.0, 30.0, 40.0]),
    'shape_a': ('int32', [2], [4, 1]),
    'shape_b': ('int32', [2], [1, 3]),
    'logits': ('float32', [2, 4], wave(8, 0.31)),
    'alpha': ('float32', [3], [0.25, 0.5, 0.125]),
    'mean': ('float32', [3], [0.5, -0.25, 1.0]),
    'variance': ('float32', [3], [1.5, 0.75, 2.0]),
    'table': ('float32', [4, 3], wave(12, 0.23)),
    'image': ('float32', [1, 6, 8, 3], wave(144, 0.019)),
    'filter': ('float32', [3, 3, 3, 4], wave(108, 0.027)),
    'depthwise': ('float32', [3, 3, 3, 2], wave(54, 0.035)),
    'filter_1x1': ('float32', [1, 1, 6, 4], wave(24, 0.045)),
    'transposed': ('float32', [3, 3, 4, 3], wave(108, 0.027)),
    'filter1d': ('float32', [3, 2, 4], wave(24, 0.051)),
    'kernel1d': ('float32', [3], [1.0, 0.5, -2.0]),
    'filter2d': ('float32', [2, 2, 3], wave(12, 0.061)),
    'filter3d': ('float32', [2, 2, 2, 2, 3], wave(48, 0.071)),
    'sequence': ('float32', [1, 7, 2], wave(14, 0.081)),
    'volume': ('float32', [1, 4, 4, 6, 2], wave(192, 0.017)),
    'deep': ('float32', [1, 2, 3, 8], wave(48, 0.097)),
    'signal': ('float32', [256], wave(256, 0.003)),
    'maps': ('float32', [1, 8], [1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0]),
    'boxes': ('float32', [3, 4], [0.0, 0.0, 1.0, 1.0, 0.1, 0.1, 1.1, 1.0, 2.0, 2.0, 3.0, 3.0]),
    'scores': ('float32', [3], [0.5, 0.9, 0.7]),
    'gray': ('float32', [1, 4, 4, 1], wave(16, 0.091)),
    'blocks': ('float32', [4, 2, 3, 4], wave(96, 0.093)),
    'texts': ('text', [2], ['a b', 'c']),
    'row_splits': ('int32', [2], [0, 2]),
    'cell_kernel': ('float32', [5, 8], wave(40, 0.057)),
    'cell_bias': ('float32', [8], wave(8, 0.059)),
    'lstm_data': ('float32', [4, 2, 3], wave(24, 0.047)),
    'lstm_kernel': ('float32', [3, 8], wave(24, 0.053)),
    'lstm_recurrent': ('float32', [2, 8], wave(16, 0.067)),
    'gru_kernel': ('float32', [3, 6], wave(18, 0.053)),
    'gru_recurrent': ('float32', [2, 6], wave(12, 0.067)),
    'grid': ('float32', [1, 4, 5, 2], wave(40, 0.083, 1.2)),
    'affine_maps': ('float32', [1, 2, 3], [0.5, 0.25, -0.125, -0.25, 1.0, 0.5]),
    'coordinates': ('float32', [2, 3], [0.5, 1.25, 0.0, 0.25, 1.5, 2.0]),
    'data': ('float32', [1, 3], [0.5, -0.25, 1.0]),
    'c': ('float32', [1, 2], [0.25, -0.5]),
    'h': ('float32', [1, 2], [0.75, 0.125]),
}
