#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py SOURCE_ROOT CASES

1. Rows of tools/bench/targets.toml and cases of the program CASES are the same set, but for rows with a note; each time
   of tools/bench/recorded.toml is compared in a row.
2. From times that are given here, the table has the ratios, comparators and verdicts worked out by hand.
3. Programs that stand in for the library and a peer are run in turns, and their figures find their rows.
4. docs/performance-targets.md has each line of the table, or names it as one without a recorded run, and rewriting it
   changes nothing outside the markers.
5. Stand-ins for the demo and libtorch's program are run in turns on the cores and with the threads that are said, and
   the table of epochs has the medians and ratios worked out by hand.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import types

ROOT, CASES = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import epochs  # noqa: E402
import peers  # noqa: E402
import peers_table  # noqa: E402

# A row for every rule: a named side, the faster of two, the best peer, a bound, another case of ours, two threads, a
# note.
TABLE = tomllib.loads('''
[sides]
swift = {program = "peer_swift", packages = ["libswift-dev", "libwings-dev"]}
slow = {program = "peer_slow", environment = {PACE = "slow"}}
floor = {program = "peer_floor", bound = true}
[[row]]
id = "X1"
case = "exp"
sizes = "1000"
against = "slow"
must = 0.5
stretch = 0.3
[[row]]
id = "X2"
case = "exp"
sizes = "1000"
against = "slow swift"
must = 1.5
stretch = 1.2
[[row]]
id = "X3"
case = "exp"
sizes = "1000"
against = "best"
must = 1.25
stretch = 1.2
[[row]]
id = "X4"
case = "exp"
sizes = "1000"
against = "floor"
must = 2
stretch = 1
[[row]]
id = "X5"
case = "log@fused"
sizes = "8"
against = "kerngrad/exp2"
must = 1
stretch = 0.9
[[row]]
id = "X7"
case = "sin@two_threads"
sizes = "8"
against = "kerngrad"
must = 0.58
stretch = 0.5
[[row]]
id = "X6"
case = "sort"
sizes = "8"
must = 1
stretch = 0.9
[note]
sort = "no op yet"
[what]
sort = "sorting"
''')
# Nanoseconds that the programs say; on two threads half of that by the clock.
PROGRAMS = {
    'kerngrad': {'exp/n:1000': 10.0, 'log@fused/n:8': 3.0, 'exp2/n:8': 6.0, 'unasked/n:8': 1.0,
                 'sin/n:8': 10.0, 'sin@two_threads/n:8': 9.0},
    'swift': {'exp/n:1000': 8.0, 'nobody_has/n:1': 5.0},
    'slow': {'exp/n:1000': 40.0},
    'floor': {'exp/n:1000': 4.0},
}
PROGRAM = '''#!{python}
import json, os, re, sys
times = {times}
options = dict(argument.lstrip('-').split('=', 1) for argument in sys.argv[1:])
said = [{name!r} + os.environ.get('PACE', ''), os.environ['OMP_NUM_THREADS'], str(len(os.sched_getaffinity(0))),
        os.environ['GLIBC_TUNABLES'].partition('=')[2]]
open({log!r}, 'a').write(' '.join(said) + '\\n')
if 'benchmark_list_tests' in options:
    print('\\n'.join(times))
else:
    runs = [{{'run_type': kind, 'run_name': name, 'cpu_time': time * factor,
             'real_time': time * factor * (0.5 if 'two_threads' in name else 1)}}
            for name, time in times.items() if re.search(options['benchmark_filter'], name)
            for kind, factor in (('iteration', 1), ('iteration', 1.5), ('aggregate', 0.5))]
    json.dump({{'benchmarks': runs}}, open(options['benchmark_out'], 'w'))
'''


def require(holds, text):
    if not holds:
        sys.exit(text)


