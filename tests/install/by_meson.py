# SPDX-License-Identifier: Apache-2.0
"""A program with a module of its own, built by Meson against an installed library: examples/own_module, which other
tests build with the library as a subproject, by the same lines.
"""
import os
import pathlib
import shlex
import shutil
import sys

from prefixes import fresh, report, run, started_alone

ADDED = '\nnamespace my {\nexport int added() { return 1; }\n}  // namespace my\n'
OTHER_DIALECT = """project('other_dialect', 'cpp', default_options: ['cpp_std=none'])
executable('program', 'import_only.cc', cpp_args: get_option('flags'),
  dependencies: dependency('kerngrad').partial_dependency(link_args: true))
"""


def check_other_dialect(at, prefix, flags, folder):
    """A program by the flags of `kerngrad modules`, which take the place of the dependency's own."""
    source, build = fresh(folder) / 'source', folder / 'build'
    source.mkdir()
    shutil.copy(at.root / 'tests' / 'consumer' / 'project' / 'import_only.cc', source)
    (source / 'meson.build').write_text(OTHER_DIALECT)
    (source / 'meson_options.txt').write_text("option('flags', type: 'array')\n")
    env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig'), 'CXX': shlex.join(at.cxx)}
    meson = shlex.split(os.environ.get('MESON', 'meson'))
    run([*meson, 'setup', build, source, f'-Dflags={",".join(flags)}'], env=env)
    run([os.environ.get('NINJA', 'ninja'), '-C', build])
    started_alone(build / 'program')
    report('Meson, installed: a program by the flags of kerngrad modules')


def check_own_module(at, prefix, folder):
    """It builds and runs; when its module or an installed BMI changes, what imports them is compiled again."""
    if at.compiler != 'clang':
        report(f'Meson, own_module: it takes Clang, and this is {at.compiler}', 'cannot be')
        return
    env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig'), 'CXX': shlex.join(at.cxx)}
    source, build = fresh(folder) / 'source', folder / 'build'
    shutil.copytree(at.root / 'examples' / 'own_module', source)
    meson, ninja = shlex.split(os.environ.get('MESON', 'meson')), os.environ.get('NINJA', 'ninja')
    run([*meson, 'setup', build, source], env=env)

    def compiled():
        """The objects that are compiled now, by their names."""
        said = run([ninja, '-C', build, '-v', '-d', 'explain'])
        return {pathlib.Path(word).name for line in said.splitlines() if ' -c ' in line
                for word in line.split() if word.endswith('.o')}
    if compiled() != {'ops.cc.o', 'main.cc.o', 'snake.cc.o'} or compiled():
        sys.exit('Meson, own_module: not every source was compiled, or some again without a change')
    started_alone(build / 'own_module')
    unit, bmi = source / 'ops.cc', prefix / at.libdir / 'kerngrad' / 'kerngrad.pcm'
    for what, change in [('its module', lambda: unit.write_text(unit.read_text() + ADDED)),
                         ('an installed BMI', lambda: os.utime(bmi))]:
        change()
        found = compiled()
        if not {'ops.cc.o', 'main.cc.o'} <= found or 'snake.cc.o' in found:
            sys.exit(f'Meson, own_module: {what} changed, and {sorted(found)} were compiled')
    report('Meson, installed: a program with a module of its own is built by the lines for a subproject, and exactly')
