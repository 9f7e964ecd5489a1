#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_time.py [--against REVISION] [--record [SECONDS]] [-DOPTION...]: times and sizes of a build.

Builds everything but tests and benchmarks in a new folder, without a compiler cache. With --against it builds another
revision in the same run. A fixed compilation before and after each build tells how fast the machine is: the last column
is the time of the build in such compilations, which other machines and busy ones can be compared by.
--record writes the time by the clock into first_build.json, which README shows; or SECONDS, which
`time ninja -C build` gave for a build folder without tests and benchmarks. It belongs on a quiet machine.
"""
import argparse
import datetime
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / 'tools' / 'bench' / 'first_build.json'
OPTIONS = ['-Dtests=disabled', '-Dbenchmarks=disabled']
# Half of it is the optimizer's work, as in the library's own build.
REFERENCE = '''#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> std::vector<std::string> words(const std::string& text) {
  std::map<std::string, int> seen;
  const std::regex word("[a-z]{" + std::to_string(N) + "}");
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) ++seen[i->str()];
  std::vector<std::string> all;
  for (const auto& [name, count] : seen) all.insert(all.end(), count, name);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() + N < b.size(); });
  return all;
}
template std::vector<std::string> words<1>(const std::string&);
template std::vector<std::string> words<2>(const std::string&);
'''


def user_seconds(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def reference_seconds(compiler):
    command = [compiler, '-std=c++20', '-O3', '-xc++', '-', '-c', '-o', '/dev/null']
    return min(user_seconds(command, input=REFERENCE, text=True) for _ in range(3))


def stripped_size(path, folder):
    out = folder / 'stripped'
    subprocess.run(['strip', '--strip-all', '-o', str(out), str(path)], check=True)
    return out.stat().st_size


def measure(source, folder, options):
    build = folder / 'build'
    native = source / 'tools' / 'clang.ini'
    subprocess.run(['meson', 'setup', str(build), str(source), '--native-file', str(native), *OPTIONS,
                    *options], check=True, stdout=subprocess.DEVNULL)
    llvm = next(line.split("'")[1] for line in native.read_text().splitlines() if line.startswith('llvm = '))
    before = reference_seconds(f'clang++-{llvm}')
    start = time.monotonic()
    seconds = user_seconds(['ninja', '-C', str(build)], env={**os.environ, 'CCACHE_DISABLE': '1'})
    clock = time.monotonic() - start
    reference = (before + reference_seconds(f'clang++-{llvm}')) / 2
    size = stripped_size((build / 'modules' / 'libkerngrad.so').resolve(), folder) / 1e6
    return seconds, size, seconds / reference, clock


def report(revision, measured):
    seconds, size, ratio, clock = measured
    print(f'| {revision} | {seconds:.0f} s | {clock:.0f} s | {size:.1f} MB | {ratio:.0f} |', flush=True)


def record(seconds):
    """Writes how long the first build took on this machine today."""
    machine = next(line.partition(': ')[2] for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
                   if line.startswith('model name'))
    RECORD.write_text(json.dumps({'command': f'meson setup build {" ".join(OPTIONS)} && time ninja -C build',
                                  'machine': machine, 'cores': len(os.sched_getaffinity(0)),
                                  'date': f'{datetime.date.today()}', 'seconds': round(seconds)}, indent=1) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--against', metavar='REVISION', help='another revision to build in the same run')
    parser.add_argument('--record', nargs='?', type=float, const=-1, metavar='SECONDS',
                        help='write the time by the clock into first_build.json; SECONDS: that, without a build')
    options, build_options = parser.parse_known_args()
    if options.record is not None and options.record > 0:
        return record(options.record)
    print('| revision | user time | by the clock | libkerngrad.so, stripped | reference compilations |\n'
          '| --- | ---: | ---: | ---: | ---: |')
    with tempfile.TemporaryDirectory() as name:
        if options.against:
            folder = pathlib.Path(name) / 'other'
            folder.mkdir()
            tree = folder / 'tree'
            git = ['git', '-C', str(ROOT), 'worktree']
            subprocess.run([*git, 'add', '-q', '--detach', str(tree), options.against], check=True)
            try:
                report(options.against, measure(tree, folder, build_options))
            finally:
                subprocess.run([*git, 'remove', '--force', str(tree)], check=True)
        folder = pathlib.Path(name) / 'this'
        folder.mkdir()
        measured = measure(ROOT, folder, build_options)
        report('this tree', measured)
    if options.record is not None:
        record(measured[-1])
    return None


if __name__ == '__main__':
    main()
