#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leftovers_check.py PROBE: what has ended costs nothing. PROBE makes each of its calls before anything happened, and
after each cause that slows calls while it lasts; callgrind writes how many instructions each call executed. The counts
of one call are all the same."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def counts(probe):
    """(cause, call, instructions) of each call in its order."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / 'out'
        run = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', '--collect-atstart=no',
                              '--toggle-collect=counted', '--dump-after=counted', '--compress-strings=no', probe],
                             check=False, capture_output=True, text=True, env=dict(os.environ, LD_BIND_NOW='1'))
        if run.returncode != 0:
            sys.exit(f'the probe ended with {run.returncode}:\n{run.stdout}{run.stderr}')
        names = [line.split('|') for line in run.stdout.splitlines()]
        dumps = [pathlib.Path(f'{out}.{i + 1}').read_text() for i in range(len(names))]
        totals = [int(re.search(r'^(?:summary|totals): (\d+)', text, re.M).group(1)) for text in dumps]
        return [(cause, call, total) for (cause, call), total in zip(names, totals)]


def main():
    first, wrong = {}, []
    causes = []
    for cause, call, total in counts(sys.argv[1]):
        expected = first.setdefault(call, total)
        causes += [cause] if cause not in causes else []
        if total != expected or total == 0:
            wrong.append(f'{call} executes {total} instructions after {cause}, {expected} before')
    print('instructions executed:', first)
    print('the same after:', '; '.join(causes))
    if wrong:
        sys.exit('\n'.join(wrong))


if __name__ == '__main__':
    main()
