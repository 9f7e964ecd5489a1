#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""program.py OUTPUT DEPFILE DICTIONARY MODULES...: a program in C++ that evaluates the entries of the dictionary.

DICTIONARY is the folder tools/dictionary. The program prints an object of JSON: the number of each entry that is
evaluated, and its results, also for operands with NaN and infinities. All others are compiled. Entries of modules on
top are left out unless MODULES has theirs.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from operands import TENSORS  # noqa: E402

CLASSES = {'float32': 'float', 'int32': 'std::int32_t', 'complex64': 'kg::complex64'}
HEAD = '''// Made by tests/dictionary/program.py.
#include "tests/dictionary/results.h"
'''


def literal(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, complex):
        return f'kg::complex64({literal(value.real)}, {literal(value.imag)})'
    if isinstance(value, float):
        return {'nan': 'NAN', 'inf': 'INFINITY', '-inf': '-INFINITY'}.get(repr(value), f'{value!r}f')
    return repr(value).lower()


def declaration(name, dtype, dims, elements):
    """A tensor in C++. A list of bool or of text has no type of its own in the library's constructors."""
    shape = '{' + ', '.join(map(str, dims)) + '}'
    items = ', '.join(map(literal, elements))
    if dtype == 'text':
        return f'const kg::tensor {name}{{{items}}};'
    if dtype == 'bool':
        numbers = ', '.join('1' if element else '0' for element in elements)
        return (f'const kg::tensor {name} = '
                f'kg::cast(kg::tensor(std::vector<std::int32_t>{{{numbers}}}, {shape}), kg::dtype::boolean);')
    return f'const kg::tensor {name}(std::vector<{CLASSES[dtype]}>{{{items}}}, {shape});'


def names_varied(code):
    """True if it names an operand that is also replaced by one with NaN and infinities: x and a by n, b by gaps."""
    return re.search(r'(?<![\w.])[xab]\b', code) is not None


def program(page, modules):
    declared = [declaration(name, *tensor) for name, tensor in TENSORS.items()]
    functions, calls = [], []
    for number, entry in enumerate(page.all_entries()):
        if entry.ours == '-' or entry.module not in ('', *modules):
            continue
        if entry.evaluated:
            on = '{{&x, &a, &b}, {&n, &n, &gaps}}' if names_varied(entry.code) else '{{&x, &a, &b}}'
            functions.append(f'void entry_{number}() {{ show({number}, {on}, [](in x, in a, in b) {{ '
                             f'(void)x, (void)a, (void)b; return {entry.code}; }}); }}')
            calls.append(f'  entry_{number}();')
        else:
            functions.append(f'[[maybe_unused]] void entry_{number}() {{ {entry.ours}; }}')
    imports = [f'import {module};' for module in modules]
    return '\n'.join([HEAD, *imports, '', 'namespace {', '', *declared, '', *functions, '', '}  // namespace', '',
                      'int main() {', *calls, '  finish();', '}', ''])


def main():
    output, depfile, dictionary, *modules = sys.argv[1:]
    sys.path.insert(0, dictionary)
    import page
    read = [page.__file__, *sorted(pathlib.Path(dictionary).glob('*.txt')),
            *sorted(pathlib.Path(__file__).parent.glob('*.py'))]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(map(str, read))}\n')
    pathlib.Path(output).write_text(program(page, modules))


if __name__ == '__main__':
    main()
