#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snippets.py ROOT PAGES|FILE=PROGRAM...: the code on pages is code that the tests build and run, links lead somewhere.

Every C++ block, and every other block that says so, is followed by `<!-- from FILE -->` with a file of examples/ or
tests/ that has the same lines in one piece, indented alike or all by the same amount more. A line `// ...` in a block
stands for lines that are omitted: what follows it comes later in the file.

A block followed by `<!-- printed by FILE -->` is what that file's PROGRAM prints there: each is in one piece in its
output, after those before it on the page. Numbers may differ in what CPUs' rounding leaves open, blanks at will. An
empty PROGRAM was not built, and its output is not looked at; nor is that of one that exits with 77, because what it
needs is not on this machine. A file with no PROGRAM at all is a mistake.

A picture on a page is one that a PROGRAM of the page writes, and of the same size. Motion in it is hidden from
readers who ask for less motion.
"""
import functools
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree

FENCE = re.compile(r'^```(\w*)\n(.*?)^```\n(?:\n?<!-- (from|printed by) (\S+) -->)?', re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r'-?\d+(?:\.\d+)?(?:e[+-]?\d+)?')
TOKEN = re.compile(NUMBER.pattern + r'|\w+|\S')
# Functions err by units in the last place, other ones on other CPUs: a hundredth of this in float32.
TOLERANCE = 1e-5
LACKS = 77  # what a program says that has not what it needs


def find(piece, lines, start):
    """The line after the first place at or after `start` where the piece stands, or -1."""
    wanted = textwrap.dedent('\n'.join(piece))
    for at in range(start, len(lines) - len(piece) + 1):
        if textwrap.dedent('\n'.join(lines[at:at + len(piece)])) == wanted:
            return at + len(piece)
    return -1


def pieces_of(block):
    """The parts of a block between lines `// ...`, without empty lines at their ends."""
    parts = re.split(r'^ *// \.\.\.\n', block, flags=re.MULTILINE)
    return [part.strip('\n').split('\n') for part in parts if part.strip()]


@functools.cache
def printed_by(program):
    """Output of the program, in tokens, and the sizes of the pictures that it writes into a folder of its own.

    None if it lacks what it needs.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([pathlib.Path(program).resolve()], cwd=folder, capture_output=True, text=True)
        if run.returncode == LACKS:
            return None
        if run.returncode:
            raise RuntimeError(f'{program} failed with {run.returncode}: {run.stderr}')
        files = [path for path in pathlib.Path(folder).iterdir() if path.suffix in ('.png', '.svg')]
        return TOKEN.findall(run.stdout), {path.name: size_of(path) for path in files}


def size_of(picture):
    """Width and height of a PNG; of an SVG, which has to be XML, what its first element says of itself."""
    data = picture.read_bytes()
    return data[16:24] if picture.suffix == '.png' else xml.etree.ElementTree.fromstring(data).attrib


def is_restless(picture):
    """True if something moves in an SVG although the reader prefers less motion."""
    if picture.suffix != '.svg':
        return False
    elements = list(xml.etree.ElementTree.fromstring(picture.read_bytes()).iter())
    style = ' '.join(each.text for each in elements if each.tag.endswith('}style'))
    reduced = re.search(r'@media \(prefers-reduced-motion: reduce\) \{((?:[^{}]*\{[^{}]*\})*)', style)
    hidden = re.findall(r'\.(\w+) \{ display: none \}', reduced.group(1) if reduced else '')
    return any(each.get('class') not in hidden for each in elements
               if any(child.tag.endswith(('}animate', '}animateTransform', '}animateMotion')) for child in each))


def wrong_pictures(root, page, programs):
    text, written = (root / page).read_text(), {}
    for match in FENCE.finditer(text):
        program = programs.get(match.group(4)) if match.group(3) == 'printed by' else None
        if program and printed_by(program):
            written.update(printed_by(program)[1])
    for name in re.findall(r'!\[[^\]]+\]\(([^)\s]+)\)', text) if written else ():
        framed = name.removesuffix('.svg') + '.png'  # tools/site/gallery.py draws axes around it
        name = framed if name not in written and framed in written else name
        if name not in written or size_of((root / page).parent / name) != written[name]:
            yield f'{page}: no program of the page writes {name}, or writes it in another size'
        elif is_restless((root / page).parent / name):
            yield f'{page}: {name} moves where prefers-reduced-motion is set'


