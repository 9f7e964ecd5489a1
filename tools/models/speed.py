# SPDX-License-Identifier: Apache-2.0
"""Times of graph models next to those of another library, and how they are printed."""
import json
import math
import subprocess
import sys


def read_lines(command):
    """A value for each line of JSON that a program prints."""
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f'{command[0]} ended with {done.returncode}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def reference_columns(line):
    """The columns of a line of kerngrad-models that has a time to compare with."""
    text = f'{line["ms"]:9.3f} ms {line["ms"] / line["reference_ms"]:7.3f} of {line["reference_ms"]:.2f} ms'
    if 'two_ms' in line:
        text += f', two threads {line["two_ms"] / line["ms"]:.2f}'
    text += f', load {line["load_ms"] / line["read_ms"]:.2f} of reading'
    return text + f', second call {line["new_bytes"]} new bytes, {line["heap_calls"]} heap calls'


def reference_summary(lines, reference):
    ratios = [line['ms'] / line['reference_ms'] for line in lines if 'ms' in line]
    if ratios:
        yield f'geometric mean {geometric_mean(ratios):.3f}, largest {max(ratios):.3f} of {reference}'
