#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""included.py BUILD NAME...: the named files of the project or of its build folder and those of theirs that they
include, a line each: where it lies, a tab, and the name under which it is included."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def main():
    folders = [folder / part for folder in (ROOT, pathlib.Path(sys.argv[1])) for part in ('', 'kernels/include')]
    found, waiting = {}, sys.argv[2:]
    while waiting:
        name = waiting.pop()
        place = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if place and name not in found:
            found[name] = place
            waiting += INCLUDE.findall(place.read_text())
    for name, place in sorted(found.items()):
        print(place, name, sep='\t')


if __name__ == '__main__':
    main()
