#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py: writes the table of docs/platforms.md again; with --check it says whether that is to be done, and exits 1.

The table is made of the platforms' own files and of recorded.toml, into which the commands that test a platform write
what they ran, of which commit and with what result: `record`. A missing entry was never run.
"""
import difflib
import fcntl
import pathlib
import subprocess
import sys
import tomllib

from results import Counts

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from llvm_version import llvm_version  # noqa: E402

PAGE, RECORDED = 'docs/platforms.md', 'tools/platforms/recorded.toml'
HEAD = """\
| system | compiler, standard library, Highway | command | has been run |
| --- | --- | --- | --- |
"""
COMMENT = """\
# SPDX-License-Identifier: Apache-2.0
# What was last run of each platform, of which commit, and how many tests passed and failed. The commands that test
# platforms write it (record.py), and the table of docs/platforms.md is made of it: ./dev docs.
"""


def platforms_of(name):
    """The platforms of one of the two files next to this one, and what else it holds."""
    data = tomllib.loads((HERE / name).read_text())
    return {key: data.pop(key) for key in list(data) if 'suite' in data[key]}, data


def commit(checkout=CHECKOUT):
    """The commit that is checked out, or none where there are changes that are in none."""
    def git(*words):  # which reads another's repository for root by sudo, and writes nothing there
        done = subprocess.run(['git', '--no-optional-locks', '-C', checkout, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip() if done.returncode == 0 else None
    own = [f':!{name}' for name in (PAGE, RECORDED)]
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


def record(platform, results, started_at, whole=True, checkout=CHECKOUT):
    """Takes down results, {what was run: its Counts}, in place of all that was run of the platform before or, of a part
    of it, in place of the same part. `started_at` is commit() from before: the checkout is what was tested, and what
    changed meanwhile is not recorded."""
    now = commit(checkout)
    if not now or now != started_at:
        print('not recorded: what was tested is no commit, or was changed meanwhile')
        return
    runs = {}
    for what, counts in results.items():
        kinds = {kind: count for kind, count in counts._asdict().items() if kind != 'skipped' or count}
        runs[what] = {'commit': now, **kinds}
    with (checkout / RECORDED).open('r+') as file:  # in its place, so that it stays its owner's where root writes
        fcntl.flock(file, fcntl.LOCK_EX)
        data = tomllib.loads(file.read())
        data[platform] = runs if whole else data.get(platform, {}) | runs
        file.seek(0)
        file.truncate()
        file.write(written(data))
    print(f'recorded in {RECORDED}; ./dev docs writes the table of {PAGE}')


def cell(runs, always='', words={}):
    """Entries that CI checks with every change, and others that were run, in the file's order, each commit once."""
    by_commit = {}
    for what, run in runs.items():
        counts = Counts(**{key: value for key, value in run.items() if key != 'commit'})
        by_commit.setdefault(run['commit'], []).append(f'{words.get(what, what)}: {counts}')
    texts = [f'with every change: {always}'] if always else []
    texts += [f'{"; ".join(parts)} (at {of})' for of, parts in by_commit.items()]
    return '; '.join(texts) or 'nothing'


def table(recorded):
    platforms, others = platforms_of('platforms.toml')
    platforms |= platforms_of('emulated.toml')[0]
    unknown = recorded.keys() - platforms.keys()
    if unknown:
        sys.exit(f'{RECORDED}: no such platforms: {", ".join(sorted(unknown))}')
    base = others['base']
    lines = [[base['system'], base['tools'], '`./dev test`', cell({}, base['always'])]]
    lines += [[data['system'], data['tools'], f'`./dev test {name}`',
               cell(recorded.get(name, {}), data.get('always', ''), others['words'])]
              for name, data in platforms.items()]
    return HEAD + ''.join(f'| {" | ".join(line)} |\n' for line in lines).replace('{llvm}', llvm_version())


def with_table(page, fresh):
    """The page with its table in this one's place: the lines from the table's head to the next empty one."""
    start = page.index(HEAD.partition('\n')[0])
    return page[:start] + fresh + page[page.index('\n\n', start) + 1:]


def main():
    path = CHECKOUT / PAGE
    page = path.read_text()
    fresh = with_table(page, table(tomllib.loads((CHECKOUT / RECORDED).read_text())))
    if sys.argv[1:] == ['--check']:
        lines = difflib.unified_diff(page.splitlines(True), fresh.splitlines(True), PAGE, 'as recorded')
        sys.stdout.writelines(lines)
        sys.exit(0 if fresh == page else f'{PAGE}: its table differs from what is recorded: ./dev docs')
    path.write_text(fresh)


if __name__ == '__main__':
    main()
