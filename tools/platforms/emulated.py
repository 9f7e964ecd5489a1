#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""emulated.py PLATFORM: builds the library for a CPU family of emulated.toml and runs its tests under qemu-user.

The system to build against and the emulator are unpacked once into the user's cache (sysroot.py), next to the
builds. Runs the tests of kernels, of every op, of gradients and of packs, the conformance corpus where it lies next to
the checkout, and the demo where the data is, on each CPU that the file names. The results go into the table of
docs/platforms.md (record.py); the last line sums up.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import instructions
import record
import results
import sysroot
from results import Counts, say

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
CORPUS = CHECKOUT.parent / 'shared' / 'conformance'
IMAGES = pathlib.Path('/usr/share/datasets/fashion-mnist')
TESTS = re.compile(r'kernels_\w+|math|every_op|exact_bits|gradients|packs')
TOOLS = ['tools/conformance/kerngrad-conformance', 'tools/demo/kerngrad-demo']
# After clang.ini, whose compilers and constants it goes on with.
CROSS = """
[binaries]
cpp = [cpp] + {where}
c = [c] + {where}
cpp_ld = 'lld'
c_ld = 'lld'
pkgconfig = 'pkg-config'
cmake = 'cmake'
exe_wrapper = {qemu}

[built-in options]
cpp_args = {compile}
c_args = {compile}

[properties]
sys_root = {root}
pkg_config_libdir = {pkgconfig}

[cmake]
CMAKE_EXE_LINKER_FLAGS = '-fuse-ld=lld'
CMAKE_PREFIX_PATH = {prefix}

[host_machine]
system = 'linux'
cpu_family = {family}
cpu = {family}
endian = 'little'
"""


def quoted(value):
    """As Meson writes it."""
    return f'[{", ".join(map(quoted, value))}]' if isinstance(value, list) else f"'{value}'"


