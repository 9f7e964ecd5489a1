#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages about bad input of configuration, installation and CMake: a sentence with what to do, a code
that is not 0, and nothing half made. Compiles nothing of the library. The arguments are those of check.py.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import by_cmake
import check
import page
from prefixes import report

# Speaks for a compiler, but of an old version.
OLD_COMPILER = r"""#!/bin/sh
case " $* " in
  *" --version "* | *" -dM "*) {0} "$@" | sed -E 's/(clang version |__GNUC__ |__clang_major__ )[0-9]+/\111/' ;;
  *) exec {0} "$@" ;;
esac
"""
PROJECT = """cmake_minimum_required(VERSION 3.10)
project(asks LANGUAGES NONE)
{}
find_package(kerngrad {} CONFIG REQUIRED)
"""


def said_by(command, wanted, env=None):
    """Message of a command that fails. It has to say `wanted`, in however many lines."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})})
    if done.returncode == 0 or wanted not in ' '.join(done.stdout.split()):
        sys.exit(f'{shlex.join(map(str, command))}\nreturned {done.returncode}, and is to say "{wanted}":\n'
                 f'{done.stdout[-3000:]}')
    return done.stdout


def check_setup(at, folder):
    """`meson setup`, as the page has it, by a compiler that is too old, and where there is no Highway."""
    old, none = folder / 'old-compiler', folder / 'none'
    old.write_text(OLD_COMPILER.format(shlex.join(at.cxx)))
    old.chmod(0o755)
    none.mkdir()
    without_packages = {'PKG_CONFIG_LIBDIR': str(none), 'PKG_CONFIG_PATH': str(none)}
    for compiler, env, wanted in [
            (str(old), {}, 'kerngrad needs a compiler with C++20 modules, and'),
            (shlex.join(at.cxx), without_packages, 'kerngrad needs Highway 1.0.3 (Debian: libhwy-dev) or newer')]:
        build = folder / 'build'
        said = said_by(page.setup_command(at, build, compiler), f'ERROR: Problem encountered: {wanted}', env)
        if said.count('ERROR: ') != 1 or (build / 'build.ninja').exists():
            sys.exit(f'there is more than one error, or a build folder that could be used:\n{said}')
        report('meson setup: ' + re.search(r'encountered: (.*)', said)[1])


def check_rights(at, folder):
    """Installing, as the page has it, to below what is no folder, so that root may not either."""
    file, log = folder / 'file', at.build / 'meson-logs' / 'install-log.txt'
    file.write_text('as it was')
    before = log.read_bytes() if log.exists() else None
    wanted = f'{file} is no folder: install as a user who may write there'
    said = said_by(page.install_command(at), wanted, {'DESTDIR': str(file)})
    if said.count('\n') != 1 or file.read_text() != 'as it was' or before != (log.read_bytes() if before else None):
        sys.exit(f'there is more than one sentence, or something was written:\n{said}')
    report(f'installing: {said.strip().replace(str(folder), "")}')


def check_cmake(at, folder):
    """find_package, with files of the build, in a project that takes any CMake."""
    cmake = shutil.which('cmake')
    if not cmake:
        report('CMake: there is none', 'not run')
        return
    libraries = folder / 'prefix' / at.libdir
    package = libraries / 'cmake' / 'kerngrad'
    package.mkdir(parents=True)
    (libraries / 'libkerngrad.a').touch()
    for name in 'kerngradConfig.cmake', 'kerngradConfigVersion.cmake':
        text = (at.build / 'tools' / 'install' / name).read_text()
        (package / name).write_text(text.replace('if(OFF AND NOT KERNGRAD_HIGHWAY)', 'if(ON AND NOT KERNGRAD_HIGHWAY)'))
    old = '' if by_cmake.version_of(cmake) < (3, 28) else 'set(CMAKE_VERSION 3.25.1)'
    new = 'set(CMAKE_VERSION 3.28.0)\n'
    here = '.'.join(at.version.split('.')[:2])
    for before, version, wanted in [
            (old, here, 'it needs CMake 3.28 or newer, not 3.'),
            (new, '9.0', 'compatible with requested version "9.0"'),
            (new, '9.0', f'kerngradConfig.cmake, version: {at.version}'),
            (new + 'set(kerngrad_USE_STATIC_LIBS ON)\nset(CMAKE_FIND_LIBRARY_SUFFIXES .none)', here,
             'The static library of kerngrad needs Highway (Debian: libhwy-dev), and there is no libhwy: install it')]:
        source = folder / 'asks'
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        (source / 'CMakeLists.txt').write_text(PROJECT.format(before, version))
        said_by([cmake, '-S', source, '-B', source / 'build', '-G', 'Ninja', f'-Dkerngrad_DIR={package}'], wanted)
        if (source / 'build' / 'build.ninja').exists():
            sys.exit(f'CMake says "{wanted}", and goes on')
        report(f'CMake: {wanted}')


def check_mpi(at, folder):
    """Which MPI the package takes: that of the build, where another one is found first under the same name."""
    config = at.build / 'tools' / 'install' / 'kerngradConfig.cmake'
    line = re.search(r'^find_library\(KERNGRAD_MPI (\w+)(?: PATHS "([^"]+)")?.*', config.read_text(), re.MULTILINE)
    if not list(at.build.glob('*/libkerngrad-mpi.a')) or not shutil.which('cmake'):
        report('the MPI of CMake: there is none', 'not run')
        return
    name, wanted = line.groups()
    other, source = folder / 'other' / 'lib', folder / 'mpi'
    other.mkdir(parents=True)
    source.mkdir()
    (other / f'lib{name}.so').touch()
    (source / 'CMakeLists.txt').write_text(
        'cmake_minimum_required(VERSION 3.10)\nproject(asks LANGUAGES NONE)\n'
        'set(CMAKE_FIND_LIBRARY_PREFIXES lib)\nset(CMAKE_FIND_LIBRARY_SUFFIXES .so)\n'
        f'{line[0]}\nmessage(FATAL_ERROR "MPI is ${{KERNGRAD_MPI}}")\n')
    said_by(['cmake', '-S', source, '-B', source / 'build', '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={folder / "other"}'],
            f'MPI is {wanted}/lib{name}.so')
    report(f'the MPI of CMake: {wanted}/lib{name}.so')


def main():
    at = check.arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_setup(at, folder)
        check_rights(at, folder)
        check_cmake(at, folder)
        check_mpi(at, folder)


if __name__ == '__main__':
    main()
