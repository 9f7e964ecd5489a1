#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rejected.py ROOT: where a platform cannot be tested, the command says why in one sentence, and nothing is made. Each
case is a PATH that has few programs, of which none does what its name says."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
ROOT_ID, USER_ID = 0, 1000
ALL = {'sudo': 0, 'debootstrap': 0, 'unshare': 0, 'chroot': 0, 'apt-get': 0, 'dpkg': 0, 'ld.lld': 0}
CHROOT, EMULATED, HIGHWAY = 'chroot', 'emulated', 'highway'


def without(*names):
    return {name: code for name, code in ALL.items() if name not in names}


# The command and its arguments, who calls it, the programs that there are and what each returns; what is said.
CASES = [
    ([CHROOT, 'trixie'], USER_ID, without('sudo'), 'there is no sudo: call this as root'),
    ([CHROOT, 'trixie', '--only', 'none'], USER_ID, ALL, 'has no part none: --only takes tests, install, corpus.'),
    ([CHROOT, 'trixie'], ROOT_ID, without('debootstrap'), 'debootstrap is missing: apt-get install debootstrap'),
    ([CHROOT, 'trixie'], ROOT_ID, without('unshare'), 'unshare is missing: apt-get install debootstrap util-linux'),
    ([CHROOT, 'trixie'], ROOT_ID, ALL | {'unshare': 1}, 'Nothing may be mounted here'),
    ([CHROOT, 'trixie'], ROOT_ID, ALL, 'apt knows no mirror of Debian'),
    ([EMULATED, 'arm', '--cpu', 'none'], USER_ID, ALL,
     'has no CPU none: --cpu takes a part of NEON, SVE2 of 128 bits, SVE2 of 256 bits'),
    ([EMULATED, 'arm'], USER_ID, without('ld.lld'), 'apt-get install lld'),
    ([EMULATED, 'arm'], USER_ID, without('dpkg'), 'dpkg is missing'),
    ([HIGHWAY], USER_ID, without('apt-get'), 'apt-get is missing'),
]
# Calls a command as someone, with the programs of PATH and no others.
CALL = """
import os, sys
sys.path.insert(0, sys.argv[1])
user, name = int(sys.argv[2]), sys.argv[3]
command = __import__(name)
os.geteuid = lambda: user
command.SYSTEM_PATH = ''
sys.argv = sys.argv[3:]
command.main()
"""


def main():
    wrong = 0
    for words, user, programs, wanted in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            there, cache = pathlib.Path(scratch, 'bin'), pathlib.Path(scratch, 'cache')
            there.mkdir()
            for name, code in programs.items():
                (there / name).write_text(f'#!/bin/sh\nexit {code}\n')
                (there / name).chmod(0o755)
            done = subprocess.run([sys.executable, '-c', CALL, ROOT / 'tools' / 'platforms', str(user), *words],
                                  env={'PATH': str(there), 'XDG_CACHE_HOME': str(cache)}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            made = [path for path in cache.rglob('*') if path.is_file() and path.suffix != '.lock']
        if done.returncode == 0 or wanted not in done.stderr or done.stderr.count('\n') != 1 or made:
            print(f'{words} as {user} with {", ".join(programs)}: exits with {done.returncode}, makes {made}, says\n'
                  f'{done.stderr}in place of one sentence with: {wanted}')
            wrong += 1
    print(f'{len(CASES)} cases, {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
