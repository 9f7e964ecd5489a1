#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promised.py ROOT SOURCE=PROGRAM...: each program prints the arrays that comments of its source promise."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
for argument in sys.argv[2:]:
    name, program = argument.split('=', 1)
    promised = re.findall(r'// (\[.*\])', (root / name).read_text())
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    printed = [line for line in output.splitlines() if line.startswith('[')]
    if not promised or promised != printed:
        sys.exit(f'{name} promises {promised} and prints {printed}')