def same_token(a, b):
    if a == b:
        return True
    if not NUMBER.fullmatch(a) or not NUMBER.fullmatch(b) or not set('.e') & set(a + b):
        return False
    return math.isclose(float(a), float(b), rel_tol=TOLERANCE)


def after_tokens(wanted, tokens, start):
    """The token after the first place at or after `start` where the wanted ones stand, or -1."""
    for at in range(start, len(tokens) - len(wanted) + 1):
        if all(map(same_token, wanted, tokens[at:at + len(wanted)])):
            return at + len(wanted)
    return -1


def wrong_outputs(root, page, programs):
    text, places = (root / page).read_text(), {}
    for match in FENCE.finditer(text):
        _, block, kind, name = match.groups()
        if kind != 'printed by':
            continue
        where = f'{page}:{text.count(chr(10), 0, match.start()) + 1}'
        if name not in programs:
            yield f'{where}: {name} is not among the programs of this test'
        elif programs[name] and printed_by(programs[name]):
            tokens, start = printed_by(programs[name])[0], places.get(name, 0)
            places[name] = after_tokens(TOKEN.findall(block), tokens, start)
            if places[name] < 0:
                yield f'{where}: {name} does not print this after what the page shows before it; it goes on with\n' + \
                      ' '.join(tokens[start:start + 60])
                break


def anchors_of(page):
    headings = re.findall(r'^#+ (.*)$', FENCE.sub('', page.read_text()), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading).lower().replace(' ', '-') for heading in headings}


def dead_links(root, page):
    for link in re.findall(r'\]\(([^)\s]+)\)', FENCE.sub('', (root / page).read_text())):
        if '://' in link:
            continue
        name, _, anchor = link.partition('#')
        to = (root / page).parent / name if name else root / page
        if not to.exists() or (anchor and anchor not in anchors_of(to)):
            yield f'{page}: the link {link} leads nowhere'


def wrong_blocks(root, page):
    text = (root / page).read_text()
    for match in FENCE.finditer(text):
        language, block, kind, name = match.groups()
        if kind == 'printed by':
            continue
        where = f'{page}:{text.count(chr(10), 0, match.start()) + 1}'
        if not name:
            if language == 'cpp':
                yield f'{where}: a C++ block without `<!-- from FILE -->` after it'
            continue
        if not name.startswith(('examples/', 'tests/')) or not (root / name).is_file():
            yield f'{where}: {name} is no file of examples/ or tests/'
            continue
        lines, at = (root / name).read_text().split('\n'), 0
        for piece in pieces_of(block):
            at = find(piece, lines, at)
            if at < 0:
                yield f'{where}: {name} does not have these lines in this order:\n' + '\n'.join(piece)
                break


def pages_in(root, name):
    """The page of that name, or all pages of a folder."""
    if (root / name).is_dir():
        return sorted(path.relative_to(root).as_posix() for path in (root / name).glob('*.md'))
    return [name]


def main():
    root = pathlib.Path(sys.argv[1])
    programs = dict(argument.split('=', 1) for argument in sys.argv[2:] if '=' in argument)
    pages = [page for argument in sys.argv[2:] if '=' not in argument for page in pages_in(root, argument)]
    found = []
    for page in pages:
        found += [*wrong_blocks(root, page), *dead_links(root, page), *wrong_outputs(root, page, programs),
                  *wrong_pictures(root, page, programs)]
    blocks = sum(len(FENCE.findall((root / page).read_text())) for page in pages)
    print(*found, f'{blocks} blocks on {len(pages)} pages, {printed_by.cache_info().currsize} programs', sep='\n')
    sys.exit(1 if found or not blocks else 0)


if __name__ == '__main__':
    main()
