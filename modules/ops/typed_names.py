#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed_names.py OUTPUT NAMES... --composed BODIES...: which typed functions call which op, as a table in C++.

The table function_of_op has the one function by which errors name an op: what stands for it in a line `KG_...`, else
the function of its own name, else all of them, written as `kg::segment_mean|prod`.

A unit of NAMES names an op in three ways: `KG_ONE_OPERAND(exp, "Exp")`, `inline constexpr whole_axis_op<"All"> all;`,
and in the body of a function, which stands for the custom op name, or else for the first one. A function that only
calls others by their typed names is theirs, and has no line. An op that no unit names has the composed function in
BODIES that calls it, outside of unnamed namespaces.
"""
import pathlib
import re
import sys

LINE = re.compile(r'^KG_\w+\((\w+), "(\w+)"\)', re.MULTILINE)
VARIABLE = re.compile(r'^inline constexpr \w+<"(\w+)"> (\w+);', re.MULTILINE)
# A function at namespace scope: its head begins a line, its body ends with the line or with a brace that stands alone.
FUNCTION = re.compile(r'^(?:inline |template <[^\n]*>\n?(?:  requires [^\n]*\n)?(?:inline )?)[\w:<>, ]+? (\w+)\('
                      r'(?:[^\n]*\}\n|.*?^\}\n)', re.MULTILINE | re.DOTALL)
UNNAMED = re.compile(r'^namespace \{\n.*?^\}  // namespace\n', re.MULTILINE | re.DOTALL)
COMPOSED = re.compile(r'^[\w:<>, ]+? (\w+)\([^;{}]*\) \{(?:[^\n]*\}\n|\n.*?^\}\n)', re.MULTILINE | re.DOTALL)
OP = re.compile(r'\b(?!attr\b)\w+<"(\w+)">')


HEAD = '''// Made by typed_names.py.
#pragma once
#include <algorithm>
#include <string_view>

namespace kerngrad::detail {

/// A typed function, and the op that it calls.
struct typed_name {
  std::string_view op, function;
};
'''
SPELLED = '''
/// A built-in op as programs spell it, such as `kg::matmul` for BatchMatMul; another name as it is.
constexpr std::string_view spelled(std::string_view op) {
  const auto* found = std::ranges::lower_bound(function_of_op, op, {}, &typed_name::op);
  return found != std::end(function_of_op) && found->op == op ? found->function : op;
}

}  // namespace kerngrad::detail
'''


def names_in(text):
    """(offset, op, function, whether a line says it) of each."""
    for found in LINE.finditer(text):
        yield found.start(), found.group(2), found.group(1), True
    for found in VARIABLE.finditer(text):
        yield found.start(), found.group(1), found.group(2), True
    for found in FUNCTION.finditer(text):
        function, ops = found.group(1), OP.findall(found.group(0))
        if ops:
            alike = [op for op in ops if are_alike(op, function)]
            yield found.start(), (alike or ops)[0], function, False


def composed_names_in(text):
    """(op, function) of each composed function that calls an op."""
    for found in COMPOSED.finditer(UNNAMED.sub('', text)):
        for op in OP.findall(found.group(0)):
            yield op, found.group(1)


def are_alike(op, function):
    return op.lower() == function.replace('_', '')


def in_errors(op, functions):
    """The one function by which errors name an op, from (function, whether a line says it)."""
    by_line = [function for function, is_line in functions if is_line]
    alike = [function for function, _ in functions if are_alike(op, function)]
    if by_line or alike or len(functions) == 1:
        return f'kg::{(by_line or alike or [functions[0][0]])[0]}'
    first, *others = (function for function, _ in functions)
    stem = first[:first.rindex('_') + 1]
    return 'kg::' + '|'.join([first, *(function.removeprefix(stem) for function in others)])


def table(name, rows):
    lines = [f'    {{"{op}", "{function}"}},' for op, function in rows]
    return '\n'.join([f'inline constexpr typed_name {name}[] = {{', *lines, '};'])


def main():
    output, *units = sys.argv[1:]
    at = units.index('--composed')
    units, bodies = units[:at], units[at + 1:]
    functions = {}  # op -> (function, whether a line says it)
    rows = []
    for unit in units:
        for _, op, function, is_line in sorted(names_in(pathlib.Path(unit).read_text())):
            if (op, function) not in rows:
                rows.append((op, function))
                functions.setdefault(op, []).append((function, is_line))
    named = set(functions)
    for body in bodies:
        for op, function in composed_names_in(pathlib.Path(body).read_text()):
            if op not in named and (op, function) not in rows:
                rows.append((op, function))
                functions.setdefault(op, []).append((function, False))
    spelled = sorted((op, in_errors(op, found)) for op, found in functions.items())
    pathlib.Path(output).write_text('\n'.join([
        HEAD + table('typed_names', rows), '// By ops, in their order.', table('function_of_op', spelled), SPELLED]))


if __name__ == '__main__':
    main()
