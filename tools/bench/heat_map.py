#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heat_map.py RESULTS: writes roofline.json, the data of a figure of docs/performance.md.

RESULTS is a file of ./dev bench --json.
The record has the part of the roofline bound that each of some kernels reaches on each CPU target. Values are medians
of the repetitions. The date and the machine are those of the run.
"""
import json
import pathlib
import sys

import results

RECORD = pathlib.Path(__file__).resolve().parent / 'roofline.json'
# Kernel, its number of elements, and its name in the figure.
SHOWN = [('Add<f32>', 65536, 'add'), ('RealDiv<f32>', 65536, 'div'), ('Sqrt<f32>', 65536, 'sqrt'),
         ('Exp<f32>', 65536, 'exp'), ('Log<f32>', 65536, 'log'), ('Sin<f32>', 65536, 'sin'),
         ('Tanh<f32>', 65536, 'tanh'), ('Erf<f32>', 65536, 'erf'), ('Gelu<f32>', 65536, 'gelu'),
         ('Pow<f32>', 65536, 'pow'), ('Sum<f32>/rows', 65536, 'sum of rows'),
         ('Sum<f32>/columns', 65536, 'sum of columns'), ('ArgMax<f32>/rows', 65536, 'argmax of rows'),
         ('Cumsum<f32>', 65536, 'cumsum'), ('Softmax<f32>', 65536, 'softmax'),
         ('LayerNorm<f32>', 65536, 'layer norm'), ('BatchMatMul<f32>', 1048576, 'matmul'),
         ('Conv2D<f32>', 65536, 'convolution'), ('DepthwiseConv2dNative<f32>', 65536, 'depthwise conv.'),
         ('MaxPool<f32>', 65536, 'max pool'), ('Transpose<f32>', 65536, 'transpose'),
         ('GatherV2<f32>', 65536, 'gather'), ('Sort<f32>/rows', 65536, 'sort of rows'),
         ('RFFT<f32>/points:1024', 65536, 'rfft, 1024 points'), ('adam<f32>', 65536, 'adam step')]


def record_of(found):
    rows = {(row.kernel, row.n, row.target): row.roof for row in results.rows_of(found) if row.roof}
    context = found['context']
    targets = [target for target in context['simd_targets'].split() if any(key[2] == target for key in rows)]
    missing = [f'{kernel}, n {n}' for kernel, n, _ in SHOWN if (kernel, n, targets[0]) not in rows]
    if missing:
        sys.exit(f'the file has no {"; ".join(missing)}')
    return {'command': './dev bench --json FILE', 'machine': context['cpu_model'], 'date': context['date'][:10],
            'targets': targets,
            'ops': {label: [part and round(part, 3) for part in (rows.get((kernel, n, target)) for target in targets)]
                    for kernel, n, label in SHOWN}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    RECORD.write_text(json.dumps(record_of(results.load(sys.argv[1])), indent=1) + '\n')


if __name__ == '__main__':
    main()
