#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py: writes README's table of platforms anew; with --check it says whether that is to be done, and exits 1.

The table is made of the platforms' own files and of recorded.toml, into which the commands that test a platform write
what they ran, of which commit and with what result: `record`. What is not there nobody has run.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
README = CHECKOUT / 'README.md'
RECORDED = HERE / 'recorded.toml'
HEAD = """\
| system | compiler, standard library, Highway | command | has been run |
| --- | --- | --- | --- |
| Debian 12, x86-64 | Clang 19, libstdc++ 12, 1.0.3 | `./dev test` | with every change: all tests on \
SSSE3, AVX2 and AVX3; tensors, files and graph models with ASan and UBSan, threads with TSan; \
installed: pkg-config, make, Meson, CMake 3.31 |
"""
COMMENT = """\
# SPDX-License-Identifier: Apache-2.0
# What was last run of each platform, of which commit, and how many tests passed and failed where it counts them. The
# commands that test platforms write it (record.py), and README's table is made of it: ./dev docs.
"""


def commit(checkout=CHECKOUT):
    """The commit that is checked out, or none where there are changes that are in none."""
    def git(*words):
        done = subprocess.run(['git', '-C', checkout, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True)
        return done.stdout.strip() if done.returncode == 0 else None
    own = [f':!{file.relative_to(CHECKOUT)}' for file in (README, RECORDED)]
    changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', *own)
    return git('rev-parse', '--short=7', 'HEAD') if changed == '' else None


def written(data):
    """As TOML: a block for each platform, and in it a line for each thing that was run."""
    text = COMMENT
    for platform, runs in data.items():
        text += f'[{platform}]\n'
        for what, run in runs.items():
            fields = [f"{key} = '{value}'" if isinstance(value, str) else f'{key} = {value}'
                      for key, value in run.items()]
            text += f"'{what}' = {{{', '.join(fields)}}}\n"
    return text


def record(platform, results, of=None, file=RECORDED):
    """Takes down results, {what was run: (passed, failed)}, as those of the commit `of`. Other things that were run of
    the platform stay; so does what is in the file while there are changes that no commit has."""
    of = of or commit()
    if not of:
        print('not recorded for README: what was tested is no commit')
        return
    data = tomllib.loads(file.read_text()) if file.exists() else {}
    for what, (passed, failed) in results.items():
        data.setdefault(platform, {})[what] = {'commit': of, 'passed': passed, 'failed': failed}
    fresh = file.with_suffix('.new')
    fresh.write_text(written(data))
    os.replace(fresh, file)
    print(f'recorded in {file.name}; ./dev docs writes README\'s table')


def cell(runs):
    """What was run, in the order of the file, with each commit named once."""
    by_commit = {}
    for what, run in runs.items():
        counts = f': {run["passed"]} passed, {run["failed"]} failed' if 'passed' in run else ''
        by_commit.setdefault(run.get('commit', ''), []).append(what + counts)
    return '; '.join('; '.join(texts) + (f' (at {of})' if of else '') for of, texts in by_commit.items()) or 'nothing'


def table(recorded):
    platforms = {}
    for file in 'platforms.toml', 'emulated.toml':
        platforms |= tomllib.loads((HERE / file).read_text())
    del platforms['packages']
    unknown = recorded.keys() - platforms.keys()
    if unknown:
        sys.exit(f'{RECORDED}: no such platforms: {", ".join(sorted(unknown))}')
    rows = ((data['system'], data['tools'], f'`./dev test {name}`', cell(recorded.get(name, {})))
            for name, data in platforms.items())
    return HEAD + ''.join(f'| {" | ".join(row)} |\n' for row in rows)


def with_table(page, fresh):
    """The page with its table in this one's place: the lines from the table's head to the next empty one."""
    start = page.index(HEAD.partition('\n')[0])
    return page[:start] + fresh + page[page.index('\n\n', start) + 1:]


def main():
    page = README.read_text()
    fresh = with_table(page, table(tomllib.loads(RECORDED.read_text())))
    if sys.argv[1:] == ['--check']:
        lines = difflib.unified_diff(page.splitlines(True), fresh.splitlines(True), 'README.md', 'as recorded')
        sys.stdout.writelines(lines)
        sys.exit(0 if fresh == page else 'README.md: its table of platforms differs from what is recorded: ./dev docs')
    README.write_text(fresh)


if __name__ == '__main__':
    main()
