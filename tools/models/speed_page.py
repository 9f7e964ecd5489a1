# SPDX-License-Identifier: Apache-2.0
"""The section of docs/performance.md on graph models in another library, from times of speed.py."""
import datetime
import pathlib
import subprocess
import sys

import speed

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tools' / 'bench'))
import linalg  # noqa: E402
import peers_table  # noqa: E402

PAGE = ROOT / 'docs' / 'performance.md'
BEGIN = '<!-- begin: written by ./dev models --speed --peer onnxruntime --docs -->'
END = '<!-- end of models in another library -->'


def commit():
    done = subprocess.run(['git', '-C', str(ROOT), 'rev-parse', '--short=8', 'HEAD'], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or 'unknown'


def row(cells):
    return f'| {" | ".join(cells)} |'


def markdown(measured, peer, command):
    """The section, from {model: {threads: Times}}."""
    counts = list(next(iter(measured.values())))
    name = peer.rpartition(' ')[0]
    head = ['model', *(cell for threads in counts for cell in
                       (f'kerngrad, {speed.words_of(threads)}', name, 'ratio'))]
    lines = [f'## Graph models and {name}', '',
             f'{peer} runs the models as files of ONNX, with the channels second and with folded constants.',
             'The outputs of both agree. Times are milliseconds. A ratio is kerngrad\'s time divided by the other.',
             '', *(f'- {line}.' for line in speed.summary(measured, peer)), '',
             row(head), row(['---', *['---:'] * (len(head) - 1)])]
    for model, times in measured.items():
        lines.append(row([model, *(cell for of in times.values() for cell in
                                   (f'{of.ours:.3g}', f'{of.theirs:.3g}', f'{of.ratio:.2f}'))]))
    return '\n'.join([*lines, '', f'Measured on {linalg.machine()}, {datetime.date.today()}, at commit {commit()}, '
                      f'by `{command}`.'])


def write(text, page=PAGE):
    peers_table.replace_between(page, BEGIN, END, text)
