#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bmis.py SOURCES LIST OUT PREFIX LIBDIR INCLUDES KERNGRAD FLAGS... -- COMPILER...: the BMIs that are installed,
and same.h, which says of what compiler they are.

`KERNGRAD modules` makes them of copies that lie as the installed files will below PREFIX: those that SOURCES names
(included.py) in INCLUDES, and LIST, which is libkerngrad.modules.json, in LIBDIR.
"""
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def main():
    sources, listed, out, prefix, libdir, includes, kerngrad, *rest = sys.argv[1:]
    split = rest.index('--')
    flags, compiler = rest[:split], rest[split + 1:]
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / 'prefix'
        for line in pathlib.Path(sources).read_text().splitlines():
            source, name = line.split('\t')
            copy(source, stage / includes / name)
        copy(listed, stage / libdir / 'libkerngrad.modules.json')
        as_installed = pathlib.Path(folder) / 'compiler'
        words = [sys.executable, HERE / 'as_installed.py', stage / includes, pathlib.Path(prefix) / includes, *compiler]
        as_installed.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
        as_installed.chmod(0o755)
        made = pathlib.Path(folder) / 'bmis'
        done = subprocess.run([kerngrad, 'modules', '--list', stage / libdir / 'libkerngrad.modules.json', '--compiler',
                               as_installed, '--into', made, '--', *flags], stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(done.returncode)
        for made_once in [*made.glob('*/*.?cm'), *made.glob('*/same.h')]:
            shutil.copy(made_once, out)
        for by_name in made.glob('*/modules.map'):
            installed = pathlib.Path(prefix) / libdir / 'kerngrad'
            text = by_name.read_text().replace(str(by_name.parent), str(installed))
            (pathlib.Path(out) / 'modules.map').write_text(text)


if __name__ == '__main__':
    main()
