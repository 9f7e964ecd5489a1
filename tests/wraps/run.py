#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SOURCE_ROOT SCRATCH: each wrap in subprojects/ can stand in for the system's package.

A consumer with a copy of the library in its subprojects/ is configured with all wraps forced, and a program per wrap is
built and run. Git goes to a folder here in place of GitHub: GoogleTest's sources and range-v3's headers as
Debian ships them; Highway and Google Benchmark with the system's headers and stand-ins for their sources, under the
names that the release has. No header of the system's packages may get into what is built.
"""
import configparser
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'build'))
import scratch  # noqa: E402

INCLUDE = pathlib.Path('/usr/include')
HIGHWAY = ['aligned_allocator', 'nanobenchmark', 'per_target', 'print', 'targets']
BENCHMARK = ['benchmark', 'benchmark_api_internal', 'benchmark_main', 'benchmark_name', 'benchmark_register',
             'benchmark_runner', 'check', 'colorprint', 'commandlineflags', 'complexity', 'console_reporter', 'counter',
             'csv_reporter', 'json_reporter', 'perf_counters', 'reporter', 'sleep', 'statistics', 'string_util',
             'sysinfo', 'timers']
# Functions of the stand-ins that the programs call.
DEFINITIONS = {
    'hwy/targets.cc': '#include "hwy/targets.h"\nnamespace hwy {\nint64_t SupportedTargets() { return 1; }\n}\n',
    'src/benchmark.cc': '#include "benchmark/benchmark.h"\nnamespace benchmark {\nvoid Shutdown() {}\n'
                        'namespace internal {\nint InitializeStreams() { return 0; }\n}\n}\n',
}


def stand_in(name, folder):
    """The files of one upstream project."""
    if name == 'googletest':
        shutil.copytree('/usr/src/googletest', folder)
    elif name == 'range-v3':
        for part in 'range', 'meta', 'concepts', 'std':
            shutil.copytree(INCLUDE / part, folder / 'include' / part)
    else:
        highway = name == 'highway'
        headers = 'hwy' if highway else 'benchmark'
        shutil.copytree(INCLUDE / headers, folder / headers if highway else folder / 'include' / headers)
        for source in HIGHWAY if highway else BENCHMARK:
            path = ('hwy/' if highway else 'src/') + source + '.cc'
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(DEFINITIONS.get(path, '// Nothing.\n'))


def upstream(wraps, folder):
    """Git repositories in place of the wraps' upstreams: the environment that makes Git go there."""
    environment = {'GIT_CONFIG_COUNT': str(len(wraps))}
    for i, (name, wrap) in enumerate(wraps.items()):
        stand_in(name, folder / name)
        for command in (['init', '-q'], ['add', '-A', '-f'],
                        ['-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '-q', '-m', 'stand-in'],
                        ['tag', wrap['revision']]):
            scratch.run(['git', *command], cwd=folder / name)
        environment |= {f'GIT_CONFIG_KEY_{i}': f'url.file://{folder / name}.insteadOf',
                        f'GIT_CONFIG_VALUE_{i}': wrap['url']}
    return environment


def read_wraps(root):
    wraps = {}
    for path in sorted((root / 'subprojects').glob('*.wrap')):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(path)
        wraps[path.stem] = parser['wrap-git']
    return wraps


def check_headers(build):
    """Compilations saw no header of the system's packages."""
    system = tuple(str(INCLUDE / name) + '/' for name in ('hwy', 'gtest', 'benchmark', 'range', 'meta', 'concepts'))
    listed = scratch.run(['ninja', '-C', build, '-t', 'deps']).splitlines()
    if found := sorted({line.strip() for line in listed if line.strip().startswith(system)}):
        sys.exit(f'headers of the system in place of the wraps\': {found[:5]}')


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(folder, ignore_errors=True)
    source, build = folder / 'source', folder / 'build'
    wraps = read_wraps(root)
    shutil.copytree(root / 'tests' / 'wraps' / 'project', source)
    library = source / 'subprojects' / 'kerngrad'
    scratch.write_tree(scratch.contents(root, scratch.source_files(root)), library)
    os.environ.update(upstream(wraps, folder / 'upstream'))
    scratch.run(['meson', 'setup', build, source, '--wrap-mode=forcefallback', '-Dkerngrad:tests=enabled',
                 '-Dkerngrad:benchmarks=enabled'])
    print(f'ok: kerngrad, its tests and benchmarks configure with {", ".join(wraps)} from their wraps')
    programs = [path.stem for path in source.glob('*.cc')]
    parts = ['kernels/libkerngrad-kernels.a.p/common_targets.cc.o', 'bench/libbench-support.a.p/support.cc.o']
    scratch.run(['ninja', '-C', build, *programs, *(f'subprojects/kerngrad/{part}' for part in parts)])
    for program in programs:
        scratch.run([build / program])
        print(f'ok: {program} builds with its wrap and runs')
    check_headers(build)
    print('ok: no header of the system in place of a wrap\'s')


if __name__ == '__main__':
    main()
