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


def words_of(case, size):
    return f'{case}, {size}'.replace('1000000', '1M').replace('16000000', '16M')


def origin(record):
    """The last line of a figure: machine, date and command of the record that it is made of."""
    return f'Measured on {record["machine"]}, {record["date"]}, by {record["command"].partition(" --")[0]}'


def without(lines, key):
    return {name: value for name, value in lines.items() if name != key}


def element_panels(record):
    """(op, times for an element, sizes at which its data fill a cache) of a record of element_times.py."""
    return [(op, measured['times'], [(cache, size / measured['bytes']) for cache, size in record['caches'].items()])
            for op, measured in record['ops'].items()]


def of_elements(record):
    """The figure of that record, once there is one."""
    return {'element-times': lambda theme: charts.element_lines(
        element_panels(record), theme, 'Time for an element against number of elements', origin(record),
        time_text)} if record else {}


def data(cases, peers, machine, epochs, models, cost, records):
    """name -> function that draws the figure for a theme."""
    source = f'Measured on {machine}: docs/performance.md'
    shown = [(label, 1 / peers[number, case, size][4], PEERS[peers[number, case, size][2].partition(':')[0]])
             for number, case, size, label in SHOWN]
    every = [(words_of(case, size), 1 / ratio, PEERS[side.partition(':')[0]])
             for (_, case, size), (_, _, side, _, ratio) in peers.items()]
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
    roofline, sizes_of, learning = (records[name] for name in ('roofline', 'sizes', 'learning'))
    return of_elements(records.get('element_times')) | {
        'roofline': lambda theme: charts.heat_map(
            list(roofline['ops'].items()), roofline['targets'], theme, 'Part of the roofline bound by CPU target',
            'more is better; float32, one thread', origin(roofline)),
        'learning': lambda theme: charts.accuracy_lines(
            [(f'{name}, {network["images"]} images an epoch', without(network, 'images'))
             for name, network in learning['networks'].items()], theme, 'Accuracy against time of training',
            'processor seconds, one thread; a mark is an epoch', origin(learning),
            lambda value: f'{value:.3g} s'),
        'speed': lambda theme: charts.speed_bars(shown, theme, source),
        'speed-all': lambda theme: charts.speed_bars(every, theme, source, row=30, bar=18, size=19),
        'speed-sizes': lambda theme: charts.size_lines(list(sizes_of['panels'].items()), theme,
                                                       'Time against number of elements', origin(sizes_of), time_text),
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
