#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""op_memory.py PROBE RECORDED [--write]: no op needs more memory than RECORDED says.

PROBE is bench/recorded/op_memory.cc. A peak is a number of copies of the call's largest operand or result, and bytes
for calls of every size. Two sizes give both. Peaks count beyond operands and results, on one thread. --write writes the
record. Do that if the change of a peak is meant."""
import pathlib
import re
import subprocess
import sys

# A copy too many is a whole or a half. Bytes of small blocks depend on the target.
MORE_COPIES, MORE_BYTES = 0.05, 16 * 1024
NONE = -1  # copies of a gradient that there is not
GROWS = -1  # bytes of a peak that grows faster than the size
HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Peak memory of each op beyond operands and results, of its value and of value and gradient. A peak is a number of
// copies of the largest operand or result, and bytes. Made by
// `python3 tests/bench/op_memory.py build/bench/recorded/op_memory tools/kerngrad/op_memory.h --write`.
#pragma once
#include <string_view>

namespace tool {

struct memory_peak {
  double copies;  ///< -1: there is no gradient
  int bytes;      ///< -1: copies at 2^20 elements of a peak that grows faster
};
struct op_memory {
  std::string_view op, variant;
  memory_peak value, gradient;
};

// clang-format off
inline constexpr op_memory op_memory_recorded[] = {
"""
TAIL = """\
};
// clang-format on

}  // namespace tool
"""
LINE = re.compile(r'\{"(\w+)", "([^"]*)", \{(\S+), (\S+)\}, \{(\S+), (\S+)\}\}')


def peak(sizes, peaks):
    """Copies and bytes that give the peaks at two sizes. A peak that grows faster has the copies of the larger size."""
    if 'none' in peaks:
        return NONE, 0
    (small, large), (least, most) = map(int, sizes), map(int, peaks)
    if small == large:
        return round(most / large, 2), 0
    if most / large > 1.5 * least / small and least > small:
        return round(most / large), GROWS
    copies = max((most - least) / (large - small), 0)
    bytes_of_all = max(round(most - copies * large), 0)
    # Part of a page is no copy, and less than a page is nothing to speak of.
    return round(copies, 2), -(-bytes_of_all // 1024) * 1024 if bytes_of_all >= 4096 else 0


def measured(probe):
    """(op, variant) -> peaks of value and gradient."""
    run = subprocess.run([probe], check=False, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f'the probe ended with {run.returncode}:\n{run.stdout}{run.stderr}')
    found = {}
    for line in run.stdout.splitlines():
        op, variant, *numbers = line.split('\t')
        sizes = numbers[0::3]
        found[op, variant] = peak(sizes, numbers[1::3]), peak(sizes, numbers[2::3])
    return found


def read(path):
    return {(op, variant): ((float(copies), int(count)), (float(more_copies), int(more_count)))
            for op, variant, copies, count, more_copies, more_count in LINE.findall(path.read_text())}


def write(path, found):
    lines = [f'    {{"{op}", "{variant}", {{{value[0]:g}, {value[1]}}}, {{{gradient[0]:g}, {gradient[1]}}}}},\n'
             for (op, variant), (value, gradient) in found.items()]
    path.write_text(HEAD + ''.join(lines) + TAIL)


def grows(found, recorded):
    return found[0] > recorded[0] + MORE_COPIES or found[1] > 1.25 * recorded[1] + MORE_BYTES


def differences(found, recorded):
    """A line for each peak that is larger than the recorded one, and for calls that only one side has."""
    for (op, variant), peaks in found.items():
        name = f'{op} {variant}'.strip()
        if (op, variant) not in recorded:
            yield f'{name}: not recorded'
            continue
        for what, now, before in zip(('value', 'gradient'), peaks, recorded[op, variant]):
            if grows(now, before):
                yield (f'{name}: the {what} takes {now[0]:g} copies and {now[1]} bytes; '
                       f'recorded are {before[0]:g} and {before[1]}')
    for op, variant in recorded.keys() - found.keys():
        yield f'{op} {variant}: recorded, but not measured'


def main():
    probe, path = sys.argv[1], pathlib.Path(sys.argv[2])
    found = measured(probe)
    if '--write' in sys.argv:
        write(path, found)
        return
    print(f'{len(found)} calls')
    if wrong := list(differences(found, read(path))):
        sys.exit('\n'.join([*wrong, 'If the change is meant, write the record again with --write.']))


if __name__ == '__main__':
    main()
