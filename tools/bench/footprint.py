#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""footprint.py [--build DIR] [--check] [--docs]: what a consumer of the library pays.

Sizes of the library and of a program with five ops, and how long that program's one file takes to compile, and one that
uses indices and files, next to a file that includes a few headers of the standard library. libtorch is next to them
where it is installed.
--check ends with 1 when a bound below is passed; --docs writes the table into docs/performance.md.
"""
import argparse
import json
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import peers_table  # noqa: E402

BEGIN, END = '<!-- begin: written by tools/bench/footprint.py --docs -->', '<!-- end of footprint -->'
MEGA = 1e6
# Generous: they hold what one careless change would add, a template in every kernel or a header in every interface,
# not the growth of the library by ops. The program grows with the five ops that it calls and with nothing else: a
# reference from a typed call to all ops would add the rest of the library. A file that imports the modules takes long
# to compile where it instantiates a template of the standard library for a type of its own: the compiler then reads
# every specialisation of the traits in it that any unit has. So interfaces keep such templates in bodies.
BOUNDS = {'archive': 38 * MEGA, 'shared': 20 * MEGA, 'program': 3 * MEGA, 'compile_ratio': 1.0, 'files_ratio': 1.0}
TORCH = ['libtorch_cpu.so', 'libc10.so']


def stripped(path, folder):
    out = folder / 'stripped'
    subprocess.run(['strip', '--strip-all', '-o', str(out), str(path)], check=True)
    return out.stat().st_size


def archive_size(thin, folder):
    """Meson's archive only names its members: a real one is made of them, without what only debuggers need."""
    members = subprocess.run(['ar', 't', str(thin)], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    out = folder / 'whole.a'
    subprocess.run(['ar', 'rcs', str(out), *members], check=True)
    subprocess.run(['strip', '--strip-debug', str(out)], check=True)
    return out.stat().st_size


def compile_command(build, source):
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        if entry['file'].endswith('/' + source):
            words, kept, skip = shlex.split(entry['command']), [], False
            for word in words:  # no dependency file: the build's own must stay as it is
                if skip:
                    skip = False
                elif word in ('-MF', '-MQ', '-o'):
                    skip = True
                elif word not in ('-MD', '-fmodule-file-deps'):
                    kept.append(word)
            return kept + ['-o', '/dev/null'], entry['directory']
    raise SystemExit(f'{build}/compile_commands.json has no {source}')


def compile_times(build, sources, rounds=5):
    """The least processor time of each file, the files taken in turns."""
    commands = {source: compile_command(build, source) for source in sources}
    times = {source: [] for source in sources}
    for _ in range(rounds):
        for source, (command, folder) in commands.items():
            before = child_seconds()
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            times[source].append(child_seconds() - before)
    return {source: min(values) for source, values in times.items()}


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def torch_size(compiler):
    total = 0
    for name in TORCH:
        found = subprocess.run([compiler, f'-print-file-name={name}'], text=True, stdout=subprocess.PIPE).stdout
        path = pathlib.Path(found.strip())
        if not path.is_absolute() or not path.exists():
            return None
        total += path.resolve().stat().st_size
    return total


def measure(build):
    peers = build / 'bench' / 'peers'
    compiler = compile_command(build, 'five_ops.cc')[0][0]
    shared = sorted((build / 'modules').glob('libkerngrad.so'))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        result = {'archive': archive_size(peers / 'libkerngrad.a', folder),
                  'shared': stripped(shared[0], folder) if shared else None,
                  'program': stripped(peers / 'five_ops', folder), 'torch': torch_size(compiler)}
    with_files = ['indices_and_files.cc'] if list((build / 'modules').glob('libkerngrad-io.*')) else []
    times = compile_times(build, ['five_ops.cc', 'no_ops.cc', *with_files])
    standard, files = times['no_ops.cc'], times.get('indices_and_files.cc')
    return {**result, 'compile': times['five_ops.cc'], 'compile_files': files, 'compile_standard': standard,
            'compile_ratio': times['five_ops.cc'] / standard, 'files_ratio': files and files / standard}


def markdown(result):
    def size(value):
        if value is None:
            return 'not built'
        part = result['torch'] / value if result['torch'] else 1
        return f'{value / MEGA:.3g} MB' + (f' (1/{part:.0f} of libtorch)' if part > 1 else '')

    lines = ['| what | is | held below |', '| --- | ---: | ---: |',
             f'| `libkerngrad.a`, no debug information | {size(result["archive"])} | {BOUNDS["archive"] / MEGA:g} MB |',
             f'| `libkerngrad.so`, stripped | {size(result["shared"])} | {BOUNDS["shared"] / MEGA:g} MB |',
             '| a program with five ops, library and C++ runtime linked statically, stripped '
             f'| {size(result["program"])} | {BOUNDS["program"] / MEGA:g} MB |',
             f'| `libtorch_cpu.so` and `libc10.so` | '
             f'{size(result["torch"]) if result["torch"] else "not installed"} | |',
             f'| compiling that program\'s one file | {result["compile"]:.2f} s | |',
             f'| compiling a file with five standard headers | {result["compile_standard"]:.2f} s | |',
             f'| the first over the second | {result["compile_ratio"]:.2f} | {BOUNDS["compile_ratio"]:g} |']
    if result['compile_files']:
        lines += [f'| compiling a file that uses indices and files | {result["compile_files"]:.2f} s | |',
                  f'| that over the standard headers | {result["files_ratio"]:.2f} | {BOUNDS["files_ratio"]:g} |']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='the build folder (build)')
    parser.add_argument('--check', action='store_true', help='end with 1 when a bound is passed')
    parser.add_argument('--docs', action='store_true', help='write the table into docs/performance.md')
    options = parser.parse_args()
    result = measure(options.build.resolve())
    print(markdown(result))
    if options.docs:
        peers_table.replace_between(ROOT / 'docs' / 'performance.md', BEGIN, END, markdown(result))
    passed = [name for name, bound in BOUNDS.items() if result[name] and result[name] > bound]
    if options.check and passed:
        raise SystemExit(f'above the bound: {", ".join(f"{name} {result[name]:.4g}" for name in passed)}')


if __name__ == '__main__':
    main()
