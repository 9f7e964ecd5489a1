#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the functions that have NumPy's and SciPy's names with these libraries: the command ./dev bench --numpy.

Each call of bench/peers/numpy_cases.inc is measured here and in the library's program in turns, on one core with one
thread. A time is the least of several calls, a ratio the median over rounds of the library's time to the other's.
Exit code 1 if a ratio is above the limit, or above the one that SLOWER_CASES has with a reason, or if results differ.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / 'bench' / 'peers' / 'numpy_cases.inc'
FOLDERS = ['modules/composed/numpy', 'modules/composed/signals']
COMPOSED = 'modules/composed'
LIMIT = 1.2
# Cases above the limit: a bound of the ratio, and the reason.
SLOWER_CASES = {
    'eye': (4, "NumPy's zeros are pages that the system makes when they are first read"),
}


def rows(kind):
    """(name, call) of each line of a kind."""
    return re.findall(rf'^KG_{kind}\("?([\w@]+)"?,\s*"([^"]+)"', CASES.read_text(), re.MULTILINE)


def functions(folders):
    """Names of the functions that the interfaces in folders export."""
    found = set()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob('*.cc')):
            text = path.read_text()
            if 'export namespace kerngrad {' in text:
                exported = text.split('export namespace kerngrad {')[1]
                found |= set(re.findall(r'^(?:inline )?[\w:]+ (\w+)\(', exported, re.MULTILINE))
    return found


def check_table():
    """The gaps of the table: functions without a row, rows of no function."""
    names = [name for name, _ in rows('CASE')]
    measured = {name.split('@')[0] for name in names}
    yield from (f'{name} has no row in {CASES.name}' for name in sorted(functions(FOLDERS) - measured))
    yield from (f'{name} is no function of {COMPOSED}' for name in sorted(measured - functions([COMPOSED])))
    yield from (f'{name} has two rows' for name in sorted({name for name in names if names.count(name) > 1}))
    yield from (f'{name} of SLOWER_CASES has no row' for name in sorted(set(SLOWER_CASES) - set(names)))


class Theirs:
    """NumPy and SciPy on the operands of the table."""

    def __init__(self):
        import numpy as np
        import scipy.fft
        import scipy.integrate
        import scipy.signal
        self.np = np
        self.names = {'np': np, 'scipy': scipy, 'uniform': self.uniform, 'rng': np.random.default_rng(1)}
        for name, call in rows('OPERAND'):
            self.names[name] = eval(call, self.names)

    def uniform(self, slot, n):
        np = self.np
        bits = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(slot * 97531 + 12345)
        bits = (bits ^ bits >> np.uint32(16)) * np.uint32(0x7feb352d)
        bits = (bits ^ bits >> np.uint32(15)) * np.uint32(0x846ca68b)
        return (bits ^ bits >> np.uint32(16)) / 4294967296.0

    def mean_magnitude(self, y):
        np = self.np
        y = np.asarray(y[0] if isinstance(y, (tuple, list)) else y)
        if np.iscomplexobj(y):
            return self.mean_magnitude(y.real) + self.mean_magnitude(y.imag)
        y = np.abs(y.astype(np.float64))
        return float(np.mean(np.where(np.isfinite(y), y, 0)))

    def measure(self, call):
        """The least time of a call, and the mean magnitude of its result."""
        code = compile(call, call, 'eval')
        mean = self.mean_magnitude(eval(code, self.names))
        least, total, calls = float('inf'), 0, 0
        while calls < 3 or (total < 0.05 and calls < 1000):
            begin = time.process_time()
            y = eval(code, self.names)
            seconds = time.process_time() - begin
            del y
            least, total, calls = min(least, seconds), total + seconds, calls + 1
        return least, mean


class Ours:
    """The library's program, which answers the name of a case with time and mean."""

    def __init__(self, program):
        self.process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, name):
        self.process.stdin.write(name + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f'the program ended with {self.process.wait()} in case {name}')
        seconds, mean = map(float, line.split())
        return seconds, mean


def verdict(name, ratio, same):
    """The text that follows a row, and if the run is good with it."""
    if not same:
        return 'the results differ', False
    bound, reason = SLOWER_CASES.get(name, (LIMIT, ''))
    if ratio > bound:
        return f'above {bound}', False
    return reason, True


def parse():
    parser = argparse.ArgumentParser(prog='./dev bench --numpy', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--numpy', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--filter', default='', help='a regular expression on names such as dct@4')
    parser.add_argument('--rounds', type=int, default=5, help='how often each case is measured in turns (5)')
    parser.add_argument('--core', type=int, help='the core that is used (the last that there is)')
    parser.add_argument('--json', type=pathlib.Path, help='write the figures to this file')
    parser.add_argument('--table', action='store_true', help='measure nothing: only check that each function has a row')
    return parser.parse_args()


def measured(options, cases):
    """Prints a row for each case and yields its figures."""
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    os.sched_setaffinity(0, {core})  # before NumPy loads: its BLAS makes a thread for each core
    os.environ['OPENBLAS_NUM_THREADS'] = '1'
    ours, theirs = Ours(options.build / 'bench' / 'peers' / 'numpy_cases'), Theirs()
    print(f'{"case":24} {"ours, ms":>10} {"theirs, ms":>10} {"ratio":>6}')
    for name, call in cases:
        pairs = []
        for _ in range(options.rounds):
            (mine, my_mean), (other, their_mean) = ours.measure(name), theirs.measure(call)
            pairs.append((mine, other))
        ratio = statistics.median(mine / other for mine, other in pairs)
        # Draws of one distribution have means that are close to each other.
        within = 1e-2 if name.startswith('random_') else 1e-5
        same = abs(my_mean - their_mean) <= within * abs(their_mean) + 1e-12
        text, good = verdict(name, ratio, same)
        mine, other = (statistics.median(side) for side in zip(*pairs))
        print(f'{name:24} {mine * 1e3:10.4f} {other * 1e3:10.4f} {ratio:6.2f}  {text}'.rstrip(), flush=True)
        yield {'case': name, 'ours': mine, 'theirs': other, 'ratio': ratio, 'good': good}


def main():
    options = parse()
    problems = list(check_table())
    if problems or options.table:
        print('\n'.join(problems))
        sys.exit(1 if problems else 0)
    cases = [(name, call) for name, call in rows('CASE') if re.search(options.filter, name)]
    if not cases:
        raise SystemExit(f'no case fits --filter {options.filter}')
    figures = list(measured(options, cases))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + '\n')
    slow = [figure['case'] for figure in figures if not figure['good']]
    print(f'{len(figures) - len(slow)} of {len(figures)} cases are within their limits'
          + (f'; not: {", ".join(slow)}' if slow else ''))
    sys.exit(1 if slow else 0)


if __name__ == '__main__':
    main()
