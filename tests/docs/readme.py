#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme.py ROOT SOURCE=PROGRAM...: the first SOURCE is README's first example, and each prints what it says."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
programs = dict(argument.split('=', 1) for argument in sys.argv[2:])
sources = {name: (root / name).read_text().split('\n', 1)[1] for name in programs}  # without the licence's line
shown = re.search(r'```cpp\n(.*?)```', (root / 'README.md').read_text(), re.DOTALL).group(1)
first = next(iter(sources))
if shown != sources[first]:
    sys.exit(f'the first example of README.md is not {first}')
for name, program in programs.items():
    promised = re.findall(r'// (\[.*\])', sources[name])
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    printed = [line for line in output.splitlines() if line.startswith('[')]
    if not promised or promised != printed:
        sys.exit(f'{name} promises {promised} and prints {printed}')
