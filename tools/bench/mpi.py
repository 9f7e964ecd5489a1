#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi.py BENCH_MPI [--rates 100mbit 1gbit] [--traces DIR]: measures kerngrad.mpi, and fits a cost model.

All runs have at most two ranks of this machine. It runs them over shared memory, and as root also over TCP between two
network namespaces with each rate (tc's tbf). It prints what the program bench_mpi prints, and tables in Markdown.
"""
import argparse
import contextlib
import math
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
               'OMPI_MCA_hwloc_base_binding_policy': 'none'}
SPACES, NETWORK = ('kerngrad-mpi-0', 'kerngrad-mpi-1'), '10.213.57'
# Bytes up to which ranks that share memory take one step, and others do.
SHARED_STEP, MESSAGE_STEP = 8192, 4096
NETWORK_OPTIONS = ['--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', f'{NETWORK}.0/24',
                   '--mca', 'oob_tcp_if_include', f'{NETWORK}.0/24']


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def said_by(command):
    """Prints what a program prints, and returns it."""
    print('$', *command, flush=True)
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=False)
    print(*(line for line in done.stdout.splitlines() if not line.startswith('model ')), sep='\n', flush=True)
    if done.returncode:
        sys.exit(f'{command[0]} ended with {done.returncode}')
    return done.stdout


@contextlib.contextmanager
def network(rate):
    """Two network namespaces with a link of that rate. Gives the command that starts two ranks, one in each."""
    agent = None
    try:
        for name in SPACES:
            run(['ip', 'netns', 'add', name])
        run(['ip', 'link', 'add', 'kg0', 'netns', SPACES[0], 'type', 'veth', 'peer', 'name', 'kg1', 'netns', SPACES[1]])
        for i, name in enumerate(SPACES):
            inside = ['ip', 'netns', 'exec', name]
            run([*inside, 'ip', 'address', 'add', f'{NETWORK}.{i + 1}/24', 'dev', f'kg{i}'])
            run([*inside, 'ip', 'link', 'set', f'kg{i}', 'up'])
            run([*inside, 'ip', 'link', 'set', 'lo', 'up'])
            run([*inside, 'tc', 'qdisc', 'add', 'dev', f'kg{i}', 'root', 'tbf', 'rate', rate, 'burst', '64kb',
                 'latency', '200ms'])
        # Open MPI's remote shell: the other namespace is the other host.
        with tempfile.NamedTemporaryFile('w', suffix='.sh', delete=False) as file:
            file.write(f'#!/bin/sh\nshift\nexec ip netns exec {SPACES[1]} unshare --uts sh -c "hostname kg1; $*"\n')
            agent = pathlib.Path(file.name)
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
        yield ['ip', 'netns', 'exec', SPACES[0], 'mpirun', '--mca', 'plm_rsh_agent', str(agent), *NETWORK_OPTIONS,
               '--host', f'{NETWORK}.1:1,{NETWORK}.2:1', '-n', '2']
    finally:
        if agent:
            agent.unlink()
        for name in SPACES:
            subprocess.run(['ip', 'netns', 'delete', name], check=False, stderr=subprocess.DEVNULL)


def times_in(text):
    """{name: {bytes: seconds}} of the lines of the part `model`, with medians."""
    times = {}
    for name, size, median, _ in re.findall(r'^model (\w+) (\d+) (\S+) (\S+)$', text, re.MULTILINE):
        times.setdefault(name, {})[int(size)] = float(median)
    return times


def fitted(times):
    """a, b of seconds = a + b * bytes, with the least sum of squares of relative differences."""
    rows = [(1 / t, size / t) for size, t in times.items()]
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a1, b1 = sum(r[0] for r in rows), sum(r[1] for r in rows)
    determinant = aa * bb - ab * ab
    return max(0, (a1 * bb - b1 * ab) / determinant), (b1 * aa - a1 * ab) / determinant


def steps_of_sum(ranks, size, one_step):
    """The messages of a rank one after the other, and the bytes of each, in all_reduce."""
    return (ranks - 1, size) if size <= one_step else (2 * (ranks - 1), size / ranks)


def seconds_of_sum(ranks, size, a, b, one_step):
    steps, each = steps_of_sum(ranks, size, one_step)
    return steps * (a + b * each)


def fit_table(fits):
    yield '| link | latency a | time for a byte b | all_reduce, measured by the model |'
    yield '| --- | --- | --- | --- |'
    for name, ((a, b), one_step, sums) in fits.items():
        ratios = [t / seconds_of_sum(2, size, a, b, one_step) for size, t in sums.items()]
        yield (f'| {name} | {a * 1e6:.2f} us | {b * 1e9:.3f} ns ({1e-9 / b:.3f} GB/s) | '
               f'{min(ratios):.2f} to {max(ratios):.2f}, mean {math.prod(ratios) ** (1 / len(ratios)):.2f} |')


def scaling_table(fits, gradients, backward, buckets):
    yield '| link | exchange on 2, 8, 64 ranks | efficiency on 2, 8, 64 ranks |'
    yield '| --- | --- | --- |'
    for name, ((a, b), *_) in fits.items():
        exchange = {n: buckets * 2 * (n - 1) * (a + b * gradients / buckets / n) for n in (2, 8, 64)}
        # The last bucket is left when the backward pass ends.
        step = {n: max(backward, t) + t / buckets for n, t in exchange.items()}
        yield (f'| {name} | {", ".join(f"{t * 1e3:.1f}" for t in exchange.values())} ms | '
               f'{", ".join(f"{100 * backward / t:.0f}" for t in step.values())} % |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bench', type=pathlib.Path)
    parser.add_argument('--rates', nargs='*', default=['100mbit', '1gbit'])
    parser.add_argument('--traces', type=pathlib.Path, default=pathlib.Path('.'))
    parser.add_argument('--gradients', type=float, default=25e6, help='bytes, for the derived scaling')
    parser.add_argument('--backward', type=float, default=0.1, help='seconds, for the derived scaling')
    given = parser.parse_args()
    bench = str(given.bench.resolve())
    said_by(['mpirun', '-n', '1', bench, 'step=1', 'step=2'])
    text = said_by(['mpirun', '-n', '2', bench, 'step=1', 'calls', 'overlap', f'trace={given.traces / "shared"}',
                    'model'])
    times = times_in(text)
    small, large = ({name: {size: t for size, t in one.items() if (size <= SHARED_STEP) == is_small}
                     for name, one in times.items()} for is_small in (True, False))
    fits = {'shared memory, to 8 KiB': (fitted(small['send_recv']), SHARED_STEP, small['all_reduce']),
            'shared memory, larger': (fitted(large['send_recv']), SHARED_STEP, large['all_reduce'])}
    for rate in given.rates if os.geteuid() == 0 else []:
        with network(rate) as start:
            text = said_by([*start, bench, 'overlap', f'trace={given.traces.resolve() / rate}', 'model'])
        times = times_in(text)
        fits[f'TCP, {rate}'] = fitted(times['send_recv']), MESSAGE_STEP, times['all_reduce']
    print('', *fit_table(fits), '', *scaling_table(fits, given.gradients, given.backward, 2), sep='\n')


if __name__ == '__main__':
    main()
