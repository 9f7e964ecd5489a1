#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dispatch_check.py PROBE OBJDUMP: the span API costs less than the same kernel that a caller dispatches by hand.

1. Machine code: the span API is the call of the kernel's entry point and nothing else, whatever target runs.
2. Instructions executed: callgrind counts fewer in the span API than in the same loop behind the caller's own
   HWY_DYNAMIC_DISPATCH, inclusive of the kernel (on AVX2 where the CPU has it: callgrind knows no AVX-512). Symbols are
   bound at start, so that no count holds the linker's work.
3. A typed call executes as many instructions after a hook was added and removed as before there ever was one.
4. A typed call, one with a number as an attribute and one with a shape, a call by name, an op of a recorded chain,
   forward and backward, a slice and a join of 4x8 floats stay under their limits: what they executed when the limits
   were set, and a tenth for other compilers.
5. A fused function that was put together at run time executes no tenth more than one that the compiler read.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


LIMITS = {'typed call': 166, 'call with a number': 243, 'call with a shape': 283, 'call by name': 858,
          'recorded op': 1960, 'slice': 1903, 'join': 1935}


def instructions(objdump, probe, function):
    """The instructions of a function without addresses."""
    text = subprocess.run([objdump, '-d', '--no-show-raw-insn', f'--disassemble-symbols={function}', probe],
                          check=True, capture_output=True, text=True).stdout
    lines = re.findall(r'^\s*[0-9a-f]+:\s+(.*)$', text, re.M)
    return [re.sub(r'0x[0-9a-f]+ ', '', re.sub(r'\s+', ' ', line)).strip() for line in lines
            if not re.match(r'(nop|cs nop|int3|data16|xchg)', line)]


def executed(probe, function):
    """Instructions executed inside a function and what it calls, over the whole run."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / 'callgrind.out'
        subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', f'--toggle-collect={function}',
                        probe], check=True, capture_output=True, env=dict(os.environ, LD_BIND_NOW='1'))
        return int(re.search(r'^(?:summary|totals): (\d+)', out.read_text(), re.M).group(1))


def main():
    probe, objdump = sys.argv[1:3]
    entry, raw = (instructions(objdump, probe, name) for name in ('entry_point', 'raw_door'))
    if not entry or entry != raw:
        sys.exit(f'machine code differs:\nentry point: {entry}\nspan API:    {raw}')
    print('machine code of the span API:', '; '.join(raw))
    counts = {name: executed(probe, name) for name in ('by_hand', 'raw_door')}
    print('instructions executed for 1, 8 and 64 floats:', counts)
    if not 0 < counts['raw_door'] < counts['by_hand']:
        sys.exit('the span API executes as many instructions as the dispatch by hand, or more')
    typed = {name: executed(probe, name) for name in ('before_hooks', 'after_hooks')}
    print('instructions executed by a typed sum of one float:', typed)
    if not typed['before_hooks'] or typed['after_hooks'] != typed['before_hooks']:
        sys.exit('a hook that is gone still costs something')
    fused = {name: executed(probe, name) for name in ('fused', 'fused_at_run_time')}
    print('instructions executed by a fused function of one float:', fused)
    if not 0 < fused['fused_at_run_time'] <= 1.1 * fused['fused']:
        sys.exit('a fused function that was put together at run time takes another way than one that the compiler read')
    costs = {'typed call': typed['before_hooks'], 'call with a number': executed(probe, 'with_number'),
             'call with a shape': executed(probe, 'with_shape'), 'call by name': executed(probe, 'by_name'),
             'recorded op': (executed(probe, 'chain_of_200') - executed(probe, 'chain_of_100')) // 100,
             'slice': executed(probe, 'sliced'), 'join': executed(probe, 'joined')}
    for what, cost in costs.items():
        print(f'instructions executed by a {what}: {cost}, at most {LIMITS[what]}')
    if over := [what for what, cost in costs.items() if not 0 < cost <= LIMITS[what]]:
        sys.exit(f'over the limit: {", ".join(over)}')


if __name__ == '__main__':
    main()
