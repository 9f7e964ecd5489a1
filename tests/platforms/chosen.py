#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chosen.py ROOT: `--cpu` takes the CPUs of emulated.toml whose names have its text, with the builds that they need and
no others; without it all are taken."""
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / 'tools' / 'platforms'))
import emulated  # noqa: E402
import record  # noqa: E402

# A platform, the text, the CPUs.
CASES = [
    ('arm', 'NEON', ['NEON']),
    ('arm', 'SVE2 of 512', ['SVE2 of 512 bits']),
    ('arm', 'SVE2', ['SVE2 of 128 bits', 'SVE2 of 256 bits', 'SVE2 of 512 bits']),
    ('riscv', 'of 128', ['RVV of 128 bits']),
    ('riscv', 'none', []),
]


def main():
    platforms, _ = record.platforms_of('emulated.toml')
    every = [(name, '', [cpu for build in data['builds'] for cpu in build['cpus']]) for name, data in platforms.items()]
    wrong = 0
    for platform, text, wanted in CASES + every:
        builds = emulated.chosen(platforms[platform], text)
        if [cpu for build in builds for cpu in build['cpus']] != wanted or not all(build['cpus'] for build in builds):
            print(f'{platform} --cpu "{text}" takes {builds}')
            wrong += 1
    print(f'{len(CASES + every)} cases, {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
