#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""publish.py OBJECT OUT: copies the BMI that the compiler wrote next to OBJECT to OUT, if it says something else.

Ninja then knows the BMI as an output, and an interface that compiles to the same BMI causes no rebuilds.

Clang 19 hashes a BMI's imports into its signature in the order of their addresses, so that the 20 bytes of the
signature differ from run to run where nothing else does. Then the old BMI stays, signature and all: importers have
recorded that one. GCC writes into a BMI when it did so.
"""
import os
import pathlib
import re
import shutil
import sys

SIGNATURE_BYTES = 20
TIMES = re.compile(rb'(?:build|local)time: [^\0]*')


def first_difference(a, b):
    """Index of the first byte that differs; the length where none does. Halves the range instead of looping over it."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2 + 1
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def same(a, b):
    """Nothing differs outside a stretch as long as a signature: what the BMI says would show elsewhere too."""
    if TIMES.search(a):
        return TIMES.sub(b'', a) == TIMES.sub(b'', b)
    if len(a) != len(b):
        return False
    start = first_difference(a, b)
    return a[start + SIGNATURE_BYTES:] == b[start + SIGNATURE_BYTES:]


def publish(source, target):
    if not target.exists() or not same(source.read_bytes(), target.read_bytes()):
        # Replaced at once, never written in place: another compiler may be reading the old one.
        fresh = target.with_suffix('.new')
        shutil.copyfile(source, fresh)
        os.replace(fresh, target)


def main():
    object_file, target = map(pathlib.Path, sys.argv[1:3])
    # Called as the object by a compiler that chooses the name, as the target by one that is told it.
    written = [object_file.with_suffix(target.suffix), object_file.with_name(target.name)]
    found = [path for path in written if path.exists()]
    if not found:
        sys.exit(f'publish.py: {written[0]} is missing; delete {object_file} too, so that it is compiled again')
    publish(found[0], target)


if __name__ == '__main__':
    main()
