#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command behind ./dev bench: runs the benchmark programs, merges what they say, reports and compares it.

Exit codes: 0; 1 when a benchmark failed, a comparison is worse than --fail-above or a target is slower than a narrower
one; 2 for options that make no sense.
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import compare
import compare_targets
import report
import results

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
QUICK = ['--sizes=1000,65536', '--benchmark_min_time=0.005']
# Per benchmark, in seconds: there are thousands of them, and the machine's noise is larger than what more would gain.
USUAL_TIME = '--benchmark_min_time=0.05'


class Refused(Exception):
    """The options make no sense; the text says what would."""


def options():
    parser = argparse.ArgumentParser(
        prog='./dev bench', description='Measures every kernel x dtype x SIMD target x size beside the roofs of the '
        'machine. Options that are not listed go to the programs: --benchmark_repetitions=5, --benchmark_min_time=0.5.',
        allow_abbrev=False)
    parser.add_argument('--target', metavar='NAME[,NAME]', help='only these SIMD targets, not all')
    parser.add_argument('--filter', metavar='REGEX', help='only benchmarks whose name has it somewhere')
    parser.add_argument('--sizes', metavar='N[,N]', help='elements a kernel works on; 1000,65536,1048576 otherwise')
    parser.add_argument('--quick', action='store_true', help='fewer sizes and less time, to see whether all is well')
    parser.add_argument('--json', metavar='FILE', help='all results in one file of Google Benchmark\'s format')
    parser.add_argument('--report', metavar='DIR', help='an HTML page and a Markdown table of the results')
    parser.add_argument('--from', metavar='FILE', dest='source', help='results of an earlier run, not of a new one')
    parser.add_argument('--peers', action='store_true',
                        help='other libraries, as far as they are installed; with --report beside all kernels')
    parser.add_argument('--compare', nargs=2, metavar=('OLD', 'NEW'), help='compare two files of --json')
    parser.add_argument('--fail-above', type=float, metavar='RATIO',
                        help='with --compare: exit code 1 when something is slower by more than that')
    parser.add_argument('--compare-targets', action='store_true',
                        help='every kernel on every target, in alternating rounds; exit code 1 when a target takes '
                        f'more than {compare_targets.MOST} of the time of a narrower one and '
                        f'tools/bench/{compare_targets.LIST.name} does not say why')
    parser.add_argument('--build', default='build-targets', metavar='DIR', help=argparse.SUPPRESS)
    parser.add_argument('--no-build', action='store_true', help=argparse.SUPPRESS)
    chosen, others = parser.parse_known_args()
    if chosen.fail_above is not None and not chosen.compare:
        raise Refused('--fail-above is of use with --compare OLD NEW')
    if chosen.filter is not None:
        try:
            re.compile(chosen.filter)
        except re.error as error:
            raise Refused(f'--filter {chosen.filter} is no regular expression: {error}') from error
    other_ways = (chosen.compare, chosen.source, chosen.peers, chosen.report, chosen.quick)
    if chosen.compare_targets and any(other_ways):
        raise Refused('--compare-targets measures in its own way: with it go --filter, --target, --sizes and --json')
    if chosen.source and (others or chosen.target or chosen.sizes):
        raise Refused('--from takes the results of an earlier run: leave out what says how to measure the kernels')
    return chosen, others


def programs_of(build):
    """Name and path of each program that bench/meson.build declares to be a benchmark."""
    listed = build / 'meson-info' / 'intro-benchmarks.json'
    if not listed.is_file():
        raise Refused(f'{build} is no configured build folder with benchmarks: ./dev build makes one')
    return [(entry['name'], pathlib.Path(entry['cmd'][0])) for entry in json.loads(listed.read_text())]


def program_options(chosen, others):
    given = [USUAL_TIME]
    if chosen.quick:
        given = list(QUICK)
    if chosen.compare_targets:
        given = list(compare_targets.OPTIONS)
    if chosen.sizes:
        given = [g for g in given if not g.startswith('--sizes')] + [f'--sizes={chosen.sizes}']
    if chosen.target:
        given.append(f'--target={chosen.target}')
    if chosen.filter:
        given.append(f'--benchmark_filter={chosen.filter}')
    return given + others


