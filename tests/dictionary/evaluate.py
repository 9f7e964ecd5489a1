#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evaluate.py LIBRARY DICTIONARY PROGRAM: entries of the dictionary next to numpy or torch.

PROGRAM, which program.py wrote, prints what each entry gives. The same call of LIBRARY must give the same shape, kind
of dtype and values; integers may have another width, and the note must say where floats have. With NaN and infinities
in the operands results must be the same, too, unless the note says something of them. Names that are not evaluated are
listed with the reason. Ends with 77 where LIBRARY is missing.
"""
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
LIBRARY = sys.argv[1]
if not importlib.util.find_spec(LIBRARY):
    print(f'{LIBRARY} is not installed: its names are not compared')
    sys.exit(77)
sys.path.insert(0, sys.argv[2])
import numpy as np  # noqa: E402
import page  # noqa: E402
from operands import TENSORS  # noqa: E402

PREFIXES = page.LIBRARIES['NumPy' if LIBRARY == 'numpy' else 'PyTorch']
OPERATORS = r'(\w+) (?:[-+*/%&|^]|<<|>>|[=!<>]=|<|>) (\w+)'
RELATIVE, ABSOLUTE = 3e-5, 3e-6  # between two orders of adding up in float32


# ---- the call of a name, from the arguments of ours

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
    call = re.fullmatch(r'kg::\w+\((.*)\)', ours) or re.fullmatch(r'(\w+)\.\w+\(\)', ours)
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


def calls(entry):
    """(name, mark, code) of each name of the library: code is nothing where there is none."""
    said = {}
    for mark, text in entry.marks:
        if mark in '>~':
            for name, code in spelt(mark, text, entry.names):
                said.setdefault(name, []).append((mark, code))
    left_out = {name for names, _ in entry.left_out() for name in names}
    for name in entry.names:
        if name.startswith(PREFIXES) and name not in left_out:
            for mark, code in said.get(name) or [('>', derived(name, entry.code))]:
                yield name, mark, code


# ---- values on both sides

def operand(dtype, dims, elements):
    if dtype == 'text':
        return None
    array = np.array(elements, dtype).reshape(dims)
    if LIBRARY == 'numpy':
        return array
    return torch.from_numpy(array)


def with_libraries():
    """What code may name."""
    names = {'np': np, 'math': math}
    if LIBRARY == 'torch':
        import torch
        globals()['torch'] = torch
        torch.manual_seed(0)
        import torch_helpers
        names.update(vars(torch_helpers))
    else:
        import numpy_helpers
        names.update(vars(numpy_helpers))
    names.update({name: operand(*tensor) for name, tensor in TENSORS.items()})
    return names


def exists(name, names):
    first, *rest = name.split('.')
    there = names.get(first)
    for part in rest:
        if not hasattr(there, part):
            return False
        there = getattr(there, part)
    return True


def as_array(value):
    if type(value) is float:  # a number of Python's has no dtype that would differ
        return np.float32(value)
    if hasattr(value, 'detach'):
        value = value.detach().resolve_conj().numpy()
    return np.asarray(value)


def as_arrays(value):
    is_list = isinstance(value, (tuple, list)) and not all(isinstance(item, (int, float)) for item in value)
    return [as_array(item) for item in value] if is_list else [as_array(value)]


def ours_as_arrays(results):
    for result in results:
        values = np.array(result['real'], float)
        if 'imag' in result:
            values = values + 1j * np.array(result['imag'], float)
        yield values.reshape(result['dims']), result['dtype']


def kind_of(dtype):
    name = str(dtype)
    return 'integer' if re.match(r'u?int', name) else re.match('[a-z]+', name).group(0)


def differences(ours, theirs, with_values, note):
    ours, theirs = list(ours_as_arrays(ours)), as_arrays(theirs)
    if len(ours) != len(theirs):
        yield f'{len(ours)} results here, {len(theirs)} there'
    for (mine, dtype), other in zip(ours, theirs):
        if mine.shape != other.shape:
            yield f'shape {list(mine.shape)} here, {list(other.shape)} there'
        elif kind_of(dtype) != kind_of(other.dtype):
            yield f'{dtype} here, {other.dtype} there'
        elif with_values and not np.allclose(mine, other.astype(mine.dtype), RELATIVE, ABSOLUTE, equal_nan=True):
            yield f'{mine.ravel()[:8]} here, {other.ravel()[:8]} there'
        elif kind_of(dtype) == 'float' and dtype != str(other.dtype) and 'float' not in note:
            yield f'{dtype} here, {other.dtype} there, and the note says nothing of it'


def faults_of_call(ours, mark, code, names, note):
    """What differs between our results and those of a call."""
    if isinstance(ours, str):
        return [f'ours throws {ours}']
    try:
        theirs = eval(code, dict(names))
    except Exception as e:  # whatever a library throws
        return [f'{code} throws {type(e).__name__}: {str(e)[:200]}']
    return [f'{code}: {text}' for text in differences(ours, theirs, mark == '>', note)]


def compare(entries, results, names):
    """Faults; how many names were compared, and which are not in this version."""
    faults, compared, newer = [], 0, []
    special = {**names, 'x': names['n'], 'a': names['n'], 'b': names['gaps']}
    for number, entry in enumerate(entries):
        for name, mark, code in calls(entry) if entry.evaluated else ():
            where = f'{entry.ours} = {name}'
            if not exists(name, names):
                newer.append(name)
                continue
            if code is None:
                faults.append(f'{where}: no call follows from ours; write one, `> {name}(...)`')
                continue
            compared += 1
            plain, *with_nan = results[str(number)]
            faults += [f'{where}: {text}' for text in faults_of_call(plain, mark, code, names, entry.note)]
            if with_nan and mark == '>' and not re.search('NaN|infinit', entry.note, re.IGNORECASE):
                faults += [f'{where}: with NaN or infinities, of which the note says nothing: {text}'
                           for text in faults_of_call(with_nan[0], mark, code, special, entry.note)]
    return faults, compared, newer


def not_compared(entries):
    """A line for each entry with names that are not compared, and why."""
    for entry in entries:
        theirs = ' '.join(name for name in entry.names if name.startswith(PREFIXES))
        if entry.ours == '-' and theirs:
            yield f'not offered: {theirs}'
        for names, why in entry.left_out():
            theirs = ' '.join(name for name in names or entry.names if name.startswith(PREFIXES))
            if theirs:
                yield f'not evaluated: {entry.ours} = {theirs}: {why}'


def main():
    entries = page.all_entries()
    results = json.loads(subprocess.run([sys.argv[3]], check=True, text=True, stdout=subprocess.PIPE).stdout)
    np.seterr(all='ignore')
    faults, compared, newer = compare(entries, results, with_libraries())
    evaluated = [entry for entry in entries if entry.evaluated]
    for text in sorted(set(not_compared(entries))):
        print(text)
    print(f'not in this version of {LIBRARY}: {" ".join(newer) or "none"}')
    print(f'{compared} names of {LIBRARY} compared; {len(evaluated)} of {len(entries)} entries are evaluated')
    sys.exit('\n'.join(faults) or (0 if compared else 'nothing was compared'))


if __name__ == '__main__':
    main()
