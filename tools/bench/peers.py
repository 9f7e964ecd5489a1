#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the library next to its peers and prints what is reached of tools/bench/targets.toml.

Every program is a process of its own. The library's runs before each peer's, on the same core and the same cases, and
so on round after round. A run's figure is the least of its repetitions, because what else the machine does only adds;
a time is the median of those figures, a ratio the median of the ratios of two neighbouring runs. One thread, processor
time; cases of the way two_threads run on two cores, by the clock.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import peers_table  # noqa: E402

OURS = 'kerngrad'
TWO_THREADS = 'two_threads'


def case_of(name):
    """`exp@fused/n:64000` as (case, way, size)."""
    path, _, size = name.partition('/n:')
    return *peers_table.split_name(path), size


class Side:
    """A program in an environment, and the figures of its runs by case name."""

    def __init__(self, name, program, environment, cores):
        self.name, self.program, self.environment, self.cores = name, program, environment, cores

    def run(self, arguments, cores=None):
        # Large blocks lie in huge pages on both sides: the library asks for them itself, glibc's malloc when told to.
        environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1',
                       **self.environment}
        cores = set(cores or self.cores[:1])
        done = subprocess.run([str(self.program), *arguments], env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        if done.returncode != 0:
            raise SystemExit(f'{self.program} ended with {done.returncode}:\n{done.stderr}')
        return done.stdout

    def names(self):
        return self.run(['--benchmark_list_tests=true']).split()

    def measure(self, names, options, by_clock=False):
        """The least time of each case in nanoseconds."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / 'out.json'
            pattern = '^(' + '|'.join(sorted(names)) + ')$'
            self.run([f'--benchmark_filter={pattern}', f'--benchmark_min_time={options.min_time}',
                      f'--benchmark_repetitions={options.repetitions}', f'--benchmark_out={out}',
                      '--benchmark_enable_random_interleaving=true', '--benchmark_out_format=json'],
                     self.cores[:2] if by_clock else None)
            times = {}
            for entry in json.loads(out.read_text())['benchmarks']:
                if entry['run_type'] == 'iteration':
                    times.setdefault(entry['run_name'], []).append(entry['real_time' if by_clock else 'cpu_time'])
        return {name: min(repetitions) for name, repetitions in times.items()}


class Figures:
    """Times by (side, case, size) and, for each comparison, the pairs of times of neighbouring runs."""

    def __init__(self):
        self.times, self.pairs = {}, {}

    @staticmethod
    def keys(side, times):
        for name, time in times.items():
            case, way, size = case_of(name)
            yield (f'{side}:{way}' if way else side, case, size), time

    def add(self, side, times):
        for key, time in self.keys(side, times):
            self.times.setdefault(key, []).append(time)

    def add_pair(self, side, ours, theirs):
        self.add(OURS, ours)
        self.add(side, theirs)
        own = dict(self.keys(OURS, ours))
        for (other, case, size), time in self.keys(side, theirs):
            for (mine, *mine_pair), mine_time in own.items():
                if mine_pair == [case, size]:
                    self.pairs.setdefault((mine, other, case, size), []).append((mine_time, time))

    def add_own(self, times, by_clock=False):
        """Cases of the library that are compared with one another. By the clock only the pairs are of use, and the
        times of those that are always taken so."""
        self.add(OURS, {name: time for name, time in times.items() if not by_clock or case_of(name)[1] == TWO_THREADS})
        own = dict(self.keys(OURS, times))
        for (mine, case, size), time in own.items():
            for (other, other_case, other_size), other_time in own.items():
                if size == other_size and (mine, case) != (other, other_case):
                    key = peers_table.pair_key(mine, other, case, size, other_case)
                    self.pairs.setdefault(key, []).append((time, other_time))


def wanted_pairs(table, pattern):
    """(case, size) of all that rows ask for whose label fits the pattern; and of what they compare among ours."""
    wanted, among_ours = set(), set()
    for row in table['row']:
        for name, size, label in peers_table.labels(row):
            if re.search(pattern, label):
                others = peers_table.against(row, name)
                all_of_them = {(peers_table.split_name(name)[0], size)} | {(case, size) for _, case in others}
                wanted |= all_of_them
                if any(side.startswith(OURS) for side, _ in others):
                    among_ours |= all_of_them
    return wanted, among_ours


def find_sides(table, build, cores):
    """The programs that run here, and what is missing of the others."""
    there, missing = [], []
    for name, side in table['sides'].items():
        program = build / 'bench' / 'peers' / side['program']
        if not peers_table.runs_here(side):
            print(f'{name} is skipped: the CPU has no {side["needs"]}', file=sys.stderr)
        elif program.exists():
            there.append(Side(name, program, side.get('environment', {}), cores))
        else:
            missing.append((name, side.get('packages', [])))
    return there, missing


def plain(name):
    """The (case, size) of a name, whatever the way."""
    case, _, size = case_of(name)
    return case, size


class Plan:
    """Which cases which program runs: those that rows ask for and that the library has too."""

    def __init__(self, ours, sides, table, pattern):
        wanted, among_ours = wanted_pairs(table, pattern)
        mine = {name for name in ours.names() if plain(name) in wanted}
        pairs = {plain(name) for name in mine}
        self.theirs = {side.name: {name for name in side.names() if plain(name) in pairs} for side in sides}
        threaded = {name for name in mine if case_of(name)[1] == TWO_THREADS}
        self.mine = mine - threaded
        self.own = {name for name in self.mine if plain(name) in among_ours}
        alone = {plain(name) for name in threaded}
        self.by_clock = threaded | {name for name in self.mine if plain(name) in alone and '@' not in name}

    def mine_beside(self, side):
        pairs = {plain(name) for name in self.theirs[side]}
        return {name for name in self.mine if plain(name) in pairs}


def measure_all(ours, sides, table, options):
    plan = Plan(ours, sides, table, options.filter)
    figures = Figures()
    for number in range(options.rounds):
        print(f'round {number + 1} of {options.rounds}:', end='', file=sys.stderr, flush=True)
        if plan.own:
            figures.add_own(ours.measure(plan.own, options))
        if plan.by_clock:
            figures.add_own(ours.measure(plan.by_clock, options, by_clock=True), by_clock=True)
        for side in sides:
            if plan.theirs[side.name]:
                print(f' {side.name}', end='', file=sys.stderr, flush=True)
                mine = ours.measure(plan.mine_beside(side.name), options)
                figures.add_pair(side.name, mine, side.measure(plan.theirs[side.name], options))
        print(file=sys.stderr)
    return figures


def machine(table):
    cpu = re.search(r'model name\s*:\s*(.*)', pathlib.Path('/proc/cpuinfo').read_text())
    packages = packages_of(table)
    versions = {}
    if shutil.which('dpkg-query'):
        for package in packages:
            done = subprocess.run(['dpkg-query', '-W', '-f=${Version}', package], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
            if done.returncode == 0 and done.stdout:
                versions[package] = done.stdout
    return {'cpu': cpu.group(1) if cpu else 'unknown', 'cores': os.cpu_count(), 'packages': versions}


def packages_of(table):
    """The Debian packages of all peers."""
    return sorted({package for side in table['sides'].values() for package in side.get('packages', [])})


def install(missing):
    packages = sorted({package for _, needed in missing for package in needed})
    if packages:
        as_root = [] if os.geteuid() == 0 else ['sudo']
        subprocess.run([*as_root, 'apt-get', 'install', '-y', '--no-install-recommends', *packages], check=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--filter', default='', help='a regular expression on labels like B4/exp/n:64000')
    parser.add_argument('--rounds', type=int, help='how often each pair of programs runs (9, quick: 1)')
    parser.add_argument('--quick', action='store_true', help='one short round: a look, not a measurement')
    parser.add_argument('--core', type=int, help='the first core that is used (the last that there is)')
    parser.add_argument('--json', type=pathlib.Path, help='write the figures to this file')
    parser.add_argument('--from', dest='source', type=pathlib.Path, help='measure nothing: the figures of this file')
    parser.add_argument('--docs', action='store_true', help='write the table into docs/performance-targets.md')
    parser.add_argument('--install', action='store_true', help='install the Debian packages of missing peers first')
    parser.add_argument('--packages', action='store_true', help='only print the Debian packages of all peers')
    options = parser.parse_args()
    if options.docs and (options.filter or options.quick):
        parser.error('--docs wants all rows, measured in full: omit --filter and --quick')
    options.rounds = options.rounds or (1 if options.quick else 9)
    options.repetitions = 1 if options.quick else 5
    options.min_time = 0.002 if options.quick else 0.005
    return options


def measured(options, table):
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    if options.core is not None:
        cores = [options.core] + [core for core in cores if core != options.core]
    _, missing = find_sides(table, options.build, cores)
    if options.install:
        install(missing)
        subprocess.run(['meson', 'setup', '--reconfigure', str(options.build)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['ninja', '-C', str(options.build), 'peers'], check=True, stdout=subprocess.DEVNULL)
    sides, missing = find_sides(table, options.build, cores)
    for name, packages in missing:
        print(f'{name} is skipped: without {" and ".join(packages) or "its program"}', file=sys.stderr)
    ours = Side(OURS, options.build / 'bench' / 'peers' / 'cases', {}, cores)
    figures = measure_all(ours, sides, table, options)
    cases = peers_table.cases(table, figures.times, figures.pairs, options.filter)
    return {'machine': machine(table), 'rounds': options.rounds, 'cases': cases}


def main():
    options = parse()
    table = tomllib.loads((ROOT / 'tools' / 'bench' / 'targets.toml').read_text())
    if options.packages:
        print('\n'.join(packages_of(table)))
        return
    result = json.loads(options.source.read_text()) if options.source else measured(options, table)
    if not result['cases']:
        raise SystemExit(f'no row fits --filter {options.filter}: labels are id/case/n:size, like B4/exp/n:64000')
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + '\n')
    print(peers_table.markdown(table, result))
    if options.docs:
        peers_table.write_docs(ROOT / 'docs' / 'performance-targets.md', table, result)


if __name__ == '__main__':
    main()
