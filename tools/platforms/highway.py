#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""highway.py: the folder of a Highway's headers that compiles for every CPU family, Debian 13's: unpacked into the
user's cache, whatever the system has."""
import subprocess

import sysroot


def main():
    machine = subprocess.run(['dpkg', '--print-architecture'], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(sysroot.unpacked('trixie', machine.strip(), ['libhwy-dev'], depends=False) / 'usr' / 'include')


if __name__ == '__main__':
    main()
