#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linalg.py [--build DIR] [--seconds N] [--docs]: kerngrad.linalg next to LAPACK and Eigen, on one thread.

Builds and runs bench_linalg and linalg_small, which take turns with the other library, and prints the tables of
docs/linalg.md. A ratio is the fastest turn of kerngrad over the fastest one of the other library.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

import peers_table

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs' / 'linalg.md'
BEGIN, END = '<!-- begin: written by tools/bench/linalg.py --docs -->', '<!-- end of linalg -->'
COLUMNS = [('4x4', 'float64'), ('4x4', 'float32'), ('8x8', 'float64'), ('8x8', 'float32'), ('3x3', 'float64'),
           ('3x3', 'float32')]
SMALL = re.compile(r'(\w+)/(\d+x\d+)/(\w+)/n:10000')


def machine():
    found = re.search(r'^model name\s*:\s*(.+)$', pathlib.Path('/proc/cpuinfo').read_text(), re.MULTILINE)
    return found[1] if found else 'an unknown CPU'


def measured(build, program, pattern, seconds):
    """name -> counters of a program's benchmarks."""
    command = [build / program, f'--benchmark_filter={pattern}', f'--benchmark_min_time={seconds}',
               '--benchmark_format=json']
    core = {max(os.sched_getaffinity(0))}
    done = subprocess.run(list(map(str, command)), env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'}, check=True,
                          text=True, stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, core))
    return {entry['name'].removesuffix('/real_time'): entry for entry in json.loads(done.stdout)['benchmarks']}


def table(head, rows):
    return [f'| {" | ".join(row)} |' for row in (head, ['---'] * len(head), *rows)]


def markdown(large, small, when):
    """The tables of the page."""
    ratios = {}
    for name, entry in small.items():
        function, size, dtype = SMALL.fullmatch(name).groups()
        ratios.setdefault(function, {})[size, dtype] = f'{entry["fastest"]:.2f}'
    lines = ['The time of 10,000 matrices, divided by that of a loop over Eigen\'s matrices of fixed size:', '']
    lines += table(['', *(', '.join(column) for column in COLUMNS)],
                   [[f'`{function}`', *(of.get(column, '') for column in COLUMNS)] for function, of in ratios.items()])
    lines += ['', 'Large matrices of float64, next to the same LAPACK called directly. `gaussian_process` is the value',
              'and gradient of a loss with three hyperparameters, next to the covariance\'s factor and inverse:', '']
    lines += table(['', 'rows', 'time in ms', 'ratio'],
                   [[f'`{name.partition("/")[0]}`', name.partition(':')[2], f'{entry["after_us"] / 1000:.2f}',
                     f'{entry["fastest"]:.2f}'] for name, entry in large.items()])
    return '\n'.join([*lines, '', f'Measured on one CPU of {machine()}, {when}, by `tools/bench/linalg.py`.'])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--seconds', type=float, default=1, help='time for each case (1)')
    parser.add_argument('--docs', action='store_true', help='write the tables into docs/linalg.md')
    options = parser.parse_args()
    programs = 'bench/bench_linalg', 'bench/peers/linalg_small'
    subprocess.run(['ninja', '-C', str(options.build), *programs], check=True, stdout=subprocess.DEVNULL)
    large = measured(options.build, programs[0], 'n:(200|256|512)$', options.seconds)
    small = measured(options.build, programs[1], 'n:10000$', options.seconds)
    text = markdown(large, small, datetime.date.today())
    print(text)
    if options.docs:
        peers_table.replace_between(PAGE, BEGIN, END, text)


if __name__ == '__main__':
    main()
