#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py LOGBASE...: sums up runs of `meson test` and prints the closing line `N passed, N failed`, with
`, N skipped` where some were.

A test is a case where Meson knows them (GoogleTest), a test elsewhere. It counts once however often it ran: NAME_full
is NAME with whole sweeps, NAME_tsan, NAME_asan and the tests of a sanitizer's folder are NAME again; it has failed when
one of its runs did. A test that failed although all its cases passed, by a leak report or a crash, is a failure of its
own, and so is a run that ended badly without a failed test (LOGBASE.not-ok exists): it broke off. Exits 1 when one
failed or a log is missing.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

PASSED, SKIPPED, FAILED = 'passed', 'skipped', 'failed'
CONTROL = re.compile('[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


def without_suites(name):
    """The name of a test without the `PROJECT:SUITES / ` that Meson puts before it."""
    return name.rpartition(' / ')[2]


def plain(test):
    """The name of a test without what says how it was run."""
    return re.sub('_(full|tsan|asan)$', '', test)


def root_of(path):
    """The root of a JUnit log. Meson 1.0.1 copies the output of tests with control characters, which XML forbids."""
    text = path.read_text(encoding='utf-8', errors='replace')
    return xml.etree.ElementTree.fromstring(CONTROL.sub('', text).encode())


def cases(path):
    """(test, case, verdict) of each case of a JUnit log."""
    for suite in root_of(path).iter('testsuite'):
        _, _, of_test = suite.get('name').partition('.')  # PROJECT.TEST.GTEST_SUITE, or PROJECT of tests without cases
        test, _, group = without_suites(of_test).partition('.')
        for case in suite.iter('testcase'):
            verdict = PASSED
            if case.find('failure') is not None or case.find('error') is not None:
                verdict = FAILED
            elif case.find('skipped') is not None or case.get('status') == 'notrun':
                verdict = SKIPPED
            yield test or without_suites(case.get('name')), f'{group}.{case.get("name")}' if test else '', verdict


def failed_tests(path):
    """Names of the tests that failed, from Meson's own log."""
    tests = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [without_suites(test['name']) for test in tests if test['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP')]


def verdicts(base):
    """(test, verdict) of each thing that counts in one run, with a line on each failure."""
    junit, log = pathlib.Path(base + '.junit.xml'), pathlib.Path(base + '.json')
    if not junit.exists() or not log.exists():
        print(f'{base}: no test was run')
        return [((base, 'no test was run'), FAILED)]
    found = list(cases(junit))
    with_failed_case = {test for test, _, verdict in found if verdict == FAILED}
    names = failed_tests(log)
    for name in names:
        print(f'{log.parent.parent}: {name} failed')
    counted = [((plain(test), case), verdict) for test, case, verdict in found]
    counted += [((plain(name), 'as a whole'), FAILED) for name in names if name not in with_failed_case]
    if pathlib.Path(base + '.not-ok').exists() and not names and not with_failed_case:
        print(f'{base}: the run broke off')
        counted.append(((base, 'the run broke off'), FAILED))
    return counted


def main():
    runs, worst = 0, {}
    order = [SKIPPED, PASSED, FAILED]
    for base in sys.argv[1:]:
        for test, verdict in verdicts(base):
            runs += 1
            worst[test] = max(worst.get(test, SKIPPED), verdict, key=order.index)
    count = {verdict: list(worst.values()).count(verdict) for verdict in order}
    if runs > len(worst):
        print(f'{len(worst)} tests in {runs} runs of one test')
    skipped = f', {count[SKIPPED]} skipped' if count[SKIPPED] else ''
    print(f'{count[PASSED]} passed, {count[FAILED]} failed{skipped}')
    sys.exit(1 if count[FAILED] else 0)


if __name__ == '__main__':
    main()
