#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py [--check PAGE NAMES]: docs/dictionary.md, made of the files beside this; or whether PAGE is that.

The check also wants every name of ours to stand in the file NAMES, what a program sees, and 300 entries at least.
Each file is a topic. `OURS = NAMES` is an entry, lines `    = NAMES` go on with it, other indented lines say what
differs; OURS is `-` where nothing is offered, and the lines say what to do. {np,jnp}.exp stands for np.exp and jnp.exp;
F. is torch.nn.functional, nn. torch.nn, jnp. jax.numpy.
"""
import pathlib
import re
import sys

TOPICS = ('making', 'shapes', 'elements', 'elementwise', 'logic', 'reductions', 'order', 'matrices', 'signals',
          'networks', 'gradients', 'training', 'random', 'running', 'text')
LIBRARIES = {'NumPy': ('np.',), 'PyTorch': ('torch.', 'torchvision.', 'F.', 'nn.'), 'JAX': ('jnp.', 'jax.', 'optax.'),
             'Eigen': ('Eigen::',), 'xtensor': ('xt::',), 'TensorFlow.js': ('tf.',)}
ABBREVIATIONS = {'F.': 'torch.nn.functional.', 'nn.': 'torch.nn.', 'jnp.': 'jax.numpy.', 'np.': 'numpy.',
                 'tf.': 'tensorflow.'}
MODULES_ON_TOP = ('kg::io::', 'kg::graph::', 'kg::static_regex_replace')  # apart from `import kerngrad;`
LEAST = 300


def spread(names):
    for name in names.split():
        braces = re.fullmatch(r'\{(.*)\}(.*)', name)
        yield from ([head + braces.group(2) for head in braces.group(1).split(',')] if braces else [name])


def entries(text):
    """[ours, names, note] of each, and the topic's title."""
    title, found = re.search(r'^\[(.*)\]$', text, re.MULTILINE).group(1), []
    for line in text.split('\n')[2:]:
        if line.startswith('    = '):
            found[-1][1] += spread(line[6:])
        elif line.startswith('    '):
            found[-1][2] = f'{found[-1][2]} {line.strip()}'.strip()
        elif line:
            ours, _, names = line.rpartition(' = ')
            found.append([ours, list(spread(names)), ''])
    return title, found


def topics():
    room = pathlib.Path(__file__).parent
    return [entries((room / f'{name}.txt').read_text()) for name in TOPICS]


def of_library(names, prefixes):
    return ', '.join(f'`{name}`' for name in names if name.startswith(prefixes))


def page():
    lines = ['# Dictionary', '', 'What NumPy, PyTorch, JAX, Eigen, xtensor and TensorFlow.js call things, and what '
             'they are here. Made of tools/dictionary by `./dev docs`; a test compares.', '',
             '`F.` is torch.nn.functional, `nn.` torch.nn, `jnp.` jax.numpy. x, a and b stand for tensors, f and g for '
             'functions of one, rng for a `kg::generator`.']
    for title, found in topics():
        heads = ['kerngrad', *LIBRARIES, 'what differs, or what to do']
        lines += ['', f'## {title}', '', '| ' + ' | '.join(heads) + ' |', '|' + ' --- |' * len(heads)]
        for ours, names, note in found:
            here = 'not offered' if ours == '-' else f'`{ours}`'
            cells = [here, *(of_library(names, prefixes) for prefixes in LIBRARIES.values())]
            lines.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in [*cells, note]) + ' |')
    return '\n'.join(lines) + '\n'


def faults(exported):
    total = 0
    for ours, names, note in (entry for _, found in topics() for entry in found):
        total += len(names)
        for name in names:
            if not name.startswith(sum(LIBRARIES.values(), ())):
                yield f'{name}: of no library'
        if ours == '-' and not note:
            yield f'{names[0]}: not offered, and nothing says what to do'
        for name in re.findall(r'kg(?:::\w+)+', ours + ' ' + note):
            known = {name, '::'.join(name.split('::')[:2])} & exported
            if not known and not name.startswith(MODULES_ON_TOP):
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
        found.append(f'{sys.argv[2]} is not what tools/dictionary says: write it anew with `./dev docs`')
    sys.exit('\n'.join(found) or 0)


if __name__ == '__main__':
    main()
