#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py RUN: .ci/run adds up the closing lines of its steps and fails when a step fails or has no such line.

Each case is a checkout whose ./dev prints what a step may print and returns what it may return.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Output of the step, and its exit code; whether CI fails, and its last line.
CASES = [
    ('12 passed, 0 failed', 0, False, '12 passed, 0 failed'),
    ('more\n12 passed, 0 failed, 3 skipped', 0, False, '12 passed, 0 failed, 3 skipped'),
    ('1 passed, 0 failed\n12 passed, 0 failed', 0, False, '12 passed, 0 failed'),
    ('12 passed, 2 failed', 1, True, '12 passed, 2 failed'),
    ('12 passed, 2 failed', 0, True, '12 passed, 2 failed'),
    ('12 passed, 0 failed', 1, True, '12 passed, 1 failed'),
    ('0 passed, 0 failed', 0, True, '0 passed, 0 failed'),
    ('no closing line', 0, True, '0 passed, 1 failed'),
    ('12 passed, 0 failed.', 0, True, '0 passed, 1 failed'),
    ('', 0, True, '0 passed, 1 failed'),
    ('', 2, True, '0 passed, 1 failed'),
]
# With a corpus there is a second step: what it prints alone, after a first one that passed.
SECOND = [('3 passed, 0 failed', False, '15 passed, 0 failed'), ('Killed', True, '12 passed, 1 failed')]


def ended(run, dev, corpus=False):
    """Runs CI in a checkout with this ./dev: whether it failed, and its last line."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder) / 'checkout'
        (checkout / '.ci').mkdir(parents=True)
        shutil.copy(run, checkout / '.ci' / 'run')
        (checkout / 'dev').write_text(f'#!/bin/sh\n{dev}')
        (checkout / 'dev').chmod(0o755)
        if corpus:
            (pathlib.Path(folder) / 'shared' / 'conformance').mkdir(parents=True)
        done = subprocess.run([checkout / '.ci' / 'run'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.returncode != 0, done.stdout.rstrip('\n').split('\n')[-1]


def main():
    run, wrong = sys.argv[1], 0
    results = [(f'{text!r} and {code}', ended(run, f"cat <<'TEXT'\n{text}\nTEXT\nexit {code}\n"), (fails, last))
               for text, code, fails, last in CASES]
    for text, fails, last in SECOND:
        dev = f"case $1 in test) echo '12 passed, 0 failed' ;; *) echo '{text}' ;; esac\n"
        results.append((f'{text!r} as second step', ended(run, dev, corpus=True), (fails, last)))
    for what, found, wanted in results:
        if found != wanted:
            print(f'{what}: (fails, last line) is {found}, wanted {wanted}')
            wrong += 1
    print(f'{len(results)} cases, {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
