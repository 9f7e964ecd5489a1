# SPDX-License-Identifier: Apache-2.0
"""The calls of NumPy and PyTorch that entries of the dictionary stand for."""
import re
import sys

import page

OPERATORS = r'(\w+) (?:[-+*/%&|^]|<<|>>|[=!<>]=|<|>) (\w+)'


def split_arguments(text):
    """The parts between commas outside of brackets."""
    parts, depth = [''], 0
    for char in text:
        depth += (char in '({[') - (char in ')}]')
        if char == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def in_python(argument):
    """An argument of C++, or nothing where there is no such thing in Python."""
    if argument.startswith('{') and argument.endswith('}'):
        items = [in_python(item) for item in split_arguments(argument[1:-1])]
        return None if None in items else '(' + ''.join(f'{item}, ' for item in items).rstrip(' ') + ')'
    if argument in ('true', 'false'):
        return argument.capitalize()
    return argument if re.fullmatch(r'-?[\w.]+', argument) else None


def arguments_of(ours):
    """The arguments of a call or of operators on names, or nothing."""
    if operator := re.fullmatch(OPERATORS, ours) or re.fullmatch(r'[-!](\w+)', ours):
        return list(operator.groups())
    call = re.fullmatch(r'kg::[\w:]+\((.*)\)', ours) or re.fullmatch(r'(\w+)\.\w+\(\)', ours)
    arguments = [in_python(argument) for argument in split_arguments(call.group(1))] if call else [None]
    return None if None in arguments else arguments


def derived(name, ours):
    arguments = arguments_of(ours)
    if arguments is None:
        return None
    for kind in ('torch.Tensor.', 'np.ndarray.'):
        if name.startswith(kind):
            return f'{arguments[0]}.{name[len(kind):]}({", ".join(arguments[1:])})'
    if re.match(r'nn\.[A-Z]', name):
        return f'{name}({", ".join(arguments[1:])})({arguments[0]})'
    return f'{name}({", ".join(arguments)})'


def spelt(mark, text, names):
    """(name, code) of a mark: the names that it says, for which `_` stands, or those that occur in the code."""
    head, colon, code = text.partition(': ')
    if colon and set(page.spread(head)) <= set(names):
        yield from ((name, re.sub(r'(?<!\w)_(?=[(,.])', name, code)) for name in page.spread(head))
        return
    found = [name for name in names if re.search(rf'(?<![\w.]){re.escape(name)}(?![\w.])', text)]
    if not found:
        sys.exit(f'no name of the entry is in `{mark} {text}`')
    yield from ((name, text) for name in found)


def calls(entry, prefixes):
    """(name, mark, code) of each name of the library with the prefixes: code is nothing where there is none."""
    said = {}
    if page.LIBRARIES['NumPy'][0] in prefixes:
        yield from (('np', '>', code) for mark, code in entry.marks if mark == '*')
    for mark, text in entry.marks:
        if mark in '>~':
            for name, code in spelt(mark, text, entry.names):
                said.setdefault(name, []).append((mark, code))
    left_out = {name for names, _ in entry.left_out() for name in names}
    for name in entry.names:
        if name.startswith(prefixes) and name not in left_out:
            for mark, code in said.get(name) or [('>', derived(name, entry.code))]:
                yield name, mark, code
