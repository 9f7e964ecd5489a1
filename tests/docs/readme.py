#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme.py ROOT PROGRAM: README's first example is examples/custom_op.cc, and prints what its comments say."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
shown = re.search(r'```cpp\n(.*?)```', (root / 'README.md').read_text(), re.S).group(1)
source = (root / 'examples' / 'custom_op.cc').read_text().split('\n', 1)[1]  # without the licence's line
if shown != source:
    sys.exit('the first example of README.md is not examples/custom_op.cc')
promised = re.findall(r'// (\[.*\])', source)
output = subprocess.run([sys.argv[2]], check=True, capture_output=True, text=True).stdout
printed = [line for line in output.splitlines() if line.startswith('[')]
if promised != printed:
    sys.exit(f'examples/custom_op.cc promises {promised} and prints {printed}')
