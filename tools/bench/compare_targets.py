# SPDX-License-Identifier: Apache-2.0
"""Compares the CPU targets of each kernel: a target must not be slower than one with narrower vectors.

The program is run several times, and its benchmarks have the targets of a case one after the other. So a target's
rounds alternate with those of the others. The fastest round of each counts, as noise only adds time.
"""
import dataclasses
import fnmatch
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import compare
import results

LIST = pathlib.Path(__file__).with_name('slower_targets.toml')
ROUNDS = 7
# Time of a wider target over that of the fastest narrower one.
MOST = 1.25
# The program's options: elements of a kernel, seconds for each benchmark of a round.
OPTIONS = ['--sizes=1000,65536', '--benchmark_min_time=0.001']
# Names of kernels in one regular expression.
NAMES_AT_ONCE = 50


@dataclasses.dataclass
class Slower:
    """A kernel that is slower on `wide` than on the narrower target `narrow`; times in nanoseconds."""
    kernel: str
    n: int
    wide: str
    narrow: str
    wide_time: float
    narrow_time: float

    @property
    def ratio(self):
        return self.wide_time / self.narrow_time

    def __str__(self):
        return (f'{self.kernel}, n = {self.n}: {self.wide} {compare.time_text(self.wide_time)}, '
                f'{self.narrow} {compare.time_text(self.narrow_time)}, ratio {self.ratio:.2f}')


def least_times(rounds):
    """{(kernel, n): {target: time of its fastest round}}."""
    least = {}
    for found in rounds:
        for row in results.rows_of(found):
            times = least.setdefault((row.kernel, row.n), {})
            times[row.target] = min([times.get(row.target, row.time), *row.times])
    return least


def targets_of(found):
    """Names of the targets, the widest first."""
    names = found.get('context', {}).get('simd_targets', '').split()
    if not names:
        raise results.Unusable('the results do not say which targets there are: context/simd_targets is wanted')
    return names


def slower_targets(least, order):
    """A Slower for each kernel and target that takes more than MOST of the fastest narrower one, the worst first."""
    found = []
    for (kernel, n), times in least.items():
        ran = [target for target in order if target in times]
        for at, wide in enumerate(ran[:-1]):
            narrow = min(ran[at + 1:], key=times.get)
            if times[wide] > MOST * times[narrow]:
                found.append(Slower(kernel, n, wide, narrow, times[wide], times[narrow]))
    return sorted(found, key=lambda one: -one.ratio)


def accepted_list(path=LIST):
    """The entries of the list; raises Unusable for one that is not complete."""
    entries = tomllib.loads(path.read_text()).get('kernel', [])
    for entry in entries:
        if set(entry) != {'name', 'target', 'most', 'reason'} or not entry['reason']:
            raise results.Unusable(f'{path}: got the keys {", ".join(entry)} of {entry.get("name", "an entry")}; '
                                   'name, target, most and reason are wanted')
    return entries


def accepts(entry, slower):
    return (fnmatch.fnmatchcase(slower.kernel, entry['name']) and fnmatch.fnmatchcase(slower.wide, entry['target'])
            and slower.ratio <= entry['most'])


def divided(found, entries):
    """(what no entry accepts, what one accepts, the entries that accept nothing)."""
    wrong = [one for one in found if not any(accepts(entry, one) for entry in entries)]
    known = [one for one in found if one not in wrong]
    unused = [entry for entry in entries if not any(accepts(entry, one) for one in found)]
    return wrong, known, unused


def report(least, order, entries):
    """(text, exit code)."""
    wrong, known, unused = divided(slower_targets(least, order), entries)
    lines = [f'{len(least)} kernels on {", ".join(order)}: the fastest of {ROUNDS} rounds each']
    lines += [f'slower: {one}' for one in wrong]
    lines += [f'slower, as {LIST.name} says: {one}' for one in known]
    lines += [f'{LIST.name}: {entry["name"]} on {entry["target"]} is not slower here' for entry in unused]
    lines.append(f'{len(wrong)} take more than {MOST} of the time of a narrower target')
    return '\n'.join(lines), 1 if wrong else 0


def run_round(program, options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'round.json'
        done = subprocess.run([program, *options, f'--benchmark_out={out}', '--benchmark_out_format=json'],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(f'{done.stderr}{program} failed', file=sys.stderr)
            raise SystemExit(1)
        return results.load(out)


def exact(names):
    """A regular expression of the benchmarks of these kernels and no others."""
    special = set('\\^$.|?*+()[]{}')
    escaped = [''.join('\\' + c if c in special else c for c in name) for name in names]
    return f'^({"|".join(escaped)})/target:'


def measured(program, given):
    """The rounds of all kernels, then as many of those that seem slower: the load of a machine changes in seconds."""
    rounds = []
    for i in range(ROUNDS):
        rounds.append(run_round(program, given))
        print(f'round {i + 1} of {ROUNDS}: {len(rounds[-1]["benchmarks"])} benchmarks', flush=True)
    order = targets_of(rounds[0])
    again = sorted({one.kernel for one in slower_targets(least_times(rounds), order)})
    if again:
        print(f'{ROUNDS} more rounds of {len(again)} kernels', flush=True)
    for _ in range(ROUNDS):
        for at in range(0, len(again), NAMES_AT_ONCE):
            names = exact(again[at:at + NAMES_AT_ONCE])
            rounds.append(run_round(program, [g for g in given if not g.startswith('--benchmark_filter')]
                                    + [f'--benchmark_filter={names}']))
    return rounds


def run(program, given):
    """Measures, prints the report; gives the exit code and the results of all rounds."""
    entries = accepted_list()
    rounds = measured(program, given)
    text, code = report(least_times(rounds), targets_of(rounds[0]), entries)
    print(text)
    return code, results.merged(rounds)
