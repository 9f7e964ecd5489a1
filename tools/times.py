#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""times.py LOGBASE...: tells where the time of `./dev test` goes: building, by folder, and the ten slowest tests.

LOGBASE is a log of `meson test` without its ending, as count_tests.py takes it. Build times come from the .ninja_log of
its build folder. Each counts the last run of each step. Steps run side by side, so their sum is more than the clock's
time. Missing logs are left out: count_tests.py reports them.
"""
import collections
import json
import pathlib
import sys

SLOWEST = 10


def build_seconds(build):
    """Seconds of each folder of a build folder: kernels, modules, tests and so on. A step with several results has a
    line for each of them, with the same times and hash of its command."""
    log = build / '.ninja_log'
    last = {}
    for line in log.read_text().splitlines()[1:] if log.exists() else []:
        start, end, _, output, command = line.split('\t')
        last[output] = (int(start), int(end), command)
    folders = collections.Counter()
    for (start, end, _), output in {step: output for output, step in last.items()}.items():
        folder, _, rest = output.partition('/')
        folders[folder if rest else 'the rest'] += (end - start) / 1000
    return folders


def slowest_tests(logs):
    tests = [json.loads(line) for log in logs for line in log.read_text().splitlines() if line.strip()]
    times = sorted(((test['duration'], test['name'].rpartition(' / ')[2]) for test in tests), reverse=True)
    return times[:SLOWEST]


def table(title, rows):
    print(title)
    for seconds, name in rows:
        print(f'{seconds:10.1f} s  {name}')


def main():
    logs = [path for base in sys.argv[1:] if (path := pathlib.Path(base + '.json')).exists()]
    for build in dict.fromkeys(log.parent.parent for log in logs):
        folders = build_seconds(build)
        if folders:
            table(f'building {build}, steps by folder:', [(s, name) for name, s in folders.most_common()])
    if logs:
        table(f'the {SLOWEST} slowest tests:', slowest_tests(logs))


if __name__ == '__main__':
    main()