def check_rows():
    table = tomllib.loads((ROOT / 'tools' / 'bench' / 'targets.toml').read_text())
    listed = subprocess.run([CASES, '--benchmark_list_tests=true'], check=True, text=True, stdout=subprocess.PIPE)
    names = set(listed.stdout.split())
    asked, used = set(), set()  # what rows ask for; cases that a row uses, whatever their size
    for row in table['row']:
        for side, _ in peers_table.against(row, ''):
            known = side.partition(':')[0] in ('kerngrad', 'best', *table['sides'])
            require(known, f'{row["id"]}: no side is called {side}')
        require(row['stretch'] <= row['must'], f'{row["id"]}: the stretch is easier than what must be')
        for name, size, label in peers_table.labels(row):
            there = f'{name}/n:{size}' in names
            what = 'the case exists: take the note away' if there else 'bench/peers lacks it, and no note says why'
            require(there != (name in table['note']), f'{label}: {what}')
            asked.add(name)
            used.add(name)
            used |= {case + side.replace(':', '@')[len('kerngrad'):] for side, case in peers_table.against(row, name)
                     if side.startswith('kerngrad')}
    lines = {(name, size) for row in table['row'] for name, size, _ in peers_table.labels(row)}
    alone = {(case, size) for _, case, size in peers_table.recorded()} - lines
    require(not alone, f'recorded.toml has times that no row compares: {sorted(alone)}')
    for part in ('what', 'note'):
        require(set(table[part]) <= asked, f'[{part}] names no case: {set(table[part]) - asked}')
    unused = {name.partition('/n:')[0] for name in names} - used
    require(not unused, f'no row asks for the cases {unused}')


def check_table(result):
    entries = {entry['id']: entry for entry in result['cases']}
    wanted = {'X1': ('slow', 0.25, 'stretch'), 'X2': ('swift', 1.25, 'met'), 'X3': ('swift', 1.25, 'met'),
              'X4': ('floor', 2.5, '**not met**'), 'X5': ('kerngrad exp2', 0.5, 'stretch'),
              'X7': ('kerngrad', 0.45, 'stretch'), 'X6': (None, None, 'no op yet')}
    for name, (comparator, ratio, verdict) in wanted.items():
        entry = entries[name]
        got = entry.get('comparator'), entry.get('ratio'), peers_table.verdict(entry)
        require(got == (comparator, ratio, verdict), f'{name}: got {got}, wanted {(comparator, ratio, verdict)}')
    require(entries['X1']['peers'] == {'swift': 8.0, 'slow': 40.0}, f'peers: {entries["X1"]["peers"]}')
    text = peers_table.markdown(TABLE, result)
    require('| X1 | `exp` | 1000 | 10 ns | slow | 40 ns | 0.25 | 0.5 | 0.3 | stretch |' in text, text)
    require('Rows without a recorded run: X6 `sort` 8 (no op yet).' in text, text)
    require('5 of 6 measured lines met, 3 of them' in text, text)
    line = peers_table.line_of({**entries['X1'], 'ours': 9e3}, TABLE)
    require(line.endswith('| **7.13 us** |'), f'slower than what was recorded: {line}')


def check_runs(folder):
    build = folder / 'build'
    programs = build / 'bench' / 'peers'
    programs.mkdir(parents=True)
    log = folder / 'log'
    for name, times in PROGRAMS.items():
        program = programs / ('cases' if name == 'kerngrad' else f'peer_{name}')
        program.write_text(PROGRAM.format(python=sys.executable, times=times, name=name, log=str(log)))
        program.chmod(0o755)
    (programs / 'peer_floor').rename(programs / 'away')
    cores = sorted(peers.os.sched_getaffinity(0))
    _, missing = peers.find_sides(TABLE, build, cores)
    require(missing == [('floor', [])], f'missing: {missing}')
    (programs / 'away').rename(programs / 'peer_floor')
    sides, missing = peers.find_sides(TABLE, build, cores)
    require(not missing, f'missing: {missing}')
    ours = peers.Side('kerngrad', programs / 'cases', {}, cores)
    options = types.SimpleNamespace(filter='', rounds=2, repetitions=2, min_time=0.001)
    figures = peers.measure_all(ours, sides, TABLE, options)
    runs = log.read_text().splitlines()[4:]  # the first four listed their cases
    a_round = ['kerngrad 1 1 1', f'kerngrad 1 {min(2, len(cores))} 1']
    a_round += [f'{name} 1 1 1' for side in ('swift', 'slowslow', 'floor') for name in ('kerngrad', side)]
    require(runs == a_round * 2, f'the order of the runs: {runs}')
    result = {'machine': {}, 'cases': peers_table.cases(TABLE, figures.times, figures.pairs)}
    check_table(result)
    check_table(json.loads(json.dumps(result)))
    only = peers_table.cases(TABLE, figures.times, figures.pairs, 'X[12]/exp')
    require([entry['id'] for entry in only] == ['X1', 'X2'], 'the filter on labels')
    without = {key: time for key, time in figures.times.items() if key[0] != 'slow'}
    first = peers_table.cases(TABLE, without, figures.pairs)[0]
    require('ratio' not in first and peers_table.verdict(first) == 'not measured', 'a peer that is missing')


