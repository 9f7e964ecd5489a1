#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""counted.py ROOT: the instructions that tools/platforms/instructions.py reads from qemu's log are those that ran: of a
loop each time, of a block that was translated again its new ones, of one that never ran none; and each comparison is
held to its bound, by programs that stand in for qemu and what it runs, of which one that breaks off fails it."""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / 'tools' / 'platforms'))
import instructions  # noqa: E402

# A block of three that runs twice, one of two that does not, and the first again, cut to one: 2 * 3 + 1.
LOG = '''\
----------------
IN: main
0x5502854e40:  d503201f  nop
0x5502854e44:  d280001d  movz     x29, #0
0x5502854e48:  97ffee80  bl       #0x5502850850

Trace 0: 0x7f6a54000100 [0000000001009331/0000005502854e40/00000001/00000200] main
Trace 0: 0x7f6a54000100 [0000000001009331/0000005502854e40/00000001/00000200] main
----------------
IN:
0x5502850850:  a9b27bfd  stp      x29, x30, [sp, #-0xe0]!
0x5502850854:  b0000144  adrp     x4, #0x5502879000

----------------
IN: main
0x5502854e40:  d503201f  nop

Trace 0: 0x7f6a54000900 [0000000001009331/0000005502854e40/00000001/00000200] main
'''

# A program that writes where qemu would: a block of COST instructions for each iteration, after ten of its start.
QEMU = '''\
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -D) log=$2; shift ;;
    */cases) cost=6 ;;
    */peer_other) cost=4 ;;
    */peer_far) cost=3 ;;
    */peer_broken) exit 3 ;;
    --iterations=*) times=${1#*=} ;;
  esac
  shift
done
{
  i=0; while [ $i -lt $cost ]; do echo "0x10:  nop"; i=$((i + 1)); done; echo
  i=0; while [ $i -lt $((times + 10)) ]; do echo "Trace 0: 0x1 [0/10/0/0]"; i=$((i + 1)); done
} >"$log"
'''


def main():
    count = instructions.executed(LOG.splitlines(keepends=True))
    if count != 7:
        sys.exit(f'{count} instructions in place of 7')
    with tempfile.TemporaryDirectory() as folder:
        qemu = pathlib.Path(folder, 'qemu')
        qemu.write_text(QEMU)
        qemu.chmod(0o755)
        compared = {'add/n:2': {'peer': 'other', 'of': [2]}, 'mul/n:2': {'peer': 'far', 'peer_case': 'one', 'of': [2]},
                    'exp/n:2': {'peer': 'broken', 'of': [2]}}
        *head, good, bad, broken = instructions.compare(compared, [str(qemu)], os.environ, folder)
    if [known for _, known in head] != [None, None] or (good[1], bad[1], broken[1]) != (True, False, False):
        sys.exit(f'ratios of 1.5 and 2, and a program that breaks off, are judged {good}, {bad} and {broken}')
    if not bad[0].endswith('more than 1.5') or 'peer_broken' not in broken[0] or 'exits with 3' not in broken[0]:
        sys.exit(f'what is wrong is told by {bad[0]} and {broken[0]}')
    if good[0] != '| add/n:2 | 3.000 | other | 2.000 | 1.50 |':
        sys.exit(f'the line of 6 and 4 instructions for two elements is {good[0]}')


if __name__ == '__main__':
    main()
