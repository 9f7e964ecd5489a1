#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths.py ROOT: paths that pages, and messages and comments in C++, name exist.

A path begins with one of the folders of ROOT. `*` stands for any name, and so does a part in capitals, such as FAMILY
in kernels/FAMILY/FAMILY.cc; `{a,b}` stands for both. The compiler looks for what an #include names.
"""
import glob
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ('bench', 'docs', 'examples', 'grads', 'kernels', 'modules', 'subprojects', 'tests', 'tools')
READ = {'.md', '.cc', '.h', '.inc', '.c'}
PATH = re.compile(r'(?<![\w./$@}*-])(?:' + '|'.join(FOLDERS) + r')/[\w./*{},-]+')
ELSEWHERE = {
    'subprojects/kerngrad',  # in a program's project
    # The family of tests/places.
    'kernels/rank', 'kernels/rank/rank.cc', 'modules/ops/rank', 'grads/rank.cc', 'bench/calls/rank.cc',
}


def files():
    yield from (ROOT / name for name in ('README.md', 'CONTRIBUTING.md'))
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob('*')) if path.is_file() and path.suffix in READ)


def spread(path):
    braces = re.search(r'\{([^{}]*)\}', path)
    if not braces:
        return [path]
    return [each for part in braces.group(1).split(',')
            for each in spread(path[:braces.start()] + part + path[braces.end():])]


def exists(path):
    pattern = re.sub(r'(?<![A-Za-z0-9])[A-Z][A-Z0-9_]*(?![A-Za-z0-9])', '*', path)
    return bool(glob.glob(pattern, root_dir=ROOT))


def missing(file):
    text = re.sub('^#include.*', '', file.read_text(errors='replace'), flags=re.MULTILINE)
    for found in PATH.finditer(text):
        path = found.group(0).rstrip('.,-')
        for each in spread(path):
            if each.rstrip('/') not in ELSEWHERE and not exists(each.rstrip('/')):
                yield text.count('\n', 0, found.start()) + 1, each


def main():
    checked = list(files())
    wrong = [f'{file.relative_to(ROOT)}:{line}: {path} does not exist'
             for file in checked for line, path in missing(file)]
    print(f'{len(checked)} files')
    sys.exit('\n'.join(wrong) or (0 if checked else 'no files'))


if __name__ == '__main__':
    main()
