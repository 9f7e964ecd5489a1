# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/install/variants.py in the scratch superproject, by matrix/meson.build."""
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'build'), str(HERE.parent / 'install')]
import scratch  # noqa: E402
from variants import VARIANTS  # noqa: E402

WAY, FOLDER = 'subproject', 'matrix'


def names_of(paths):
    return [pathlib.Path(path).name for path in paths]


def described(variant, compiler):
    """Files of one that matrix/meson.build reads."""
    options = variant.options_for(compiler)
    return {'packages': list(variant.packages), 'link_args': options,
            'cpp_args': [word for word in options if not word.startswith('-fuse-ld=')],  # compilers warn of these
            'sources': names_of(variant.sources), 'pack': pathlib.Path(variant.pack).name,
            'modules': [[name, *names_of([path])] for name, path in variant.modules]}


def write(project, compiler):
    """Gives the superproject all programs that there are with this compiler, each with a folder of its own: Meson takes
    no source that lies in another project."""
    there = [variant for variant in VARIANTS if (WAY, compiler) not in variant.not_there]
    table = {variant.name: described(variant, compiler) for variant in there}
    made = {'meson.build': (HERE / FOLDER / 'meson.build').read_bytes(),
            'table/meson.build': f'programs = {table}\n'.encode()}  # these are written alike in both languages
    for variant in there:
        paths = [*variant.sources, *(path for _, path in variant.modules), *filter(None, [variant.pack])]
        paths += (project.root / variant.include).glob('*.h') if variant.include else []
        made |= {f'{variant.name}/{pathlib.Path(path).name}': (project.root / path).read_bytes() for path in paths}
    scratch.write_tree(made, project.source / FOLDER)


def why_not(project, variant, compiler):
    """Why a program is not tried. A subproject compiles a module on top when a program wants it, minutes for some: of
    these, the ones that the superproject has anyway are tried."""
    if reason := variant.not_there.get((WAY, compiler)):
        return reason
    if f'{FOLDER}/{variant.name}:' not in project.make('-t', 'targets', 'all'):
        return f'the build has no {variant.packages[-1]}'
    there, wanted = (project.make('-t', 'inputs', name).splitlines() for name in ('all', f'{FOLDER}/{variant.name}'))
    missing = [pathlib.Path(name).name for name in wanted
               if name.endswith('.a') and not name.startswith(f'{FOLDER}/') and name not in there]
    return f'it takes {" and ".join(missing)}, which nothing else here does' if missing else None


def check(project, kind, compiler):
    """Builds them side by side and runs each, with the library that there is now."""
    started, reasons = time.monotonic(), [why_not(project, variant, compiler) for variant in VARIANTS]
    project.make(*(pathlib.Path(FOLDER, variant.name) for variant, reason in zip(VARIANTS, reasons) if not reason))
    print(f'ok: {WAY}, {kind}: all are built ({time.monotonic() - started:.1f} s)', flush=True)
    for variant, reason in zip(VARIANTS, reasons):
        cell = f'{WAY}, {kind}, {variant.name}'
        if reason:
            print(f'not run: {cell}: {reason}', flush=True)
            continue
        program = pathlib.Path(FOLDER, variant.name)
        project.program(program)
        needed = scratch.run(['readelf', '-d', project.build / program])
        if ('[libkerngrad.so' in needed) != (kind == 'shared'):
            sys.exit(f'{cell}: the library that the program needs is of another kind:\n{needed}')
        print(f'ok: {cell}', flush=True)
