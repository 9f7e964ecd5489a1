#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py COUNT: tools/count_tests.py on logs as Meson writes them."""
import json
import pathlib
import subprocess
import sys
import tempfile

COUNT = sys.argv[1]
OUTPUT = '<system-out>\x1b[1mred\x1b[0m \0 \ufffe</system-out>'  # as colours and crashes leave it
GOOD, BAD, LEFT_OUT = '', '<failure message="no"/>', '<skipped/>'


def long(test):
    return f'kerngrad:fast+sampled / {test}'


def suite(name, cases):
    made = ''.join(f'<testcase name="{case}">{verdict}{OUTPUT}</testcase>' for case, verdict in cases.items())
    return f'<testsuite name="{name}">{made}</testsuite>'


def counted(folder, runs):
    """The last line for runs of {test: {gtest suite: {case: verdict}} or verdict of a test without cases}."""
    bases = []
    for number, (tests, results) in enumerate(runs):
        base = folder / f'log{number}'
        bases.append(str(base))
        suites = [suite(f'kerngrad.{long(test)}.{group}', cases) for test, groups in tests.items()
                  if isinstance(groups, dict) for group, cases in groups.items()]
        whole = {long(test): found for test, found in tests.items() if not isinstance(found, dict)}
        suites.append(suite('kerngrad', whole))
        base.with_suffix('.junit.xml').write_text('<testsuites>' + ''.join(suites) + '</testsuites>')
        base.with_suffix('.json').write_text(''.join(
            json.dumps({'name': long(test), 'result': results.get(test, 'OK')}) + '\n' for test in tests))
    made = subprocess.run([sys.executable, COUNT, *bases], capture_output=True, text=True)
    last = made.stdout.strip().splitlines()[-1]
    assert made.returncode == (0 if ' 0 failed' in last else 1), made.stdout + made.stderr
    return last


CASES = {'sums': {'of_two': GOOD, 'of_three': GOOD}}
EXPECTED = [  # runs, each with the verdicts of Meson on whole tests; the closing line
    ([({'a': CASES, 'lint': GOOD}, {})], '3 passed, 0 failed'),
    # Again with whole sweeps, and under sanitizers.
    ([({'a': CASES}, {}), ({'a_full': CASES, 'a_tsan': CASES, 'a_asan': CASES}, {}), ({'a': CASES}, {})],
     '2 passed, 0 failed'),
    # One bad run of several.
    ([({'a': CASES}, {}), ({'a_full': {'sums': {'of_two': BAD}}}, {'a_full': 'FAIL'})], '1 passed, 1 failed'),
    # The same names in another program, and in another suite.
    ([({'a': CASES, 'b': CASES}, {}), ({'a': {'means': {'of_two': GOOD}}}, {})], '5 passed, 0 failed'),
    # A leak: every case passed, the program failed.
    ([({'a': CASES, 'b': CASES}, {'a': 'FAIL'})], '4 passed, 1 failed'),
    ([({'lint': BAD, 'a': {'sums': {'of_two': LEFT_OUT}}}, {'lint': 'FAIL'})], '0 passed, 1 failed, 1 skipped'),
    ([({'a': {'sums': {'of_two': LEFT_OUT}}}, {}), ({'a': {'sums': {'of_two': GOOD}}}, {})], '1 passed, 0 failed'),
]

with tempfile.TemporaryDirectory() as scratch:
    for runs, wanted in EXPECTED:
        found = counted(pathlib.Path(scratch), runs)
        assert found == wanted, f'{runs}\n{found}; wanted {wanted}'
    broken = pathlib.Path(scratch) / 'log0.not-ok'
    broken.touch()
    assert counted(pathlib.Path(scratch), [({'a': CASES}, {})]) == '2 passed, 1 failed'
    missing = subprocess.run([sys.executable, COUNT, scratch + '/nowhere'], capture_output=True, text=True)
    assert missing.returncode == 1 and missing.stdout.endswith('0 passed, 1 failed\n'), missing.stdout