def names_in(program, given):
    """The benchmarks of a program that the options choose."""
    done = subprocess.run([program, *given, '--benchmark_list_tests'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise Refused((done.stderr + done.stdout).strip())
    return [line for line in done.stdout.splitlines() if '/' in line]


def nothing_matches(chosen, programs):
    every = {name.split('/')[0] for _, program in programs for name in names_in(program, [])}
    wanted = re.sub(r'[^\w<>]', '', chosen.filter or '')
    close = difflib.get_close_matches(wanted, sorted(every), n=5, cutoff=0.4)
    return Refused(f'no benchmark has {chosen.filter} in its name'
                   + (f'; there are {", ".join(close)}' if close else '') + '. --benchmark_list_tests lists all.')


def built_programs(chosen, wanted=lambda name: True):
    """Name and path of each benchmark program that is wanted, built again."""
    build = pathlib.Path(chosen.build).resolve()
    programs = [(name, program) for name, program in programs_of(build) if wanted(name)]
    if not chosen.no_build:
        targets = [str(program.relative_to(build)) for _, program in programs]
        if subprocess.run(['ninja', '-C', str(build), *targets], check=False).returncode != 0:
            raise SystemExit(1)
    return programs


def targets_compared(chosen, others):
    programs = built_programs(chosen, lambda name: name == 'kernels')
    given = program_options(chosen, others)
    if not names_in(programs[0][1], given):
        raise nothing_matches(chosen, programs)
    code, found = compare_targets.run(programs[0][1], given)
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(found, indent=1) + '\n')
    return code


def measured(chosen, others):
    programs = built_programs(chosen)
    given = program_options(chosen, others)
    names = {name: names_in(program, given) for name, program in programs}
    if not any(names.values()):
        raise nothing_matches(chosen, programs)
    if any(other.startswith('--benchmark_list_tests') for other in others):
        print('\n'.join(line for listed in names.values() for line in listed))
        raise SystemExit(0)
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for name, program in programs:
            if not names[name]:
                continue
            print(f'== {name}: {len(names[name])} benchmarks', flush=True)
            out = pathlib.Path(folder) / f'{name}.json'
            if subprocess.run([program, *given, f'--benchmark_out={out}', '--benchmark_out_format=json'],
                              check=False).returncode != 0:
                print(f'{name} failed', file=sys.stderr)
                raise SystemExit(1)
            files.append(results.load(out))
    return results.merged(files)


def peers(chosen):
    """Runs tools/bench/peers.py: our cases and those of other libraries in turn."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'peers.json'
        tool = ROOT / 'tools' / 'bench' / 'peers.py'
        command = [sys.executable, str(tool), '--build', chosen.build, '--json', str(out)]
        command += ['--quick'] if chosen.quick else []
        command += ['--filter', chosen.filter] if chosen.filter else []
        if subprocess.run(command, check=False).returncode != 0:
            raise SystemExit(1)
        return json.loads(out.read_text())


def main():
    chosen, others = options()
    if chosen.compare:
        return compare.run(*chosen.compare, chosen.fail_above)
    if chosen.compare_targets:
        return targets_compared(chosen, others)
    if chosen.source:
        found = results.load(chosen.source)
    elif chosen.peers and not chosen.report:
        found = {'context': {}, 'benchmarks': []}
    else:
        found = measured(chosen, others)
    if chosen.peers:
        found['peers'] = peers(chosen)
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(found, indent=1) + '\n')
    if chosen.report:
        for path in report.write(found, pathlib.Path(chosen.report)):
            print(f'wrote {path}')
    failed = results.failed_in(found)
    for name, message in failed:
        print(f'{name}: {message}', file=sys.stderr)
    return 1 if failed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (Refused, results.Unusable) as error:
        print(f'./dev bench: {error}', file=sys.stderr)
        sys.exit(2)
