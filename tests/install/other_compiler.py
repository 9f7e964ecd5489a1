#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""other_compiler.py SOURCE_ROOT BUILD SCRATCH CXX: a program by another compiler than the library's, linked to what is
installed of the library: `kerngrad modules` compiles the interfaces for it, the code stays that of the first compiler.
"""
import os
import pathlib
import shlex
import sys

import prefixes
from prefixes import run


def main():
    root, build, scratch, compiler = *map(pathlib.Path, sys.argv[1:4]), sys.argv[4]
    program = root / 'examples' / 'installed' / 'installed.cc'
    with prefixes.installed(build, prefixes.fresh(scratch / 'target')) as prefix:
        into = prefixes.fresh(scratch / 'modules')
        flags = shlex.split(run([prefix / 'bin' / 'kerngrad', 'modules', '--compiler', compiler, '--into', into]))
        env = {'PKG_CONFIG_PATH': str(next(prefix.rglob('kerngrad.pc')).parent)}
        libs = shlex.split(run(['pkg-config', '--libs', 'kerngrad'], env=env))
        for level in '-O0', '-O2':
            run([compiler, level, *flags, program, *libs, '-o', into / 'program'])
            said = run([into / 'program'], env={'LD_LIBRARY_PATH': ''})
            print(f'ok: {os.path.basename(compiler)} {level}: {said.strip()}')


if __name__ == '__main__':
    main()
