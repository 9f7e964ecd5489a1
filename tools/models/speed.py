# SPDX-License-Identifier: Apache-2.0
"""Times of graph models next to those of another library: how they are taken in turns, and printed."""
import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys


class Differs(Exception):
    """A model that does not run on both sides, or whose outputs differ."""


@dataclasses.dataclass
class Sides:
    """The commands that time a model: kerngrad's compares the outputs with the peer's first."""
    ours: list
    theirs: list


@dataclasses.dataclass
class Times:
    """Milliseconds of both sides, and the ratio: medians over rounds."""
    ours: float
    theirs: float
    ratio: float


def read_lines(command):
    """A value for each line of JSON that a program prints."""
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f'{command[0]} ended with {done.returncode}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_pinned(command, threads=1):
    """The value that a program prints. It runs on as many cores as threads, always on the same ones. Large blocks of
    both sides are in huge pages: kerngrad asks for them itself, and glibc's malloc if it is told to."""
    cores = set(sorted(os.sched_getaffinity(0))[-threads:])
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, 'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1'},
                          preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode != 0:
        raise Differs((done.stderr.strip().splitlines() or [f'{command[0]} ended with {done.returncode}'])[-1])
    return json.loads(done.stdout)


def in_turns(sides, threads, rounds, seconds):
    """The times of a model. With one thread processor time counts, with more the clock's. The first side alternates."""
    key = 'cpu_ms' if threads == 1 else 'ms'
    pairs = []
    for i in range(rounds):
        times = {}
        for name, command in (('ours', sides.ours), ('theirs', sides.theirs))[::1 if i % 2 == 0 else -1]:
            line = run_pinned([*command, '--threads', threads, '--seconds', seconds], threads)
            if line.get('verdict', 'passed') != 'passed':
                raise Differs(line['why'])
            times[name] = line[key]
        pairs.append((times['ours'], times['theirs']))
    return Times(*map(statistics.median, zip(*pairs)), statistics.median(ours / theirs for ours, theirs in pairs))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def words_of(threads):
    return {1: 'one thread', 2: 'two threads'}.get(threads, f'{threads} threads')


def summary(measured, peer):
    """A line for each number of threads, from {model: {threads: Times}}."""
    for threads in next(iter(measured.values()), ()):
        ratios = {model: times[threads].ratio for model, times in measured.items()}
        slowest = max(ratios, key=ratios.get)
        yield (f'{len(ratios)} models next to {peer}, {words_of(threads)}: geometric mean '
               f'{geometric_mean(ratios.values()):.3f}, slowest {ratios[slowest]:.2f} ({slowest})')


def reference_columns(line):
    """The columns of a line of kerngrad-models that has a time to compare with."""
    text = f'{line["ms"]:9.3f} ms {line["ms"] / line["reference_ms"]:7.3f} of {line["reference_ms"]:.2f} ms'
    if 'two_ms' in line:
        text += f', two threads {line["two_ms"] / line["ms"]:.2f}'
    text += f', load {line["load_ms"] / line["read_ms"]:.2f} of reading'
    return text + f', second call {line["new_bytes"]} new bytes, {line["heap_calls"]} heap calls'


def reference_summary(lines, reference):
    ratios = [line['ms'] / line['reference_ms'] for line in lines if 'ms' in line]
    if ratios:
        yield f'geometric mean {geometric_mean(ratios):.3f}, largest {max(ratios):.3f} of {reference}'
