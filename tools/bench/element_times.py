#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""element_times.py [--build DIR] [--most N] [--rounds N]: records the time for each element against the size.

It runs DIR/bench/recorded/element_times, by default of build/, with sizes up to 2^27 elements and 9 rounds, on one
thread. The machine must be quiet and have 4 GB of free memory. The run takes about 15 minutes. element_times.json has
the result, the data of a figure of docs/performance.md. ./dev docs draws it.

--check measures nothing. It prints neighbouring sizes of the record whose times for an element differ by more than 1.3,
and exits 1 if there are some. Sizes near that of a cache may differ by more. So may tiny ones, as the cost of a call
stays the same.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).resolve().parent / 'element_times.json'
MOST_APART = 1.3
# Data of half to twice the size of a cache is partly in it.
NEAR = 2


def record_of(lines, machine, date):
    """The record of what the program prints. Times are nanoseconds for each element."""
    caches, ops = {}, {}
    for words in (line.split('\t') for line in lines):
        if len(words) == 2:
            caches[words[0]] = int(words[1])
        else:
            op, of_element, count, time = words[0], int(words[1]), int(words[2]), float(words[3])
            points = ops.setdefault(op, {'bytes': of_element, 'times': []})['times']
            points.append([count, float(f'{time / count:.4g}')])
    return {'command': 'tools/bench/element_times.py', 'machine': machine, 'date': date, 'caches': caches, 'ops': ops}


def is_near_a_cache(count, of_element, caches):
    return any(size / NEAR <= count * of_element <= size * NEAR for size in caches.values())


def jumps(record):
    """(op, size, next size, ratio of the times for an element) where the ratio is too large."""
    for op, measured in record['ops'].items():
        for (count, time), (more, later) in zip(measured['times'], measured['times'][1:]):
            # A call that costs the same for both sizes costs less for each element of the larger one.
            is_jump = later > MOST_APART * time or time > max(MOST_APART, more / count) * later
            if is_jump and not any(is_near_a_cache(n, measured['bytes'], record['caches']) for n in (count, more)):
                yield op, count, more, later / time


def cpu_model():
    found = re.search(r'^model name\s*: (.*)$', pathlib.Path('/proc/cpuinfo').read_text(), re.MULTILINE)
    return found[1] if found else 'unknown'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build', help='build folder')
    parser.add_argument('--most', type=int, default=2 ** 27, help='elements of the largest size')
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--check', action='store_true', help='look for jumps in the record')
    chosen = parser.parse_args()
    if not chosen.check:
        program = ROOT / chosen.build / 'bench/recorded/element_times'
        run = subprocess.run([program, str(chosen.most), str(chosen.rounds)], check=True, stdout=subprocess.PIPE,
                             text=True)
        record = record_of(run.stdout.splitlines(), cpu_model(), f'{datetime.date.today()}')
        RECORD.write_text(json.dumps(record) + '\n')
    found = list(jumps(json.loads(RECORD.read_text())))
    for op, count, more, ratio in found:
        print(f'{op}: {more} elements take {ratio:.2f} of the time of {count} for each element')
    sys.exit(1 if found and chosen.check else 0)


if __name__ == '__main__':
    main()
