#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""publish.py OBJECT OUT: copies the BMI that the compiler wrote beside OBJECT to OUT, if its bytes differ.

Ninja then knows the BMI as an output, and an interface that compiles to the same BMI rebuilds nobody.
"""
import filecmp
import os
import pathlib
import shutil
import sys

source = pathlib.Path(sys.argv[1]).with_suffix('.pcm')
target = pathlib.Path(sys.argv[2])
if not source.exists():
    sys.exit(f'publish.py: {source} is missing; delete {sys.argv[1]} too, so that it is compiled again')
if not target.exists() or not filecmp.cmp(source, target, shallow=False):
    # Replaced at once, never written in place: another compiler may be reading the old one.
    fresh = target.with_suffix('.tmp')
    shutil.copyfile(source, fresh)
    os.replace(fresh, target)
