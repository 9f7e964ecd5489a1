#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sizes.py RESULTS: writes sizes.json, the data of a figure of docs/performance.md.

RESULTS is a file of `tools/bench/peers.py --json FILE`, with `--filter '^(A4/add_fresh|B2/add|B4/exp|D[123]/matmul|
C3/softmax)/'` at least. The record has the times of some cases by size, for each library that has the case.
"""
import datetime
import json
import math
import pathlib
import sys

RECORD = pathlib.Path(__file__).resolve().parent / 'sizes.json'
# Name in the figure -> cases of the table of targets. Sizes of matrices are the length of a side.
SHOWN = {'add': ('add_fresh', 'add'), 'exp': ('exp',), 'matmul, n x n': ('matmul',), 'softmax': ('softmax',)}
LIBRARIES = {'eigen': 'Eigen', 'torch': 'libtorch', 'torch_tuned': 'libtorch', 'onednn': 'oneDNN'}


def elements(size):
    """Number of elements; of a product of square matrices the length of a side, and of others nothing."""
    sides = [int(side) for side in size.split('x')]
    if len(sides) == 3:
        return sides[0] if len(set(sides)) == 1 else None
    return math.prod(sides)


def lines_of(cases):
    """{library: [(size, nanoseconds)]}, the library's better time where two of its settings were measured."""
    lines = {}
    for case in cases:
        times = {'kerngrad': case['ours']}
        for peer, time in case['peers'].items():
            if peer in LIBRARIES:
                times[LIBRARIES[peer]] = min(time, times.get(LIBRARIES[peer], time))
        for library, time in times.items():
            lines.setdefault(library, {})[elements(case['size'])] = float(f'{time:.4g}')
    return {library: sorted(points.items()) for library, points in lines.items()}


def record_of(result, date):
    panels = {name: lines_of([case for case in result['cases'] if case['name'] in names and case.get('ours')
                             and elements(case['size'])])
              for name, names in SHOWN.items()}
    missing = [name for name, lines in panels.items() if 'kerngrad' not in lines]
    if missing:
        sys.exit(f'the file has no case of {", ".join(missing)}')
    return {'command': 'tools/bench/peers.py --json FILE', 'machine': result['machine']['cpu'], 'date': date,
            'panels': panels}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    source = pathlib.Path(sys.argv[1])
    date = f'{datetime.date.fromtimestamp(source.stat().st_mtime)}'
    RECORD.write_text(json.dumps(record_of(json.loads(source.read_text()), date)) + '\n')


if __name__ == '__main__':
    main()
