#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""as_installed.py HERE THERE COMPILER ARGUMENTS...: runs the compiler on sources in the folder HERE as if they lay in
THERE, which is what a BMI of Clang then says, to importers and debuggers; it holds the text of these files, so that it
can be read where they have moved.

The driver wants its input to exist. So it is asked for the command of the compiler proper, and that gets the other
name, with a file system that has HERE's files there. Other compilers' BMIs are read without the sources.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def proper_command(command):
    """The command that the driver would run, or none where it runs none or several, as when it only says what it is."""
    said = subprocess.run([*command, '-###'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = [shlex.split(line) for line in said.splitlines() if ' "-cc1" ' in line]
    return found[0] if len(found) == 1 else None


def main():
    here, there, *command = sys.argv[1:]
    if '--precompile' not in command:
        os.execvp(command[0], command)
    embedded = [f'-fmodules-embed-file={path}' for path in sorted(pathlib.Path(here).rglob('*')) if path.is_file()]
    for argument in embedded:
        command += ['-Xclang', argument]
    proper = proper_command(command)
    if not proper:
        sys.exit(f'as_installed.py: {command[0]} -### does not tell which command it runs')
    proper = [word.replace(here, there) for word in proper]
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as overlay:
        root = {'name': there, 'type': 'directory-remap', 'external-contents': here}
        json.dump({'version': 0, 'use-external-names': False, 'roots': [root]}, overlay)
        overlay.flush()
        sys.exit(subprocess.run([*proper, '-ivfsoverlay', overlay.name]).returncode)


if __name__ == '__main__':
    main()
