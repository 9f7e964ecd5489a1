#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernel_counts_check.py PROBE RECORDED COMPILER [--write]: the calls of PROBE, tests/engine/kernel_counts.cc, execute
as many instructions as RECORDED says, within 2 %. Callgrind counts them. It runs the kernels of AVX2 at most, so that
CPUs agree.

RECORDED names the compiler and the build that its counts are of. Others make other code, and then no counts are
compared. --write writes the file. Do that if the change of a count is meant."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WITHIN = 0.02


def counts(probe):
    """name -> instructions of each call, in the probe's order."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / 'out'
        run = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', '--collect-atstart=no',
                              '--toggle-collect=counted', '--dump-after=counted', '--compress-strings=no', probe],
                             check=False, capture_output=True, text=True,
                             env=dict(os.environ, LD_BIND_NOW='1', KERNGRAD_NUM_THREADS='1'))
        if run.returncode != 0:
            sys.exit(f'the probe ended with {run.returncode}:\n{run.stdout}{run.stderr}')
        names = run.stdout.splitlines()
        dumps = [pathlib.Path(f'{out}.{i + 1}').read_text() for i in range(len(names))]
        return {name: int(re.search(r'^(?:summary|totals): (\d+)', text, re.M).group(1))
                for name, text in zip(names, dumps)}


def read(path):
    """The compiler and the counts of a file."""
    compiler, *lines = [line for line in path.read_text().splitlines() if not line.startswith('#')]
    return compiler, {name: int(count) for count, name in (line.split(' ', 1) for line in lines)}


def write(path, compiler, found):
    lines = ['# Instructions of each call, by callgrind. kernel_counts_check.py --write writes them.', compiler,
             *(f'{count} {name}' for name, count in found.items())]
    path.write_text('\n'.join(lines) + '\n')


def differences(found, recorded):
    """A line for each call whose count is not the recorded one."""
    lines = [f'{name}: recorded, but not in the probe' for name in recorded if name not in found]
    for name, count in found.items():
        if name not in recorded:
            lines.append(f'{name}: {count} instructions, not recorded')
        elif abs(count - recorded[name]) > WITHIN * recorded[name]:
            lines.append(f'{name}: {count} instructions, {count / recorded[name] - 1:+.1%} of {recorded[name]}')
    return lines


def main():
    probe, path, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    found = counts(probe)
    if not all(found.values()):
        sys.exit(f'calls that were not counted: {[name for name, count in found.items() if count == 0]}')
    if '--write' in sys.argv:
        write(path, compiler, found)
        return
    of, recorded = read(path)
    print(f'{len(found)} calls, {sum(found.values())} instructions')
    if of != compiler:
        print(f'the counts are of {of}, this is {compiler}: not compared')
        return
    if wrong := differences(found, recorded):
        sys.exit('\n'.join([*wrong, 'If the change is meant, write the counts again with --write.']))


if __name__ == '__main__':
    main()
