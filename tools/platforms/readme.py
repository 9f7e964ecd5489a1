#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme.py: runs the quick start of README, as it is written there, in a new Debian system that has nothing else.

Debootstrap makes the system once, as root or through sudo. It stays in the user's cache. Each run works in a copy.
The program, its meson.build and the commands are cut from README. Prints how long each command took, such as the
first build. Fails if a command fails, or if the program prints something else than README shows.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import time

import chroot
import results
import sysroot
from results import Counts, say

SUITE = 'bookworm'
PROJECT = 'start'
SUDO = '#!/bin/sh\nexec "$@"\n'  # commands run as root
NEVER_ASK = 'APT::Get::Assume-Yes "true";\nAcquire::Check-Valid-Until "false";\n'


def cut(page):
    """(files of the project, commands, output) of the section "Quick start"."""
    section = re.search(r'^## Quick start\n(.*?)^## ', page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r'^```(\w+)\n(.*?)^```\n', section[1] if section else '', re.MULTILINE | re.DOTALL)
    kinds = [kind for kind, _ in blocks]
    if kinds != ['cpp', 'text', 'meson', 'sh']:
        sys.exit(f'README: the quick start has blocks of {kinds}; wanted cpp, text, meson, sh')
    program, output, meson, commands = (text for _, text in blocks)
    return {f'{PROJECT}.cc': program, 'meson.build': meson}, commands.splitlines(), output


def lay_out(system, files, sources):
    """Writes the project into the system, with a copy of the library's `sources` as a subproject."""
    folder = system / PROJECT
    shutil.rmtree(folder, ignore_errors=True)
    library = folder / 'subprojects' / 'kerngrad'
    library.mkdir(parents=True)  # and no folder with a build
    for name, text in files.items():
        (folder / name).write_text(text)
    for path in sources.iterdir():
        if path.is_dir() and not path.name.startswith(('build', '.')):
            shutil.copytree(path, library / path.name)
        elif path.is_file():
            shutil.copy(path, library)


def let_commands_run(system):
    """A `sudo` that does nothing, an apt-get that does not ask, and the names of hosts."""
    for name, text in {'usr/local/bin/sudo': SUDO, 'etc/apt/apt.conf.d/99readme': NEVER_ASK}.items():
        (system / name).parent.mkdir(parents=True, exist_ok=True)
        (system / name).write_text(text)
    (system / 'usr/local/bin/sudo').chmod(0o755)
    for name in 'resolv.conf', 'hosts':
        shutil.copy(pathlib.Path('/etc', name), system / 'etc' / name)


def run(inside, commands, output):
    """Results of the commands, and the seconds of each. `inside` makes of a command the one that runs it there."""
    printed, seconds = '', {}
    for command in commands:
        say(command)
        started = time.monotonic()
        done = subprocess.run(inside(['sh', '-ec', f'cd /{PROJECT}; {command}']), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True)
        printed, seconds[command] = done.stdout, time.monotonic() - started
        print(printed, end='', flush=True)
        if done.returncode:
            print(f'README: this command failed with {done.returncode}: {command}')
            return results.BROKEN, seconds
    if not printed.endswith(output):
        print(f'README shows another output than the program printed:\n{output}')
        return results.BROKEN, seconds
    return Counts(passed=1), seconds


def main():
    files, commands, output = cut((chroot.CHECKOUT / 'README.md').read_text())
    chroot.become_root()
    base = chroot.Chroot(sysroot.CACHE / f'clean-{SUITE}')
    base.make(SUITE)
    system = chroot.Chroot(sysroot.CACHE / f'clean-{SUITE}.readme')
    shutil.rmtree(system.root, ignore_errors=True)
    subprocess.run(['cp', '-a', base.root, system.root], check=True)
    let_commands_run(system.root)
    lay_out(system.root, files, chroot.CHECKOUT)
    env = {'DEBIAN_FRONTEND': 'noninteractive', 'PATH': '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}
    counts, seconds = run(lambda command: system.inside(command, env), ['apt-get -qq update', *commands], output)
    for command, time_taken in seconds.items():
        print(f'{time_taken:7.0f} s  {command}')
    shutil.rmtree(system.root)
    results.close([counts])


if __name__ == '__main__':
    main()
