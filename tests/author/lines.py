#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines.py FILE LIMIT...: every file has fewer lines than its limit, the SPDX line and comments included."""
import pathlib
import sys

too_long = False
for name, limit in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    count = len(pathlib.Path(name).read_text().splitlines())
    print(f'{pathlib.Path(name).name}: {count} lines, less than {limit} are wanted')
    too_long = too_long or count >= limit
sys.exit(too_long)
