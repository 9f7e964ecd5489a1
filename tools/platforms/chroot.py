#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chroot.py PLATFORM: builds and tests the library on a platform of platforms.toml, in a Debian system of its own.

The system is made by debootstrap once, as root or through sudo, and stays in the user's cache with its builds in it:
$XDG_CACHE_HOME/kerngrad, or ~/.cache/kerngrad. The checkout is mounted there, read-only and at its own place; all
mounts are of a namespace that ends with the command. Runs the suite `fast`, those tests of `full` that the platform
names, and the conformance corpus where it lies beside the checkout. What they gave is taken down for README's table
(record.py); the last line sums up.
"""
import argparse
import fcntl
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tomllib

import record
import sysroot

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
CORPUS = CHECKOUT.parent / 'shared' / 'conformance'
# Few, because kernels take long to compile: one whose tails are masked, one whose tails are not, and the worst.
TARGETS = {'x86_64': ['-Dtargets=AVX3,AVX2,SSE2']}
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


def say(text):
    print(f'== {text}', flush=True)


def become_root(cache):
    """Goes on as root; the cache stays that of the user who called."""
    if os.geteuid() != 0:
        if not shutil.which('sudo'):
            sys.exit('A chroot takes root, and there is no sudo: call this as root.')
        os.execvp('sudo', ['sudo', sys.executable, *sys.argv, '--cache', str(cache)])
    for program in 'debootstrap', 'unshare', 'chroot':
        if not shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin'):
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
        """Debian's base system, once. One that was interrupted is made anew."""
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
        self.logs = [self.outside / 'meson-logs' / 'testlog']

    def build(self):
        if not (self.outside / 'build.ninja').exists():
            say(f'configuring {self.outside}')
            options = TARGETS.get(platform.machine(), []) + ['-Dbenchmarks=disabled', *self.data['setup']]
            if not self.chroot.run(['meson', 'setup', self.inside, CHECKOUT, *options], self.data['env']):
                return False
        say(f'building {self.outside}')
        return self.chroot.run(['ninja', '-k', '0', '-C', self.inside], self.data['env'])

    def test(self, log, *which):
        say(f'testing {self.outside}: {" ".join(which)}')
        command = ['meson', 'test', '-C', self.inside, '--no-rebuild', '--print-errorlogs', '--logbase', log.name]
        if not self.chroot.run([*command, *which], self.data['env']):
            log.with_suffix('.not-ok').touch()

    def test_all(self):
        for old in self.logs[0].parent.glob('testlog*'):
            old.unlink()
        if not self.build():
            return
        self.test(self.logs[0], '--suite=fast')
        if self.data['full']:
            self.logs.append(self.logs[0].with_name('testlog-full'))
            self.test(self.logs[-1], '--suite=full', *self.data['full'])

    def results(self):
        """{what was run: (passed, failed)}, by the closing lines of the tests and the corpus."""
        found = {'tests': counted([sys.executable, CHECKOUT / 'tools' / 'count_tests.py', *self.logs])}
        if CORPUS.is_dir():
            say(f'the corpus {CORPUS}')
            runner = self.inside / 'tools' / 'conformance' / 'kerngrad-conformance'
            found['corpus'] = counted(self.chroot.inside([runner, CORPUS]))
        return found


def counted(command):
    """(passed, failed) of a command's closing line; one that has none has failed."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end='', flush=True)
    found = re.findall(r'^(\d+) passed, (\d+) failed', done.stdout, re.MULTILINE)
    return tuple(map(int, found[-1])) if found else (0, 1)


def main():
    platforms = tomllib.loads((HERE / 'platforms.toml').read_text())
    packages = platforms.pop('packages')['always']
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('platform', choices=platforms)
    parser.add_argument('--cache', type=pathlib.Path, default=sysroot.CACHE, help='where the systems are kept')
    given = parser.parse_args()
    data = platforms[given.platform]
    become_root(given.cache)
    chroot = Chroot(given.cache / data['root'])
    given.cache.mkdir(parents=True, exist_ok=True)
    with (given.cache / f'{data["root"]}.lock').open('w') as lock:  # platforms share a system
        fcntl.flock(lock, fcntl.LOCK_EX)
        chroot.make(data['suite'])
        chroot.install(packages + data['packages'])
    build = Build(chroot, given.platform, data)
    tested = record.commit()
    build.test_all()
    results = build.results()
    record.record(given.platform, results, tested)
    passed, failed = map(sum, zip(*results.values()))
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or not passed else 0)


if __name__ == '__main__':
    main()
