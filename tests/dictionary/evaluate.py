#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evaluate.py LIBRARY DICTIONARY PROGRAM: entries of the dictionary next to numpy or torch.

PROGRAM, which program.py wrote, prints what each entry gives. The same call of LIBRARY must give the same shape, kind
of dtype and values; integers may have another width, and the note must say where floats have. With NaN and infinities
in the operands results must be the same, too, unless the note says something of them. Names that are not evaluated are
listed with the reason, and entries of a module that PROGRAM does not have are, too. Ends with 77 where LIBRARY is
missing.
"""
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
LIBRARY = sys.argv[1]
if not importlib.util.find_spec(LIBRARY):
    print(f'{LIBRARY} is not installed: its names are not compared')
    sys.exit(77)
sys.path.insert(0, sys.argv[2])
import numpy as np  # noqa: E402
import page  # noqa: E402
from calls import calls  # noqa: E402
from operands import TENSORS  # noqa: E402

PREFIXES = page.LIBRARIES['NumPy'] + page.LIBRARIES['SciPy'] if LIBRARY == 'numpy' else page.LIBRARIES['PyTorch']
RELATIVE, ABSOLUTE = 3e-5, 3e-6  # between two orders of adding up in float32


# ---- values on both sides

def operand(dtype, dims, elements):
    if dtype == 'text':
        return None
    array = np.array(elements, dtype).reshape(dims)
    if LIBRARY == 'numpy':
        return array
    return torch.from_numpy(array)


def with_libraries():
    """Names that code may use."""
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
    if first not in names:
        return False
    there = names[first]
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
        values = np.array(result['text'] if 'text' in result else result['real'])
        if 'imag' in result:
            values = values + 1j * np.array(result['imag'], float)
        yield values.reshape(result['dims']), result['dtype']


def kind_of(dtype):
    name = 'text' if str(dtype).startswith('<U') else str(dtype)
    return 'integer' if re.match(r'u?int', name) else re.match('[a-z]+', name).group(0)


def are_close(mine, other):
    if kind_of(other.dtype) == 'text':
        return (mine == other).all()
    return np.allclose(mine, other.astype(mine.dtype), RELATIVE, ABSOLUTE, equal_nan=True)


def differences(ours, theirs, with_values, note):
    ours, theirs = list(ours_as_arrays(ours)), as_arrays(theirs)
    if len(ours) != len(theirs):
        yield f'{len(ours)} results here, {len(theirs)} there'
    for (mine, dtype), other in zip(ours, theirs):
        if mine.shape != other.shape:
            yield f'shape {list(mine.shape)} here, {list(other.shape)} there'
        elif kind_of(dtype) != kind_of(other.dtype):
            yield f'{dtype} here, {other.dtype} there'
        elif with_values and not are_close(mine, other):
            yield f'{mine.ravel()[:8]} here, {other.ravel()[:8]} there'
        elif kind_of(dtype) == 'float' and dtype != str(other.dtype) and 'float' not in note:
            yield f'{dtype} here, {other.dtype} there, and the note says nothing of it'


def faults_of_call(ours, mark, code, names, note):
    """Differences between our results and those of a call."""
    if isinstance(ours, str):
        return [f'ours throws {ours}']
    try:
        theirs = eval(code, dict(names))
    except Exception as e:  # whatever a library throws
        return [f'{code} throws {type(e).__name__}: {str(e)[:200]}']
    return [f'{code}: {text}' for text in differences(ours, theirs, mark == '>', note)]


def compare(entries, results, names):
    """Faults; how many names were compared, and which are in no library or module here."""
    faults, compared, newer = [], 0, []
    special = {**names, 'x': names['n'], 'a': names['n'], 'b': names['gaps']}
    for number, entry in enumerate(entries):
        for name, mark, code in calls(entry, PREFIXES) if entry.evaluated else ():
            where = f'{entry.ours} = {name}'
            if not exists(name, names):
                newer.append(name)
                continue
            if code is None:
                faults.append(f'{where}: no call follows from ours; write one, `> {name}(...)`')
                continue
            if str(number) not in results:
                newer.append(f'{entry.module}: {name}')
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
    program = pathlib.Path(sys.argv[3]).resolve()
    with tempfile.TemporaryDirectory() as folder:  # where entries write files
        printed = subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE, cwd=folder).stdout
    results = json.loads(printed)
    np.seterr(all='ignore')
    faults, compared, newer = compare(entries, results, with_libraries())
    evaluated = [entry for entry in entries if entry.evaluated]
    for text in sorted(set(not_compared(entries))):
        print(text)
    print(f'in no library or module here: {", ".join(newer) or "none"}')
    print(f'{compared} names of {LIBRARY} compared; {len(evaluated)} of {len(entries)} entries are evaluated')
    sys.exit('\n'.join(faults) or (0 if compared else 'nothing was compared'))


if __name__ == '__main__':
    main()
