#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py [--check PAGE NAMES]: docs/dictionary.md, made of the files next to this; or whether PAGE is that.

The check also wants every name of ours to stand in the file NAMES, what a program sees, and 300 entries at least.
Each file is a topic. `OURS = NAMES` is an entry, lines `    = NAMES` go on with it, other indented lines say what
differs; OURS is `-` where nothing is offered, and the lines say what to do. {np,jnp}.exp stands for np.exp and jnp.exp;
F. is torch.nn.functional, nn. torch.nn, jnp. jax.numpy.

Five marks are for the test tests/dictionary, which evaluates both sides; the page does not show them:
    < CODE          C++ to evaluate in place of OURS
    > CODE          Python with the same result, for the names in it; or `NAMES: CODE`, where `_` in CODE is the name
    ~ CODE          Python whose result has the same shape and kind of dtype, but other values
    * CODE          Python of NumPy with the same result, where no name of NumPy or SciPy is in the entry
    ! NAMES: WHY    these names are not evaluated; without NAMES the entry is not
Names of NumPy, SciPy and PyTorch without a mark are called with the arguments of OURS.
"""
import dataclasses
import pathlib
import re
import sys

TOPICS = ('making', 'shapes', 'elements', 'elementwise', 'logic', 'reductions', 'order', 'matrices', 'signals',
          'networks', 'gradients', 'training', 'random', 'running', 'processes', 'text')
LIBRARIES = {'NumPy': ('np.',), 'SciPy': ('scipy.',), 'PyTorch': ('torch.', 'torchvision.', 'F.', 'nn.'),
             'JAX': ('jnp.', 'jax.', 'optax.'), 'Eigen': ('Eigen::',), 'xtensor': ('xt::',), 'TensorFlow.js': ('tf.',),
             'MPI': ('MPI_',)}
ALL_PREFIXES = sum(LIBRARIES.values(), ())
COMPARED = LIBRARIES['NumPy'] + LIBRARIES['SciPy'] + LIBRARIES['PyTorch']  # what the test evaluates
ABBREVIATIONS = {'F.': 'torch.nn.functional.', 'nn.': 'torch.nn.', 'jnp.': 'jax.numpy.', 'np.': 'numpy.',
                 'tf.': 'tensorflow.'}
MODULES_ON_TOP = {'kg::io::': 'kerngrad.io', 'kg::graph::': 'kerngrad.graph', 'kg::linalg::': 'kerngrad.linalg',
                  'kg::mpi::': 'kerngrad.mpi', 'kg::static_regex_replace': 'kerngrad.regex'}  # name -> what to import
LEAST = 300


def spread(names):
    for name in names.split():
        braces = re.fullmatch(r'\{(.*)\}(.*)', name)
        yield from ([head + braces.group(2) for head in braces.group(1).split(',')] if braces else [name])


@dataclasses.dataclass
class Entry:
    ours: str
    names: list
    note: str = ''
    marks: list = dataclasses.field(default_factory=list)  # (mark, text), in their order

    @property
    def code(self):
        """Code that is evaluated: OURS, or what the marks `<` say, line after line."""
        return ' '.join(text for mark, text in self.marks if mark == '<') or self.ours

    @property
    def reason(self):
        """Why the entry is not evaluated, or nothing."""
        return next((why for names, why in self.left_out() if not names), '')

    @property
    def module(self):
        """The module that a program imports next to kerngrad for this entry, or nothing."""
        return next((module for name, module in MODULES_ON_TOP.items() if name in self.ours), '')

    @property
    def evaluated(self):
        """True if a name of NumPy, SciPy or PyTorch is compared, or other code of NumPy."""
        left_out = {name for names, _ in self.left_out() for name in names}
        return not (self.ours == '-' or self.reason) and (any(mark == '*' for mark, _ in self.marks) or any(
            name.startswith(COMPARED) and name not in left_out for name in self.names))

    def left_out(self):
        """(names, reason) of each mark `!`."""
        for text in (text for mark, text in self.marks if mark == '!'):
            head, colon, why = text.partition(': ')
            names = list(spread(head))
            yield (names, why) if colon and set(names) <= set(self.names) else ([], text)

    def __iter__(self):
        return iter((self.ours, self.names, self.note))

    def add(self, line):
        """An indented line of the source."""
        mark, _, text = line.strip().partition(' ')
        if mark == '=':
            self.names += spread(text)
        elif mark in ('<', '>', '~', '*', '!'):
            self.marks.append((mark, text))
        else:
            self.note = f'{self.note} {line.strip()}'.strip()


def entries(text):
    """The topic's title, and its entries."""
    title, found = re.search(r'^\[(.*)\]$', text, re.MULTILINE).group(1), []
    for line in text.split('\n')[2:]:
        if line.startswith('    '):
            found[-1].add(line)
        elif line:
            ours, _, names = line.rpartition(' = ')
            is_whole = all(name.startswith(ALL_PREFIXES) for name in spread(names))  # or else an option's value
            found.append(Entry(ours, list(spread(names))) if ours and is_whole else Entry(line, []))
    return title, found


