#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chroot.py PLATFORM: builds and tests the library on a platform of platforms.toml, in a Debian system of its own.

The system is made by debootstrap once, as root or through sudo, and stays in the user's cache with its builds in it:
$XDG_CACHE_HOME/kerngrad, or ~/.cache/kerngrad. The checkout is mounted there, read-only and at its own place; all
mounts are of a namespace that ends with the command. Runs the suite `fast`, those tests of `full` that the platform
names, with all that they try, and the conformance corpus where it lies next to the checkout. The results
go into the table of docs/platforms.md (record.py); the last line sums up.
"""
import argparse
import fcntl
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import record
import results
import sysroot
from results import say

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
CORPUS = CHECKOUT.parent / 'shared' / 'conformance'
COUNT = CHECKOUT / 'tools' / 'count_tests.py'
SYSTEM_PATH = ':/usr/sbin:/sbin'  # where Debian has what makes systems, and a user's PATH may not
# A copy of the unstable branch on a mirror may be older than its index says that it is good for.
APT = ['apt-get', '-qq', '-o', 'Acquire::Check-Valid-Until=false']
ENTER = """
set -e
root=$1 checkout=$2 corpus=$3
shift 3
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for folder in "$checkout" "$corpus"; do
  [ ! -d "$folder" ] || { mkdir -p "$root$folder" && mount --bind -o ro "$folder" "$root$folder"; }
done
exec chroot "$root" "$@"
"""


def become_root():
    """Goes on as root; the cache stays that of the user who called."""
    os.environ['PATH'] += SYSTEM_PATH
    if os.geteuid() != 0:
        if not shutil.which('sudo'):
            sys.exit('A chroot takes root, and there is no sudo: call this as root.')
        os.execvp('sudo', ['sudo', 'env', f'XDG_CACHE_HOME={sysroot.CACHE.parent}', sys.executable, *sys.argv])
    for program in 'debootstrap', 'unshare', 'chroot':
        if not shutil.which(program):
            sys.exit(f'{program} is missing: apt-get install debootstrap util-linux coreutils')
    if subprocess.run(['unshare', '--mount', 'true'], stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit('Nothing may be mounted here (unshare --mount fails): call this on a machine or in a container '
                 'that allows it.')


class Chroot:
    def __init__(self, root):
        self.root = root

    def inside(self, command, env=None):
        """The command that runs a command inside."""
        values = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C.UTF-8'} | (env or {})
        return ['unshare', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER,
                'sh', self.root, CHECKOUT, CORPUS,
                'env', '-i', *[f'{key}={value}' for key, value in values.items()], *command]

    def run(self, command, env=None):
        """Runs a command inside; whether it succeeded."""
        return subprocess.run(self.inside(command, env), stdin=subprocess.DEVNULL).returncode == 0

    def make(self, suite):
        """Debian's base system, once. One that was interrupted is made again."""
        if self.root.exists():
            return
        say(f'making {self.root}')
        fresh = self.root.with_suffix('.new')
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.parent.mkdir(parents=True, exist_ok=True)
        source = sysroot.mirror()
        if subprocess.run(['debootstrap', '--variant=minbase', suite, str(fresh), source]).returncode != 0:
            sys.exit(f'debootstrap could not make Debian\'s {suite} from {source}: see {fresh}/debootstrap')
        fresh.rename(self.root)

    def install(self, packages):
        installed = self.root / 'var' / 'lib' / 'dpkg' / 'info'
        missing = [name for name in packages
                   if not list(installed.glob(f'{name}.list')) + list(installed.glob(f'{name}:*.list'))]
        if not missing:
            return
        say(f'installing {" ".join(missing)}')
        for file in 'resolv.conf', 'hosts':
            shutil.copy(pathlib.Path('/etc', file), self.root / 'etc' / file)
        env = {'DEBIAN_FRONTEND': 'noninteractive'}
        for step in ['update'], ['install', '-y', '--no-install-recommends', *missing], ['clean']:
            if not self.run(APT + step, env):
                sys.exit(f'apt-get {step[0]} failed in {self.root}')


