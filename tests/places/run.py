#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SOURCE_ROOT SCRATCH: what it takes to add an op, in a scratch copy of the library.

An elementwise op takes five lines: row, kernel, reference, rule, typed name. An op with two results and a calling
convention of its own, in a family of its own, takes its files and one word in a list. Both are added, what they touch
is built, and the test kit judges them by their rows. No other file is changed: if one had to, the build or the kit
would say.
"""
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'build'))
import scratch  # noqa: E402

# File -> a line of it before which the new one goes, and that.
MISH = {
    'modules/ops/elementwise/rows.cc':
        ('    unary_row("Silu",', '    unary_row("Mish", "x * tanh(softplus(x)) (Misra 2019).", 40),'),
    'kernels/elementwise/unary.inc':
        ('KG_UNARY_LONG(Silu,', 'KG_UNARY_LONG(Mish, KG_FLOATS, hn::Mul(x, Tanh(d, Softplus(d, x))))'),
    'kernels/elementwise/reference_unary.cc':
        ('KG_WIDE(Silu,',
         'KG_WIDE(Mish, x * std::tanh(std::fmax(x, wide_t<T>{0}) + std::log1p(std::exp(-std::fabs(x)))))'),
    'grads/elementwise.cc':
        ('    rule<"Silu">', '''    rule<"Mish">(wrt(keep::in0,
                     [](const auto& c) {
                       const auto gate = tanh(softplus(c.in(0)));
                       return c.dy() * (gate + c.in(0) * (sigmoid(c.in(0)) * (1 - square(gate))));
                     })),'''),
    'modules/ops/elementwise/names.cc':
        ('inline constexpr unary_op<"Silu">', 'inline constexpr unary_op<"Mish"> mish;'),
}
FAMILY = 'rank'


def insert(file, before, new):
    text = file.read_text()
    at = text.find('\n' + before)
    if at < 0:
        sys.exit(f'{file} has no line that begins with {before}')
    file.write_text(text[:at + 1] + new + '\n' + text[at + 1:])


def add_family(library):
    """The files of the family, and its name at the end of the list."""
    shutil.copytree(HERE / FAMILY, library, dirs_exist_ok=True)
    build = library / 'meson.build'
    text, changed = re.subn(r"^(families = \[.*?)\]", rf"\1, '{FAMILY}']", build.read_text(), flags=re.M | re.S)
    if changed != 1:
        sys.exit('meson.build has no list of families')
    build.write_text(text)


def add_program(project):
    """A program of the superproject that imports the test kit."""
    folder = project.source / 'places'
    folder.mkdir(exist_ok=True)
    shutil.copy(HERE / 'places.cc', folder)
    (folder / 'meson.build').write_text(
        "executable('places', 'places.cc', dependencies: dependency('kerngrad-testkit'))\n")
    build = project.source / 'meson.build'
    build.write_text(build.read_text() + "\nsubdir('places')\n")


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    project = scratch.Superproject(root, folder)
    project.prepare()
    for file, (before, new) in MISH.items():
        insert(project.library / file, before, new)
    add_family(project.library)
    add_program(project)
    project.make('places/places')
    print(project.program('places/places'), end='')
    print(f'ok: Mish takes {len(MISH)} places, SortPairs its own files and a word in the list of families')


if __name__ == '__main__':
    main()
