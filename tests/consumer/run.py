#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SOURCE_ROOT SCRATCH TARGETS: builds and runs the programs of tests/consumer/project and the examples, which
use the library as a Meson subproject, in configurations other than the library's own.

TARGETS is a program of the library's own build that prints the SIMD targets: a consumer compiled with -march= must
find the same ones. Shared and static builds have the same objects, so the kernels are compiled once for both.
"""
import csv
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'build'))
import scratch  # noqa: E402

PROGRAMS = ['includes_before', 'includes_after', 'import_only', 'unit_test', 'own_module']


def report(text):
    print(f'ok: {text}', flush=True)


def check_programs(project, kind):
    for name in PROGRAMS:
        project.program(name)
        report(f'{kind}: {name} builds with `import kerngrad;` alone and runs')
    if 'not asserted' in project.program('raw_door'):
        sys.exit('the raw door asserts nothing in a build that keeps assertions')
    report(f'{kind}: the raw door asserts its precondition in a build with assertions')


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


def check_targets(project, expected):
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
    root, folder, targets = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    project = scratch.Superproject(root, folder)
    started = time.monotonic()
    project.prepare()
    report(f'configured and built in {time.monotonic() - started:.0f} s')
    check_rest(project)
    check_programs(project, 'static, debug')
    check_examples(project, 'static, debug')
    check_curves(project)
    check_targets(project, scratch.run([targets]).split())
    project.configure('-Ddefault_library=shared')
    rebuilt = project.make()
    libraries = list(project.build.glob('subprojects/kerngrad/modules/libkerngrad.so*'))
    if 'libkerngrad-kernels.a.p/' in rebuilt or not libraries:
        sys.exit(f'default_library=shared gave no shared library, or compiled the kernels again:\n{rebuilt}')
    check_programs(project, 'shared, debug')
    check_examples(project, 'shared, debug')
    check_rest(project)
    project.configure()
    project.make()


if __name__ == '__main__':
    main()
