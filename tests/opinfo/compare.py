#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py PROGRAM [--op NAME...] [--record FOLDER] [--keep FILE] [--verbose]: all cases of OpInfo, NumPy and SciPy.

PROGRAM, opinfo_cases, compares them with this library and prints counts by family and by class. Fails where it does,
and where fewer OpInfos are compared than LEAST_COVERED. --record writes the recorded sample of the daily tests again:
cases that are equal, chosen by a fixed seed, as many of each op as of others.
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOM = pathlib.Path(__file__).parent
LEAST_COVERED = 240  # of the OpInfos of Debian's PyTorch
RECORDED, SEED = 2000, 20261127
MOST_BYTES, MOST_LINES = 900, 480  # of a recorded case; of a file of them


def check_installed():
    missing = [name for name in ('torch', 'numpy', 'scipy') if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(f'{sys.executable} has no {", ".join(missing)}: ./dev test peers installs the Debian packages')


def lines_of(program, only, report):
    """A line of JSON for each case."""
    import numpy_cases
    import opinfo
    listed = subprocess.run([program, '--list'], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    families = dict(zip(listed[1::2], listed[::2]))
    known = {name for name in families if not only or name in only}
    for case in (*opinfo.all_cases(known, report), *numpy_cases.all_cases(known)):
        family = families.get(case['op']) or families[case['op'].partition('/')[0]]
        yield family, case['op'], json.dumps(case, separators=(',', ':'))


def chosen(lines, verdicts):
    """The cases of the sample: from each op in turn one of those that are left."""
    by_op = collections.defaultdict(list)
    for (family, op, text), verdict in zip(lines, verdicts):
        if verdict == 'equal' and len(text) <= MOST_BYTES:
            by_op[op].append((family, text))
    shuffle = random.Random(SEED).shuffle
    for cases in by_op.values():
        shuffle(cases)
    sample, count = collections.defaultdict(list), 0
    while count < RECORDED and by_op:
        for op in sorted(by_op):
            family, text = by_op[op].pop()
            if not by_op[op]:
                del by_op[op]
            if len(sample[family]) < MOST_LINES and count < RECORDED:
                sample[family].append(text)
                count += 1
    if count < RECORDED:
        sys.exit(f'{count} cases are small enough, {RECORDED} are to be recorded')
    return sample


def record(folder, lines, verdicts):
    folder.mkdir(exist_ok=True)
    for old in folder.glob('*.jsonl'):
        old.unlink()
    for family, texts in chosen(lines, verdicts).items():
        (folder / f'{family}.jsonl').write_text('\n'.join(sorted(texts)) + '\n')


def covered(lines, verdicts):
    """The OpInfos of which a case was compared."""
    return {op for (_, op, _), verdict in zip(lines, verdicts)
            if verdict in ('equal', 'compared') and not op.startswith(('np.', 'scipy.'))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program')
    parser.add_argument('--op', nargs='*', help='only cases of these ops')
    parser.add_argument('--record', type=pathlib.Path, help='the folder of the recorded sample')
    parser.add_argument('--keep', help='a file for the cases')
    parser.add_argument('--verbose', action='store_true', help='all differences')
    options = parser.parse_args()
    check_installed()
    left_out = collections.Counter()
    lines = list(lines_of(options.program, options.op, lambda op, why: left_out.update([why])))
    for why, count in left_out.most_common():
        print(f'{count:6}  no case: {why}')
    with tempfile.TemporaryDirectory() as folder:
        cases, words = pathlib.Path(options.keep or f'{folder}/cases.jsonl'), pathlib.Path(folder) / 'verdicts'
        cases.write_text(''.join(f'{text}\n' for _, _, text in lines))
        flags = ['--verbose'] * options.verbose + ['--partial'] * bool(options.op)
        done = subprocess.run([options.program, str(ROOM / 'departures.txt'), str(cases), '--verdicts', str(words),
                               *flags])
        if done.returncode > 1:
            sys.exit(done.returncode)
        verdicts = words.read_text().split()
    ops = covered(lines, verdicts)
    print(f'{len(lines)} cases; {len(ops)} OpInfos are compared')
    if options.record:
        record(options.record, lines, verdicts)
    if not options.op and len(ops) < LEAST_COVERED:
        sys.exit(f'{len(ops)} OpInfos are compared, wanted {LEAST_COVERED}')
    sys.exit(done.returncode)


if __name__ == '__main__':
    main()