class Build:
    """One build of a platform, and its runs."""

    def __init__(self, platform, data, build, root, qemu):
        self.folder = sysroot.CACHE / 'builds' / (f'{platform}-{build["name"]}' + str(CHECKOUT).replace('/', '-'))
        self.data, self.build_data, self.root, self.qemu = data, build, root, qemu
        self.compared = data.get('compared', {})

    def cross_file(self):
        """The compilers that ./dev uses, for another machine."""
        where = [f'--target={self.data["triple"]}', f'--sysroot={self.root}']
        libraries = self.root / 'usr' / 'lib' / self.data['triple'] / 'pkgconfig'
        values = {'where': where, 'qemu': self.qemu, 'compile': self.build_data['compile'], 'root': self.root,
                  'pkgconfig': [libraries, self.root / 'usr' / 'share' / 'pkgconfig'], 'prefix': self.root / 'usr',
                  'family': self.data['family']}
        return CROSS.format(**{name: quoted(value) for name, value in values.items()})

    def build(self):
        """True if there are tests and tools now. Their names are those of the tests that are to be run."""
        cross, wanted = self.folder / 'cross.ini', self.cross_file()
        if cross.exists() and cross.read_text() != wanted:  # other packages, or another emulator
            shutil.rmtree(self.folder)
        if not (self.folder / 'build.ninja').exists():
            say(f'configuring {self.folder}')
            self.folder.mkdir(parents=True, exist_ok=True)
            cross.write_text(wanted)
            benchmarks = 'enabled' if self.compared else 'disabled'
            files = '--cross-file', CHECKOUT / 'tools' / 'clang.ini', '--cross-file', cross
            if subprocess.run(['meson', 'setup', self.folder, CHECKOUT, *files,
                               f'-Dbenchmarks={benchmarks}']).returncode != 0:
                return False
        described = json.loads(subprocess.run(['meson', 'introspect', '--tests', self.folder], check=True,
                                              stdout=subprocess.PIPE).stdout)
        self.tests = sorted({test['name'] for test in described if TESTS.fullmatch(test['name'])} -
                            {test['name'] for test in described if test['suite'] == [f'kerngrad:full']})
        needed = [word for test in described if test['name'] in self.tests for word in test['cmd'] + test['depends']]
        files = {target['id']: target['filename'] for target in json.loads(subprocess.run(
            ['meson', 'introspect', '--targets', self.folder], check=True, stdout=subprocess.PIPE).stdout)}
        outputs = {file for word in needed for file in files.get(word, [word]) if str(self.folder) in file}
        say(f'building {self.folder}')
        names = [os.path.relpath(file, self.folder) for file in sorted(outputs)]
        if self.compared:
            names += ['bench/peers/cases', *{f'bench/peers/peer_{beside["peer"]}' for beside in self.compared.values()}]
        return subprocess.run(['ninja', '-C', self.folder, *names, *TOOLS]).returncode == 0

    def run(self, cpu):
        """The Counts of tests, corpus, demo and comparisons, each in turn."""
        env = os.environ | {'QEMU_CPU': cpu}
        log = self.folder / 'meson-logs' / f'testlog-{re.sub("[^a-z0-9]+", "-", cpu)}'
        for old in log.parent.glob(f'{log.name}.*'):
            old.unlink()
        say(f'testing {self.folder} on {cpu}')
        done = subprocess.run(['meson', 'test', '-C', self.folder, '--no-rebuild', '--print-errorlogs',
                               '--logbase', log.name, '--timeout-multiplier', '20', *self.tests], env=env)
        if done.returncode != 0:
            log.with_suffix('.not-ok').touch()
        yield results.counted([sys.executable, CHECKOUT / 'tools' / 'count_tests.py', log])
        if CORPUS.is_dir():
            say(f'the corpus {CORPUS} on {cpu}')
            yield results.counted([*self.qemu, self.folder / TOOLS[0], CORPUS], env)
        else:
            say(f'no corpus: there is no {CORPUS}')
        if IMAGES.is_dir():
            say(f'the demo on {cpu}')
            done = subprocess.run([*self.qemu, self.folder / TOOLS[1], '--model', 'cnn', '--limit', '256',
                                   '--epochs', '1'], env=env, stdin=subprocess.DEVNULL)
            yield Counts(passed=1) if done.returncode == 0 else results.BROKEN
        else:
            say(f'no demo: there is no {IMAGES}')
        if self.compared:
            yield self.compare(cpu, env)

    def compare(self, cpu, env):
        """The Counts of the comparisons of instructions, which it prints."""
        say(f'instructions executed on {cpu}, for each element or multiply-add')
        found = []
        for line, good in instructions.compare(self.compared, self.qemu, env, self.folder):
            print(line, flush=True)
            found.append(good)
        return Counts(found.count(True), found.count(False))


def chosen(data, text):
    """The builds of a platform with those of their CPUs whose name has the text; none without a CPU."""
    builds = [build | {'cpus': {name: cpu for name, cpu in build['cpus'].items() if text in name}}
              for build in data['builds']]
    return [build for build in builds if build['cpus']]


def main():
    platforms, others = record.platforms_of('emulated.toml')
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('platform', choices=platforms)
    parser.add_argument('--cpu', default='', metavar='TEXT', help='only CPUs whose name in docs/platforms.md has it')
    given = parser.parse_args()
    data = platforms[given.platform]
    builds = chosen(data, given.cpu)
    if not builds:
        sys.exit(f'The platform {given.platform} has no CPU {given.cpu}: --cpu takes a part of '
                 f'{", ".join(cpu for build in data["builds"] for cpu in build["cpus"])}.')
    if not shutil.which('ld.lld'):
        sys.exit('A linker for other machines is missing: apt-get install lld')
    emulator = data['emulator']
    unpacked = sysroot.unpacked(emulator['suite'], sysroot.architecture(), [emulator['package']], depends=False)
    root = sysroot.unpacked(data['suite'], data['architecture'], others['packages']['always'] + data['packages'])
    qemu = [str(unpacked / 'usr' / 'bin' / emulator['program']), '-L', str(root)]
    found = {}
    started_at = record.commit()
    for build in builds:
        one = Build(given.platform, data, build, root, qemu)
        built = one.build()
        for name, cpu in build['cpus'].items():
            found[name] = results.total(one.run(cpu)) if built else results.BROKEN
    record.record(given.platform, found, started_at, whole=not given.cpu)
    results.close(found.values())


if __name__ == '__main__':
    main()
