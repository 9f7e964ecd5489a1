#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py TRACE EXAMPLE SOURCE DOCUMENT

1. TRACE FILE writes a trace that another JSON parser reads, with what the Trace Event Format asks of each event.
2. EXAMPLE, whose SOURCE the DOCUMENT shows, prints what its comments say.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def refuse_constant(text):
    raise ValueError(f'{text} is no JSON')


def require(holds, text):
    if not holds:
        sys.exit(text)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_trace(path, kernels):
    trace = json.loads(path.read_bytes().decode('utf-8'), parse_constant=refuse_constant)
    events = trace['traceEvents']
    require({e['ph'] for e in events} == {'X', 'C', 'i'}, 'phases')
    for e in events:
        require(isinstance(e['name'], str) and is_number(e['ts']) and e['ts'] >= 0, f'name and time of {e}')
        require(isinstance(e['pid'], int) and isinstance(e['tid'], int), f'process and thread of {e}')
    slices = [e for e in events if e['ph'] == 'X']
    require(len(slices) == kernels, f'{len(slices)} slices of {kernels} kernels')
    for e in slices:
        require(is_number(e['dur']) and e['dur'] >= 0 and e['cat'] in ('forward', 'backward'), f'slice {e}')
        require(e['args']['bytes'] > 0 and isinstance(e['args']['out'], list), f'arguments of {e}')
    require({e['cat'] for e in slices} == {'forward', 'backward'}, 'both directions')
    require(slices[0]['name'] == '"double"\n\\ \u00e9 \ufffd', f'name {slices[0]["name"]!r}')
    require(slices[1]['name'] == 'Add' and slices[1]['args']['in'] == ['float32 [100, 100]'] * 2, f'{slices[1]}')
    outer, inner = slices[:2]
    require(outer['ts'] <= inner['ts'] and inner['ts'] + inner['dur'] <= outer['ts'] + outer['dur'] + 1e-6,
            'the inner kernel is not inside the outer one')
    live = [e['args']['bytes'] for e in events if e['ph'] == 'C']
    require(all(isinstance(b, int) for b in live) and live[0] >= 40000 and max(live) >= live[0] + 40000, 'live bytes')
    fallback, = (e['args'] for e in events if e['ph'] == 'i')
    require(fallback == {'op': 'Sin', 'from': 'without_kernels', 'to': 'simd', 'compute': 'float32'}, f'{fallback}')


def check_example(program, source, document, folder):
    code = source.read_text().split('\n', 1)[1]  # without the licence's line
    require(code in re.findall(r'```cpp\n(.*?)```', document.read_text(), re.S), f'{document.name} shows other code')
    promised = re.findall(r'// prints: (.*)', code)
    printed = subprocess.run([program], check=True, capture_output=True, text=True, cwd=folder).stdout.splitlines()
    require(promised == printed, f'promised {promised}, printed {printed}')
    require(json.loads((folder / 'trace.json').read_text())['traceEvents'], 'an empty trace')


def main():
    trace, program, source, document = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        path = folder / 'all.json'
        kernels = int(subprocess.run([trace, path], check=True, capture_output=True, text=True).stdout)
        check_trace(path, kernels)
        check_example(program, source, document, folder)


if __name__ == '__main__':
    main()
