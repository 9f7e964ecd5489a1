#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""front_page.py [--check]: writes README's numbers, the figures and the table of speed from recorded data.

--check exits 1 if one is stale. A number of a page is followed by a comment with its name, `0.15<!-- models.mean -->`.
The names are those of `numbers`. The data are the tables of docs/performance-targets.md and docs/performance.md, which
tools/bench/peers.py, epochs.py, footprint.py and ./dev models fill, first_build.json, which build_time.py writes,
roofline.json, sizes.json and learning.json, which heat_map.py, sizes.py and learning.py write, and files of tests/. The
section about the time for an element is there once element_times.py has written its record.
"""
import difflib
import json
import math
import pathlib
import re
import sys

import element_times
import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_BUILD = 'tools/bench/first_build.json'
RECORDS = {name: f'tools/bench/{name}.json' for name in ('roofline', 'sizes', 'learning', 'element_times')}
README, PAGE, TARGETS = 'README.md', 'docs/performance.md', 'docs/performance-targets.md'
NAMED = re.compile(r'([^\s>]+)(<!-- (\w+\.\w+) -->)')
BEGIN, END = '<!-- begin: written by tools/bench/front_page.py -->', '<!-- end of speed -->'
BEGIN_ELEMENTS, END_ELEMENTS = '<!-- begin: the time for an element -->', '<!-- end of the time for an element -->'
ELEMENTS = """\
The time for an element falls until the cost of the call no longer counts, and rises at the sizes of the caches.
`tools/bench/element_times.py --check` looks for other steps above 1.3 between neighbouring sizes, and finds {}.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/element-times-dark.svg">
  <img src="pictures/element-times-light.svg" width="640" alt="Lines of the time for an element against size, for add, \
sum, sort, matmul, fft, softmax and gather">
</picture>"""
# A ratio above this is slower: what lies between is noise of the measurement (docs/performance-targets.md).
TIE = 1.05
AREAS = {'A': 'calls', 'B': 'elementwise', 'C': 'reductions', 'D': 'matrix products', 'E': 'images', 'F': 'gradients',
         'G': 'others'}


def rows_below(page, heading):
    """The cells of each line of the first table after a heading."""
    found = re.search(rf'^## {re.escape(heading)}\n(?:.*\n)*?\|[-:| ]+\|\n((?:\|.*\n)+)', page, re.MULTILINE)
    if not found:
        sys.exit(f'there is no table below "{heading}"')
    return [[cell.strip() for cell in line.strip('|\n').split('|')] for line in found[1].splitlines(True)]


def all_cases(targets):
    """{(id, case, size): (words, our time, side, its time, ratio)} of all lines of the table of targets."""
    found = {}
    for number, case, size, ours, side, theirs, ratio, *_ in rows_below(targets, 'Rows'):
        name, words = re.fullmatch(r'`(.*?)` ?(.*)', case).groups()
        found.setdefault((number, name, size), (words or name, ours, side, theirs, float(ratio)))
    return found


def peer_cases(targets):
    """Those whose other side is another library."""
    return {key: case for key, case in all_cases(targets).items() if case[2].partition(':')[0] in figures.PEERS}


def numbers(root):
    """name -> text of each number that README and the page may show."""
    page, peers = (root / PAGE).read_text(), peer_cases((root / TARGETS).read_text())
    _, ours, _, theirs, ratio = peers['F4', 'gelu4_value_grad@fused', '64000']
    models = [float(cells[3]) for cells in rows_below(page, 'Graph models and TensorFlow.js')]
    cost = {what: value.partition(' (')[0] for what, value, *_ in rows_below(page, 'Size and compile time')}
    digests = (root / 'tests/engine/exact_bits.txt').read_text().splitlines()
    first = json.loads((root / FIRST_BUILD).read_text())
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
        'models.most': f'{max(models):.2f}',
        'first.minutes': f'{first["seconds"] / 60:.0f}', 'first.cores': f'{first["cores"]}',
        'first.machine': first['machine'].replace(' ', '&nbsp;'), 'first.date': first['date'],
        'size.program': cost_of('a program with five ops').replace(' ', '&nbsp;'),
        'size.torch': cost_of('libtorch_cpu.so').replace(' ', '&nbsp;'),
        'size.compile': cost_of("that program's one file").replace(' ', '&nbsp;'),
        'size.headers': cost_of('five standard headers').replace(' ', '&nbsp;')}


def filled(name, page, known):
    """A page with each number as it is recorded."""
    unknown = {number for _, _, number in NAMED.findall(page)} - known.keys()
    if unknown:
        sys.exit(f'{name}: nothing is recorded as {", ".join(sorted(unknown))}')
    return NAMED.sub(lambda found: known[found[3]] + found[2], page)


def speed_table(targets):
    """All cases with another library: times and their ratio."""
    lines = ['| area | case | size | kerngrad | fastest other | its time | ratio |',
             '| --- | --- | --- | ---: | --- | ---: | ---: |']
    for (number, _, size), (words, ours, side, theirs, ratio) in peer_cases(targets).items():
        lines.append(f'| {AREAS[number[0]]} | {words} | {size} | {ours} | {figures.PEERS[side.partition(":")[0]]} '
                     f'| {theirs} | {ratio:.2f} |')
    return '\n'.join(lines)


def with_section(page, begin, section, end):
    """The page with another section between two markers."""
    before, found, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        sys.exit(f'{PAGE}: the markers {begin} and {end} are missing')
    return '\n\n'.join(part for part in (before + begin, section, end + after) if part)


def elements_section(record):
    """The figure of element_times.py with its words; nothing without a record."""
    return ELEMENTS.format(len(list(element_times.jumps(record))) or 'none') if record else ''


def records(root):
    """The recorded data of the figures, as far as there is a record."""
    return {name: json.loads((root / path).read_text()) for name, path in RECORDS.items() if (root / path).exists()}


def all_figures(root):
    """file -> text of each figure, for light and for dark pages."""
    page, targets = (root / PAGE).read_text(), (root / TARGETS).read_text()
    machine = re.search(r'^Measured on ([^;]+);', targets, re.MULTILINE)[1]
    data = figures.data(all_cases(targets), peer_cases(targets), machine, rows_below(page, 'An epoch of training'),
                        rows_below(page, 'Graph models and TensorFlow.js'),
                        rows_below(page, 'Size and compile time'),
                        records(root))
    return {f'docs/pictures/{name}-{theme}.svg': draw(theme) for name, draw in data.items()
            for theme in ('light', 'dark')}


def fresh(root):
    """file -> text of all that is made of recorded data."""
    known, targets = numbers(root), (root / TARGETS).read_text()
    page = with_section((root / PAGE).read_text(), BEGIN, speed_table(targets), END)
    page = with_section(page, BEGIN_ELEMENTS, elements_section(records(root).get('element_times')), END_ELEMENTS)
    return {README: filled(README, (root / README).read_text(), known), PAGE: filled(PAGE, page, known),
            **all_figures(root)}


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
