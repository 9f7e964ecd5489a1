#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package.py deb|tar: Debian packages or a source archive of what is committed, into build-packages/, and whether they
work.

deb: builds the packages, lets lintian look at them, installs them in a Debian system that has nothing else, and builds
and runs examples/installed there; as root or through sudo, for the chroot.
tar: the archive that `meson dist` makes, and kerngrad.wrap, by which a project of Meson takes it as a subproject; what
is unpacked of it passes its own suite `fast`.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / 'build-packages'
sys.path[:0] = [str(ROOT / 'tools'), str(ROOT / 'tools' / 'platforms')]
import chroot  # noqa: E402
import sysroot  # noqa: E402
from llvm_version import CLANG_INI, llvm_version  # noqa: E402

SUITE = 'bookworm'


def run(command, cwd=ROOT):
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        sys.exit(f'package.py: {words[0]} is missing: ./dev package {sys.argv[1]} installs what it takes')
    if done.returncode != 0:
        sys.exit(f'package.py: {" ".join(words[:8])} failed')


def said(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# ---------------------------------------------------------------------------------------------------- deb

def values():
    """Facts that the packages' files leave open: they are elsewhere in the project."""
    version = re.search(r"version: '([0-9.]+)'", (ROOT / 'meson.build').read_text())[1]
    return {'VERSION': version, 'LLVM': llvm_version(), 'MAINTAINER': said('git', 'log', '-1', '--format=%an <%ae>'),
            'DATE': said('git', 'log', '-1', '--format=%aD')}


def soversion(source):
    """The version in the shared library's soname, as a build of the source would link it."""
    build = source.with_suffix('.configured')
    parts = [f'-D{name}=disabled' for name in ('tests', 'tools', 'benchmarks')]
    run(['meson', 'setup', fresh(build), source, '--native-file', CLANG_INI, *parts])
    found = re.search(r'-soname,libkerngrad\.so\.([0-9.]+)', (build / 'build.ninja').read_text())[1]
    shutil.rmtree(build)
    return found


def filled_in(template, known):
    return re.sub(r'@([A-Z]+)@', lambda key: known[key[1]], template)


def unpack(folder):
    """The committed files, with the folder debian/ filled in."""
    archive = folder.with_suffix('.tar')
    run(['git', 'archive', '-o', archive, 'HEAD'])
    run(['tar', '-xf', archive, '-C', fresh(folder)])
    archive.unlink()
    known = {**values(), 'SOVERSION': soversion(folder)}
    for template in (folder / 'tools' / 'packaging' / 'debian').rglob('*'):
        if not template.is_file():
            continue
        name = str(template.relative_to(folder / 'tools' / 'packaging')).removesuffix('.in')
        to = folder / filled_in(name, known)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(filled_in(template.read_text(), known))
        shutil.copymode(template, to)


def check_in_clean_system(packages):
    base = chroot.Chroot(sysroot.CACHE / f'clean-{SUITE}')
    base.make(SUITE)
    with_packages = chroot.Chroot(sysroot.CACHE / f'clean-{SUITE}.packages')
    shutil.rmtree(with_packages.root, ignore_errors=True)
    run(['cp', '-a', base.root, with_packages.root])
    with_packages.install(['make', 'pkg-config'])
    if not with_packages.run([*chroot.APT, 'install', '-y', '--no-install-recommends', *packages]):
        sys.exit('package.py: the packages do not install where nothing else is')
    example = ('cp -r "$1" /tmp/example && cd /tmp/example && make CXX="$2" && ./installed && '
               'kerngrad list --targets && kerngrad modules --compiler "$2" --into /tmp/modules')
    compiler = f'clang++-{values()["LLVM"]}'
    good = with_packages.run(['sh', '-ec', example, 'sh', ROOT / 'examples' / 'installed', compiler])
    shutil.rmtree(with_packages.root)
    if not good:
        sys.exit('package.py: examples/installed does not build or run where only the packages are')


def deb():
    chroot.become_root()
    source = fresh(OUT / 'deb') / 'kerngrad'
    unpack(source)
    run(['dpkg-buildpackage', '--unsigned-source', '--unsigned-changes', '--build=binary'], cwd=source)
    changes = next(source.parent.glob('*.changes'))
    run(['lintian', '--fail-on', 'error,warning', '--allow-root', changes])
    packages = sorted(path for path in source.parent.glob('*.deb') if 'dbgsym' not in path.name)
    check_in_clean_system(packages)
    for path in packages:
        print(f'{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT)}')


# ---------------------------------------------------------------------------------------------------- tar

ASKS = """project('asks', 'cpp', default_options: ['cpp_std=c++20'])
dependency('{name}')
"""


def check_wrap(archive, provided):
    """Whichever part of the library a project asks for first, the wrap finds it; what it is then compiled to, other
    tests try."""
    project = fresh(archive.parent / 'project')
    (project / 'subprojects' / 'packagefiles').mkdir(parents=True)
    shutil.copy(archive, project / 'subprojects' / 'packagefiles')
    shutil.copy(archive.parent / 'kerngrad.wrap', project / 'subprojects')
    for name in provided:
        (project / 'meson.build').write_text(ASKS.format(name=name))
        run(['meson', 'setup', f'build-{name}', '--force-fallback-for=kerngrad', '-Dkerngrad:regex=enabled',
             '--native-file', CLANG_INI], cwd=project)
    shutil.rmtree(project)


def tar():
    build = ROOT / 'build'
    if not (build / 'build.ninja').exists():
        run(['./dev', 'build'])
    run(['meson', 'dist', '-C', build, '--no-tests', '--formats', 'xztar'])
    name = f'kerngrad-{values()["VERSION"]}'
    archive = fresh(OUT / 'tar') / f'{name}.tar.xz'
    shutil.copy(build / 'meson-dist' / archive.name, archive)
    provided = sorted(path.stem for path in (build / 'meson-private').glob('kerngrad*.pc'))
    wrap = filled_in((HERE / 'kerngrad.wrap.in').read_text(), {
        **values(), 'HASH': hashlib.sha256(archive.read_bytes()).hexdigest(), 'DEPENDENCIES': ', '.join(provided)})
    (archive.parent / 'kerngrad.wrap').write_text(wrap)
    check_wrap(archive, provided)
    run(['tar', '-xf', archive, '-C', archive.parent])
    run(['./dev', 'test', 'fast'], cwd=archive.parent / name)
    print(f'{archive.stat().st_size / 1e6:8.2f} MB  {archive.relative_to(ROOT)}')


if __name__ == '__main__':
    kinds = {'deb': deb, 'tar': tar}
    if sys.argv[1:2] and sys.argv[1] in kinds and len(sys.argv) == 2:
        kinds[sys.argv[1]]()
    else:
        sys.exit(__doc__.strip())
