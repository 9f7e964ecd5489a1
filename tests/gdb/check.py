#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py GDB PRINTERS LIBRARY PROBE: gdb shows tensors as to_string writes them.

The printers lie where gdb looks for what belongs to the library, so it is gdb that loads them.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    gdb, printers, library, probe = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scripts:
        real = pathlib.Path(library).resolve()
        place = pathlib.Path(scripts + str(real.parent)) / (real.name + '-gdb.py')
        place.parent.mkdir(parents=True)
        place.write_bytes(pathlib.Path(printers).read_bytes())
        commands = ['break look_at', 'commands', 'silent', 'printf "gdb "', 'output dims', 'echo \\ ', 'output x',
                    'echo \\nend\\n', 'continue', 'end', 'run', 'set print elements 3', 'quit']
        script = pathlib.Path(scripts) / 'commands'
        script.write_text('\n'.join(commands) + '\n')
        done = subprocess.run([gdb, '-nx', '--batch', '-iex', f'set auto-load scripts-directory {scripts}', '-iex',
                               'set auto-load safe-path /', '-x', script, probe], capture_output=True, text=True)
    said = {who: [re.sub(r'\s', '', text) for text in re.findall(rf'^{who} (.*?)\nend$', done.stdout, re.M | re.S)]
            for who in ('tensor', 'gdb')}
    if len(said['tensor']) < 16 or said['tensor'] != said['gdb']:
        sys.exit(f'{said}\n{done.stdout}\n{done.stderr}')


if __name__ == '__main__':
    main()
