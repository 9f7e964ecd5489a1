#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""highway.py: the folder of a Highway's headers that compiles for every CPU family, Debian 13's: unpacked into the
user's cache, whatever the system has."""
import sysroot


def main():
    print(sysroot.unpacked('trixie', sysroot.architecture(), ['libhwy-dev'], depends=False) / 'usr' / 'include')


if __name__ == '__main__':
    main()
