#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths.py ROOT: the paths that pages and messages name exist. A page's paths are those of its text and its code, a
message's those of a string in the library's sources and in the programs that must not compile."""
import pathlib
import re
import sys
import tempfile

FOLDERS = 'modules|kernels|grads|tests|tools|bench|docs|examples'
PATH = re.compile(rf'(?<![\w./-])(?:{FOLDERS})/[\w./*-]*\w')
PAGES = ('*.md', 'docs/**/*.md')
SOURCES = ('modules/**/*', 'kernels/**/*', 'grads/**/*', 'tests/fail/*')
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"|^// error: (.*)', re.MULTILINE)
# A family F, a NAME: what stands for others. CONTRIBUTING.md shows a family that tests/places has.
PLACEHOLDER = re.compile(r'(?<![a-z])[A-Z]+(?![a-z])')
SCRATCH = ('tests/places/rank',)
# The numbers of CHANGELOG.md's old versions are of files as they were.
HISTORY = 'CHANGELOG.md'


def texts(root):
    """(where, text) of all that is looked at."""
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            if path.name != HISTORY:
                yield path.relative_to(root), path.read_text()
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            if path.suffix in ('.cc', '.h', '.inc'):
                text = re.sub(r'^#include .*', '', path.read_text(), flags=re.MULTILINE)
                yield path.relative_to(root), '\n'.join(one or other for one, other in STRING.findall(text))


def is_there(root, path):
    return PLACEHOLDER.search(path) or any(any((root / folder).glob(path)) for folder in ('', *SCRATCH))


def wrong_paths(root):
    for where, text in texts(root):
        for path in sorted(set(PATH.findall(text))):
            if not is_there(root, path):
                yield f'{where}: there is no {path}'


def check_rules():
    """The rules find a path that is not there, in a page and in a message, and no other."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        files = {'README.md': 'See `modules/a.cc`, modules/b.cc, kernels/F.cc and build/tools/x.',
                 'modules/a.cc': '#include "kernels/x.h"\n// modules/c.cc\nf("modules/rows_*.cc, as modules/a.cc");',
                 'tests/fail/one.cc': '// error: see grads/*.cc\n// of grads/d.cc\n', 'CHANGELOG.md': 'tools/gone.py'}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = list(wrong_paths(root))
        wanted = ['README.md: there is no modules/b.cc', 'modules/a.cc: there is no modules/rows_*.cc',
                  'tests/fail/one.cc: there is no grads/*.cc']
        if found != wanted:
            sys.exit(f'the rules find {found}, and not {wanted}')


def main():
    check_rules()
    found = list(wrong_paths(pathlib.Path(sys.argv[1])))
    print(*found, sep='\n')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
