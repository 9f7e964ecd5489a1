# SPDX-License-Identifier: Apache-2.0
"""Graph models in TensorFlow.js's wasm backend, in turns with kerngrad. The least time of all rounds counts."""
import json
import pathlib
import subprocess

import npm
import speed

TITLE = 'TensorFlow.js'
ROUNDS, SECONDS = 2, 1.5
RUN = pathlib.Path(__file__).resolve().with_name('run.js')


class Peer:
    def __init__(self, options, models):
        """Throws Unavailable if something is missing."""
        self.options, self.models, self.packages = options, models, npm.tensorflow()

    def theirs(self, recording):
        """Milliseconds of TensorFlow.js, or None where it cannot run the model on that backend."""
        done = subprocess.run(['node', RUN, self.models / f'{recording["model"]}.json', json.dumps(recording['feeds']),
                               str(self.options.seconds)], cwd=self.packages, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return json.loads(done.stdout)['ms'] if done.returncode == 0 else None

    def ours(self, recording, threads):
        return speed.read_lines([self.options.program, self.models, self.options.recorded, '--only', recording['model'],
                                 '--measure', '--seconds', self.options.seconds, '--threads', threads])[0]

    def measured(self, recording):
        """A model in turns: kerngrad with one thread, TensorFlow.js, kerngrad with two."""
        ones, others, twos = [], [], []
        for _ in range(self.options.rounds):
            ones.append(self.ours(recording, 1))
            if ones[-1]['verdict'] != 'passed':
                return ones[-1]
            others.append(self.theirs(recording))
            twos.append(self.ours(recording, 2))
        line = ones[0]
        for key in ('ms', 'load_ms', 'read_ms', 'heap_calls', 'new_bytes'):
            line[key] = min(one[key] for one in ones)
        line['two_ms'] = min(two['ms'] for two in twos)
        line['reference_ms'] = min((time for time in others if time is not None), default=recording['ms'])
        return line

    columns = staticmethod(speed.reference_columns)

    @staticmethod
    def summary(lines):
        return speed.reference_summary(lines, f'{TITLE} in turns')
