#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""syntax.py ROOT INCLUDES SOURCES... -- COMPILER ARGUMENTS...: compiles kernels for another CPU family, without code.

INCLUDES is the folder that Highway's headers lie in. They are seen through a link of their own: what lies beside them
may be this machine's C library. Prints what the compiler says, and exits 1 when a source does not compile.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    split = sys.argv.index('--')
    root, includes, *sources = sys.argv[1:split]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(pathlib.Path(includes, 'hwy'), pathlib.Path(folder, 'hwy'))
        command = [*sys.argv[split + 1:], '-fsyntax-only', f'-I{root}', '-isystem', folder]

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
