#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a folder, moves that, and builds and runs the programs of variants.py against it, each way
that docs/install.md tells, with the shared and with the static library. CMAKE in the environment is a CMake of 3.28 or
newer, where the system's is older; KERNGRAD_FULL=1 requires it, and has it build all programs, with several options.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import sys

import by_cmake
import by_meson
import command
import other_dialect
import page
import prefixes
from by_pkg_config import PkgConfig
from prefixes import fresh, report, run, started_alone
from variants import VARIANTS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in 'root', 'build', 'scratch':
        parser.add_argument(f'--{name}', type=pathlib.Path, required=True)
    for name in 'libdir', 'includedir', 'version', 'soversion', 'compiler':
        parser.add_argument(f'--{name}', required=True)
    parser.add_argument('--flags', default='', help='which the library was compiled with, and its programs have to be')
    parser.add_argument('cxx', nargs='+')
    return parser.parse_args()


def with_flags(at):
    """A compiler that is one word and has the flags, under the name of the one that it calls."""
    wrapper = fresh(at.scratch / 'compiler') / pathlib.Path(at.cxx[-1]).name
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(at.cxx)} {at.flags} "$@"\n')
    wrapper.chmod(0o755)
    return [str(wrapper)]


def moved(at, prefix, target):
    """The prefix in another place than the one it was installed to. The file by which GCC finds BMIs has their
    whole paths: it is moved as docs/install.md says."""
    there = fresh(at.scratch / 'moved') / 'prefix'
    shutil.copytree(prefix, there, symlinks=True)
    by_name = there / at.libdir / 'kerngrad' / 'modules.map'
    if by_name.exists():
        by_name.write_text(by_name.read_text().replace(f'/{prefix.relative_to(target)}/', f'{there}/'))
    return there


def installed(at):
    """A prefix that is not where the library was installed to; uninstalling left nothing there."""
    target = fresh(at.scratch / 'target')
    with prefixes.installed(at.build, target, page.install_command(at)) as prefix:
        there = moved(at, prefix, target)
        report(f'{sum(path.is_file() for path in there.rglob("*"))} files installed')
    left = [str(path) for path in target.iterdir()]
    if left:
        sys.exit(f'uninstall leaves {left}')
    report('uninstall leaves none of them, and no folder')
    return there


def static_only(at, prefix):
    """The same prefix without the shared library; the command, which needs it, goes too."""
    other = fresh(at.scratch / 'static') / 'prefix'
    shutil.copytree(prefix, other, symlinks=True, copy_function=os.link)
    for path in [*(other / at.libdir).glob('libkerngrad.so*'), *(other / 'bin').iterdir()]:
        path.unlink()
    return other


def dynamic(file, tag):
    """Entries of a program's or library's dynamic section under this tag."""
    return re.findall(rf'\({tag}\).*\[(.*)\]', run(['readelf', '-d', file]))


def check_files(at, prefix):
    for path in ['share/doc/kerngrad/README.md', 'share/doc/kerngrad/docs/reference/tensor.md',
                 f'{at.libdir}/libkerngrad.modules.json']:
        if not (prefix / path).is_file():
            sys.exit(f'{path} is not installed')
    started_alone(prefix / 'bin' / 'kerngrad', 'list', '--targets')
    library = prefix / at.libdir / 'libkerngrad.so'
    if library.exists():
        wanted = f'libkerngrad.so.{at.soversion}'
        if dynamic(library, 'SONAME') != [wanted]:
            sys.exit(f'the soname of {library} is {dynamic(library, "SONAME")}, and not {wanted}')
        if not list((prefix / 'share/gdb/auto-load').rglob('libkerngrad.so.*-gdb.py')):
            sys.exit('what gdb loads for the shared library is not installed')
        report(f'the soname is {wanted}')


def check_cells(at, way, kind, programs, variants):
    """Each variant by one way and with one kind of the library, which the program really has."""
    for variant in variants:
        cell, reason = f'{way}, {kind}, {variant.name}', why_not(at, way, variant)
        if reason:
            report(f'{cell}: {reason}', 'cannot be')
            continue
        needed = dynamic(programs.program(variant), 'NEEDED')
        if (f'libkerngrad.so.{at.soversion}' in needed) != (kind == 'shared'):
            sys.exit(f'{cell}: the program needs {needed}')
        report(cell)


def why_not(at, way, variant):
    missing = [package for package in variant.packages[1:]
               if not (at.prefix / at.libdir / 'pkgconfig' / f'{package}.pc').exists()]
    return f'the build has no {missing[0]}' if missing else variant.not_there.get((way, at.compiler))


FORTIFIED = '-DCMAKE_CXX_FLAGS=-O2 -D_FORTIFY_SOURCE=2'
# Options, and the kinds of the library that are tried with them one after the other. CMake compiles the interfaces for
# each, which takes a minute: `./dev test install` tries these. With every change page.py has CMake build one program.
CMAKE_BUILDS = [
    (['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_CXX_EXTENSIONS=OFF', '-DTHREADS_FOR_ALL=ON', FORTIFIED],
     ['shared', 'static']),
    (['-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_STANDARD=23'], ['static']),
    (['-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_STANDARD=23', '-DCMAKE_CXX_EXTENSIONS=OFF'], ['shared']),
]


def check_cmake(at, cmake, kinds):
    if not os.environ.get('KERNGRAD_FULL'):
        report('CMake: the other programs and options', 'not run')
        return
    if not cmake:
        sys.exit('There is no CMake 3.28 or newer: name one by CMAKE=PATH; on Debian 12 '
                 '`python3 tools/platforms/cmake.py` has one.')
    there = [each for each in VARIANTS if not why_not(at, 'CMake', each)]
    for options, wanted in CMAKE_BUILDS:
        programs = by_cmake.CMake(cmake, at, at.prefix, at.scratch / 'cmake', options, there)
        for kind in wanted:
            if kind not in kinds:
                continue
            programs.configure(kind)
            report(f'CMake, {kind}: configured with {shlex.join(options)}')
            programs.check_other_standard(there[0].name)
            report(f'CMake, {kind}: another standard is refused when configured')
            check_cells(at, 'CMake', kind, programs, VARIANTS)


def main():
    at = arguments()
    if at.flags or len(at.cxx) > 1:
        at.cxx = with_flags(at)
        os.environ['CXXFLAGS'] = at.flags  # for CMake, which scans without the compiler
    at.prefix, caches = installed(at), at.scratch / 'caches'
    check_files(at, at.prefix)
    command.check_pages(at.prefix)
    kinds = {}
    if (at.prefix / at.libdir / 'libkerngrad.so').exists():
        kinds['shared'] = at.prefix
    if (at.prefix / at.libdir / 'libkerngrad.a').exists():
        kinds['static'] = static_only(at, at.prefix)
    compiled = {}
    for kind, prefix in kinds.items():
        programs = PkgConfig(at, prefix, kind, at.scratch / f'pkgconfig_{kind}', compiled)
        check_cells(at, 'pkg-config', kind, programs, VARIANTS)
    other_dialect.check_dialects(at, at.prefix)
    command.check_modules(at, at.prefix, caches, at.scratch / 'modules')
    by_meson.check_own_module(at, at.prefix, at.scratch / 'meson')
    cmake = by_cmake.cmake_command()
    page.check_page(at, at.prefix, cmake, caches, at.scratch / 'page')
    check_cmake(at, cmake, kinds)


if __name__ == '__main__':
    main()
