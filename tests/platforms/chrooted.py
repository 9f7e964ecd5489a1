#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chrooted.py ROOT: what chroot.py runs of each platform and by what names it counts that, in a chroot that is a folder
and whose Meson writes logs without running anything."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / 'tools' / 'platforms'))
import chroot  # noqa: E402
import record  # noqa: E402
from results import BROKEN, Counts  # noqa: E402


def require(condition, what):
    if not condition:
        sys.exit(what)


class Folder:
    """A chroot in which every command succeeds, but for those that have a word of `fails` in them."""

    def __init__(self, root, fails=()):
        self.root, self.fails, self.ran = root, fails, []

    def inside(self, command):
        return ['echo', '11 passed, 0 failed, 4 skipped']

    def run(self, command, env):
        words = [str(word) for word in command]
        self.ran.append((words, env))
        if words[:2] == ['meson', 'setup']:
            (self.root / words[2].lstrip('/') / 'meson-logs').mkdir(parents=True)
        if words[:2] == ['meson', 'test']:
            log = self.root / words[3].lstrip('/') / 'meson-logs' / words[words.index('--logbase') + 1]
            name = words[-1]
            log.with_suffix('.json').write_text(json.dumps({'name': name, 'result': 'OK'}))
            log.with_suffix('.junit.xml').write_text(
                f'<testsuites><testsuite name="kerngrad"><testcase name="{name}"/></testsuite></testsuites>')
        return not set(self.fails) & set(words)


def results_of(build, *parts):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        return build.run(parts or build.parts()), said.getvalue()


def check_platform(folder, name, data):
    """The suite fast as samples, each test of `full` by itself and in full, and the corpus; then not configured again,
    until the options are others."""
    data = data | {'full': [*data['full'], 'another']}
    inside = Folder(folder / name)
    found, _ = results_of(chroot.Build(inside, name, data))
    tests = [(words[-1], 'KERNGRAD_FULL' in env) for words, env in inside.ran if words[:2] == ['meson', 'test']]
    require(tests == [('--suite=fast', False)] + [(test, True) for test in data['full']], f'{name} runs {tests}')
    wanted = {what: Counts(1) for what in ['tests', *data['full']]} | {'corpus': Counts(11, 0, 4)}
    require(found == wanted, f'{name} gives {found}')
    require(all(env.items() >= data['env'].items() for _, env in inside.ran), f'{name} forgets its compilers')
    broken, _ = results_of(chroot.Build(Folder(inside.root, ['another']), name, data))
    require(broken == wanted | {'another': Counts(1, 1)}, f'a run that breaks off gives {broken}')
    for setup, times in (data['setup'], 0), ([*data['setup'], '-Dio=disabled'], 1):
        again = Folder(inside.root)
        found, _ = results_of(chroot.Build(again, name, data | {'setup': setup}))
        require(found == wanted, f'{name} with {setup} gives {found} after a run that broke off')
        configured = [words for words, _ in again.ran if words[:2] == ['meson', 'setup']]
        require(len(configured) == times, f'{name} with {setup} is configured {len(configured)} times')
    found, _ = results_of(chroot.Build(Folder(inside.root), name, data), 'another')
    require(found == {'another': Counts(1)}, f'{name} gives {found} of one part')
    require(results_of(chroot.Build(Folder(inside.root, ['ninja']), name, data))[0] == {'tests': BROKEN},
            f'{name} gives results though it does not build')


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        chroot.CORPUS = folder
        platforms, others = record.platforms_of('platforms.toml')
        for name, data in platforms.items():
            check_platform(folder, name, data)
        chroot.CORPUS = folder / 'none'
        found, said = results_of(chroot.Build(Folder(folder / 'trixie'), 'trixie', platforms['trixie']))
        missing = f'no corpus: there is no {chroot.CORPUS}'
        require('corpus' not in found and missing in said, f'without a corpus it says {said}')
        without = {test for data in platforms.values() for test in data['full']} - others['words'].keys()
        require(not without, f'platforms.toml has no words for {without}')


if __name__ == '__main__':
    main()
