#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py NAMES WRITTEN COMPILER FLAGS...: `import kerngrad;` shows programs the names in the file NAMES, no others.

Names are visible if the compiler proposes to complete `kg::`, and each namespace in it. The list as it is now is
written to the file WRITTEN: where a change of it is meant, it takes the place of NAMES.
"""
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap


def run(command, lines, *more):
    """Output of the compiler for a program that imports kerngrad."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / 'importer.cc'
        source.write_text('import kerngrad;\n' + '\n'.join(lines) + '\n')
        command = [*command, '-fsyntax-only', '-fno-color-diagnostics', '-ferror-limit=0', str(source)]
        command += [argument.replace('importer.cc', str(source)) for argument in more]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    return done.stdout, done.stderr


def members(command, namespace):
    """The names in a namespace, without those of constructors, specialisations and guides, which are their class's."""
    line = f'auto x = {namespace}::'
    text, _ = run(command, [line], '-Xclang', f'-code-completion-at=importer.cc:2:{len(line) + 1}')
    found = re.findall(r'^COMPLETION: (operator\S+|\w+) :', text, re.MULTILINE)
    found += re.findall(r'^COMPLETION: (\w+)$', text, re.MULTILINE)
    return sorted({f'{namespace}::{name}' for name in found})


def namespaces(command, names):
    """Those of the names that are a namespace's."""
    plain = [name for name in names if re.fullmatch(r'[\w:]+', name)]
    _, text = run(command, [f'namespace probe_{i} = {name};' for i, name in enumerate(plain)])
    refused = {int(line) - 2 for line in re.findall(r'importer\.cc:(\d+):\d+: error', text)}
    return [name for i, name in enumerate(plain) if i not in refused]


def exported(command):
    names = members(command, 'kg')
    for namespace in [*namespaces(command, names), 'kg::detail']:
        names += members(command, namespace)
    return sorted(names)


def as_text(names):
    """The names in lines, those of a namespace and a first letter together, so that a change stays in its place."""
    def place(name):
        namespace, _, last = name.rpartition('::')
        return namespace, last[0]
    groups = itertools.groupby(sorted(names, key=lambda name: (*place(name), name)), place)
    return ''.join(textwrap.fill(' '.join(names), 120) + '\n' for _, names in groups)


def main():
    names, written, command = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    now, listed = exported(command), sorted(names.read_text().split())
    if not now:
        sys.exit('the compiler proposes no name at all')
    written.write_text(as_text(now))
    for name in sorted(set(now) - set(listed)):
        print(f'{name} is exported, and not in {names.name}')
    for name in sorted(set(listed) - set(now)):
        print(f'{name} is in {names.name}, and not exported')
    if now != listed:
        sys.exit(f'if that is meant, put {written} in the place of {names}')


if __name__ == '__main__':
    main()
