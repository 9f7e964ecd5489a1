#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorded.py ROOT: the table of docs/platforms.md says what tools/platforms/recorded.toml holds, and what a run writes
there is read back, each thing that was run by itself, of one commit."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / 'tools' / 'platforms'))
import record  # noqa: E402
from results import Counts  # noqa: E402


def require(condition, what):
    if not condition:
        sys.exit(what)


def quietly(call, *arguments, **more):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        call(*arguments, **more)
    return said.getvalue()


def git(folder, *words):
    subprocess.run(['git', '-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', *words], check=True,
                   stdout=subprocess.DEVNULL)


def made_checkout(folder):
    """A repository of one commit, with nothing recorded."""
    (folder / record.RECORDED).parent.mkdir(parents=True)
    (folder / record.RECORDED).touch()
    (folder / record.PAGE).parent.mkdir()
    (folder / record.PAGE).write_text('page')
    (folder / 'source').write_text('1')
    git(folder, 'init', '-q')
    next_commit(folder)


def next_commit(folder):
    git(folder, 'add', '.')
    git(folder, 'commit', '-qm', 'next', '--allow-empty')
    return record.commit(folder)


def check_commit(folder):
    """A tree with uncommitted changes is not recorded as a commit."""
    require(len(record.commit(folder) or '') >= 7, 'a clean checkout has no commit')
    (folder / 'unknown').write_text('not yet added')
    (folder / record.PAGE).write_text('its table')
    require(record.commit(folder), 'a new file, or the table, is taken for a change')
    (folder / 'source').write_text('2')
    require(record.commit(folder) is None, 'a changed checkout is taken for its commit')
    (folder / 'source').write_text('1')


def check_file(folder):
    """A run of all replaces what was run before, a run of a part the same part, and a checkout that was changed
    meanwhile nothing. The commits that were recorded, and what is in the file then."""
    file = folder / record.RECORDED
    before = file.stat().st_ino
    first, second = record.commit(folder), next_commit(folder)
    all_of_arm = {'NEON': Counts(10, 1), 'SVE2 of 128 bits': Counts(9, 0, 2)}
    quietly(record.record, 'arm', {'what is no longer run' * 9: Counts(1)}, second, checkout=folder)
    quietly(record.record, 'arm', all_of_arm, second, checkout=folder)
    third = next_commit(folder)
    quietly(record.record, 'arm', {'NEON': Counts(12)}, third, whole=False, checkout=folder)
    quietly(record.record, 'gcc', {'tests': Counts(3)}, third, checkout=folder)
    wanted = {'arm': {'NEON': {'commit': third, 'passed': 12, 'failed': 0},
                      'SVE2 of 128 bits': {'commit': second, 'passed': 9, 'failed': 0, 'skipped': 2}},
              'gcc': {'tests': {'commit': third, 'passed': 3, 'failed': 0}}}
    data = tomllib.loads(file.read_text())
    require(data == wanted, f'{file.name} holds {data}')
    require(file.stat().st_ino == before, f'{file.name} is another file, which may have another owner')

    def require_refusal(started_at):
        said = quietly(record.record, 'arm', all_of_arm, started_at, checkout=folder)
        require(said.startswith('not recorded') and said.count('\n') == 1, f'said of what was changed: {said}')
        require(tomllib.loads(file.read_text()) == wanted, 'what was changed meanwhile is recorded')

    for started_at in first, None:  # of another commit, and of none
        require_refusal(started_at)
    (folder / 'source').write_text('3')
    require_refusal(third)
    return second, third, data


def check_table(second, third, data):
    text = record.cell(data['arm'], 'it compiles', {'NEON': 'words'})
    require(text == f'with every change: it compiles; words: 12 passed, 0 failed (at {third}); '
                    f'SVE2 of 128 bits: 9 passed, 0 failed, 2 skipped (at {second})', text)
    page = record.with_table(f'before\n\n{record.HEAD}| old |\n\nafter\n', record.table(data))
    require('old' not in page and 'NEON and SVE2; NEON: 12' in page, f'the page is\n{page}')
    require(page.startswith('before\n\n| system') and page.endswith('|\n\nafter\n'), f'the page is\n{page}')
    require('`./dev test trixie` | nothing |' in page, 'a platform that nobody ran has been run')
    require('`./dev test gcc` | the `fast` suite: 3 passed' in page, f'a name has no words:\n{page}')


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        made_checkout(folder)
        check_commit(folder)
        check_table(*check_file(folder))
    sys.exit(subprocess.run([sys.executable, ROOT / 'tools' / 'platforms' / 'record.py', '--check']).returncode)


if __name__ == '__main__':
    main()
