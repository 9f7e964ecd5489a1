#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py LOGBASE...: sums up runs of `meson test` and prints the closing line `N passed, N failed`.

Cases are counted where Meson knows them (GoogleTest), tests elsewhere. A test that failed although all its cases
passed, by a leak report or a crash, counts as one failure more, and so does a run that ended badly without a failed
test (LOGBASE.not-ok exists): it broke off. Exits 1 when one failed or a log is missing.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree


def cases(path):
    """Passed, failed and skipped cases of a JUnit log."""
    passed = failed = skipped = 0
    for case in xml.etree.ElementTree.parse(path).getroot().iter('testcase'):
        if case.find('failure') is not None or case.find('error') is not None:
            failed += 1
        elif case.find('skipped') is not None or case.get('status') == 'notrun':
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def failed_tests(path):
    """Names of the tests that failed, from Meson's own log."""
    tests = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [test['name'] for test in tests if test['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP')]


def main():
    passed = failed = skipped = 0
    for base in sys.argv[1:]:
        junit, log = pathlib.Path(base + '.junit.xml'), pathlib.Path(base + '.json')
        if not junit.exists() or not log.exists():
            print(f'{base}: no test was run')
            failed += 1
            continue
        names = failed_tests(log)
        good, bad, left_out = cases(junit)
        if pathlib.Path(base + '.not-ok').exists() and not names and not bad:
            print(f'{base}: the run broke off')
            failed += 1
        passed, failed, skipped = passed + good, failed + max(bad, len(names)), skipped + left_out
        for name in names:
            print(f'{log.parent.parent}: {name} failed')
    if skipped:
        print(f'{skipped} skipped')
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
