#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorded.py ROOT: README's table of platforms says what tools/platforms/recorded.toml holds, and what a run writes
there is read back, each thing that was run by itself."""
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


def require(condition, what):
    if not condition:
        sys.exit(what)


def quietly(call, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        call(*arguments)
    return said.getvalue()


def check_file(folder):
    """A second run replaces what it ran again, and leaves the rest."""
    file = folder / 'recorded.toml'
    quietly(record.record, 'arm', {'NEON': (10, 1), 'SVE2 of 128 bits': (9, 0)}, 'aaaaaaa', file)
    quietly(record.record, 'arm', {'NEON': (12, 0)}, 'bbbbbbb', file)
    quietly(record.record, 'gcc', {'tests': (3, 0)}, 'bbbbbbb', file)
    data = tomllib.loads(file.read_text())
    wanted = {'arm': {'NEON': {'commit': 'bbbbbbb', 'passed': 12, 'failed': 0},
                      'SVE2 of 128 bits': {'commit': 'aaaaaaa', 'passed': 9, 'failed': 0}},
              'gcc': {'tests': {'commit': 'bbbbbbb', 'passed': 3, 'failed': 0}}}
    require(data == wanted, f'{file.name} holds {data}')
    text = record.cell(data['arm'])
    require(text == 'NEON: 12 passed, 0 failed (at bbbbbbb); SVE2 of 128 bits: 9 passed, 0 failed (at aaaaaaa)', text)
    page = record.with_table(f'before\n\n{record.HEAD}| old |\n\nafter\n', record.table(data))
    require('old' not in page and '`./dev test arm` | NEON: 12' in page, f'the page is\n{page}')
    require(page.startswith('before\n\n| system') and page.endswith('|\n\nafter\n'), f'the page is\n{page}')
    require('`./dev test trixie` | nothing |' in page, 'a platform that nobody ran has been run')


def check_commit(folder):
    """What is changed and in no commit is not recorded as one."""
    def git(*words):
        subprocess.run(['git', '-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', *words], check=True,
                       stdout=subprocess.DEVNULL)
    file = folder / 'source'
    git('init', '-q')
    file.write_text('1')
    git('add', '.')
    git('commit', '-qm', 'one')
    require(len(record.commit(folder) or '') >= 7, 'a clean checkout has no commit')
    (folder / 'README.md').write_text('not yet added')
    require(record.commit(folder), 'a new file is taken for a change')
    file.write_text('2')
    require(record.commit(folder) is None, 'a changed checkout is taken for its commit')


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_file(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_commit(pathlib.Path(folder))
    sys.exit(subprocess.run([sys.executable, ROOT / 'tools' / 'platforms' / 'record.py', '--check']).returncode)


if __name__ == '__main__':
    main()
