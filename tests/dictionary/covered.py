#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""covered.py ROOT: the functions by names of NumPy, SciPy and PyTorch have an example with output, and a row of the
dictionary that a test compares.

The functions are the exports of the units below, and the cases of bench/peers/numpy_cases.inc, which are timed. The
test `reference` wants docstrings and runs the examples. `dictionary_numpy` and `dictionary_torch` evaluate the rows.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(ROOT / 'tools' / 'reference'), str(ROOT / 'tools' / 'dictionary')]
import interfaces  # noqa: E402
import page  # noqa: E402

UNITS = ('composed/numpy/*.cc', 'composed/signals/*.cc', 'composed/warps/*.cc', 'composed/layers/sequences.cc',
         'composed/special.cc', 'composed/variates.cc', 'ops/fft/names.cc', 'ops/special/names.cc',
         'ops/volume/names.cc')
EXAMPLE = re.compile(r'const example \w+\{\s*((?:"[^"]*"\s*)+)')  # as examples/reference/example.h says
OUTPUT = re.compile(r'^```cpp\n(.*?)^```\n(?:<!--.*?-->\n)?```text\n', re.MULTILINE | re.DOTALL)
FEWEST = 140  # a pattern that no longer matches would find none


def functions():
    cases = (ROOT / 'bench/peers/numpy_cases.inc').read_text()
    names = set(re.findall(r'^KG_CASE\("(\w+)', cases, re.MULTILINE))
    for path in (path for pattern in UNITS for path in (ROOT / 'modules').glob(pattern)):
        names |= {each.name for each in interfaces.declarations(path) if each.kind == 'function'}
    return sorted(names)


def named(texts):
    return {name for text in texts for name in re.findall(r'\bkg::((?:\w+::)*\w+)', text)}


def shown():
    """Names that an example of the reference, or a block of a page whose output follows, calls."""
    examples, docs = ROOT / 'examples' / 'reference', ROOT / 'docs'
    lists = [names for path in examples.glob('*.cc') for names in EXAMPLE.findall(path.read_text())]
    blocks = [code for path in docs.glob('*/*.md') for code in OUTPUT.findall(path.read_text())]
    return named(lists) | named(blocks)


def faults(names):
    examples, rows = shown(), page.all_entries()
    in_rows, compared = named(entry.ours for entry in rows), named(entry.code for entry in rows if entry.evaluated)
    for name in names:
        if name not in examples:
            yield f'{name} has no example with output: add one to examples/reference'
        if name not in in_rows:
            yield f'{name} is in no row of tools/dictionary'
        elif name not in compared:
            yield f'no row of {name} is compared with another library: give one a mark `>` or `*`'
    if len(names) < FEWEST:
        yield f'{len(names)} functions, at least {FEWEST}'


if __name__ == '__main__':
    names = functions()
    found = list(faults(names))
    print(*found, f'{len(names)} functions', sep='\n')
    sys.exit(1 if found else 0)
