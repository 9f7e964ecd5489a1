#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed_names.py OUTPUT NAMES...: which typed functions call which op, as a table in C++, of the units NAMES.

A unit names an op in three ways: `KG_ONE_OPERAND(exp, "Exp")`, `inline constexpr whole_axis_op<"All"> all;`, and in the
body of a function, which stands for the op of its own name, or else for the first one. A function that only calls
others by their typed names is theirs, and has no line.
"""
import pathlib
import re
import sys

LINE = re.compile(r'^KG_\w+\((\w+), "(\w+)"\)', re.MULTILINE)
VARIABLE = re.compile(r'^inline constexpr \w+<"(\w+)"> (\w+);', re.MULTILINE)
# A function at namespace scope: its head begins a line, its body ends with the line or with a brace that stands alone.
FUNCTION = re.compile(r'^(?:inline |template <[^\n]*>\n?(?:  requires [^\n]*\n)?(?:inline )?)[\w:<>, ]+? (\w+)\('
                      r'(?:[^\n]*\}\n|.*?^\}\n)', re.MULTILINE | re.DOTALL)
OP = re.compile(r'\b(?!attr\b)\w+<"(\w+)">')


def names_in(text):
    """(place, op, function) of each."""
    for found in LINE.finditer(text):
        yield found.start(), found.group(2), found.group(1)
    for found in VARIABLE.finditer(text):
        yield found.start(), found.group(1), found.group(2)
    for found in FUNCTION.finditer(text):
        function, ops = found.group(1), OP.findall(found.group(0))
        if ops:
            alike = [op for op in ops if op.lower() == function.replace('_', '')]
            yield found.start(), (alike or ops)[0], function


def main():
    output, *units = sys.argv[1:]
    lines = []
    for unit in units:
        for _, op, function in sorted(names_in(pathlib.Path(unit).read_text())):
            line = f'    {{"{op}", "{function}"}},'
            if line not in lines:
                lines.append(line)
    pathlib.Path(output).write_text('\n'.join([
        '// Made by typed_names.py.', '#pragma once', '#include <string_view>', '', 'namespace tool {', '',
        '/// A typed function, and the op that it calls.', 'struct typed_name {', '  std::string_view op, function;',
        '};', 'inline constexpr typed_name typed_names[] = {', *lines, '};', '', '}  // namespace tool', '']))


if __name__ == '__main__':
    main()
