#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py BUILD [TARGET] [--seconds N] [--list]: runs fuzz targets of a build folder with libFuzzer, all in turn or one.

Inputs that reach new code are kept in BUILD/corpus/TARGET and used again. An input that is a finding is written to
BUILD/findings, and the command then fails: fix the cause and copy the file to tests/fuzz/seeds/TARGET.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / 'tests' / 'fuzz'
SECONDS = 60
# Targets set a memory limit of 16 MiB (tests/fuzz/support.h): one block of 256 MiB is memory that it does not count.
LIMITS = ['-timeout=20', '-rss_limit_mb=2048', '-malloc_limit_mb=256', '-max_len=4096', '-print_final_stats=1']


def target_names():
    """A target is a source with the function that libFuzzer calls."""
    return sorted(path.stem for path in SOURCES.glob('*.cc') if 'int LLVMFuzzerTestOneInput' in path.read_text()
                  and 'int main' not in path.read_text())


def command_of(build, target, seconds):
    corpus, findings = build / 'corpus' / target, build / 'findings'
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    command = [build / 'tests' / 'fuzz' / f'fuzz_{target}', *LIMITS, f'-max_total_time={seconds}',
               f'-artifact_prefix={findings}/{target}-']
    words = SOURCES / f'{target}.dict'
    if words.exists():
        command.append(f'-dict={words}')
    return [*map(str, command), str(corpus), str(SOURCES / 'seeds' / target)]


def fuzzed(build, target, seconds):
    """Runs a target and prints one line about it; true if it found nothing."""
    log = build / 'findings' / f'{target}.log'
    command = command_of(build, target, seconds)
    with log.open('w') as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT)
    said = log.read_text(errors='replace')
    runs = re.search(r'number_of_executed_units: (\d+)', said)
    reached = re.findall(r'cov: (\d+)', said)
    print(f'{target}: {runs.group(1) if runs else "?"} inputs, {reached[-1] if reached else "?"} edges, '
          f'{"nothing found" if done.returncode == 0 else f"a finding: {log} has its report"}', flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('target', nargs='?', choices=target_names(), help='one target in place of all')
    parser.add_argument('--seconds', type=int, default=SECONDS, help=f'for each target, {SECONDS} by default')
    parser.add_argument('--list', action='store_true', help='name the targets and run none')
    given = parser.parse_args()
    if given.list:
        print('\n'.join(target_names()))
        return
    wrong = [target for target in ([given.target] if given.target else target_names())
             if not fuzzed(given.build.resolve(), target, given.seconds)]
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
