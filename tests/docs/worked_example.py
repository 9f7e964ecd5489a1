#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""worked_example.py ROOT BUILD COMPILER...: the example of CONTRIBUTING.md omits no place and compiles as written.

BUILD is the build folder, for headers that the build writes. Every file that names all ops of its kind, unary ones with
an error bound, has to be one that the example names. Its blocks are put into copies of the files that the text names
before them, and what needs no module is compiled.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
FOLDERS = ('kernels', 'modules', 'grads', 'tests', 'tools', 'bench', 'docs')
OP = 'LogSigmoid'
UNITS = ('kernels/elementwise/unary.cc', 'kernels/elementwise/reference_unary.cc', 'tools/accuracy/oracle.cc',
         'tools/accuracy/derivatives.cc', 'tests/elementwise/math.cc')


def example():
    text = (ROOT / 'CONTRIBUTING.md').read_text()
    return text[text.index('## Add an op: an example'):]


def kin():
    """Unary ops with a bound of their errors."""
    table = (ROOT / 'kernels/common/accuracy.h').read_text().split('accuracy_bound accuracy[]')[1].split('};')[0]
    bounds = set(re.findall(r'\{"(\w+)",', table))
    return bounds & set(re.findall(r'unary_row\("(\w+)"', (ROOT / 'modules/ops/elementwise/rows.cc').read_text()))


def places(ops):
    """The files that name each of the ops."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.cc', '.h', '.inc', '.md') and ops <= set(re.findall(r'\w+', path.read_text())):
                yield path.relative_to(ROOT).as_posix()


def blocks(text):
    """(file, code) of each block: the paragraphs before blocks name their files in order."""
    named = []
    for path, code in re.findall(r'`([\w/.]+)`|^```cpp\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        if code:
            yield named.pop(0), code
        elif (ROOT / path).is_file():
            named.append(path)


def insert(file, code):
    """Puts a block before the first line of the file that is an entry of the same form."""
    name = re.sub(r'(?<!^)(?=[A-Z])', '_', OP).lower()  # of the function
    head = re.escape(code[:code.index(OP) + len(OP) + 1]).replace(OP, r'\w+').replace(name, r'\w+')
    text = file.read_text()
    entry = re.search('^' + head, text, re.MULTILINE)
    assert entry, f'{file.name} has no line like {code.splitlines()[0]}'
    file.write_text(text[:entry.start()] + code + text[entry.start():])


ops, text = kin(), example()
assert len(ops) > 15 and OP not in ops
wanted = list(places(ops))
assert len(wanted) > 8, wanted
left_out = [place for place in wanted if place not in text]
assert not left_out, f'every op of the kind stands in {left_out}, which the example does not name'

with tempfile.TemporaryDirectory() as name:
    copy = pathlib.Path(name)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder)
    filled = [path for path, code in blocks(text) if not insert(copy / path, code)]
    written = {'docs/ops.md', 'docs/ops/elementwise.md', 'docs/ops/bounds.md', 'docs/dtypes.md',
               'kernels/common/accuracy_worst.h',
               'kernels/common/accuracy_gradients.h', 'tools/kerngrad/op_memory.h'}
    assert set(wanted) - set(filled) == written, 'all but what programs write'
    for unit in UNITS:
        made = subprocess.run([*COMPILER, '-fsyntax-only', '-DHWY_COMPILE_ONLY_STATIC', '-I', name, '-I', BUILD,
                               str(copy / unit)],
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
