#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""syntax.py ROOT BUILD INCLUDES SINCE SOURCES... -- COMPILER ARGUMENTS...: compiles kernels for another CPU family,
without code.

BUILD is the build folder, for headers that the build writes. INCLUDES is the folder that Highway's headers lie in;
where they are older than SINCE, HIGHWAY in the environment names newer ones, and without it nothing is compiled. They
are seen through a link of their own: what lies next to them may be this machine's C library. Prints what the compiler
says, and exits 1 when a source does not compile.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77  # as Meson has it
# Highway's headers take most of the time of a source, and are parsed once for all. There is one target: what a kernel
# would have Highway include for others is never read.
PARSED = '''#define HWY_TARGET_INCLUDE "none"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
'''


def version(includes):
    """Highway's, which one of its headers says, and another one later."""
    text = ''.join(pathlib.Path(includes, 'hwy', name).read_text() for name in ('highway.h', 'base.h'))
    return tuple(int(number) for number in re.findall(r'^#define HWY_M(?:AJOR|INOR) (\d+)$', text, re.MULTILINE))


def main():
    split = sys.argv.index('--')
    root, build, includes, since, *sources = sys.argv[1:split]
    if version(includes) < tuple(map(int, since.split('.'))):
        includes = os.environ.get('HIGHWAY')
        if not includes:
            print(f'needs Highway {since}: HIGHWAY=$(python3 tools/platforms/highway.py)')
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(pathlib.Path(includes, 'hwy'), pathlib.Path(folder, 'hwy'))
        command = [*sys.argv[split + 1:], f'-I{root}', f'-I{build}', '-isystem', folder]
        parsed = pathlib.Path(folder, 'parsed')
        subprocess.run([*command, '-xc++-header', '-', '-o', parsed], input=PARSED, text=True, check=True)
        command += ['-include-pch', str(parsed), '-fsyntax-only']

        def compiles(source):
            done = subprocess.run([*command, source], stderr=subprocess.PIPE, text=True)
            print(done.stderr, end='', file=sys.stderr)
            return done.returncode == 0

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(compiles, sources))
    print(f'{sum(results)} of {len(results)} sources compile')
    sys.exit(0 if results and all(results) else 1)


if __name__ == '__main__':
    main()
