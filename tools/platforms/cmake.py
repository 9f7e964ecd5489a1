#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cmake.py: the path of a CMake that knows C++ modules, 3.28 or newer: the system's own or, on Debian 12, that of its
backports, unpacked into the user's cache."""
import re
import shutil
import subprocess

import sysroot

WANTED = (3, 28)


def main():
    own = shutil.which('cmake')
    if own:
        said = subprocess.run([own, '--version'], stdout=subprocess.PIPE, text=True).stdout
        if tuple(map(int, re.search(r'(\d+)\.(\d+)', said).groups())) >= WANTED:
            print(own)
            return
    root = sysroot.unpacked('bookworm-backports', sysroot.architecture(), ['cmake', 'cmake-data'], depends=False)
    print(root / 'usr' / 'bin' / 'cmake')


if __name__ == '__main__':
    main()
