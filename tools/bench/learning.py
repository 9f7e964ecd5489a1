#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""learning.py [--rounds N]: accuracy against time of the demo's networks, next to libtorch, into learning.json.

The programs are those of epochs.py. They train in turns on one core with one thread. Times are of the processor, from
the start of the first epoch, and both are medians over the rounds. docs/performance.md has the figure.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess

import epochs

RECORD = pathlib.Path(__file__).resolve().parent / 'learning.json'
LINE = re.compile(r'^epoch \d+/\d+ .*test accuracy ([\d.]+).*\(([\d.]+) s of processors\)', re.M)
# Network: epochs, images of an epoch. The second one takes 50 times as long for an image.
RUNS = {'mlp': (6, 60000), 'cnn': (6, 6000)}


def curve(command, core):
    """(seconds, accuracy) after each epoch."""
    done = subprocess.run(list(map(str, command)), env={**os.environ, 'OMP_NUM_THREADS': '1'}, text=True, check=True,
                          stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    seconds, points = 0, []
    for accuracy, taken in LINE.findall(done.stdout):
        seconds += float(taken)
        points.append((seconds, float(accuracy)))
    return points


def middle(curves):
    """The median of each epoch's time and accuracy."""
    return [[round(statistics.median(values), 4) for values in zip(*points)] for points in zip(*curves)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=epochs.ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--rounds', type=int, default=3, help='how often each program trains (3)')
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    networks = {}
    for model, (count, limit) in RUNS.items():
        curves = {'kerngrad': [], 'libtorch': []}
        for _ in range(options.rounds):
            curves['kerngrad'].append(curve([options.build / 'tools/demo/kerngrad-demo', '--model', model, '--epochs',
                                             count, '--threads', 1, '--limit', limit], core))
            curves['libtorch'].append(curve([options.build / 'bench/peers/peer_train_torch', model, count, 1, limit],
                                            core))
        networks[epochs.MODELS[model]] = {'images': limit, **{side: middle(found) for side, found in curves.items()}}
    RECORD.write_text(json.dumps({
        'command': f'tools/bench/learning.py --rounds {options.rounds}', 'machine': epochs.cpu_model(),
        'date': f'{datetime.date.today()}', 'networks': networks}) + '\n')


if __name__ == '__main__':
    main()
