#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rights.py BUILD [--destdir DIR]: whether all that `meson install` would write may be written by who calls this.

Meson learns of it file by file, stops at the first one that fails, and leaves the others. If a folder may
not be written, prints a sentence with what to do, and exits 1.
"""
import argparse
import json
import os
import pathlib
import sys


def hindrance(folder):
    """The obstacle to new files in a folder that may not exist yet, if any."""
    there = folder
    while not os.path.lexists(there):
        there = there.parent
    if not there.is_dir():
        return f'{there} is no folder'
    return None if os.access(there, os.W_OK | os.X_OK) else f'{there} is not yours to write'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--destdir', default=os.environ.get('DESTDIR', ''))
    given = parser.parse_args()
    described = given.build / 'meson-info' / 'intro-installed.json'
    if not described.exists():
        sys.exit(f'{given.build} is no build folder: meson setup {given.build}')
    folders = {pathlib.Path(given.destdir + place).parent for place in json.loads(described.read_text()).values()}
    found = sorted({what for what in map(hindrance, folders) if what})
    if found:
        more = f' (and {len(found) - 1} more)' if len(found) > 1 else ''
        sys.exit(f'{found[0]}{more}: install as a user who may write there, such as root, or into another place, by '
                 f'`meson configure {given.build} --prefix=PLACE`')


if __name__ == '__main__':
    main()
