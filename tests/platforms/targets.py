#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""targets.py ROOT INCLUDES KERNGRAD: `kerngrad list --targets` knows what a CPU needs for each target that Highway's
headers in INCLUDES have for x86, ARM and RISC-V, and says of each that was compiled that it runs here, or why not."""
import json
import pathlib
import re
import subprocess
import sys

ROOT, INCLUDES, KERNGRAD = (pathlib.Path(word) for word in sys.argv[1:])
SKIPPED = 77  # as Meson has it


def targets_of_highway():
    """Those of the three families, whose bits come before those of all others."""
    header = INCLUDES / 'hwy' / 'detect_targets.h'
    if not header.exists():
        print(f'there is no {header}')
        sys.exit(SKIPPED)
    text = header.read_text()
    last = int(re.search(r'^#define HWY_HIGHEST_TARGET_BIT_RVV (\d+)', text, re.MULTILINE)[1])
    return {name for name, bit in re.findall(r'^#define HWY_(\w+) \(1LL << (\d+)\)', text, re.MULTILINE)
            if int(bit) <= last}


def main():
    wanted = targets_of_highway()
    source = ROOT / 'tools' / 'kerngrad' / 'targets.cc'
    known = set(re.findall(r'^    \{"(\w+)", "[^"]+"\},$', source.read_text(), re.MULTILINE))
    if len(wanted) < 10 or wanted - known:
        sys.exit(f'{source.name} does not say what a CPU needs for {sorted(wanted - known)} of {sorted(wanted)}')
    listed = json.loads(subprocess.run([KERNGRAD, 'list', '--targets', '--json'], check=True,
                                       stdout=subprocess.PIPE).stdout)
    page = subprocess.run([KERNGRAD, 'list', '--targets'], check=True, stdout=subprocess.PIPE, text=True).stdout
    for target in listed:
        says = 'supported(, active)?' if target['supported'] else 'not supported by this CPU: .+'
        if not re.search(rf'^{target["name"]}: compiled, {says}$', page, re.MULTILINE):
            sys.exit(f'of {target} it does not say whether it runs here, or why not:\n{page}')
    print(f'{len(wanted)} targets are known, {len(listed)} of them compiled')


if __name__ == '__main__':
    main()
