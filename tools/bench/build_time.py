#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_time.py [--against REVISION] [-DOPTION...]: user time and sizes of a build as a consumer makes it.

Builds everything but tests and benchmarks in a new folder, without a compiler cache. With --against it builds another
revision in the same run. A fixed compilation before and after each build tells how fast the machine is: the last column
is the time of the build in such compilations, which other machines and busy ones can be compared by.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    subprocess.run(['meson', 'setup', str(build), str(source), '--native-file', str(native), '-Dtests=disabled',
                    '-Dbenchmarks=disabled', *options], check=True, stdout=subprocess.DEVNULL)
    llvm = next(line.split("'")[1] for line in native.read_text().splitlines() if line.startswith('llvm = '))
    before = reference_seconds(f'clang++-{llvm}')
    seconds = user_seconds(['ninja', '-C', str(build)], env={**os.environ, 'CCACHE_DISABLE': '1'})
    reference = (before + reference_seconds(f'clang++-{llvm}')) / 2
    size = stripped_size((build / 'modules' / 'libkerngrad.so').resolve(), folder) / 1e6
    return seconds, size, seconds / reference


def report(revision, measured):
    seconds, size, ratio = measured
    print(f'| {revision} | {seconds:.0f} s | {size:.1f} MB | {ratio:.0f} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--against', metavar='REVISION', help='another revision to build in the same run')
    options, build_options = parser.parse_known_args()
    print('| revision | user time | libkerngrad.so, stripped | reference compilations |\n| --- | ---: | ---: | ---: |')
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
        report('this tree', measure(ROOT, folder, build_options))


if __name__ == '__main__':
    main()
