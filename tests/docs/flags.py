#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flags.py ROOT COMPILER... -- FLAGS...: the flags that docs/modules.md lists are those that BMIs of Clang reject and
accept. FLAGS import the module; the program is the one of README."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
SPLIT = sys.argv.index('--')
COMPILER, FLAGS = sys.argv[2:SPLIT], sys.argv[SPLIT + 1:]
PROGRAM = ROOT / 'examples/readme/start.cc'
# Clang's words for a module that it does not load.
MISMATCH = 'configuration mismatch'
# -O0 to -O3 is a range; the rest of a name that is shown without its value.
MEANT = {'-march=': '-march=native', '-D_FORTIFY_SOURCE=2': '-D_FORTIFY_SOURCE=2 -O2'}
BY_TYPE = 'error where a type differs'  # no program meets all of these


def listed():
    """(flags that must agree, flags that may differ) of the page."""
    page = (ROOT / 'docs/modules.md').read_text()
    must, may = (re.search(rf'^## {title}\n(.*?)^## ', page, re.MULTILINE | re.DOTALL)[1]
                 for title in ('Flags that must agree', 'Flags that may differ'))
    rows = [line.split('|') for line in must.splitlines() if line.startswith('| `')]
    flags = [flag for row in rows if row[2].strip() != BY_TYPE for flag in re.findall('`(.*?)`', row[1])]
    return flags, [flag for flag in re.findall('`(-.*?)`', may) if not flag.startswith('-Db_')]


def said(flag):
    """Messages of the compiler with one more flag; nothing where it takes the program."""
    done = subprocess.run([*COMPILER, *FLAGS, *MEANT.get(flag, flag).split(), '-fsyntax-only', PROGRAM],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ''


def main():
    must, may = listed()
    wrong = [f'{flag} is to be rejected as a {MISMATCH}' for flag in must if MISMATCH not in said(flag)]
    wrong += [f'{flag} is to be accepted:\n{text}' for flag in may if (text := said(flag))]
    print(*wrong, f'{len(must)} flags that must agree, {len(may)} that may differ', sep='\n')
    sys.exit(1 if wrong or not must or not may else 0)


if __name__ == '__main__':
    main()
