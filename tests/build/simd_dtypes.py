#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""simd_dtypes.py ROOT BUILD COMPILER...: the option simd_dtypes rejects a wrong name and lists the dtypes, all of which
the header of this build has.

Configuring ends at the wrong name: it takes seconds.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, BUILD, COMPILER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
WRONG = ['float32,flaot', 'boolean', 'all,float32']


def message(names):
    """Meson's error for these names."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([os.environ.get('MESON', 'meson'), 'setup', folder, ROOT, f'-Dsimd_dtypes={names}'],
                              env=os.environ | {'CXX': ' '.join(COMPILER)}, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = re.search(r'ERROR: .*the option simd_dtypes wants .* which are (.*); got (.*)', done.stdout)
    if done.returncode == 0 or not found:
        sys.exit(f'-Dsimd_dtypes={names} is not rejected:\n{done.stdout[-2000:]}')
    return set(found[1].split(', ')), found[2]


header = (BUILD / 'kernels' / 'common' / 'simd_dtypes.h').read_text()
listed = re.findall(r'^  X\((\w+), .*"(\w+)"', (ROOT / 'kernels' / 'common' / 'abi.h').read_text(), re.MULTILINE)
assert len(listed) > 10
assert re.findall(r'#define KG_SIMD_(\w+) [01]', header) == [identifier for identifier, _ in listed], header
for names in WRONG:
    dtypes, got = message(names)
    assert dtypes == {name for _, name in listed}, dtypes
    assert got in names.split(','), got
print(f'{len(WRONG)} wrong lists are rejected with the {len(listed)} dtypes')
