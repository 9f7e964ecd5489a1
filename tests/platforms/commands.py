#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands.py ROOT: ./dev installs what a command takes besides the rest, and runs no tests where a program that some
of them need cannot be had. Stubs stand in for Debian's programs, Python and Meson, and say what they are called for."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / 'tools' / 'platforms'))
import record  # noqa: E402

# Each says its name and arguments. Not installed: valgrind of the packages for tests, and those that few commands take.
STUBS = {
    'apt-get': '',
    'meson': 'exit 1',
    'ninja': 'exit 1',
    'sudo': '"$@"',
    'env': 'shift; "$@"',
    'dpkg-query': 'case $3 in valgrind | lintian | debootstrap | furo | chromium) ;; *) echo installed ;; esac',
    'python3': 'case $1 in */cmake.py) echo no mirror >&2; exit 1 ;; *.py) echo /a/path ;; esac',
}
# The words after ./dev; what is installed, besides valgrind for all but the demo; whether a folder is configured.
CASES = [
    (['demo'], '', True),
    (['test', 'fast'], '', True),
    (['test', 'full'], '', False),
    (['test', 'targets'], '', False),
    (['test', 'install'], '', False),
    (['test', 'peers'], '', True),
    (['test'], '', False),
    (['package', 'deb'], 'lintian debootstrap', False),
    (['package', 'tar'], '', False),
    (['fuzz'], '', True),
    (['fuzz', '--list'], '', False),
    (['docs'], 'furo', True),
    (['docs', '--test'], 'furo chromium', True),
    (['docs', '--check'], '', True),
    (['test', 'readme'], 'debootstrap', False),
] + [(['test', name], 'debootstrap', False) for name in record.platforms_of('platforms.toml')[0]]


def called(folder, words):
    """The lines of the stubs, and what else ./dev says."""
    done = subprocess.run(['/bin/bash', folder / 'dev', *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          env={'PATH': f'{folder / "bin"}:{os.environ["PATH"]}', 'HOME': str(folder)})
    return done.stdout


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for path in 'dev', 'tools/clang.ini':
            (folder / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        (folder / 'bin').mkdir()
        for name, does in STUBS.items():
            says = '' if name == 'dpkg-query' else f'echo "{name}: $*" >&2\n'
            (folder / 'bin' / name).write_text(f'#!/bin/sh\n{says}{does}\n')
            (folder / 'bin' / name).chmod(0o755)
        for words, installed, configured in CASES:
            said = called(folder, words)
            installed = ' '.join(['valgrind'] * (words != ['demo']) + installed.split())
            asked = [line for line in said.splitlines() if line.startswith('== installing ')]
            wanted = [f'== installing {installed}'] if installed else []
            if asked != wanted or ('meson: setup' in said) != configured:
                print(f'./dev {" ".join(words)}: wanted {wanted}, configured: {configured}; it says\n{said}')
                wrong += 1
        # A folder that is there is configured again for what was installed, and only then.
        (folder / 'build').mkdir(exist_ok=True)
        (folder / 'build' / 'build.ninja').touch()
        for words, anew in [(['demo'], False), (['test', 'fast'], True)]:
            said = called(folder, words)
            if ('meson: configure --clearcache build' in said) != anew:
                print(f'./dev {" ".join(words)} in a folder that is there: configured: {not anew}; it says\n{said}')
                wrong += 1
    print(f'{len(CASES)} cases, {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
