# SPDX-License-Identifier: Apache-2.0
"""bench_tool.py ROOT: tools/bench/mpi.py fits its model, fills the page, and deletes no namespace of another run."""
import importlib.util
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
spec = importlib.util.spec_from_file_location('bench_tool_of_mpi', ROOT / 'tools' / 'bench' / 'mpi.py')
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

LATENCY, BYTE = 2e-6, 5e-10
STEP = 'step of 512 examples on {} ranks with {} threads: median {} ms, least 1.00 ms\n'
IN_TURNS = '{:<16} {:>10} bytes        12.00 us        10.00 us   ratio of medians {:.3f}, of least 1.000\n'


def model_lines():
    """Times that follow the model, for two ranks."""
    for size in (64, 1024, 4096, 16384, 65536, 1 << 20):
        of_sum = LATENCY + BYTE * size if size <= 8192 else 2 * (LATENCY + BYTE * size / 2)
        yield f'model send_recv {size} {LATENCY + BYTE * size:.15f} 0\n'
        yield f'model all_reduce {size} {of_sum:.15f} 0\n'


SHARED = (STEP.format(2, 1, 30) + IN_TURNS.format('all_reduce', 128, 0.9) + IN_TURNS.format('reduce', 32000, 1.25) +
          IN_TURNS.format('overlapped step', 6291456, 1.01) +
          'backward pass 40.00 ms, messages 20.00 ms, of which 15.00 ms during the backward pass\n' +
          ''.join(model_lines()))
ALONE = STEP.format(1, 1, 60) + STEP.format(1, 2, 40)


class Tables(unittest.TestCase):
    def test_the_model_is_found_again(self):
        for (a, b), *_ in tool.mpi_tables.fits_of(SHARED, {}).values():
            self.assertAlmostEqual(a, LATENCY, delta=1e-10)
            self.assertAlmostEqual(b, BYTE, delta=1e-14)

    def test_every_figure_has_its_row(self):
        text = '\n'.join(tool.mpi_tables.tables(ALONE, SHARED, {'TCP at 1gbit/s': SHARED}, 'conditions', 25e6, 0.1))
        for line in ['| shared memory, larger | 2.00 us | 0.500 ns | 1.00, 1.00, 1.00 |', '| 1 | 2 | 40.0 ms |',
                     '| 2 | 1 | 30.0 ms |', '| `all_reduce` | 0.90 |  |', '| `reduce` |  | 1.25 |',
                     '| TCP at 1gbit/s | 1.01 | 40.0 ms | 20.0 ms | 15.0 ms |']:
            self.assertIn(line, text)

    def test_ratios_above_the_bounds_are_named(self):
        self.assertEqual(list(tool.mpi_tables.above_bounds({'here': SHARED})),
                         ['here: reduce of 32000 bytes has 1.25, above 1.1'])

    def test_the_page_has_the_markers_and_all_tables(self):
        _, _, rest = tool.PAGE.read_text().partition(tool.BEGIN)
        part, end, _ = rest.partition(tool.END)
        self.assertTrue(end)
        for word in ('**Fitted**', '**Derived**', '**Collectives**', '**Training**', '**Overlap**'):
            self.assertIn(word, part)


class Namespaces(unittest.TestCase):
    def test_those_of_other_runs_stay(self):
        made, deleted = [], []

        def run(command, **_):
            if command[:3] == ['ip', 'netns', 'add']:
                if len(made) == 1:
                    raise subprocess.CalledProcessError(1, command)  # it is another run's
                made.append(command[3])
            if command[:3] == ['ip', 'netns', 'delete']:
                deleted.append(command[3])
        with mock.patch.object(tool.subprocess, 'run', run), self.assertRaises(subprocess.CalledProcessError):
            with tool.namespaces():
                self.fail('entered')
        self.assertEqual(len(made), 1)
        self.assertEqual(deleted, made)


if __name__ == '__main__':
    unittest.main()
