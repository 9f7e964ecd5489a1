#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py OUTPUT DEPFILE DICTIONARY: the calls of this library that follow from the dictionary, as a table in C++.

An entry whose call in PyTorch has operands and nothing else stands for every sample of that function that has tensors,
or numbers next to a tensor, and nothing else. So does one for NumPy where PyTorch has no such function. Functions with
attributes have a line in the files next to this.
"""
import ast
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HEAD = '''// Made by tests/opinfo/table.py of tools/dictionary.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

constexpr call_line lines[] = {
'''
TAIL = '''};

}  // namespace

std::span<const call_line> derived_calls() { return lines; }

}  // namespace opinfo
'''


def op_name(name):
    """The name that OpInfo has for a name of the dictionary; that of NumPy as it is."""
    for prefix, stands_for in (('torch.Tensor.', ''), ('torch.', ''), ('F.', 'nn.functional.')):
        if name.startswith(prefix):
            return stands_for + name[len(prefix):]
    return name


def operands_of(code, name):
    """The names of the operands of a call in Python, or nothing where it has anything else."""
    try:
        call = ast.parse(code, mode='eval').body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or call.keywords or not call.args:
        return None
    if not all(isinstance(argument, ast.Name) for argument in call.args):
        return None
    names = [argument.id for argument in call.args]
    function = ast.unparse(call.func)
    if name.startswith('torch.Tensor.') and function == f'{names[0]}.{name[len("torch.Tensor."):]}':
        return names
    return names if function == name and len(set(names)) == len(names) else None


def lines(page, calls, tensors, written):
    """A line for each function, by the first entry that has it, but for those that are written out."""
    seen = set(written)
    for topic, (_, found) in zip(page.TOPICS, page.topics()):
        for entry in found:
            if not entry.evaluated or entry.module or 'kg::call<' in entry.code:  # the program has none of these
                continue
            of_torch = any(name.startswith(page.LIBRARIES['PyTorch']) for name in entry.names)
            for name, mark, code in calls(entry, page.LIBRARIES['PyTorch' if of_torch else 'NumPy']):
                key = op_name(name)
                operands = operands_of(code, name) if mark == '>' and code and key not in seen else None
                used = set(re.findall(r'(?<![\w.:])[a-z]\w*(?![\w(:])', entry.code)) & set(tensors)
                if not operands or used != set(operands):
                    continue
                seen.add(key)
                parameters = ', '.join(f'const auto& {operand}' for operand in operands)
                yield (f'    {{"{topic}", "{key}", [](const sample& s) {{ return s.on_operands<{len(operands)}>('
                       f'[]({parameters}) -> decltype({entry.code}) {{ return {entry.code}; }}); }}}},')


def main():
    output, depfile, dictionary = sys.argv[1:]
    room = pathlib.Path(__file__).parent
    sys.path[:0] = [dictionary, str(room.parent / 'dictionary')]
    import calls
    import operands
    import page
    sources = sorted(room.glob('*.cc'))
    written = {name for source in sources for name in re.findall(r'^    {"\w+", "([\w.]+)"', source.read_text(), re.M)}
    read = [*sources, page.__file__, calls.__file__, operands.__file__, *sorted(pathlib.Path(dictionary).glob('*.txt'))]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(map(str, read))}\n')
    pathlib.Path(output).write_text(HEAD + '\n'.join(lines(page, calls.calls, operands.TENSORS, written)) + '\n' + TAIL)


if __name__ == '__main__':
    main()
