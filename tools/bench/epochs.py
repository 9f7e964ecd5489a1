#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""epochs.py [--rounds N] [--limit N] [--docs]: an epoch of the demo's networks, next to libtorch.

The demo and bench/peers/train_torch.cc train the same networks on the same data with the same steps. They run in turns
on the same cores, the demo before each run of libtorch as it comes and as it is tuned, with one thread on one core and
with two on two. A time is the median over the rounds, a ratio the median of the ratios of two neighbouring runs. The
clock says what a user waits, the processors' time what the machine had to do: on a busy one only that is repeated.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import peers_table  # noqa: E402

BEGIN, END = '<!-- begin: written by tools/bench/epochs.py --docs -->', '<!-- end of epochs -->'
LINE = re.compile(r'^epoch 1/1 .*test accuracy ([\d.]+).* ([\d.]+) s \(([\d.]+) s of processors\)', re.M)
MODELS = {'mlp': 'perceptron 784-128-10', 'cnn': 'two convolutions, two dense layers'}


class Run:
    """Numbers of an epoch's line."""

    def __init__(self, command, environment, cores):
        done = subprocess.run(list(map(str, command)), env={**os.environ, **environment}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: os.sched_setaffinity(0, cores))
        found = LINE.search(done.stdout)
        if done.returncode != 0 or not found:
            raise SystemExit(f'{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}')
        self.accuracy, self.clock, self.processors = map(float, found.groups())


def sides_of(table):
    """Environments of libtorch by the names that the other tables have."""
    return {name: side.get('environment', {}) for name, side in table['sides'].items()
            if side['program'] == 'peer_torch' and peers_table.runs_here(side)}


def measure(demo, torch, sides, options):
    """{(model, threads, side): pairs of neighbouring runs, ours first}"""
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    pairs = {}
    for number in range(options.rounds):
        for model in MODELS:
            for threads in (1, 2):
                print(f'round {number + 1} of {options.rounds}: {model}, {threads}', file=sys.stderr, flush=True)
                at = set(cores[:threads])
                few = {'OMP_NUM_THREADS': str(threads)}
                for side, environment in sides.items():
                    ours = Run([demo, '--model', model, '--epochs', 1, '--threads', threads, '--limit', options.limit],
                               few, at)
                    theirs = Run([torch, model, 1, threads, options.limit], {**few, **environment}, at)
                    pairs.setdefault((model, threads, side), []).append((ours, theirs))
    return pairs


def middle(values):
    return statistics.median(values)


def line_of(model, threads, of_sides):
    """The table's line: libtorch's better side, by what its epochs took of the processors."""
    side, pairs = min(of_sides.items(), key=lambda item: middle(theirs.processors for _, theirs in item[1]))

    def times(which):
        chosen = [pair[which] for pair in pairs]
        return f'{middle(r.clock for r in chosen):.2f} s, {middle(r.processors for r in chosen):.2f} s'

    def accuracies(which):
        return f'{middle(pair[which].accuracy for pair in pairs):.3f}'

    by_clock = middle(ours.clock / theirs.clock for ours, theirs in pairs)
    by_processors = middle(ours.processors / theirs.processors for ours, theirs in pairs)
    cells = [MODELS[model], str(threads), times(0), side, times(1), f'{by_clock:.2f}, {by_processors:.2f}',
             f'{accuracies(0)}, {accuracies(1)}']
    return '| ' + ' | '.join(cells) + ' |'


def cpu_model():
    found = re.search(r'model name\s*:\s*(.*)', pathlib.Path('/proc/cpuinfo').read_text())
    return found.group(1) if found else 'unknown'


def markdown(pairs, options):
    lines = ['| network | threads | ours: clock, processors | beside | its: clock, processors | ratios: clock, '
             'processors | accuracy: ours, its |', '| --- | ---: | ---: | --- | ---: | ---: | ---: |']
    for model, threads in dict.fromkeys(key[:2] for key in pairs):
        of_sides = {key[2]: runs for key, runs in pairs.items() if key[:2] == (model, threads)}
        lines.append(line_of(model, threads, of_sides))
    load = os.getloadavg()[0]
    lines += ['', f'Medians of {options.rounds} rounds of {options.limit} images, on {cpu_model()}, '
                  f'{os.cpu_count()} cores, which {load:.1f} threads wanted at the end.']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--rounds', type=int, default=5, help='how often each pair of programs runs (5)')
    parser.add_argument('--limit', type=int, default=60000, help='images of an epoch (60000: all)')
    parser.add_argument('--docs', action='store_true', help='write the table into docs/performance.md')
    options = parser.parse_args()
    demo, torch = pathlib.Path('tools/demo/kerngrad-demo'), pathlib.Path('bench/peers/peer_train_torch')
    if subprocess.run(['ninja', '-C', str(options.build), str(demo), str(torch)], stdout=subprocess.DEVNULL).returncode:
        raise SystemExit('not built: tools/bench/peers.py --install installs libtorch')
    table = tomllib.loads((ROOT / 'tools' / 'bench' / 'targets.toml').read_text())
    pairs = measure(options.build / demo, options.build / torch, sides_of(table), options)
    text = markdown(pairs, options)
    print(text)
    if options.docs:
        peers_table.replace_between(ROOT / 'docs' / 'performance.md', BEGIN, END, text)


if __name__ == '__main__':
    main()
