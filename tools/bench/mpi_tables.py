# SPDX-License-Identifier: Apache-2.0
"""The tables of tools/bench/mpi.py, from the lines that the program bench_mpi prints."""
import math
import re

# Bytes up to which ranks that share memory take one step, and others do.
SHARED_STEP, MESSAGE_STEP = 8192, 4096
RANKS = (2, 8, 64)
# The bounds that docs/distributed.md promises.
MOST_OF_PLAIN, MOST_OF_AFTERWARDS = 1.1, 1.05
IN_TURNS = re.compile(r'^([\w ]+?) +(\d+) bytes .*ratio of medians (\S+), of least', re.MULTILINE)
STEP = re.compile(r'^step of (\d+) examples on (\d+) ranks with (\d+) threads: median (\S+) ms', re.MULTILINE)
TRACE = re.compile(r'^backward pass (\S+) ms, messages (\S+) ms, of which (\S+) ms during', re.MULTILINE)


def times_in(text):
    """{name: {bytes: seconds}} of the lines of the part `model`, with medians."""
    times = {}
    for name, size, median, _ in re.findall(r'^model (\w+) (\d+) (\S+) (\S+)$', text, re.MULTILINE):
        times.setdefault(name, {})[int(size)] = float(median)
    return times


def ratios_in(text):
    """{name: {bytes: ratio}} of the lines that compare two programs in turns."""
    ratios = {}
    for name, size, ratio in IN_TURNS.findall(text):
        ratios.setdefault(name, {})[int(size)] = float(ratio)
    return ratios


def fitted(times):
    """a, b of seconds = a + b * bytes, with the least sum of squares of relative differences."""
    rows = [(1 / t, size / t) for size, t in times.items()]
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a1, b1 = sum(r[0] for r in rows), sum(r[1] for r in rows)
    determinant = aa * bb - ab * ab
    return max(0, (a1 * bb - b1 * ab) / determinant), (b1 * aa - a1 * ab) / determinant


def fits_of(shared, networks):
    """{link: ((a, b), bytes to which a sum takes one step, times of sums)}, from the text of each link."""
    times = times_in(shared)
    fits = {}
    for name, is_small in (('shared memory, to 8 KiB', True), ('shared memory, larger', False)):
        part = {op: {size: t for size, t in of_op.items() if (size <= SHARED_STEP) == is_small}
                for op, of_op in times.items()}
        fits[name] = fitted(part['send_recv']), SHARED_STEP, part['all_reduce']
    for name, text in networks.items():
        times = times_in(text)
        fits[name] = fitted(times['send_recv']), MESSAGE_STEP, times['all_reduce']
    return fits


def seconds_of_sum(ranks, size, a, b, one_step):
    """The messages of a rank in all_reduce, one after the other."""
    steps, each = (ranks - 1, size) if size <= one_step else (2 * (ranks - 1), size / ranks)
    return steps * (a + b * each)


def row(*cells):
    return f'| {" | ".join(cells)} |'


def header(*cells):
    yield row(*cells)
    yield row(*['---'] * len(cells))


def fit_table(fits):
    yield from header('link', 'latency a', 'time for a byte b', 'measured by model: least, mean, most')
    for name, ((a, b), one_step, sums) in fits.items():
        ratios = [t / seconds_of_sum(2, size, a, b, one_step) for size, t in sums.items()]
        mean = math.prod(ratios) ** (1 / len(ratios))
        yield row(name, f'{a * 1e6:.2f} us', f'{b * 1e9:.3f} ns', f'{min(ratios):.2f}, {mean:.2f}, {max(ratios):.2f}')


def scaling_table(fits, gradients, backward, buckets):
    ranks = f'{", ".join(map(str, RANKS))} ranks'
    yield from header('link between all ranks', f'exchange on {ranks}', f'efficiency on {ranks}')
    for name, ((a, b), *_) in fits.items():
        if name.endswith('to 8 KiB'):
            continue  # gradients are larger
        exchange = {n: buckets * 2 * (n - 1) * (a + b * gradients / buckets / n) for n in RANKS}
        # The last bucket is left when the backward pass ends.
        step = {n: max(backward, t) + t / buckets for n, t in exchange.items()}
        yield row(name, f'{", ".join(f"{t * 1e3:.1f}" for t in exchange.values())} ms',
                  f'{", ".join(f"{100 * backward / t:.0f}" for t in step.values())} %')


def calls_table(shared):
    ratios = {name: of for name, of in ratios_in(shared).items() if name != 'overlapped step'}
    sizes = sorted({size for of in ratios.values() for size in of})
    yield from header('operation', *(f'{size:,} bytes' for size in sizes))
    for name, of in ratios.items():
        yield row(f'`{name}`', *(f'{of[size]:.2f}' if size in of else '' for size in sizes))


def steps_table(texts):
    yield from header('ranks', 'threads of a rank', 'time of a step')
    for text in texts:
        for _, ranks, threads, median in STEP.findall(text):
            yield row(ranks, threads, f'{float(median):.1f} ms')


def overlap_table(texts):
    yield from header('link', 'step', 'backward pass', 'messages', 'messages during the backward pass')
    for name, text in texts.items():
        ratio, = ratios_in(text)['overlapped step'].values()
        yield row(name, f'{ratio:.2f}', *(f'{float(t):.1f} ms' for t in TRACE.search(text).groups()))


def above_bounds(texts):
    """Says which ratios are above the bounds."""
    for link, text in texts.items():
        for name, of in ratios_in(text).items():
            most = MOST_OF_AFTERWARDS if name == 'overlapped step' else MOST_OF_PLAIN
            yield from (f'{link}: {name} of {size} bytes has {ratio:.2f}, above {most}'
                        for size, ratio in of.items() if ratio > most)


def tables(alone, shared, networks, conditions, gradients, backward):
    """The part of the page, from the text of one rank, of two that share memory, and of two on each network."""
    fits = fits_of(shared, networks)
    links = {'shared memory': shared, **networks}
    yield from (conditions, '')
    yield from ('**Fitted** to `send_recv`. The last column compares `all_reduce` with the model; above 1 the model is '
                'too fast:', '', *fit_table(fits), '')
    yield from (f'**Derived**, not measured: G = {gradients / 1e6:.0f} MB in 2 buckets and T = {backward * 1e3:.0f} '
                'ms. The efficiency is T divided by the time of a step.', '',
                *scaling_table(fits, gradients, backward, 2), '')
    yield from ('**Collectives** relative to the plain MPI call, by the medians of rounds in turns:', '',
                *calls_table(shared), '')
    yield from ('**Training**: a step on 512 examples, which the ranks share:', '', *steps_table([alone, shared]), '')
    yield from ('**Overlap**: a step on 512 examples of each rank that overlaps, relative to one that sends '
                'afterwards:', '', *overlap_table(links))
