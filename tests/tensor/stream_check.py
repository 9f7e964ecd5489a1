#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py LIBRARY OBJDUMP: the loops for results that no cache can hold store past the caches, on every target.

Bits cannot tell (tests/tensor/stream.cc); the instructions can: each loop has non-temporal stores and ends with a
fence.
"""
import collections
import re
import subprocess
import sys


def main():
    library, objdump = sys.argv[1:3]
    listing = subprocess.Popen([objdump, '-d', '--no-show-raw-insn', library], stdout=subprocess.PIPE, text=True)
    loops, wrong, inside = collections.Counter(), [], None
    stores = fences = 0
    for line in listing.stdout:
        start = re.match(r'^[0-9a-f]+ <(\S+)>:', line)
        if start:
            if inside and not (stores and fences):
                wrong.append(inside)
            inside = start.group(1) if 'stream_loop' in start.group(1) and '@plt' not in start.group(1) else None
            stores = fences = 0
            if inside:
                loops[re.search(r'\dN_(\w+?)11stream_loop', inside).group(1)] += 1
        elif inside:
            stores += bool(re.search(r'\bv?movnt', line))
            fences += 'sfence' in line
    print('streaming loops:', dict(loops))
    if not loops or wrong:
        sys.exit(f'{len(wrong)} loops without non-temporal stores or without a fence, such as {wrong[:3]}')


if __name__ == '__main__':
    main()
