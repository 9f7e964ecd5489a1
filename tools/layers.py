#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: writes the diagram of the units' layers into docs/architecture.md, from the imports in the sources."""
import collections
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = 'docs/architecture.md'
BEGIN, END = '<!-- layers: tools/layers.py writes them -->\n```\n', '```\n<!-- end of layers -->\n'
NAME = re.compile(r'^(?:export )?module (kerngrad(?:\.\w+)?)(?::(\w+))?;', re.MULTILINE)
IMPORT = re.compile(r'^(?:export )?import (:?[\w.]+);', re.MULTILINE)
# Units of one kind are one name.
KINDS = re.compile(r'^(shapes|rows|ops|grads|composed)_\w+$')
# Units that the build makes, and which export those of a kind.
MADE = {'all_shapes': 'shapes_*', 'all_rows': 'rows_*', 'ops': 'ops_*', 'all_rules': 'grads_*'}
COLUMNS = 116


def kind_of(name):
    kind = KINDS.match(name)
    return f'{kind[1]}_*' if kind else MADE.get(name, name)


def imports_of_units(root):
    """name -> the names that it imports, of all interface units of modules/ and grads/."""
    imports = collections.defaultdict(set)
    for path in sorted([*(root / 'modules').rglob('*.cc'), *(root / 'grads').glob('*.cc')]):
        text = path.read_text()
        unit = NAME.search(text)
        if unit and not path.stem.endswith('_impl'):
            name = kind_of(unit[2] or unit[1])
            imports[name] |= {kind_of(found.lstrip(':')) for found in IMPORT.findall(text)} - {name}
    return imports


def layers(root):
    """The names by the length of the longest chain of imports below them."""
    imports = imports_of_units(root)

    @functools.cache
    def depth(name):
        return 1 + max(map(depth, imports[name]), default=-1)

    found = collections.defaultdict(list)
    for name in sorted(imports):
        found[depth(name)].append(name)
    return [found[k] for k in sorted(found)]


def diagram(root):
    lines = []
    for k, names in enumerate(layers(root), 1):
        line = f'{k:2}'
        for name in names:
            if len(line) + 2 + len(name) > COLUMNS:
                lines.append(line)
                line = '  '
            line += '  ' + name
        lines.append(line)
    return ''.join(f'{line}\n' for line in lines)


def page(root):
    """The page with the diagram of the units below `root`. A page without the marks has none."""
    before, begin, rest = (root / PAGE).read_text().partition(BEGIN)
    return before + (begin + diagram(root) + END + rest.partition(END)[2] if begin else '')


def main():
    (ROOT / PAGE).write_text(page(ROOT))


if __name__ == '__main__':
    main()
