#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme.py ROOT: README is short, its quick start is the program that the tests run, and its numbers and the figures
are those that are recorded. `./dev test readme` runs what it cuts from the quick start. `./dev docs --check` finds each
number and figure that is stale."""
import contextlib
import io
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(ROOT / 'tools' / 'platforms'), str(ROOT / 'tools' / 'bench')]
sys.dont_write_bytecode = True
import front_page  # noqa: E402
import readme  # noqa: E402
import results  # noqa: E402

MOST_LINES = 150
PAGE, SPEED = (ROOT / 'README.md').read_text(), (ROOT / front_page.PAGE).read_text()
FIGURES = set(front_page.all_figures(ROOT))


def figures_of(*names):
    return {f'docs/pictures/{name}-{theme}.svg' for name in names for theme in ('light', 'dark')}


def require(condition, what):
    if not condition:
        sys.exit(what)


def check_page():
    require(PAGE.count('\n') <= MOST_LINES, f'README has {PAGE.count(chr(10))} lines, at most {MOST_LINES}')
    files, commands, _ = readme.cut(PAGE)
    source = (ROOT / 'examples/readme/start.cc').read_text().split('\n', 1)[1]  # without the licence's line
    require(files['start.cc'] == source, 'the quick start of README is not examples/readme/start.cc')
    require(commands[0].startswith('sudo apt-get install ') and 'build/start' in commands[-1], f'it has {commands}')
    for figure in FIGURES:
        shown = figure.rpartition('/')[2]
        require(shown in PAGE + SPEED, f'{figure} is on no page')
    stale = dict(front_page.check(ROOT))
    require(not stale, f'{"".join(stale.values())}./dev docs writes what is recorded')


def copied(folder):
    """The pages and the data, in a folder where they may change."""
    recorded = [name for name in front_page.RECORDS.values() if (ROOT / name).exists()]
    for name in [front_page.README, front_page.PAGE, front_page.TARGETS, *FIGURES, front_page.FIRST_BUILD, *recorded,
                 'tests/engine/exact_bits.txt']:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / 'tests/fail', folder / 'tests/fail')


def check_stale(folder):
    """Data that changed make stale what is made of them, and nothing else."""
    copied(folder)
    of_peers = figures_of('speed', 'speed-all', 'calls')
    cases = [('tests/engine/exact_bits.txt', 'Abs bfloat16', 'Abs more 00000000 bfloat16', {'README.md'}),
             (front_page.TARGETS, '| 0.164 |', '| 0.5 |',
              {'README.md', front_page.PAGE, *figures_of('speed', 'speed-all')}),
             (front_page.TARGETS, 'Measured on AMD EPYC', 'Measured on another', of_peers),
             (front_page.PAGE, '| age | 0.192 | 1.66 | 0.115 |', '| age | 0.192 | 1.66 | 9 |',
              {'README.md', front_page.PAGE}),
             (front_page.PAGE, '| age | 0.192 | 1.66 |', '| age | 0.292 | 1.66 |', figures_of('models')),
             (front_page.PAGE, '6.00 s, 0.78 s', '6.00 s, 0.79 s', figures_of('training')),
             (front_page.PAGE, '| 120 MB |', '| 121 MB |', {'README.md', *figures_of('size')}),
             (front_page.FIRST_BUILD, '"cores": ', '"cores": 1', {'README.md'}),
             (front_page.RECORDS['sizes'], '"add": {', '"sum": {', figures_of('speed-sizes')),
             (front_page.RECORDS['learning'], '"images": 60000', '"images": 6000', figures_of('learning')),
             (front_page.RECORDS['roofline'], '"targets": [', '"targets": [\n  "X",', figures_of('roofline')),
             ('README.md', '<!-- models.count -->', '1<!-- models.count -->', {'README.md'}),
             ('docs/pictures/speed-dark.svg', '0.43x', '2x', {'docs/pictures/speed-dark.svg'})]
    for name, before, after, wanted in cases:
        text = (folder / name).read_text()
        require(before in text, f'{name} has no {before}: the test needs another change')
        (folder / name).write_text(text.replace(before, after))
        stale = {file for file, _ in front_page.check(folder)}
        require(stale == wanted, f'{after} in {name} makes {stale} stale, and not {wanted}')
        (folder / name).write_text(text)
    (folder / 'README.md').write_text(PAGE + '1<!-- no.number -->\n')
    with contextlib.suppress(SystemExit):
        front_page.fresh(folder)
        sys.exit('a number of README that nothing records is accepted')


def check_commands(folder):
    """Commands run in their order; the first that fails ends the run, and so does another output."""
    files, commands, output = readme.cut(PAGE)
    readme.lay_out(folder, files, ROOT)
    require((folder / 'start/subprojects/kerngrad/meson.build').is_file(), 'the library is no subproject')
    require((folder / 'start/meson.build').read_text() == files['meson.build'], 'the project has no meson.build')
    good, every = results.Counts(1), len(commands)
    cases = [(output, 0, good, every), ('building\n' + output, 0, good, every), ('other', 0, results.BROKEN, every),
             (output, 1, results.BROKEN, 1)]
    for printed, code, wanted, ran in cases:
        with contextlib.redirect_stdout(io.StringIO()):
            counts, seconds = readme.run(lambda _: ['sh', '-c', 'printf %s "$1"; exit $2', 'sh', printed, str(code)],
                                         commands, output)
        require((counts, len(seconds)) == (wanted, ran), f'{printed!r} with {code} gives {counts} after {len(seconds)}')


def main():
    check_page()
    with tempfile.TemporaryDirectory() as scratch:
        check_stale(pathlib.Path(scratch) / 'data')
        check_commands(pathlib.Path(scratch) / 'system')


if __name__ == '__main__':
    main()
