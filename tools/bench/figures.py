# SPDX-License-Identifier: Apache-2.0
"""The figures of README and of docs/performance.md, each made of recorded numbers."""
import re
from functools import partial

import charts

PEERS = {'eigen': 'Eigen', 'onednn': 'oneDNN', 'torch': 'libtorch', 'torch_tuned': 'libtorch', 'xtensor': 'xtensor',
         'libxsmm': 'LIBXSMM', 'xnnpack': 'XNNPACK', 'sleef': 'SLEEF'}
# Cases of README: (id, case, size) of the table of targets, and their names in the figure.
SHOWN = [('A4', 'add_fresh', '64', 'add, 64 elements'), ('B2', 'add', '1000000', 'add, 1,000,000 elements'),
         ('B4', 'exp', '1000000', 'exp, 1,000,000 elements'), ('C3', 'softmax', '1024x1024', 'softmax, 1024 x 1024'),
         ('C5', 'argmax', '1024x1024', 'argmax, 1024 x 1024'), ('G5', 'cumsum', '1024x1024', 'cumsum, 1024 x 1024'),
         ('G1', 'transpose', '1024x1024', 'transpose, 1024 x 1024'),
         ('D1', 'matmul', '1024x1024x1024', 'matmul, 1024 x 1024 x 1024'),
         ('E1', 'conv3x3', '1x56x56x64', 'convolution 3 x 3'),
         ('E3', 'depthwise3x3', '1x56x56x64', 'depthwise convolution'),
         ('F4', 'gelu4_value_grad@fused', '64000', 'fused value and gradient'),
         ('F5', 'mlp_step', '64x784-128-10', 'training step')]
# Cases of calls: kerngrad's time, and that of another library where one has the like.
CALLS = [('add by the span API', 'A2', 'add_into', '1', True), ('add by handle', 'A5', 'add_by_handle', '1', False),
         ('typed add', 'A4', 'add_fresh', '1', True), ('add by name', 'A5', 'add_by_name', '1', False),
         ('four typed ops', 'F2', 'scalar_value', '1', True),
         ('with gradient', 'F2', 'scalar_value_grad', '1', True),
         ('fused gradient', 'F3', 'scalar_value_grad@fused', '1', False)]
UNITS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}


def nanoseconds(words):
    number, unit = words.split()
    return float(number) * UNITS[unit]


def time_text(value):
    unit, factor = next((u, f) for u, f in reversed(UNITS.items()) if value >= f or f == 1)
    return f'{value / factor:.3g} {unit}'


def elements(size):
    """Number of elements of a size such as 64x1000; of a product of square matrices the length of a side."""
    sides = [int(side) for side in size.split('x')]
    return sides[0] if len(sides) == 3 else sides[0] * (sides[1] if len(sides) == 2 else 1)


def against_size(cases, names, fits=lambda size: True):
    """[(size, our time, time of the fastest peer)] of the cases with these names."""
    return sorted((elements(size), nanoseconds(ours), nanoseconds(theirs))
                  for (_, name, size), (_, ours, _, theirs, _) in cases.items() if name in names and fits(size))


def is_square(size):
    return len(set(size.split('x'))) == 1


def words_of(case, size):
    return f'{case}, {size}'.replace('1000000', '1M').replace('16000000', '16M')


def data(cases, peers, machine, epochs, models, cost, roofline):
    """name -> function that draws the figure for a theme."""
    source = f'Measured on {machine}: docs/performance.md'
    shown = [(label, 1 / peers[number, case, size][4], PEERS[peers[number, case, size][2].partition(':')[0]])
             for number, case, size, label in SHOWN]
    every = [(words_of(case, size), 1 / ratio, PEERS[side.partition(':')[0]])
             for (_, case, size), (_, _, side, _, ratio) in peers.items()]
    panels = [('add', against_size(peers, ('add_fresh', 'add'))), ('exp', against_size(peers, ('exp',))),
              ('matmul, n x n', against_size(peers, ('matmul',), is_square)),
              ('softmax', against_size(peers, ('softmax',)))]
    calls = []
    for label, number, case, size, has_peer in CALLS:
        _, ours, side, theirs, _ = cases[number, case, size]
        calls.append((label, [('kerngrad', nanoseconds(ours))] +
                      ([(PEERS[side], nanoseconds(theirs))] if has_peer else [])))
    training = [(name.partition(',')[0], [('kerngrad', float(re.search(r', ([\d.]+) s', ours)[1])),
                                          ('libtorch', float(re.search(r', ([\d.]+) s', theirs)[1]))])
                for name, threads, ours, _, theirs, *_ in epochs if threads == '1']
    models = sorted(((name, float(other) / float(ours), '') for name, ours, other, *_ in models),
                    key=lambda model: -model[1])
    sizes = {what: float(re.match(r'[\d.]+', value)[0]) for what, value, *_ in cost
             if re.match(r'[\d.]+ (MB|s)', value)}
    footprint = [
        ('five ops, static', [('kerngrad', next(v for w, v in sizes.items() if 'five ops' in w))]),
        ('shared library', [('kerngrad', next(v for w, v in sizes.items() if 'libkerngrad.so' in w)),
                            ('libtorch', next(v for w, v in sizes.items() if 'libtorch' in w))])]
    compiling = [
        ('compile time', [('kerngrad', next(v for w, v in sizes.items() if "program's one file" in w)),
                          ('five std headers', next(v for w, v in sizes.items() if 'five standard' in w))])]
    run = f'Measured on {roofline["machine"]}, {roofline["date"]}, by {roofline["command"].partition(" --")[0]}'
    return {
        'roofline': lambda theme: charts.heat_map(
            list(roofline['ops'].items()), roofline['targets'], theme, 'Part of the roofline bound by CPU target',
            'more is better; float32, one thread', run),
        'speed': lambda theme: charts.speed_bars(shown, theme, source),
        'speed-all': lambda theme: charts.speed_bars(every, theme, source, row=30, bar=18, size=19),
        'speed-sizes': lambda theme: charts.size_lines(panels, theme, 'Time against number of elements', source,
                                                       time_text),
        'calls': partial(
            charts.value_bars, calls, title='Overhead of a call on one element', source=source, shown=time_text,
            subtitle='shorter is faster; scale of logarithms', least=1, most=1e5, ticks=(10, 1e3, 1e5)),
        'training': partial(
            charts.value_bars, training, title='Processor time of an epoch, one thread',
            subtitle='shorter is faster; 1280 images, scale of logarithms',
            source='Measured by tools/bench/epochs.py: docs/performance.md', shown=lambda value: f'{value:.3g} s',
            least=0.01, most=10, ticks=(0.01, 0.1, 1, 10)),
        'models': lambda theme: charts.speed_bars(
            models, theme, 'Measured by ./dev models --speed: docs/performance.md',
            'Speed of graph models compared with TensorFlow.js', row=30, bar=18, size=19),
        'size': partial(
            charts.value_bars, footprint, title='Binary size', subtitle='shorter is smaller; scale of logarithms',
            source='Measured by tools/bench/footprint.py: docs/performance.md',
            shown=lambda value: f'{value:.3g} MB', least=1, most=1000, ticks=(1, 10, 100)),
        'compile': partial(
            charts.value_bars, compiling, title='Processor time of compiling one file', subtitle='shorter is faster',
            source='Measured by tools/bench/footprint.py: docs/performance.md',
            shown=lambda value: f'{value:.2g} s', least=0.1, most=1, ticks=(0.1, 1))}