def check_page(folder):
    page = (ROOT / 'docs' / 'performance-targets.md').read_text()
    table = tomllib.loads((ROOT / 'tools' / 'bench' / 'targets.toml').read_text())
    inside = page.partition(peers_table.BEGIN)[2].partition(peers_table.END)[0]
    shown = re.findall(r'^\| ([A-Z]\d+) \| `([^`]+)`[^|]* \| (\S+) \|', inside, re.M)
    wanted = [(row['id'], name, size) for row in table['row'] for name, size, _ in peers_table.labels(row)]
    named = re.search(r'^Rows without a recorded run: (.*)\.$', inside, re.M)
    shown += re.findall(r'([A-Z]\d+) `([^`]+)` ([^\s,]+)', named[1] if named else '')
    require(sorted(shown) == sorted(wanted), f'the page shows other lines than the table: {set(wanted) ^ set(shown)}')
    networks = (ROOT / 'docs' / 'performance.md').read_text().partition(epochs.BEGIN)[2].partition(epochs.END)[0]
    for name in epochs.MODELS.values():
        lines = re.findall(rf'^\| {name} \| [12] \|', networks, re.M)
        require(len(lines) == 2, f'docs/performance.md: epochs of {name}')
    copy = folder / 'page.md'
    copy.write_text(page)
    peers_table.replace_between(copy, peers_table.BEGIN, peers_table.END, inside.strip())
    require(copy.read_text() == page, 'rewriting the page changed it')
    try:
        peers_table.replace_between(copy, '<!-- no such marker -->', peers_table.END, '')
    except SystemExit:
        return
    sys.exit('a page without markers was written')


# Seconds of an epoch, that of a perceptron a tenth of it; libtorch as it is tuned takes a sixth less.
TRAINER = '''#!{python}
import os, sys
open({log!r}, 'a').write(' '.join([os.path.basename(sys.argv[0]), *sys.argv[1:], os.environ['OMP_NUM_THREADS'],
                                   str(len(os.sched_getaffinity(0)))]) + '\\n')
seconds = {seconds} * (0.1 if 'mlp' in sys.argv else 1) * (5 / 6 if 'ATEN_CPU_CAPABILITY' in os.environ else 1)
print('some words')
print(f'epoch 1/1  loss 0.5  test accuracy 0.8750  9 images/s  {{seconds * 2:.2f}} s ({{seconds:.2f}} s of processors)')
'''


def check_epochs(folder):
    log = folder / 'epochs'
    for name, seconds in (('ours', 10), ('theirs', 24)):
        program = folder / name
        program.write_text(TRAINER.format(python=sys.executable, log=str(log), seconds=seconds))
        program.chmod(0o755)
    runs_here = peers_table.runs_here
    require(runs_here({}) and not runs_here({'needs': 'no-such-feature'}), 'a side runs without what it needs')
    peers_table.runs_here = lambda side: True
    sides = epochs.sides_of(tomllib.loads((ROOT / 'tools' / 'bench' / 'targets.toml').read_text()))
    peers_table.runs_here = runs_here
    require(list(sides) == ['torch', 'torch_tuned'], f'sides of libtorch: {sides}')
    options = types.SimpleNamespace(rounds=2, limit=640)
    pairs = epochs.measure(folder / 'ours', folder / 'theirs', sides, options)
    cores = min(2, len(peers.os.sched_getaffinity(0)))
    a_round = []
    for model in ('mlp', 'cnn'):
        for threads in (1, 2):
            at = f'{threads} {min(threads, cores)}'
            a_round += [f'ours --model {model} --epochs 1 --threads {threads} --limit 640 {at}',
                        f'theirs {model} 1 {threads} 640 {at}'] * 2
    require(log.read_text().splitlines() == a_round * 2, f'the order of the runs: {log.read_text()}')
    text = epochs.markdown(pairs, options)
    require('| two convolutions, two dense layers | 2 | 20.00 s, 10.00 s | torch_tuned | 40.00 s, 20.00 s | 0.50, 0.50 '
            '| 0.875, 0.875 |' in text, text)
    require('| perceptron 784-128-10 | 1 | 2.00 s, 1.00 s | torch_tuned | 4.00 s, 2.00 s |' in text, text)


def main():
    check_rows()
    with tempfile.TemporaryDirectory() as folder:
        check_runs(pathlib.Path(folder))
        check_epochs(pathlib.Path(folder))
        check_page(pathlib.Path(folder))


if __name__ == '__main__':
    main()