class Build:
    """The build of a platform in its chroot."""

    def __init__(self, chroot, name, data):
        self.chroot, self.data = chroot, data
        self.inside = pathlib.Path('/build', name + str(CHECKOUT).replace('/', '-'))
        self.outside = chroot.root / self.inside.relative_to('/')

    def configure(self):
        """Makes sure that there is a build folder with the platform's options. One with others is made again."""
        options = list(self.data['setup'])
        if platform.machine() == 'x86_64':
            options.append(f'-Dtargets={",".join(self.data["targets"])}')
        chosen, wanted = self.outside / 'options.txt', '\n'.join(options + [f'{self.data["env"]}'])
        if chosen.exists() and chosen.read_text() == wanted:
            return True
        shutil.rmtree(self.outside, ignore_errors=True)
        say(f'configuring {self.outside}')
        if not self.chroot.run(['meson', 'setup', self.inside, CHECKOUT, *options], self.data['env']):
            return False
        chosen.write_text(wanted)
        return True

    def build(self):
        if not self.configure():
            return False
        say(f'building {self.outside}')
        return self.chroot.run(['ninja', '-k', '0', '-C', self.inside], self.data['env'])

    def test(self, name, which, env):
        """Results of the tests that `which` chooses, counted by a log of that name."""
        log = self.outside / 'meson-logs' / f'testlog-{name}'
        for old in log.parent.glob(f'{log.name}.*'):
            old.unlink()
        say(f'testing {self.outside}: {" ".join(which)}')
        command = ['meson', 'test', '-C', self.inside, '--no-rebuild', '--print-errorlogs', '--logbase', log.name]
        if not self.chroot.run([*command, *which], self.data['env'] | env):
            log.with_suffix('.not-ok').touch()
        return results.counted([sys.executable, COUNT, log])

    def parts(self):
        """Commands to run, in this order."""
        return ['tests', *self.data['full'], 'corpus']

    def run(self, parts):
        """{what was run: its Counts}, of these parts."""
        if not self.build():
            return {parts[0]: results.BROKEN}
        found = {}
        for part in parts:
            if part == 'tests':
                found[part] = self.test(part, ['--suite=fast'], {})
            elif part != 'corpus':
                found[part] = self.test(part, ['--suite=full', part], {'KERNGRAD_FULL': '1'})
            elif CORPUS.is_dir():
                say(f'the corpus {CORPUS}')
                runner = self.inside / 'tools' / 'conformance' / 'kerngrad-conformance'
                found[part] = results.counted(self.chroot.inside([runner, CORPUS]))
            else:
                say(f'no corpus: there is no {CORPUS}')
        return found


def main():
    platforms, others = record.platforms_of('platforms.toml')
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('platform', choices=platforms)
    parser.add_argument('--only', metavar='PART', help='one part of it: tests, corpus, or a test of `full`')
    given = parser.parse_args()
    data = platforms[given.platform]
    chroot = Chroot(sysroot.CACHE / data['root'])
    build = Build(chroot, given.platform, data)
    parts = build.parts()
    if given.only not in (None, *parts):
        sys.exit(f'The platform {given.platform} has no part {given.only}: --only takes {", ".join(parts)}.')
    become_root()
    sysroot.CACHE.mkdir(parents=True, exist_ok=True)
    with (sysroot.CACHE / f'{data["root"]}.lock').open('w') as lock:  # platforms share a system
        fcntl.flock(lock, fcntl.LOCK_EX)
        chroot.make(data['suite'])
        chroot.install(others['packages']['always'] + data['packages'])
    started_at = record.commit()
    found = build.run([given.only] if given.only else parts)
    record.record(given.platform, found, started_at, whole=not given.only)
    results.close(found.values())


if __name__ == '__main__':
    main()
