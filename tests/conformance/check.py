#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py RUNNER: the conformance runner on corpora of its own: what passes, fails, is skipped; what is no corpus."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
EXPECTED = [  # arguments, exit code, last line of standard output
    ([HERE / 'good'], 0, '27 passed, 0 failed, 18 skipped'),
    ([HERE / 'good', '--backend', 'reference'], 0, '27 passed, 0 failed, 18 skipped'),
    ([HERE / 'failing'], 1, '1 passed, 12 failed, 0 skipped'),
    ([HERE / 'malformed'], 2, ''),
    ([HERE / 'there_is_no_such_folder'], 2, ''),
    ([HERE / 'good', '--target', 'NO_SUCH_TARGET'], 2, ''),
]

wrong = 0
for arguments, code, last in EXPECTED:
    run = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    lines = run.stdout.strip().splitlines()
    found = lines[-1] if lines else ''
    if run.returncode != code or (last and found != last) or (code == 2 and not run.stderr.strip()):
        print(f'{arguments}: exit {run.returncode}, "{found}"; wanted exit {code}, "{last}"\n{run.stdout}{run.stderr}')
        wrong += 1
sys.exit(wrong)