def topics():
    room = pathlib.Path(__file__).parent
    return [entries((room / f'{name}.txt').read_text()) for name in TOPICS]


def all_entries():
    return [entry for _, found in topics() for entry in found]


def of_library(names, prefixes):
    return ', '.join(f'`{name}`' for name in names if name.startswith(prefixes))


INTRODUCTION = '''# Dictionary

Names of NumPy, SciPy, PyTorch, JAX, Eigen, xtensor, TensorFlow.js and MPI, and what to write in kerngrad.
`./dev docs` makes this page of tools/dictionary. The test `dictionary_numpy` evaluates entries and compares them with
NumPy and SciPy, and `dictionary_torch` compares them with PyTorch.

`F.` is torch.nn.functional, `nn.` torch.nn, `jnp.` jax.numpy. Single letters and short words such as `edges` stand for
tensors, f and g for functions of one, rng for a `kg::generator`. Shapes in an entry are those of its operands.

Four differences are general, so the entries do not repeat them:

- Indices and counts are int32. They are int64 in NumPy and PyTorch, and PyTorch wants int64 where it takes indices.
- Functions with fractions as results take integers as float32, as PyTorch does. NumPy takes them as float64.
- Rounding functions return integers as they are. NumPy 1 makes float64 of them.
- An axis, or several in braces, follows the operand. A `true` after the axes keeps them with size 1.'''


def page():
    lines = [INTRODUCTION]
    for title, found in topics():
        libraries = {library: prefixes for library, prefixes in LIBRARIES.items()
                     if any(name.startswith(prefixes) for entry in found for name in entry.names)}
        heads = ['kerngrad', *libraries, 'what differs, or what to do']
        lines += ['', f'## {title}', '', '| ' + ' | '.join(heads) + ' |', '|' + ' --- |' * len(heads)]
        for ours, names, note in found:
            here = 'not offered' if ours == '-' else f'`{ours}`'
            cells = [here, *(of_library(names, prefixes) for prefixes in libraries.values())]
            lines.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in [*cells, note]) + ' |')
    return '\n'.join(lines) + '\n'


def faults(exported):
    total = 0
    for entry in all_entries():
        ours, names, note = entry
        total += len(names)
        if not names:
            yield f'{ours}: no name of a known library follows ` = `'
        if ours != '-' and not entry.evaluated and not entry.reason:
            yield f'{ours}: is not evaluated, so a mark `!` must say why'
        for name in names:
            if not name.startswith(ALL_PREFIXES):
                yield f'{name}: of no library'
        if ours == '-' and not note:
            yield f'{names[0]}: not offered, and nothing says what to do'
        for name in re.findall(r'kg(?:::\w+)+', ours + ' ' + note):
            known = {name, '::'.join(name.split('::')[:2])} & exported
            if not known and not name.startswith(tuple(MODULES_ON_TOP)):
                yield f'{name} is not exported'
    if total < LEAST:
        yield f'{total} entries, at least {LEAST}'


def main():
    if sys.argv[1:2] != ['--check']:
        sys.stdout.write(page())
        return
    found = list(faults(set(pathlib.Path(sys.argv[3]).read_text().split())))
    if {path.stem for path in pathlib.Path(__file__).parent.glob('*.txt')} != set(TOPICS):
        found.append('the files of tools/dictionary are not the topics of page.py')
    if pathlib.Path(sys.argv[2]).read_text() != page():
        found.append(f'{sys.argv[2]} is not what tools/dictionary says: write it again with `./dev docs`')
    sys.exit('\n'.join(found) or 0)


if __name__ == '__main__':
    main()
