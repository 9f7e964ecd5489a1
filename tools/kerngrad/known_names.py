#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""known_names.py OUTPUT DEPFILE REFERENCE DICTIONARY DTYPES INTERFACES...: what `kerngrad find` searches, as tables in
C++.

The exports of the interface units, and the members of types, with signatures, the first sentence of each docstring and
the page of the reference, and their names in other libraries. REFERENCE and DICTIONARY are the folders of tools/ that
read these. DTYPES is the header that has the lines of KG_DTYPES.
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HEAD = '''// Made by known_names.py.
#pragma once
#include <string_view>

namespace tool {

using std::string_view_literals::operator""sv;

/// An export of a unit, `kg::top_k`, or a member of such a type: `kg::tensor::item`, the constructors
/// `kg::tensor::tensor`, the enumerator `kg::dtype::boolean`. Signatures are lines; `page` is that of the reference.
struct known_name {
  std::string_view name, signatures, doc, page;
  bool is_member;
};
/// What other libraries call something: their names in a line, what it is here, or "-", which of our names that is, and
/// what differs.
struct foreign_names {
  std::string_view theirs, ours, name, note;
};
/// How a library's name is written out: torch.nn.functional. for F.
struct abbreviation {
  std::string_view brief, whole;
};
'''


def first_sentence(doc):
    """Up to the first full stop that ends something; one in code or in brackets ends nothing."""
    doc, _, _ = doc.partition('\n')  # before an example
    plain = re.sub(r'`[^`]*`|\([^()]*\)|\[[^\]]*\]', lambda found: 'x' * len(found.group(0)), doc)
    found = re.search(r'(?<!\b[A-Z])\.(?= |$)', plain)
    return doc[:found.end()] if found else doc


def known(units, dtypes, pages):
    """name -> [signatures, docstring, page, whether it is a member] of what all units export but for operators;
    overloads are one."""
    names = {}

    def add(name, signatures, doc, page, is_member):
        entry = names.setdefault('kg::' + name, [[], '', page, is_member])
        entry[0] += [signature.split(' {\n')[0] for signature in signatures]
        entry[1] = entry[1] or first_sentence(doc)

    for unit in units:
        for found in pages.interfaces.declarations(pathlib.Path(unit).resolve()):
            page = f'docs/reference/{pages.place_of(found.source)[1]}.md'
            if not found.name.startswith('operator'):
                add(found.name, [found.signature], found.doc, page, False)
            members = pages.interfaces.dtypes(dtypes) if found.name == 'dtype' else found.members
            for member, (signatures, doc) in members.items():
                add(f'{found.name}::{member}', signatures, doc, page, True)
    return names


def foreign(page):
    for ours, names, note in (entry for _, found in page.topics() for entry in found):
        name = re.search(r'kg::\w+(?:::\w+)*', ours)
        yield ' '.join(names), ours, name.group(0) if name else '', note


def literal(value):
    """Texts with their lengths: counted by the compiler, those of all tables take more steps than it allows."""
    return json.dumps(value) + ('sv' if isinstance(value, str) else '')


def table(kind, name, rows):
    lines = ['    {' + ', '.join(map(literal, row)) + '},' for row in rows]
    return '\n'.join([f'inline constexpr {kind} {name}[] = {{', *lines, '};'])


def main():
    output, depfile, *folders, header = sys.argv[1:6]
    sys.path[:0] = folders
    import page
    import pages
    entries = pathlib.Path(page.__file__).parent.glob('*.txt')
    read = [header, pages.interfaces.__file__, pages.__file__, page.__file__, *entries]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(map(str, read))}\n')
    names = known(sys.argv[6:], pathlib.Path(header).read_text(), pages)
    pathlib.Path(output).write_text('\n'.join([
        HEAD, table('known_name', 'known_names', [(name, '\n'.join(signatures), *more)
                                                  for name, (signatures, *more) in sorted(names.items())]),
        table('foreign_names', 'dictionary', foreign(page)),
        table('abbreviation', 'abbreviations', page.ABBREVIATIONS.items()), '', '}  // namespace tool', '']))


if __name__ == '__main__':
    main()
