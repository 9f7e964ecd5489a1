#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_snippets.py ROOT PAGE...: the code on a page is code that the tests build and run, and links lead somewhere.

Every C++ block, and every other block that says so, is followed by `<!-- from FILE -->` with a file of examples/ or
tests/ that has the same lines in one piece, indented alike or all by the same amount more. A line `// ...` in a block
stands for lines that are omitted: what follows it comes later in the file.
"""
import pathlib
import re
import sys
import textwrap

FENCE = re.compile(r'^```(\w*)\n(.*?)^```\n(?:\n?<!-- from (\S+) -->)?', re.MULTILINE | re.DOTALL)


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


def dead_links(root, page):
    text = FENCE.sub('', (root / page).read_text())
    headings = re.findall(r'^#+ (.*)$', text, re.MULTILINE)
    anchors = {re.sub(r'[^\w -]', '', heading).lower().replace(' ', '-') for heading in headings}
    for link in re.findall(r'\]\(([^)\s]+)\)', text):
        there = link[1:] in anchors if link.startswith('#') else '://' in link or ((root / page).parent / link).exists()
        if not there:
            yield f'{page}: the link {link} leads nowhere'


def wrong_blocks(root, page):
    text = (root / page).read_text()
    for match in FENCE.finditer(text):
        language, block, name = match.groups()
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


def main():
    root = pathlib.Path(sys.argv[1])
    found = [problem for page in sys.argv[2:] for check in (wrong_blocks, dead_links) for problem in check(root, page)]
    blocks = sum(len(FENCE.findall((root / page).read_text())) for page in sys.argv[2:])
    print(*found, f'{blocks} blocks on {len(sys.argv) - 2} pages', sep='\n')
    sys.exit(1 if found or not blocks else 0)


if __name__ == '__main__':
    main()
