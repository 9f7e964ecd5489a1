#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py RUNNER: the conformance runner on corpora of its own: what passes, fails, is skipped; what is no corpus."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
EXPECTED = [  # arguments, exit code, last line of standard output
    ([HERE / 'good'], 0, '32 passed, 0 failed, 17 skipped'),
    ([HERE / 'good', '--backend', 'reference'], 0, '32 passed, 0 failed, 17 skipped'),
    ([HERE / 'failing'], 1, '1 passed, 17 failed, 0 skipped'),
    ([HERE / 'departing'], 0, '9 passed, 0 failed, 0 skipped'),  # kerngrad's gradients at kinks, not the recorded ones
    ([HERE / 'malformed'], 2, ''),
    ([HERE / 'there_is_no_such_folder'], 2, ''),
    ([HERE / 'good', '--target', 'NO_SUCH_TARGET'], 2, ''),
]


def tensor(shape='[2]', data='[1,2]', dtype='float32'):
    return f'{{"dtype":"{dtype}","shape":{shape},"data":{data}}}'


def case(x=tensor(), attrs='{}'):
    return f'{{"id":"Abs-1","kernel":"Abs","attrs":{attrs},"inputs":{{"x":{x}}},"outputs":[{tensor()}]}}'


NESTED = '[' * 100000 + ']' * 100000
BROKEN = [  # a line that is no case, and what the message on it says
    (case()[:-1], 'not JSON'),
    (case(attrs=f'{{"axis":{NESTED}}}'), 'nested'),
    (case(tensor(data=NESTED)), 'nested'),
    ('[' * 100000, 'nested'),
    (case(tensor(data='[1,1e3920]')), 'number'),
    (case(tensor(data='[1,1e39]')), 'float32'),
    (case(tensor(data='[1,4294967297]', dtype='int32')), '32 bits'),
    (case(tensor(data='[1,1.5]', dtype='int32')), '32 bits'),
    (case(tensor(shape='[2.5]')), '64 bits'),
    (case(tensor(shape='[18446744073709551618]')), '64 bits'),
    (case(attrs='{"axis":18446744073709551615}'), '64 bits'),
    (case().replace('"attrs"', '"kernel":"Neg","attrs"'), 'twice'),
]

wrong = 0
for arguments, code, last in EXPECTED:
    run = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    lines = run.stdout.strip().splitlines()
    found = lines[-1] if lines else ''
    if run.returncode != code or (last and found != last) or (code == 2 and not run.stderr.strip()):
        print(f'{arguments}: exit {run.returncode}, "{found}"; wanted exit {code}, "{last}"\n{run.stdout}{run.stderr}')
        wrong += 1
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / 'forward' / 'Abs.jsonl'
    file.parent.mkdir()
    for line, word in BROKEN:
        file.write_text(line + '\n')
        run = subprocess.run([sys.argv[1], folder], capture_output=True, text=True)
        message = run.stderr.strip()
        if run.returncode != 2 or word not in message or len(message.splitlines()) != 1 or 'Abs.jsonl:1' not in message:
            print(f'{line[:80]}: exit {run.returncode}, "{message[:200]}"; wanted exit 2 and "{word}"')
            wrong += 1
sys.exit(wrong)
