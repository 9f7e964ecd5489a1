#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py SOURCE_ROOT BUILD LIBDIR SCRATCH CXX...: installs the build into a folder, moves that, and builds and runs
programs against it, each way that docs/install.md tells, with the shared and with the static library. CMAKE in the
environment is a CMake of 3.28 or newer, where the system's is older; KERNGRAD_FULL=1 tries it with other options too.
"""
import os
import pathlib
import re
import shlex
import shutil
import sys
import time

import prefixes
from prefixes import run

ROOT, BUILD, SCRATCH = (pathlib.Path(sys.argv[k]) for k in (1, 2, 4))
LIBDIR, CXX = sys.argv[3], sys.argv[5:]
CONSUMER, EXAMPLES = ROOT / 'tests' / 'consumer' / 'project', ROOT / 'examples'
CACHES = SCRATCH / 'caches'

started = time.monotonic()


def report(text):
    """A line with the seconds since the last one."""
    global started
    now = time.monotonic()
    print(f'ok: {text} ({now - started:.1f} s)', flush=True)
    started = now


def fresh(name):
    return prefixes.fresh(SCRATCH / name)


def installed():
    """A prefix that is not where the library was installed to; uninstalling left nothing there."""
    with prefixes.installed(BUILD, fresh('target')) as prefix:
        moved = fresh('moved') / 'prefix'
        shutil.copytree(prefix, moved, symlinks=True)
        report(f'{sum(path.is_file() for path in moved.rglob("*"))} files installed')
    left = [str(path) for path in (SCRATCH / 'target').rglob('*') if not path.is_dir()]
    if left:
        sys.exit(f'uninstall leaves {left}')
    report('uninstall leaves none of them')
    return moved


def static_only(prefix):
    """The same prefix without the shared library; the command, which needs it, goes too."""
    other = fresh('static') / 'prefix'
    shutil.copytree(prefix, other, symlinks=True, copy_function=os.link)
    for path in [*(other / LIBDIR).glob('libkerngrad.so*'), *(other / 'bin').iterdir()]:
        path.unlink()
    return other


def built_on_top(prefix):
    """Modules on top that the build had the libraries for."""
    return [name for name in ('regex', 'io', 'graph') if (prefix / LIBDIR / f'libkerngrad-{name}.a').exists()]


# ---------------------------------------------------------------------------------------------------- pkg-config

class PkgConfig:
    """Programs that are compiled by hand with what pkg-config says."""

    def __init__(self, prefix, kind):
        self.prefix, self.static, self.folder = prefix, kind == 'static', fresh(f'pkgconfig_{kind}')
        self.env = {'PKG_CONFIG_PATH': str(prefix / LIBDIR / 'pkgconfig')}

    def flags(self, *packages, what=('--cflags', '--libs')):
        static = ['--static'] if self.static else []
        return shlex.split(run(['pkg-config', *static, *what, *packages], env=self.env))

    def program(self, name, sources, packages=('kerngrad',), options=(), arguments=()):
        """Without LD_LIBRARY_PATH: a program finds the library it was linked to."""
        command = [*CXX, '-Wall', '-Wextra', '-Werror', *options, *sources, *self.flags(*packages), '-o', name]
        run(command, cwd=self.folder)
        return run([self.folder / name, *arguments], env={'LD_LIBRARY_PATH': ''})

    def bmi(self, source, name, packages=('kerngrad',)):
        run([*CXX, '-xc++-module', '--precompile', '-fprebuilt-module-path=.', source,
             *self.flags(*packages, what=['--cflags']), '-o', f'{name}.pcm'], cwd=self.folder)

    def check(self, kind):
        self.program('import_only', [CONSUMER / 'import_only.cc'])
        for options in [['-fno-plt', '-flto', '-fuse-ld=lld'], ['-march=native', '-O3'], ['-g', '-O0'],
                        ['-fsanitize=address,undefined'], ['-O2', '-D_FORTIFY_SOURCE=2']]:
            self.program('with_options', [CONSUMER / 'import_only.cc'], options=options)
        self.bmi(CONSUMER / 'model.cc', 'model')
        self.bmi(CONSUMER / 'training.cc', 'training')
        self.program('own_module', [CONSUMER / f'{name}.cc' for name in ('own_module', 'training', 'model')],
                     options=['-fprebuilt-module-path=.', '-Wno-reserved-module-identifier'])
        self.program('testkit', [ROOT / 'tests' / 'install' / 'testkit.cc'], packages=['kerngrad-testkit'])
        for name in built_on_top(self.prefix):
            self.program(name, [ROOT / 'tests' / 'install' / f'{name}.cc'], packages=[f'kerngrad-{name}'])
        pack = self.folder / 'softshrink.so'
        run([*CXX, '-xc', '-std=c99', '-shared', '-fPIC', '-fvisibility=hidden', EXAMPLES / 'packs' / 'softshrink.c',
             *self.flags('kerngrad-pack', what=['--cflags']), '-o', pack])
        self.program('pack', [EXAMPLES / 'packs' / 'load.cc'], options=[f'-DSOFTSHRINK_PACK="{pack}"'])
        both = ['kerngrad', 'kerngrad-kernel']
        own = EXAMPLES / 'own_module'
        self.bmi(own / 'ops.cc', 'my.ops', both)
        self.program('kernel', [own / name for name in ('main.cc', 'ops.cc', 'snake.cc')], both,
                     options=['-fprebuilt-module-path=.', f'-I{own}'])
        report(f'pkg-config, {kind}: import, options, own modules, test kit, files, pack, own kernel')


# ------------------------------------------------------------------------------------------- the page, CMake, modules

RUN = re.compile(r'^```sh\n(.*?)^```\n<!-- run in (\S+) -->', re.MULTILINE | re.DOTALL)


def check_page(prefix, cmake):
    """The commands of docs/install.md, each in a copy of the example, and the program that they make."""
    path = [prefix / 'bin', *([pathlib.Path(shutil.which(cmake)).parent] if cmake else []), os.environ['PATH']]
    env = {'PKG_CONFIG_PATH': str(prefix / LIBDIR / 'pkgconfig'), 'CMAKE_PREFIX_PATH': str(prefix),
           'XDG_CACHE_HOME': str(CACHES), 'LD_LIBRARY_PATH': '', 'PATH': ':'.join(map(str, path))}
    for commands, example in RUN.findall((ROOT / 'docs' / 'install.md').read_text()):
        if 'cmake' in commands and not cmake:
            print('not run, there is no CMake 3.28 or newer: ' + commands.strip())
            continue
        folder = fresh('page') / 'example'
        shutil.copytree(ROOT / example, folder)
        run(['sh', '-ec', re.sub(r'clang\+\+-\d+', lambda _: shlex.join(CXX), commands)], cwd=folder, env=env)
        made = next(path for path in (folder / 'installed', folder / 'build' / 'installed') if path.exists())
        run([made], env={'LD_LIBRARY_PATH': ''})
        report(f'docs/install.md: {commands.strip()}')


def cmake_command():
    """CMake, if it is one that knows modules."""
    cmake = os.environ.get('CMAKE') or 'cmake'
    said = re.search(r'version (\d+)\.(\d+)', run([cmake, '--version']) if shutil.which(cmake) else '')
    return cmake if said and (int(said[1]), int(said[2])) >= (3, 28) else None


CMAKE_PROGRAMS = ['import_only', 'own_module', 'testkit', 'pack', 'kernel']
# Kind of the library, options, programs. Each compiles all interfaces anew.
CMAKE_BUILDS = [
    ('shared', ['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_CXX_EXTENSIONS=OFF', '-DTHREADS_FOR_ALL=ON'], CMAKE_PROGRAMS),
    ('static', ['-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_STANDARD=23'], CMAKE_PROGRAMS),
    ('shared', ['-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_STANDARD=23', '-DCMAKE_CXX_EXTENSIONS=OFF'], ['import_only']),
]


def check_cmake(cmake, prefix, kind, options, programs):
    folder = fresh('cmake')
    run([cmake, '-S', ROOT / 'tests' / 'install', '-B', folder, '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={prefix}',
         f'-DCMAKE_CXX_COMPILER={CXX[-1]}', *options])
    if 'testkit' in programs:
        programs = [*programs, *built_on_top(prefix)]
    run([cmake, '--build', folder, '--target', *programs])
    for name in programs:
        run([folder / name], env={'LD_LIBRARY_PATH': ''})
    report(f'CMake, {kind}, {" ".join(options)}: {", ".join(programs)}')


def check_modules(prefix):
    """`kerngrad modules` for a program with other flags, twice, and with compilers that will not do."""
    tool, into = prefix / 'bin' / 'kerngrad', fresh('modules')
    asked = [tool, 'modules', '--compiler', shlex.join(CXX), '--', '-std=c++23', '-O2', '-D_FORTIFY_SOURCE=2']
    env = {'XDG_CACHE_HOME': str(fresh(CACHES))}
    flags = run(asked, env=env)
    libs = run(['pkg-config', '--libs', 'kerngrad'], env={'PKG_CONFIG_PATH': str(prefix / LIBDIR / 'pkgconfig')})
    run([*CXX, *shlex.split(flags), CONSUMER / 'import_only.cc', *shlex.split(libs), '-o', into / 'program'])
    run([into / 'program'], env={'LD_LIBRARY_PATH': ''})
    report('kerngrad modules compiles the interfaces for C++23 with _FORTIFY_SOURCE')
    if run(asked, env=env) != flags:
        sys.exit('kerngrad modules says something else the second time')
    report('and has them from then on')
    old = into / 'old-compiler'
    old.write_text('#!/bin/sh\necho "#define __GNUC__ 14\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0\n'
                   '#define __VERSION__ \\"14.2.0\\""\n')
    old.chmod(0o755)
    for compiler, wanted in [(old, 'is gcc 14.2.0, and the interfaces need gcc'),
                             ('/bin/true', 'it is no C++ compiler'), ('/no/such/c++', 'there is no program')]:
        said = run([tool, 'modules', '--compiler', compiler, '--into', into / 'bmis'], code=1)
        if wanted not in said or said.count('\n') != 1:
            sys.exit(f'kerngrad modules --compiler {compiler} says: {said}')
    said = run([tool, 'modules', '--compiler', shlex.join(CXX), '--into', '/proc/none'], code=1)
    if 'name another folder with --into' not in said:
        sys.exit(f'kerngrad modules --into /proc/none says: {said}')
    report('what will not do is refused in one sentence')


def main():
    prefix = installed()
    for path in ['bin/kerngrad', 'share/man/man1/kerngrad.1', 'share/bash-completion/completions/kerngrad',
                 'share/doc/kerngrad/README.md', f'{LIBDIR}/libkerngrad.modules.json']:
        if not (prefix / path).is_file():
            sys.exit(f'{path} is not installed')
    if not list((prefix / 'share/gdb/auto-load').rglob('libkerngrad.so.*-gdb.py')):
        sys.exit('what gdb loads for the shared library is not installed')
    run([prefix / 'bin' / 'kerngrad', 'list', '--targets'], env={'LD_LIBRARY_PATH': ''})
    kinds = {'shared': prefix}
    if list((prefix / LIBDIR).glob('libkerngrad.a')):
        kinds['static'] = static_only(prefix)
    for kind, place in kinds.items():
        PkgConfig(place, kind).check(kind)
    cmake = cmake_command()
    check_modules(prefix)
    check_page(prefix, cmake)
    for kind, options, programs in CMAKE_BUILDS if cmake and os.environ.get('KERNGRAD_FULL') else []:
        if kind in kinds:
            check_cmake(cmake, kinds[kind], kind, options, programs)


if __name__ == '__main__':
    main()
