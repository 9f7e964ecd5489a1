#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py LIBRARY NM: the shared library exports no more than importers can name.

The parts of a kernel are its own: the functions for each CPU target, of which its entry point calls one, their
tables, Highway. Entry points are exported, because the span API calls them from the importer's code.
"""
import re
import subprocess
import sys

INNER = re.compile(r'(kerngrad::kernels::(reference::)?N_[A-Z]|\bhwy::|_on_targets\b|kerngrad::kernels::target_index)')
ENTRY = re.compile(r'^kerngrad::kernels::(reference::)?(\w+)\(')


def main():
    library, nm = sys.argv[1:3]
    text = subprocess.run([nm, '--dynamic', '--defined-only', '--demangle', library], check=True, capture_output=True,
                          text=True).stdout
    names = [line.split(maxsplit=2)[2] for line in text.splitlines() if len(line.split(maxsplit=2)) == 3]
    inner = [name for name in names if INNER.search(name)]
    entries = [name for name in names if ENTRY.search(name)]
    print(f'{len(names)} symbols, {len(entries)} of them entry points of kernels, {len(inner)} hidden from programs')
    if not entries:
        sys.exit('no entry point of a kernel is exported: the span API needs them')
    if inner:
        sys.exit('exported, and no importer can name it: ' + ', '.join(inner[:5]))


if __name__ == '__main__':
    main()
