#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py SOURCE PROGRAM PACK: the program prints what the comments of its source say, and the pack is gone."""
import pathlib
import re
import subprocess
import sys

source, program, pack = sys.argv[1:]
promised = re.findall(r'// (\[.*\])', pathlib.Path(source).read_text())
output = subprocess.run([program, pack], check=True, capture_output=True, text=True).stdout.splitlines()
printed = [line for line in output if line.startswith('[')]
if promised != printed or output[0] != 'softshrink 1.0' or output[-1] != 'gone':
    sys.exit(f'{source} promises {promised}, and its program prints {output}')
