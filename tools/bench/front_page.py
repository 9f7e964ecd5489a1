#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""front_page.py [--check]: writes README's numbers and its figure from recorded data; --check exits 1 if one is stale.

A number of README is followed by a comment with its name: `0.15<!-- models.mean -->`. The names are those of `numbers`.
The data are the tables of docs/performance.md, which tools/bench/peers.py, footprint.py and ./dev models fill, and
files of tests/.
"""
import difflib
import math
import pathlib
import re
import sys

import speed_chart

ROOT = pathlib.Path(__file__).resolve().parents[2]
README, DATA = 'README.md', 'docs/performance.md'
FIGURES = {theme: f'docs/pictures/speed-{theme}.svg' for theme in speed_chart.COLOURS}
NAMED = re.compile(r'([^\s>]+)(<!-- (\w+\.\w+) -->)')
# A ratio above this is slower: what lies between is noise of the measurement (docs/performance.md).
TIE = 1.05


def rows_below(page, heading):
    """The cells of each line of the first table after a heading."""
    found = re.search(rf'^## {re.escape(heading)}\n(?:.*\n)*?\|[-:| ]+\|\n((?:\|.*\n)+)', page, re.MULTILINE)
    if not found:
        sys.exit(f'{DATA}: there is no table below "{heading}"')
    return [[cell.strip() for cell in line.strip('|\n').split('|')] for line in found[1].splitlines(True)]


def peer_cases(page):
    """{(id, case, size): (comparator, its time, our time, ratio)} of all measured lines that have a peer."""
    found = {}
    for number, case, size, ours, comparator, theirs, ratio, *_ in rows_below(page, 'Rows'):
        if comparator.partition(':')[0] in speed_chart.PEERS:
            found[number, re.search(r'`(.*?)`', case)[1], size] = comparator, theirs, ours, float(ratio)
    return found


def numbers(root):
    """name -> text of each number that README may show."""
    page = (root / DATA).read_text()
    peers = peer_cases(page)
    _, theirs, ours, ratio = peers['F4', 'gelu4_value_grad@fused', '64000']
    models = [float(cells[3]) for cells in rows_below(page, 'Graph models beside TensorFlow.js')]
    cost = {what: value.partition(' (')[0] for what, value, *_ in rows_below(page, 'Consumer cost')}
    digests = (root / 'tests/engine/exact_bits.txt').read_text().splitlines()
    mean = math.exp(sum(map(math.log, models)) / len(models))

    def cost_of(words):
        return next(value for what, value in cost.items() if words in what)

    return {
        'fail.programs': f'{len(list((root / "tests/fail").glob("*.cc")))}',
        'peers.cases': f'{len(peers)}',
        'peers.reached': f'{sum(ratio <= TIE for *_, ratio in peers.values())}',
        'bits.digests': f'{sum(len(line.split()) // 2 for line in digests)}',
        'fused.ours': ours.replace(' ', '&nbsp;'), 'fused.theirs': theirs.replace(' ', '&nbsp;'),
        'fused.times': f'{1 / ratio:.2g}',
        'models.count': f'{len(models)}', 'models.mean': f'{mean:.2f}', 'models.times': f'{1 / mean:.2g}',
        'size.program': cost_of('a program with five ops').replace(' ', '&nbsp;'),
        'size.torch': cost_of('libtorch_cpu.so').replace(' ', '&nbsp;'),
        'size.compile': cost_of("that program's one file").replace(' ', '&nbsp;'),
        'size.headers': cost_of('five standard headers').replace(' ', '&nbsp;')}


def filled(page, known):
    """README with each number as it is recorded."""
    unknown = {name for _, _, name in NAMED.findall(page)} - known.keys()
    if unknown:
        sys.exit(f'{README}: nothing is recorded as {", ".join(sorted(unknown))}')
    return NAMED.sub(lambda found: known[found[3]] + found[2], page)


def figures(root):
    """file -> text of the figure for each kind of page."""
    page = (root / DATA).read_text()
    peers, cases = peer_cases(page), []
    for number, case, size, label in speed_chart.SHOWN:
        comparator, _, _, ratio = peers[number, case, size]
        cases.append((label, 1 / ratio, comparator.partition(':')[0]))
    machine = re.search(r'^Measured on ([^;]+);', page, re.MULTILINE)[1]
    return {name: speed_chart.svg(cases, theme, f'Measured on {machine}: docs/performance.md')
            for theme, name in FIGURES.items()}


def fresh(root):
    """file -> text of all that is made of recorded data."""
    return {README: filled((root / README).read_text(), numbers(root)), **figures(root)}


def check(root):
    """The files that are stale, each with its differences."""
    for name, text in fresh(root).items():
        path = root / name
        now = path.read_text() if path.exists() else ''
        if now != text:
            yield name, ''.join(difflib.unified_diff(now.splitlines(True), text.splitlines(True), name, 'as recorded'))


def main():
    if sys.argv[1:] == ['--check']:
        stale = dict(check(ROOT))
        print(*stale.values(), sep='', end='')
        sys.exit(f'{", ".join(stale)}: stale; ./dev docs writes what is recorded' if stale else 0)
    if sys.argv[1:]:
        sys.exit(__doc__.strip())
    for name, text in fresh(ROOT).items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(text)


if __name__ == '__main__':
    main()
