#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SOURCE_ROOT SCRATCH COMPILER TARGETS SPEED DEBUG_SPEED: builds and runs the programs of
tests/consumer/project, those of tests/install/variants.py and the examples, which use the library as a Meson
subproject, in configurations other than the library's own.

COMPILER is what Meson calls it. TARGETS, SPEED and DEBUG_SPEED are programs of the library's own build: a consumer
compiled with -march= must find the same SIMD targets, and one that is compiled without optimisation, as DEBUG_SPEED is,
the same speed: its library is compiled with the flags of the own build, whatever the consumer's are, and static and
shared libraries have one set of objects.
"""
import csv
import json
import pathlib
import re
import shlex
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / 'build'), str(TESTS / 'engine')]
import by_subproject  # noqa: E402
import dispatch_check as dispatch  # noqa: E402
import scratch  # noqa: E402

PROGRAMS = ['includes_before', 'includes_after', 'import_only', 'unit_test', 'own_module', 'raw_door', 'few_dtypes']
# How many times the instructions of a program of the release build a consumer's call may execute; and how many more the
# inline part of a typed call has, which is compiled with the consumer's flags.
SLOWER = 1.2
INLINE_PART = 200
CALLS = ['exp_of_a_million', 'matmul_of_512', 'add_of_one']


def report(text):
    print(f'ok: {text}', flush=True)


def check_programs(project, kind):
    for name in PROGRAMS:
        project.program(name)
        report(f'{kind}: {name} builds with `import kerngrad;` alone and runs')


def check_examples(project, kind):
    for name in scratch.example_names(project.root):
        project.example(name)
        report(f'{kind}: the example {name} builds and finds its own numbers right')


def check_curves(project):
    """The CSV that straight_through writes: one curve stays, the other one falls."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'curves.csv'
        project.example('straight_through', '--csv', file)
        head, *rows = list(csv.reader(file.open()))
    own, straight = ([float(row[column]) for row in rows] for column in (1, 2))
    if head != ['step', 'own', 'straight_through'] or len(set(own)) != 1 or not straight[-1] < 0.01 * own[0]:
        sys.exit(f'straight_through --csv wrote {head}, {rows}')
    report(f'straight_through writes its two curves of {len(rows)} steps')


def library_commands(project):
    """Source of the library -> the flags that it is compiled with and that buildtypes set."""
    project.make('build.ninja')
    flags = {}
    for entry in json.loads((project.build / 'compile_commands.json').read_text()):
        source = (project.build / entry['file']).resolve()
        if source.is_relative_to(project.library):
            words = shlex.split(entry['command'])
            flags[source] = [word for word in words if re.fullmatch(r'-O.|-g|-DNDEBUG|-D_GLIBCXX_ASSERTIONS=1', word)]
    return flags


def check_flags(project):
    """Which flags the library gets by the consumer's configuration. Nothing is compiled for it."""
    for kind in ['-Dbuildtype=debug', '-Db_ndebug=false'], ['-Dbuildtype=release', '-Db_ndebug=false']:
        project.configure(*kind, '-Dkerngrad:debug_build=false')
        wrong = {source: flags for source, flags in library_commands(project).items() if flags != ['-DNDEBUG', '-O3']}
        if wrong:
            sys.exit(f'with {kind} the library is compiled with {wrong}')
        report(f'{" ".join(kind)}: the library is optimised and has no assertions')
    project.configure('-Dbuildtype=debug', '-Dkerngrad:debug_build=true')
    found = {tuple(flags) for flags in library_commands(project).values()}
    if found != {('-O0', '-g')}:
        sys.exit(f'a debug build of the library is compiled with {found}')
    report('-Dkerngrad:debug_build=true: the library is compiled as the consumer is, with assertions')


def check_speed(release, debug):
    """Instructions of a program that is compiled as a debug consumer is, next to those of one that is not."""
    for name in CALLS:
        wanted, found = dispatch.executed(release, name), dispatch.executed(debug, name)
        if not 0 < found <= SLOWER * wanted + INLINE_PART:
            sys.exit(f'{name}: {found} instructions in a debug consumer, {wanted} in the release build')
        share = found / wanted
        report(f'debug consumer: {name} executes {found} instructions, {share:.2f} of those of the release build')


def check_targets(project, expected):
    if scratch.TARGETS:
        expected = [target for target in expected if target in scratch.TARGETS.split(',')]
    for name, flag in ('targets', '-march=x86-64-v3 everywhere'), ('native', '-march=native in the consumer'):
        found = project.program(name).split()
        if found != expected:
            sys.exit(f'with {flag} kernels run on {found}, the library alone on {expected}')
        report(f'{flag}: kernels keep all targets ({", ".join(found)})')


def check_rest(project):
    again = project.make()
    if 'no work to do' not in again:
        sys.exit(f'a second ninja did something:\n{again}')
    report('a second ninja has nothing to do')


def main():
    compiler = sys.argv.pop(3)
    root, folder, targets, *speeds = (pathlib.Path(argument).resolve() for argument in sys.argv[1:6])
    project = scratch.Superproject(root, folder)
    started = time.monotonic()
    by_subproject.write(project, compiler)
    project.prepare('shared')
    report(f'configured and built in {time.monotonic() - started:.0f} s')
    check_rest(project)
    check_programs(project, 'shared')
    check_examples(project, 'shared')
    by_subproject.check(project, 'shared', compiler)
    again = project.prepare('static')  # which the other tests of the scratch library go on with
    libraries = list(project.build.glob('subprojects/kerngrad/modules/libkerngrad.a'))
    if re.search(r'libkerngrad-(kernels|bodies)\.a\.p/', again) or not libraries:
        sys.exit(f'default_library=static gave no static library, or compiled the library again:\n{again}')
    check_rest(project)
    check_programs(project, 'static')
    check_examples(project, 'static')
    by_subproject.check(project, 'static', compiler)
    check_curves(project)
    check_targets(project, scratch.run([targets]).split())
    check_flags(project)
    check_speed(*speeds)


if __name__ == '__main__':
    main()
