#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""times.py TIMES: tools/times.py on logs as Ninja and Meson write them."""
import json
import pathlib
import subprocess
import sys
import tempfile

NINJA_LOG = '\n'.join(['# ninja log v5', '0\t9000\t1\tkernels/a.o\tx', '0\t1500\t1\tkernels/a.o\tx',
                       '500\t3000\t1\tkernels/sub/b.o\ty', '0\t700\t1\tmodules/c.o\tz', '0\t700\t1\tmodules/d.h\tz',
                       '0\t100\t1\tall.txt\tw'])

with tempfile.TemporaryDirectory() as name:
    logs = pathlib.Path(name) / 'meson-logs'
    logs.mkdir()
    (logs.parent / '.ninja_log').write_text(NINJA_LOG)
    tests = [{'name': f'kerngrad:fast / test{i}', 'duration': i + 0.25} for i in range(12)]
    (logs / 'testlog.json').write_text(''.join(json.dumps(test) + '\n' for test in tests))
    bases = [str(logs / 'testlog'), str(logs / 'missing')]
    made = subprocess.run([sys.executable, sys.argv[1], *bases], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in made.splitlines()]
    found = [(words[0], words[2]) for words in lines if len(words) == 3 and words[1] == 's']
    assert found[:2] == [('4.0', 'kernels'), ('0.7', 'modules')], made  # the last run of each step counts
    assert ['0.1', 's', 'the', 'rest'] in lines, made
    assert found[2:] == [(f'{i + 0.25:.1f}', f'test{i}') for i in range(11, 1, -1)], made
