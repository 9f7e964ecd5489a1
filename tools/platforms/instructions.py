# SPDX-License-Identifier: Apache-2.0
"""Counts what programs of bench/peers execute under qemu-user, in instructions of the emulated CPU.

Emulated time says nothing of a CPU. Instructions show at least whether a kernel's loops use its vectors, and what they
spend next to the arithmetic. qemu writes each block of instructions when it translates it, and a line when one runs.
"""
import collections
import math
import os
import re
import subprocess

BLOCK = re.compile(r'0x([0-9a-f]+):')
RUN = re.compile(r'Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/0*([0-9a-f]+)/')
MOST = 1.5  # of a peer's instructions; loops without vectors would take three times as many or more
MORE = 3  # runs of a body, to see what one executes: of what a program does around them, counts differ a little


def executed(lines):
    """The instructions of a log of qemu's (`-d in_asm,exec,nochain`)."""
    length, first, of_line = {}, None, {}
    times = collections.Counter()
    for line in lines:
        if line.startswith('Trace'):
            if line not in of_line:  # a block that was translated again has another line, and may have another length
                of_line[line] = length[RUN.match(line)[1]]
            times[line] += 1
        elif line.startswith('0x'):
            if first is None:
                first = BLOCK.match(line)[1]
                length[first] = 0
            length[first] += 1
        else:
            first = None
    return sum(of_line[line] * count for line, count in times.items())


def executed_by(command, env):
    """The instructions that a program executes under qemu: (qemu's own words, the program, its arguments)."""
    qemu, *program = command
    read, write = os.pipe()
    running = subprocess.Popen([*qemu, '-d', 'in_asm,exec,nochain', '-D', f'/dev/fd/{write}', *program], env=env,
                               pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.close(write)
    with open(read, errors='replace') as log:
        count = executed(log)
    if running.wait() != 0 or not count:
        raise RuntimeError(f'{" ".join(program)} exits with {running.returncode} under qemu, after {count} '
                           'instructions')
    return count


def of_case(qemu, env, program, case):
    """The instructions that one run of a case executes."""
    once, more = (executed_by([qemu, program, f'--benchmark_filter=^{case}/', f'--iterations={times}'], env)
                  for times in (1, 1 + MORE))
    return (more - once) / MORE


def compare(compared, qemu, env, folder):
    """The lines of a table, and whether each comparison of emulated.toml is within the bound; None of its head."""
    yield '| case | kerngrad executes | peer | executes | ratio |', None
    yield '|' + ' --- |' * 5, None
    for case, beside in compared.items():
        of_peer = f'peer_{beside["peer"]}', beside.get('peer_case', case)
        try:
            ours, theirs = (of_case(qemu, env, os.path.join(folder, 'bench', 'peers', program), name)
                            / math.prod(beside['of']) for program, name in (('cases', case), of_peer))
        except RuntimeError as broken:
            yield str(broken), False
            continue
        good = 0 < ours <= MOST * theirs
        cells = [case, f'{ours:.3f}', beside['peer'], f'{theirs:.3f}', f'{ours / theirs:.2f}']
        yield f'| {" | ".join(cells)} |' + ('' if good else f' more than {MOST}'), good
